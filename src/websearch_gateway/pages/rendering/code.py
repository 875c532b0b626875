"""Writes a `<pre>` as a fenced code block whose lines are those that its readers see."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

_TICKS = re.compile("`{3,}")
_BLANK_LINE = re.compile(r"^ $", re.MULTILINE)
_BLOCKS = frozenset(("div", "p", "li", "tr", "section", "figure"))
_AS_BLOCK = re.compile(r"display:\s*(?:block|flex|grid|table-row|list-item)\b")


def fence(pre: Any) -> str:
    """A `<pre>` as a fenced code block, with the language in its class name; "" if it is empty."""
    code = text_of(pre)
    if not code or code.isspace():
        return ""
    longest = max(map(len, _TICKS.findall(code)), default=2)
    mark = "`" * (longest + 1)
    language = _language(pre)
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


_MOST_AROUND = 8
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|brush:\s*|highlight-source-|highlight-|sourceCode\s+)([\w+#.]+)"
)
_NAME = re.compile(r"[\w+#.-]{1,20}")
_NO_LANGUAGE = frozenset(
    (
        *("default", "none", "plain", "text", "plaintext", "notranslate", "source", "wrap", "code"),
        *("dark", "light"),
    )
)
_BARE_LANGUAGES = frozenset(
    (
        *("c", "cpp", "qml", "rust", "python", "java", "js", "json", "bash", "sh", "xml", "yaml"),
        *("ts", "tsx", "jsx", "typescript", "javascript", "go", "html", "css", "sql", "toml"),
    )
)
"""The names that rustdoc, Qt and others use as a class of `<pre>` by themselves."""
_ROUGE = re.compile(r"highlight ([\w+#.]{1,20}|[\w+#.-]{1,20}(?= tab-))(?: tab-\S+)?$")
"""What Rouge writes in Slate: `highlight ruby tab-ruby`; Hexo writes `<figure class="highlight python">`."""


def _language(pre: Any) -> str:
    """The language of a listing, by the names of the elements in and around it; "" if they do not tell."""
    # mdBook nests: <pre><pre class="playground"><code class="language-rust">. MkDocs puts numbered lines in a table.
    near = [pre, *pre.iterdescendants("pre", "code"), *islice(pre.iterancestors(), _MOST_AROUND)]
    for element in near:
        name = _declared_language(element) if element.attrib else ""
        if _NAME.fullmatch(name) and name not in _NO_LANGUAGE:
            return "html" if name == "markup" else name.lower()  # so Prism calls it
    for element in (pre, *islice(pre.iterancestors("figure"), 1)):
        rouge = _ROUGE.match(element.get("class", ""))
        if rouge is not None and rouge[1] not in _NO_LANGUAGE:
            return str(rouge[1])
    for element in (pre, *islice(pre, 1)):
        for name in str(element.get("class", "")).split():
            if name in _BARE_LANGUAGES:
                return name
    return ""


def _declared_language(element: Any) -> str:
    """What an element says of its language; "" if it says nothing."""
    attribute = element.get("data-lang", "")
    prefixed = _LANGUAGE.search(element.get("class", "")) or _LANGUAGE.search(attribute)
    if prefixed is not None:
        return str(prefixed[1]).lower()
    return attribute or str(element.get("data-language", ""))
