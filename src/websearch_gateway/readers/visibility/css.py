"""CSS: declarations, style sheets, media queries, and the colours and lengths that make text unreadable."""

from __future__ import annotations

import base64
import binascii
import colorsys
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote_to_bytes

if TYPE_CHECKING:
    from lxml.html import HtmlElement


Style = Mapping[str, str]

T = TypeVar("T")

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
        return self.size <= UNREADABLE_FONT_PX or self.opacity <= FAINT or self._blends_in()

    def _blends_in(self) -> bool:
        if self.color is None:
            return False
        if self.color[3] <= FAINT:
            return True
        background = self.background
        if background is None or contrast(self.color, background) >= MIN_CONTRAST:
            return False
        return not differs_in_hue(self.color, background)

    def within(self, style: Style) -> TextStyle:
        """The text style of a child element with the style `style` inside a parent with this one."""
        if _OF_INK.isdisjoint(style):
            return self
        own = self._color(style)
        return TextStyle(own, self._background(style, own), self._size(style), self._opacity(style))

    def _opacity(self, style: Style) -> float:
        # A transparent element is checked as a whole elsewhere, and may be about to fade in.
        opacity = fraction(style.get("opacity", "1"))
        return self.opacity * opacity if FAINT < opacity < 1 else self.opacity

    def _size(self, style: Style) -> float:
        value = style.get("font-size")
        if value is None and "font" in style:
            shorthand = _FONT_SIZE.search(style["font"])
            value = shorthand[1] if shorthand else None
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
    stops = {color(stop) for stop in _STOP.findall(gradient[1]) if stop not in ("to", "at", "deg")} - {None}
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


SCREEN = {"width": 1280.0, "height": 800.0}
"""The screen size in CSS pixels for media conditions and lengths."""
MAX_CALCULATED_CHARS = 120
_PERCENT_OF_SCREEN = SCREEN["width"] / 100
_PX = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54} | {
    "rem": EM_PX,
    "ex": EM_PX / 2,
    "ch": EM_PX / 2,
    "cap": 11.0,
    "ic": EM_PX,
    "lh": 20.0,
    "rlh": 20.0,
    **dict.fromkeys(("vw", "svw", "lvw", "dvw", "vi", "vmax", "cqw", "cqi", "cqmax"), SCREEN["width"] / 100),
    **dict.fromkeys(("vh", "svh", "lvh", "dvh", "vb", "vmin", "cqh", "cqb", "cqmin"), SCREEN["height"] / 100),
}
_LENGTH = re.compile(rf"({NUMBER})([a-z]{{0,5}}|%)")
_TOKEN = re.compile(r"\s*+(calc|min|max|clamp|(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?(?:%|[a-z]{0,5})|[-+*/(),])")
_JOINED: dict[str, Callable[[Iterable[float]], float]] = {
    "calc": sum,
    "": sum,
    "min": min,
    "max": max,
    "clamp": lambda bounds: sorted(bounds)[1],
}


def pixels(value: str, em: float = EM_PX) -> float | None:
    """The length in CSS pixels; None for a percentage or an invalid length. Evaluates `calc()` and the like."""
    value = value.strip()
    if "(" in value:
        return _calculated(value, em) if len(value) <= MAX_CALCULATED_CHARS else None
    length = _LENGTH.fullmatch(value)
    if length is None or length[2] == "%":
        return None
    unit = em if length[2] == "em" else _PX.get(length[2])
    return None if unit is None else float(length[1]) * unit


def _calculated(value: str, em: float) -> float | None:
    tokens, end = [], 0
    while token := _TOKEN.match(value, end):
        tokens.append(token[1])
        end = token.end()
    if value[end:].strip():
        return None
    try:
        result = _Calculation(tokens, em).sum()
    except (ValueError, IndexError, ZeroDivisionError):
        return None
    return result if math.isfinite(result) else None


class _Calculation:
    """https://www.w3.org/TR/css-values-4/#calc-syntax, with units dropped. Percentages are of the screen's width."""

    def __init__(self, tokens: list[str], em: float) -> None:
        self._tokens = [*tokens, ""][::-1]
        self._em = em

    def sum(self) -> float:
        total = self._product()
        while self._tokens[-1] in ("+", "-"):
            total += self._product() if self._tokens.pop() == "+" else -self._product()
        return total

    def _product(self) -> float:
        product = self._factor()
        while self._tokens[-1] in ("*", "/"):
            product = product * self._factor() if self._tokens.pop() == "*" else product / self._factor()
        return product

    def _factor(self) -> float:
        word = self._tokens.pop()
        if word == "-":
            return -self._factor()
        if word in _JOINED or word == "(":
            if word != "(":
                self._expect("(")
            parts = [self.sum()]
            while self._tokens[-1] == ",":
                self._tokens.pop()
                parts.append(self.sum())
            self._expect(")")
            return _JOINED[word.strip("(")](parts)
        if word.endswith("%"):
            return float(word[:-1]) * _PERCENT_OF_SCREEN
        length = pixels(word, self._em)
        if length is None:
            raise ValueError("not a length")
        return length

    def _expect(self, word: str) -> None:
        if self._tokens.pop() != word:
            raise ValueError("not a calculation")


MAX_NESTED_CHARS = 4_000

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_TOKEN = re.compile(
    r""""(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\.|url\([^)"']*+\)?|[{};]""", re.DOTALL | re.IGNORECASE
)
_DECLARATION = re.compile(
    r"""(?<![\w-])([a-z-][\w-]*+)\s*+:((?:[^;"'(]++|"[^"]*+"?|'[^']*+'?|\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)?)*+)"""
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_IMPORTANT = re.compile(r"!\s*+important\s*+$")

BETWEEN_COMMAS = re.compile(r"(?:[^,(\[]|\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)?|\[[^\[\]]*+\]?)++")
_AT_NAME = re.compile(r"([\w-]++)\s*+")
_SCOPE = re.compile(r"\(([^()]*+)\)")
_CONTAINER_NAME = re.compile(r"\s*+(?!not\b|and\b|or\b)[\w-]++\s++(?=not\b|\()")

_GROUP = ""
_SKIPPED = None

_SAME_AS = {
    "background-color": "background",
    **dict.fromkeys(("overflow-x", "overflow-y", "overflow-block", "overflow-inline"), "overflow"),
    **dict.fromkeys(("max-height", "block-size", "max-block-size"), "height"),
    **dict.fromkeys(("max-width", "inline-size", "max-inline-size"), "width"),
    **dict.fromkeys(("inset-inline", "inset-inline-start"), "left"),
    **dict.fromkeys(("inset-block", "inset-block-start"), "top"),
    **dict.fromkeys(("margin-inline", "margin-inline-start"), "margin-left"),
    **dict.fromkeys(("margin-block", "margin-block-start"), "margin-top"),
    "inset-inline-end": "right",
    "inset-block-end": "bottom",
    "padding-block": "padding-top",
    "-webkit-mask": "mask-image",
    "-webkit-mask-image": "mask-image",
    "mask": "mask-image",
    "-webkit-transform": "transform",
    "-webkit-clip-path": "clip-path",
    "-webkit-background-clip": "background-clip",
    "-webkit-text-fill-color": "text-fill-color",
}
_PROPERTIES = frozenset(
    {
        *("display", "visibility", "content-visibility", "opacity", "filter", "zoom", "scale", "transform"),
        *("position", "left", "right", "top", "bottom", "inset", "margin", "margin-left", "margin-top", "text-indent"),
        *("height", "width", "overflow", "padding", "padding-top", "padding-bottom", "clip", "clip-path"),
        *("font", "font-size", "color", "text-fill-color", "background", "background-image", "background-clip"),
        *("transition", "animation", "will-change", "translate", "rotate", "backface-visibility", "mask-image"),
        *("contain", "letter-spacing", "line-height"),
    }
)


def rules(css: str) -> Iterator[tuple[str, str]]:
    """The style rules that apply to a screen at load, as (selectors, declarations), with the full selectors of nested
    rules.

    Leaves out key frames and rules for other media and containers.
    """
    text = _COMMENT.sub(" ", css)
    open_blocks: list[str | None] = []
    start = 0
    for token in _CSS_TOKEN.finditer(text):
        inside = open_blocks[-1] if open_blocks else _GROUP
        if token[0] == "{":
            body, _, prelude = text[start : token.start()].rpartition(";")
            if inside and body:
                yield inside, body
            open_blocks.append(_opened(prelude.strip(), inside))
        elif token[0] == "}":
            if inside:
                yield inside, text[start : token.start()]
            if open_blocks:
                open_blocks.pop()
        elif token[0] != ";" or inside:
            continue
        start = token.end()
    if open_blocks and open_blocks[-1]:
        yield open_blocks[-1], text[start:]


def _opened(prelude: str, inside: str | None) -> str | None:
    """The selectors of a block that begins, _GROUP for a group of rules, or _SKIPPED."""
    if inside is _SKIPPED:
        return _SKIPPED
    if not prelude.startswith("@"):
        return _nested(prelude, inside) or _SKIPPED
    name = _AT_NAME.match(prelude, 1)
    condition = prelude[name.end() :] if name else ""
    match name[1].lower() if name else "":
        case "media":
            return inside if on_screen(condition) else _SKIPPED
        case "container":
            return inside if on_screen(_CONTAINER_NAME.sub("", condition, count=1)) else _SKIPPED
        case "supports" | "layer":
            return _SKIPPED if condition.lower().startswith("not") else inside
        case "scope":
            scope = _SCOPE.match(condition)
            return _nested(scope[1], inside) if scope else inside
        case _:
            return _SKIPPED


def _nested(prelude: str, inside: str) -> str:
    """The selectors of a block in a block (https://www.w3.org/TR/css-nesting-1/); "" if they get too long."""
    if not inside:
        return prelude
    outers, inners = (
        [part.strip() for part in BETWEEN_COMMAS.findall(text)] for text in (inside, prelude.replace(":scope", "&"))
    )
    if len(inside) * len(inners) + len(prelude) * len(outers) > MAX_NESTED_CHARS:
        return ""
    return ",".join(
        inner.replace("&", outer) if "&" in inner else f"{outer} {inner}" for outer in outers for inner in inners
    )


def unescape(text: str) -> str:
    """`text` with CSS escapes resolved: `n\\6fne` is `none`."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    if not escape[1]:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"


@cached_if_short(2_000)
def declarations(body: str) -> tuple[tuple[str, str, bool], ...]:
    """The relevant declarations as (property, value, important), in lower case; some longhands share one name."""
    text = unescape(_COMMENT.sub(" ", body)).lower()
    found = []
    for name, value in _DECLARATION.findall(text):
        name = _SAME_AS.get(name, name)
        if name in _PROPERTIES or name.startswith("--"):
            bare = _IMPORTANT.sub("", value.strip())
            found.append((name, bare.strip(), bare != value.strip()))
    return tuple(found)


_IMPORTED = re.compile(r"""@import\s++(?:url\(\s*+)?["']?(data:[^"')\s]++)""", re.IGNORECASE)
_DATA = re.compile(r"data:text/css[^,]*?(;base64)?,(.*+)", re.IGNORECASE | re.DOTALL)


def style_sheets(tree: HtmlElement) -> Iterator[str]:
    """The sheets of a page that apply to a screen, in order, without external ones."""
    for sheet in tree.iter("style", "link"):
        if (
            not on_screen(sheet.get("media") or "")
            or next(sheet.iterancestors("noscript", "template"), None) is not None
        ):
            continue
        if sheet.tag == "link":
            if "stylesheet" in (sheet.get("rel") or "").lower():
                yield _in_address(sheet.get("href") or "")
        elif sheet.text:
            yield from map(_in_address, _IMPORTED.findall(sheet.text))
            yield sheet.text


def _in_address(address: str) -> str:
    """The sheet in a `data:` address; "" for any other address."""
    data = _DATA.fullmatch(address.strip())
    if data is None:
        return ""
    sheet = unquote_to_bytes(data[2])
    try:
        return (base64.b64decode(sheet) if data[1] else sheet).decode("utf-8", "replace")
    except binascii.Error:
        return ""


def unfold_shadows(tree: HtmlElement) -> None:
    """Replace the children of elements by their declared shadow trees, as a browser renders them.

    An element with a shadow tree shows its own children only in the slots of that tree
    (https://html.spec.whatwg.org/#attr-template-shadowrootmode).
    """
    for shadow in list(tree.iter("template")):
        host = shadow.getparent()
        if shadow.get("shadowrootmode") not in ("open", "closed") or host is None:
            continue
        shadow.tag = "div"
        if next(shadow.iter("slot"), None) is None:
            host.text = shadow.tail = None
            host[:] = [shadow]


MAX_DEPTH = 8

_Bound = tuple[Callable[[float, float], bool], float | None]

_TRUE, _FALSE, _UNKNOWN = "1", "0", "?"
_NOT = {_TRUE: _FALSE, _FALSE: _TRUE, _UNKNOWN: _UNKNOWN}
_TYPES = {"screen": _TRUE, "all": _TRUE} | dict.fromkeys(
    ("print", "speech", "aural", "braille", "embossed", "handheld", "projection", "tty", "tv"), _FALSE
)
_INNERMOST = re.compile(r"\(([^()]*+)\)")
_VERDICTS = re.compile(r"(?:[01?]|and|or|not|\s)++")
_PLAIN = re.compile(r"(?:-webkit-)?(?:(min|max)-)?([a-z-]++)\s*+:\s*+(.++)")
_COMPARED = re.compile(r"(?:([^<>=]++)([<>]=?|=))?\s*+([a-z-]++)\s*+(?:([<>]=?|=)([^<>=]++))?")
_RESOLUTION = re.compile(r"([\d.]++)(dppx|x|dpi|dpcm)")
_PER_DPPX = {"dppx": 1.0, "x": 1.0, "dpi": 96.0, "dpcm": 96 / 2.54}
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
_BOUNDS = {"min": operator.ge, "max": operator.le, None: operator.eq}
_MEASURES = {
    **SCREEN,
    "device-width": SCREEN["width"],
    "device-height": SCREEN["height"],
    "inline-size": SCREEN["width"],
    **dict.fromkeys(("aspect-ratio", "device-aspect-ratio"), SCREEN["width"] / SCREEN["height"]),
    "resolution": 1.0,
    "device-pixel-ratio": 1.0,
    "color": 8.0,
    "monochrome": 0.0,
    "grid": 0.0,
}
_SETTINGS = {
    "orientation": "landscape",
    "scripting": "enabled",
    "update": "fast",
    "display-mode": "browser",
    **dict.fromkeys(("hover", "any-hover"), "hover"),
    **dict.fromkeys(("pointer", "any-pointer"), "fine"),
    "prefers-color-scheme": "light",
    "color-gamut": "srgb",
    "dynamic-range": "standard",
    **dict.fromkeys(
        ("prefers-reduced-motion", "prefers-contrast", "prefers-reduced-data", "prefers-reduced-transparency"),
        "no-preference",
    ),
    **dict.fromkeys(("forced-colors", "inverted-colors"), "none"),
}
_OFF = frozenset({"none", "no-preference"})


@cached_if_short(1_000)
def on_screen(media: str) -> bool:
    """Whether a media query list holds. An unknown condition does not hold."""
    return not media.strip() or any(_query(query) == _TRUE for query in media.lower().split(","))


def _query(query: str) -> str:
    for _ in range(MAX_DEPTH):
        query, found = _INNERMOST.subn(lambda part: f" {_in_brackets(part[1])} ", query)
        if not found:
            return _UNKNOWN if "(" in query else _condition(query)
    return _UNKNOWN


def _in_brackets(text: str) -> str:
    return _condition(text) if _VERDICTS.fullmatch(text) else _feature(text.strip())


def _condition(text: str) -> str:
    """Verdicts joined by `and` or `or`, optionally after `not`; the name of a medium counts as a verdict."""
    words = text.split()
    negated = words[:1] == ["not"]
    verdicts = []
    for word in words:
        if word == "not" and word is not words[0]:
            return _UNKNOWN
        if word not in ("and", "or", "not", "only"):
            verdicts.append(word if word in _NOT else _TYPES.get(word, _UNKNOWN))
    decisive = _TRUE if "or" in words else _FALSE
    verdict = _UNKNOWN if _UNKNOWN in verdicts or not verdicts else _NOT[decisive]
    if decisive in verdicts:
        verdict = decisive
    return _NOT[verdict] if negated else verdict


def _feature(text: str) -> str:
    if plain := _PLAIN.fullmatch(text):
        bound, name, value = plain[1], plain[2], plain[3].strip()
        if name in _SETTINGS:
            return _TRUE if _SETTINGS[name] == value else _FALSE
        return _verdict(name, ((_BOUNDS[bound], _measure(value)),))
    compared = _COMPARED.fullmatch(text)
    if compared is None:
        return _UNKNOWN
    name = compared[3]
    if not compared[2] and not compared[4]:
        if name in _SETTINGS:
            return _FALSE if _SETTINGS[name] in _OFF else _TRUE
        return _UNKNOWN if name not in _MEASURES else _TRUE if _MEASURES[name] else _FALSE
    bounds = [(_COMPARISONS[compared[4]], _measure(compared[5]))] if compared[4] else []
    if compared[2]:  # `a < width` means `width > a`
        turned = compared[2].translate(str.maketrans("<>", "><"))
        bounds.append((_COMPARISONS[turned], _measure(compared[1])))
    return _verdict(name, bounds)


def _verdict(name: str, bounds: Iterable[_Bound]) -> str:
    if name not in _MEASURES:
        return _UNKNOWN
    verdict = _TRUE
    for holds, bound in bounds:
        if bound is None:
            return _UNKNOWN
        if not holds(_MEASURES[name], bound):
            verdict = _FALSE
    return verdict


def _measure(value: str) -> float | None:
    value = value.strip()
    if resolution := _RESOLUTION.fullmatch(value):
        return pixels(resolution[1]) and float(resolution[1]) / _PER_DPPX[resolution[2]]
    numbers = [pixels(part) for part in value.split("/")]
    if len(numbers) == 2 and numbers[0] is not None and numbers[1]:
        return numbers[0] / numbers[1]
    return numbers[0] if len(numbers) == 1 else None
