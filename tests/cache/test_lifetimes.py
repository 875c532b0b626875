"""For how long results are served."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from websearch_gateway.cache.lifetimes import Lifetimes, is_current, is_timely
from websearch_gateway.models import SearchQuery

NOW = datetime(2026, 11, 21, tzinfo=UTC).timestamp()
LASTING = SearchQuery("how tall is the eiffel tower")
ONE_LIFETIME = Lifetimes(ttl=300, long_ttl=3_600, stale_if_error=86_400)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "bitcoin price"},
        {"text": "laws of 2026"},
        {"freshness_hours": 8_760},
        {"topic": "news"},
    ],
)
def test_a_changing_subject_is_fresh_for_a_short_time_and_never_stale(change: dict) -> None:
    query = replace(LASTING, **change)
    assert is_current(query, NOW)
    assert (ONE_LIFETIME.fresh(query, NOW), ONE_LIFETIME.stale(query, NOW)) == (300, 0)


def test_a_lasting_subject_is_fresh_for_longer_and_may_be_stale() -> None:
    assert not is_current(LASTING, NOW)
    assert (ONE_LIFETIME.fresh(LASTING, NOW), ONE_LIFETIME.stale(LASTING, NOW)) == (3_600, 86_400)


def test_a_freshness_filter_shortens_the_time_to_a_tenth_of_its_hours() -> None:
    assert replace(ONE_LIFETIME, ttl=3_600).fresh(replace(LASTING, freshness_hours=1), NOW) == 360


def test_a_ttl_of_zero_turns_the_cache_off() -> None:
    off = replace(ONE_LIFETIME, ttl=0)
    assert (off.fresh(LASTING, NOW), off.stale(LASTING, NOW)) == (0, 0)


@pytest.mark.parametrize(
    ("text", "timely"),
    [
        ("weather in oslo", True),
        ("latest python version", True),
        ("price of a macbook", True),
        ("how much is a macbook", True),
        ("events in berlin 2026", True),
        ("events in berlin 2027", True),
        ("events in berlin 2019", False),
        ("python 3.2026", False),
        ("who wrote hamlet", False),
        ("who won the match", True),
        ("Is GitHub down", True),
        ("known issues", False),
    ],
)
def test_questions_with_changing_answers_are_timely(text: str, timely: bool) -> None:
    assert is_timely(text, 2026) is timely
