"""Gives what readers see as a table, a formula or raised text the element that says so, in place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from websearch_gateway.pages.rendering.formulas import write_formulas
from websearch_gateway.pages.rendering.listings import unfold_listings
from websearch_gateway.pages.rendering.notes import mark_notes
from websearch_gateway.pages.rendering.vocabulary import INLINE, TICK, with_class

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
_DISPLAYS = {
    "table": "table",
    "table-row-group": "tbody",
    "table-header-group": "thead",
    "table-footer-group": "tfoot",
    "table-row": "tr",
    "table-cell": "td",
    "table-caption": "caption",
}
_DISPLAY = re.compile(r"(?:^|[;\s])display\s*:\s*([a-z-]+)")
_BLOCK_DISPLAYS = frozenset(("block", "flex", "grid", "list-item", "flow-root"))
_VERTICAL = re.compile(r"vertical-align:\s*(?:(super)|sub)\b")
_STYLED = "descendant-or-self::*[@style][contains(@style, 'display') or contains(@style, 'vertical-align')]"
_CODE_AROUND_BLOCKS = ".//code[not(ancestor::pre)][.//pre or .//table or .//div or .//p]"
_TABLES_OF_FORMULAS = (
    ".//table[contains(@class, 'ltx_eqn_table') or contains(@class, 'ltx_equation')]"
)
_TICKS = ".//input[@type = 'checkbox' and (@disabled or contains(@class, 'task'))]"


def prepared(root: Any) -> Any:
    """The same tree, each of whose parts has the element by which the renderer writes it."""
    for element in root.xpath("descendant-or-self::*[@role]"):
        if (tag := _ROLES.get(element.get("role"))) and element.tag not in (
            "table",
            "tr",
            "td",
            "th",
            "thead",
            "tfoot",
        ):
            element.tag = tag
    rules = _rules(root)
    for element in with_class(root, _any_of(rules)) if rules else ():
        for name in element.get("class").split():
            _by_style(element, rules.get(name, ""))
    for element in root.xpath(_STYLED):
        _by_style(element, element.get("style").lower())
    for element in root.xpath(_CODE_AROUND_BLOCKS):
        element.tag = "div"
    for element in root.xpath(_TABLES_OF_FORMULAS):
        _as_lines(element)
    for box in root.xpath(_TICKS):
        item = next(box.iterancestors("li"), None)
        if item is not None and item.get(TICK) is None:
            item.set(TICK, "x" if box.get("checked") is not None else "")
    unfold_listings(root)
    mark_notes(root)
    write_formulas(root)
    return root


_RULE = re.compile(r"(?:\A|(?<=[{}]))\s*+\.([\w-]{1,60})\s*+\{([^{}]{1,1000})(?=\})")
_MOST_STYLES = 200_000
_MOST_RULES = 200


def _rules(root: Any) -> dict[str, str]:
    """What the page's own style sheets say of a class alone that matters here, by the class."""
    rules: dict[str, str] = {}
    for sheet in root.iter("style"):
        for rule in _RULE.finditer((sheet.text or "")[:_MOST_STYLES]):
            body = rule[2].lower()
            if len(rules) < _MOST_RULES and (_DISPLAY.search(body) or _VERTICAL.search(body)):
                rules[rule[1]] = body
    return rules


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:^|\s)(?:{'|'.join(map(re.escape, names))})(?:\s|$)")


def _by_style(element: Any, style: str) -> None:
    if element.tag == "span" and (found := _VERTICAL.search(style)):
        element.tag = "sup" if found[1] else "sub"
    elif found := _DISPLAY.search(style):
        if element.tag in ("div", "span", "p", "section") and found[1] in _DISPLAYS:
            element.tag = _DISPLAYS[found[1]]
        elif (
            element.tag in INLINE
            and element.tag not in ("img", "br", "code")
            and found[1] in _BLOCK_DISPLAYS
        ):
            _as_block(element)


def _as_block(element: Any) -> None:
    """Let an inline element stand on lines of its own; a link stays one inside of it."""
    if any(around.tag == "pre" for around in element.iterancestors()):
        return
    if element.tag in ("span", "label", "small", "time", "b", "strong", "i", "em"):
        element.tag = "div"


def _as_lines(table: Any) -> None:
    """Write a table that only places formulas as one line for each row."""
    tags = {"table": "div", "tbody": "div", "thead": "div", "tr": "p", "td": "span", "th": "span"}
    for element in list(table.iter(*tags)):
        element.tag = tags[element.tag]
