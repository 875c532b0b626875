"""Removes invisible content from a parsed page, before anything else reads the page.

It considers the page at load, with its markup and its own style sheets: `docs/extraction.md` lists what it removes and
what it keeps on purpose. `Styles` tells which rules apply to an element. One pass in document order, no recursion.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.readers.visibility.css import (
    BETWEEN_COMMAS,
    TextStyle,
    declarations,
    rules,
    style_sheets,
    unfold_shadows,
)
from websearch_gateway.readers.visibility.hidden_rules import (
    NEVER_TEXT,
    UNSEEN_CLASSES,
    Style,
    classes_of,
    controlled_ids,
    is_a_label,
    is_buried,
    is_closed,
    is_folded,
    is_short,
    opens,
    pieces,
    text_chars,
)
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
from websearch_gateway.text.notes import UNSEEN_LEFT_OUT
from websearch_gateway.text.sanitise import reads_like_orders

if TYPE_CHECKING:
    from lxml.html import HtmlElement


MAX_CSS_CHARS = 2_000_000
MAX_RULES = 20_000
MAX_COMPARISONS = 2_000_000
MAX_SHAPES = 20_000
_SIBLING_COST = 20

_NOTHING: Style = {}

_BRACKET = re.compile(r"[(\[]")
_UNSEEN = frozenset("." + name for name in UNSEEN_CLASSES)
_PLAIN_NAMES = re.compile(r"[.#][\w-]++")
_NEVER_AT_LOAD = re.compile(r":(?::|hover|focus|active|visited|before|after)")

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
            # The names first: most rules of a framework name nothing on the page, and a body is long.
            texts = [text for text in BETWEEN_COMMAS.findall(selectors) if styles._may_match(text)]
            if texts and (_MATTERS.search(body.lower()) or "\\" in body):
                for text in texts:
                    count += 1
                    styles._add(text, body, count)
            if count > MAX_RULES:
                styles.exhausted = True
                break
        return styles

    def _add(self, text: str, body: str, number: int) -> None:
        if (selector := parse_selector(text)) is None:
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
        if ":" in outside and _NEVER_AT_LOAD.search(outside):
            return False
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


MAX_ALT_CHARS = 120
MAX_REVEALED = 5
MAX_BRACKET_CHARS = 3
MAX_JUDGED_CHARS = 100_000

# Fallback content for browsers without the feature, and labels for machines.
_UNSEEN_TAGS = frozenset(
    {
        *("template", "mphantom", "annotation", "annotation-xml", "desc", "metadata", "datalist"),
        *("object", "video", "audio", "canvas", "iframe", "noembed", "noframes"),
        "marquee",  # scrolls, often outside the visible area
    }
)
_BLACK = (0.0, 0.0, 0.0, 1.0)
_WHITE = (1.0, 1.0, 1.0, 1.0)
_LINK_BLUE = {"color": "#0000ee"}
_OWN_COLOURS = frozenset({"button", "input", "select", "textarea", "mark"})


_Kind = tuple[str, str | None, str | None, bool, frozenset[Condition]]
"""The properties that decide about most elements: tag, classes, id if a rule mentions ids, whether it is a link, and
the conditions of rules that its attributes meet."""

# A kind is not enough to decide about an element with one of these attributes or tags.
_TELLING = frozenset({"style", "hidden", "popover", "open", "bgcolor", "color", "alt"})
_TELLING_TAGS = frozenset({"details", "rp", "svg", "noscript"}) | _UNSEEN_TAGS | NEVER_TEXT


class _Place(NamedTuple):
    """The state of the survey at an element.

    Attributes:
        blind: whether text in its style is invisible.
        opened: whether it is hidden content that the page itself reveals, or inside such content.
        variables: the CSS variables that its children inherit.
        judged: whether it is inside a folded element that was already checked.
        alike: the places of its visible children by kind. The next child of the kind gets the same place, or one with
            its own node if the position of an element matters to a rule. Elements of one shape with the same text style
            and variables share this mapping; without style rules, all elements that change nothing share it.
    """

    node: Node | None
    text_style: TextStyle
    blind: bool
    opened: bool
    variables: Style
    judged: bool
    alike: dict[_Kind | None, _Place]


class _Survey:
    """The result of one pass over a tree. `texts` and `tails` hold elements whose own text, or the text after them, is
    invisible; hidden elements in `spared` count as visible.
    """

    def __init__(
        self, tree: HtmlElement, telling: list[HtmlElement], styles: Styles, spared: Set[object] = frozenset()
    ) -> None:
        self.hidden: list[HtmlElement] = []
        self.noscripts: list[HtmlElement] = []
        self.texts: list[HtmlElement] = []
        self.tails: list[HtmlElement] = []
        self.alts: list[HtmlElement] = []
        self._tree = tree
        self._styles = styles
        self._spared = spared
        self._unseen_classes = UNSEEN_CLASSES - styles.defined
        knows_colors = not any("stylesheet" in (link.get("rel") or "").lower() for link in tree.iter("link"))
        text_style = TextStyle(_BLACK, _WHITE) if knows_colors else TextStyle()
        self._children: dict[tuple[Shape, TextStyle, bool, int, bool], dict[_Kind | None, _Place]] = {}
        self._walk(telling, {tree.getparent(): _Place(None, text_style, False, False, _NOTHING, False, {})})

    @cached_property
    def _controlled(self) -> Set[str]:
        return controlled_ids(self._tree)

    def _walk(self, telling: list[HtmlElement], places: dict[HtmlElement, _Place]) -> None:
        for element in telling:
            above = places.get(element.getparent())
            if above is None:  # inside an element that is left out as a whole
                continue
            if isinstance(element.tag, str) and element.tag not in NEVER_TEXT:
                kind = self._kind(element)
                known = above.alike.get(kind)
                place = self._like(known, element, above) if known else self._surveyed(element, above, kind)
                if place is not None:
                    places[element] = place
                    if place.blind and _has_text(element.text):
                        self.texts.append(element)
            if above.blind and _has_text(element.tail):
                self.tails.append(element)
        for place in places.values():  # otherwise places that refer to each other keep the page in memory
            place.alike.clear()

    def _kind(self, element: HtmlElement) -> _Kind | None:
        """The kind of `element`; None if a kind is not enough to decide about it."""
        tag = element.tag
        if tag in _TELLING_TAGS:
            return None
        names = element.keys()
        if not names:
            return tag, None, None, False, NO_CONDITIONS
        if not _TELLING.isdisjoint(names):
            return None
        identity = element.get("id") if self._styles.names_ids else None
        return tag, element.get("class"), identity, tag == "a" and "href" in names, self._styles.met(element)

    def _like(self, known: _Place, element: HtmlElement, above: _Place) -> _Place:
        """The place of `element`, which has a sibling of the same kind with the place `known`."""
        if known.node is None or self._styles.by_shape:
            return known
        return _Place(Node(element, above.node, known.node.shape), *known[1:])

    def _surveyed(self, element: HtmlElement, above: _Place, kind: _Kind | None) -> _Place | None:
        """The place of `element`; None if it is hidden."""
        parent, outer, _, opened, variables, judged, alike = above
        node = self._styles.node(element, parent)
        style, variables = resolved(_style_of(node, self._styles), variables)
        text_style = outer.within(style) if style else outer
        shut = not opened and _is_shut(node, style)
        opened = opened or (shut and opens(node, style, self._controlled, bool(self._spared)))
        folded = not judged and is_folded(element)
        if node.name.tag == "noscript":
            self.noscripts.append(element)
            return None
        unseen = (shut and not opened) or self._is_unseen(node, style) or (folded and bool(_orders(element)))
        if unseen and not self._is_spared(element, style):
            self.hidden.append(element)
            return None
        self._note_alternative(element, text_style)
        judged = judged or folded
        if self._styles.has_rules:
            # The variables stay in memory as long as the survey, so no other object gets their id.
            inherited = node.shape, text_style, opened, id(variables), judged
            children = self._children.setdefault(inherited, {})
        else:
            same = not (style or folded or opened is not above.opened)
            children = alike if same else {}
        place = _Place(node, text_style, text_style.is_invisible, opened, variables, judged, children)
        if kind is not None and not (shut or unseen) and self._styles.is_certain(node):
            alike[kind] = place
        return place

    def _is_spared(self, element: HtmlElement, style: Style) -> bool:
        return element in self._spared or is_a_label(element, style)

    def _is_unseen(self, node: Node, style: Style) -> bool:
        element, tag = node.element, node.name.tag
        if tag in _UNSEEN_TAGS:
            return True
        if tag == "title" and node.parent is not None:  # of an SVG; the page's own title is in its head
            return True
        if tag == "rp" and not is_short(element, MAX_BRACKET_CHARS):
            return True
        if tag == "svg" and "0" in (element.get("width"), element.get("height")):
            return True
        if not self._unseen_classes.isdisjoint(classes_of(element)) and not style.keys() >= {"clip", "position"}:
            return True
        return bool(style) and is_buried(style)

    def _note_alternative(self, element: HtmlElement, text_style: TextStyle) -> None:
        alt = element.get("alt")
        if alt and (text_style.is_invisible or len(alt) > MAX_ALT_CHARS or "://" in alt or reads_like_orders(alt)):
            self.alts.append(element)

    def visible_chars(self) -> int:
        """The number of visible characters in the tree."""
        unseen = [*self.hidden, *self.noscripts, *self._tree.iter("head")]
        blind = [element.text for element in self.texts] + [element.tail for element in self.tails]
        return text_chars(self._tree) - sum(map(text_chars, unseen)) - sum(len(text.strip()) for text in blind)


def _telling(tree: HtmlElement) -> list[HtmlElement]:
    """The elements with text or an alternative text in or right after them, in document order; no other can hide any.

    They are some six in ten of the elements of a page.
    """
    holders = set(tree.xpath("//*[@alt]"))
    found = []
    for element in reversed(list(tree.iter())):  # so an element comes after everything in it
        holds = element in holders or (_has_text(element.text) and element.tag not in NEVER_TEXT)
        precedes = _has_text(element.tail)
        if holds or precedes:
            holders.add(element.getparent())
        if holds:
            holders.add(element)
        if holds or precedes or element is tree:
            found.append(element)
    found.reverse()
    return found


def _has_text(text: str | None) -> bool:
    return text is not None and not text.isspace()


def _orders(element: HtmlElement) -> str | None:
    return reads_like_orders(" ".join(pieces(element))[:MAX_JUDGED_CHARS])


def strip_invisible(tree: HtmlElement) -> list[str]:
    """Empty every invisible part of `tree` in place, and describe it in at most three short notes.

    If more text is hidden than visible, scripts will probably reveal it: then the hidden element is kept, with a note.
    `noscript` is also kept if it has more text than all the rest.
    """
    unfold_shadows(tree)
    styles = Styles.of(style_sheets(tree), tree)
    notes = []
    telling, spared = _telling(tree), set[object]()
    survey = _Survey(tree, telling, styles)
    for _ in range(MAX_REVEALED):
        largest = max(survey.hidden, key=text_chars, default=None)
        if largest is None or text_chars(largest) <= survey.visible_chars():
            break
        spared.add(largest)
        survey = _Survey(tree, telling, styles, spared)
    if spared:
        notes.append("Most of the page is hidden until its scripts run; its hidden text was read too.")
    without_scripts = sum(map(text_chars, survey.noscripts))
    if without_scripts and without_scripts > survey.visible_chars():
        for element in survey.noscripts:
            element.tag = "div"
    else:
        survey.hidden += survey.noscripts
    if removed := _erase(survey):
        places = "1 place" if len(removed) == 1 else f"{len(removed)} places"
        orders = reads_like_orders(" ".join(removed)[:MAX_JUDGED_CHARS])
        kind = ", some of it reads like orders to a model" if orders else ""
        notes.append(f"{UNSEEN_LEFT_OUT} ({places}{kind}).")
    if styles.exhausted:
        notes.append("The page has too many style rules to check them all for hidden text.")
    return notes


def _style_of(node: Node, styles: Styles) -> Style:
    """The declarations for `node`, over the defaults of browsers and legacy attributes."""
    style = styles.declared(node)
    element = node.element
    if node.name.tag == "a" and element.get("href"):
        style = {**_LINK_BLUE, **style}
    elif node.name.tag in _OWN_COLOURS:
        style = {"color": "unknown", "background": "unknown", **style}
    elif node.name.tag == "font" and (tint := element.get("color")):
        style = {"color": tint.lower(), **style}
    if paint := element.get("bgcolor"):
        style = {"background": paint.lower(), **style}
    return style


def _is_shut(node: Node, style: Style) -> bool:
    element = node.element
    if element.get("hidden", "until-found") != "until-found" or element.get("popover") is not None:
        return True
    if node.name.tag == "dialog" and element.get("open") is None:
        return True
    return bool(style) and is_closed(style)


def _erase(survey: _Survey) -> list[str]:
    """Empty the found elements in place, and return the removed texts."""
    removed = []
    for element in survey.hidden:
        removed.append(" ".join(" ".join(pieces(element)).split()))
        element.clear(keep_tail=True)
    for element in survey.texts:
        removed.append(element.text)
        element.text = None
    for element in survey.tails:
        removed.append(element.tail)
        element.tail = None
    for element in survey.alts:
        removed.append(element.get("alt"))
        element.set("alt", "")
    return [text for text in removed if text]
