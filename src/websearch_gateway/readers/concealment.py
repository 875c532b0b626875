"""What makes a text invisible: judgements over the declarations of one element. Pure.

`is_closed` and `is_buried` are about an element with all that is in it; `Ink` is what text inherits (size and colours),
so that a child can be read in a parent that cannot.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

Style = Mapping[str, str]
Rgba = tuple[float, float, float, float]
"""Red, green, blue and opacity, each in 0..1."""

FAINT = 0.05
FAR_PX = 1000.0
FAR_MOVE_PX = 9000.0  # carousels move their slides by thousands of pixels
TINY_PX = 1.0
UNREADABLE_FONT_PX = 2.0
MIN_CONTRAST = 1.1
DEFAULT_FONT_PX = 16.0

_LENGTH = re.compile(r"([+-]?(?:\d++(?:\.\d*+)?|\.\d++))(px|em|rem|ex|ch|pt|vw|vh|%|)")
_UNIT_PX = {"": 1.0, "px": 1.0, "pt": 4 / 3, "vw": 12.8, "vh": 8.0, "rem": 16.0, "ex": 8.0, "ch": 8.0}
_FONT_SIZE = re.compile(r"(?:^|\s)((?:\d++(?:\.\d*+)?|\.\d++)(?:px|em|rem|pt|%|(?=[/\s])))")
_NUMBERS = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)%?")
_FUNCTION = re.compile(r"([a-z0-9-]++)\(([^()]*+)\)")

_OF_INK = frozenset(
    {
        *("color", "text-fill-color", "font", "font-size", "position"),
        *("background", "background-image", "background-clip"),
    }
)
_OF_PLACE = frozenset({"position", "margin", "margin-left", "margin-top", "text-indent", "transform"})
_MOVEMENT = frozenset({"transform", "transition", "animation", "will-change"})

_NAMED = {
    "white": "#fff", "snow": "#fffafa", "ivory": "#fffff0", "ghostwhite": "#f8f8ff", "floralwhite": "#fffaf0",
    "mintcream": "#f5fffa", "azure": "#f0ffff", "whitesmoke": "#f5f5f5", "seashell": "#fff5ee", "black": "#000",
    "red": "#f00", "lime": "#0f0", "blue": "#00f", "yellow": "#ff0", "cyan": "#0ff", "aqua": "#0ff", "magenta": "#f0f",
    "fuchsia": "#f0f", "gray": "#808080", "grey": "#808080", "silver": "#c0c0c0", "lightgray": "#d3d3d3",
    "lightgrey": "#d3d3d3", "maroon": "#800000", "green": "#008000", "navy": "#000080", "olive": "#808000",
    "purple": "#800080", "teal": "#008080", "orange": "#ffa500", "transparent": "#0000",
}  # fmt: skip


def pixels(value: str, em: float = DEFAULT_FONT_PX) -> float | None:
    """The length in CSS pixels; None for what is no plain length or a percentage."""
    length = _LENGTH.fullmatch(value.removeprefix("calc(").removesuffix(")").strip())
    if length is None or length[2] == "%":
        return None
    return float(length[1]) * (em if length[2] == "em" else _UNIT_PX[length[2]])


def is_closed(style: Style) -> bool:
    """Whether an element is hidden the way scripts and controls hide what they show later."""
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("content-visibility") == "hidden"
        or _fraction(style.get("opacity", "1")) <= FAINT
        or _has_no_room(style)
    )


def is_buried(style: Style) -> bool:
    """Whether an element is on the page, yet where or so that nobody sees it."""
    return _vanishes(style) or _is_far_away(style) or _is_clipped(style)


def is_entering(style: Style) -> bool:
    """Whether an element is transparent only at the start of a movement, as on pages that reveal while one scrolls."""
    return (
        _fraction(style.get("opacity", "1")) <= FAINT
        and not style.keys().isdisjoint(_MOVEMENT)
        and not is_buried(style)
    )


def _vanishes(style: Style) -> bool:
    if any(_fraction(style[name]) <= FAINT for name in ("zoom", "scale") if name in style):
        return True
    functions = _FUNCTION.findall(style.get("filter", "")) + _FUNCTION.findall(style.get("transform", ""))
    return any(_shrinks_to_nothing(name, arguments) for name, arguments in functions)


def _shrinks_to_nothing(name: str, arguments: str) -> bool:
    numbers = [_fraction(number) for number in _NUMBERS.findall(arguments)]
    if not numbers:
        return False
    if name in ("opacity", "scale", "scalex", "scaley", "scale3d"):
        return min(abs(number) for number in numbers[:2]) <= FAINT
    if name in ("rotatex", "rotatey"):
        return abs(numbers[0]) in (90.0, 270.0)
    return name == "matrix" and len(numbers) == 6 and abs(numbers[0]) <= FAINT and abs(numbers[3]) <= FAINT


def _fraction(value: str) -> float:
    number = _NUMBERS.match(value)
    if number is None:
        return 1.0
    return float(number[0].rstrip("%")) / (100 if number[0].endswith("%") else 1)


def _is_far_away(style: Style) -> bool:
    if _OF_PLACE.isdisjoint(style):
        return False
    if style.get("position") in ("absolute", "fixed", "relative") and any(
        _is_outside(length) for name in ("left", "top", "right", "bottom", "inset") for length in _lengths(style, name)
    ):
        return True
    if any(_is_outside(length) for name in ("margin", "margin-left", "margin-top") for length in _lengths(style, name)):
        return True
    indent = style.get("text-indent", "0")
    if abs(pixels(indent.split(" ")[0]) or 0) >= FAR_PX or (_percentage(indent) >= 100 and _cuts_off(style)):
        return True
    moves = [part for name, part in _FUNCTION.findall(style.get("transform", "")) if name.startswith("translate")]
    return any(
        abs(pixels(length) or 0) >= FAR_MOVE_PX
        or _percentage(length) >= 1000
        or (length.endswith("vw") and _vw(length))
        for move in moves
        for length in map(str.strip, move.split(","))
    )


def _lengths(style: Style, name: str) -> list[str]:
    return style.get(name, "").split()[:4]


def _is_outside(length: str) -> bool:
    distance = pixels(length)
    return (distance is not None and (distance <= -FAR_PX or distance >= FAR_MOVE_PX)) or length in ("-100vw", "-100vh")


def _percentage(value: str) -> float:
    return abs(_fraction(value)) * 100 if value.strip().endswith("%") else 0.0


def _vw(length: str) -> bool:
    return abs(_fraction(length.removesuffix("vw"))) >= 100


def _cuts_off(style: Style) -> bool:
    return any(word in ("hidden", "clip") for word in style.get("overflow", "").split())


def _is_clipped(style: Style) -> bool:
    clip, path = style.get("clip", ""), style.get("clip-path", "")
    if clip.startswith("rect") and style.get("position") in ("absolute", "fixed"):
        edges = [pixels(edge) for edge in re.split(r"[\s,]+", clip[5:].rstrip(")").strip())]
        if len(edges) == 4 and None not in edges:
            top, right, bottom, left = (edge or 0.0 for edge in edges)
            if bottom - top <= TINY_PX or right - left <= TINY_PX:
                return True
    for name, arguments in _FUNCTION.findall(path):
        numbers = _NUMBERS.findall(arguments)
        if name == "inset" and numbers and all(_percentage(number) >= 50 for number in numbers[:4]):
            return True
        if name in ("circle", "ellipse", "polygon") and numbers and _fraction(numbers[0]) == 0:
            return name != "polygon" or not any(map(_fraction, numbers))
    return False


def _has_no_room(style: Style) -> bool:
    if not _cuts_off(style):
        return False
    padded = any(
        _fraction(number) for name in style if name.startswith("padding") for number in _NUMBERS.findall(style[name])
    )
    sides = [pixels(style[name]) for name in ("height", "width") if name in style]
    return not padded and any(side is not None and side <= TINY_PX for side in sides)


@dataclass(frozen=True, slots=True)
class Ink:
    """What text is written with. A `color` or `background` of None is unknown, and then nothing is held against it."""

    color: Rgba | None = None
    background: Rgba | None = None
    size: float = DEFAULT_FONT_PX

    @property
    def is_invisible(self) -> bool:
        """Whether text in it cannot be seen or read."""
        return self.size <= UNREADABLE_FONT_PX or self._blends_in()

    def _blends_in(self) -> bool:
        if self.color is None:
            return False
        if self.color[3] <= FAINT:
            return True
        return self.background is not None and _contrast(self.color, self.background) < MIN_CONTRAST

    def within(self, style: Style) -> Ink:
        """The ink of an element with this style whose parent's is this one."""
        if _OF_INK.isdisjoint(style):
            return self
        return Ink(self._color(style), self._background(style), self._size(style))

    def _size(self, style: Style) -> float:
        value = style.get("font-size")
        if value is None and "font" in style:
            shorthand = _FONT_SIZE.search(style["font"])
            value = shorthand[1] if shorthand else None
        if value is None or value == "inherit":
            return self.size
        if value.endswith("%"):
            return self.size * _fraction(value)
        size = pixels(value, em=self.size)
        return DEFAULT_FONT_PX if size is None else size

    def _color(self, style: Style) -> Rgba | None:
        if "text" in style.get("background-clip", ""):
            return None
        if "text-fill-color" in style:
            return color(style["text-fill-color"])
        if style.get("color", "inherit") == "inherit":
            return self.color
        return color(style["color"])

    def _background(self, style: Style) -> Rgba | None:
        if style.get("background-image", "none") not in ("none", "initial", "unset"):
            return None
        fill = style.get("background")
        if fill is None:
            return None if style.get("position") in ("absolute", "fixed") else self.background
        if fill in ("none", "inherit", "initial", "unset", "0", "0 0"):
            return self.background
        found = color(fill) or next(filter(None, map(color, fill.split())), None)
        if found is None or "url(" in fill or "gradient" in fill:
            return None
        return self.background if found[3] <= FAINT else found if found[3] >= 1 - FAINT else None


@lru_cache(maxsize=1_000)
def color(value: str) -> Rgba | None:
    """A CSS colour; None for what is none or is not understood."""
    value = _NAMED.get(value, value)
    if value.startswith("#"):
        digits = value[1:]
        if len(digits) in (3, 4):
            digits = "".join(digit * 2 for digit in digits)
        if not re.fullmatch(r"(?:[0-9a-f]{6}|[0-9a-f]{8})", digits):
            return None
        channels = bytes.fromhex(digits.ljust(8, "f"))
        return channels[0] / 255, channels[1] / 255, channels[2] / 255, channels[3] / 255
    function = _FUNCTION.fullmatch(value)
    if function is None:
        return None
    numbers = _NUMBERS.findall(function[2])
    if len(numbers) not in (3, 4) or function[1] not in ("rgb", "rgba", "hsl", "hsla"):
        return None
    opacity = _fraction(numbers[3]) if len(numbers) == 4 else 1.0
    if function[1].startswith("hsl"):
        return (
            *colorsys.hls_to_rgb(_fraction(numbers[0]) / 360 % 1, _fraction(numbers[2]), _fraction(numbers[1])),
            opacity,
        )
    red, green, blue = (_fraction(n) if n.endswith("%") else float(n) / 255 for n in numbers[:3])
    return red, green, blue, opacity


def _contrast(ink: Rgba, paper: Rgba) -> float:
    """The contrast ratio of 1..21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    opacity = ink[3]
    mixed = tuple(i * opacity + p * (1 - opacity) for i, p in zip(ink[:3], paper[:3], strict=True))
    lights = sorted((_luminance(*mixed), _luminance(*paper[:3])))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(*channels: float) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((max(c, 0) + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
