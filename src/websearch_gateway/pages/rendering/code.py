"""Writes a `<pre>` as a fenced code block whose lines are those that its readers see."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|brush:\s*|highlight-source-|highlight-|sourceCode\s+)([\w+#.]+)"
)
_NO_LANGUAGE = frozenset(
    [
        "default",
        "none",
        "plain",
        "text",
        "plaintext",
        "notranslate",
        "source",
        "wrap",
        "code",
        "dark",
        "light",
    ]
)
_BARE_LANGUAGES = frozenset(
    (
        *("c", "cpp", "qml", "rust", "python", "java", "js", "json", "bash", "sh", "xml", "yaml"),
        *("ts", "tsx", "jsx", "typescript", "javascript", "go", "html", "css", "sql", "toml"),
    )
)
"""The names that rustdoc, Qt and others use as a class of `<pre>` by themselves."""
_ROUGE = re.compile(r"highlight ([\w+#.]{1,20}|[\w+#.-]{1,20}(?= tab-))(?: tab-\S+)?$")
"""What Rouge writes in Slate: `highlight ruby tab-ruby`."""
_BLANK_LINE = re.compile(r"^ $", re.MULTILINE)
_MOST_AROUND = 8
_BLOCKS = frozenset(("div", "p", "li", "tr", "section", "figure"))
_AS_BLOCK = re.compile(r"display:\s*(?:block|flex|grid|table-row|list-item)\b")


def fence(pre: Any) -> str:
    """A `<pre>` as a fenced code block, with the language in its class name; "" if it is empty."""
    code = text_of(pre)
    if not code or code.isspace():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark, language = "`" * (longest + 1), _language(pre)
    if language not in ("diff", "patch"):  # Nextra writes an empty line as a blank
        code = _BLANK_LINE.sub("", code)
    return f"{mark}{language}\n{code}\n{mark}"


def text_of(pre: Any) -> str:
    """The lines of a listing, without empty ones around them; a line may be an element, or end with `<br>`."""
    from lxml import etree

    pieces: list[str] = []
    begins: list[int] = []  # the number of pieces before each open element that is a line
    for event, element in etree.iterwalk(pre, events=("start", "end")):
        if event == "start":
            if element is not pre and _is_line(element):
                if pieces and not pieces[-1].endswith("\n"):
                    pieces.append("\n")
                begins.append(len(pieces))
            if element.text:
                pieces.append(element.text)
            continue
        if element is pre:
            break
        is_line = _is_line(element)
        is_empty = is_line and begins.pop() == len(pieces)
        if element.tag == "br" or is_empty or (is_line and not pieces[-1].endswith("\n")):
            pieces.append("\n")
        if element.tail:
            pieces.append(element.tail)
    return "".join(pieces).replace("\xa0", " ").strip("\n")


def _is_line(element: Any) -> bool:
    return element.tag in _BLOCKS or _AS_BLOCK.search(element.get("style", "")) is not None


def _language(pre: Any) -> str:
    # mdBook nests: <pre><pre class="playground"><code class="language-rust">. MkDocs puts numbered lines in a table.
    near = [pre, *pre.iterdescendants("pre", "code"), *islice(pre.iterancestors(), _MOST_AROUND)]
    for element in near:
        if not element.attrib:
            continue
        found = _LANGUAGE.search(element.get("class", "")) or _LANGUAGE.search(
            element.get("data-lang", "")
        )
        name = (
            found[1].lower()
            if found
            else element.get("data-lang", "") or element.get("data-language", "")
        )
        if re.fullmatch(r"[\w+#.-]{1,20}", name) and name not in _NO_LANGUAGE:
            return "html" if name == "markup" else name.lower()  # so Prism calls it
    # Hexo's `<figure class="highlight python">`.
    for element in (
        pre,
        *islice(pre.iterancestors("figure"), 1),
    ):
        if (found := _ROUGE.match(element.get("class", ""))) and found[1] not in _NO_LANGUAGE:
            return str(found[1])
    names = [
        name for element in (pre, *islice(pre, 1)) for name in str(element.get("class", "")).split()
    ]
    return next((name for name in names if name in _BARE_LANGUAGES), "")
