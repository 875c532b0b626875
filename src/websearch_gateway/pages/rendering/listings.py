"""Finds listings that no `<pre>` marks, by their form: lines beside their numbers, lines that are elements, code alone.

Highlighters write a listing as a table of numbers and lines, as one element for each line, or as `<code>` that a style
sheet shows as a block. Each becomes one `<pre>`, which `code` writes.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.code import text_of
from websearch_gateway.pages.rendering.vocabulary import INLINE, outermost, with_class

_LINE_NAMES = re.compile(
    r"(?:^|\s)(?:(?:ace_|cm-|crayon-|view-|code-|token-|hljs-|editor-|CodeMirror-)?line|(?:react-)?code-text)(?:\s|$)"
)
_CODE_ALONE = ".//code[contains(., '\n') or .//br][not(ancestor::pre)]"
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
    for listing in outermost(root, "pre"):
        _remove_numbers(listing)
        _part_lines(listing)
    for numbered in root.iter("ol"):
        if _is_numbered_code(numbered):
            _as_listing(numbered)
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
    marked: list[Any] = []
    within: set[Any] = set()
    for element in pre.xpath(_NUMBERS):
        is_unread = element.tag == "a" and element.get("data-nosnippet") is not None
        if element not in within and (is_unread or _NUMBER_NAMES.search(element.get("class", ""))):
            marked.append(element)
            within.update(element.iterdescendants())
    numbers = [words for element in marked for words in _flat(element).split()]
    if not numbers or _counts_up(numbers, least=1):
        for element in marked:
            _drop(element, pre)


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
    if around is not pre and around.tag != "code" and not len(around) and not around.text:
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
    return "line" in element.get("class", "").split() and not (element.tail or "").strip()


def _is_in_listing(element: Any) -> bool:
    return any(outer.tag == "pre" for outer in islice(element.iterancestors(), _MOST_AROUND))


_MOST_AROUND = 20
_LINE_ITEMS = re.compile(r"(?:^|\s)(?:li[12]|L\d|alt)(?:\s|$)")


def _is_numbered_code(numbered: Any) -> bool:
    """Whether a list is a listing of GeSHi or Prettify, whose items are its lines."""
    items = list(islice(numbered, _MOST_ROWS))
    if len(items) < _LEAST_LINES or _is_in_listing(numbered):
        return False
    return all(item.tag == "li" and _LINE_ITEMS.search(item.get("class", "")) for item in items)


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


def _counts_up(numbers: list[str], least: int = _LEAST_LINES) -> bool:
    """Whether texts are the numbers of lines one after the other, at least so many."""
    if len(numbers) < least or not all(
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
    if "\n" not in text_of(code) or (code.tail or "").strip():
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
