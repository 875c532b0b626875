from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from websearch_gateway.text.dates import bucket, iso_date, spoken_date

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


def test_the_clock_may_run_in_any_zone() -> None:
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    assert spoken_date("2 hours ago", tokyo) == "2026-11-21T10:00:00+00:00"


WORDS = st.sampled_from(
    ["ago", "in", "1", "99999", "days", "months", "May", ":", "+", "-", "/", "T", "Z", "am", "²", "٣"]
)


@settings(deadline=None)  # the first date in words loads the language model
@given(st.text(max_size=50) | st.lists(WORDS, max_size=8).map(" ".join))
def test_any_text_gives_an_iso_date_or_none(text: str) -> None:
    found = spoken_date(text, NOW)
    assert found is None or datetime.fromisoformat(found)
