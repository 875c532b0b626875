"""Removes invisible content from a parsed page, before anything else reads the page.

It considers the page at load, with its markup and its own style sheets: `docs/sanitising.md` lists what it removes and
what it keeps on purpose. One pass in document order, no recursion.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.readers.visibility.cascade import Styles
from websearch_gateway.readers.visibility.collapsible import (
    NEVER_TEXT,
    UNSEEN_CLASSES,
    classes_of,
    controlled_ids,
    is_a_label,
    is_folded,
    opens,
    pieces,
    text_chars,
)
from websearch_gateway.readers.visibility.hidden_rules import Style, is_buried, is_closed
from websearch_gateway.readers.visibility.selectors import Node
from websearch_gateway.readers.visibility.sheets import style_sheets, unfold_shadows
from websearch_gateway.readers.visibility.text_style import TextStyle
from websearch_gateway.readers.visibility.variables import NONE, resolved
from websearch_gateway.text.safety.sanitise import reads_like_orders

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


class _Place(NamedTuple):
    """The state of the survey at an element: its text style, whether it was opened, the variables its children inherit,
    and whether it is inside a folded element that was already checked.
    """

    node: Node | None
    ink: TextStyle
    opened: bool
    variables: Style
    judged: bool


class _Survey:
    """The result of one pass over a tree. `texts` and `tails` hold elements whose own text, or the text after them, is
    invisible; hidden elements in `spared` count as visible.
    """

    def __init__(self, tree: HtmlElement, styles: Styles, spared: Set[object]) -> None:
        self.hidden: list[HtmlElement] = []
        self.noscripts: list[HtmlElement] = []
        self.texts: list[HtmlElement] = []
        self.tails: list[HtmlElement] = []
        self.alts: list[HtmlElement] = []
        self.visible_chars = 0
        self._styles = styles
        self._spared = spared
        self._controlled = controlled_ids(tree)
        self._unseen_classes = UNSEEN_CLASSES - styles.defined
        knows_paint = not any("stylesheet" in (link.get("rel") or "").lower() for link in tree.iter("link"))
        ink = TextStyle(_BLACK, _WHITE) if knows_paint else TextStyle()
        self._path = [_Place(None, ink, False, NONE, False)]
        self._walk(tree)

    def _walk(self, tree: HtmlElement) -> None:
        from lxml.etree import iterwalk

        walk = iterwalk(tree, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                if not self._enter(element):
                    walk.skip_subtree()
                continue
            if event == "end":
                self._path.pop()
            if len(self._path) > 1:
                self._note_tail(element, self._path[-1].ink)

    def _enter(self, element: HtmlElement) -> bool:
        """Whether to look at the content of `element`."""
        parent, paper, opened, variables, judged = self._path[-1]
        node = self._styles.node(element, parent)
        style, variables = resolved(_style(node, self._styles), variables)
        ink = paper.within(style) if style else paper
        shut = not opened and _is_shut(node, style)
        opened = opened or (shut and opens(node, style, self._controlled, bool(self._spared)))
        folded = not judged and is_folded(element)
        self._path.append(_Place(node, ink, opened, variables, judged or folded))
        if node.name.tag in NEVER_TEXT:
            return False
        if node.name.tag == "noscript":
            self.noscripts.append(element)
            return False
        unseen = (shut and not opened) or self._is_unseen(node, style) or (folded and bool(_orders(element)))
        if unseen and not self._is_spared(element, style):
            self.hidden.append(element)
            return False
        self._note_own(element, ink)
        return True

    def _is_spared(self, element: HtmlElement, style: Style) -> bool:
        return element in self._spared or is_a_label(element, style)

    def _is_unseen(self, node: Node, style: Style) -> bool:
        element, tag = node.element, node.name.tag
        if tag in _UNSEEN:
            return True
        if tag == "title" and node.parent is not None:  # of an SVG; the page's own title is in its head
            return True
        if tag == "rp" and text_chars(element) > MAX_BRACKET_CHARS:
            return True
        if tag == "svg" and "0" in (element.get("width"), element.get("height")):
            return True
        if not self._unseen_classes.isdisjoint(classes_of(element)) and not style.keys() >= {"clip", "position"}:
            return True
        return bool(style) and is_buried(style)

    def _note_own(self, element: HtmlElement, ink: TextStyle) -> None:
        if (text := element.text) and not text.isspace():
            if ink.is_invisible:
                self.texts.append(element)
            else:
                self.visible_chars += len(text.strip())
        alt = element.get("alt")
        if alt and (ink.is_invisible or len(alt) > MAX_ALT_CHARS or "://" in alt or reads_like_orders(alt)):
            self.alts.append(element)

    def _note_tail(self, element: HtmlElement, ink: TextStyle) -> None:
        if (tail := element.tail) and not tail.isspace():
            if ink.is_invisible:
                self.tails.append(element)
            else:
                self.visible_chars += len(tail.strip())


def _orders(element: HtmlElement) -> str | None:
    return reads_like_orders(" ".join(pieces(element))[:MAX_JUDGED_CHARS])


def strip_invisible(tree: HtmlElement) -> list[str]:
    """Empty every invisible part of `tree` in place, and describe it in at most three short notes.

    If more text is hidden than shown, scripts will probably reveal it: then the hidden element is kept, with a note.
    `noscript` is also kept if it has more text than all the rest.
    """
    unfold_shadows(tree)
    styles = Styles.of(style_sheets(tree))
    notes = []
    survey, spared = _Survey(tree, styles, frozenset()), set[object]()
    for _ in range(MAX_REVEALED):
        largest = max(survey.hidden, key=text_chars, default=None)
        if largest is None or text_chars(largest) <= survey.visible_chars:
            break
        spared.add(largest)
        survey = _Survey(tree, styles, spared)
    if spared:
        notes.append("Most of the page is hidden until its scripts run; it was read all the same.")
    shown_without_scripts = sum(map(text_chars, survey.noscripts)) > survey.visible_chars
    for element in survey.noscripts:
        if shown_without_scripts:
            element.tag = "div"
        else:
            survey.hidden.append(element)
    if removed := _erase(survey):
        places = "1 place" if len(removed) == 1 else f"{len(removed)} places"
        orders = reads_like_orders(" ".join(removed)[:MAX_JUDGED_CHARS])
        kind = ", some of it like orders to a model" if orders else ""
        notes.append(f"Text that a reader cannot see was left out ({places}{kind}).")
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
