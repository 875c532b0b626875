"""Which declarations of a page's own style sheets apply to an element.

Selectors of tags, classes, ids, attributes, `:not()` and the first or last child are understood, joined by descent or
parentage. Others match nothing. The work has a bound, since a page chooses how many rules and elements there are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from websearch_gateway.readers.css import declarations, rules, unescape

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_CSS_CHARS = 2_000_000
MAX_RULES = 20_000
MAX_COMPARISONS = 2_000_000
MAX_STEPS = 8

_IDENT = r"(?:[\w-]|\\.)++"
_TAG = re.compile(rf"\*|{_IDENT}")
_PART = re.compile(
    rf"#(?P<id>{_IDENT})|\.(?P<cls>{_IDENT})"
    rf"|\[\s*+(?P<attr>{_IDENT})\s*+(?:(?P<op>[~|^$*]?=)\s*+(?P<value>\"[^\"]*+\"|'[^']*+'|[^\]\s]*+)\s*+[is]?\s*+)?\]"
    r"|:(?P<place>first-child|last-child|root)(?![\w(-])|:not\((?P<negated>[^(),]*+)\)"
)
_COMBINATOR = re.compile(r"\s*+>\s*+|\s++")
_BETWEEN_COMMAS = re.compile(r"(?:[^,(\[]|\([^()]*+\)?|\[[^\[\]]*+\]?)++")
_MATTERS = re.compile(
    r"display|visib|opacity|font|clip|position|indent|overflow|transform|scale|zoom|margin|color|back"
)


class Node:
    """An element with what selectors ask about. `parent` is None for the root."""

    __slots__ = ("classes", "element", "id", "parent", "tag")

    def __init__(self, element: HtmlElement, parent: Node | None) -> None:
        self.element = element
        self.parent = parent
        self.tag: str = element.tag.lower()
        self.id: str | None = element.get("id")
        classes = element.get("class")
        self.classes: frozenset[str] = frozenset(classes.split()) if classes else frozenset()

    def filed_under(self) -> list[str]:
        """What a rule may be filed under that is about this element."""
        keys = [self.tag, *("." + name for name in self.classes)]
        if self.id:
            keys.append("#" + self.id)
        return keys


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
            (not self.tag or self.tag == node.tag)
            and all(name in node.classes for name in self.classes)
            and all(name == node.id for name in self.ids)
            and all(_attribute_is(node.element.get(name), how, value) for name, how, value in self.attributes)
            and all(_stands(node, place) for place in self.places)
            and not any(other.matches(node) for other in self.negated)
        )

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


@dataclass(slots=True)
class _Rule:
    selector: Selector
    order: tuple[tuple[int, int, int], int]
    body: str
    above: tuple[str, ...]
    parsed: list[tuple[str, str, bool]] | None = None


@dataclass(slots=True)
class Styles:
    """The style sheets of a page. `exhausted` turns true when they were too much to be applied completely."""

    exhausted: bool = False
    defined: set[str] = field(default_factory=set)
    _index: defaultdict[str, list[_Rule]] = field(default_factory=lambda: defaultdict(list))
    _above: Counter[str] = field(default_factory=Counter)
    _left: int = MAX_COMPARISONS

    @classmethod
    def of(cls, sheets: Iterable[str]) -> Styles:
        """Read style sheets in their order."""
        css = "\n".join(sheets)
        styles = cls(exhausted=len(css) > MAX_CSS_CHARS)
        count = 0
        for selectors, body in rules(css[:MAX_CSS_CHARS]):
            if _MATTERS.search(body.lower()) or "\\" in body:
                for text in _BETWEEN_COMMAS.findall(selectors):
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
        subject, *outer = selector.compounds
        above = tuple(compound.key for compound in outer if compound.key)
        self.defined.update(subject.classes[:1])
        self._index[subject.key].append(_Rule(selector, (selector.weight, number), body, above))

    def enter(self, node: Node) -> None:
        """Tell that what is asked about from now on is inside of `node`."""
        self._above.update(node.filed_under())

    def leave(self, node: Node) -> None:
        """Tell that `node` is over."""
        for key in node.filed_under():
            if self._above[key] > 1:
                self._above[key] -= 1
            else:
                del self._above[key]

    def declared(self, node: Node) -> dict[str, str]:
        """Property and value of what the sheets and the `style` attribute say about `node`, the strongest last word."""
        found = sorted((rule for rule in self._candidates(node) if self._applies(rule.selector, node)), key=_order)
        said = [declaration for rule in found for declaration in _declarations(rule)]
        if inline := node.element.get("style"):
            said += declarations(inline)
        style = {name: value for name, value, important in said if not important}
        return style | {name: value for name, value, important in said if important}

    def _candidates(self, node: Node) -> Iterator[_Rule]:
        """The rules about such an element whose outer parts all occur above it."""
        for key in ("", *node.filed_under()):
            rules_here = self._index.get(key, [])
            self._left -= len(rules_here)
            if self._left <= 0:
                self.exhausted = True
                return
            for rule in rules_here:
                if all(outer in self._above for outer in rule.above):
                    yield rule

    def _applies(self, selector: Selector, node: Node, step: int = 0) -> bool:
        """Whether `selector` from its compound `step` outwards matches, with `node` as that compound's element."""
        self._left -= 1
        if self._left <= 0:
            self.exhausted = True
            return False
        if not selector.compounds[step].matches(node):
            return False
        if step == len(selector.near):
            return True
        ancestor = node.parent
        while ancestor is not None and self._left > 0:
            if self._applies(selector, ancestor, step + 1):
                return True
            ancestor = None if selector.near[step] else ancestor.parent
        return False


def _order(rule: _Rule) -> tuple[tuple[int, int, int], int]:
    return rule.order


def _declarations(rule: _Rule) -> list[tuple[str, str, bool]]:
    if rule.parsed is None:
        rule.parsed = declarations(rule.body)
    return rule.parsed
