"""Which rules of the style sheets of a page apply to an element, and what they declare for it."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.pages.visibility.css import declarations, rules, split_selectors
from websearch_gateway.pages.visibility.hostile import LONGEST_CACHED, HostileStylesError
from websearch_gateway.pages.visibility.looks import (
    Declaration,
    Style,
    TextStyle,
    is_buried,
    is_closed,
)
from websearch_gateway.pages.visibility.nodes import Contents, Name, Node
from websearch_gateway.pages.visibility.selectors import (
    ROOT,
    Compound,
    Condition,
    Content,
    Selector,
    parse_selector,
)
from websearch_gateway.pages.visibility.watched import watched

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_CSS_CHARS = 2_000_000
MAX_RULES = 20_000
MAX_COMPARISONS = 2_000_000
MAX_CACHED = 20_000

UNSEEN_CLASSES = frozenset(
    {
        *(
            "sr-only",
            "visually-hidden",
            "visuallyhidden",
            "screen-reader-text",
            "screen-reader-only",
        ),
        *("element-invisible", "a11y-hidden", "d-none"),
    }
)
"""Classes of common frameworks for text for screen readers, and for text that scripts show. Their style sheets are
rarely part of the page."""

_UNSEEN = frozenset("." + name for name in UNSEEN_CLASSES)

_LINK_INK: Style = {"color": "#0000ee"}
_OWN_INK: Style = {"color": "unknown", "background": "unknown"}
_NO_STYLE: Style = {}
_DEFAULTS = {
    "a": _LINK_INK,
    **dict.fromkeys(("button", "input", "select", "textarea", "mark"), _OWN_INK),
}


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule with one selector. `above` has the bits of the keys that its selector requires of ancestors; `is_sure`:
    keys are all that it requires. `hiding` is the rule reduced to what may hide text; None if nothing of it does. It
    takes the rule's place for an element for which the rule is not judged."""

    selector: Selector
    order: tuple[int, int]
    declared: tuple[Declaration, ...]
    above: int
    is_sure: bool
    hiding: Rule | None


class Declared:
    """What rules, defaults and a `style` attribute declare for some elements, and what follows from that alone."""

    __slots__ = ("is_buried", "is_closed", "needs_variables", "style")

    def __init__(self, style: Style) -> None:
        self.style = style
        self.needs_variables = any(
            name[:2] == "--" or "var(" in value for name, value in style.items()
        )
        self.is_closed = is_closed(style)
        self.is_buried = is_buried(style)


PLAIN = Declared(_NO_STYLE)
"""Nothing that hides text or that its children inherit."""


class _SheetRule(NamedTuple):
    """The selectors of a rule of a sheet that may match, as texts, and its declarations."""

    selectors: list[str]
    declared: tuple[Declaration, ...]


class _Traits(NamedTuple):
    """What of an element decides which rules may apply to it, but for the elements around it."""

    tag: str
    classes: str | None
    identity: str | None
    is_link: bool
    conditions: frozenset[Condition]


_NO_CONDITIONS: frozenset[Condition] = frozenset()
_BITS = 512
"""How many keys of ancestors have a bit of their own: others share them, which costs comparisons, but no error."""
_SIBLING_COST = 20
"""How many comparisons a look at a sibling counts for."""


class Styles:
    """The style sheets of a page, in their order, reduced to what can hide a part of `tree`.

    `exhausted` becomes true if they were too much work to apply completely: from then on every rule that may hide text
    is taken to apply. `unseen` has the keys of the classes in UNSEEN_CLASSES for which the page has no rule.

    Args:
        outer: the style of text without declarations.

    Raises:
        HostileStylesError: they are more than any honest page has.
    """

    def __init__(self, sheets: Iterable[str], tree: HtmlElement, outer: TextStyle) -> None:
        css = "\n".join(sheets)
        self.contents = Contents(tree)
        if len(css) > MAX_CSS_CHARS:
            raise HostileStylesError("characters")
        self.exhausted = False
        self.outer = outer
        self.unseen = {"." + name for name in UNSEEN_CLASSES}
        self._comparisons_left = MAX_COMPARISONS
        self._present = self.contents.keys if css else frozenset()
        # What the rules mention, and the rules by the keys of the elements that they apply to.
        self._mentioned: set[str] = set()
        self._conditions: defaultdict[str, set[Condition]] = defaultdict(set)
        self._bits: dict[str, int] = {}
        self._index: defaultdict[str, list[Rule]] = defaultdict(list)
        self._suspects: set[str] = set()
        # What was found out about elements.
        self._met: dict[tuple[str, str], list[Condition]] = {}
        self._name_of_traits: dict[_Traits, Name] = {}
        self._name_of_keys: dict[tuple[frozenset[str], bool], Name] = {}
        self._declared: dict[tuple[str, tuple[Rule, ...], str], Declared] = {}
        self._holders: dict[Content, set[HtmlElement]] = {}

        sheet_rules = list(self._rules(css))
        pairs = self.contents.declared
        for sheet_rule in sheet_rules:
            pairs.update(declaration.pair for declaration in sheet_rule.declared)
        self._watched = watched(pairs, outer)
        for number, sheet_rule in enumerate(sheet_rules):
            self._add_rule(sheet_rule, number)

    def _rules(self, css: str) -> Iterator[_SheetRule]:
        """The rules that may apply to an element."""
        count = 0
        for selectors, body in rules(css):
            # The names first: most rules of a framework name nothing on the page, and a body is long.
            texts = [text for text in split_selectors(selectors) if self._may_match(text)]
            declared = declarations(body) if texts else ()
            if declared:
                yield _SheetRule(texts, declared)
                self._note_defined(texts)
                count += len(texts) + len(declared)
            if count > MAX_RULES:
                raise HostileStylesError("rules")

    def _may_match(self, text: str) -> bool:
        """Whether the tree has the plain class names and ids of a selector: parsing a selector takes ten times as long.

        Also true if the selector mentions a class of `UNSEEN_CLASSES`: such a class is hidden by its name unless a rule
        defines it.
        """
        if "\\" in text:
            return True
        bracket = _BRACKET.search(text)
        outside = text[: bracket.start()] if bracket else text
        if ":" in outside and _NEVER_AT_LOAD.search(outside):
            return False
        if self._present.issuperset(_PLAIN_NAMES.findall(outside)):
            return True
        return not _UNSEEN.isdisjoint(_PLAIN_NAMES.findall(text))

    def _note_defined(self, selectors: Sequence[str]) -> None:
        """Note that the page has rules of its own for these classes of UNSEEN_CLASSES."""
        for text in selectors:
            if any(name in text for name in UNSEEN_CLASSES):
                selector = parse_selector(text)
                if selector is not None:
                    self.unseen -= selector.compounds[0].keys

    def _add_rule(self, sheet_rule: _SheetRule, number: int) -> None:
        names, suspicious = self._watched.names, self._watched.suspicious
        relevant = tuple(
            declaration for declaration in sheet_rule.declared if declaration.name in names
        )
        hiding = tuple(declaration for declaration in relevant if declaration.pair in suspicious)
        if not relevant:
            return
        for text in sheet_rule.selectors:
            selector = parse_selector(text)
            if selector is None or not self._has_keys_of(selector):
                continue
            # A loose selector matches too much, which only what hides text may do.
            declared = hiding if selector.is_loose else relevant
            if declared:
                self._add(selector, declared, hiding, number)

    def _has_keys_of(self, selector: Selector) -> bool:
        """Whether the page has the tags, classes and ids of a selector."""
        for compound in selector.compounds:
            for key in compound.keys:
                if key[0] != "[" and key not in self._present:
                    return False
        return True

    def _add(
        self,
        selector: Selector,
        declared: tuple[Declaration, ...],
        hiding: tuple[Declaration, ...],
        number: int,
    ) -> None:
        for compound in selector.compounds:
            for part in compound.parts():
                self._mentioned |= part.keys
                for condition in part.attributes:
                    self._conditions[condition.attribute].add(condition)
        above = 0
        for compound, joint in zip(selector.compounds[1:], selector.joints, strict=True):
            if compound.key and joint in (" ", ">"):
                above |= self._bits.setdefault(compound.key, 1 << len(self._bits) % _BITS)
        own = selector.compounds[0]
        order = (selector.weight, number)
        is_sure = len(selector.compounds) == 1 and own.is_plain
        reduced = Rule(selector, order, hiding, above, is_sure, None) if hiding else None
        rule = Rule(selector, order, declared, above, is_sure, reduced)
        for key in own.subjects:
            self._index[key].append(rule)
            if hiding:
                self._suspects.add(key)

    @cached_property
    def _has_ids(self) -> bool:
        return any(name[0] == "#" for name in self._mentioned)

    def suspects(self) -> Iterator[HtmlElement]:
        """The elements for which there may be a rule with a suspicious declaration, or which have declarations."""
        contents, keys = self.contents, self._suspects | self.unseen
        yield contents.tree
        is_harmless = self._watched.suspicious.isdisjoint
        for element in contents.with_attribute["style"]:
            own = declarations(element.get("style"))
            if not is_harmless(declaration.pair for declaration in own):
                yield element
        yield from contents.with_attribute["bgcolor"]
        yield from contents.with_tag["font"]
        if "" in keys:
            yield from contents.elements
        for attribute in {key[1:].partition(" ")[0] for key in keys if key[0:1] == "["}:
            yield from contents.with_attribute[attribute]
        for key in keys:
            yield from contents.with_tag[key]
        if self._watched.links:
            yield from contents.with_tag["a"]
        classes = {value for value, names in contents.classes.items() if not keys.isdisjoint(names)}
        for element in contents.with_attribute["class"]:
            if element.get("class") in classes:
                yield element
        if self._has_ids:
            for element in contents.with_attribute["id"]:
                if "#" + element.get("id") in keys:
                    yield element

    def node(self, element: HtmlElement, parent: Node | None) -> Node:
        """`element`, which is in `parent`, as a node."""
        attributes = element.keys()
        classes = identity = None
        is_link, conditions = False, _NO_CONDITIONS
        if attributes:
            classes = element.get("class")
            identity = element.get("id") if self._has_ids else None
            is_link = "href" in attributes
            conditions = self._conditions_met(element, attributes)
        if parent is None:
            conditions |= {ROOT}
        traits = _Traits(element.tag, classes, identity, is_link, conditions)
        name = self._name_of_traits.get(traits) or self._name(traits)
        return Node(element, attributes, parent, name)

    def _conditions_met(
        self, element: HtmlElement, attributes: Sequence[str]
    ) -> frozenset[Condition]:
        if self._conditions.keys().isdisjoint(attributes):
            return _NO_CONDITIONS
        met: set[Condition] = set()
        for attribute in attributes:
            if attribute in self._conditions:
                met.update(self._met_by(attribute, element.get(attribute, "")))
        return frozenset(met)

    def _met_by(self, attribute: str, value: str) -> list[Condition]:
        met = self._met.get((attribute, value))
        if met is None:
            conditions = self._conditions[attribute]
            self._spend(len(conditions))
            if self.exhausted:
                return list(conditions)
            met = [condition for condition in conditions if condition.is_met_by(value)]
            if len(self._met) < MAX_CACHED:
                self._met[attribute, value] = met
        return met

    def _name(self, traits: _Traits) -> Name:
        mentionable = {"." + name for name in (traits.classes or "").split()}
        mentionable.add("#" + (traits.identity or ""))
        mentionable.update(condition.key for condition in traits.conditions)
        tag = traits.tag.lower()
        keys = frozenset((tag, *(mentionable & (self._mentioned | _UNSEEN))))
        name = self._name_of_keys.get((keys, traits.is_link))
        if name is None:
            has_ink = "color" in self._watched.names and (traits.is_link or tag != "a")
            defaults = _DEFAULTS.get(tag, _NO_STYLE) if has_ink else _NO_STYLE
            bits = reduce(operator.or_, (self._bits.get(key, 0) for key in keys))
            name = Name(tag, keys, bits, defaults, self._rules_for(keys))
        if len(self._name_of_traits) < MAX_CACHED:
            self._name_of_keys[keys, traits.is_link] = name
            self._name_of_traits[traits] = name
        return name

    def _rules_for(self, keys: frozenset[str]) -> tuple[Rule, ...]:
        """The rules whose own compound asks for no other keys than these."""
        candidates: dict[Rule, None] = {}
        for key in ("", *keys):
            candidates |= dict.fromkeys(self._index.get(key, ()))
        self._spend(len(candidates))
        return tuple(rule for rule in candidates if keys >= rule.selector.compounds[0].keys)

    def declared(self, node: Node) -> Declared:
        """The winning value of each property that is declared for `node`."""
        name = node.name
        inline = node.element.get("style", "") if node.attributes else ""
        applied = self._applied(node) if name.rules else ()
        if not applied and not inline and not name.defaults:
            return PLAIN
        # The tag tells which defaults there are.
        key = (name.tag if name.defaults else "", applied, inline)
        declared = self._declared.get(key)
        if declared is None:
            declared = Declared(_winning(name.defaults, applied, inline))
            if len(self._declared) < MAX_CACHED and len(inline) <= LONGEST_CACHED:
                self._declared[key] = declared
        return declared

    def _applied(self, node: Node) -> tuple[Rule, ...]:
        """The rules that apply to `node`."""
        self._spend(len(node.name.rules))
        judged = (self._judged(rule, node) for rule in node.name.rules)
        return tuple(rule for rule in judged if rule is not None)

    def _judged(self, rule: Rule, node: Node) -> Rule | None:
        """A rule if it applies to `node`; None if not. What may hide text applies also if nothing is left to judge."""
        if rule.is_sure:
            return rule
        if rule.above & node.above != rule.above:
            return None
        applies = self._applies(rule.selector, node)
        if self.exhausted:
            return rule.hiding
        return rule if applies else None

    def _applies(self, selector: Selector, node: Node, step: int = 0) -> bool:
        """Whether `selector` matches from its compound `step` outwards, with `node` as the element of that compound."""
        compound = selector.compounds[step]
        self._spend(compound.cost)
        if self.exhausted or not compound.matches(node) or not self._holds(compound, node):
            return False
        if step == len(selector.joints):
            return True
        match selector.joints[step]:
            case ">":
                return node.parent is not None and self._applies(selector, node.parent, step + 1)
            case " ":
                return self._is_inside(selector, node.parent, step + 1)
            case "+":
                before = self._before(node)
                return before is not None and self._applies(selector, before, step + 1)
        return self._is_after(selector, node, step + 1)

    def _holds(self, compound: Compound, node: Node) -> bool:
        """Whether the element of `node` has the contents that `compound` asks for."""
        element = node.element
        return all(self._is_holder(element, group) for group in compound.holding)

    def _is_holder(self, element: HtmlElement, group: Sequence[Content]) -> bool:
        return any(element in self._holders_of(content) for content in group)

    def _holders_of(self, content: Content) -> set[HtmlElement]:
        """The elements that contain what `:has()` asks for. One walk over the page answers this for all of them."""
        holders = self._holders.get(content)
        if holders is not None:
            return holders
        holders = self._holders[content] = set()
        self._spend(len(self._nodes) * content.compound.cost)
        if self.exhausted:
            return holders
        for element, node in self._nodes.items():
            if not content.compound.matches(node):
                continue
            above = element.getparent()
            while above is not None and above not in holders:
                holders.add(above)
                above = None if content.is_child else above.getparent()
        return holders

    @cached_property
    def _nodes(self) -> dict[HtmlElement, Node]:
        """All elements of the page with their nodes, in document order."""
        nodes: dict[HtmlElement, Node] = {}
        for element in self.contents.elements:
            nodes[element] = self.node(element, nodes.get(element.getparent()))
        return nodes

    def _is_inside(self, selector: Selector, parent: Node | None, step: int) -> bool:
        """Whether `parent`, or one of its ancestors, matches from the compound `step` outwards. Cached in these."""
        key = (selector, step)
        keys = selector.compounds[step].keys
        passed: list[Node] = []
        matches = False
        while parent is not None and not self.exhausted:
            cached = parent.inside.get(key)
            if cached is not None:
                matches = cached
                break
            passed.append(parent)
            if parent.name.keys >= keys and self._applies(selector, parent, step):
                matches = True
                break
            parent = parent.parent
        self._spend(len(passed))
        for node in passed:
            node.inside[key] = matches
        return matches

    def _is_after(self, selector: Selector, node: Node, step: int) -> bool:
        """Whether an element before `node` matches from the compound `step` outwards. Cached for each sibling."""
        first = self._first_match(selector, node, step)
        return first is not None and first < node.position

    def _first_match(self, selector: Selector, node: Node, step: int) -> int | None:
        """The position of the first sibling of `node` that matches from the compound `step` outwards.

        One walk over the siblings answers this for all of them, in a row of any number of `~`.
        """
        parent = node.parent
        if parent is None:
            return None
        key = (selector, step)
        if key not in parent.first_after:
            parent.first_after[key] = None
            for child, position in parent.children[""].items():
                self._spend(_SIBLING_COST)
                if self.exhausted:
                    return None
                if self._applies(selector, self.node(child, parent), step):
                    parent.first_after[key] = position
                    break
        return parent.first_after[key]

    def _before(self, node: Node) -> Node | None:
        """The element before that of `node`."""
        self._spend(_SIBLING_COST)
        before = node.element.getprevious()
        while before is not None and not isinstance(before.tag, str):
            before = before.getprevious()
        return None if before is None else self.node(before, node.parent)

    def _spend(self, comparisons: int) -> None:
        self._comparisons_left -= comparisons
        if self._comparisons_left <= 0:
            self.exhausted = True


_BRACKET = re.compile(r"[(\[]")
_PLAIN_NAMES = re.compile(r"[.#][\w-]++")
_NEVER_AT_LOAD = re.compile(r":(?::|hover|focus|active|visited|before|after)")


def _winning(defaults: Style, applied: Sequence[Rule], inline: str) -> Style:
    """The values that win over those of weaker rules, and of declarations that are not important."""
    ordered: list[Declaration] = []
    for rule in sorted(applied, key=lambda rule: rule.order):
        ordered += rule.declared
    ordered += declarations(inline)
    style = dict(defaults)
    for is_important in (False, True):
        for declaration in ordered:
            if declaration.is_important is is_important:
                style[declaration.name] = declaration.value
    return style
