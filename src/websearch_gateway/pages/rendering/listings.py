"""Finds listings that no `<pre>` marks, by their form: lines beside their numbers, lines that are elements, code alone.

Highlighters write a listing as a table of numbers and lines, as one element for each line, or as `<code>` that a style
sheet shows as a block. Each becomes one `<pre>`, which `code` writes.
"""

from __future__ import annotations

import re
from typing import Any

from websearch_gateway.pages.rendering.code import text_of
from websearch_gateway.pages.rendering.vocabulary import INLINE, with_class

_LINE_NAMES = re.compile(
    r"(?:^|\s)(?:(?:ace_|cm-|crayon-|view-|code-|token-|hljs-|editor-|CodeMirror-)?line|(?:react-)?code-text)(?:\s|$)"
)
_CODE_ALONE = ".//code[contains(., '\n')][not(ancestor::pre)]"
_STYLED = (
    ".//*[@style][self::div or self::p][contains(@style, 'white-space')][contains(@style, 'mono')]"
)
_KEEPS_BLANKS = re.compile(r"white-space:\s*pre(?:-wrap)?\s*(?:;|$)")
_LEAST_LINES = 2
_MOST_ROWS = 20_000
_CODE_HINT = re.compile(r"highlight|code|blob|syntax|listing|source|line", re.IGNORECASE)


def unfold_listings(root: Any) -> None:
    """Turn, in place, what readers see as a listing into `<pre>`."""
    for table in list(root.iter("table")):
        if _is_numbered(table):
            _as_listing(table)
    lines = [_without_number(line) for line in with_class(root, _LINE_NAMES)]
    for parent in dict.fromkeys(line.getparent() for line in lines):
        if (
            parent is not None
            and parent.tag in ("div", "section", "figure", "code", "td")
            and _has_lines(parent)
        ):
            _as_listing(parent)
    for code in root.xpath(_CODE_ALONE):
        if _stands_alone(code):
            code.tag = "pre"
    for element in root.xpath(_STYLED):
        if (
            _KEEPS_BLANKS.search(element.get("style"))
            and element.find(".//p") is None
            and element.find(".//div") is None
        ):
            element.tag = "pre"


def _as_listing(element: Any) -> None:
    """Turn an element into a `<pre>`, without the blanks between its lines."""
    for part in element.iter("table", "tbody", "thead", "tr"):
        _without_blanks(part)
    _without_blanks(element)
    element.tag = "pre"


def _without_blanks(element: Any) -> None:
    if not (element.text or "").strip():
        element.text = None
    for child in element:
        if not (child.tail or "").strip():
            child.tail = None


def _is_numbered(table: Any) -> bool:
    """Whether a table is a listing whose first column holds the numbers of its lines; removes that column if so."""
    if table.find(".//th") is not None or next(table.iterdescendants("table"), None) is not None:
        return False
    rows = list(table.iter("tr"))
    pairs = [(row[0], row[1]) for row in rows if len(row) == 2 and row[0].tag == row[1].tag == "td"]
    if not pairs or len(pairs) != len(rows) or len(rows) > _MOST_ROWS:
        return False
    if len(pairs) == 1:
        numbers, code = text_of(pairs[0][0]).split(), text_of(pairs[0][1])
        is_listing = _counts_up(numbers) and abs(code.count("\n") + 1 - len(numbers)) <= 1
    else:
        numbers = [number.get("data-line-number") or _flat(number) for number, _ in pairs]
        holds_code = any(
            _CODE_HINT.search(f"{one.get('class', '')} {pairs[0][1].get('class', '')}")
            for one in (table,)
        )
        is_listing = _counts_up(numbers) and (holds_code or pairs[0][1].find(".//code") is not None)
    if is_listing:
        for number, _ in pairs:
            number.getparent().remove(number)
    return is_listing


def _flat(element: Any) -> str:
    return "".join(element.itertext()).strip()


def _counts_up(numbers: list[str]) -> bool:
    """Whether texts are the numbers of lines one after the other."""
    if len(numbers) < _LEAST_LINES or not all(
        text.isascii() and text.isdigit() and len(text) < 7 for text in numbers
    ):
        return False
    first = int(numbers[0])
    return all(int(text) == first + place for place, text in enumerate(numbers))


def _without_number(line: Any) -> Any:
    """The element of a line; a `<pre>` beside its number, as editors write it, becomes one element without that."""
    around = line.getparent()
    if line.tag != "pre" or around is None or line.getprevious() is None:
        return line
    beside = [one for one in around if one is not line]
    if not all(_flat(one).isdigit() or not _flat(one) for one in beside):
        return line
    for one in beside:
        around.remove(one)
    around.set("class", "line")
    line.tag = "span"
    return around


def _has_lines(parent: Any) -> bool:
    """Whether all children of an element are lines of code, each in an element with such a name or a `<pre>`."""
    if (parent.text or "").strip() or any(around.tag == "pre" for around in parent.iterancestors()):
        return False
    lines = 0
    for child in parent:
        if (child.tail or "").strip() or child.tag in ("p", "table", "ul", "ol"):
            return False
        if not _LINE_NAMES.search(child.get("class", "")):
            return False
        if (
            child.tag not in ("div", "pre", "code", "tr", "li", "span")
            or child.find(".//p") is not None
        ):
            return False
        lines += 1
    return lines >= _LEAST_LINES


def _stands_alone(code: Any) -> bool:
    """Whether code of several lines has no text beside it, so that readers see a block."""
    if "\n" not in _flat(code) or (code.tail or "").strip():
        return False
    before, after, parent = code.getprevious(), code.getnext(), code.getparent()
    if (
        parent is None
        or parent.tag in INLINE
        or parent.tag in ("td", "th", "li", "dt", "h1", "h2", "h3", "h4")
    ):
        return False
    text_before = parent.text if before is None else before.tail
    beside = [one for one in (before, after) if one is not None and one.tag != "br"]
    return not (text_before or "").strip() and all(one.tag not in INLINE for one in beside)
