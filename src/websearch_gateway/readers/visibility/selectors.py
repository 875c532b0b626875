"""The selectors of style sheets: their conditions, and whether an element meets them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING
from zlib import crc32

from websearch_gateway.readers.visibility.css import BETWEEN_COMMAS, cached_if_short, unescape

if TYPE_CHECKING:
    from lxml.html import HtmlElement


_BITS = 512

ROOT = "root"
"""The pseudo-class of the root element, the only one that the shape of an element decides."""

Condition = tuple[str, str, str]
"""A condition on an attribute: its name, the operator of the comparison, and the value to compare with."""

NO_CONDITIONS: frozenset[Condition] = frozenset()

_STEP = re.compile(r"(?:([+-]?\d*+)n)?\s*+([+-]?\s*+\d++)?")
_STEP_NAMES = {"odd": "2n+1", "even": "2n"}


class Name:
    """The properties by which rules match an element: its tag, and those of its classes, ids and conditions that any
    rule mentions.

    `keys` has the names among them in the format of `Compound.key`, `bits` in that of `bits_of`.
    """

    __slots__ = ("bits", "classes", "id", "keys", "met", "tag")

    def __init__(self, tag: str, classes: frozenset[str], identity: str | None, met: frozenset[Condition]) -> None:
        self.tag = tag
        self.classes = classes
        self.id = identity
        self.met = met
        self.keys = (
            tag,
            *("." + name for name in classes),
            *(("#" + identity,) if identity else ()),
            *map(_condition_key, met),
        )
        self.bits = bits_of(self.keys)


class Shape:
    """The names of an element and of its ancestors, which are enough for most rules.

    A list or table has thousands of elements of a few shapes. `above` holds the bits of the ancestors' names.
    """

    __slots__ = ("above", "name", "parts")

    def __init__(self, name: Name, above: int) -> None:
        self.name = name
        self.above = above
        self.parts: dict[Name, Shape] = {}


class Node:
    """An element with its shape. `parent` is None for the root."""

    __slots__ = ("_children", "element", "name", "parent", "shape")

    def __init__(self, element: HtmlElement, parent: Node | None, shape: Shape) -> None:
        self.element = element
        self.parent = parent
        self.shape = shape
        self.name = shape.name
        self._children: dict[str, dict[HtmlElement, int]] | None = None

    @property
    def children(self) -> dict[str, dict[HtmlElement, int]]:
        """Each child with its position among those of its tag, and under "" among all. Computed once."""
        if self._children is None:
            self._children = {}
            for child in self.element.iterchildren("*"):
                for key in ("", child.tag):
                    among = self._children.setdefault(key, {})
                    among[child] = len(among)
        return self._children


def bits_of(keys: Iterable[str]) -> int:
    """A Bloom filter of the keys: if a bit of a key is not set, the key is certainly not among them."""
    bits = 0
    for key in keys:
        bits |= 1 << crc32(key.encode("utf-8", "replace")) % _BITS
    return bits


@dataclass(frozen=True, slots=True)
class Compound:
    """The conditions on one element: `article.wide#x[hidden]:not(.open)`.

    `weight` is its specificity (https://www.w3.org/TR/selectors-4/#specificity-rules).
    """

    tag: str = ""
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    attributes: tuple[Condition, ...] = ()
    places: tuple[str, ...] = ()
    among: tuple[tuple[Compound, ...], ...] = ()
    negated: tuple[Compound, ...] = ()
    weight: tuple[int, int, int] = (0, 0, 0)
    cost: int = field(init=False, default=1)
    is_plain: bool = field(init=False, default=True)

    def matches(self, node: Node) -> bool:
        """Whether `node` meets all conditions."""
        return self.names_match(node) and (self.is_plain or self._matches_the_rest(node))

    def names_match(self, node: Node) -> bool:
        """Whether the tag, classes, ids and attributes of `node` meet the conditions on them."""
        name = node.name
        return (
            (not self.tag or self.tag == name.tag)
            and name.classes.issuperset(self.classes)
            and (not self.ids or all(wanted == name.id for wanted in self.ids))
            and (not self.attributes or name.met.issuperset(self.attributes))
        )

    def _matches_the_rest(self, node: Node) -> bool:
        return (
            all(_is_at(node, place) for place in self.places)
            and all(any(other.matches(node) for other in others) for others in self.among)
            and not any(other.matches(node) for other in self.negated)
        )

    @property
    def is_of_shape(self) -> bool:
        """Whether the shape of an element is enough to decide a match."""
        return all(place == ROOT for place in self.places) and all(other.is_of_shape for other in self._inner)

    @property
    def _inner(self) -> tuple[Compound, ...]:
        return (*self.negated, *chain.from_iterable(self.among))

    def __post_init__(self) -> None:
        """Estimate the cost of a match, in comparisons; a check of names alone is the cheapest."""
        inner = sum(other.cost for other in self._inner)
        object.__setattr__(self, "cost", 1 + len(self.places) + inner)
        object.__setattr__(self, "is_plain", not (self.places or self.among or self.negated))

    def conditions(self) -> Iterator[Condition]:
        """All its conditions on attributes, also those in its brackets."""
        yield from self.attributes
        for other in self._inner:
            yield from other.conditions()

    def mentioned(self) -> Iterator[str]:
        """All classes and ids that it mentions, also those in its brackets, in the format of `key`."""
        yield from self.names
        for other in self._inner:
            yield from other.mentioned()

    @property
    def names(self) -> Iterator[str]:
        """The classes and ids that a matching element must have, in the format of `key`."""
        yield from ("#" + name for name in self.ids)
        yield from ("." + name for name in self.classes)

    @property
    def key(self) -> str:
        """The rarest node key that a match requires; empty if there is none."""
        if self.ids:
            return "#" + self.ids[0]
        if self.classes:
            return "." + self.classes[0]
        if self.attributes:
            return _condition_key(self.attributes[0])
        alone = (others[0].key for others in self.among if len(others) == 1)  # as in `:where(.wide)`
        return next(filter(None, alone), self.tag)


def _condition_key(condition: Condition) -> str:
    return "[" + " ".join(condition)


def attribute_is(actual: str, how: str, wanted: str) -> bool:
    """Whether the value of an attribute meets a condition."""
    match how:
        case "":
            return True
        case "=":
            return actual == wanted
        case "i=":
            return actual.lower() == wanted.lower()
        case "~=":
            return wanted in actual.split()
        case "^=":
            return bool(wanted) and actual.startswith(wanted)
        case "$=":
            return bool(wanted) and actual.endswith(wanted)
        case "*=":
            return bool(wanted) and wanted in actual
        case _:
            return actual == wanted or actual.startswith(wanted + "-")


def _is_at(node: Node, place: str) -> bool:
    """Whether `node` meets a pseudo-class, given without its colon."""
    element = node.element
    match place:
        case "root":  # ROOT
            return node.parent is None
        case "link" | "any-link":
            return element.tag == "a" and element.get("href") is not None
        case "checked":
            return element.get("checked") is not None or element.get("selected") is not None
        case "disabled":
            return element.get("disabled") is not None
        case "enabled":
            return element.get("disabled") is None
        case "empty":
            return not len(element) and not element.text
    how, _, step = place.partition("(")
    return _is_step(_number(node, how), step.removesuffix(")"))


def _number(node: Node, how: str) -> int:
    """The position of an element among its siblings: from the front or the back, among all or those of its tag."""
    if node.parent is None:
        return 1
    among = node.parent.children[node.element.tag if how.endswith("of-type") else ""]
    place = among[node.element]
    return len(among) - place if how.startswith("nth-last") else place + 1


def _is_step(number: int, step: str) -> bool:
    """Whether `number` is one of `An+B`."""
    if (read := _step(step)) is None:
        return False
    every, offset = read
    return number == offset if not every else (number - offset) % every == 0 and (number - offset) // every >= 0


@lru_cache(maxsize=200)
def _step(text: str) -> tuple[int, int] | None:
    """A and B of `An+B` (https://www.w3.org/TR/css-syntax-3/#anb-microsyntax); None if it is invalid."""
    text = text.strip().lower()
    found = _STEP.fullmatch(_STEP_NAMES.get(text, text))
    if not text or found is None:
        return None
    offset = int("".join((found[2] or "0").split()))
    if found[1] is None:
        return 0, offset
    return int(found[1] + "1") if found[1] in ("", "+", "-") else int(found[1]), offset


@dataclass(frozen=True, slots=True)
class Selector:
    """Compounds from the element itself outwards; `joints[i]` is the combinator between compound i + 1 and i."""

    compounds: tuple[Compound, ...]
    joints: tuple[str, ...]

    @property
    def weight(self) -> tuple[int, int, int]:
        """The specificity of the whole."""
        ids, classes, tags = (sum(column) for column in zip(*(c.weight for c in self.compounds), strict=True))
        return ids, classes, tags

    @property
    def above(self) -> tuple[Compound, ...]:
        """The compounds that an ancestor of the element must match."""
        return tuple(c for c, joint in zip(self.compounds[1:], self.joints, strict=True) if joint in (" ", ">"))

    @property
    def is_of_shape(self) -> bool:
        """Whether the shape of an element is enough to decide a match."""
        return not {"+", "~"}.intersection(self.joints) and all(c.is_of_shape for c in self.compounds)


MAX_STEPS = 8
MAX_DEPTH = 3

_IDENT = r"(?:[\w-]|\\[0-9a-fA-F]{1,6}+\s?|\\.)++"
_TAG = re.compile(rf"\*|{_IDENT}")
_PART = re.compile(
    rf"#(?P<id>{_IDENT})|\.(?P<cls>{_IDENT})"
    rf"|\[\s*+(?P<attr>{_IDENT})\s*+(?:(?P<op>[~|^$*]?=)\s*+(?P<value>\"[^\"]*+\"|'[^']*+'|[^\]\s]*+)\s*+(?P<loose>[is]?)\s*+)?\]"
    r"|:(?P<logic>is|where|not|matches|-webkit-any)\((?P<among>[^()]*+(?:\([^()]*+\)[^()]*+)*+)\)"
    r"|:(?P<place>nth-(?:last-)?(?:child|of-type)\([^()]*+\)|[a-z-]++)(?!\()",
    re.IGNORECASE,
)
_COMBINATOR = re.compile(r"\s*+([>+~])\s*+|\s++")
_FIRST, _LAST = "nth-child(1)", "nth-last-child(1)"
_PLACES = {
    "first-child": (_FIRST,),
    "last-child": (_LAST,),
    "only-child": (_FIRST, _LAST),
    "first-of-type": ("nth-of-type(1)",),
    "last-of-type": ("nth-last-of-type(1)",),
    "only-of-type": ("nth-of-type(1)", "nth-last-of-type(1)"),
    **{name: (name,) for name in ("root", "link", "any-link", "checked", "disabled", "enabled", "empty")},
}
_NOT_AT_LOAD = re.compile(r":(?:hover|focus|focus-within|focus-visible|active|target|visited)(?![\w-])", re.IGNORECASE)


@cached_if_short(2_000)  # pages of one site share their style sheets
def parse_selector(text: str) -> Selector | None:
    """One selector, without commas; None if it contains something unsupported."""
    compounds: list[Compound] = []
    joints: list[str] = []
    at, text = 0, text.strip()
    while len(compounds) < MAX_STEPS:
        compound, end = _compound(text, at)
        if compound is None:
            return None
        compounds.append(compound)
        if end == len(text):
            return Selector(tuple(reversed(compounds)), tuple(reversed(joints)))
        combinator = _COMBINATOR.match(text, end)
        if combinator is None:
            return None
        joints.append(combinator[1] or " ")
        at = combinator.end()
    return None


_OF_NOTHING, _OF_A_CLASS, _OF_AN_ID = (0, 0, 0), (0, 1, 0), (1, 0, 0)


def _compound(text: str, at: int, depth: int = 0) -> tuple[Compound | None, int]:
    """The compound that begins at `at`, and its end; None if it is missing or unsupported."""
    tag = _TAG.match(text, at)
    end = tag.end() if tag else at
    names: dict[str, list[str]] = {"id": [], "cls": []}
    places: list[str] = []
    attributes: list[tuple[str, str, str]] = []
    among: list[tuple[Compound, ...]] = []
    negated: list[Compound] = []
    weights: list[tuple[int, int, int]] = []
    while part := _PART.match(text, end):
        end = part.end()
        if part["attr"]:
            attributes.append(_attribute(part))
            weights.append(_OF_A_CLASS)
        elif part["logic"]:
            others = _alternatives(part["among"], depth)
            if others is None:
                return None, end
            logic = part["logic"].lower()
            negated.extend(others if logic == "not" else ())
            among.extend(() if logic == "not" else (others,))
            weights.append(max((other.weight for other in others if logic != "where"), default=_OF_NOTHING))
        elif part["place"]:
            place = part["place"].lower()
            found = (place,) if "(" in place else _PLACES.get(place)
            if found is None:
                return None, end
            places.extend(found)
            weights.append(_OF_A_CLASS)
        else:
            names[part.lastgroup or ""].append(unescape(part[part.lastgroup or ""]))
            weights.append(_OF_A_CLASS if part["cls"] else _OF_AN_ID)
    if end == at:
        return None, end
    name = unescape(tag[0]).lower() if tag and tag[0] != "*" else ""
    parts = (tuple(names["id"]), tuple(names["cls"]), tuple(attributes), tuple(places), tuple(among), tuple(negated))
    ids, classes, tags = (sum(column) for column in zip((0, 0, int(bool(name))), *weights, strict=True))
    return Compound(name, *parts, (ids, classes, tags)), end


def _attribute(part: re.Match[str]) -> tuple[str, str, str]:
    value = unescape(part["value"] or "").strip("\"'")
    loosely = part["op"] == "=" and (part["loose"] or "").lower() == "i"
    return unescape(part["attr"]).lower(), "i=" if loosely else part["op"] or "", value


def _alternatives(text: str, depth: int) -> tuple[Compound, ...] | None:
    """The compounds of a list that can match, without combinators; None if one of them is unsupported."""
    if depth >= MAX_DEPTH:
        return None
    found = []
    for alternative in map(str.strip, BETWEEN_COMMAS.findall(text)):
        if _NOT_AT_LOAD.search(alternative):
            continue
        compound, end = _compound(alternative, 0, depth + 1)
        if compound is None or end != len(alternative):
            return None
        found.append(compound)
    return tuple(found)
