"""Reads dates as vendors write them, and converts a freshness limit to a period that vendors understand."""

from __future__ import annotations

import functools
import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from dateparser.date import DateDataParser

Bucket = Literal["day", "week", "month", "year"]

_BUCKETS: tuple[tuple[int, Bucket], ...] = ((24, "day"), (168, "week"), (720, "month"), (8760, "year"))
# Vendors write dates in the language of the query; each additional language makes a failed parse more expensive.
_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_LONGEST_SPOKEN_DATE = 40
_LETTER = re.compile(r"[^\W\d_]")


def utc_now() -> datetime:
    """The current time, with its zone."""
    return datetime.now(UTC)


def bucket(hours: int | None) -> Bucket | None:
    """The shortest period of at least so many hours; None without a limit, or for more than a year."""
    return next((name for most, name in _BUCKETS if hours <= most), None) if hours is not None else None


def iso_date(text: object) -> str | None:
    """An ISO 8601 or RFC 5322 date as `YYYY-MM-DD`, or with its time as `YYYY-MM-DDTHH:MM:SS+00:00`.

    A time without a zone is taken as UTC. None for anything else.
    """
    if not isinstance(text, str):
        return None
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        pass
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return _in_utc(read(text.strip()))
        except (ValueError, OverflowError):
            continue
    return None


def spoken_date(text: object, now: datetime) -> str | None:
    """As `iso_date`, and dates in words: "May 10, 2026", "vor 2 Stunden", "3 weeks ago".

    Only the date, unless the words give a time of day or count hours or minutes. Bare numbers are not a date: whether
    10/05 is in May depends on the country. The first call loads a language model (0.2 s).
    """
    if (standard := iso_date(text)) or not isinstance(text, str):
        return standard
    if not 3 <= len(text) <= _LONGEST_SPOKEN_DATE or not _LETTER.search(text):
        return None
    reading = _parser(now.astimezone(UTC).replace(tzinfo=None)).get_date_data(text)
    if reading.date_obj is None:
        return None
    return _in_utc(reading.date_obj) if reading.period == "time" else str(reading.date_obj.date().isoformat())


def _in_utc(moment: datetime) -> str:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")


@functools.lru_cache(maxsize=1)
def _parser(now: datetime) -> DateDataParser:
    from dateparser.date import DateDataParser

    return DateDataParser(
        languages=list(_LANGUAGES),
        settings={
            "RELATIVE_BASE": now,
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": "first",
            "RETURN_TIME_AS_PERIOD": True,
            "TIMEZONE": "UTC",
            "TO_TIMEZONE": "UTC",
        },
    )
