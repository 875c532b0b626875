"""The selectors of style sheets: what they ask about an element, and whether it is so.

Selectors of tags, classes, ids, attributes, `:not()` and the first or last child are understood, joined by descent or
parentage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from websearch_gateway.readers.css import unescape

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_STEPS = 8
_BITS = 512

_IDENT = r"(?:[\w-]|\\.)++"
_TAG = re.compile(rf"\*|{_IDENT}")
_PART = re.compile(
    rf"#(?P<id>{_IDENT})|\.(?P<cls>{_IDENT})"
    rf"|\[\s*+(?P<attr>{_IDENT})\s*+(?:(?P<op>[~|^$*]?=)\s*+(?P<value>\"[^\"]*+\"|'[^']*+'|[^\]\s]*+)\s*+[is]?\s*+)?\]"
    r"|:(?P<place>first-child|last-child|root)(?![\w(-])|:not\((?P<negated>[^(),]*+)\)"
)
_COMBINATOR = re.compile(r"\s*+>\s*+|\s++")


class Name:
    """What rules call an element by: its tag, and those of its classes and ids that any rule speaks of.

    `keys` is all of them in the spelling of `Compound.key`, `bits` the same in that of `bits_of`.
    """

    __slots__ = ("bits", "classes", "id", "keys", "tag")

    def __init__(self, tag: str, classes: frozenset[str], identity: str | None) -> None:
        self.tag = tag
        self.classes = classes
        self.id = identity
        self.keys = (tag, *("." + name for name in classes), *(("#" + identity,) if identity else ()))
        self.bits = bits_of(self.keys)


class Shape:
    """An element's name and those of the elements around it: all that most rules ask about.

    A list or table has thousands of elements of a few shapes. `above` is the bits of the names around it.
    """

    __slots__ = ("above", "name", "parts")

    def __init__(self, name: Name, above: int) -> None:
        self.name = name
        self.above = above
        self.parts: dict[Name, Shape] = {}


class Node:
    """An element with its shape. `parent` is None for the root."""

    __slots__ = ("element", "name", "parent", "shape")

    def __init__(self, element: HtmlElement, parent: Node | None, shape: Shape) -> None:
        self.element = element
        self.parent = parent
        self.shape = shape
        self.name = shape.name


def bits_of(keys: Iterable[str]) -> int:
    """A number with a bit set for each key: keys whose bits are not all in it are not among those it was made of."""
    bits = 0
    for key in keys:
        bits |= 1 << crc32(key.encode("utf-8", "replace")) % _BITS
    return bits


@dataclass(frozen=True, slots=True)
class Compound:
    """What one element must be: `article.wide#x[hidden]:not(.open)`."""

    tag: str = ""
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str, str], ...] = ()
    places: tuple[str, ...] = ()
    negated: tuple[Compound, ...] = ()

    def matches(self, node: Node) -> bool:
        """Whether `node` is such an element."""
        return (
            (not self.tag or self.tag == node.name.tag)
            and node.name.classes.issuperset(self.classes)
            and all(name == node.name.id for name in self.ids)
            and all(_attribute_is(node.element.get(name), how, value) for name, how, value in self.attributes)
            and all(_stands(node, place) for place in self.places)
            and not any(other.matches(node) for other in self.negated)
        )

    @property
    def is_of_shape(self) -> bool:
        """Whether the shape of an element is all that it asks about."""
        return not self.attributes and not self.places and all(other.is_of_shape for other in self.negated)

    def spoken_of(self) -> Iterator[str]:
        """The classes and ids that it asks for, in the spelling of `key`."""
        yield from ("#" + name for name in self.ids)
        yield from ("." + name for name in self.classes)
        for other in self.negated:
            yield from other.spoken_of()

    @property
    def key(self) -> str:
        """The rarest of the node keys without which nothing matches; empty when there is none."""
        if self.ids:
            return "#" + self.ids[0]
        return "." + self.classes[0] if self.classes else self.tag

    @property
    def weight(self) -> tuple[int, int, int]:
        """The specificity (https://www.w3.org/TR/selectors-4/#specificity-rules)."""
        weights = [(len(self.ids), len(self.classes) + len(self.attributes) + len(self.places), int(bool(self.tag)))]
        weights += [other.weight for other in self.negated]
        ids, classes, tags = (sum(column) for column in zip(*weights, strict=True))
        return ids, classes, tags


def _attribute_is(actual: str | None, how: str, wanted: str) -> bool:
    if actual is None:
        return False
    match how:
        case "":
            return True
        case "=":
            return actual == wanted
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


def _stands(node: Node, place: str) -> bool:
    if place == "root":
        return node.parent is None
    return (node.element.getprevious() if place == "first-child" else node.element.getnext()) is None


@dataclass(frozen=True, slots=True)
class Selector:
    """Compounds from the element itself outwards; `near[i]` says whether compound i + 1 must be the parent of i."""

    compounds: tuple[Compound, ...]
    near: tuple[bool, ...]

    @property
    def weight(self) -> tuple[int, int, int]:
        """The specificity of the whole."""
        ids, classes, tags = (sum(column) for column in zip(*(c.weight for c in self.compounds), strict=True))
        return ids, classes, tags


def parse_selector(text: str) -> Selector | None:
    """One selector, without commas; None when it holds something that is not understood."""
    compounds: list[Compound] = []
    near: list[bool] = []
    at, text = 0, text.strip()
    while len(compounds) < MAX_STEPS:
        compound, end = _compound(text, at)
        if compound is None:
            return None
        compounds.append(compound)
        if end == len(text):
            return Selector(tuple(reversed(compounds)), tuple(reversed(near)))
        combinator = _COMBINATOR.match(text, end)
        if combinator is None:
            return None
        near.append(">" in combinator[0])
        at = combinator.end()
    return None


def _compound(text: str, at: int) -> tuple[Compound | None, int]:
    """The compound that begins at `at` and where it ends; None when there is none or a strange one."""
    tag = _TAG.match(text, at)
    end = tag.end() if tag else at
    parts: dict[str, list[str]] = {"id": [], "cls": [], "place": []}
    attributes: list[tuple[str, str, str]] = []
    negated: list[Compound] = []
    while part := _PART.match(text, end):
        end = part.end()
        if part["attr"]:
            attributes.append(
                (unescape(part["attr"]).lower(), part["op"] or "", unescape(part["value"] or "").strip("\"'"))
            )
        elif part.lastgroup == "negated":
            other, stop = _compound(part["negated"].strip(), 0)
            if other is None or stop != len(part["negated"].strip()):
                return None, end
            negated.append(other)
        else:
            parts[part.lastgroup or ""].append(unescape(part[part.lastgroup or ""]))
    if end == at:
        return None, end
    name = unescape(tag[0]).lower() if tag and tag[0] != "*" else ""
    return (
        Compound(
            name, tuple(parts["id"]), tuple(parts["cls"]), tuple(attributes), tuple(parts["place"]), tuple(negated)
        ),
        end,
    )
