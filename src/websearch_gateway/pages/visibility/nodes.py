"""The elements of a page as the rules of its style sheets see them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from websearch_gateway.pages.visibility.css import declarations
from websearch_gateway.pages.visibility.looks import Style

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from websearch_gateway.pages.visibility.selectors import Selector
    from websearch_gateway.pages.visibility.styles import Rule


@dataclass(slots=True, eq=False)
class Name:
    """What many elements have in common for rules: `keys` are the tag, classes, ids and conditions that rules mention,
    in the format of `Compound.keys`, and `bits` those that rules ask of ancestors."""

    tag: str
    keys: frozenset[str]
    bits: int
    defaults: Style
    rules: tuple[Rule, ...]


class Node:
    """An element with its name. `parent` is None for the root; `above` has the bits of the ancestors' names,
    `inside` whether it or an ancestor matches a selector from one of its compounds outwards, and `first_after` the
    position of its first child that does."""

    __slots__ = (
        "_children",
        "above",
        "attributes",
        "element",
        "first_after",
        "inside",
        "name",
        "parent",
    )

    def __init__(
        self, element: HtmlElement, attributes: list[str], parent: Node | None, name: Name
    ) -> None:
        self.element = element
        self.attributes = attributes
        self.parent = parent
        self.name = name
        self.above: int = parent.above | parent.name.bits if parent is not None else 0
        self.inside: dict[tuple[Selector, int], bool] = {}
        self.first_after: dict[tuple[Selector, int], int | None] = {}
        self._children: defaultdict[str, dict[HtmlElement, int]] | None = None

    @property
    def children(self) -> dict[str, dict[HtmlElement, int]]:
        """Each child with its position among those of its tag, and under "" among all. Computed once."""
        if self._children is None:
            self._children = defaultdict(dict)
            for child in self.element.iterchildren("*"):
                for among in (self._children[""], self._children[child.tag]):
                    among[child] = len(among)
        return self._children

    @property
    def position(self) -> int:
        """The position among all children of its parent."""
        return 0 if self.parent is None else self.parent.children[""][self.element]


class Contents:
    """The elements of a tree by their tags and attributes. `classes` maps each value of `class` to the names in it, in
    the format of `Compound.keys`."""

    def __init__(self, tree: HtmlElement) -> None:
        self.tree = tree
        self.elements = list(tree.iter("*"))
        self.with_tag: defaultdict[str, list[HtmlElement]] = defaultdict(list)
        self.with_attribute: defaultdict[str, list[HtmlElement]] = defaultdict(list)
        for element in self.elements:
            self.with_tag[element.tag].append(element)
            for name in element.keys():  # noqa: SIM118 - an element is no dictionary
                self.with_attribute[name].append(element)
        self.classes = {
            value: ["." + name for name in value.split()] for value in self.values("class")
        }

    def values(self, attribute: str) -> set[str]:
        """The values of an attribute."""
        return {element.get(attribute) for element in self.with_attribute[attribute]}

    @property
    def keys(self) -> frozenset[str]:
        """All tags, classes and ids, in the format of `Compound.keys`."""
        tags = map(str.lower, self.with_tag)
        classes = chain.from_iterable(self.classes.values())
        ids = ("#" + value for value in self.values("id"))
        return frozenset(chain(tags, classes, ids))

    @property
    def declared(self) -> set[tuple[str, str]]:
        """The properties with their values that attributes declare."""
        declared: set[tuple[str, str]] = set()
        for style in self.values("style"):
            for name, value, _ in declarations(style):
                declared.add((name, value))
        for value in self.values("bgcolor"):
            declared.add(("background", value.lower()))
        for font in self.with_tag["font"]:
            declared.add(("color", font.get("color", "").lower()))
        return declared
