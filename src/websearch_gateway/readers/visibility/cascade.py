"""Which declarations of a page's own style sheets apply to an element.

The work is bounded, since the page chooses how many rules and elements there are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from websearch_gateway.readers.visibility.css import BETWEEN_COMMAS, declarations, rules
from websearch_gateway.readers.visibility.selector_syntax import parse_selector
from websearch_gateway.readers.visibility.selectors import Name, Node, Selector, Shape, bits_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_CSS_CHARS = 2_000_000
MAX_RULES = 20_000
MAX_COMPARISONS = 2_000_000
MAX_SHAPES = 20_000
_SIBLING_COST = 20

Style = Mapping[str, str]
_NOTHING: Style = {}

_MATTERS = re.compile(
    r"display|visib|opacity|font|clip|position|indent|overflow|transform|scale|zoom|margin|color|back|translate|rotate"
    r"|filter|mask|contain|spacing|--[\w-]++\s*+:|(?:height|width|-size)\s*+:\s*+[01](?![\d.])"
    r"|(?:left|right|top|bottom|inset)[\w-]*+\s*+:\s*+(?:-|calc|var|\d{4})"
)


@dataclass(slots=True)
class _Rule:
    selector: Selector
    order: tuple[tuple[int, int, int], int]
    body: str
    above: int


@dataclass(frozen=True, slots=True)
class _Known:
    """The rules that apply to all elements of a shape, those that apply to some, and the merged style of the former."""

    certain: list[_Rule]
    uncertain: list[_Rule]
    style: Style


@dataclass(slots=True)
class Styles:
    """The style sheets of a page. `exhausted` becomes true if they were too much work to apply completely.

    `by_shape`: an element's shape decides which rules apply to it. `names_ids`: a rule mentions an id.
    """

    exhausted: bool = False
    by_shape: bool = True
    names_ids: bool = False
    defined: set[str] = field(default_factory=set)
    _index: defaultdict[str, list[_Rule]] = field(default_factory=lambda: defaultdict(list))
    _mentioned: set[str] = field(default_factory=set)
    _named: dict[tuple[str, str, str | None], Name] = field(default_factory=dict)
    _names: dict[tuple[str, frozenset[str], str | None], Name] = field(default_factory=dict)
    _roots: dict[Name, Shape] = field(default_factory=dict)
    _known: dict[Shape, _Known] = field(default_factory=dict)
    _shapes_left: int = MAX_SHAPES
    _left: int = MAX_COMPARISONS

    @classmethod
    def of(cls, sheets: Iterable[str]) -> Styles:
        """Read style sheets in their order."""
        css = "\n".join(sheets)
        styles = cls(exhausted=len(css) > MAX_CSS_CHARS)
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
        selector = parse_selector(text)
        if selector is None:
            return
        subject = selector.compounds[0]
        above = bits_of(compound.key for compound in selector.above if compound.key)
        self.defined.update(subject.classes[:1])
        mentioned = [name for compound in selector.compounds for name in compound.mentioned()]
        self._mentioned.update(mentioned)
        self.names_ids = self.names_ids or any(name.startswith("#") for name in mentioned)
        self.by_shape = self.by_shape and selector.is_of_shape
        self._index[subject.key].append(_Rule(selector, (selector.weight, number), body, above))

    @property
    def has_rules(self) -> bool:
        """Whether any rule could hide something."""
        return bool(self._index)

    def node(self, element: HtmlElement, parent: Node | None) -> Node:
        """`element`, which is in `parent`, as a node."""
        words = (element.tag, element.get("class", ""), element.get("id"))
        name = self._named.get(words) or self._name(*words)
        around, above = (
            (self._roots, 0) if parent is None else (parent.shape.parts, parent.shape.above | parent.name.bits)
        )
        shape = around.get(name)
        if shape is None:
            shape = Shape(name, above)
            self._shapes_left -= 1
            if self._shapes_left > 0:
                around[name] = shape
        return Node(element, parent, shape)

    def _name(self, tag: str, classes: str, identity: str | None) -> Name:
        mentioned = frozenset(name for name in classes.split() if "." + name in self._mentioned)
        own = (tag.lower(), mentioned, identity if f"#{identity}" in self._mentioned else None)
        name = self._names.get(own) or Name(*own)
        if len(self._named) < MAX_SHAPES:
            self._names[own] = self._named[tag, classes, identity] = name
        return name

    def declared(self, node: Node) -> Style:
        """The winning value of each property that the sheets and the `style` attribute declare for `node`."""
        known = self._known.get(node.shape) or self._learn(node)
        inline = node.element.get("style")
        if not inline and not known.uncertain:
            return known.style
        found = known.certain + [rule for rule in known.uncertain if self._applies(rule.selector, node)]
        return _style(found, inline or "")

    def _learn(self, node: Node) -> _Known:
        """Compute, and cache for later elements, the rules for the shape of `node`."""
        certain, uncertain = [], []
        for rule in self._candidates(node.shape):
            if not rule.selector.is_of_shape:
                uncertain.append(rule)
            elif self._applies(rule.selector, node):
                certain.append(rule)
        known = _Known(certain, uncertain, _style(certain, ""))
        if len(self._known) < MAX_SHAPES:
            self._known[node.shape] = known
        return known

    def _candidates(self, shape: Shape) -> Iterator[_Rule]:
        """The rules for such an element whose ancestor compounds may all occur above it."""
        for key in ("", *shape.name.keys):
            rules_here = self._index.get(key, [])
            self._left -= len(rules_here)
            if self._left <= 0:
                self.exhausted = True
                return
            for rule in rules_here:
                if rule.above & shape.above == rule.above:
                    yield rule

    def _applies(self, selector: Selector, node: Node, step: int = 0) -> bool:
        """Whether `selector` matches from its compound `step` outwards, with `node` as the element of that compound."""
        self._left -= selector.compounds[step].cost
        if self._left <= 0:
            self.exhausted = True
            return False
        if not selector.compounds[step].matches(node):
            return False
        if step == len(selector.joints):
            return True
        joint = selector.joints[step]
        other = self._next(node, joint)
        while other is not None and self._left > 0:
            if self._applies(selector, other, step + 1):
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


def _style(found: list[_Rule], inline: str) -> Style:
    """The declarations of the rules and then of the `style` attribute, the strongest last."""
    if not found and not inline:
        return _NOTHING
    said = [declaration for rule in sorted(found, key=_order) for declaration in declarations(rule.body)]
    if inline:
        said += declarations(inline)
    style = {name: value for name, value, important in said if not important}
    return style | {name: value for name, value, important in said if important}


def _order(rule: _Rule) -> tuple[tuple[int, int, int], int]:
    return rule.order
