"""Hidden content that the page itself reveals: tabs, accordions, fade-ins, content that scripts move into place.

A reader reaches it by a click or by scrolling, as with `<details>`, and it is often a large part of the page's text.
Text that reads like orders to a model is never treated as such content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import chain, islice
from typing import TYPE_CHECKING

from websearch_gateway.readers.visibility.hidden_rules import Style, is_entering
from websearch_gateway.readers.visibility.selectors import Node
from websearch_gateway.text.sanitise import reads_like_orders

if TYPE_CHECKING:
    from lxml.html import HtmlElement

NEVER_TEXT = frozenset({"head", "script", "style", "link", "meta"})
# Class names of common frameworks for text for screen readers. Their style sheets are rarely part of the page.
UNSEEN_CLASSES = frozenset(
    {
        *("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only"),
        *("element-invisible", "a11y-hidden"),
    }
)
MAX_CONTROL_PARTS = 12
MAX_LABEL_CHARS = 60
MAX_SHORT_PARTS = 50

_CONTROLS = ("//@aria-controls", "//@popovertarget", "//@data-target", "//@data-bs-target", "//a[@role='tab']/@href")
_NAMES = re.compile(
    r"accordion|collaps|expand|tab-?(?:pane|panel|content|body)|tabbed|faq|toggle|(?:read|show|see)-?more|carousel|slide"
    r"|gallery|lightbox",
    re.IGNORECASE,
)
# Where React puts streamed content until its script moves it into place.
_STREAMED = re.compile(r"S:[0-9a-f]+")


def controlled_ids(tree: HtmlElement) -> Set[str]:
    """The ids of the elements that buttons and tabs of the page control."""
    values = chain.from_iterable(tree.xpath(path, smart_strings=False) for path in _CONTROLS)
    return {name.lstrip("#") for value in values for name in value.split()}


def opens(node: Node, style: Style, controlled: Set[str], awaits_scripts: bool) -> bool:
    """Whether the page itself reveals the hidden element `node`, and its text does not read like orders to a model.

    Args:
        awaits_scripts: the page hides most of itself until its scripts run.
    """
    element = node.element
    identity = element.get("id", "")
    return (
        identity in controlled
        or element.get("role") == "tabpanel"
        or "-" in node.name.tag  # a custom element that waits for its script
        or is_entering(style)
        or (awaits_scripts and style.get("visibility") == "hidden")
        or _STREAMED.fullmatch(identity) is not None
        or _has_collapsible_name(element)
        or _follows_a_control(element)
    ) and not reads_like_orders(" ".join(pieces(element)))


def is_folded(element: HtmlElement) -> bool:
    """Whether the element is closed, but browsers open it on a click or when a user searches for its words."""
    return (element.tag == "details" and element.get("open") is None) or element.get("hidden") == "until-found"


def _has_collapsible_name(element: HtmlElement) -> bool:
    return bool(_NAMES.search(element.get("class", "") + " " + element.get("id", "")))


def _follows_a_control(element: HtmlElement) -> bool:
    before = element.getprevious()
    if before is None or not isinstance(before.tag, str):
        return False
    return any(
        part.tag == "button"
        or part.get("aria-expanded")
        or part.get("role") in ("button", "tab")
        or part.get("cursor") == "pointer"
        or part.get("onclick")
        for part in islice(before.iter("*"), MAX_CONTROL_PARTS)
    )


def is_a_label(element: HtmlElement, style: Style) -> bool:
    """Whether a hidden element is a short label for something visible, as `alt` is for a picture.

    Examples: the text of a link or button that shows an icon instead, and a text for screen readers after a part that
    is hidden from them.
    """
    if element.tag in ("a", "button"):
        stands_in = "text-indent" in style
    else:
        before = element.getprevious()
        for_screen_readers = not UNSEEN_CLASSES.isdisjoint(classes_of(element))
        stands_in = for_screen_readers and before is not None and before.get("aria-hidden") == "true"
    return stands_in and is_short(element, MAX_LABEL_CHARS) and not reads_like_orders(" ".join(pieces(element)))


def classes_of(element: HtmlElement) -> list[str]:
    """The class names of an element."""
    names = element.get("class")
    return names.split() if names else []


def text_chars(element: HtmlElement) -> int:
    """The number of characters in an element, without scripts and without blanks at the ends of its pieces."""
    scripts = sum(len(part.text.strip()) for part in element.iter(*NEVER_TEXT) if part.text)
    return sum(len(piece.strip()) for piece in element.itertext()) - scripts


def is_short(element: HtmlElement, most: int) -> bool:
    """Whether `text_chars` is at most `most`. An element with more than MAX_SHORT_PARTS parts is never short."""
    if next(islice(element.iter(), MAX_SHORT_PARTS, None), None) is not None:
        return False
    return text_chars(element) <= most


def pieces(element: HtmlElement) -> Iterator[str]:
    """The pieces of text in an element, in order, without scripts."""
    for part in element.iter():
        if isinstance(part.tag, str) and part.text and part.tag not in NEVER_TEXT:
            yield part.text
        if part.tail and part is not element:
            yield part.tail
