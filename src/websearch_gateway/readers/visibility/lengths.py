"""CSS lengths in CSS pixels, for the screen of a laptop."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

SCREEN = {"width": 1280.0, "height": 800.0}
"""The screen size in CSS pixels for media conditions and lengths."""
EM_PX = 16.0
MAX_CALCULATED_CHARS = 120

NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?"
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
