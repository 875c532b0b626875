"""Reads formulas that KaTeX has drawn, where a page has no MathML beside them, as MathML.

A drawing places its parts by styles alone, so that its text has 10 to the power of 5 as `105`. The parts of a
layout that is not known stay apart, so that no number changes. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from websearch_gateway.pages.rendering import mathml
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
    if _is_large(drawing):
        parts = _pieces_of_text(drawing)
    else:
        parts = _inside(drawing, 0)
    tail = drawing.tail
    drawing.clear()
    drawing.tag, drawing.tail = "math", tail
    drawing.extend(parts)


def _is_large(drawing: Any) -> bool:
    return next(islice(drawing.iter(), MOST_PARTS, None), None) is not None


def _blank() -> Any:
    return mathml.element("mspace")


def _pieces_of_text(element: Any) -> list[Any]:
    pieces = []
    for text in element.itertext():
        if words := text.strip():
            pieces += [mathml.token("mtext", words), _blank()]
    return pieces


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


def _words(element: Any) -> str:
    return "".join(element.itertext()).replace("\u200b", "").strip()


def _tokens(text: str | None, holder: Any) -> list[Any]:
    """The numbers, letters and signs of a text, in the typeface of the element that holds it."""
    variant = _variant(holder)
    tokens = []
    for piece in _TOKEN.finditer((text or "").strip()):
        token = mathml.token(piece.lastgroup or "mo", piece[0])
        if variant and token.tag == "mi":
            token.set("mathvariant", variant)
        tokens.append(token)
    return tokens


def _variant(holder: Any) -> str:
    """The typeface of the letters in an element; "" for the usual one."""
    kinds = _kinds(holder)
    return next((variant for kind, variant in _VARIANTS.items() if kind in kinds), "")


# --- levels: what stands above what ---

_NUMBER = re.compile(r"-?\d{1,4}(?:\.\d{1,20})?")


@dataclass(frozen=True)
class _Level:
    """One of the parts that a drawing stacks, and how far its line is above that of the formula."""

    holder: Any
    rise: float

    @property
    def words(self) -> str:
        return _words(self.holder)

    def has(self, kind: str) -> bool:
        return any(kind in _kinds(child) for child in self.holder)

    def row(self, depth: int) -> Any:
        return mathml.row(_inside(self.holder, depth))


def _levels(element: Any) -> list[_Level]:
    """The levels of the first stack in an element, from above; none if one of them tells no place."""
    stack = next((part for part in element.iter() if _is_stack(part)), ())
    levels = []
    for holder in stack:
        if rise := _NUMBER.fullmatch(holder.get(_RISE, "")):
            levels.append(_Level(holder, float(rise[0])))
        elif _words(holder):
            return []
    return sorted(levels, key=lambda level: -level.rise)


def _levels_with_words(element: Any) -> list[_Level]:
    """The levels of a stack that show something: others only keep a distance."""
    return [level for level in _levels(element) if level.words]


def _is_stack(element: Any) -> bool:
    return "vlist" in _kinds(element)


def _apart(element: Any, depth: int) -> list[Any]:
    """All that an unknown layout holds, with blanks around each of its parts."""
    if levels := _levels(element):
        groups = [_inside(level.holder, depth) for level in levels]
    else:
        groups = [_tokens(element.text, element)]
        for child in element:
            groups += [_inside(child, depth), _tokens(child.tail, element)]
    parts = [_blank()]
    for group in groups:
        if group:
            parts += [*group, _blank()]
    return parts


# --- layouts ---


def _inside(element: Any, depth: int) -> list[Any]:
    """What an element shows. Scripts are drawn behind their base, which may be several signs or none."""
    if depth > DEEPEST:
        return [_blank(), *_pieces_of_text(element)]
    groups = [_tokens(element.text, element)]
    for child in element:
        if "msupsub" in _kinds(child):
            base = groups.pop()
            groups.append(_scripted(base, child, depth + 1))
        else:
            groups.append(_drawn(child, depth + 1))
        if tokens := _tokens(child.tail, element):
            groups.append(tokens)
    return list(chain.from_iterable(groups))


def _drawn(element: Any, depth: int) -> list[Any]:
    kinds = _kinds(element)
    if "mspace" in kinds:
        return [_blank()]
    layout = next((layout for kind, layout in _LAYOUTS.items() if kind in kinds), None)
    if layout:
        return list(layout(element, depth)) or _apart(element, depth)
    if any(_is_stack(part) for part in element.iter()):
        return _inside(element, depth)
    if "text" in kinds:
        return [mathml.token("mtext", "".join(element.itertext()))]
    name = _words(element)
    if "mop" in kinds and len(name) > 1 and name.isalpha():
        return [mathml.token("mi", name)]
    return _inside(element, depth)


def _scripted(base: list[Any], element: Any, depth: int) -> list[Any]:
    """A base with what stands above and below on its right."""
    levels = _levels(element)
    raised = [level.row(depth) for level in levels if level.rise > 0]
    lowered = [level.row(depth) for level in levels if level.rise <= 0]
    if not levels or len(raised) > 1 or len(lowered) > 1:
        return [*base, *_apart(element, depth)]
    tag = f"m{'sub' * len(lowered)}{'sup' * len(raised)}"
    return [mathml.element(tag, mathml.row(base), *lowered, *raised)]


def _fraction(element: Any, depth: int) -> Iterator[Any]:
    levels = _levels(element)
    parts = [level for level in levels if not level.has("frac-line")]
    if len(parts) != 2:
        return
    above, below = parts
    fraction = mathml.element("mfrac", above.row(depth), below.row(depth))
    if len(parts) == len(levels):
        fraction.set("linethickness", "0")
    yield fraction


def _root(element: Any, depth: int) -> Iterator[Any]:
    if not len(element):
        return
    *before, stack = element
    inside = _levels_with_words(stack)
    degrees = list(chain.from_iterable(map(_levels, before)))
    if len(inside) != 1 or len(degrees) != len(before):
        return
    rows = [level.row(depth) for level in (*inside, *degrees)]
    yield mathml.element("mroot" if degrees else "msqrt", *rows)


def _limits(element: Any, depth: int) -> Iterator[Any]:
    """A base with what stands right above and below it."""
    levels = _levels_with_words(element)
    if not levels:
        return
    base = min(levels, key=lambda level: abs(level.rise))
    above = [level.row(depth) for level in levels if level.rise > base.rise]
    below = [level.row(depth) for level in levels if level.rise < base.rise]
    beside = len(levels) - 1 - len(above) - len(below)
    if len(above) > 1 or len(below) > 1 or beside:
        return
    row = base.row(depth)
    if above or below:
        tag = f"m{'under' * len(below)}{'over' * len(above)}"
        row = mathml.element(tag, row, *below, *above)
    yield row


def _accent(element: Any, depth: int) -> Iterator[Any]:
    bases, marks = [], []
    for level in _levels(element):
        if level.has("accent-body"):
            marks.append(level.words)
        elif level.words:
            bases.append(level)
    if len(bases) != 1 or len(marks) > 1:
        return
    row = bases[0].row(depth)
    for mark in marks:
        # An arrow is the one mark that is a picture.
        row = mathml.element("mover", row, mathml.token("mo", mark or "→"))
    yield row


def _lined(tag: str, sign: str) -> Callable[[Any, int], Iterator[Any]]:
    """Write what has a line above or below it."""

    def write(element: Any, depth: int) -> Iterator[Any]:
        levels = _levels_with_words(element)
        if len(levels) == 1:
            yield mathml.element(tag, levels[0].row(depth), mathml.token("mo", sign))

    return write


def _table(element: Any, depth: int) -> Iterator[Any]:
    """A matrix, which is drawn as columns of levels: those of one height are a row."""
    first = next((part for part in element.iter() if _is_column(part)), None)
    if first is None:
        return
    columns = [_levels(column) for column in first.getparent() if _is_column(column)]
    if not all(columns):
        return
    rises = {level.rise for level in chain.from_iterable(columns)}
    yield mathml.table(_cells(columns, rise, depth) for rise in sorted(rises, reverse=True))


def _cells(columns: list[list[_Level]], rise: float, depth: int) -> Iterator[list[Any]]:
    """A row of a matrix: of each column, the levels at this height."""
    for column in columns:
        yield [level.row(depth) for level in column if level.rise == rise]


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
    piece = _words(element)[:1]
    yield mathml.token("mo", _TALL.get(piece, piece))


def _tag(element: Any, depth: int) -> Iterator[Any]:
    yield _blank()
    yield from _inside(element, depth)


def _unknown(element: Any, depth: int) -> Iterator[Any]:
    """A stack that stands in no layout."""
    yield from ()


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
    "vlist-t": _unknown,
    "vlist": _unknown,
}
"""How a layout is read by its class; one that yields nothing has a form that is not known."""
