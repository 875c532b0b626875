"""The numbers that Word gives to headings and list items, which a document stores as rules only.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 17.9). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VAL = f"{W}val"
LEVELS = 9
MOST_COUNTED = 99_999
_UNNUMBERED = ("bullet", "none", "")
_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a list: its kind of number, the text around it (`%1.%2`), and the first number."""

    kind: str = ""
    text: str = ""
    start: int = 1
    is_legal: bool = False

    @property
    def is_numbered(self) -> bool:
        return self.kind not in _UNNUMBERED


@dataclass(slots=True)
class List:
    """A list; those that share their levels go on with each other's numbers."""

    levels: Mapping[int, Level]
    counts: list[int]
    restarts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """The lists of a document by their ids, with the numbers that they have reached."""

    def __init__(self, root: Any) -> None:
        self._lists: dict[str, List] = {}
        self._levels_of_styles: dict[str, int] = {}
        abstract: dict[str, List] = {}
        for element in () if root is None else root:
            if element.tag == f"{W}abstractNum":
                levels = {
                    _number(level.get(f"{W}ilvl", "")): level
                    for level in element.iterchildren(f"{W}lvl")
                }
                for at, level in levels.items():
                    if style := _value(level, "pStyle"):
                        self._levels_of_styles[style] = at
                found = List({at: _level(level) for at, level in levels.items()}, [0] * LEVELS)
                abstract[element.get(f"{W}abstractNumId", "")] = found
            elif element.tag == f"{W}num":
                base = abstract.get(_value(element, "abstractNumId"))
                if base is not None:
                    self._lists[element.get(f"{W}numId", "")] = _with_changes(element, base)

    def level_of_style(self, style: str) -> int:
        """The level that a list reserves for paragraphs of a style; 0 if none does."""
        return self._levels_of_styles.get(style, 0)

    def level(self, list_id: str, level: int) -> Level | None:
        """A level of a list; None if there is no such list."""
        found = self._lists.get(list_id)
        return None if found is None else found.levels.get(level, Level())

    def next_mark(self, list_id: str, level: int) -> str:
        """Count a paragraph. Returns its number as Word shows it, such as `1.2` or `(a)`; "" if it has none."""
        found = self._lists[list_id]
        own = found.levels.get(level, Level())
        restart = found.restarts.pop(level, None)
        counts = found.counts
        if restart is not None:
            counts[level] = restart
        else:
            counts[level] = (
                own.start if counts[level] == 0 else min(counts[level] + 1, MOST_COUNTED)
            )
        counts[level + 1 :] = [0] * (LEVELS - level - 1)
        if not own.is_numbered:
            return ""

        def written(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            outer = found.levels.get(at, Level())
            kind = "decimal" if own.is_legal else outer.kind
            return _counted(counts[at] or outer.start, kind)

        return _PLACE.sub(written, own.text).strip()


def _with_changes(element: Any, base: List) -> List:
    """A list with the levels and first numbers that it changes of those that it shares."""
    levels = dict(base.levels)
    restarts = {}
    for change in element.iterchildren(f"{W}lvlOverride"):
        at = _number(change.get(f"{W}ilvl", ""))
        own = change.find(f"{W}lvl")
        if own is not None:
            levels[at] = _level(own)
        if start := _value(change, "startOverride"):
            restarts[at] = _number(start)
    return List(levels, base.counts, restarts)


def _level(element: Any) -> Level:
    start = _value(element, "start")
    legal = element.find(f"{W}isLgl")
    is_legal = legal is not None and legal.get(_VAL, "1") not in ("0", "false", "off")
    place = _number(element.get(f"{W}ilvl", "")) + 1
    text = f"%{place}." if element.find(f"{W}lvlText") is None else _value(element, "lvlText")
    return Level(_value(element, "numFmt"), text, _number(start) if start else 1, is_legal)


def _counted(number: int, kind: str) -> str:
    return _WRITERS.get(kind, str)(number)


def _letters(number: int) -> str:
    """a to z, then aa to zz, as Word counts."""
    repeats, letter = divmod(number - 1, 26)
    return chr(ord("a") + letter) * (min(repeats, 10) + 1) if number > 0 else ""


def _roman(number: int) -> str:
    text = ""
    for value, digits in _ROMAN:
        count, number = divmod(number, value)
        text += digits * count
    return text


def _ordinal(number: int) -> str:
    is_teen = 10 < number % 100 < 20
    ending = "th" if is_teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


_CHINESE = "〇一二三四五六七八九"
_CHINESE_UP_TO = 99
"""Larger numbers are written with digits."""


def _chinese(number: int) -> str:
    if number > _CHINESE_UP_TO:
        return str(number)
    tens, ones = divmod(number, 10)
    if not tens:
        return _CHINESE[ones]
    return f"{_CHINESE[tens] if tens > 1 else ''}十{_CHINESE[ones] if ones else ''}"


def _circled(number: int) -> str:
    """Unicode has circles around the numbers up to 20."""
    return chr(ord("①") + number - 1) if 0 < number <= 20 else str(number)


_CHINESE_KINDS = (
    *(
        "chineseCounting",
        "chineseCountingThousand",
        "taiwaneseCounting",
        "taiwaneseCountingThousand",
    ),
    *("japaneseCounting", "japaneseDigitalTenThousand"),
)
_WRITERS: Mapping[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": lambda number: _roman(number) if number < 4_000 else str(number),
    "upperRoman": lambda number: _roman(number).upper() if number < 4_000 else str(number),
    "ordinal": _ordinal,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    **dict.fromkeys(_CHINESE_KINDS, _chinese),
    "decimalZero": lambda number: f"{number:02}",
    "none": lambda _: "",
    "bullet": lambda _: "",
}


def _number(text: str) -> int:
    return (
        min(int(text), MOST_COUNTED) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
    )


def _value(parent: Any, name: str) -> str:
    element = parent.find(W + name)
    return "" if element is None else str(element.get(_VAL, ""))
