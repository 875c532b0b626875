"""The numbers that Word gives to headings and list items, which a document stores as rules only.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 17.9). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from websearch_gateway.pages.rendering.numerals import roman

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VAL = f"{W}val"
LEVELS = 9
MOST_COUNTED = 99_999


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a list.

    Attributes:
        kind: how its numbers are written, such as `lowerRoman`.
        text: what stands around them, such as `%1.%2`: the number of the first level, and of this one.
        start: the first number.
        is_legal: whether the numbers of the levels above are written with digits too.
    """

    kind: str = ""
    text: str = ""
    start: int = 1
    is_legal: bool = False

    @property
    def is_numbered(self) -> bool:
        return self.kind not in ("bullet", "none", "")


@dataclass(slots=True)
class List:
    """A list; those that share their levels go on with each other's numbers.

    Attributes:
        counts: the number that each level has reached; 0 where it has not begun.
        restarts: the number that the next item of a level has.
    """

    levels: Mapping[int, Level]
    counts: list[int]
    restarts: dict[int, int] = field(default_factory=dict)

    def level(self, level: int) -> Level:
        return self.levels.get(level, Level())

    def count(self, level: int) -> None:
        """Count an item; the levels below it begin again."""
        if level in self.restarts:
            self.counts[level] = self.restarts.pop(level)
        elif self.counts[level] == 0:
            self.counts[level] = self.level(level).start
        else:
            self.counts[level] = min(self.counts[level] + 1, MOST_COUNTED)
        self.counts[level + 1 :] = [0] * (LEVELS - level - 1)

    def number(self, level: int, *, is_legal: bool) -> str:
        """The number that a level has reached, or that it begins with."""
        declared = self.level(level)
        kind = "decimal" if is_legal else declared.kind
        return _counted(self.counts[level] or declared.start, kind)


_PLACE = re.compile(r"%([1-9])")
"""Where the number of a level stands in the text around numbers."""


class Numbering:
    """The lists of a document by their ids, with the numbers that they have reached."""

    def __init__(self, root: Any) -> None:
        self._lists: dict[str, List] = {}
        self._levels_of_styles: dict[str, int] = {}
        shared: dict[str, List] = {}
        for element in () if root is None else root:
            if element.tag == f"{W}abstractNum":
                shared[element.get(f"{W}abstractNumId", "")] = self._shared(element)
            elif element.tag == f"{W}num":
                base = shared.get(_value(element, "abstractNumId"))
                if base is not None:
                    self._lists[element.get(f"{W}numId", "")] = _with_changes(element, base)

    def _shared(self, element: Any) -> List:
        """What lists share. Notes the levels that are reserved for paragraphs of a style."""
        levels: dict[int, Level] = {}
        for level in element.iterchildren(f"{W}lvl"):
            number = _number(level.get(f"{W}ilvl", ""))
            levels[number] = _level(level)
            if style := _value(level, "pStyle"):
                self._levels_of_styles[style] = number
        return List(levels, [0] * LEVELS)

    def level_of_style(self, style: str) -> int:
        """The level that a list reserves for paragraphs of a style; 0 if none does."""
        return self._levels_of_styles.get(style, 0)

    def level(self, list_id: str, level: int) -> Level | None:
        """A level of a list; None if there is no such list."""
        numbered = self._lists.get(list_id)
        return None if numbered is None else numbered.level(level)

    def next_mark(self, list_id: str, level: int) -> str:
        """Count a paragraph. Returns its number as Word shows it, such as `1.2` or `(a)`; "" if it has none."""
        numbered = self._lists[list_id]
        numbered.count(level)
        own = numbered.level(level)
        if not own.is_numbered:
            return ""

        def number_at(place: re.Match[str]) -> str:
            return numbered.number(int(place[1]) - 1, is_legal=own.is_legal)

        return _PLACE.sub(number_at, own.text).strip()


# --- what a document declares ---


def _with_changes(element: Any, base: List) -> List:
    """A list with the levels and first numbers that it changes of those that it shares."""
    levels = dict(base.levels)
    restarts = {}
    for change in element.iterchildren(f"{W}lvlOverride"):
        number = _number(change.get(f"{W}ilvl", ""))
        own = change.find(f"{W}lvl")
        if own is not None:
            levels[number] = _level(own)
        if start := _value(change, "startOverride"):
            restarts[number] = _number(start)
    return List(levels, base.counts, restarts)


def _level(element: Any) -> Level:
    number = _number(element.get(f"{W}ilvl", ""))
    text = f"%{number + 1}."
    if element.find(f"{W}lvlText") is not None:
        text = _value(element, "lvlText")
    start = _value(element, "start")
    legal = element.find(f"{W}isLgl")
    is_legal = legal is not None and legal.get(_VAL, "1") not in ("0", "false", "off")
    return Level(_value(element, "numFmt"), text, _number(start) if start else 1, is_legal)


def _number(text: str) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) < 9
    return min(int(text), MOST_COUNTED) if is_number else 0


def _value(parent: Any, name: str) -> str:
    element = parent.find(W + name)
    return "" if element is None else str(element.get(_VAL, ""))


# --- kinds of numbers ---


def _counted(number: int, kind: str) -> str:
    return _WRITERS.get(kind, str)(number)


def _letters(number: int) -> str:
    """a to z, then aa to zz, as Word counts."""
    repeats, letter = divmod(number - 1, 26)
    return chr(ord("a") + letter) * (min(repeats, 10) + 1) if number > 0 else ""


def _upper_letters(number: int) -> str:
    return _letters(number).upper()


def _upper_roman(number: int) -> str:
    return roman(number).upper()


_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def _ordinal(number: int) -> str:
    is_teen = 10 < number % 100 < 20
    ending = "th" if is_teen else _ENDINGS.get(number % 10, "th")
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
    before = _CHINESE[tens] if tens > 1 else ""
    after = _CHINESE[ones] if ones else ""
    return f"{before}十{after}"


def _circled(number: int) -> str:
    """Unicode has circles around the numbers up to 20."""
    return chr(ord("①") + number - 1) if 0 < number <= 20 else str(number)


def _two_digits(number: int) -> str:
    return f"{number:02}"


def _none(number: int) -> str:
    return ""


_WRITERS: Mapping[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": _upper_letters,
    "lowerRoman": roman,
    "upperRoman": _upper_roman,
    "ordinal": _ordinal,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "chineseCounting": _chinese,
    "chineseCountingThousand": _chinese,
    "taiwaneseCounting": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "japaneseCounting": _chinese,
    "japaneseDigitalTenThousand": _chinese,
    "decimalZero": _two_digits,
    "none": _none,
    "bullet": _none,
}
