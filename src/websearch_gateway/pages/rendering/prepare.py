"""Gives what readers see as a table, a formula or raised text the element that says so, in place."""

from __future__ import annotations

from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.formulas import write_formulas
from websearch_gateway.pages.rendering.listings import unfold_listings
from websearch_gateway.pages.rendering.notes import mark_notes
from websearch_gateway.pages.rendering.scripts import scripted
from websearch_gateway.pages.rendering.styles import apply_styles
from websearch_gateway.pages.rendering.vocabulary import BLOCKS, INLINE, TICK

_ROLES = {
    "table": "table",
    "grid": "table",
    "treegrid": "table",
    "rowgroup": "tbody",
    "row": "tr",
    "columnheader": "th",
    "rowheader": "th",
    "cell": "td",
    "gridcell": "td",
}
_TABLE_ELEMENTS = frozenset(("table", "tr", "td", "th", "thead", "tbody", "tfoot"))
_OLD_LISTINGS = ("xmp", "listing", "plaintext")
_LINES = INLINE | {
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "dt",
    "summary",
    "figcaption",
    "caption",
}
"""What holds one line of text and other elements of it."""
_CODE_AROUND_BLOCKS = ".//code[not(ancestor::pre)][.//pre or .//table or .//div or .//p]"
_TABLES_OF_FORMULAS = (
    ".//table[contains(@class, 'ltx_eqn_table') or contains(@class, 'ltx_equation')]"
)
_TICKS = ".//input[@type = 'checkbox' and (@disabled or contains(@class, 'task'))]"


def prepared(root: Any) -> Any:
    """The same tree, each of whose parts has the element by which the renderer writes it."""
    for element in root.xpath("descendant-or-self::*[@role]"):
        _by_role(element)
    apply_styles(root)
    for element in list(root.iter(*_OLD_LISTINGS)):
        element.tag = "pre"
    for element in root.xpath(_CODE_AROUND_BLOCKS):
        element.tag = "div"
    for element in root.xpath(_TABLES_OF_FORMULAS):
        _as_lines(element)
    for box in root.xpath(_TICKS):
        item = next(box.iterancestors("li"), None)
        if item is not None and item.get(TICK) is None:
            item.set(TICK, "x" if box.get("checked") is not None else "")
    _write_scripts_in_code(root)
    _part_fractions(root)
    unfold_listings(root)
    mark_notes(root)
    write_formulas(root)
    _place_in_lines(root)
    return root


def _by_role(element: Any) -> None:
    tag = _ROLES.get(element.get("role"))
    if tag is None or element.tag in _TABLE_ELEMENTS:
        return
    element.tag = tag
    for name in ("colspan", "rowspan"):
        if (span := element.get(f"aria-{name}")) and element.get(name) is None:
            element.set(name, span)


_NO_TEXT = frozenset(
    [
        *(
            "script",
            "style",
            "noscript",
            "template",
            "svg",
            "title",
            "button",
            "form",
            "iframe",
            "object",
        ),
        *("embed", "canvas", "audio", "video", "link", "meta", "base", "map", "datalist"),
    ]
)
"""What callers take out of a tree by its tag."""


def _place_in_lines(root: Any) -> None:
    """Let elements that stand inside of a line do so: what HTML does not know as a block is none beside text.

    So are fields of forms and elements of a site's own. Those without text beside them stay apart.
    """
    for element in root.iter():
        tag = element.tag
        if not isinstance(tag, str) or tag in INLINE or tag in BLOCKS or tag in _NO_TEXT:
            continue
        parent = element.getparent()
        if parent is not None and (parent.tag in _LINES or _has_text_beside(element, parent)):
            element.tag = "span"


def _has_text_beside(element: Any, parent: Any) -> bool:
    before = element.getprevious()
    text_before = parent.text if before is None else before.tail
    return bool((text_before or "").strip() or (element.tail or "").strip())


_CODE = frozenset(("pre", "code", "kbd", "samp"))
_MOST_AROUND = 20


def _write_scripts_in_code(root: Any) -> None:
    """Code has no elements: a raised or lowered part of it becomes signs, so that 10 to the power of 4 is not 104."""
    within: set[Any] = set()
    for script in list(root.iter("sup", "sub")):
        around = islice(script.iterancestors(), _MOST_AROUND)
        if script in within or _CODE.isdisjoint(outer.tag for outer in around):
            continue
        within.update(script.iterdescendants())
        inner = "".join(script.itertext()).strip()
        if not inner:
            continue
        before = script.getprevious()
        text_before = script.getparent().text if before is None else before.tail
        tail = script.tail or ""
        written = scripted(inner, (text_before or "")[-1:], tail[:1], is_raised=script.tag == "sup")
        script.clear()
        script.tag, script.text, script.tail = "span", written, tail


_FRACTION_SLASHES = ".//text()[contains(., '\u2044')]"


def _part_fractions(root: Any) -> None:
    """Put a blank between a whole number and the fraction behind it: 1 and 1/2 are not 11/2."""
    # One search of the whole text is much faster than one of each of its parts.
    slashes = root.xpath(_FRACTION_SLASHES) if "\u2044" in root.xpath("string()") else ()
    for slash in slashes:
        if not slash.is_tail or not slash.lstrip().startswith("\u2044"):
            continue
        numerator = slash.getparent()
        before = numerator.getprevious()
        holder, name = (numerator.getparent(), "text") if before is None else (before, "tail")
        text = getattr(holder, name, None) or ""
        if text[-1:].isdigit():
            setattr(holder, name, f"{text} ")


def _as_lines(table: Any) -> None:
    """Write a table that only places formulas as one line for each row."""
    tags = {"table": "div", "tbody": "div", "thead": "div", "tr": "p", "td": "span", "th": "span"}
    for element in list(table.iter(*tags)):
        element.tag = tags[element.tag]
