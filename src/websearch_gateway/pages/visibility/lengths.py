"""The numbers and lengths of CSS, with calculations."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

from websearch_gateway.pages.visibility.hostile import HostileStylesError

SCREEN = {"width": 1280.0, "height": 800.0}
"""The screen size in CSS pixels for media conditions and lengths."""

EM_PX = 16.0
"""The size of text without declarations."""

NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?"
NUMBERS = re.compile(rf"{NUMBER}%?")


def fraction(value: str) -> float:
    """The number at the beginning of a value, 1 for 100%; 1 if there is none."""
    number = NUMBERS.match(value)
    if number is None:
        return 1.0
    return float(number[0].rstrip("%")) / (100 if number[0].endswith("%") else 1)


def amount(value: str) -> float:
    """As `fraction`, also of a calculation."""
    calculated = pixels(value) if "(" in value else None
    return fraction(value) if calculated is None else calculated


def percentage(value: str) -> float:
    """A percentage without its sign; 0 for a length."""
    return abs(fraction(value)) * 100 if value.strip().endswith("%") else 0.0


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


def lengths_of(value: str) -> list[str]:
    """The values of a list, split at blanks and commas outside brackets.

    Raises:
        HostileStylesError: the list is longer than any honest one.
    """
    if len(value) > MAX_CALCULATED_CHARS:
        raise HostileStylesError("a list of lengths")
    lengths, depth = [""], 0
    for character in value:
        depth += (character == "(") - (character == ")")
        if depth <= 0 and (character.isspace() or character == ","):
            lengths.append("")
        else:
            lengths[-1] += character
    return [*filter(None, lengths)] or [""]


MAX_CALCULATED_CHARS = 2_000
"""The longest calculation and the longest list of lengths: some ten times those of real pages."""

MAX_BRACKETS = 60
"""The deepest calculation: Python's parser gives up at 200 brackets, and the walk through its tree needs a stack."""

_PERCENT_OF_SCREEN = SCREEN["width"] / 100
_LENGTH_IN_TEXT = re.compile(r"(?<![\w.])((?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?)(%|[a-z]{0,5})")
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
_NO_CALCULATION = (
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    ArithmeticError,
    RecursionError,
)


def _calculated(value: str, em: float) -> float | None:
    """https://www.w3.org/TR/css-values-4/#calc-syntax, with units dropped. Percentages are of the screen's width."""
    if len(value) > MAX_CALCULATED_CHARS or _depth(value) > MAX_BRACKETS:
        raise HostileStylesError("a calculation")

    def without_unit(length: re.Match[str]) -> str:
        if length[2] == "%":
            return repr(float(length[1]) * _PERCENT_OF_SCREEN)
        size = pixels(length[0], em)
        return "?" if size is None else repr(size)

    text = _LENGTH_IN_TEXT.sub(without_unit, value.replace("calc(", "(")).strip()
    if not _PLAIN_CALCULATION.fullmatch(text):
        return None
    try:
        result = float(_result(ast.parse(text, mode="eval").body))
    except _NO_CALCULATION:
        return None
    return result if math.isfinite(result) else None


def _result(part: ast.expr) -> float:
    match part:
        case ast.Constant(value=float() | int() as size):
            return size
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_result(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _result(inner)
        case ast.BinOp(left=before, op=step, right=after):
            return _CALCULATE[type(step)](_result(before), _result(after))
        case ast.Call(func=ast.Name(id=name), args=parts):
            return _CALCULATE[name](*map(_result, parts))
    raise ValueError("not a calculation")


def _depth(value: str) -> int:
    """How deep its brackets are."""
    deepest = depth = 0
    for character in value:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest
