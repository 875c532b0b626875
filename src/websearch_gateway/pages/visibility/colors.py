"""The colours of CSS, and whether text in one can be seen on another."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from websearch_gateway.pages.visibility.lengths import NUMBERS, fraction


class Rgba(NamedTuple):
    """Red, green, blue and opacity, each in 0..1."""

    red: float
    green: float
    blue: float
    opacity: float


FAINT = 0.05
"""The opacity up to which an element counts as invisible."""

# The names used to hide text: pale and dark background colours, and the basic colours.
_NAMED = {
    "white": "#fff", "snow": "#fffafa", "ivory": "#fffff0", "ghostwhite": "#f8f8ff", "floralwhite": "#fffaf0",
    "mintcream": "#f5fffa", "azure": "#f0ffff", "whitesmoke": "#f5f5f5", "seashell": "#fff5ee", "black": "#000",
    "red": "#f00", "lime": "#0f0", "blue": "#00f", "yellow": "#ff0", "cyan": "#0ff", "aqua": "#0ff", "magenta": "#f0f",
    "fuchsia": "#f0f", "gray": "#808080", "grey": "#808080", "silver": "#c0c0c0", "lightgray": "#d3d3d3",
    "lightgrey": "#d3d3d3", "maroon": "#800000", "green": "#008000", "navy": "#000080", "olive": "#808000",
    "purple": "#800080", "teal": "#008080", "orange": "#ffa500", "transparent": "#0000", "aliceblue": "#f0f8ff",
    "antiquewhite": "#faebd7", "beige": "#f5f5dc", "bisque": "#ffe4c4", "blanchedalmond": "#ffebcd",
    "cornsilk": "#fff8dc", "gainsboro": "#dcdcdc", "honeydew": "#f0fff0", "lavender": "#e6e6fa",
    "lavenderblush": "#fff0f5", "lemonchiffon": "#fffacd", "lightcyan": "#e0ffff", "lightyellow": "#ffffe0",
    "lightgoldenrodyellow": "#fafad2", "linen": "#faf0e6", "mistyrose": "#ffe4e1", "oldlace": "#fdf5e6",
    "papayawhip": "#ffefd5", "darkgray": "#a9a9a9", "darkgrey": "#a9a9a9", "dimgray": "#696969", "dimgrey": "#696969",
    "darkslategray": "#2f4f4f", "midnightblue": "#191970", "darkblue": "#00008b", "canvas": "#fff",
    "canvastext": "#000",
}  # fmt: skip

_FUNCTION = re.compile(r"([a-z]++)\(([^()]*+)\)")
_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")


@lru_cache(maxsize=1_000)
def color(value: str) -> Rgba | None:
    """A CSS colour; None if it is invalid or unsupported."""
    value = _NAMED.get(value, value)
    if _HEX.fullmatch(value):
        digits = value[1:] if len(value) > 5 else "".join(digit * 2 for digit in value[1:])
        channels = bytes.fromhex(digits.ljust(8, "f"))
        return Rgba(*(channel / 255 for channel in channels))
    function = _FUNCTION.fullmatch(value)
    if function is None:
        return None
    name, arguments = function[1], function[2]
    if name == "color":
        space, _, arguments = arguments.strip().partition(" ")
        if space not in ("srgb", "display-p3"):
            return None
    numbers = NUMBERS.findall(arguments)
    if len(numbers) not in (3, 4):
        return None
    channels_of_paint = _painted(name, numbers)
    if channels_of_paint is None:
        return None
    opacity = fraction(numbers[3]) if len(numbers) == 4 else 1.0
    return Rgba(*channels_of_paint, opacity)


Channels = tuple[float, float, float]
"""Red, green and blue, each in 0..1."""


def _painted(name: str, numbers: list[str]) -> Channels | None:
    first, second, third = map(fraction, numbers[:3])
    match name:
        case "rgb" | "rgba":
            red, green, blue = map(_channel, numbers[:3])
            return red, green, blue
        case "color":
            return first, second, third
        case "hsl" | "hsla":
            return colorsys.hls_to_rgb(first / 360 % 1, _share(numbers[2]), _share(numbers[1]))
        case "hwb":
            white, black = _share(numbers[1]), _share(numbers[2])
            pure = max(0.0, 1 - white - black)
            red, green, blue = colorsys.hls_to_rgb(first / 360 % 1, 0.5, 1.0)
            return red * pure + white, green * pure + white, blue * pure + white
        case "lab" | "lch":
            return _grey(((_share(numbers[0]) * _LAB_WHITE + 16) / 116) ** 3)
        case "oklab" | "oklch":
            return _grey(first**3)
    return None


_LAB_WHITE = 100.0


def _channel(number: str) -> float:
    """A channel of `rgb()`: a percentage, or a number up to 255."""
    return fraction(number) * (1.0 if number.endswith("%") else 1 / 255)


def _share(value: str) -> float:
    """A percentage; the % sign is optional."""
    return fraction(value) / (1 if value.endswith("%") else 100)


def _grey(luminance: float) -> Channels:
    """The grey with a given luminance, which is all that contrast needs."""
    if luminance <= 0.0031308:
        channel = luminance * 12.92
    else:
        channel = 1.055 * luminance ** (1 / 2.4) - 0.055
    return channel, channel, channel


def contrast(text: Rgba, background: Rgba) -> float:
    """The contrast ratio of 1..21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    opacity = min(1.0, text.opacity)
    mixed = [front * opacity + back * (1 - opacity) for front, back in _channels(text, background)]
    darker, lighter = sorted((_luminance(*mixed), _luminance(*background[:3])))
    return (lighter + 0.05) / (darker + 0.05)


MIN_CONTRAST = 1.1

VISIBLE_CHANNEL = 0.6
"""The least difference of a colour channel, in 0..1, that is visible at any contrast."""


@lru_cache(maxsize=1_000)
def blends_in(text: Rgba, background: Rgba) -> bool:
    """Whether text has hardly any contrast, and no channel that makes it visible all the same, as yellow on white."""
    if contrast(text, background) >= MIN_CONTRAST:
        return False
    opacity = min(1.0, text.opacity)
    differences = [abs(front - back) * opacity for front, back in _channels(text, background)]
    return max(differences) < VISIBLE_CHANNEL


def _channels(text: Rgba, background: Rgba) -> Iterator[tuple[float, float]]:
    """The red, green and blue of both."""
    return zip(text[:3], background[:3], strict=True)


def _luminance(red: float, green: float, blue: float) -> float:
    return 0.2126 * _light(red) + 0.7152 * _light(green) + 0.0722 * _light(blue)


def _light(channel: float) -> float:
    """The light of a channel without the gamma of screens."""
    if channel <= 0.04045:
        return channel / 12.92
    within: float = min(max(channel, 0), 1)
    return float(((within + 0.055) / 1.055) ** 2.4)
