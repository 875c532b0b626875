"""What can hide text on a page at all: most pages hide it by one or two properties, and the rest needs no look."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Set
from functools import lru_cache
from typing import NamedTuple

from websearch_gateway.pages.visibility.colors import FAINT, Rgba
from websearch_gateway.pages.visibility.lengths import EM_PX, amount
from websearch_gateway.pages.visibility.looks import (
    MOVEMENT,
    UNREADABLE_FONT_PX,
    TextStyle,
    is_buried,
    is_closed,
)

Declared = tuple[str, str]
"""A property or variable, and its value."""


class Watched(NamedTuple):
    """What can hide text on a page: `names` of properties and variables, and the declarations that are `suspicious`.

    An element without suspicious declarations, itself and on those around it, is visible. `links`: it may be hidden by
    the colour of links.
    """

    names: Set[str]
    suspicious: Set[Declared]
    links: bool


_INK = frozenset({"color", "text-fill-color", "background", "background-image", "background-clip"})
_FONT = frozenset({"font", "font-size"})
_ROOM = frozenset({"contain", "height"})
_HELPERS = MOVEMENT | {
    *("position", "overflow", "contain", "backface-visibility"),
    *("padding", "padding-top", "padding-bottom"),
}
"""Properties that hide nothing alone."""


def watched(declared: Set[Declared], outer: TextStyle) -> Watched:
    """What to watch if a page declares no other values than these, and text without declarations looks like `outer`."""
    variables: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in declared:
        if name.startswith("--"):
            variables[name].append(value)
    possible: dict[Declared, list[str]] = {}
    for declaration in declared:
        name, value = declaration
        if not name.startswith("--"):
            possible[declaration] = _possible_values(value, variables)

    suspicious, hides_links = _blending(possible, outer)
    for declaration, values in possible.items():
        name, _ = declaration
        if any(_could_hide(name, value) for value in values):
            suspicious.add(declaration)

    names = {name for name, _ in suspicious}
    for together in (_INK, _FONT, _ROOM):
        if not together.isdisjoint(names):
            names |= together
    if names:
        names |= _HELPERS
    names |= _used_variables(names, declared, variables)
    return Watched(names, suspicious, hides_links)


_USED = re.compile(r"var\(\s*+(--[\w-]++)")

VARIABLE = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,([^()]*+(?:\([^()]*+\)[^()]*+)*+))?\)")
"""The use of a variable: its name, and what stands for it where it has no value."""


def _used_variables(
    names: Set[str], declared: Set[Declared], variables: Mapping[str, list[str]]
) -> set[str]:
    """The variables in the values of some properties, and those in the values of these variables."""
    used: set[str] = set()
    open_values = [value for name, value in declared if name in names]
    while open_values:
        for variable in _USED.findall(open_values.pop()):
            if variable not in used:
                used.add(variable)
                open_values += variables.get(variable, ())
    return used


_MOST_VALUES = 50
_ANYTHING = "var(...)"


def _possible_values(value: str, variables: Mapping[str, list[str]]) -> list[str]:
    """What a value may be with its variables; _ANYTHING where a variable is a part of it, or has many values."""
    if "var(" not in value:
        return [value]
    values = [value]
    for candidate in values:  # grows by the values of the variables that are found
        variable = VARIABLE.fullmatch(candidate)
        if variable is None:
            continue
        name, fallback = variable.groups("")
        of_variable = variables.get(name, ())[: _MOST_VALUES + 1]
        values += {fallback.strip() or "?", *of_variable}.difference(values)
        if len(values) > _MOST_VALUES:
            return [_ANYTHING]
    without_names = [candidate for candidate in values if not VARIABLE.fullmatch(candidate)]
    return [_ANYTHING if "var(" in candidate else candidate for candidate in without_names]


@lru_cache(maxsize=5_000)
def _could_hide(name: str, value: str) -> bool:
    """Whether a declaration hides text alone or together with others, the colour of text aside."""
    if name in _INK:
        return False
    if value == _ANYTHING:
        return True
    if name in _FONT:
        return _could_shrink({name: value})
    if name == "opacity":
        return amount(value) < 1
    style = {
        "position": "absolute",
        "overflow": "hidden",
        "backface-visibility": "hidden",
        name: value,
    }
    return is_closed(style) or is_buried(style)


def _could_shrink(font: Mapping[str, str]) -> bool:
    """Whether a font is unreadable in text of the usual size, or smaller than the text around it."""
    if TextStyle().within(font).size <= UNREADABLE_FONT_PX:
        return True
    outer_sizes = (4.0, EM_PX, 10 * EM_PX)
    own_sizes = [TextStyle(size=size).within(font).size for size in outer_sizes]
    is_relative = len({*own_sizes}) > 1
    is_smaller = any(own < outer for own, outer in zip(own_sizes, outer_sizes, strict=True))
    return is_relative and is_smaller


_MOST_PAIRS = 1_000
_LINK = Rgba(0.0, 0.0, 0xEE / 255, 1.0)
"""The colour of links without declarations."""
_UNKNOWN_PAINT = frozenset({_ANYTHING, "currentcolor"})


def _blending(
    possible: Mapping[Declared, list[str]], outer: TextStyle
) -> tuple[set[Declared], bool]:
    """The declarations of colours and backgrounds of which one hides text on another, and whether links are hidden."""
    inks: defaultdict[Rgba | None, list[Declared]] = defaultdict(list, {outer.color: [], _LINK: []})
    papers: defaultdict[Rgba | None, list[Declared]] = defaultdict(list, {outer.background: []})
    painting = [declaration for declaration in possible if declaration[0] in _INK]
    hiding: set[Declared] = set()
    for declaration in painting:
        name, _ = declaration
        if not _UNKNOWN_PAINT.isdisjoint(possible[declaration]):
            hiding.add(declaration)
        for value in possible[declaration]:
            style = TextStyle().within({name: value})
            inks[style.color].append(declaration)
            papers[style.background].append(declaration)
    if len(inks) * len(papers) > _MOST_PAIRS:
        return set(painting), True
    hides_links = False
    for ink, ink_declarations in inks.items():
        for paper, paper_declarations in papers.items():
            if not TextStyle(ink, paper).is_invisible:
                continue
            hides_links = hides_links or ink == _LINK
            hiding.update(ink_declarations)
            if ink is not None and ink.opacity > FAINT:
                hiding.update(paper_declarations)
    return hiding, hides_links
