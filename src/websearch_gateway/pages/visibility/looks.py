"""What declarations make of text: colours, sizes and places, and whether a reader still sees it."""

from __future__ import annotations

import ast
import colorsys
import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import NamedTuple, TypeVar

T = TypeVar("T")

Style = Mapping[str, str]
"""The value of each property that an element declares."""

Declaration = tuple[str, str, bool]
"""A property, its value, and whether it is important."""

LONGEST_CACHED = 300


def cached_if_short(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Cache the results of the last `most` texts, but of no long ones: the author of a page chooses their lengths."""

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(text: str) -> T:
            return cached(text) if len(text) <= LONGEST_CACHED else function(text)

        return call

    return decorated


UNREADABLE_FONT_PX = 2.0
MIN_CONTRAST = 1.1

NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?"

_FONT_SIZE = re.compile(rf"(?:^|\s)({NUMBER}(?:px|em|rem|pt|%|(?=[/\s])))")
_GRADIENT = re.compile(r"(?:linear|radial|conic)-gradient\(((?:[^()]|\([^()]*+\))*+)\)")
_STOP = re.compile(r"(?<![\w#])(#[0-9a-f]{3,8}|[a-z]++\([^()]*+\)|[a-z]++)(?![\w(])")
_OF_INK = frozenset(
    {
        *("color", "text-fill-color", "font", "font-size", "position", "opacity"),
        *("background", "background-image", "background-clip"),
    }
)
_NO_PAINT = frozenset({"none", "inherit", "initial", "unset", "0", "0 0"})

EM_PX = 16.0


class HostileStylesError(Exception):
    """The styles of a page are more work than those of any honest page, so what they hide is unknown."""


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
        ink, paper = self.color, self.background
        if self.size <= UNREADABLE_FONT_PX or self.opacity <= FAINT or (ink and ink[3] <= FAINT):
            return True
        return ink is not None and paper is not None and blends_in(ink, paper)

    def within(self, style: Style) -> TextStyle:
        """The text style of a child element with the style `style` inside a parent with this one."""
        if _OF_INK.isdisjoint(style):
            return self
        own, opacity = self._color(style), fraction(style.get("opacity", "1"))
        # A transparent element is checked as a whole elsewhere, and may be about to fade in.
        shown = self.opacity * opacity if FAINT < opacity < 1 else self.opacity
        return TextStyle(own, self._background(style, own), self._size(style), shown)

    def _size(self, style: Style) -> float:
        value = style.get("font-size")
        if value is None and (shorthand := _FONT_SIZE.search(style.get("font", ""))):
            value = shorthand[1]
        if value is None or value == "inherit":
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

    def _background(self, style: Style, own: Rgba | None) -> Rgba | None:
        if style.get("background-image", "none") not in ("none", "initial", "unset"):
            return _even(style["background-image"])
        fill = style.get("background")
        if fill is None:
            return None if style.get("position") in ("absolute", "fixed") else self.background
        if fill in _NO_PAINT:
            return self.background
        if fill == "currentcolor":
            return own
        if "url(" in fill or "gradient" in fill:
            return _even(fill)
        found = color(fill) or next(filter(None, map(color, fill.split())), None)
        if found is None:
            return None
        return self.background if found[3] <= FAINT else found if found[3] >= 1 - FAINT else None


def _even(image: str) -> Rgba | None:
    """The colour of a gradient with a single colour."""
    gradient = _GRADIENT.fullmatch(image.strip())
    if gradient is None:
        return None
    stops = {
        color(stop) for stop in _STOP.findall(gradient[1]) if stop not in ("to", "at", "deg")
    } - {None}
    first = next(iter(stops), None)
    return first if len(stops) == 1 and first and first[3] >= 1 - FAINT else None


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
            hue, white, black = (
                colorsys.hls_to_rgb(first / 360 % 1, 0.5, 1.0),
                _share(numbers[1]),
                _share(numbers[2]),
            )
            red, green, blue = (channel * max(0.0, 1 - white - black) + white for channel in hue)
            return red, green, blue
        case "lab" | "lch":
            return _grey(((_share(numbers[0]) * _LAB_WHITE + 16) / 116) ** 3)
        case "oklab" | "oklch":
            return _grey(first**3)
    return None


def _grey(luminance: float) -> tuple[float, float, float]:
    """The grey with a given luminance, which is all that contrast needs."""
    channel = (
        luminance * 12.92 if luminance <= 0.0031308 else 1.055 * luminance ** (1 / 2.4) - 0.055
    )
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


def contrast(text: Rgba, background: Rgba) -> float:
    """The contrast ratio of 1..21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    opacity = min(1.0, text[3])
    mixed = (
        front * opacity + back * (1 - opacity)
        for front, back in zip(text[:3], background[:3], strict=True)
    )
    lights = sorted((_luminance(*mixed), _luminance(*background[:3])))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@lru_cache(maxsize=1_000)
def blends_in(text: Rgba, background: Rgba) -> bool:
    """Whether text has hardly any contrast, and no channel that makes it visible all the same, as yellow on white."""
    differences = (
        abs(front - back) * min(1.0, text[3])
        for front, back in zip(text[:3], background[:3], strict=True)
    )
    return contrast(text, background) < MIN_CONTRAST and max(differences) < VISIBLE_CHANNEL


def _luminance(*channels: float) -> float:
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((min(max(c, 0), 1) + 0.055) / 1.055) ** 2.4
        for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


SCREEN = {"width": 1280.0, "height": 800.0}
"""The screen size in CSS pixels for media conditions and lengths."""
MAX_CALCULATED_CHARS = 2_000
"""The longest calculation and the longest list of lengths: some ten times those of real pages."""

MAX_BRACKETS = 60
"""The deepest calculation: Python's parser gives up at 200 brackets, and the walk through its tree needs a stack."""

_PERCENT_OF_SCREEN = SCREEN["width"] / 100
_PX = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 9.6 / 2.54,
    "q": 2.4 / 2.54,
} | {
    "rem": EM_PX,
    "ex": EM_PX / 2,
    "ch": EM_PX / 2,
    "cap": 11.0,
    "ic": EM_PX,
    "lh": 20.0,
    "rlh": 20.0,
    **dict.fromkeys(
        ("vw", "svw", "lvw", "dvw", "vi", "vmax", "cqw", "cqi", "cqmax"), SCREEN["width"] / 100
    ),
    **dict.fromkeys(
        ("vh", "svh", "lvh", "dvh", "vb", "vmin", "cqh", "cqb", "cqmin"), SCREEN["height"] / 100
    ),
}
_LENGTH = re.compile(rf"({NUMBER})([a-z]{{0,5}}|%)")
_LENGTH_IN_TEXT = re.compile(r"(?<![\w.])((?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?)(%|[a-z]{0,5})")
_BRACKETS = re.compile(r"[()]")
_PLAIN_CALCULATION = re.compile(r"(?:[\d.\s+*/(),-]|e[+-]?\d|(?:min|max|clamp)(?=\())++")
_CALCULATE: Mapping[object, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    "min": min,
    "max": max,
    "clamp": lambda *bounds: sorted(bounds)[1],
}


def pixels(value: str, em: float = EM_PX) -> float | None:
    """The length in CSS pixels; None for a percentage or an invalid length. Evaluates `calc()` and the like.

    Raises:
        HostileStylesError: a calculation is longer or deeper than any honest one.
    """
    value = value.strip()
    if "(" in value:
        return _calculated(value, em)
    length = _LENGTH.fullmatch(value)
    if length is None or length[2] == "%":
        return None
    unit = em if length[2] == "em" else _PX.get(length[2])
    return None if unit is None else float(length[1]) * unit


def _calculated(value: str, em: float) -> float | None:
    """https://www.w3.org/TR/css-values-4/#calc-syntax, with units dropped. Percentages are of the screen's width."""
    if len(value) > MAX_CALCULATED_CHARS or _depth(value) > MAX_BRACKETS:
        raise HostileStylesError("a calculation")

    def number(length: re.Match[str]) -> str:
        size = float(length[1]) * _PERCENT_OF_SCREEN if length[2] == "%" else pixels(length[0], em)
        return "?" if size is None else repr(size)

    def calculated(part: ast.expr) -> float:
        match part:
            case ast.Constant(value=float() | int() as size):
                return size
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
                return -calculated(inner) if isinstance(sign, ast.USub) else calculated(inner)
            case ast.BinOp(left=left, op=step, right=right):
                return _CALCULATE[type(step)](calculated(left), calculated(right))
            case ast.Call(func=ast.Name(id=name), args=parts):
                return _CALCULATE[name](*map(calculated, parts))
        raise ValueError("not a calculation")

    text = _LENGTH_IN_TEXT.sub(number, value.replace("calc(", "(")).strip()
    if not _PLAIN_CALCULATION.fullmatch(text):
        return None
    try:
        result = float(calculated(ast.parse(text, mode="eval").body))
    except (
        SyntaxError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        ArithmeticError,
        RecursionError,
    ):
        return None
    return result if math.isfinite(result) else None


def _depth(value: str) -> int:
    """How deep its brackets are."""
    deepest = depth = 0
    for bracket in _BRACKETS.findall(value):
        depth += 1 if bracket == "(" else -1
        deepest = max(deepest, depth)
    return deepest


FAR_PX = 1000.0
FAR_MOVE_PX = 9000.0  # carousels move their slides by thousands of pixels
FAR_SCREENS = 2.0
TINY_PX = 1.0
FEW_PX = 4.0  # no line of text fits into this padding
TIGHTEST_EM = -0.4
MOST_BLUR_PX = 20.0

_NAME_OF_CALL = re.compile(r"[a-z0-9-]*$")
_PLACES_OF_GRADIENT = frozenset(
    {
        *("to", "at", "from", "top", "bottom", "left", "right", "center", "circle", "ellipse"),
        *("closest", "farthest", "side", "corner", "in", "srgb"),
    }
)
"""Words of a gradient that are no colours."""
_BETWEEN = re.compile(r"[\s,]+")

_OF_PLACE = frozenset(
    {"position", "margin", "margin-left", "margin-top", "text-indent", "transform", "translate"}
)
_OF_CLOSING = frozenset(
    {"display", "visibility", "content-visibility", "opacity", "overflow", "contain"}
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
_MOVEMENT = frozenset({"transform", "translate", "transition", "animation", "will-change"})
_AXES = (
    ("left", "width"),
    ("right", "width"),
    ("top", "height"),
    ("bottom", "height"),
    ("inset", "width"),
)
_MARGINS = (("margin", "width"), ("margin-left", "width"), ("margin-top", "width"))
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


@lru_cache(maxsize=1_000)  # the elements of a page share a few styles
def _is_buried(declared: tuple[tuple[str, str], ...]) -> bool:
    style = dict(declared)
    return _vanishes(style) or _is_far_away(style) or _is_clipped(style) or _is_crushed(style)


def is_entering(style: Style) -> bool:
    """Whether an element is transparent only at the start of an animation, as on pages that fade in on scrolling."""
    return (
        _opacity(style) <= FAINT and not style.keys().isdisjoint(_MOVEMENT) and not is_buried(style)
    )


def _opacity(style: Style) -> float:
    return _amount(style.get("opacity", "1"))


def _amount(value: str) -> float:
    """A number or a percentage, which may be calculated."""
    calculated = pixels(value) if "(" in value else None
    return fraction(value) if calculated is None else calculated


def _vanishes(style: Style) -> bool:
    if any(_amount(style[name]) <= FAINT for name in ("zoom", "scale") if name in style):
        return True
    turned = style.get("rotate", "")
    functions = _calls(f"{style.get('filter', '')} {style.get('transform', '')}")
    functions += [(f"rotate{turned[0]}", turned[1:])] if turned[:1] in ("x", "y") else []
    has_back = style.get("backface-visibility") != "hidden"
    if any(_shrinks_to_nothing(name, arguments, has_back) for name, arguments in functions):
        return True
    return _masks_everything(style.get("mask-image", ""))


def _calls(value: str) -> list[tuple[str, str]]:
    """The name and the arguments of each function of a value that stands in no other one."""
    calls: list[tuple[str, str]] = []
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
                calls.append((name, value[start : bracket.start()]))
                start = bracket.end()
    return calls


def _masks_everything(mask: str) -> bool:
    """Whether a mask consists of gradients between clear colours."""
    gradients = _GRADIENT.findall(mask)
    words = [word for gradient in gradients for word in _STOP.findall(gradient)]
    stops = [color(word) for word in words if word not in _PLACES_OF_GRADIENT]
    is_clear = all(stop is not None and stop[3] <= FAINT for stop in stops)
    return len(stops) >= 2 and is_clear and "url(" not in mask


def _shrinks_to_nothing(name: str, arguments: str, has_back: bool) -> bool:
    numbers = [fraction(number) for number in _NUMBERS.findall(arguments)]
    if not numbers:
        return False
    if name in ("opacity", "scale", "scalex", "scaley", "scale3d"):
        return min(abs(number) for number in numbers[:2]) <= FAINT
    if name in ("rotatex", "rotatey"):
        return abs(numbers[0]) in _PARALLEL or (abs(numbers[0]) == 180 and not has_back)
    if name in ("skew", "skewx", "skewy"):
        return any(abs(number) in _PARALLEL for number in numbers)
    if name == "blur":
        return numbers[0] >= MOST_BLUR_PX
    diagonal = {"matrix": (0, 3), "matrix3d": (0, 5)}.get(name, ())
    return (
        bool(diagonal)
        and len(numbers) > 5
        and all(abs(numbers[place]) <= FAINT for place in diagonal)
    )


def _is_far_away(style: Style) -> bool:
    if _OF_PLACE.isdisjoint(style):
        return False
    axes = [
        *(_AXES if style.get("position") in ("absolute", "fixed", "relative") else ()),
        *_MARGINS,
    ]
    placed = (
        (length, side) for name, side in axes if name in style for length in _parts(style[name])[:4]
    )
    if any(_is_outside(length, side) for length, side in placed):
        return True
    indent = style.get("text-indent", "0")
    if abs(pixels(_parts(indent)[0]) or 0) >= FAR_PX or (
        _percentage(indent) >= 100 and _cuts_off(style)
    ):
        return True
    moves = [
        part for name, part in _calls(style.get("transform", "")) if name.startswith("translate")
    ]
    moves.append(style.get("translate", ""))
    return any(_moves_away(length) for move in moves for length in _parts(move))


def _moves_away(length: str) -> bool:
    distance = abs(pixels(length) or 0)
    by_screen = "v" in length and (
        length.startswith(("calc(", "-")) or length.endswith(("vw", "vh"))
    )
    away = by_screen and distance >= SCREEN["height" if "vh" in length else "width"]
    return away or distance >= FAR_MOVE_PX or _percentage(length) >= 1000


def _parts(value: str) -> list[str]:
    """The values of a list, split at blanks and commas outside brackets.

    Raises:
        HostileStylesError: the list is longer than any honest one.
    """
    if len(value) > MAX_CALCULATED_CHARS:
        raise HostileStylesError("a list of lengths")
    parts, depth = [""], 0
    for character in value:
        depth += (character == "(") - (character == ")")
        if depth <= 0 and (character.isspace() or character == ","):
            parts.append("")
        else:
            parts[-1] += character
    return [*filter(None, parts)] or [""]


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
    clip = style.get("clip", "")
    if clip.startswith("rect") and style.get("position") in ("absolute", "fixed"):
        edges = [pixels(edge) for edge in _BETWEEN.split(clip[5:].rstrip(")").strip())]
        if len(edges) == 4 and None not in edges:
            top, right, bottom, left = (edge or 0.0 for edge in edges)
            if bottom - top <= TINY_PX or right - left <= TINY_PX:
                return True
    return any(
        _leaves_nothing(name, arguments) for name, arguments in _calls(style.get("clip-path", ""))
    )


def _leaves_nothing(shape: str, arguments: str) -> bool:
    """Whether a clipping path has no area (https://www.w3.org/TR/css-shapes-1/#basic-shape-functions)."""
    numbers = _NUMBERS.findall(arguments)
    if not numbers:
        return False
    if shape == "inset":
        sides = [*map(_percentage, numbers[:4])]
        sides += [sides[1]] if len(sides) == 3 else sides * 3  # as those of `margin`
        return sides[0] + sides[2] >= 100 or sides[1] + sides[3] >= 100
    if shape in ("circle", "ellipse"):
        return fraction(numbers[0]) == 0
    if shape == "polygon":
        return len({*numbers[::2]}) == 1 or len({*numbers[1::2]}) == 1
    if shape == "rect" and len(numbers) == 4:
        return bool(numbers[0] == numbers[2] or numbers[1] == numbers[3])
    if shape == "xywh" and len(numbers) >= 4:
        return not fraction(numbers[2]) or not fraction(numbers[3])
    return shape == "path" and len(numbers) <= 4


def _is_crushed(style: Style) -> bool:
    """Whether letters overlap completely, or lines have no height."""
    spacing = pixels(style.get("letter-spacing", "0"))
    if spacing is not None and spacing / EM_PX <= TIGHTEST_EM:
        return True
    height = pixels(style.get("line-height", "1"))
    return height is not None and height <= FAINT and _cuts_off(style)


def _has_no_room(style: Style) -> bool:
    contained = style.get("contain", "").split()
    cut = _cuts_off(style) or any(
        word in ("auto", "scroll") for word in style.get("overflow", "").split()
    )
    if not cut and not {"strict", "paint", "content"}.intersection(contained):
        return False
    for padding in (
        part for name in style if name.startswith("padding") for part in _parts(style[name])
    ):
        length = pixels(padding)
        if (fraction(padding) and _NUMBERS.search(padding)) if length is None else length > FEW_PX:
            return False
    sizes = [style[name].strip() for name in ("height", "width") if name in style]
    sides = [0.0 if size.endswith("%") and not fraction(size) else pixels(size) for size in sizes]
    if "strict" in contained and "height" not in style:
        sides.append(0.0)
    return any(side is not None and side <= TINY_PX for side in sides)


_INK = frozenset({"color", "text-fill-color", "background", "background-image", "background-clip"})
_FONT, _ROOM = frozenset({"font", "font-size"}), frozenset({"contain", "height"})
_HELPERS = _MOVEMENT | {
    *(
        "position",
        "overflow",
        "contain",
        "backface-visibility",
        "padding",
        "padding-top",
        "padding-bottom",
    ),
}
"""Properties that hide nothing alone."""
_MOST_VALUES, _MOST_PAIRS = 50, 1_000
_ANYTHING = "var(...)"
_USED = re.compile(r"var\(\s*+(--[\w-]++)")

VARIABLE = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,([^()]*+(?:\([^()]*+\)[^()]*+)*+))?\)")
"""The use of a variable: its name, and what stands for it where it has no value."""


class Watched(NamedTuple):
    """What can hide text on a page: `names` of properties and variables, and the declarations that are `suspicious`.

    An element without suspicious declarations, itself and on those around it, is visible. `links`: it may be hidden by
    the colour of links.
    """

    names: Set[str]
    suspicious: Set[tuple[str, str]]
    links: bool


def watched(declared: Set[tuple[str, str]], outer: TextStyle) -> Watched:
    """What to watch if a page declares no other values than these, and text without declarations looks like `outer`.
    Most pages hide text by one or two properties."""
    variables: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in declared:
        if name[:2] == "--":
            variables[name].append(value)
    possible = {one: _possible(one[1], variables) for one in declared if one[0][:2] != "--"}
    blending, links = _blending(possible, outer)
    suspicious = blending | {
        one for one, values in possible.items() if any(_could_hide(one[0], v) for v in values)
    }
    found = {name for name, _ in suspicious}
    for together in (_INK, _FONT, _ROOM):
        found |= together if not together.isdisjoint(found) else frozenset()
    if found:
        found |= _HELPERS
    asked = [value for name, value in declared if name in found]
    while asked:
        new = {name for name in _USED.findall(asked.pop()) if name not in found}
        found |= new
        asked.extend(value for name in new for value in variables[name])
    return Watched(found, suspicious, links)


def _possible(value: str, variables: Mapping[str, list[str]]) -> list[str]:
    """What a value may be with its variables; _ANYTHING where a variable is a part of it, or has many values."""
    values = [value]
    if "var(" not in value:
        return values
    for one in values:
        if used := VARIABLE.fullmatch(one):
            values += {used[2] or "?", *variables.get(used[1], ())[: _MOST_VALUES + 1]}.difference(
                values
            )
        if len(values) > _MOST_VALUES:
            return [_ANYTHING]
    return [
        one if "var(" not in one else _ANYTHING for one in values if not VARIABLE.fullmatch(one)
    ]


@lru_cache(maxsize=5_000)
def _could_hide(name: str, value: str) -> bool:
    """Whether a declaration hides text alone or together with others, the colour of text aside."""
    if name in _INK:
        return False
    if value == _ANYTHING:
        return True
    if name in _FONT:
        sizes = {
            size: TextStyle(size=size).within({name: value}).size
            for size in (4.0, EM_PX, 10 * EM_PX)
        }
        shrinks = len({*sizes.values()}) > 1 and any(own < size for size, own in sizes.items())
        return shrinks or sizes[EM_PX] <= UNREADABLE_FONT_PX
    if name == "opacity":
        return _opacity({name: value}) < 1
    style = {
        "position": "absolute",
        "overflow": "hidden",
        "backface-visibility": "hidden",
        name: value,
    }
    return is_closed(style) or is_buried(style)


def _blending(
    possible: Mapping[tuple[str, str], list[str]], outer: TextStyle
) -> tuple[Set[tuple[str, str]], bool]:
    """The declarations of colours and backgrounds of which one hides text on another, and whether links are hidden."""
    link = color("#0000ee")
    inks: defaultdict[Rgba | None, list[tuple[str, str]]] = defaultdict(
        list, {outer.color: [], link: []}
    )
    papers: defaultdict[Rgba | None, list[tuple[str, str]]] = defaultdict(
        list, {outer.background: []}
    )
    found: set[tuple[str, str]] = set()
    for declaration in (one for one in possible if one[0] in _INK):
        name = declaration[0]
        found.update(
            [declaration]
            if not {_ANYTHING, "currentcolor"}.isdisjoint(possible[declaration])
            else []
        )
        for value in possible[declaration]:
            style = TextStyle().within({name: value})
            inks[style.color].append(declaration)
            papers[style.background].append(declaration)
    if len(inks) * len(papers) > _MOST_PAIRS:
        return {one for one in possible if one[0] in _INK}, True
    hidden = [
        (ink, paper) for ink in inks for paper in papers if TextStyle(ink, paper).is_invisible
    ]
    for ink, paper in hidden:
        found.update(inks[ink])
        if ink and ink[3] > FAINT:
            found.update(papers[paper])
    return found, any(ink == link for ink, _ in hidden)
