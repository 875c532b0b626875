"""Decides whether the conditions of `@media` and `@container` hold on a laptop's screen right after page load.

Uses three-valued logic, since an unknown condition must not become true through `not` (Media Queries 4, section 3.2).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable

from websearch_gateway.readers.visibility.lengths import SCREEN, pixels

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
