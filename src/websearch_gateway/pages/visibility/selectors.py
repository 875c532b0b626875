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

from websearch_gateway.pages.visibility.css import (
    closing_bracket,
    declarations,
    rules,
    split_selectors,
    unescape,
)
from websearch_gateway.pages.visibility.hostile import (
    LONGEST_CACHED,
    HostileStylesError,
    cached_if_short,
)
from websearch_gateway.pages.visibility.looks import (
    Declaration,
    Style,
    TextStyle,
    is_buried,
    is_closed,
)
from websearch_gateway.pages.visibility.watched import watched

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


@dataclass(slots=True, eq=False)
class Compound:
    """The conditions on one element: `article.wide#x[hidden]:not(.open)`.

    `keys` has the tag, `.class`, `#id` and `[condition` that a matching element must have. `holding` has the contents
    that it must have, one of each group; `Styles` judges them. `weight` is its specificity
    (https://www.w3.org/TR/selectors-4/#specificity-rules) as one number. It is loose if some of its conditions are left
    out, because nothing here can judge them: then it matches more elements than it should.
    """

    keys: frozenset[str] = frozenset()
    attributes: tuple[Condition, ...] = ()
    places: tuple[str, ...] = ()
    among: tuple[tuple[Compound, ...], ...] = ()
    negated: tuple[Compound, ...] = ()
    holding: tuple[tuple[Held, ...], ...] = ()
    weight: int = 0
    cost: int = field(init=False, default=1)
    is_plain: bool = field(init=False, default=True)
    is_loose: bool = False

    def __post_init__(self) -> None:
        """Estimate the cost of a match, in comparisons; a check of keys alone is the cheapest."""
        if self.places or self.among or self.negated or self.holding:
            self.is_plain = False
            self.cost += len(self.places) + sum(other.cost for other in self._inner)

    def matches(self, node: Node) -> bool:
        """Whether all conditions but `holding` are met."""
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
        held = (one.compound for one in chain.from_iterable(self.holding))
        return (*self.negated, *chain.from_iterable(self.among), *held)

    def parts(self) -> Iterator[Compound]:
        yield self
        for other in self._inner:
            yield from other.parts()

    @property
    def key(self) -> str:
        """The rarest key that a match requires, in the order id, class, condition, tag; empty if there is none."""
        # As in `:where(.wide)`.
        alone = (others[0].key for others in self.among if len(others) == 1)
        return min(filter(None, chain(self.keys, alone)), default="")

    @property
    def subjects(self) -> frozenset[str]:
        """Keys of which a matching element has at least one."""
        if not self.keys:
            for others in self.among:  # as in `:where(.wide, .long)`
                if all(other.keys for other in others):
                    return frozenset(other.key for other in others)
        return frozenset((self.key,))


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """An element that `:has()` asks for: anywhere inside, or a child."""

    compound: Compound
    is_child: bool


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
    return (
        number == offset
        if not every
        else (number - offset) % every == 0 and (number - offset) // every >= 0
    )


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
    """Compounds from the element itself outwards; `joints[i]` is the combinator between compound i + 1 and i.

    It is loose if one of its compounds is, or if it has more than `MAX_STEPS`, of which the outermost are left out.
    """

    compounds: tuple[Compound, ...]
    joints: tuple[str, ...]
    is_loose: bool = False


MAX_STEPS = 8
MAX_DEPTH = 3
MAX_SELECTOR_CHARS = 10_000

_IDENT = r"(?:[\w-]|\\[0-9a-fA-F]{1,6}+\s?|\\.)++"
_TAG = re.compile(rf"\*|{_IDENT}")
_PART = re.compile(
    rf"#(?P<id>{_IDENT})|\.(?P<cls>{_IDENT})"
    rf"|\[\s*+(?P<attr>{_IDENT})\s*+(?:(?P<op>[~|^$*]?=)\s*+(?P<value>\"[^\"]*+\"|'[^']*+'|[^\]\s]*+)\s*+(?P<loose>[is]?)\s*+)?\]"
    r"|:(?P<pseudo>[a-z-]++)(?P<opens>\()?",
    re.IGNORECASE,
)
_LOGIC = frozenset({"is", "where", "not", "matches", "-webkit-any"})
_STEPPED = re.compile(r"nth-(?:last-)?(?:child|of-type)")
_COMBINATOR = re.compile(r"\s*+([>+~])\s*+|\s++")
_LAST_COMPOUND = re.compile(r".*[\s>+~](?=[^\s>+~])", re.DOTALL)
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
_NOT_AT_LOAD = frozenset(
    {
        *(
            "hover",
            "focus",
            "focus-within",
            "focus-visible",
            "active",
            "target",
            "visited",
            "popover-open",
            "modal",
        ),
        *(
            "fullscreen",
            "picture-in-picture",
            "user-valid",
            "user-invalid",
            "autofill",
            "playing",
            "host",
            "current",
        ),
        # Parts of an element, with one colon as in CSS 2.
        "before",
        "after",
        "first-line",
        "first-letter",
    }
)
"""What no element of a page is at load, before its user does anything."""
_NOT_CSS = frozenset(
    {
        *(
            "has-text",
            "contains",
            "matches-css",
            "matches-attr",
            "min-text-length",
            "upward",
            "xpath",
            "remove",
            "style",
        ),
        *(
            "visible",
            "hidden",
            "eq",
            "gt",
            "lt",
            "even",
            "odd",
            "parent",
            "header",
            "selected",
            "animated",
        ),
    }
)
"""What only filters of advertisements and jQuery know: browsers drop a rule with one of these."""


@cached_if_short(2_000)  # pages of one site share their style sheets
def parse_selector(text: str) -> Selector | None:
    """One selector, without commas; None if it matches no element at load, or is invalid."""
    compounds: list[Compound] = []
    joints: list[str] = []
    at, text = 0, text.strip()
    if len(text) > MAX_SELECTOR_CHARS:
        raise HostileStylesError("a selector")
    while True:
        compound, end = _compound(text, at)
        if compound is None:
            return None
        compounds.append(compound)
        if end == len(text):
            break
        combinator = _COMBINATOR.match(text, end)
        if combinator is None:
            return None
        joints.append(combinator[1] or " ")
        at = combinator.end()
    inner, inner_joints = compounds[-MAX_STEPS:], joints[-(MAX_STEPS - 1) :]
    is_loose = len(compounds) > MAX_STEPS or any(compound.is_loose for compound in inner)
    return Selector(tuple(reversed(inner)), tuple(reversed(inner_joints)), is_loose)


# No sheet has as many characters as one has of the former.
_OF_A_TAG, _OF_A_CLASS, _OF_AN_ID = (
    1,
    1 << 30,
    1 << 60,
)


def _compound(text: str, at: int, depth: int = 0) -> tuple[Compound | None, int]:
    """The compound that begins at `at`, and its end; None if it is missing or matches no element at load."""
    tag = _TAG.match(text, at)
    end = tag.end() if tag else at
    keys = [unescape(tag[0]).lower()] if tag and tag[0] != "*" else []
    places: list[str] = []
    attributes: list[Condition] = []
    among: list[tuple[Compound, ...]] = []
    negated: list[Compound] = []
    holding: list[tuple[Held, ...]] = []
    weight = _OF_A_TAG * len(keys)
    is_loose = False
    while part := _PART.match(text, end):
        end = part.end()
        if part["attr"]:
            loosely = part["op"] == "=" and (part["loose"] or "").lower() == "i"
            wanted = unescape(part["value"] or "").strip("\"'")
            attributes.append(
                (unescape(part["attr"]).lower(), "i=" if loosely else part["op"] or "", wanted)
            )
            weight += _OF_A_CLASS
        elif not part["pseudo"]:
            keys.append(unescape(part[0]))
            weight += _OF_A_CLASS if part["cls"] else _OF_AN_ID
        else:
            name, argument = part["pseudo"].lower(), ""
            if part["opens"]:
                closing = closing_bracket(text, end)
                argument, end = text[end:closing].strip(), min(closing + 1, len(text))
            if name in _LOGIC:
                group = _alternatives(argument, depth, is_negated=name == "not")
                is_loose = is_loose or group.is_loose
                if name == "not":
                    negated.extend(group.compounds)
                elif group.compounds or not group.is_loose:
                    among.append(group.compounds)
                weight += (
                    0
                    if name == "where"
                    else max((one.weight for one in group.compounds), default=0)
                )
                continue
            if (
                name == "has"
                and part["opens"]
                and not depth
                and (held := _held(argument)) is not None
            ):
                if not held:
                    return None, end
                holding.append(held)
                weight += max(one.compound.weight for one in held)
                continue
            weight += _OF_A_CLASS
            # Browsers drop rules with prefixes of others.
            if name in _NOT_AT_LOAD or name in _NOT_CSS or name[0] == "-":
                return None, end
            if name == "root":
                attributes.append(ROOT)
            elif not part["opens"] and name in _PLACES:
                places.extend(_PLACES[name])
            elif part["opens"] and _STEPPED.fullmatch(name) and _step(argument) is not None:
                places.append(f"{name}({argument})")
            elif _STEPPED.fullmatch(name) and " of " not in f"{argument} ":
                return None, end
            else:
                is_loose = True
    if end == at:
        return None, end
    parts = (tuple(attributes), tuple(places), tuple(among), tuple(negated), tuple(holding))
    return Compound(frozenset((*keys, *map(_key_of, attributes))), *parts, weight, is_loose), end


def _key_of(condition: Condition) -> str:
    return "[" + " ".join(condition)


@dataclass(frozen=True, slots=True)
class _Group:
    """The alternatives in `:is()` or `:not()` that can match at load; it is loose if one was not understood wholly."""

    compounds: tuple[Compound, ...]
    is_loose: bool = False


def _alternatives(text: str, depth: int, *, is_negated: bool) -> _Group:
    """The compounds of a list.

    A negated alternative that is not understood is left out, and of any other all but its last compound: both
    let the whole match more elements, never fewer.
    """
    if depth >= MAX_DEPTH:
        return _Group((), is_loose=True)
    found = []
    is_loose = False
    for alternative in split_selectors(text):
        compound, end = _compound(alternative, 0, depth + 1)
        if compound is None and (end or not alternative):
            continue  # nothing at load
        is_whole = compound is not None and end == len(alternative) and not compound.is_loose
        if not is_whole:
            is_loose = True
            if is_negated:
                continue
            last = _LAST_COMPOUND.search(alternative)
            compound, end = _compound(alternative, last.end() if last else 0, depth + 1)
            if compound is None or end != len(alternative):
                return _Group((), is_loose=True)
        if compound is not None:
            found.append(compound)
    return _Group(tuple(found), is_loose)


def _held(text: str) -> tuple[Held, ...] | None:
    """What a list in `:has()` asks for, without what no element is at load; None if it is not understood wholly."""
    held = []
    for alternative in split_selectors(text):
        is_child = alternative.startswith(">")
        inner = alternative[1:].lstrip() if is_child else alternative
        compound, end = _compound(inner, 0, 1)
        if end != len(inner) or not inner:
            return None
        if compound is None:
            continue
        if compound.is_loose:
            return None
        held.append(Held(compound, is_child))
    return tuple(held)


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

_SIBLING_COST = 20
_BITS = 512
_UNSEEN = frozenset("." + name for name in UNSEEN_CLASSES)
_BRACKET = re.compile(r"[(\[]")
_PLAIN_NAMES = re.compile(r"[.#][\w-]++")
_NEVER_AT_LOAD = re.compile(r":(?::|hover|focus|active|visited|before|after)")
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
        ids = ("#" + value for value in self.values("id"))
        return frozenset(
            chain(map(str.lower, self.with_tag), chain.from_iterable(self.classes.values()), ids)
        )

    @property
    def declared(self) -> set[tuple[str, str]]:
        """What attributes declare."""
        found = {one[:2] for style in self.values("style") for one in declarations(style)}
        found.update(("background", value.lower()) for value in self.values("bgcolor"))
        return found | {("color", one.get("color", "").lower()) for one in self.with_tag["font"]}


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
        self._holders: dict[Held, set[HtmlElement]] = {}
        self._left = MAX_COMPARISONS
        found = list(self._rules(css))
        self._watched = watched(
            self.contents.declared | {one[:2] for _, ones in found for one in ones}, outer
        )
        for number, (texts, declared) in enumerate(found):
            if kept := tuple(one for one in declared if one[0] in self._watched.names):
                hiding = tuple(one for one in kept if one[:2] in self._watched.suspicious)
                for selector in filter(None, map(parse_selector, texts)):
                    applied = hiding if selector.is_loose else kept
                    if applied:
                        self._add(selector, applied, number, hiding)

    def _rules(self, css: str) -> Iterator[tuple[list[str], tuple[Declaration, ...]]]:
        """The selectors and declarations of the rules that may apply to an element."""
        count = 0
        for selectors, body in rules(css):
            # The names first: most rules of a framework name nothing on the page, and a body is long.
            texts = [text for text in split_selectors(selectors) if self._may_match(text)]
            if texts and (declared := declarations(body)):
                yield texts, declared
                for text in (
                    text for text in texts if any(name in text for name in UNSEEN_CLASSES)
                ):
                    if selector := parse_selector(text):
                        self.unseen -= selector.compounds[0].keys
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
        outside = text[: bracket.start()] if (bracket := _BRACKET.search(text)) else text
        if ":" in outside and _NEVER_AT_LOAD.search(outside):
            return False
        return self._present.issuperset(_PLAIN_NAMES.findall(outside)) or not _UNSEEN.isdisjoint(
            _PLAIN_NAMES.findall(text)
        )

    def _add(
        self,
        selector: Selector,
        declared: tuple[Declaration, ...],
        number: int,
        hiding: tuple[Declaration, ...],
    ) -> None:
        if any(
            key[0] != "[" and key not in self._present
            for one in selector.compounds
            for key in one.keys
        ):
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
        order, is_sure = (weight, number), len(selector.compounds) == 1 and own.is_plain
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
        yield from (
            element for element in contents.with_attribute["class"] if element.get("class") in named
        )
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
                met = frozenset(
                    chain.from_iterable(self._met_by(name, element.get(name, "")) for name in known)
                )
        if parent is None:
            met |= {ROOT}
        own = (tag, classes, identity, links, met)
        return Node(element, attributes, parent, self._named.get(own) or self._name(*own))

    def _met_by(self, name: str, value: str) -> list[Condition]:
        if (met := self._met.get((name, value))) is None:
            conditions = self._conditions[name]
            self._spend(len(conditions))
            if self._left <= 0:
                return list(conditions)
            met = [one for one in conditions if _COMPARISONS[one[1]](value, one[2])]
            if len(self._met) < MAX_CACHED:
                self._met[name, value] = met
        return met

    def _name(
        self,
        tag: str,
        classes: str | None,
        identity: str | None,
        links: bool,
        met: frozenset[Condition],
    ) -> Name:
        mentioned = (
            {"." + name for name in (classes or "").split()}
            | {"#" + (identity or "")}
            | set(map(_key_of, met))
        )
        keys, lower = (
            frozenset((tag.lower(), *(mentioned & (self._mentioned | _UNSEEN)))),
            tag.lower(),
        )
        if (name := self._names.get((keys, links))) is None:
            candidates = list(
                dict.fromkeys(rule for key in ("", *keys) for rule in self._index.get(key, ()))
            )
            self._spend(len(candidates))
            matching = tuple(
                one for one in candidates if keys.issuperset(one.selector.compounds[0].keys)
            )
            bits = reduce(operator.or_, (self._bits.get(key, 0) for key in keys))
            has_ink = "color" in self._watched.names and (links or lower != "a")
            name = Name(
                lower,
                keys,
                bits,
                _DEFAULTS.get(lower, _NO_STYLE) if has_ink else _NO_STYLE,
                matching,
            )
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
            found = tuple(filter(None, (self._judged(rule, node, above) for rule in name.rules)))
        if not found and not inline and not name.defaults:
            return PLAIN
        own = (id(name.defaults), found, inline)
        if (declared := self._declared.get(own)) is None:
            ordered = [
                one for rule in sorted(found, key=lambda rule: rule.order) for one in rule.declared
            ]
            ordered += declarations(inline)
            style = {name: value for name, value, important in ordered if not important}
            style |= {name: value for name, value, important in ordered if important}
            declared = Declared({**name.defaults, **style})
            if len(self._declared) < MAX_CACHED and len(inline) <= LONGEST_CACHED:
                self._declared[own] = declared
        return declared

    def _judged(self, rule: Rule, node: Node, above: int) -> Rule | None:
        """A rule if it applies to `node`; None if not. What may hide text applies also if nothing is left to judge."""
        if rule.is_sure:
            return rule
        if rule.above & above != rule.above:
            return None
        applies = self._applies(rule.selector, node)
        if self._left <= 0:
            return rule.hiding
        return rule if applies else None

    def _applies(self, selector: Selector, node: Node, step: int = 0) -> bool:
        """Whether `selector` matches from its compound `step` outwards, with `node` as the element of that compound."""
        compound = selector.compounds[step]
        self._spend(compound.cost)
        if self._left <= 0 or not compound.matches(node) or not self._holds(compound, node):
            return False
        if step == len(selector.joints):
            return True
        joint = selector.joints[step]
        if joint in (" ", ">"):
            return self._is_inside(selector, node.parent, step + 1, is_direct=joint == ">")
        if joint == "+":
            other = self._before(node)
            return other is not None and self._applies(selector, other, step + 1)
        return self._is_after(selector, node, step + 1)

    def _holds(self, compound: Compound, node: Node) -> bool:
        """Whether the element of `node` has the contents that `compound` asks for."""
        return all(
            any(node.element in self._holders_of(held) for held in group)
            for group in compound.holding
        )

    def _holders_of(self, held: Held) -> set[HtmlElement]:
        """The elements that contain what `:has()` asks for. One walk over the page answers this for all of them."""
        if (holders := self._holders.get(held)) is None:
            holders = self._holders[held] = set()
            self._spend(len(self._nodes) * held.compound.cost)
            for element, node in self._nodes.items() if self._left > 0 else ():
                if not held.compound.matches(node):
                    continue
                above = element.getparent()
                while above is not None and above not in holders:
                    holders.add(above)
                    above = None if held.is_child else above.getparent()
        return holders

    @cached_property
    def _nodes(self) -> dict[HtmlElement, Node]:
        """All elements of the page with their nodes, in document order."""
        nodes: dict[HtmlElement, Node] = {}
        for element in self.contents.elements:
            nodes[element] = self.node(element, nodes.get(element.getparent()))
        return nodes

    def _is_inside(
        self, selector: Selector, parent: Node | None, step: int, *, is_direct: bool
    ) -> bool:
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
            if parent.name.keys >= selector.compounds[step].keys and self._applies(
                selector, parent, step
            ):
                found = True
                break
            parent = parent.parent
        self._spend(len(asked))
        for one in asked:
            one.inside[key] = found
        return found

    def _is_after(self, selector: Selector, node: Node, step: int) -> bool:
        """Whether an element before `node` matches from the compound `step` outwards. Cached for each sibling."""
        first = self._first_match(selector, node, step)
        return first is not None and first < self._position(node)

    def _first_match(self, selector: Selector, node: Node, step: int) -> int | None:
        """The position of the first sibling of `node` that matches from the compound `step` outwards.

        One walk over the siblings answers this for all of them, in a row of any number of `~`.
        """
        holder = node.parent
        if holder is None:
            return None
        key = (selector, step)
        if key not in holder.first_after:
            holder.first_after[key] = None
            for child in holder.children[""]:
                self._spend(_SIBLING_COST)
                if self._left <= 0:
                    return None
                if self._applies(selector, self.node(child, holder), step):
                    holder.first_after[key] = self._position_of(child, holder)
                    break
        return holder.first_after[key]

    def _position(self, node: Node) -> int:
        return 0 if node.parent is None else self._position_of(node.element, node.parent)

    @staticmethod
    def _position_of(element: HtmlElement, parent: Node) -> int:
        return parent.children[""][element]

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
