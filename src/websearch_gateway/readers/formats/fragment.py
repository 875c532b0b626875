"""Converts HTML that is all content, such as a comment or an encyclopaedia article, to Markdown. Pure and linear.

`extraction.render` writes the Markdown, as for whole pages. This module only prepares the tree: it empties elements
without readable text and repeats cells that span several places. For pages with menus and advertisements around the
text use `extraction.extract`.
"""

from __future__ import annotations

from typing import Any

from websearch_gateway.readers.extraction.render import to_markdown as rendered

_HIDDEN = (
    *("script", "style", "noscript", "template", "svg", "head", "title"),
    *("button", "form", "iframe", "object", "img"),
)
# Repeating the text of a larger or longer cell could make a page a thousand times larger.
_LARGEST_CELL = 100
_REPEATED_CHARS = 100
_MOST_CELLS = 500_000


def parse_html(html: str) -> Any:
    """Parse a piece of HTML into a tree under one lxml root element, which is empty for empty input."""
    import lxml.html

    # As bytes: lxml rejects a str that declares an encoding. Lone surrogates cannot be encoded.
    data = html.encode("utf-8", "replace")
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    return lxml.html.fromstring(b"<div>" + data + b"</div>", parser=parser)


def to_markdown(html: str, base_url: str = "") -> str:
    """A piece of HTML as Markdown. Keeps links that resolve against `base_url` and leaves out images."""
    return tree_to_markdown(parse_html(html), base_url) if html else ""


def tree_to_markdown(tree: Any, base_url: str = "", bullet: str = "-") -> str:
    """As `to_markdown`, from a tree of `parse_html`, which it changes. `bullet` is the mark of list items."""
    for element in list(tree.iter(*_HIDDEN)):
        element.clear(keep_tail=True)
    for formula in list(tree.iter("math")):
        _write_formula(formula)
    for element in tree.iter("sup"):
        _write_exponent(element)
    for table in list(tree.iter("table")):
        fill_merged_cells(table)
    return rendered(tree, base_url, bullet)


def _write_formula(formula: Any) -> None:
    """Write a formula as its TeX, in a code span so that nothing in it becomes markup."""
    tex = formula.get("alttext", "").strip()
    formula.clear(keep_tail=True)
    if tex:
        formula.tag, formula.text = "code", f"${tex}$"


def _write_exponent(element: Any) -> None:
    number = (element.text or "").strip()
    if number.isascii() and number.isdecimal() and not len(element):
        element.text = f"^{number}"


def fill_merged_cells(table: Any) -> None:
    """Copy the text of a cell that spans several columns or rows into each of them, unless the table gets huge."""
    widths = [sum(_span(cell, "colspan", _LARGEST_CELL) for cell in row) for row in table.iter("tr")]
    if len(widths) * max(widths, default=0) > _MOST_CELLS:
        for cell in table.iter("td", "th"):
            cell.attrib.pop("colspan", None)
        return
    spanned: dict[int, tuple[int, str]] = {}  # column -> (rows still to fill, text)
    for row in table.iter("tr"):
        column = 0
        for cell in list(row.iterchildren("td", "th")):
            column = _fill_spanned(row, cell, column, spanned)
            across = _span(cell, "colspan", _LARGEST_CELL)
            down = _span(cell, "rowspan", _LARGEST_CELL // across)
            text = " ".join(str(cell.text_content()).split()) if across * down > 1 else ""
            text = text if len(text) <= _REPEATED_CHARS else ""
            for place in range(column, column + across):
                if down > 1:
                    spanned[place] = (down - 1, text)
            for _ in range(across - 1):
                cell.addnext(_filled(row, text))
            cell.attrib.pop("colspan", None)
            column += across
        _fill_spanned(row, None, column, spanned)


def _fill_spanned(row: Any, following: Any, column: int, spanned: dict[int, tuple[int, str]]) -> int:
    """Fill the columns from `column` on that cells of earlier rows span; return the first free column."""
    while column in spanned:
        left, text = spanned.pop(column)
        if following is None:
            row.append(_filled(row, text))
        else:
            following.addprevious(_filled(row, text))
        if left > 1:
            spanned[column] = (left - 1, text)
        column += 1
    return column


def _filled(row: Any, text: str) -> Any:
    cell = row.makeelement("td")
    cell.text = text
    return cell


def _span(cell: Any, attribute: str, most: int) -> int:
    value = cell.get(attribute, "")
    return min(max(int(value), 1), most) if value.isascii() and value.isdecimal() and len(value) < 10 else 1
