"""The selectors of style sheets: what they ask of an element and of those around it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.pages.visibility.css import closing_bracket, split_selectors, unescape
from websearch_gateway.pages.visibility.hostile import HostileStylesError, cached_if_short

if TYPE_CHECKING:
    from websearch_gateway.pages.visibility.nodes import Node


@dataclass(frozen=True, slots=True, eq=False)
class Selector:
    """Compounds from the element itself outwards; `joints[i]` is the combinator between compound i + 1 and i.

    It is loose if one of its compounds is, or if it has more than `MAX_STEPS`, of which the outermost are left out.
    """

    compounds: tuple[Compound, ...]
    joints: tuple[str, ...]
    is_loose: bool = False

    @property
    def weight(self) -> int:
        """The specificity, as that of its compounds."""
        return sum(compound.weight for compound in self.compounds)


@dataclass(slots=True, eq=False)
class Compound:
    """The conditions on one element: `article.wide#x[hidden]:not(.open)`.

    `keys` has the tag, `.class`, `#id` and `[condition` that a matching element must have. It matches one compound of
    each group in `any_of`, and no one in `none_of`. `holding` has the contents that it must have, one of each group;
    `Styles` judges them. `weight` is its specificity (https://www.w3.org/TR/selectors-4/#specificity-rules) as one
    number. It is loose if some of its conditions are left out, because nothing here can judge them: then it matches
    more elements than it should.
    """

    keys: frozenset[str] = frozenset()
    attributes: tuple[Condition, ...] = ()
    places: tuple[str, ...] = ()
    any_of: tuple[tuple[Compound, ...], ...] = ()
    none_of: tuple[Compound, ...] = ()
    holding: tuple[tuple[Content, ...], ...] = ()
    weight: int = 0
    cost: int = field(init=False, default=1)
    is_plain: bool = field(init=False, default=True)
    is_loose: bool = False

    def __post_init__(self) -> None:
        """Estimate the cost of a match, in comparisons; a check of keys alone is the cheapest."""
        if self.places or self.any_of or self.none_of or self.holding:
            self.is_plain = False
            self.cost += len(self.places) + sum(inner.cost for inner in self._inner)

    def matches(self, node: Node) -> bool:
        """Whether all conditions but `holding` are met."""
        if not node.name.keys.issuperset(self.keys):
            return False
        return self.is_plain or self._matches_beyond_keys(node)

    def _matches_beyond_keys(self, node: Node) -> bool:
        for place in self.places:
            if not _is_at(node, place):
                return False
        for alternatives in self.any_of:
            if not any(compound.matches(node) for compound in alternatives):
                return False
        return not any(compound.matches(node) for compound in self.none_of)

    @property
    def _inner(self) -> tuple[Compound, ...]:
        """The compounds in its brackets."""
        alternatives = chain.from_iterable(self.any_of)
        contents = chain.from_iterable(self.holding)
        return (*self.none_of, *alternatives, *(content.compound for content in contents))

    def parts(self) -> Iterator[Compound]:
        """The compound, and those in its brackets at any depth."""
        yield self
        for inner in self._inner:
            yield from inner.parts()

    @property
    def key(self) -> str:
        """The rarest key that a match requires, in the order id, class, condition, tag; empty if there is none."""
        # As in `:where(.wide)`.
        alone = (group[0].key for group in self.any_of if len(group) == 1)
        return min(filter(None, chain(self.keys, alone)), default="")

    @property
    def subjects(self) -> frozenset[str]:
        """Keys of which a matching element has at least one."""
        if not self.keys:
            for group in self.any_of:  # as in `:where(.wide, .long)`
                if all(compound.keys for compound in group):
                    return frozenset(compound.key for compound in group)
        return frozenset((self.key,))


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """An element that `:has()` asks for: anywhere inside, or a child."""

    compound: Compound
    is_child: bool


class Condition(NamedTuple):
    """A condition on an attribute: its name, the operator of the comparison, and the value to compare with."""

    attribute: str
    comparison: str
    value: str

    @property
    def key(self) -> str:
        """The condition in the format of `Compound.keys`."""
        return "[" + " ".join(self)

    def is_met_by(self, actual: str) -> bool:
        """Whether the value of the attribute meets the condition."""
        return _COMPARISONS[self.comparison](actual, self.value)


ROOT = Condition(":root", "", "")
"""The condition that only the root element meets."""

_COMPARISONS: Mapping[str, Callable[[str, str], bool]] = {
    "": lambda actual, value: True,
    "=": operator.eq,
    "i=": lambda actual, value: actual.lower() == value.lower(),
    "~=": lambda actual, value: value in actual.split(),
    "^=": lambda actual, value: bool(value) and actual.startswith(value),
    "$=": lambda actual, value: bool(value) and actual.endswith(value),
    "*=": lambda actual, value: bool(value) and value in actual,
    "|=": lambda actual, value: actual == value or actual.startswith(value + "-"),
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
    kind, _, text = place.partition("(")
    step = _step(text.removesuffix(")"))
    if step is None:
        return False
    every, offset = step
    steps_on = _number_of(node, kind) - offset
    if not every:
        return steps_on == 0
    return steps_on % every == 0 and steps_on // every >= 0


def _number_of(node: Node, kind: str) -> int:
    """The number of an element among all siblings or those of the same tag, counted from the beginning or the end."""
    if node.parent is None:
        return 1
    tag = node.element.tag if kind.endswith("of-type") else ""
    siblings = node.parent.children[tag]
    position = siblings[node.element]
    return len(siblings) - position if kind.startswith("nth-last") else position + 1


_STEP = re.compile(r"(?:([+-]?\d*+)n)?\s*+([+-]?\s*+\d++)?")
_STEP_NAMES = {"odd": "2n+1", "even": "2n"}


@lru_cache(maxsize=200)
def _step(text: str) -> tuple[int, int] | None:
    """A and B of `An+B` (https://www.w3.org/TR/css-syntax-3/#anb-microsyntax); None if it is invalid."""
    text = text.strip().lower()
    step = _STEP.fullmatch(_STEP_NAMES.get(text, text))
    if not text or step is None:
        return None
    every, offset_text = step.groups()
    offset = int("".join((offset_text or "0").split()))
    if every is None:
        return 0, offset
    return int(every + "1") if every in ("", "+", "-") else int(every), offset


MAX_STEPS = 8
MAX_DEPTH = 3
MAX_SELECTOR_CHARS = 10_000

_COMBINATOR = re.compile(r"\s*+([>+~])\s*+|\s++")


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


def _compound(text: str, at: int, depth: int = 0) -> tuple[Compound | None, int]:
    """The compound that begins at `at`, and its end; None if it is missing or matches no element at load."""
    reader = _CompoundReader(text, at, depth)
    can_match = reader.read()
    return (reader.compound() if can_match else None), reader.end


# A class outweighs all tags that a sheet has room for, and an id all classes.
_OF_A_TAG = 1
_OF_A_CLASS = 1 << 30
_OF_AN_ID = 1 << 60

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


class _CompoundReader:
    """Reads one compound of a selector; `end` is where it has come to."""

    def __init__(self, text: str, at: int, depth: int) -> None:
        self.end = at
        self._text = text
        self._depth = depth
        self._keys: list[str] = []
        self._places: list[str] = []
        self._attributes: list[Condition] = []
        self._any_of: list[tuple[Compound, ...]] = []
        self._none_of: list[Compound] = []
        self._holding: list[tuple[Content, ...]] = []
        self._weight = 0
        self._is_loose = False

    def read(self) -> bool:
        """Read all parts. Returns False if there is none, or if one matches no element at load."""
        start = self.end
        tag = _TAG.match(self._text, start)
        if tag is not None:
            self.end = tag.end()
            if tag[0] != "*":
                self._keys.append(unescape(tag[0]).lower())
                self._weight += _OF_A_TAG
        while part := _PART.match(self._text, self.end):
            self.end = part.end()
            if part["attr"]:
                self._add_attribute(part)
            elif not part["pseudo"]:
                self._keys.append(unescape(part[0]))
                self._weight += _OF_A_CLASS if part["cls"] else _OF_AN_ID
            elif not self._add_pseudo_class(part["pseudo"].lower(), has_list=bool(part["opens"])):
                return False
        return self.end > start

    def compound(self) -> Compound:
        """What was read."""
        return Compound(
            keys=frozenset((*self._keys, *(condition.key for condition in self._attributes))),
            attributes=tuple(self._attributes),
            places=tuple(self._places),
            any_of=tuple(self._any_of),
            none_of=tuple(self._none_of),
            holding=tuple(self._holding),
            weight=self._weight,
            is_loose=self._is_loose,
        )

    def _add_attribute(self, part: re.Match[str]) -> None:
        comparison = part["op"] or ""
        if comparison == "=" and (part["loose"] or "").lower() == "i":
            comparison = "i="
        value = unescape(part["value"] or "").strip("\"'")
        self._attributes.append(Condition(unescape(part["attr"]).lower(), comparison, value))
        self._weight += _OF_A_CLASS

    def _add_pseudo_class(self, name: str, *, has_list: bool) -> bool:
        """Add `:name` or `:name(list)`. Returns False if it matches no element at load."""
        argument = self._list() if has_list else ""
        if name in _LOGIC:
            self._add_alternatives(name, argument)
            return True
        if name == "has" and has_list and not self._depth:
            contents = _contents(argument)
            if contents is not None:
                return self._add_contents(contents)
        self._weight += _OF_A_CLASS
        # Browsers drop rules with prefixes of others.
        if name in _NOT_AT_LOAD or name in _NOT_CSS or name[0] == "-":
            return False
        is_stepped = _STEPPED.fullmatch(name) is not None
        if name == "root":
            self._attributes.append(ROOT)
        elif not has_list and name in _PLACES:
            self._places.extend(_PLACES[name])
        elif has_list and is_stepped and _step(argument) is not None:
            self._places.append(f"{name}({argument})")
        elif is_stepped and " of " not in f"{argument} ":
            return False
        else:
            self._is_loose = True
        return True

    def _list(self) -> str:
        """What stands in the brackets that are open here."""
        start = self.end
        closing = closing_bracket(self._text, start)
        self.end = min(closing + 1, len(self._text))
        return self._text[start:closing].strip()

    def _add_alternatives(self, name: str, argument: str) -> None:
        group = _alternatives(argument, self._depth, is_negated=name == "not")
        self._is_loose = self._is_loose or group.is_loose
        if name == "not":
            self._none_of.extend(group.compounds)
        elif group.compounds or not group.is_loose:
            self._any_of.append(group.compounds)
        if name != "where":
            self._weight += max((compound.weight for compound in group.compounds), default=0)

    def _add_contents(self, contents: tuple[Content, ...]) -> bool:
        if not contents:
            return False
        self._holding.append(contents)
        self._weight += max(content.compound.weight for content in contents)
        return True


@dataclass(frozen=True, slots=True)
class _Group:
    """The alternatives in `:is()` or `:not()` that can match at load; it is loose if one was not understood wholly."""

    compounds: tuple[Compound, ...]
    is_loose: bool = False


_LAST_COMPOUND = re.compile(r".*[\s>+~](?=[^\s>+~])", re.DOTALL)


def _alternatives(text: str, depth: int, *, is_negated: bool) -> _Group:
    """The compounds of a list.

    A negated alternative that is not understood is left out, and of any other all but its last compound: both
    let the whole match more elements, never fewer.
    """
    if depth >= MAX_DEPTH:
        return _Group((), is_loose=True)
    compounds = []
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
            compounds.append(compound)
    return _Group(tuple(compounds), is_loose)


def _contents(text: str) -> tuple[Content, ...] | None:
    """What a list in `:has()` asks for, without what no element is at load; None if it is not understood wholly."""
    contents = []
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
        contents.append(Content(compound, is_child))
    return tuple(contents)
