"""Finds listings that no `<pre>` marks, by their form: lines beside their numbers, lines that are elements, code alone.

Highlighters write a listing as a table of numbers and lines, as one element for each line, or as `<code>` that a style
sheet shows as a block. Each becomes one `<pre>`, which `code` writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.code import text_of
from websearch_gateway.pages.rendering.vocabulary import INLINE, outermost, with_class

_LEAST_LINES = 2
_MOST_ROWS = 20_000


def unfold_listings(root: Any) -> None:
    """Turn, in place, what readers see as a listing into `<pre>`."""
    _unfold_tables(root)
    for listing in outermost(root, "pre"):
        _remove_numbers(listing)
        _part_lines(listing)
    _unfold_lists(root)
    _unfold_lines(root)
    _unfold_code_alone(root)
    _unfold_styled(root)


def _as_listing(element: Any) -> None:
    """Turn an element into a `<pre>`, without the blanks between its lines."""
    for part in element.iter("table", "tbody", "thead", "tr"):
        _without_blanks(part)
    _without_blanks(element)
    element.tag = "pre"


def _without_blanks(element: Any) -> None:
    if _is_blank(element.text):
        element.text = None
    for child in element:
        if _is_blank(child.tail):
            child.tail = None


def _is_blank(text: str | None) -> bool:
    return text is None or not text.strip()


def _flat(element: Any) -> str:
    return "".join(element.itertext()).strip()


# Tables of numbers and lines.

_CODE_HINT = re.compile(r"highlight|code|blob|syntax|listing|source|line", re.IGNORECASE)


def _unfold_tables(root: Any) -> None:
    for table in list(root.iter("table")):
        rows = _numbered_rows(table)
        if rows and _is_listing(table, rows):
            for row in rows:
                row.number.getparent().remove(row.number)
            _as_listing(table)


@dataclass(frozen=True, slots=True)
class _NumberedRow:
    """The two cells of a row: what may be the number of a line, and the line."""

    number: Any
    code: Any


def _numbered_rows(table: Any) -> list[_NumberedRow]:
    """The rows of a table of two columns; none of any other table."""
    if table.find(".//th") is not None or next(table.iterdescendants("table"), None) is not None:
        return []
    numbered: list[_NumberedRow] = []
    for row in table.iter("tr"):
        has_two_cells = len(row) == 2 and row[0].tag == row[1].tag == "td"
        if not has_two_cells or len(numbered) == _MOST_ROWS:
            return []
        numbered.append(_NumberedRow(row[0], row[1]))
    return numbered


def _is_listing(table: Any, rows: list[_NumberedRow]) -> bool:
    """Whether the first column of a table holds the numbers of the lines of code in the second."""
    first = rows[0]
    if len(rows) == 1:  # one cell holds all numbers
        numbers = text_of(first.number).split()
        lines = text_of(first.code).count("\n") + 1
        return _counts_up(numbers) and abs(lines - len(numbers)) <= 1
    numbers = [row.number.get("data-line-number") or _flat(row.number) for row in rows]
    if not _counts_up(numbers):
        return False
    names = f"{table.get('class', '')} {first.code.get('class', '')}"
    return _CODE_HINT.search(names) is not None or first.code.find(".//code") is not None


_LINE_NUMBER = re.compile(r"[0-9]{1,6}")


def _counts_up(numbers: list[str], least: int = _LEAST_LINES) -> bool:
    """Whether texts are the numbers of lines one after the other, at least so many."""
    if len(numbers) < least or not all(map(_LINE_NUMBER.fullmatch, numbers)):
        return False
    first = int(numbers[0])
    return all(int(text) == first + place for place, text in enumerate(numbers))


# What is in a `<pre>` already.

_NUMBERS = (
    ".//*[contains(@class, 'lin') or contains(@class, 'Line') or contains(@class, 'ln') or contains(@class, 'gutter')"
    " or @data-nosnippet]"
)
_NUMBER_NAMES = re.compile(
    r"(?:^|\s)(?:linenos?|lineno|lnt?|lnum|line-?num(?:ber)?s?(?:-rows)?|codeLineNumber\w*|gutter|hljs-ln-n(?:umbers)?"
    r"|react-code-line-number)(?:\s|$)",
    re.IGNORECASE,
)


def _remove_numbers(pre: Any) -> None:
    """Remove the numbers of its lines from a listing, if they count up: readers cannot copy them."""
    holders: list[Any] = []
    within: set[Any] = set()
    for element in pre.xpath(_NUMBERS):
        if element not in within and _holds_numbers(element):
            holders.append(element)
            within.update(element.iterdescendants())
    numbers: list[str] = []
    for holder in holders:
        numbers += _flat(holder).split()
    if not numbers or _counts_up(numbers, least=1):
        for holder in holders:
            _drop(holder, pre)


def _holds_numbers(element: Any) -> bool:
    """Whether an element is named as the numbers of lines are, or an `<a data-nosnippet>`, as rustdoc writes them."""
    if element.tag == "a" and element.get("data-nosnippet") is not None:
        return True
    return _NUMBER_NAMES.search(element.get("class", "")) is not None


def _drop(element: Any, pre: Any) -> None:
    """Remove an element, and those around it in which it was alone."""
    around = element.getparent()
    if element.tail:
        before = element.getprevious()
        if before is None:
            around.text = (around.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    around.remove(element)
    is_empty = not len(around) and not around.text
    if is_empty and around is not pre and around.tag != "code":
        _drop(around, pre)


def _part_lines(pre: Any) -> None:
    """Put each line of a listing on its own where only a style sheet does, as in Shiki's `<span class="line">`."""
    if next(pre.iter("br"), None) is not None or any("\n" in text for text in pre.itertext()):
        return
    lines = [element for element in pre.iter("span") if _is_line_of_code(element)]
    if len(lines) >= _LEAST_LINES:
        for line in lines:
            line.tag = "div"


def _is_line_of_code(element: Any) -> bool:
    return "line" in element.get("class", "").split() and _is_blank(element.tail)


# Lists whose items are lines.

_MOST_AROUND = 20
_LINE_ITEMS = re.compile(r"(?:^|\s)(?:li[12]|L\d|alt)(?:\s|$)")


def _unfold_lists(root: Any) -> None:
    """Turn the lists that GeSHi and Prettify write into listings."""
    for numbered in root.iter("ol"):
        items = list(islice(numbered, _MOST_ROWS))
        if len(items) < _LEAST_LINES or _is_in_listing(numbered):
            continue
        if all(map(_is_line_item, items)):
            _as_listing(numbered)


def _is_in_listing(element: Any) -> bool:
    return any(outer.tag == "pre" for outer in islice(element.iterancestors(), _MOST_AROUND))


def _is_line_item(item: Any) -> bool:
    return item.tag == "li" and _LINE_ITEMS.search(item.get("class", "")) is not None


# Elements that are lines.

_LINE_NAMES = re.compile(
    r"(?:^|\s)(?:(?:ace_|cm-|crayon-|view-|code-|token-|hljs-|editor-|CodeMirror-)?line|(?:react-)?code-text)(?:\s|$)"
)
_LINE_TAGS = frozenset(("div", "pre", "code", "tr", "li", "span"))
_LISTING_TAGS = frozenset(("div", "section", "figure", "code", "td"))


def _unfold_lines(root: Any) -> None:
    lines = [_without_number(line) for line in with_class(root, _LINE_NAMES)]
    for parent in dict.fromkeys(line.getparent() for line in lines):
        if parent is not None and parent.tag in _LISTING_TAGS and _has_only_lines(parent):
            _as_listing(parent)


def _without_number(line: Any) -> Any:
    """The element of a line; a `<pre>` beside its number, as editors write it, becomes one element without that."""
    around = line.getparent()
    if line.tag != "pre" or around is None or line.getprevious() is None:
        return line
    others = [element for element in around if element is not line]
    for element in others:
        text = _flat(element)
        if text and not text.isdigit():
            return line
    for number in others:
        around.remove(number)
    around.set("class", "line")
    line.tag = "span"
    return around


def _has_only_lines(parent: Any) -> bool:
    """Whether all that an element holds are lines of code, and it is in no `<pre>`."""
    if not _is_blank(parent.text) or any(outer.tag == "pre" for outer in parent.iterancestors()):
        return False
    lines = 0
    for child in parent:
        if not _is_line(child):
            return False
        lines += 1
    return lines >= _LEAST_LINES


def _is_line(element: Any) -> bool:
    if element.tag not in _LINE_TAGS or not _is_blank(element.tail):
        return False
    has_name = _LINE_NAMES.search(element.get("class", "")) is not None
    return has_name and element.find(".//p") is None


# Code that stands alone.

_CODE_OF_LINES = ".//code[contains(., '\n') or .//br][not(ancestor::pre)]"
_NO_PLACE_FOR_LISTINGS = INLINE | {"td", "th", "li", "dt", "h1", "h2", "h3", "h4"}


def _unfold_code_alone(root: Any) -> None:
    for code in root.xpath(_CODE_OF_LINES):
        if _stands_alone(code):
            code.tag = "pre"


def _stands_alone(code: Any) -> bool:
    """Whether code of several lines has no text beside it, so that readers see a block."""
    if "\n" not in text_of(code) or not _is_blank(code.tail):
        return False
    parent = code.getparent()
    if parent is None or parent.tag in _NO_PLACE_FOR_LISTINGS:
        return False
    before, after = code.getprevious(), code.getnext()
    text_before = parent.text if before is None else before.tail
    return _is_blank(text_before) and not _is_in_line(before) and not _is_in_line(after)


def _is_in_line(beside: Any) -> bool:
    """Whether an element beside another is in one line with it."""
    return beside is not None and beside.tag in INLINE and beside.tag != "br"


# What a style shows as code.

_STYLED = (
    ".//*[@style][self::div or self::p][contains(@style, 'white-space')][contains(@style, 'mono')]"
)
_KEEPS_BLANKS = re.compile(r"white-space:\s*pre(?:-wrap)?\s*(?:;|$)")


def _unfold_styled(root: Any) -> None:
    for element in root.xpath(_STYLED):
        if not _KEEPS_BLANKS.search(element.get("style")):
            continue
        if element.find(".//p") is None and element.find(".//div") is None:
            element.tag = "pre"
