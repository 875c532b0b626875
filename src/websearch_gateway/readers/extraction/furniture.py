"""Removes what generators of documentation put around code and headings: line numbers, buttons, labels of tabs.

The text of a code block must be what its author wrote, byte for byte. Works on a parsed page, in place.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_NUMBERS = re.compile(
    r"(?:^|\s)(?:linenos?|lineno[s-]\S*|linenodiv|ln|lnt|lntd|line-?num(?:ber)?s?\S*|lines|(?:\S+-)?gutter|gl|hljs-ln-\S+|blob-num"
    r"|listing_lines|src-line-numbers|codeLineNumber\S*)(?:\s|$)"
)
_FURNITURE = re.compile(
    r"(?:^|\s)(?:test-arrow|copybtn|copy-button|copy-btn|snippet-copy|md-clipboard|method-click-advice|sl-anchor-link"
    r"|theme-doc-version-badge|theme-doc-toc-\S+|tabbed-labels|viewcode-link|view-source-button|rightside"
    r"|notable-traits)(?:\s|$)"
)
_TABLES = re.compile(r"(?:^|\s)(?:\S*highlighttable|lntable|rouge-table|linenotable|hljs-ln|listing_frame)(?:\s|$)")
_UNSELECTABLE = re.compile(r"user-select:\s?none")
_ACTIONS = frozenset(
    ("", "copy", "copy code", "copied!", "copy to clipboard", "run", "edit", "expand", "collapse", "wrap")
)
_MOST_LABEL = 30
"""The most characters of a button or a line number; more is text."""


def strip_furniture(root: Any) -> None:
    """Remove line numbers, buttons and labels around code; write tables and lines of code as `<pre>`."""
    for element in root.xpath("//*[@class or @role or @style or @data-nosnippet or self::button]"):
        kind = _kind(element.get("class", ""))
        if _is_furniture(element, kind):
            _remove(element)
        elif kind == "table" and element.tag == "table":
            for part in element.iter("table", "thead", "tbody", "tr", "td", "th"):
                part.tag = "div"
        elif kind == "lines" and element.tag == "div":
            _as_code(element)


@lru_cache(maxsize=2_000)
def _kind(name: str) -> str:
    """What the class of an element says that it holds."""
    if name in ("fragment", "tabs", "lang"):
        return {"fragment": "lines", "tabs": "labels", "lang": "language"}[name]
    patterns = (("furniture", _FURNITURE), ("table", _TABLES), ("numbers", _NUMBERS))
    return next((kind for kind, pattern in patterns if pattern.search(name)), "")


def _is_furniture(element: Any, kind: str) -> bool:
    tag = element.tag
    if tag in ("html", "body", "main"):
        return False
    if tag == "button":
        return _short_text(element).strip().casefold() in _ACTIONS
    if kind == "numbers" or element.get("data-nosnippet") is not None:
        return _is_number(element)
    if _UNSELECTABLE.search(element.get("style", "")):
        return next(element.iterancestors("pre"), None) is not None
    if element.get("role") == "tablist" or (kind == "labels" and tag == "div"):
        return next(element.iter("pre", "p"), None) is None
    if kind == "language" and tag == "span":  # VitePress writes the language beside the code
        return element.getnext() is not None and element.getnext().tag == "pre"
    return kind == "furniture"


def _is_number(element: Any) -> bool:
    """Whether an element holds line numbers alone."""
    return all(part.isdecimal() for text in element.itertext() for part in text.split())


def _short_text(element: Any) -> str:
    text = ""
    for piece in element.itertext():
        text += piece
        if len(text) > _MOST_LABEL:
            break
    return text


def _remove(element: Any) -> None:
    """Remove an element without the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if tail := element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + tail
        else:
            before.tail = (before.tail or "") + tail
    parent.remove(element)


def _as_code(fragment: Any) -> None:
    """Write the lines of doxygen, one `<div class="line">` each, as `<pre>`."""
    if all(line.get("class") != "line" for line in fragment.iter("div")):
        return
    fragment.text = None
    for part in list(fragment.iter("div")):
        if part.get("class") == "ttc":  # what a name's tooltip says
            _remove(part)
        elif part is not fragment:
            part.tail = "\n" if part.get("class") == "line" else None
            if part.get("class") != "line" or not "".join(part.itertext()).strip():
                part.clear(keep_tail=True)  # an empty line has a blank after its number
            part.tag = "span"
    fragment.tag = "pre"
