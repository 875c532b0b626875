"""Reads formulas that KaTeX has drawn, where a page has no MathML beside them, as MathML.

A drawing places its parts by styles alone, so that its text has 10 to the power of 5 as `105`. The parts of a
layout that is not known stay apart, so that no number changes. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.vocabulary import with_class

MOST_PARTS, DEEPEST = 4_000, 60
"""A drawing of more elements, or parts that are deeper in it, are written as pieces of text."""


_RISE = "data-katex-rise"
_STRUT = re.compile(r"(?:^|\s)pstrut(?:\s|$)")
_TOP = re.compile(r"(?:^|[;\s])top:\s*(-?\d{1,4}(?:\.\d{1,9})?)em")
_HEIGHT = re.compile(r"(?:^|[;\s])height:\s*(\d{1,4}(?:\.\d{1,9})?)em")


def measure_drawings(root: Any) -> None:
    """Write to each level of a stack how high it is: the struts that tell it look like hidden elements.

    Call it before invisible elements are removed.
    """
    for strut in with_class(root, _STRUT):
        holder = strut.getparent()
        height = _HEIGHT.search(strut.get("style", ""))
        top = _TOP.search(holder.get("style", "")) if holder is not None else None
        if top and height:
            holder.set(_RISE, f"{-float(top[1]) - float(height[1]):.4f}")


def read_drawing(drawing: Any) -> None:
    """Turn, in place, the `katex-html` of a formula into the `<math>` that it shows."""
    is_large = next(islice(drawing.iter(), MOST_PARTS, None), None) is not None
    parts = _pieces_of_text(drawing) if is_large else _inside(drawing, 0)
    tail = drawing.tail
    drawing.clear()
    drawing.tag, drawing.tail = "math", tail
    drawing.extend(parts)


def _made(tag: str, *inside: Any) -> Any:
    from lxml import etree

    element = etree.Element(tag)
    element.extend(inside)
    return element


def _leaf(tag: str, text: str) -> Any:
    element = _made(tag)
    element.text = text
    return element


def _row(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else _made("mrow", *parts)


def _blank() -> Any:
    return _made("mspace")


def _pieces_of_text(element: Any) -> list[Any]:
    pieces = (text.strip() for text in element.itertext())
    return [part for text in pieces if text for part in (_leaf("mtext", text), _blank())]


# --- text ---

_VARIANTS = {
    "mathbf": "bold",
    "mathbb": "double-struck",
    "mathcal": "script",
    "mathscr": "script",
    "mathfrak": "fraktur",
    "mathtt": "monospace",
    "mathsf": "sans-serif",
    "boldsymbol": "bold-italic",
}
_TOKEN = re.compile(
    r"(?P<mn>\d+(?:[.,]\d+)*)|(?P<mi>[^\W\d_])|(?P<mspace>\s+)|(?P<mo>.)", re.DOTALL
)


def _kinds(element: Any) -> set[str]:
    """The classes of an element, without the prefix that some versions give them."""
    return {name.removeprefix("katex-") for name in element.get("class", "").split()}


def _text(element: Any) -> str:
    return "".join(element.itertext()).replace("\u200b", "").strip()


def _tokens(text: str | None, holder: Any) -> list[Any]:
    kinds = _kinds(holder)
    variant = next((style for name, style in _VARIANTS.items() if name in kinds), None)
    tokens = []
    for token in _TOKEN.finditer((text or "").strip()):
        leaf = _leaf(token.lastgroup or "mo", token[0])
        if variant and leaf.tag == "mi":
            leaf.set("mathvariant", variant)
        tokens.append(leaf)
    return tokens


# --- levels: what stands above what ---

_NUMBER = re.compile(r"-?\d{1,4}(?:\.\d{1,20})?")


@dataclass(frozen=True)
class _Level:
    """One of the parts that a drawing stacks, and how far its line is above that of the formula."""

    holder: Any
    rise: float

    def has(self, kind: str) -> bool:
        return any(kind in _kinds(child) for child in self.holder)

    def row(self, depth: int) -> Any:
        return _row(_inside(self.holder, depth))


def _levels(element: Any) -> list[_Level]:
    """The levels of the first stack in an element, from above; none if one of them tells no place."""
    stack = next((part for part in element.iter() if "vlist" in _kinds(part)), ())
    levels = []
    for holder in stack:
        if rise := _NUMBER.fullmatch(holder.get(_RISE, "")):
            levels.append(_Level(holder, float(rise[0])))
        elif _text(holder):
            return []
    return sorted(levels, key=lambda level: -level.rise)


def _apart(element: Any, depth: int) -> list[Any]:
    """All that an unknown layout holds, with blanks around each of its parts."""
    if levels := _levels(element):
        groups = [_inside(level.holder, depth) for level in levels]
    else:
        groups = [_tokens(element.text, element)]
        for child in element:
            groups += [_inside(child, depth), _tokens(child.tail, element)]
    parts = [_blank()]
    for group in filter(None, groups):
        parts += [*group, _blank()]
    return parts


# --- layouts ---


def _inside(element: Any, depth: int) -> list[Any]:
    if depth > DEEPEST:
        return [_blank(), *_pieces_of_text(element)]
    groups = [_tokens(element.text, element)]
    for child in element:
        if "msupsub" in _kinds(child):
            groups.append(_scripted(groups.pop(), child, depth + 1))
        else:
            groups.append(_drawn(child, depth + 1))
        if tokens := _tokens(child.tail, element):
            groups.append(tokens)
    return [part for group in groups for part in group]


def _drawn(element: Any, depth: int) -> list[Any]:
    kinds = _kinds(element)
    if "mspace" in kinds:
        return [_blank()]
    if layout := next((write for kind, write in _LAYOUTS.items() if kind in kinds), None):
        return list(layout(element, depth)) or _apart(element, depth)
    is_plain = not any("vlist" in _kinds(part) for part in element.iter())
    if is_plain and "text" in kinds:
        return [_leaf("mtext", "".join(element.itertext()))]
    if is_plain and "mop" in kinds and len(name := _text(element)) > 1 and name.isalpha():
        return [_leaf("mi", name)]
    return _inside(element, depth)


def _scripted(base: list[Any], element: Any, depth: int) -> list[Any]:
    levels = _levels(element)
    raised = [level.row(depth) for level in levels if level.rise > 0]
    lowered = [level.row(depth) for level in levels if level.rise <= 0]
    if not levels or len(raised) > 1 or len(lowered) > 1:
        return [*base, *_apart(element, depth)]
    tag = "msubsup" if raised and lowered else "msup" if raised else "msub"
    return [_made(tag, _row(base), *lowered, *raised)]


def _fraction(element: Any, depth: int) -> Iterator[Any]:
    levels = _levels(element)
    parts = [level for level in levels if not level.has("frac-line")]
    if len(parts) == 2:
        fraction = _made("mfrac", *(level.row(depth) for level in parts))
        if len(parts) == len(levels):
            fraction.set("linethickness", "0")
        yield fraction


def _root(element: Any, depth: int) -> Iterator[Any]:
    if not len(element):
        return
    *before, stack = element
    inside = [level for level in _levels(stack) if _text(level.holder)]
    degree = [level for root in before for level in _levels(root)]
    if len(inside) == 1 and len(degree) == len(before):
        rows = [level.row(depth) for level in (*inside, *degree)]
        yield _made("mroot" if degree else "msqrt", *rows)


def _limits(element: Any, depth: int) -> Iterator[Any]:
    levels = [level for level in _levels(element) if _text(level.holder)]
    if not levels:
        return
    base = min(levels, key=lambda level: abs(level.rise))
    above = [level.row(depth) for level in levels if level.rise > base.rise]
    below = [level.row(depth) for level in levels if level.rise < base.rise]
    if len(above) <= 1 and len(below) <= 1 and len(levels) == 1 + len(above) + len(below):
        tag = f"m{'under' * len(below)}{'over' * len(above)}"
        row = base.row(depth)
        yield row if len(levels) == 1 else _made(tag, row, *below, *above)


def _accent(element: Any, depth: int) -> Iterator[Any]:
    levels = _levels(element)
    bases = [level for level in levels if not level.has("accent-body") and _text(level.holder)]
    marks = [_text(level.holder) for level in levels if level.has("accent-body")]
    if len(bases) == 1 and len(marks) <= 1:
        row = bases[0].row(depth)
        # An arrow is the one mark that is a picture.
        yield _made("mover", row, _leaf("mo", marks[0] or "→")) if marks else row


def _lined(tag: str, sign: str) -> Callable[[Any, int], Iterator[Any]]:
    def write(element: Any, depth: int) -> Iterator[Any]:
        levels = [level for level in _levels(element) if _text(level.holder)]
        if len(levels) == 1:
            yield _made(tag, levels[0].row(depth), _leaf("mo", sign))

    return write


def _table(element: Any, depth: int) -> Iterator[Any]:
    first = next((part for part in element.iter() if _is_column(part)), None)
    if first is None:
        return
    columns = [_levels(column) for column in first.getparent() if _is_column(column)]
    if not all(columns):
        return
    rises = sorted({level.rise for column in columns for level in column}, reverse=True)
    table = _made("mtable")
    for rise in rises:
        cells = ([level.row(depth) for level in column if level.rise == rise] for column in columns)
        table.append(_made("mtr", *(_made("mtd", *cell) for cell in cells)))
    yield table


def _is_column(element: Any) -> bool:
    return any(kind.startswith("col-align-") for kind in _kinds(element))


_TALL = {
    **dict.fromkeys("⎛⎜⎝", "("),
    **dict.fromkeys("⎞⎟⎠", ")"),
    **dict.fromkeys("⎡⎢⎣", "["),
    **dict.fromkeys("⎤⎥⎦", "]"),
    **dict.fromkeys("⎧⎨⎩⎪", "{"),
    **dict.fromkeys("⎫⎬⎭", "}"),
}
"""The brackets whose pieces make a tall one."""


def _tall_bracket(element: Any, depth: int) -> Iterator[Any]:
    pieces = _text(element)
    yield _leaf("mo", _TALL.get(pieces[:1], pieces[:1]))


def _tag(element: Any, depth: int) -> Iterator[Any]:
    yield from (_blank(), *_inside(element, depth))


_LAYOUTS: Mapping[str, Callable[[Any, int], Iterator[Any]]] = {
    "mfrac": _fraction,
    "sqrt": _root,
    "op-limits": _limits,
    "munder": _limits,
    "mover": _limits,
    "accent": _accent,
    "overline": _lined("mover", "‾"),
    "underline": _lined("munder", "_"),
    "mtable": _table,
    "mult": _tall_bracket,
    "tag": _tag,
    "vlist-t": lambda element, depth: iter(()),
    "vlist": lambda element, depth: iter(()),
}
"""How a layout is read by its class; one that yields nothing has a form that is not known."""
