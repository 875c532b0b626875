"""Gives what a style shows as a table, as raised, struck or parted text or as another list the element that says so.

It knows the `style` of elements and what the page's own style sheets say of classes: `.a`, `.a .b` and `ul.a`, in lists
too. What any other selector says is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.vocabulary import INLINE, with_class

_PROPERTIES = re.compile(
    r"display|vertical-align|white-space|line-through|list-style|position\s*:\s*relative"
)
_STYLED = " or ".join(
    f"contains(@style, '{name}')"
    for name in (
        "display",
        "vertical-align",
        "white-space",
        "line-through",
        "list-style",
        "relative",
    )
)
_COMMENT = re.compile(r"/\*[^*]{0,2000}\*/")
_RULE = re.compile(r"(?:\A|(?<=[{}]))\s*+([^{}@;]{1,300})\{([^{}]{1,1000})(?=\})")
_SELECTOR = re.compile(
    r"(?:[\w-]{0,20}(?:\.[\w-]{1,60})?\s+){0,3}([a-z][a-z0-9]{0,9})?\.([\w-]{1,60})"
)
_CLASS = re.compile(r"\.([\w-]+)")
_MOST_STYLES = 200_000
_MOST_RULES = 200
_MOST_AROUND = 20
"""How many elements around another are asked for the classes that a selector names before its last one."""


def apply_styles(root: Any) -> None:
    """Change the elements of a tree, in place, to those that say what their styles show."""
    _write_rules_into_styles(root)
    kept: set[Any] = set()
    for element in root.xpath(f"descendant-or-self::*[@style][{_STYLED}]"):
        style = _declared(element.get("style"))
        _apply(element, style)
        keeps_lines = style.get("white-space", "").startswith(("pre", "break-spaces"))
        if keeps_lines and element not in kept and not _is_listing(element):
            _keep_lines(element, kept)


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a style sheet says of elements with a class, and maybe a tag, in elements with the classes `around`."""

    name: str
    tag: str
    around: frozenset[str]
    body: str

    def holds(self, element: Any) -> bool:
        """Whether an element with the class is meant."""
        if self.tag and element.tag != self.tag:
            return False
        missing = set(self.around)
        for outer in islice(element.iterancestors(), _MOST_AROUND if missing else 0):
            missing.difference_update(outer.get("class", "").split())
        return not missing


def _write_rules_into_styles(root: Any) -> None:
    """Write what the style sheets of a page say of an element before its own style."""
    rules: dict[str, list[_Rule]] = {}
    for rule in islice(_rules(root), _MOST_RULES):
        rules.setdefault(rule.name, []).append(rule)
    if not rules:
        return
    names = "|".join(map(re.escape, rules))
    for element in with_class(root, re.compile(rf"(?:^|\s)(?:{names})(?:\s|$)")):
        bodies: list[str] = []
        for name in element.get("class").split():
            bodies += (rule.body for rule in rules.get(name, ()) if rule.holds(element))
        if bodies:
            element.set("style", ";".join((*bodies, element.get("style", ""))))


def _rules(root: Any) -> Iterator[_Rule]:
    """What the page's own style sheets say that matters here."""
    for sheet in root.iter("style"):
        text = _COMMENT.sub("", (sheet.text or "")[:_MOST_STYLES])
        for rule in _RULE.finditer(text):
            body = rule[2].lower()
            if not _PROPERTIES.search(body):
                continue
            for selector in rule[1].split(","):
                if parts := _SELECTOR.fullmatch(selector.strip()):
                    *around, name = _CLASS.findall(selector)
                    yield _Rule(name, parts[1] or "", frozenset(around), body)


def _declared(style: str) -> dict[str, str]:
    """The properties of a style in lower case; the last one of a name counts."""
    properties: dict[str, str] = {}
    for declaration in style.lower().split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            properties[name.strip()] = value.removesuffix("!important").strip()
    return properties


_DISPLAYS = {
    "table": "table",
    "inline-table": "table",
    "table-row-group": "tbody",
    "table-header-group": "thead",
    "table-footer-group": "tfoot",
    "table-row": "tr",
    "table-cell": "td",
    "table-caption": "caption",
}
_MAY_BE_TABLES = frozenset(("div", "span", "p", "section", "ul", "ol", "dl", "article"))
_MAY_BE_ROWS = frozenset(("li", "dt", "dd", "a", "label", "h3", "h4", "h5", "h6"))
"""What becomes a row or a cell only in an element that became a table."""
_IN_TABLES = frozenset(("table", "thead", "tbody", "tfoot", "tr"))
_BLOCK_DISPLAYS = frozenset(("block", "flex", "grid", "list-item", "flow-root"))
_BLOCKS_BY_STYLE = frozenset(("span", "label", "small", "time", "b", "strong", "i", "em"))
_WRITTEN_SMALL = frozenset(("span", "small", "font"))
_COUNTERS = {
    "lower-alpha": "a",
    "lower-latin": "a",
    "upper-alpha": "A",
    "upper-latin": "A",
    "lower-roman": "i",
    "upper-roman": "I",
}
_OWN_MARK = re.compile(r"\s*[(\[§]?\s?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})(?:[.)\]]|\.\d)")
"""How an item begins that writes its number itself."""


def _apply(element: Any, style: dict[str, str]) -> None:
    tag = element.tag
    if tag in _WRITTEN_SMALL and (script := _script(style)):
        element.tag = script
        return
    struck = style.get("text-decoration", style.get("text-decoration-line", ""))
    if "line-through" in struck and tag in _WRITTEN_SMALL:
        element.tag = "s"
    display = style.get("display", "")
    if shown := _DISPLAYS.get(display):
        parent = element.getparent()
        is_in_table = parent is not None and parent.tag in _IN_TABLES
        if tag in _MAY_BE_TABLES or (tag in _MAY_BE_ROWS and is_in_table):
            element.tag = shown
    elif display in _BLOCK_DISPLAYS and tag in _BLOCKS_BY_STYLE:
        _as_block(element)
    elif display.startswith("inline-") and tag in _WRITTEN_SMALL and "width" in style:
        element.tail = f" {element.tail or ''}"  # a box that is wider than its text
    if tag == "ol" and (counter := style.get("list-style-type") or style.get("list-style")):
        _count_by(element, counter.split())


def _script(style: dict[str, str]) -> str:
    """`sup` or `sub` if a style raises or lowers text; of lengths and the like, only that of smaller text."""
    vertical = style.get("vertical-align", "")
    if vertical == "super":
        return "sup"
    if vertical == "sub":
        return "sub"
    if not _is_smaller(style.get("font-size", "")):
        return ""
    if vertical in ("top", "text-top"):
        return "sup"
    if vertical in ("bottom", "text-bottom"):
        return "sub"
    height = _signed(vertical)
    if style.get("position") == "relative":
        height = height or -_signed(style.get("top", "")) or _signed(style.get("bottom", ""))
    if not height:
        return ""
    return "sup" if height > 0 else "sub"


_LENGTH = re.compile(r"([+-]?\d{0,4}\.?\d{1,4})(?:px|pt|r?em|ex|%)")
_SMALLER = re.compile(
    r"(?:(?:xx?-)?small(?:er)?|0?\.\d{1,4}r?em|[1-9]?\d(?:\.\d{1,4})?%|[1-9]px|10px|[1-8]pt)\Z"
)


def _is_smaller(size: str) -> bool:
    return _SMALLER.match(size) is not None


def _signed(length: str) -> float:
    found = _LENGTH.fullmatch(length)
    return float(found[1]) if found else 0.0


def _as_block(element: Any) -> None:
    """Let an inline element stand on lines of its own."""
    if not _is_in(element, ("pre",)):
        element.tag = "div"


def _is_in(element: Any, tags: tuple[str, ...]) -> bool:
    return any(outer.tag in tags for outer in islice(element.iterancestors(), _MOST_AROUND))


_MOST_LINES = 5_000
"""The most lines of an element that are kept."""
_WITHOUT_LINES = frozenset(
    ("pre", "code", "textarea", "table", "tbody", "tr", "body", "html", "script", "style")
)


def _is_listing(element: Any) -> bool:
    """Whether an element keeps its lines anyway, as listings do, or holds no text."""
    is_typed = "mono" in element.get("style", "") and element.tag in ("div", "p")
    return is_typed or element.tag in _WITHOUT_LINES or _is_in(element, ("pre", "code"))


def _keep_lines(element: Any, kept: set[Any]) -> None:
    """Write the line feeds in an element as line breaks. `kept` gains the elements in it."""
    room = _MOST_LINES
    for part in list(element.iter()):
        kept.add(part)
        if part.tag in _WITHOUT_LINES or room < 0:
            continue
        if part.text and "\n" in part.text.strip("\n"):
            first, *lines = part.text.split("\n")
            part.text = first
            part[0:0] = _breaks(part, lines)
            room -= len(lines)
        if part is not element and part.tail and "\n" in part.tail and part.tag in INLINE:
            first, *lines = part.tail.split("\n")
            part.tail = None
            for br in reversed(_breaks(part, lines)):
                part.addnext(br)
            part.tail = first
            room -= len(lines)


def _breaks(element: Any, lines: list[str]) -> list[Any]:
    """A line break before each of the lines."""
    breaks = []
    for line in lines:
        br = element.makeelement("br")
        br.tail = line
        breaks.append(br)
    return breaks


def _count_by(numbered: Any, styles: list[str]) -> None:
    """Number a list as its style does; one without marks whose items bring their own becomes a plain list."""
    kind = next((_COUNTERS[name] for name in styles if name in _COUNTERS), "")
    if kind:
        numbered.set("type", kind)
        return
    first = next(numbered.iterchildren("li"), None)
    if "none" in styles and first is not None:
        words = "".join(islice(first.itertext(), 5))
        if _OWN_MARK.match(words):
            numbered.tag = "ul"
