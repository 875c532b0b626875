from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Literal

import pytest
from babel.dates import format_date, format_timedelta
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.dates import bucket, in_words, iso_date, spoken_date

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "name"),
    [
        (None, None),
        (1, "day"),
        (24, "day"),
        (25, "week"),
        (168, "week"),
        (169, "month"),
        (720, "month"),
        (721, "year"),
        (8760, "year"),
        (8761, None),
    ],
)
def test_freshness_is_rounded_up_to_a_period(hours: int | None, name: str | None) -> None:
    assert bucket(hours) == name


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-05-10", "2026-05-10"),
        (" 2026-05-10 ", "2026-05-10"),
        ("2026-05-10T06:30:00", "2026-05-10T06:30:00+00:00"),
        ("2026-05-10T06:30:00.123Z", "2026-05-10T06:30:00+00:00"),
        ("2026-05-10T08:30:00+02:00", "2026-05-10T06:30:00+00:00"),
        ("Sun, 10 May 2026 06:30:00 GMT", "2026-05-10T06:30:00+00:00"),
        ("Sun, 10 May 2026 08:30:00 +0200", "2026-05-10T06:30:00+00:00"),
        ("May 10, 2026", None),
        ("2026-02-30", None),
        ("0001-01-01T00:00:00+10:00", None),
        ("", None),
        (None, None),
        (20260510, None),
    ],
)
def test_standard_dates_are_converted_to_utc(text: object, iso: str | None) -> None:
    assert iso_date(text) == iso


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("May 10, 2026", "2026-05-10"),
        ("10. Mai 2026", "2026-05-10"),
        ("2 hours ago", "2026-11-21T10:00:00+00:00"),
        ("vor 2 Stunden", "2026-11-21T10:00:00+00:00"),
        ("12 mins ago", "2026-11-21T11:48:00+00:00"),
        ("hace 3 días", "2026-11-18"),
        ("yesterday", "2026-11-20"),
        ("1 week ago", "2026-11-14"),
        ("May 2026", "2026-05-01"),
        ("Nov 22", "2025-11-22"),
        ("2026-05-10T06:30:00Z", "2026-05-10T06:30:00+00:00"),
        ("10 de mayo de 2026", "2026-05-10"),
        ("Monday, May 10th, 2026", "2026-05-10"),
        ("May 10, 2026, 6:30 PM", "2026-05-10T18:30:00+00:00"),
        ("10 May 2026 00:05:07", "2026-05-10T00:05:07+00:00"),
        ("12:05 am, May 10, 2026", "2026-05-10T00:05:00+00:00"),
        ("Feb 30, 2026", None),
        ("29 Feb", None),
        ("May 2026 to June 2026", None),
        ("a month ago", "2026-10-21"),
        ("vor einem Jahr", "2025-11-21"),
        ("il y a 2 ans", "2024-11-21"),
        ("9 months ago", "2026-02-21"),
        ("1 hour 5 minutes ago", "2026-11-21T10:55:00+00:00"),
        ("3 days", None),
        ("10/05/2026", None),
        ("2025", None),
        ("a", None),
        ("hello there", None),
        ("9999999999 years ago", None),
        ("2 hours ago" + " " * 40, None),
        (None, None),
        (7, None),
    ],
)
def test_dates_in_words_are_read_against_the_given_clock(text: object, iso: str | None) -> None:
    assert spoken_date(text, NOW) == iso


LANGUAGES = ("en", "en_GB", "de", "fr", "es", "it", "pt", "nl")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("length", ["medium", "long", "full"])
def test_a_date_is_read_as_each_language_writes_it(
    language: str, length: Literal["medium", "long", "full"]
) -> None:
    """By Unicode's CLDR. Some languages write it in figures alone, whose order depends on the country."""
    for month in range(1, 13):
        day = date(2025, month, 3 + month)
        written = format_date(day, length, locale=language)
        if any(character.isalpha() for character in written):
            assert spoken_date(written, NOW) == day.isoformat(), written


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("unit", ["minute", "hour", "day", "week"])
def test_a_time_since_is_read_as_each_language_writes_it(language: str, unit: str) -> None:
    for count in (1, 5):
        ago = timedelta(**{f"{unit}s": count})
        written = format_timedelta(-ago, unit, add_direction=True, locale=language, threshold=1_000)
        then = NOW - ago
        expected = then.isoformat() if unit in ("minute", "hour") else then.date().isoformat()
        assert spoken_date(written, NOW) == expected, written


def test_a_month_before_the_end_of_a_month_is_its_last_day() -> None:
    assert spoken_date("1 month ago", datetime(2026, 3, 31, tzinfo=UTC)) == "2026-02-28"


def test_the_clock_may_run_in_any_zone() -> None:
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    assert spoken_date("2 hours ago", tokyo) == "2026-11-21T10:00:00+00:00"


WORDS = st.sampled_from(
    [
        "ago",
        "in",
        "1",
        "99999",
        "days",
        "months",
        "May",
        ":",
        "+",
        "-",
        "/",
        "T",
        "Z",
        "am",
        "²",
        "٣",
    ]
)


@given(st.text(max_size=50) | st.lists(WORDS, max_size=8).map(" ".join))
def test_any_text_gives_an_iso_date_or_none(text: str) -> None:
    found = spoken_date(text, NOW)
    assert found is None or datetime.fromisoformat(found)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1.9, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (7_199, "1 hour"),
        (200_000, "2 days"),
    ],
)
def test_the_largest_unit_is_named_and_rounded_down(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@pytest.mark.parametrize(("length", "day"), [(40, "2026-11-21T10:00:00+00:00"), (41, None)])
def test_a_spoken_date_has_at_most_forty_characters(length: int, day: str | None) -> None:
    assert spoken_date("2 hours ago".ljust(length, "!"), NOW) == day
