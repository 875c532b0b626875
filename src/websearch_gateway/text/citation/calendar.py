"""Finds dates in a text, in English and in digits. A date has at least a month."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_MONTHS = "january february march april may june july august september october november december"
MONTHS = {name[:size]: number for number, name in enumerate(_MONTHS.split(), 1) for size in (3, len(name))} | {
    "sept": 9
}
"""The number of each month by its names and their short forms."""

_MONTH_NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_NAMED = rf"(?P<m>{_MONTH_NAMES})\b\.?"
_YEAR = r"(?P<y>\d{4})\b"
_DATES = (
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_NAMED},?(?:\s+{_YEAR})?", re.IGNORECASE),
    re.compile(rf"\b{_NAMED}\s+{_DAY}\b(?!\d)(?:,?\s+{_YEAR})?", re.IGNORECASE),
    re.compile(rf"\b{_NAMED},?\s+(?:of\s+)?{_YEAR}", re.IGNORECASE),
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?\b"),
    re.compile(rf"\b(?P<d>\d{{1,2}})[./](?P<m>\d{{1,2}})[./]{_YEAR}"),
    re.compile(rf"\b(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}})/{_YEAR}"),
    # Only with a capital: `may` and `march` are also words.
    re.compile("\\b(?P<m>" + "|".join(name.capitalize() for name in _MONTHS.split()) + ")\\b"),
)
_FOREIGN = re.compile(r"\b\d{1,2}(?:\.|º|er|ª)?\s+(?:de\s+)?([^\W\d_]{3,12})\.?\s+(?:de\s+)?\d{4}\b")

Date = tuple[int | None, int | None, int | None]
"""Year, month and day; None for a missing part."""


def dates(text: str) -> Iterator[Date]:
    """Every date that names a month. A date in digits is read both as day/month and as month/day."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month = parts["m"]
            number = int(month) if month.isdecimal() else MONTHS[month.lower()]
            if 1 <= number <= 12:
                yield (
                    int(parts["y"]) if parts.get("y") else None,
                    number,
                    int(parts["d"]) if parts.get("d") else None,
                )


def is_stated(date: Date, stated: Iterable[Date]) -> bool:
    """Whether one of the dates in `stated` has all the parts of this one."""
    return any(all(part is None or part == other for part, other in zip(date, one, strict=True)) for one in stated)


def foreign_months(text: str) -> set[str]:
    """The words between a day and a year that are not English months, such as `mars`; lower case."""
    return {match[1].lower() for match in _FOREIGN.finditer(text)} - MONTHS.keys()
