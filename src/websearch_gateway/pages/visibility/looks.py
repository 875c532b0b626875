"""What declarations make of text: its colours and size, its place, and whether a reader still sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from websearch_gateway.pages.visibility.colors import FAINT, Rgba, blends_in, color
from websearch_gateway.pages.visibility.lengths import (
    EM_PX,
    NUMBER,
    NUMBERS,
    SCREEN,
    amount,
    fraction,
    lengths_of,
    percentage,
    pixels,
)

Style = Mapping[str, str]
"""The value of each property that an element declares."""


class Declaration(NamedTuple):
    """A property, its value, and whether it is important."""

    name: str
    value: str
    is_important: bool

    @property
    def pair(self) -> tuple[str, str]:
        """The property and its value."""
        return self.name, self.value


UNREADABLE_FONT_PX = 2.0
_FONT_SIZE = re.compile(rf"(?:^|\s)({NUMBER}(?:px|em|rem|pt|%|(?=[/\s])))")
_OF_INK = frozenset(
    {
        *("color", "text-fill-color", "font", "font-size", "position", "opacity"),
        *("background", "background-image", "background-clip"),
    }
)
_NO_PAINT = frozenset({"none", "inherit", "initial", "unset", "0", "0 0"})


@dataclass(frozen=True, slots=True)
class TextStyle:
    """A `color` or `background` of None is unknown and never makes text invisible. `size` is in pixels."""

    color: Rgba | None = None
    background: Rgba | None = None
    size: float = EM_PX
    opacity: float = 1.0

    @property
    def is_invisible(self) -> bool:
        """Whether text in this style cannot be seen or read."""
        if self.size <= UNREADABLE_FONT_PX or self.opacity <= FAINT:
            return True
        if self.color is None:
            return False
        if self.color.opacity <= FAINT:
            return True
        return self.background is not None and blends_in(self.color, self.background)

    def within(self, style: Style) -> TextStyle:
        """The text style of a child element with the style `style` inside a parent with this one."""
        if _OF_INK.isdisjoint(style):
            return self
        own_color = self._color(style)
        own_opacity = fraction(style.get("opacity", "1"))
        # A transparent element is checked as a whole elsewhere, and may be about to fade in.
        is_dimmed = FAINT < own_opacity < 1
        opacity = self.opacity * own_opacity if is_dimmed else self.opacity
        return TextStyle(own_color, self._background(style, own_color), self._size(style), opacity)

    def _size(self, style: Style) -> float:
        value = style.get("font-size")
        if value is None:
            shorthand = _FONT_SIZE.search(style.get("font", ""))
            value = shorthand[1] if shorthand else "inherit"
        if value == "inherit":
            return self.size
        if value.endswith("%"):
            return self.size * fraction(value)
        size = pixels(value, em=self.size)
        return EM_PX if size is None else size

    def _color(self, style: Style) -> Rgba | None:
        if "text" in style.get("background-clip", ""):
            return None
        if "text-fill-color" in style:
            return color(style["text-fill-color"])
        if style.get("color", "inherit") in ("inherit", "currentcolor"):
            return self.color
        return color(style["color"])

    def _background(self, style: Style, own_color: Rgba | None) -> Rgba | None:
        image = style.get("background-image", "none")
        if image not in ("none", "initial", "unset"):
            return _even(image)
        fill = style.get("background")
        if fill is None:
            is_laid_over = style.get("position") in ("absolute", "fixed")
            return None if is_laid_over else self.background
        if fill in _NO_PAINT:
            return self.background
        if fill == "currentcolor":
            return own_color
        if "url(" in fill or "gradient" in fill:
            return _even(fill)
        paint = color(fill) or _first_color(fill)
        if paint is None:
            return None
        if paint.opacity <= FAINT:
            return self.background
        return paint if paint.opacity >= 1 - FAINT else None


def _first_color(shorthand: str) -> Rgba | None:
    """The first word that is a colour."""
    return next(filter(None, map(color, shorthand.split())), None)


_GRADIENT = re.compile(r"(?:linear|radial|conic)-gradient\(((?:[^()]|\([^()]*+\))*+)\)")
_STOP = re.compile(r"(?<![\w#])(#[0-9a-f]{3,8}|[a-z]++\([^()]*+\)|[a-z]++)(?![\w(])")
_DIRECTIONS = frozenset({"to", "at", "deg"})
_PLACES_OF_GRADIENT = frozenset(
    {
        *("to", "at", "from", "top", "bottom", "left", "right", "center", "circle", "ellipse"),
        *("closest", "farthest", "side", "corner", "in", "srgb"),
    }
)
"""Words of a gradient that are no colours."""


def _even(image: str) -> Rgba | None:
    """The colour of a gradient with a single colour."""
    gradient = _GRADIENT.fullmatch(image.strip())
    if gradient is None:
        return None
    stops = {color(stop) for stop in _STOP.findall(gradient[1]) if stop not in _DIRECTIONS}
    stops.discard(None)
    if len(stops) != 1:
        return None
    paint = stops.pop()
    return paint if paint is not None and paint.opacity >= 1 - FAINT else None


_OF_CLOSING = frozenset(
    {"display", "visibility", "content-visibility", "opacity", "overflow", "contain"}
)


def is_closed(style: Style) -> bool:
    """Whether an element is hidden in a way that scripts and controls use for content that they show later."""
    if _OF_CLOSING.isdisjoint(style):
        return False
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("content-visibility") == "hidden"
        or _is_transparent(style)
        or _has_no_room(style)
    )


_OF_PLACE = frozenset(
    {"position", "margin", "margin-left", "margin-top", "text-indent", "transform", "translate"}
)
_OF_BURYING = _OF_PLACE | {
    *(
        "zoom",
        "scale",
        "rotate",
        "filter",
        "mask-image",
        "clip",
        "clip-path",
        "letter-spacing",
        "line-height",
    ),
}


def is_buried(style: Style) -> bool:
    """Whether an element is laid out, but invisible by its position, size, clipping or the like."""
    return not _OF_BURYING.isdisjoint(style) and _is_buried(tuple(style.items()))


@lru_cache(maxsize=1_000)  # the elements of a page share a few styles
def _is_buried(declared: tuple[tuple[str, str], ...]) -> bool:
    style = dict(declared)
    return _vanishes(style) or _is_far_away(style) or _is_clipped(style) or _is_crushed(style)


MOVEMENT = frozenset({"transform", "translate", "transition", "animation", "will-change"})


def is_entering(style: Style) -> bool:
    """Whether an element is transparent only at the start of an animation, as on pages that fade in on scrolling."""
    return _is_transparent(style) and not MOVEMENT.isdisjoint(style) and not is_buried(style)


def _is_transparent(style: Style) -> bool:
    return amount(style.get("opacity", "1")) <= FAINT


def _vanishes(style: Style) -> bool:
    """Whether nothing of an element is left by its scale, rotation, filter or mask."""
    for name in ("zoom", "scale"):
        if name in style and amount(style[name]) <= FAINT:
            return True
    functions = _calls(f"{style.get('filter', '')} {style.get('transform', '')}")
    rotation = style.get("rotate", "")
    if rotation[:1] in ("x", "y"):
        functions.append(_Call(f"rotate{rotation[0]}", rotation[1:]))
    has_back = style.get("backface-visibility") != "hidden"
    if any(_shrinks_to_nothing(function, has_back=has_back) for function in functions):
        return True
    return _masks_everything(style.get("mask-image", ""))


class _Call(NamedTuple):
    """A function in a value, and what stands in its brackets."""

    name: str
    arguments: str


_BRACKETS = re.compile(r"[()]")
_NAME_OF_CALL = re.compile(r"[a-z0-9-]*$")


def _calls(value: str) -> list[_Call]:
    """Each function of a value that stands in no other one."""
    calls: list[_Call] = []
    name = ""
    depth = start = 0
    for bracket in _BRACKETS.finditer(value):
        if bracket[0] == "(":
            depth += 1
            if depth == 1:
                before = _NAME_OF_CALL.search(value, start, bracket.start())
                name, start = before[0] if before else "", bracket.end()
        elif depth:
            depth -= 1
            if depth == 0:
                calls.append(_Call(name, value[start : bracket.start()]))
                start = bracket.end()
    return calls


def _masks_everything(mask: str) -> bool:
    """Whether a mask consists of gradients between clear colours."""
    stops = []
    for gradient in _GRADIENT.findall(mask):
        words = _STOP.findall(gradient)
        stops += [color(word) for word in words if word not in _PLACES_OF_GRADIENT]
    is_clear = all(stop is not None and stop.opacity <= FAINT for stop in stops)
    return len(stops) >= 2 and is_clear and "url(" not in mask


MOST_BLUR_PX = 20.0
_PARALLEL = (90.0, 270.0)
"""The angles at which a surface is seen from its edge."""
_DIAGONAL = {"matrix": (0, 3), "matrix3d": (0, 5)}
"""The places of the scales of width and height in a matrix."""


def _shrinks_to_nothing(function: _Call, *, has_back: bool) -> bool:
    numbers = [fraction(number) for number in NUMBERS.findall(function.arguments)]
    if not numbers:
        return False
    match function.name:
        case "opacity" | "scale" | "scalex" | "scaley" | "scale3d":
            return min(map(abs, numbers[:2])) <= FAINT
        case "rotatex" | "rotatey":
            shows_back = abs(numbers[0]) == 180
            return abs(numbers[0]) in _PARALLEL or (shows_back and not has_back)
        case "skew" | "skewx" | "skewy":
            return any(abs(number) in _PARALLEL for number in numbers)
        case "blur":
            return numbers[0] >= MOST_BLUR_PX
        case "matrix" | "matrix3d":
            scales = _DIAGONAL[function.name]
            return len(numbers) > 5 and all(abs(numbers[place]) <= FAINT for place in scales)
    return False


def _is_far_away(style: Style) -> bool:
    if _OF_PLACE.isdisjoint(style):
        return False
    return _is_placed_outside(style) or _is_indented_away(style) or _is_moved_away(style)


_OFFSETS = {
    "left": "width",
    "right": "width",
    "top": "height",
    "bottom": "height",
    "inset": "width",
}
_MARGINS = {"margin": "width", "margin-left": "width", "margin-top": "width"}
"""The side of the screen that a distance is compared with."""
_OFFSETS_AND_MARGINS = _OFFSETS | _MARGINS


def _is_placed_outside(style: Style) -> bool:
    """Whether an offset or a margin puts an element beyond the screen."""
    is_positioned = style.get("position") in ("absolute", "fixed", "relative")
    sides = _OFFSETS_AND_MARGINS if is_positioned else _MARGINS
    for name, side in sides.items():
        if name not in style:
            continue
        for length in lengths_of(style[name])[:4]:
            if _is_outside(length, side):
                return True
    return False


FAR_PX = 1000.0
FAR_MOVE_PX = 9000.0  # carousels move their slides by thousands of pixels
FAR_SCREENS = 2.0


def _is_outside(length: str, side: str) -> bool:
    distance = pixels(length)
    if distance is None:
        return length.startswith("-") and percentage(length) >= 100 * FAR_SCREENS
    if "v" in length:  # a part of the screen, such as 50vw
        return distance <= -SCREEN[side] or distance >= FAR_SCREENS * SCREEN[side]
    return distance <= -FAR_PX or distance >= FAR_MOVE_PX


def _is_indented_away(style: Style) -> bool:
    indent = style.get("text-indent", "0")
    if abs(pixels(lengths_of(indent)[0]) or 0) >= FAR_PX:
        return True
    return percentage(indent) >= 100 and _cuts_off(style)


def _is_moved_away(style: Style) -> bool:
    functions = _calls(style.get("transform", ""))
    moves = [move.arguments for move in functions if move.name.startswith("translate")]
    moves.append(style.get("translate", ""))
    return any(_moves_away(length) for move in moves for length in lengths_of(move))


def _moves_away(length: str) -> bool:
    distance = abs(pixels(length) or 0)
    if distance >= FAR_MOVE_PX or percentage(length) >= 1000:
        return True
    is_calculated_or_back = length.startswith(("calc(", "-"))
    is_of_screen = "v" in length and (is_calculated_or_back or length.endswith(("vw", "vh")))
    return is_of_screen and distance >= SCREEN["height" if "vh" in length else "width"]


def _cuts_off(style: Style) -> bool:
    return not {"hidden", "clip"}.isdisjoint(style.get("overflow", "").split())


TINY_PX = 1.0
_BETWEEN = re.compile(r"[\s,]+")


def _is_clipped(style: Style) -> bool:
    """Whether what is left by `clip` or `clip-path` has no area."""
    clip = style.get("clip", "")
    if clip.startswith("rect") and style.get("position") in ("absolute", "fixed"):
        edges = [pixels(edge) for edge in _BETWEEN.split(clip[5:].rstrip(")").strip())]
        if len(edges) == 4 and None not in edges:
            top, right, bottom, left = (edge or 0.0 for edge in edges)
            if bottom - top <= TINY_PX or right - left <= TINY_PX:
                return True
    return any(_leaves_nothing(shape) for shape in _calls(style.get("clip-path", "")))


def _leaves_nothing(shape: _Call) -> bool:
    """Whether a clipping path has no area (https://www.w3.org/TR/css-shapes-1/#basic-shape-functions)."""
    numbers = NUMBERS.findall(shape.arguments)
    if not numbers:
        return False
    match shape.name:
        case "inset":
            return _is_inset_away([percentage(number) for number in numbers[:4]])
        case "circle" | "ellipse":
            return fraction(numbers[0]) == 0
        case "polygon":
            is_upright_line = len({*numbers[::2]}) == 1
            is_level_line = len({*numbers[1::2]}) == 1
            return is_upright_line or is_level_line
        case "rect" if len(numbers) == 4:
            top, right, bottom, left = numbers
            return bool(top == bottom or right == left)
        case "xywh" if len(numbers) >= 4:
            width, height = numbers[2:4]
            return not fraction(width) or not fraction(height)
        case "path":
            return len(numbers) <= 4
    return False


def _is_inset_away(sides: list[float]) -> bool:
    """Whether nothing is left inside of one to four percentages, in the order of `margin`."""
    if len(sides) == 3:
        sides = [*sides, sides[1]]
    top, right, bottom, left = (sides * 4)[:4]
    return top + bottom >= 100 or right + left >= 100


TIGHTEST_EM = -0.4


def _is_crushed(style: Style) -> bool:
    """Whether letters overlap completely, or lines have no height."""
    spacing = pixels(style.get("letter-spacing", "0"))
    if spacing is not None and spacing / EM_PX <= TIGHTEST_EM:
        return True
    height = pixels(style.get("line-height", "1"))
    return height is not None and height <= FAINT and _cuts_off(style)


FEW_PX = 4.0
"""No line of text fits into this padding."""


def _has_no_room(style: Style) -> bool:
    """Whether an element that cuts off its content has no height or no width."""
    contained = style.get("contain", "").split()
    overflow = style.get("overflow", "").split()
    is_cut = not {"hidden", "clip", "auto", "scroll"}.isdisjoint(overflow)
    if not is_cut and {"strict", "paint", "content"}.isdisjoint(contained):
        return False
    if _has_padding(style):
        return False
    sides = [_side(style[name].strip()) for name in ("height", "width") if name in style]
    if "strict" in contained and "height" not in style:
        sides.append(0.0)
    return any(side is not None and side <= TINY_PX for side in sides)


def _has_padding(style: Style) -> bool:
    """Whether a line of text may be in the padding."""
    for name in style:
        if not name.startswith("padding"):
            continue
        for padding in lengths_of(style[name]):
            length = pixels(padding)
            is_percentage = length is None and NUMBERS.search(padding) is not None
            if is_percentage and fraction(padding):
                return True
            if length is not None and length > FEW_PX:
                return True
    return False


def _side(size: str) -> float | None:
    """A height or width in pixels; None if it depends on what is around the element."""
    is_nothing_of_parent = size.endswith("%") and not fraction(size)
    return 0.0 if is_nothing_of_parent else pixels(size)
