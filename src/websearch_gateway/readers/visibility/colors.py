"""CSS colours, and the contrast between two of them."""

from __future__ import annotations

import colorsys
import re
from functools import lru_cache

from websearch_gateway.readers.visibility.lengths import NUMBER

Rgba = tuple[float, float, float, float]
"""Red, green, blue and opacity, each in 0..1."""

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
_NUMBERS = re.compile(rf"{NUMBER}%?")
_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_LAB_WHITE = 100.0


VISIBLE_CHANNEL = 0.6
"""The least difference of a colour channel, in 0..1, that is visible at any contrast."""


@lru_cache(maxsize=1_000)
def color(value: str) -> Rgba | None:
    """A CSS colour; None if it is invalid or unsupported."""
    value = _NAMED.get(value, value)
    if _HEX.fullmatch(value):
        digits = value[1:] if len(value) > 5 else "".join(digit * 2 for digit in value[1:])
        channels = bytes.fromhex(digits.ljust(8, "f"))
        return channels[0] / 255, channels[1] / 255, channels[2] / 255, channels[3] / 255
    function = _FUNCTION.fullmatch(value)
    if function is None:
        return None
    name, arguments = function[1], function[2]
    if name == "color":
        space, _, arguments = arguments.strip().partition(" ")
        if space not in ("srgb", "display-p3"):
            return None
    numbers = _NUMBERS.findall(arguments)
    if len(numbers) not in (3, 4):
        return None
    painted = _painted(name, numbers)
    return painted and (*painted, fraction(numbers[3]) if len(numbers) == 4 else 1.0)


def _painted(name: str, numbers: list[str]) -> tuple[float, float, float] | None:
    first, second, third = map(fraction, numbers[:3])
    match name:
        case "rgb" | "rgba":
            scale = (1.0 if number.endswith("%") else 1 / 255 for number in numbers)
            return first * next(scale), second * next(scale), third * next(scale)
        case "color":
            return first, second, third
        case "hsl" | "hsla":
            return colorsys.hls_to_rgb(first / 360 % 1, _share(numbers[2]), _share(numbers[1]))
        case "hwb":
            hue, white, black = colorsys.hls_to_rgb(first / 360 % 1, 0.5, 1.0), _share(numbers[1]), _share(numbers[2])
            red, green, blue = (channel * max(0.0, 1 - white - black) + white for channel in hue)
            return red, green, blue
        case "lab" | "lch":
            return _grey(((_share(numbers[0]) * _LAB_WHITE + 16) / 116) ** 3)
        case "oklab" | "oklch":
            return _grey(first**3)
    return None


def _grey(luminance: float) -> tuple[float, float, float]:
    """The grey with a given luminance, which is all that contrast needs."""
    channel = luminance * 12.92 if luminance <= 0.0031308 else 1.055 * luminance ** (1 / 2.4) - 0.055
    return channel, channel, channel


def fraction(value: str) -> float:
    """The number at the beginning of a value, 1 for 100%; 1 if there is none."""
    number = _NUMBERS.match(value)
    if number is None:
        return 1.0
    return float(number[0].rstrip("%")) / (100 if number[0].endswith("%") else 1)


def _share(value: str) -> float:
    """A percentage; the % sign is optional."""
    return fraction(value) / (1 if value.endswith("%") else 100)


@lru_cache(maxsize=1_000)
def contrast(text: Rgba, background: Rgba) -> float:
    """The contrast ratio of 1..21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    opacity = min(1.0, text[3])
    mixed = tuple(front * opacity + back * (1 - opacity) for front, back in zip(text[:3], background[:3], strict=True))
    lights = sorted((_luminance(*mixed), _luminance(*background[:3])))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@lru_cache(maxsize=1_000)
def differs_in_hue(text: Rgba, background: Rgba) -> bool:
    """Whether a channel differs so much that the text is visible in spite of its lightness, as yellow on white."""
    opacity = min(1.0, text[3])
    return any(
        abs(front - back) * opacity >= VISIBLE_CHANNEL for front, back in zip(text[:3], background[:3], strict=True)
    )


def _luminance(*channels: float) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((min(max(c, 0), 1) + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
