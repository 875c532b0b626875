"""Removes invisible content from a parsed page, before anything else reads the page.

It considers the page at load, with its markup and its own style sheets: `docs/extraction.md` lists what it removes and
what it keeps on purpose. One pass in document order, no recursion.
"""

from __future__ import annotations

from collections.abc import Set
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.readers.visibility.cascade import NONE, Styles, resolved
from websearch_gateway.readers.visibility.css import style_sheets, unfold_shadows
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
from websearch_gateway.readers.visibility.selectors import NO_CONDITIONS, Condition, Node, Shape
from websearch_gateway.readers.visibility.text_style import TextStyle
from websearch_gateway.text.notes import UNSEEN_LEFT_OUT
from websearch_gateway.text.sanitise import reads_like_orders

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_ALT_CHARS = 120
MAX_REVEALED = 5
MAX_BRACKET_CHARS = 3
MAX_JUDGED_CHARS = 100_000

# Fallback content for browsers without the feature, and labels for machines.
_UNSEEN = frozenset(
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
_TELLING_TAGS = frozenset({"details", "rp", "svg", "noscript"}) | _UNSEEN | NEVER_TEXT


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
        self._walk(telling, {tree.getparent(): _Place(None, text_style, False, False, NONE, False, {})})

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
        style, variables = resolved(_style(node, self._styles), variables)
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
        if tag in _UNSEEN:
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


def _style(node: Node, styles: Styles) -> Style:
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
