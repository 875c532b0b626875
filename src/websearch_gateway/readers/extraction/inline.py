"""Text, code and URLs of a page as Markdown, escaped so that they create no markup that the page does not have."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

_SPACE = re.compile(r"[ \t\r\n\f]+")
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?=\S)|(?<=\S)\*|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)"
    r"|\](?=[(\[:])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)"
)
_MARKS = re.compile(r"[\\`*_\]<&~]")  # most text has none, and to look for them is faster than `_SPECIAL`
_LINE_STARTS = "#-+>=~"
_LINE_START = re.compile(r"^(?:(#{1,6}|[-+>]|={3,}|-{3,}|~{3,})(?=\s|$)|(\d{1,9})([.)])(?=\s|$))", re.MULTILINE)
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|brush:\s*|highlight-source-|highlight-|sourceCode\s+)([\w+#.]+)")
_NO_LANGUAGE = frozenset(["default", "none", "plain", "text", "plaintext", "notranslate", "source"])
_BARE_LANGUAGES = frozenset(["c", "cpp", "qml", "rust", "python", "java", "js", "json", "bash", "sh", "xml", "yaml"])
"""The names that rustdoc, Qt and others use as a class of `<pre>` by themselves."""
_MOST_AROUND = 8
_PLAIN_FRAGMENT = re.compile(r"[\w.~-]+", re.ASCII)
_LINKED_SCHEMES = frozenset(("http", "https", "mailto", "tel", "ftp"))


def escaped(text: str) -> str:
    """Text of the page with Markdown markup escaped and white space collapsed."""
    text = _collapsed(text)
    return _SPECIAL.sub(lambda mark: "\\" + mark[0], text) if _MARKS.search(text) else text


def _collapsed(text: str) -> str:
    """`text` with one blank for each run of white space."""
    return text if text.isprintable() and "  " not in text else _SPACE.sub(" ", text)


def as_paragraph(text: str) -> str:
    """Rendered text, escaped so that no line begins a block by accident."""
    if not text or text.isspace():
        return ""
    if "\n" in text:
        lines = (_SPACE.sub(" ", line).strip() for line in text.split("\n"))
        joined = "\n".join(line for line in lines if line)
    else:
        joined = _collapsed(text).strip()
        if joined[0] not in _LINE_STARTS and not joined[0].isdigit():
            return joined
    return _LINE_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", joined)


def absolute(href: str | None, base: str) -> str:
    """The absolute URL of a link target, safe inside parentheses; "" if it is not a web address."""
    if not href or href.strip() in ("", "#"):
        return ""
    place, mark, fragment = href.partition("#")
    if mark and place and _PLAIN_FRAGMENT.fullmatch(fragment):  # many links differ in their fragments only
        return f"{target}#{fragment}" if (target := _absolute(place, base)) else ""
    return _absolute(href, base)


@lru_cache(maxsize=2_000)
def _absolute(href: str, base: str) -> str:
    try:
        url = urljoin(base, re.sub(r"[\t\r\n]", "", href.strip()))
        if urlsplit(url).scheme.lower() not in _LINKED_SCHEMES:
            return ""
    except ValueError:
        return ""
    return quote(url, safe="!#$%&'*+,-./:;=?@[]_~|^{}", encoding="utf-8", errors="replace")


def code_span(text: str) -> str:
    """Inline code, fenced by more backticks than it holds."""
    inner = _collapsed(text).strip()
    if not inner:
        return " " if text else ""
    longest = max((len(run) for run in re.findall(r"`+", inner)), default=0) if "`" in inner else 0
    mark, pad = "`" * (longest + 1), " " if "`" in inner else ""
    before, after = " " * (text[0].isspace()), " " * (text[-1].isspace())
    return f"{before}{mark}{pad}{inner}{pad}{mark}{after}"


def fence(pre: Any) -> str:
    """A `<pre>` as a fenced code block, with the language in its class name; "" if it is empty."""
    for line_break in pre.iter("br"):
        line_break.tail = "\n" + (line_break.tail or "")
    for around in (pre, *pre.iter("code")):
        for line in around.iterchildren("div"):  # Expressive Code writes each line as a block
            if not "".join(line.itertext()).endswith("\n"):
                line.tail = "\n" + (line.tail or "")
    code = "".join(pre.itertext()).strip("\n")
    if not code or code.isspace():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}{_language(pre)}\n{code}\n{mark}"


def _language(pre: Any) -> str:
    # mdBook nests: <pre><pre class="playground"><code class="language-rust">. MkDocs puts numbered lines in a table.
    near = [pre, *pre.iterdescendants("pre", "code"), *islice(pre.iterancestors(), _MOST_AROUND)]
    for element in near:
        found = _LANGUAGE.search(element.get("class", "")) or _LANGUAGE.search(element.get("data-lang", ""))
        name = found[1].lower() if found else element.get("data-lang", "") or element.get("data-language", "")
        if re.fullmatch(r"[\w+#.-]{1,20}", name) and name not in _NO_LANGUAGE:
            return name.lower()
    return next((name for name in pre.get("class", "").split() if name in _BARE_LANGUAGES), "")
