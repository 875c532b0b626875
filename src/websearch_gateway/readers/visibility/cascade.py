"""Finds the declarations of a page's own style sheets that apply to an element.

The work is bounded, since the page chooses the number of its rules and elements.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from websearch_gateway.readers.visibility.css import BETWEEN_COMMAS, declarations, rules
from websearch_gateway.readers.visibility.hidden_rules import UNSEEN_CLASSES
from websearch_gateway.readers.visibility.selectors import (
    NO_CONDITIONS,
    Condition,
    Name,
    Node,
    Selector,
    Shape,
    attribute_is,
    bits_of,
    parse_selector,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement


MAX_CSS_CHARS = 2_000_000
MAX_RULES = 20_000
MAX_COMPARISONS = 2_000_000
MAX_SHAPES = 20_000
_SIBLING_COST = 20

Style = Mapping[str, str]
_NOTHING: Style = {}

_BRACKET = re.compile(r"[(\[]")
_UNSEEN = frozenset("." + name for name in UNSEEN_CLASSES)
_PLAIN_NAMES = re.compile(r"[.#][\w-]++")

_MATTERS = re.compile(
    r"display|visib|opacity|font|clip|position|indent|overflow|transform|scale|zoom|margin|color|back|translate|rotate"
    r"|filter|mask|contain|spacing|--[\w-]++\s*+:|(?:height|width|-size)\s*+:\s*+[01](?![\d.])"
    r"|(?:left|right|top|bottom|inset)[\w-]*+\s*+:\s*+(?:-|calc|var|\d{4})"
)


@dataclass(slots=True)
class _Rule:
    """A rule with one selector. `above` has the bits of the keys that its selector requires of ancestors."""

    selector: Selector
    order: tuple[tuple[int, int, int], int]
    body: str
    above: int
    is_of_shape: bool


@dataclass(frozen=True, slots=True)
class _Known:
    """The rules that apply to all elements of a shape, those that apply to some, and the merged style of the former."""

    certain: list[_Rule]
    uncertain: list[_Rule]
    style: Style


@dataclass(slots=True)
class Styles:
    """The style sheets of a page. `exhausted` becomes true if they were too much work to apply completely.

    `by_shape`: the shape of every element decides which rules apply to it. `names_ids`: a rule mentions an id.
    """

    exhausted: bool = False
    by_shape: bool = True
    names_ids: bool = False
    defined: set[str] = field(default_factory=set)
    _index: defaultdict[str, list[_Rule]] = field(default_factory=lambda: defaultdict(list))
    _mentioned: set[str] = field(default_factory=set)
    _present: frozenset[str] = frozenset()
    _conditions: defaultdict[str, set[Condition]] = field(default_factory=lambda: defaultdict(set))
    _met: dict[tuple[str, str], list[Condition]] = field(default_factory=dict)
    _named: dict[tuple[str, str, str | None, frozenset[Condition]], Name] = field(default_factory=dict)
    _names: dict[tuple[str, frozenset[str], str | None, frozenset[Condition]], Name] = field(default_factory=dict)
    _roots: dict[Name, Shape] = field(default_factory=dict)
    _known: dict[Shape, _Known] = field(default_factory=dict)
    _shapes_left: int = MAX_SHAPES
    _left: int = MAX_COMPARISONS

    @classmethod
    def of(cls, sheets: Iterable[str], tree: HtmlElement) -> Styles:
        """Read style sheets in their order. Leaves out the rules for classes and ids that `tree` does not have."""
        css = "\n".join(sheets)
        styles = cls(exhausted=len(css) > MAX_CSS_CHARS, _present=_names_in(tree) if css else frozenset())
        count = 0
        for selectors, body in rules(css[:MAX_CSS_CHARS]):
            if _MATTERS.search(body.lower()) or "\\" in body:
                for text in BETWEEN_COMMAS.findall(selectors):
                    count += 1
                    styles._add(text, body, count)
            if count > MAX_RULES:
                styles.exhausted = True
                break
        return styles

    def _add(self, text: str, body: str, number: int) -> None:
        if not self._may_match(text) or (selector := parse_selector(text)) is None:
            return
        subject = selector.compounds[0]
        self.defined.update(subject.classes[:1])
        if not all(self._present.issuperset(compound.names) for compound in selector.compounds):
            return
        above = bits_of(compound.key for compound in selector.above if compound.key)
        mentioned = [name for compound in selector.compounds for name in compound.mentioned()]
        self._mentioned.update(mentioned)
        for compound in selector.compounds:
            for condition in compound.conditions():
                self._conditions[condition[0]].add(condition)
        self.names_ids = self.names_ids or any(name.startswith("#") for name in mentioned)
        is_of_shape = selector.is_of_shape
        self.by_shape = self.by_shape and is_of_shape
        self._index[subject.key].append(_Rule(selector, (selector.weight, number), body, above, is_of_shape))

    def _may_match(self, text: str) -> bool:
        """Whether the tree has the plain class names and ids of a selector: parsing a selector takes ten times as long.

        Also true if the selector mentions a class of `UNSEEN_CLASSES`: such a class is hidden by its name unless a rule
        defines it.
        """
        if "\\" in text:
            return True
        outside = text[: bracket.start()] if (bracket := _BRACKET.search(text)) else text
        return self._present.issuperset(_PLAIN_NAMES.findall(outside)) or not _UNSEEN.isdisjoint(
            _PLAIN_NAMES.findall(text)
        )

    @property
    def has_rules(self) -> bool:
        """Whether any rule could hide something."""
        return bool(self._index)

    def node(self, element: HtmlElement, parent: Node | None) -> Node:
        """`element`, which is in `parent`, as a node."""
        own = (element.tag, element.get("class", ""), element.get("id"), self.met(element))
        name = self._named.get(own) or self._name(*own)
        shapes, above = (
            (self._roots, 0) if parent is None else (parent.shape.parts, parent.shape.above | parent.name.bits)
        )
        shape = shapes.get(name)
        if shape is None:
            shape = Shape(name, above)
            self._shapes_left -= 1
            if self._shapes_left > 0:
                shapes[name] = shape
        return Node(element, parent, shape)

    def met(self, element: HtmlElement) -> frozenset[Condition]:
        """Those conditions on attributes in the rules that `element` meets."""
        if not self._conditions:
            return NO_CONDITIONS
        names = self._conditions.keys() & element.keys()
        if not names:
            return NO_CONDITIONS
        return frozenset(chain.from_iterable(self._met_by(name, element.get(name, "")) for name in names))

    def _met_by(self, name: str, value: str) -> list[Condition]:
        if (met := self._met.get((name, value))) is None:
            conditions = self._conditions[name]
            self._left -= len(conditions)
            if self._left <= 0:
                self.exhausted = True
                return []
            met = [condition for condition in conditions if attribute_is(value, *condition[1:])]
            if len(self._met) < MAX_SHAPES:
                self._met[name, value] = met
        return met

    def _name(self, tag: str, classes: str, identity: str | None, met: frozenset[Condition]) -> Name:
        mentioned = frozenset(name for name in classes.split() if "." + name in self._mentioned)
        own = (tag.lower(), mentioned, identity if f"#{identity}" in self._mentioned else None, met)
        name = self._names.get(own) or Name(*own)
        if len(self._named) < MAX_SHAPES:
            self._names[own] = self._named[tag, classes, identity, met] = name
        return name

    def declared(self, node: Node) -> Style:
        """The winning value of each property that the sheets and the `style` attribute declare for `node`."""
        known = self._known_of(node)
        inline = node.element.get("style")
        if not inline and not known.uncertain:
            return known.style
        found = known.certain + [rule for rule in known.uncertain if self._applies(rule.selector, node)]
        return _style(found, inline or "")

    def is_certain(self, node: Node) -> bool:
        """Whether the same rules apply to every element with the shape of `node`, wherever it stands."""
        return not self._known_of(node).uncertain

    def _known_of(self, node: Node) -> _Known:
        return self._known.get(node.shape) or self._learn(node)

    def _learn(self, node: Node) -> _Known:
        """Compute, and cache for later elements, the rules for the shape of `node`."""
        certain: list[_Rule] = []
        uncertain: list[_Rule] = []
        for rule in self._candidates(node.shape):
            if self._applies(rule.selector, node, by_names=not rule.is_of_shape):
                (certain if rule.is_of_shape else uncertain).append(rule)
        known = _Known(certain, uncertain, _style(certain, ""))
        if len(self._known) < MAX_SHAPES:
            self._known[node.shape] = known
        return known

    def _candidates(self, shape: Shape) -> Iterator[_Rule]:
        """The rules for an element of this shape whose ancestor compounds may all occur above it."""
        for key in ("", *shape.name.keys):
            rules_here = self._index.get(key, [])
            self._left -= len(rules_here)
            if self._left <= 0:
                self.exhausted = True
                return
            for rule in rules_here:
                if rule.above & shape.above == rule.above:
                    yield rule

    def _applies(self, selector: Selector, node: Node, step: int = 0, *, by_names: bool = False) -> bool:
        """Whether `selector` matches from its compound `step` outwards, with `node` as the element of that compound.

        Args:
            by_names: compare names and attributes only, and ignore the place and siblings of `node`.
        """
        compound = selector.compounds[step]
        self._left -= compound.cost
        if self._left <= 0:
            self.exhausted = True
            return False
        if not (compound.names_match(node) if by_names else compound.matches(node)):
            return False
        if step == len(selector.joints):
            return True
        joint = selector.joints[step]
        if by_names and joint in ("+", "~"):
            return True
        other = self._next(node, joint)
        while other is not None and self._left > 0:
            if self._applies(selector, other, step + 1, by_names=by_names):
                return True
            other = self._next(other, joint) if joint in (" ", "~") else None
        return False

    def _next(self, node: Node, joint: str) -> Node | None:
        """The nearest element in the relation to `node` that the combinator `joint` requires."""
        if joint in (" ", ">"):
            return node.parent
        self._left -= _SIBLING_COST
        before = node.element.getprevious()
        while before is not None and not isinstance(before.tag, str):
            before = before.getprevious()
        return None if before is None else self.node(before, node.parent)


def _names_in(tree: HtmlElement) -> frozenset[str]:
    """The classes and ids of all elements, in the format of `Compound.key`."""
    from lxml import etree

    classes = etree.XPath("//@class", smart_strings=False)(tree)
    ids = etree.XPath("//@id", smart_strings=False)(tree)
    return frozenset(
        chain(("." + name for value in set(classes) for name in value.split()), ("#" + name for name in ids))
    )


def _style(found: list[_Rule], inline: str) -> Style:
    """The winning value of each property that the rules and the `style` attribute declare."""
    if not found and not inline:
        return _NOTHING
    ordered = [declaration for rule in sorted(found, key=_order) for declaration in declarations(rule.body)]
    if inline:
        ordered += declarations(inline)
    style = {name: value for name, value, important in ordered if not important}
    return style | {name: value for name, value, important in ordered if important}


def _order(rule: _Rule) -> tuple[tuple[int, int, int], int]:
    return rule.order


NONE: Style = {}

MAX_ROUNDS = 6
MAX_VALUE_CHARS = 300

_VAR = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,([^()]*+(?:\([^()]*+\)[^()]*+)*+))?\)")


def resolved(style: Style, inherited: Style) -> tuple[Style, Style]:
    """The style with its variables substituted, and all variables that its children inherit."""
    if not style:
        return style, inherited
    own = {name: value for name, value in style.items() if name.startswith("--")}
    known = {**inherited, **own} if own else inherited
    if not any("var(" in value for value in style.values()):
        return style, known
    return {name: value if name in own else _filled(value, known) for name, value in style.items()}, known


def _filled(value: str, known: Style) -> str:
    def substitute(var: re.Match[str]) -> str:
        return known.get(var[1], var[2] if var[2] is not None else var[0]).strip()

    for _ in range(MAX_ROUNDS):
        before, value = value, _VAR.sub(substitute, value)
        if value == before or len(value) > MAX_VALUE_CHARS:
            break
    return value[:MAX_VALUE_CHARS]
