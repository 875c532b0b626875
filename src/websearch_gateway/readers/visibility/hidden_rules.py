"""Rules that decide from the declarations of an element whether it and its content are invisible. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from websearch_gateway.readers.visibility.colors import FAINT, color, fraction
from websearch_gateway.readers.visibility.lengths import EM_PX, NUMBER, SCREEN, pixels

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
