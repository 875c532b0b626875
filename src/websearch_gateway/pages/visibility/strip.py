"""Removes invisible content from a parsed page, before anything else reads the page.

It considers the page at load, with its markup and its own style sheets: `docs/extraction.md` lists what it removes and
what it keeps on purpose. `Styles` tells what is declared for an element. One pass in document order, no recursion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING

from websearch_gateway.base import UNSEEN_LEFT_OUT, reads_like_orders
from websearch_gateway.pages.visibility.colors import Rgba
from websearch_gateway.pages.visibility.css import style_sheets, unfold_shadows
from websearch_gateway.pages.visibility.hostile import HostileStylesError
from websearch_gateway.pages.visibility.looks import Style, TextStyle, is_entering
from websearch_gateway.pages.visibility.nodes import Node
from websearch_gateway.pages.visibility.styles import PLAIN, UNSEEN_CLASSES, Declared, Styles
from websearch_gateway.pages.visibility.watched import VARIABLE

if TYPE_CHECKING:
    from lxml.html import HtmlElement


MAX_ALT_CHARS = 120
MAX_REVEALED = 5
MAX_BRACKET_CHARS = 3
MAX_JUDGED_CHARS = 100_000
MAX_STEPS = 20_000

NEVER_TEXT = frozenset({"head", "script", "style", "link", "meta"})
# Fallback content for browsers without the feature, and labels for machines.
_UNSEEN_TAGS = frozenset(
    {
        *("template", "mphantom", "annotation", "annotation-xml", "desc", "metadata", "datalist"),
        *("object", "video", "audio", "canvas", "iframe", "noembed", "noframes"),
        "marquee",  # scrolls, often outside the visible area
    }
)
# The declarations for an element are not enough to decide about one with such a tag or attribute.
_TELLING_TAGS = frozenset({"details", "dialog", "rp", "svg", "noscript", "title"}) | _UNSEEN_TAGS
_TELLING = frozenset({"hidden", "popover", "bgcolor", "color", "alt"})
# Bootstrap's class for what is not shown; others show it from a width of the screen on.
CLOSED_CLASS = ".d-none"
_SHOWN_ON_SCREEN = re.compile(r"(?<![\w-])d-(?:sm|md|lg|xl)-(?!none)[a-z]")
_BLACK = Rgba(0.0, 0.0, 0.0, 1.0)
_WHITE = Rgba(1.0, 1.0, 1.0, 1.0)


EXHAUSTED = (
    "The page has too many style rules to check them all: what one of them may hide was left out."
)
HOSTILE = "The page was left out: it has more style rules than can be checked for hidden text."


def strip_invisible(tree: HtmlElement, *, scripts_run: bool = True) -> list[str]:
    """Empty every invisible part of `tree` in place, and describe it in at most three short notes.

    If more text is hidden than visible, scripts will probably reveal it, if `scripts_run`: then the hidden element is
    kept, with a note. `noscript` is also kept if it has more text than all the rest.
    """
    unfold_shadows(tree)
    try:
        return _strip(tree, scripts_run=scripts_run)
    except HostileStylesError:
        for body in list(tree.iter("body")) or [tree]:
            body.clear(keep_tail=True)
        return [HOSTILE]


def _strip(tree: HtmlElement, *, scripts_run: bool) -> list[str]:
    knows_colors = not any(
        "stylesheet" in (link.get("rel") or "").lower() for link in tree.iter("link")
    )
    outer = TextStyle(_BLACK, _WHITE) if knows_colors else TextStyle()
    styles = Styles(style_sheets(tree), tree, outer)
    notes = []
    suspects, spared = _suspects(styles), set[object]()
    survey = _Survey(tree, suspects, styles, spared)
    for _ in range(MAX_REVEALED if scripts_run else 0):
        largest, size = max(survey.hidden_chars.items(), key=itemgetter(1), default=(None, 0))
        if not size or size <= survey.visible_chars:
            break
        spared.add(largest)
        survey = _Survey(tree, suspects, styles, spared)
    if spared:
        notes.append(
            "Most of the page is hidden until its scripts run; its hidden text was read too."
        )
    without_scripts = sum(map(text_chars, survey.noscripts))
    if without_scripts and without_scripts > survey.visible_chars:
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
        notes.append(EXHAUSTED)
    return notes


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """What an element passes on to its children: whether text in its style is invisible (`blind`), whether it is in
    hidden content that the page itself reveals (`opened`), and in a folded element that was already `judged`."""

    text_style: TextStyle
    variables: Style = field(default_factory=dict)
    blind: bool = False
    opened: bool = False
    judged: bool = False

    def passed_on(
        self, text_style: TextStyle, variables: Style, *, opened: bool, judged: bool
    ) -> _State:
        """What a child passes on; the same object if that is the same."""
        before = (self.text_style, self.opened, self.judged)
        if before == (text_style, opened, judged) and variables is self.variables:
            return self
        return _State(text_style, variables, text_style.is_invisible, opened, judged)


_Place = tuple[Node | None, _State]


class _Survey:
    """What is hidden in a tree. `blind` holds elements whose `text`, `tail` or `alt` is invisible; hidden elements in
    `spared` count as visible. Only suspects are looked at, and on their account the elements around them."""

    def __init__(
        self, tree: HtmlElement, suspects: list[HtmlElement], styles: Styles, spared: Set[object]
    ) -> None:
        self.hidden: list[HtmlElement] = []
        self.noscripts: list[HtmlElement] = []
        self.blind: list[tuple[HtmlElement, str]] = []
        self._tree = tree
        self._styles = styles
        self._spared = spared
        self._steps: dict[tuple[_State, Declared], _State] = {}
        self._places: dict[HtmlElement | None, _Place | None] = {
            tree.getparent(): (None, _State(styles.outer))
        }
        self._outermost: list[HtmlElement] = []
        for element in suspects:
            self._place(element)
        self._note_blind()

    @cached_property
    def _controlled(self) -> Set[str]:
        """The ids of the elements that buttons and tabs of the page control."""
        values = chain.from_iterable(
            self._tree.xpath(path, smart_strings=False) for path in _CONTROLS
        )
        return {name.lstrip("#") for value in values for name in value.split()}

    @cached_property
    def hidden_chars(self) -> dict[HtmlElement, int]:
        """The number of characters in each hidden element."""
        return {element: text_chars(element) for element in self.hidden}

    @cached_property
    def visible_chars(self) -> int:
        """The number of visible characters in the tree."""
        hidden = sum(self.hidden_chars.values())
        never_shown = sum(map(text_chars, (*self.noscripts, *self._tree.iter("head"))))
        texts = [getattr(element, part) for element, part in self.blind if part != "alt"]
        return text_chars(self._tree) - hidden - never_shown - sum(map(_chars, texts))

    def _place(self, element: HtmlElement) -> _Place | None:
        """The node of an element and what it passes on; None if it is hidden or inside something hidden."""
        line = []
        while element not in self._places:
            line.append(element)
            element = element.getparent()
        place = self._places[element]
        for element in reversed(line):
            place = self._places[element] = place and self._below(element, *place)
        return place

    def _note_blind(self) -> None:
        """Note the texts and descriptions in the elements that make them invisible."""
        visited: set[HtmlElement] = set()
        for outermost in self._outermost:
            if outermost in visited:
                continue
            for element in outermost.iter():
                visited.add(element)
                tail = (element.tail or "").strip() if element is not outermost else ""
                if tail and self._is_blind(element.getparent()):
                    self.blind.append((element, "tail"))
                if isinstance(element.tag, str) and self._is_blind(element):
                    if (element.text or "").strip():
                        self.blind.append((element, "text"))
                    if element.get("alt"):
                        self.blind.append((element, "alt"))

    def _is_blind(self, element: HtmlElement) -> bool:
        place = self._place(element)
        return place is not None and place[1].blind

    def _below(self, element: HtmlElement, parent: Node | None, outer: _State) -> _Place | None:
        if not isinstance(element.tag, str) or element.tag in NEVER_TEXT:
            return None
        node = self._styles.node(element, parent)
        declared = self._styles.declared(node)
        is_special = (
            node.name.tag in _TELLING_TAGS
            or (bool(node.attributes) and not _TELLING.isdisjoint(node.attributes))
            or not self._styles.unseen.isdisjoint(node.name.keys)
        )
        state = None
        if not is_special:
            state = outer if declared is PLAIN else self._steps.get((outer, declared))
        state = state or self._surveyed(node, declared, outer, is_special=is_special)
        if state is None:
            return None
        if state.blind and not outer.blind:
            self._outermost.append(element)
        return node, state

    def _surveyed(
        self, node: Node, declared: Declared, outer: _State, *, is_special: bool
    ) -> _State | None:
        """What the element of a node passes on; None if it is hidden."""
        element = node.element
        if node.name.tag == "noscript":
            self.noscripts.append(element)
            return None
        own, variables = _resolved(node, declared, outer.variables)
        is_shut = not outer.opened and (own.is_closed or self._is_shut(node))
        is_opened = is_shut and opens(node, own.style, self._controlled, bool(self._spared))
        is_folded = not outer.judged and _is_folded(element)
        is_hidden = (
            (is_shut and not is_opened)
            or self._is_unseen(node, own)
            or (is_folded and _reads_like_orders(element))
        )
        if is_hidden and element not in self._spared and not is_a_label(element, own.style):
            self.hidden.append(element)
            return None
        state = outer.passed_on(
            outer.text_style.within(own.style),
            variables,
            opened=outer.opened or is_opened,
            judged=outer.judged or is_folded,
        )
        if "alt" in node.attributes and not state.blind and _has_told_too_much(element):
            self.blind.append((element, "alt"))
        # For the next element with the same declarations in the same place.
        is_usual = not (is_special or is_shut or is_hidden)
        if is_usual and len(self._steps) < MAX_STEPS:
            self._steps[outer, declared] = state
        return state

    def _is_shut(self, node: Node) -> bool:
        element = node.element
        unshown = CLOSED_CLASS in self._styles.unseen & node.name.keys
        return (
            element.get("hidden", "until-found") != "until-found"
            or element.get("popover") is not None
            or (unshown and not _SHOWN_ON_SCREEN.search(element.get("class", "")))
            or (node.name.tag == "dialog" and element.get("open") is None)
        )

    def _is_unseen(self, node: Node, declared: Declared) -> bool:
        element, tag = node.element, node.name.tag
        unseen = self._styles.unseen & node.name.keys - {CLOSED_CLASS}
        return (
            tag in _UNSEEN_TAGS
            # Of an SVG; the page's own title is in its head.
            or (tag == "title" and node.parent is not None)
            or (tag == "rp" and not is_short(element, MAX_BRACKET_CHARS))
            or (tag == "svg" and "0" in (element.get("width"), element.get("height")))
            or (bool(unseen) and not declared.style.keys() >= {"clip", "position"})
            or declared.is_buried
        )


def _resolved(node: Node, declared: Declared, outer_variables: Style) -> tuple[Declared, Style]:
    """What is declared for a node with the hints of its attributes and the values of its variables, and all variables
    that its children inherit."""
    hints = {}
    if "bgcolor" in node.attributes:
        hints["background"] = node.element.get("bgcolor").lower()
    if node.element.tag == "font" and "color" in node.attributes:
        hints["color"] = node.element.get("color").lower()
    if hints:
        declared = Declared({**hints, **declared.style})
    if not declared.needs_variables:
        return declared, outer_variables
    style, variables = resolved(declared.style, outer_variables)
    return Declared(style), variables


def _is_folded(element: HtmlElement) -> bool:
    """Whether browsers open an element on a click, or when a user searches for its words."""
    if element.get("hidden") == "until-found":
        return True
    return element.tag == "details" and element.get("open") is None


def _suspects(styles: Styles) -> list[HtmlElement]:
    """The elements that may hide something, in document order."""
    contents = styles.contents
    suspects = {*styles.suspects(), *filter(_has_told_too_much, contents.with_attribute["alt"])}
    for tag in _TELLING_TAGS:
        suspects.update(contents.with_tag[tag])
    suspects.update(contents.with_attribute["hidden"], contents.with_attribute["popover"])
    return [element for element in contents.elements if element in suspects]


def _has_told_too_much(element: HtmlElement) -> bool:
    alt = element.get("alt")
    return len(alt) > MAX_ALT_CHARS or "://" in alt or reads_like_orders(alt) is not None


def _erase(survey: _Survey) -> list[str]:
    """Empty the found elements in place, and return the removed texts."""
    removed = []
    for element in survey.hidden:
        removed.append(" ".join(" ".join(pieces(element)).split()))
        element.clear(keep_tail=True)
    for element, part in survey.blind:
        if part == "alt":
            removed.append(element.get("alt"))
            element.set("alt", "")
        else:
            removed.append(getattr(element, part))
            setattr(element, part, None)
    return [text for text in removed if text]


MAX_CONTROL_PARTS = 12
MAX_LABEL_CHARS = 60
MAX_SHORT_PARTS = 50

_CONTROLS = (
    "//@aria-controls",
    "//@popovertarget",
    "//@data-target",
    "//@data-bs-target",
    "//a[@role='tab']/@href",
)
_NAMES = re.compile(
    r"accordion|collaps|expand|tab-?(?:pane|panel|content|body)|tabbed|faq|toggle|(?:read|show|see)-?more|carousel|slide"
    r"|gallery|lightbox",
    re.IGNORECASE,
)
# Where React puts streamed content until its script moves it into place.
_STREAMED = re.compile(r"S:[0-9a-f]+")


def opens(node: Node, style: Style, controlled: Set[str], awaits_scripts: bool) -> bool:
    """Whether the page itself reveals the hidden element `node`, and its text does not read like orders to a model.

    Args:
        awaits_scripts: the page hides most of itself until its scripts run.
    """
    element = node.element
    identity = element.get("id", "")
    names = f"{element.get('class', '')} {identity}"
    is_revealed = (
        identity in controlled
        or element.get("role") == "tabpanel"
        or "-" in node.name.tag  # a custom element that waits for its script
        or is_entering(style)
        or (awaits_scripts and style.get("visibility") == "hidden")
        or _STREAMED.fullmatch(identity) is not None
        or _NAMES.search(names) is not None
        or _follows_control(element)
    )
    return is_revealed and not _reads_like_orders(element)


def _follows_control(element: HtmlElement) -> bool:
    """Whether a button, or what looks like one to scripts, stands right before an element."""
    before = element.getprevious()
    if before is None or not isinstance(before.tag, str):
        return False
    return any(map(_is_control, islice(before.iter("*"), MAX_CONTROL_PARTS)))


def _is_control(element: HtmlElement) -> bool:
    if element.tag == "button" or element.get("role") in ("button", "tab"):
        return True
    is_clicked = element.get("cursor") == "pointer" or element.get("onclick")
    return bool(is_clicked or element.get("aria-expanded"))


def is_a_label(element: HtmlElement, style: Style) -> bool:
    """Whether a hidden element is a short label for something visible, as `alt` is for a picture: of a link or button
    that shows an icon instead, or for screen readers after a part that is hidden from them."""
    if element.tag in ("a", "button"):
        stands_in = "text-indent" in style
    else:
        before = element.getprevious()
        is_after_hidden = before is not None and before.get("aria-hidden") == "true"
        is_for_listeners = not UNSEEN_CLASSES.isdisjoint(element.get("class", "").split())
        stands_in = is_for_listeners and is_after_hidden
    return stands_in and is_short(element, MAX_LABEL_CHARS) and not _reads_like_orders(element)


def text_chars(element: HtmlElement) -> int:
    """The number of characters in an element, without blanks and scripts."""
    from lxml import etree

    scripts = sum(_chars(part.text) for part in element.iter(*NEVER_TEXT) if part.text)
    return (
        _chars(etree.tostring(element, method="text", encoding="unicode", with_tail=False))
        - scripts
    )


def _chars(text: str) -> int:
    return len(text) - sum(map(text.count, " \n\t\r\xa0"))


def _reads_like_orders(element: HtmlElement) -> bool:
    return reads_like_orders(" ".join(pieces(element))) is not None


def is_short(element: HtmlElement, most: int) -> bool:
    """Whether an element has at most `most` characters. One with more than MAX_SHORT_PARTS parts is never short."""
    if next(islice(element.iter(), MAX_SHORT_PARTS, None), None) is not None:
        return False
    return sum(len(piece.strip()) for piece in pieces(element)) <= most


def pieces(element: HtmlElement) -> Iterator[str]:
    """The pieces of text in an element, in order, without scripts."""
    for part in element.iter():
        if isinstance(part.tag, str) and part.text and part.tag not in NEVER_TEXT:
            yield part.text
        if part.tail and part is not element:
            yield part.tail


MAX_ROUNDS = 50
"""How often variables in the values of variables are filled in; real pages need some five rounds."""

MAX_VALUE_CHARS = 2_000
"""The longest value with its variables filled in that can hide text."""

_LONG_AND_HARMLESS = frozenset(
    {"background", "background-image", "mask-image", "transition", "animation", "will-change"}
)
"""Properties with pictures and lists of any length: what is beyond the limit cannot hide text."""


def resolved(style: Style, inherited: Style) -> tuple[Style, Style]:
    """The style with its variables substituted, and all variables that its children inherit.

    Raises:
        HostileStylesError: the values are longer or deeper than those of any honest page.
    """
    own = {name: value for name, value in style.items() if name.startswith("--")}
    variables = {**inherited, **own} if own else inherited
    substituted = {}
    for name, value in style.items():
        substituted[name] = value if name in own else _substituted(name, value, variables)
    return substituted, variables


def _substituted(name: str, value: str, variables: Style) -> str:
    """The value of a property with its variables filled in, as far as they have values."""

    def of_variable(use: re.Match[str]) -> str:
        fallback = use[2] if use[2] is not None else use[0]
        return variables.get(use[1], fallback).strip()

    values_before = {value}
    while "var(" in value:
        value = VARIABLE.sub(of_variable, value)
        if len(value) > MAX_VALUE_CHARS:
            if name in _LONG_AND_HARMLESS:
                return value[:MAX_VALUE_CHARS]
            raise HostileStylesError("a value")
        if value in values_before:  # variables without a value, or that lead back to each other
            break
        values_before.add(value)
        if len(values_before) > MAX_ROUNDS:
            raise HostileStylesError("variables")
    return value
