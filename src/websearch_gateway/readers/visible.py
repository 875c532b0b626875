"""Takes out of a parsed page what nobody sees who looks at it, before anything else reads the page.

What counts is the page at load, as its markup and its own style sheets paint it: `docs/sanitising.md` has the list, and
what is kept on purpose. One pass in document order, no recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from websearch_gateway.readers.cascade import Node, Styles
from websearch_gateway.readers.concealment import Ink, is_buried, is_closed
from websearch_gateway.readers.css import on_screen
from websearch_gateway.readers.disclosure import NEVER_TEXT, controlled_ids, opens, pieces, text_chars
from websearch_gateway.text.sanitise import reads_like_orders

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_ALT_CHARS = 120
MAX_REVEALED = 5
MAX_JUDGED_CHARS = 100_000

# Content that browsers show only when they lack the feature, and labels for machines.
_UNSEEN = frozenset(
    {
        *("template", "annotation", "annotation-xml", "desc", "metadata", "datalist"),
        *("object", "video", "audio", "canvas", "iframe", "noembed", "noframes"),
    }
)
# Names that the common frameworks give to text for screen readers only. Their style sheets are rarely in the page.
_UNSEEN_CLASSES = frozenset(
    {
        *("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only"),
        *("element-invisible", "a11y-hidden"),
    }
)
_BLACK = (0.0, 0.0, 0.0, 1.0)
_WHITE = (1.0, 1.0, 1.0, 1.0)
_LINK_BLUE = {"color": "#0000ee"}
_OWN_COLOURS = frozenset({"button", "input", "select", "textarea", "mark"})


@dataclass(slots=True)
class _Survey:
    """What one pass found. `texts` and `tails` hold elements whose own text, or the text behind them, is invisible."""

    hidden: list[HtmlElement] = field(default_factory=list)
    noscripts: list[HtmlElement] = field(default_factory=list)
    texts: list[HtmlElement] = field(default_factory=list)
    tails: list[HtmlElement] = field(default_factory=list)
    alts: list[HtmlElement] = field(default_factory=list)
    visible_chars: int = 0


def strip_invisible(tree: HtmlElement) -> list[str]:
    """Empty every part of `tree` that a reader cannot see, in place, and say so in at most three short notes.

    When more text is hidden than shown, scripts are meant to reveal it: then the hidden element is kept, with a note.
    So is `noscript` when it holds more than all the rest.
    """
    styles = Styles.of(_style_sheets(tree))
    notes = []
    survey, spared = _survey(tree, styles, frozenset()), set[object]()
    for _ in range(MAX_REVEALED):
        largest = max(survey.hidden, key=text_chars, default=None)
        if largest is None or text_chars(largest) <= survey.visible_chars:
            break
        spared.add(largest)
        survey = _survey(tree, styles, spared)
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


def _style_sheets(tree: HtmlElement) -> Iterator[str]:
    for sheet in tree.iter("style"):
        parent = sheet.getparent()
        if sheet.text and on_screen(sheet.get("media", "")) and (parent is None or parent.tag != "noscript"):
            yield sheet.text


def _survey(tree: HtmlElement, styles: Styles, spared: Set[object]) -> _Survey:
    from lxml.etree import iterwalk

    found = _Survey()
    knows_paint = not any("stylesheet" in (link.get("rel") or "").lower() for link in tree.iter("link"))
    controlled = controlled_ids(tree)
    path: list[tuple[Node | None, Ink, bool]] = [(None, Ink(_BLACK, _WHITE) if knows_paint else Ink(), False)]
    walk = iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        parent, paper, opened = path[-1]
        if event == "end":
            if parent is not None:
                styles.leave(parent)
            path.pop()
            parent, paper, _ = path[-1]
            if parent is not None:
                _note_tail(element, paper, found)
            continue
        if event != "start":
            _note_tail(element, paper, found)
            continue
        node = Node(element, parent)
        style = _style(node, styles)
        ink = paper.within(style) if style else paper
        shut = not opened and _is_shut(node, style)
        opened = opened or (shut and opens(node, style, controlled, bool(spared)))
        path.append((node, ink, opened))
        styles.enter(node)
        if node.tag in NEVER_TEXT:
            walk.skip_subtree()
        elif node.tag == "noscript":
            found.noscripts.append(element)
            walk.skip_subtree()
        elif element not in spared and ((shut and not opened) or _is_unseen(node, style, styles)):
            found.hidden.append(element)
            walk.skip_subtree()
        else:
            _note_own(element, ink, found)
    return found


def _style(node: Node, styles: Styles) -> dict[str, str]:
    """What is declared for `node`, with what browsers and old attributes say beneath it."""
    style = styles.declared(node)
    element = node.element
    if node.tag == "a" and element.get("href"):
        style = _LINK_BLUE | style
    elif node.tag in _OWN_COLOURS:
        style = {"color": "unknown", "background": "unknown"} | style
    elif node.tag == "font" and (tint := element.get("color")):
        style = {"color": tint.lower()} | style
    if paint := element.get("bgcolor"):
        style = {"background": paint.lower()} | style
    return style


def _is_unseen(node: Node, style: dict[str, str], styles: Styles) -> bool:
    element = node.element
    if node.tag in _UNSEEN or (
        node.tag == "title" and node.parent is not None
    ):  # a drawing's; the page's is in its head
        return True
    if node.tag == "svg" and "0" in (element.get("width"), element.get("height")):
        return True
    if not style.keys() >= {"clip", "position"} and node.classes & _UNSEEN_CLASSES - styles.defined:
        return True
    return bool(style) and is_buried(style)


def _is_shut(node: Node, style: dict[str, str]) -> bool:
    element = node.element
    if element.get("hidden", "until-found") != "until-found" or (node.tag == "dialog" and element.get("open") is None):
        return True
    return bool(style) and is_closed(style)


def _note_own(element: HtmlElement, ink: Ink, found: _Survey) -> None:
    if element.text and not element.text.isspace():
        if ink.is_invisible:
            found.texts.append(element)
        else:
            found.visible_chars += len(element.text.strip())
    alt = element.get("alt")
    if alt and (ink.is_invisible or len(alt) > MAX_ALT_CHARS or "://" in alt or reads_like_orders(alt)):
        found.alts.append(element)


def _note_tail(element: HtmlElement, ink: Ink, found: _Survey) -> None:
    if element.tail and not element.tail.isspace():
        if ink.is_invisible:
            found.tails.append(element)
        else:
            found.visible_chars += len(element.tail.strip())


def _erase(survey: _Survey) -> list[str]:
    """Empty what was found, in place, and return the texts that were lost."""
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
