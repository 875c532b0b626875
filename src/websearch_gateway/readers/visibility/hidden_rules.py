"""Rules that decide whether an element and its content are invisible: from its declarations, or as a script shows it
later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from websearch_gateway.readers.visibility.css import EM_PX, FAINT, NUMBER, SCREEN, color, fraction, pixels
from websearch_gateway.readers.visibility.selectors import Node
from websearch_gateway.text.sanitise import reads_like_orders

if TYPE_CHECKING:
    from lxml.html import HtmlElement


Style = Mapping[str, str]

FAR_PX = 1000.0
FAR_MOVE_PX = 9000.0  # carousels move their slides by thousands of pixels
FAR_SCREENS = 2.0
TINY_PX = 1.0
FEW_PX = 4.0  # no line of text fits into this padding
TIGHTEST_EM = -0.4
MOST_BLUR_PX = 20.0

_NUMBERS = re.compile(rf"{NUMBER}%?")
_FUNCTION = re.compile(r"([a-z0-9-]++)\(([^()]*+(?:\([^()]*+\)[^()]*+)*+)\)")
_STOP = re.compile(r"(?:transparent|rgba?\([^()]*+\))")
_BETWEEN = re.compile(r"[\s,]+")

_OF_PLACE = frozenset({"position", "margin", "margin-left", "margin-top", "text-indent", "transform", "translate"})
_OF_CLOSING = frozenset({"display", "visibility", "content-visibility", "opacity", "overflow", "contain"})
_OF_BURYING = _OF_PLACE | {
    *("zoom", "scale", "rotate", "filter", "mask-image", "clip", "clip-path", "letter-spacing", "line-height"),
}
_MOVEMENT = frozenset({"transform", "translate", "transition", "animation", "will-change"})
_AXES = (("left", "width"), ("right", "width"), ("top", "height"), ("bottom", "height"), ("inset", "width"))
_PARALLEL = (90.0, 270.0)


def is_closed(style: Style) -> bool:
    """Whether an element is hidden in a way that scripts and controls use for content that they show later."""
    return not _OF_CLOSING.isdisjoint(style) and (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("content-visibility") == "hidden"
        or _opacity(style) <= FAINT
        or _has_no_room(style)
    )


def is_buried(style: Style) -> bool:
    """Whether an element is laid out, but invisible by its position, size, clipping or the like."""
    return not _OF_BURYING.isdisjoint(style) and _is_buried(tuple(style.items()))


@lru_cache(maxsize=1_000)
def _is_buried(declared: tuple[tuple[str, str], ...]) -> bool:
    """Cached: the elements of a page share a few styles."""
    style = dict(declared)
    return _vanishes(style) or _is_far_away(style) or _is_clipped(style) or _is_crushed(style)


def is_entering(style: Style) -> bool:
    """Whether an element is transparent only at the start of an animation, as on pages that fade in on scrolling."""
    return _opacity(style) <= FAINT and not style.keys().isdisjoint(_MOVEMENT) and not is_buried(style)


def _opacity(style: Style) -> float:
    value = style.get("opacity", "1")
    calculated = pixels(value) if "(" in value else None
    return fraction(value) if calculated is None else calculated


def _vanishes(style: Style) -> bool:
    if any(fraction(style[name]) <= FAINT for name in ("zoom", "scale") if name in style):
        return True
    turned = style.get("rotate", "")
    functions = _FUNCTION.findall(f"{style.get('filter', '')} {style.get('transform', '')}")
    functions += [(f"rotate{turned[0]}", turned[1:])] if turned[:1] in ("x", "y") else []
    if style.get("backface-visibility") == "hidden" and any(
        name in ("rotatex", "rotatey") and abs(_first(arguments)) == 180 for name, arguments in functions
    ):
        return True
    return any(_shrinks_to_nothing(name, arguments) for name, arguments in functions) or _is_masked(style)


def _first(arguments: str) -> float:
    number = _NUMBERS.search(arguments)
    return fraction(number[0]) if number else 0.0


def _shrinks_to_nothing(name: str, arguments: str) -> bool:
    numbers = [fraction(number) for number in _NUMBERS.findall(arguments)]
    if not numbers:
        return False
    if name in ("opacity", "scale", "scalex", "scaley", "scale3d"):
        return min(abs(number) for number in numbers[:2]) <= FAINT
    if name in ("rotatex", "rotatey"):
        return abs(numbers[0]) in _PARALLEL
    if name in ("skew", "skewx", "skewy"):
        return any(abs(number) in _PARALLEL for number in numbers)
    if name == "blur":
        return numbers[0] >= MOST_BLUR_PX
    diagonal = {"matrix": (0, 3), "matrix3d": (0, 5)}.get(name, ())
    return bool(diagonal) and len(numbers) > 5 and all(abs(numbers[place]) <= FAINT for place in diagonal)


def _is_masked(style: Style) -> bool:
    """Whether a mask of one gradient hides everything."""
    mask = style.get("mask-image", "")
    stops = [color(stop) for stop in _STOP.findall(mask)]
    return len(stops) >= 2 and mask.count(",") < 12 and all(stop and stop[3] <= FAINT for stop in stops)


def _is_far_away(style: Style) -> bool:
    if _OF_PLACE.isdisjoint(style):
        return False
    placed = style.get("position") in ("absolute", "fixed", "relative")
    if placed and any(_is_outside(length, side) for name, side in _AXES for length in _lengths(style, name)):
        return True
    margins = [length for name in ("margin", "margin-left", "margin-top") for length in _lengths(style, name)]
    if any(_is_outside(margin, "width") for margin in margins):
        return True
    indent = style.get("text-indent", "0")
    if abs(pixels(_parts(indent)[0]) or 0) >= FAR_PX or (_percentage(indent) >= 100 and _cuts_off(style)):
        return True
    moves = [part for name, part in _FUNCTION.findall(style.get("transform", "")) if name.startswith("translate")]
    moves.append(style.get("translate", ""))
    return any(_moves_away(length) for move in moves for length in _parts(move))


def _moves_away(length: str) -> bool:
    distance = abs(pixels(length) or 0)
    by_screen = length.startswith(("calc(", "-")) or length.endswith(("vw", "vh"))
    screens = by_screen and "v" in length and distance >= SCREEN["height" if "vh" in length else "width"]
    return distance >= FAR_MOVE_PX or _percentage(length) >= 1000 or screens


def _parts(value: str) -> list[str]:
    """The values of a list, split at blanks and commas outside brackets."""
    parts, depth, part = [], 0, ""
    for character in value[:500]:
        depth += (character == "(") - (character == ")")
        if depth <= 0 and (character.isspace() or character == ","):
            parts.append(part)
            part = ""
        else:
            part += character
    return [part for part in (*parts, part) if part] or [""]


def _lengths(style: Style, name: str) -> list[str]:
    return _parts(style[name])[:4] if name in style else []


def _is_outside(length: str, side: str) -> bool:
    distance = pixels(length)
    if distance is None:
        return length.startswith("-") and _percentage(length) >= 100 * FAR_SCREENS
    if length.endswith(("vw", "vh")) or "v" in length:
        return distance <= -SCREEN[side] or distance >= FAR_SCREENS * SCREEN[side]
    return distance <= -FAR_PX or distance >= FAR_MOVE_PX


def _percentage(value: str) -> float:
    return abs(fraction(value)) * 100 if value.strip().endswith("%") else 0.0


def _cuts_off(style: Style) -> bool:
    return any(word in ("hidden", "clip") for word in style.get("overflow", "").split())


def _is_clipped(style: Style) -> bool:
    clip, path = style.get("clip", ""), style.get("clip-path", "")
    if clip.startswith("rect") and style.get("position") in ("absolute", "fixed"):
        edges = [pixels(edge) for edge in _BETWEEN.split(clip[5:].rstrip(")").strip())]
        if len(edges) == 4 and None not in edges and _is_thin([edge or 0.0 for edge in edges]):
            return True
    return any(_leaves_nothing(name, arguments) for name, arguments in _FUNCTION.findall(path))


def _is_thin(edges: list[float]) -> bool:
    top, right, bottom, left = edges
    return bottom - top <= TINY_PX or right - left <= TINY_PX


def _leaves_nothing(shape: str, arguments: str) -> bool:
    """Whether a clipping path has no area (https://www.w3.org/TR/css-shapes-1/#basic-shape-functions)."""
    numbers = _NUMBERS.findall(arguments)
    if not numbers:
        return False
    if shape == "inset":
        top, right, bottom, left = _sides([*map(_percentage, numbers[:4])])
        return top + bottom >= 100 or left + right >= 100
    if shape in ("circle", "ellipse"):
        return fraction(numbers[0]) == 0
    if shape == "polygon":
        return len({*numbers[::2]}) == 1 or len({*numbers[1::2]}) == 1
    if shape == "rect" and len(numbers) == 4:
        return bool(numbers[0] == numbers[2] or numbers[1] == numbers[3])
    if shape == "xywh" and len(numbers) >= 4:
        return not fraction(numbers[2]) or not fraction(numbers[3])
    return shape == "path" and len(numbers) <= 4


def _sides(values: list[float]) -> tuple[float, float, float, float]:
    """One to four values as top, right, bottom and left, like those of `margin`."""
    right = values[min(1, len(values) - 1)]
    return values[0], right, values[2] if len(values) > 2 else values[0], values[3] if len(values) > 3 else right


def _is_crushed(style: Style) -> bool:
    """Whether letters overlap completely, or lines have no height."""
    spacing = pixels(style.get("letter-spacing", "0"))
    if spacing is not None and spacing / EM_PX <= TIGHTEST_EM:
        return True
    height = pixels(style.get("line-height", "1"))
    return height is not None and height <= FAINT and _cuts_off(style)


def _has_no_room(style: Style) -> bool:
    contained = style.get("contain", "").split()
    cut = _cuts_off(style) or any(word in ("auto", "scroll") for word in style.get("overflow", "").split())
    if not cut and not {"strict", "paint", "content"}.intersection(contained):
        return False
    padded = any(_fits_text(part) for name in style if name.startswith("padding") for part in _parts(style[name]))
    sides = [
        0.0 if _is_zero_percent(style[name]) else pixels(style[name]) for name in ("height", "width") if name in style
    ]
    if "strict" in contained and "height" not in style:
        sides.append(0.0)
    return not padded and any(side is not None and side <= TINY_PX for side in sides)


def _fits_text(padding: str) -> bool:
    length = pixels(padding)
    return bool(_NUMBERS.search(padding) and fraction(padding)) if length is None else length > FEW_PX


def _is_zero_percent(length: str) -> bool:
    return length.strip().endswith("%") and not fraction(length)


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
