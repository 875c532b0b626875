"""The selectors of style sheets, and which rules of a page apply to an element."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from itertools import chain
from typing import TYPE_CHECKING

from websearch_gateway.pages.visibility.css import BETWEEN_COMMAS, declarations, rules, unescape
from websearch_gateway.pages.visibility.looks import (
    LONGEST_CACHED,
    Declaration,
    Style,
    TextStyle,
    cached_if_short,
    is_buried,
    is_closed,
    watched,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement


Condition = tuple[str, str, str]
"""A condition on an attribute: its name, the operator of the comparison, and the value to compare with."""

ROOT: Condition = (":root", "", "")
"""The condition that only the root element meets."""

NO_CONDITIONS: frozenset[Condition] = frozenset()

_STEP = re.compile(r"(?:([+-]?\d*+)n)?\s*+([+-]?\s*+\d++)?")
_STEP_NAMES = {"odd": "2n+1", "even": "2n"}


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
    """An element with its name. `parent` is None for the root; `above` has the bits of the ancestors' names, and
    `inside` whether it or an ancestor matches a selector from one of its compounds outwards."""

    __slots__ = ("_children", "above", "attributes", "element", "inside", "name", "parent")

    def __init__(self, element: HtmlElement, attributes: list[str], parent: Node | None, name: Name) -> None:
        self.element = element
        self.attributes = attributes
        self.parent = parent
        self.name = name
        self.above: int = parent.above | parent.name.bits if parent is not None else 0
        self.inside: dict[tuple[Selector, int], bool] = {}
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


@dataclass(slots=True, eq=False)
class Compound:
    """The conditions on one element: `article.wide#x[hidden]:not(.open)`.

    `keys` has the tag, `.class`, `#id` and `[condition` that a matching element must have. `weight` is its specificity
    (https://www.w3.org/TR/selectors-4/#specificity-rules) as one number.
    """

    keys: frozenset[str] = frozenset()
    attributes: tuple[Condition, ...] = ()
    places: tuple[str, ...] = ()
    among: tuple[tuple[Compound, ...], ...] = ()
    negated: tuple[Compound, ...] = ()
    weight: int = 0
    cost: int = field(init=False, default=1)
    is_plain: bool = field(init=False, default=True)

    def __post_init__(self) -> None:
        """Estimate the cost of a match, in comparisons; a check of keys alone is the cheapest."""
        if self.places or self.among or self.negated:
            self.is_plain = False
            self.cost += len(self.places) + sum(other.cost for other in self._inner)

    def matches(self, node: Node) -> bool:
        return node.name.keys.issuperset(self.keys) and (
            self.is_plain
            or (
                all(_is_at(node, place) for place in self.places)
                and all(any(other.matches(node) for other in others) for others in self.among)
                and not any(other.matches(node) for other in self.negated)
            )
        )

    @property
    def _inner(self) -> tuple[Compound, ...]:
        return (*self.negated, *chain.from_iterable(self.among))

    def parts(self) -> Iterator[Compound]:
        yield self
        for other in self._inner:
            yield from other.parts()

    @property
    def key(self) -> str:
        """The rarest key that a match requires, in the order id, class, condition, tag; empty if there is none."""
        alone = (others[0].key for others in self.among if len(others) == 1)  # as in `:where(.wide)`
        return min(filter(None, chain(self.keys, alone)), default="")

    @property
    def subjects(self) -> frozenset[str]:
        """Keys of which a matching element has at least one."""
        if not self.keys:
            for others in self.among:  # as in `:where(.wide, .long)`
                if all(other.keys for other in others):
                    return frozenset(other.key for other in others)
        return frozenset((self.key,))


_COMPARISONS: Mapping[str, Callable[[str, str], bool]] = {
    "": lambda actual, wanted: True,
    "=": operator.eq,
    "i=": lambda actual, wanted: actual.lower() == wanted.lower(),
    "~=": lambda actual, wanted: wanted in actual.split(),
    "^=": lambda actual, wanted: bool(wanted) and actual.startswith(wanted),
    "$=": lambda actual, wanted: bool(wanted) and actual.endswith(wanted),
    "*=": lambda actual, wanted: bool(wanted) and wanted in actual,
    "|=": lambda actual, wanted: actual == wanted or actual.startswith(wanted + "-"),
}


def _is_at(node: Node, place: str) -> bool:
    """Whether `node` meets a pseudo-class, given without its colon."""
    element = node.element
    match place:
        case "link" | "any-link":
            return element.tag == "a" and element.get("href") is not None
        case "checked":
            return element.get("checked") is not None or element.get("selected") is not None
        case "disabled" | "enabled":
            return (element.get("disabled") is None) == (place == "enabled")
        case "empty":
            return not len(element) and not element.text
    how, _, text = place.partition("(")
    if (step := _step(text.removesuffix(")"))) is None:
        return False
    number, (every, offset) = 1, step
    if node.parent is not None:  # the position among all siblings or those of the same tag
        among = node.parent.children[element.tag if how.endswith("of-type") else ""]
        number = len(among) - among[element] if how.startswith("nth-last") else among[element] + 1
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


@dataclass(frozen=True, slots=True, eq=False)
class Selector:
    """Compounds from the element itself outwards; `joints[i]` is the combinator between compound i + 1 and i."""

    compounds: tuple[Compound, ...]
    joints: tuple[str, ...]


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
    "root": (),
    **{name: (name,) for name in ("link", "any-link", "checked", "disabled", "enabled", "empty")},
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


_OF_A_TAG, _OF_A_CLASS, _OF_AN_ID = 1, 1 << 30, 1 << 60  # no sheet has as many characters as one has of the former


def _compound(text: str, at: int, depth: int = 0) -> tuple[Compound | None, int]:
    """The compound that begins at `at`, and its end; None if it is missing or unsupported."""
    tag = _TAG.match(text, at)
    end = tag.end() if tag else at
    keys = [unescape(tag[0]).lower()] if tag and tag[0] != "*" else []
    places: list[str] = []
    attributes: list[Condition] = []
    among: list[tuple[Compound, ...]] = []
    negated: list[Compound] = []
    weight = _OF_A_TAG * len(keys)
    while part := _PART.match(text, end):
        end = part.end()
        if part["attr"]:
            loosely = part["op"] == "=" and (part["loose"] or "").lower() == "i"
            wanted = unescape(part["value"] or "").strip("\"'")
            attributes.append((unescape(part["attr"]).lower(), "i=" if loosely else part["op"] or "", wanted))
            weight += _OF_A_CLASS
        elif part["logic"]:
            others = _alternatives(part["among"], depth)
            if others is None:
                return None, end
            logic = part["logic"].lower()
            negated.extend(others if logic == "not" else ())
            among.extend(() if logic == "not" else (others,))
            weight += max((other.weight for other in others if logic != "where"), default=0)
        elif part["place"]:
            place = part["place"].lower()
            found = (place,) if "(" in place else _PLACES.get(place)
            if found is None:
                return None, end
            places.extend(found)
            attributes.extend([ROOT] if place == "root" else ())
            weight += _OF_A_CLASS
        else:
            keys.append(unescape(part[0]))
            weight += _OF_A_CLASS if part["cls"] else _OF_AN_ID
    if end == at:
        return None, end
    parts = (tuple(attributes), tuple(places), tuple(among), tuple(negated))
    return Compound(frozenset((*keys, *map(_key_of, attributes))), *parts, weight), end


def _key_of(condition: Condition) -> str:
    return "[" + " ".join(condition)


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


MAX_CSS_CHARS = 2_000_000
MAX_RULES = 20_000
MAX_COMPARISONS = 2_000_000
MAX_CACHED = 20_000
UNSEEN_CLASSES = frozenset(
    {
        *("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only"),
        *("element-invisible", "a11y-hidden", "d-none"),
    }
)
"""Classes of common frameworks for text for screen readers, and for text that scripts show. Their style sheets are
rarely part of the page."""

_SIBLING_COST = 20
_BITS = 512
_UNSEEN = frozenset("." + name for name in UNSEEN_CLASSES)
_BRACKET = re.compile(r"[(\[]")
_PLAIN_NAMES = re.compile(r"[.#][\w-]++")
_NEVER_AT_LOAD = re.compile(r":(?::|hover|focus|active|visited|before|after)")
_LINK_INK: Style = {"color": "#0000ee"}
_OWN_INK: Style = {"color": "unknown", "background": "unknown"}
_NO_STYLE: Style = {}
_DEFAULTS = {"a": _LINK_INK, **dict.fromkeys(("button", "input", "select", "textarea", "mark"), _OWN_INK)}


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule with one selector. `above` has the bits of the keys that its selector requires of ancestors; `is_sure`:
    keys are all that it requires."""

    selector: Selector
    order: tuple[int, int]
    declared: tuple[Declaration, ...]
    above: int
    is_sure: bool


class Declared:
    """What rules, defaults and a `style` attribute declare for some elements, and what follows from that alone."""

    __slots__ = ("is_buried", "is_closed", "needs_variables", "style")

    def __init__(self, style: Style) -> None:
        self.style = style
        self.needs_variables = any(name[:2] == "--" or "var(" in value for name, value in style.items())
        self.is_closed = is_closed(style)
        self.is_buried = is_buried(style)


PLAIN = Declared(_NO_STYLE)
"""Nothing that hides text or that its children inherit."""


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
        self.classes = {value: ["." + name for name in value.split()] for value in self.values("class")}

    def values(self, attribute: str) -> set[str]:
        """The values of an attribute."""
        return {element.get(attribute) for element in self.with_attribute[attribute]}

    @property
    def keys(self) -> frozenset[str]:
        """All tags, classes and ids, in the format of `Compound.keys`."""
        ids = ("#" + value for value in self.values("id"))
        return frozenset(chain(map(str.lower, self.with_tag), chain.from_iterable(self.classes.values()), ids))

    @property
    def declared(self) -> set[tuple[str, str]]:
        """What attributes declare."""
        found = {one[:2] for style in self.values("style") for one in declarations(style)}
        found.update(("background", value.lower()) for value in self.values("bgcolor"))
        return found | {("color", one.get("color", "").lower()) for one in self.with_tag["font"]}


class Styles:
    """The style sheets of a page, in their order, reduced to what can hide a part of `tree`.

    `exhausted` becomes true if they were too much work to apply completely. `unseen` has the keys of the classes in
    UNSEEN_CLASSES for which the page has no rule.

    Args:
        outer: the style of text without declarations.
    """

    def __init__(self, sheets: Iterable[str], tree: HtmlElement, outer: TextStyle) -> None:
        css = "\n".join(sheets)
        self.contents = Contents(tree)
        self.exhausted = len(css) > MAX_CSS_CHARS
        self.outer = outer
        self.unseen = {"." + name for name in UNSEEN_CLASSES}
        self._present = self.contents.keys if css else frozenset()
        self._index: defaultdict[str, list[Rule]] = defaultdict(list)
        self._suspects: set[str] = set()
        self._mentioned: set[str] = set()
        self._conditions: defaultdict[str, set[Condition]] = defaultdict(set)
        self._bits: dict[str, int] = {}
        self._met: dict[tuple[str, str], list[Condition]] = {}
        self._named: dict[tuple[str, str | None, str | None, bool, frozenset[Condition]], Name] = {}
        self._names: dict[tuple[frozenset[str], bool], Name] = {}
        self._declared: dict[tuple[int, tuple[Rule, ...], str], Declared] = {}
        self._left = MAX_COMPARISONS
        found = list(self._rules(css[:MAX_CSS_CHARS]))
        self._watched = watched(self.contents.declared | {one[:2] for _, ones in found for one in ones}, outer)
        for number, (texts, declared) in enumerate(found):
            if kept := tuple(one for one in declared if one[0] in self._watched.names):
                is_suspicious = any(one[:2] in self._watched.suspicious for one in kept)
                for selector in filter(None, map(parse_selector, texts)):
                    self._add(selector, kept, number, is_suspicious=is_suspicious)

    def _rules(self, css: str) -> Iterator[tuple[list[str], tuple[Declaration, ...]]]:
        """The selectors and declarations of the rules that may apply to an element."""
        count = 0
        for selectors, body in rules(css):
            # The names first: most rules of a framework name nothing on the page, and a body is long.
            texts = [text for text in BETWEEN_COMMAS.findall(selectors) if self._may_match(text)]
            if texts and (declared := declarations(body)):
                yield texts, declared
                for text in (text for text in texts if any(name in text for name in UNSEEN_CLASSES)):
                    if selector := parse_selector(text):
                        self.unseen -= selector.compounds[0].keys
                count += len(texts) + len(declared)
            if count > MAX_RULES:
                self.exhausted = True
                return

    def _may_match(self, text: str) -> bool:
        """Whether the tree has the plain class names and ids of a selector: parsing a selector takes ten times as long.

        Also true if the selector mentions a class of `UNSEEN_CLASSES`: such a class is hidden by its name unless a rule
        defines it.
        """
        if "\\" in text:
            return True
        outside = text[: bracket.start()] if (bracket := _BRACKET.search(text)) else text
        if ":" in outside and _NEVER_AT_LOAD.search(outside):
            return False
        return self._present.issuperset(_PLAIN_NAMES.findall(outside)) or not _UNSEEN.isdisjoint(
            _PLAIN_NAMES.findall(text)
        )

    def _add(self, selector: Selector, declared: tuple[Declaration, ...], number: int, *, is_suspicious: bool) -> None:
        if any(key[0] != "[" and key not in self._present for one in selector.compounds for key in one.keys):
            return
        for part in (part for compound in selector.compounds for part in compound.parts()):
            self._mentioned |= part.keys
            for condition in part.attributes:
                self._conditions[condition[0]].add(condition)
        above, own = 0, selector.compounds[0]
        for compound, joint in zip(selector.compounds[1:], selector.joints, strict=True):
            if compound.key and joint in (" ", ">"):
                above |= self._bits.setdefault(compound.key, 1 << len(self._bits) % _BITS)
        weight = sum(compound.weight for compound in selector.compounds)
        rule = Rule(selector, (weight, number), declared, above, len(selector.compounds) == 1 and own.is_plain)
        for key in own.subjects:
            self._index[key].append(rule)
            if is_suspicious:
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
            if not is_harmless(one[:2] for one in declarations(element.get("style"))):
                yield element
        yield from contents.with_attribute["bgcolor"]
        yield from contents.with_tag["font"]
        if "" in keys:
            yield from contents.elements
        for name in {key[1:].partition(" ")[0] for key in keys if key[0:1] == "["}:
            yield from contents.with_attribute[name]
        for key in keys:
            yield from contents.with_tag[key]
        if self._watched.links:
            yield from contents.with_tag["a"]
        named = {value for value, names in contents.classes.items() if not keys.isdisjoint(names)}
        yield from (element for element in contents.with_attribute["class"] if element.get("class") in named)
        if self._has_ids:
            yield from (one for one in contents.with_attribute["id"] if "#" + one.get("id") in keys)

    def node(self, element: HtmlElement, parent: Node | None) -> Node:
        """`element`, which is in `parent`, as a node."""
        attributes = element.keys()
        tag, classes, identity, links, met = element.tag, None, None, False, NO_CONDITIONS
        if attributes:
            classes = element.get("class")
            identity = element.get("id") if self._has_ids else None
            links = "href" in attributes
            if not self._conditions.keys().isdisjoint(attributes):
                known = (name for name in attributes if name in self._conditions)
                met = frozenset(chain.from_iterable(self._met_by(name, element.get(name, "")) for name in known))
        if parent is None:
            met |= {ROOT}
        own = (tag, classes, identity, links, met)
        return Node(element, attributes, parent, self._named.get(own) or self._name(*own))

    def _met_by(self, name: str, value: str) -> list[Condition]:
        if (met := self._met.get((name, value))) is None:
            conditions = self._conditions[name]
            self._spend(len(conditions))
            if self._left <= 0:
                return []
            met = [one for one in conditions if _COMPARISONS[one[1]](value, one[2])]
            if len(self._met) < MAX_CACHED:
                self._met[name, value] = met
        return met

    def _name(
        self, tag: str, classes: str | None, identity: str | None, links: bool, met: frozenset[Condition]
    ) -> Name:
        mentioned = {"." + name for name in (classes or "").split()} | {"#" + (identity or "")} | set(map(_key_of, met))
        keys, lower = frozenset((tag.lower(), *(mentioned & (self._mentioned | _UNSEEN)))), tag.lower()
        if (name := self._names.get((keys, links))) is None:
            candidates = list(dict.fromkeys(rule for key in ("", *keys) for rule in self._index.get(key, ())))
            self._spend(len(candidates))
            matching = tuple(one for one in candidates if keys.issuperset(one.selector.compounds[0].keys))
            bits = reduce(operator.or_, (self._bits.get(key, 0) for key in keys))
            has_ink = "color" in self._watched.names and (links or lower != "a")
            name = Name(lower, keys, bits, _DEFAULTS.get(lower, _NO_STYLE) if has_ink else _NO_STYLE, matching)
        if len(self._named) < MAX_CACHED:
            self._names[keys, links] = self._named[tag, classes, identity, links, met] = name
        return name

    def declared(self, node: Node) -> Declared:
        """The winning value of each property that is declared for `node`."""
        name, above = node.name, node.above
        inline = node.element.get("style", "") if node.attributes else ""
        found: tuple[Rule, ...] = ()
        if name.rules:
            self._spend(len(name.rules))
            found = tuple(
                rule
                for rule in name.rules
                if rule.is_sure or (rule.above & above == rule.above and self._applies(rule.selector, node))
            )
        if not found and not inline and not name.defaults:
            return PLAIN
        own = (id(name.defaults), found, inline)
        if (declared := self._declared.get(own)) is None:
            ordered = [one for rule in sorted(found, key=lambda rule: rule.order) for one in rule.declared]
            ordered += declarations(inline)
            style = {name: value for name, value, important in ordered if not important}
            style |= {name: value for name, value, important in ordered if important}
            declared = Declared({**name.defaults, **style})
            if len(self._declared) < MAX_CACHED and len(inline) <= LONGEST_CACHED:
                self._declared[own] = declared
        return declared

    def _applies(self, selector: Selector, node: Node, step: int = 0) -> bool:
        """Whether `selector` matches from its compound `step` outwards, with `node` as the element of that compound."""
        compound = selector.compounds[step]
        self._spend(compound.cost)
        if self._left <= 0 or not compound.matches(node):
            return False
        if step == len(selector.joints):
            return True
        joint = selector.joints[step]
        if joint in (" ", ">"):
            return self._is_inside(selector, node.parent, step + 1, is_direct=joint == ">")
        other = self._before(node)
        while other is not None and self._left > 0:
            if self._applies(selector, other, step + 1):
                return True
            other = self._before(other) if joint == "~" else None
        return False

    def _is_inside(self, selector: Selector, parent: Node | None, step: int, *, is_direct: bool) -> bool:
        """Whether `parent`, or one of its ancestors, matches from the compound `step` outwards. Cached in these."""
        if is_direct:
            return parent is not None and self._applies(selector, parent, step)
        key, found = (selector, step), False
        asked = []
        while parent is not None and self._left > 0:
            if (known := parent.inside.get(key)) is not None:
                found = known
                break
            asked.append(parent)
            if parent.name.keys >= selector.compounds[step].keys and self._applies(selector, parent, step):
                found = True
                break
            parent = parent.parent
        self._spend(len(asked))
        for one in asked:
            one.inside[key] = found
        return found

    def _before(self, node: Node) -> Node | None:
        """The element before that of `node`."""
        self._spend(_SIBLING_COST)
        before = node.element.getprevious()
        while before is not None and not isinstance(before.tag, str):
            before = before.getprevious()
        return None if before is None else self.node(before, node.parent)

    def _spend(self, comparisons: int) -> None:
        self._left -= comparisons
        if self._left <= 0:
            self.exhausted = True
