"""Notes that replace unreadable pages."""

from __future__ import annotations

import pytest

from websearch_gateway.base.notes import REASONS, nothing_found, reason, unreadable_note
from websearch_gateway.models import SearchQuery


@pytest.mark.parametrize(
    ("code", "details", "expected"),
    [
        ("FETCH", {"status": 401}, "protected"),
        ("FETCH", {"status": 403}, "protected"),
        ("FETCH", {"status": 404}, "missing"),
        ("FETCH", {"status": 410}, "missing"),
        ("FETCH", {"status": 429}, "busy"),
        ("FETCH", {"status": 503}, "broken"),
        ("FETCH", {"status": 418}, "unreadable"),
        ("FETCH", {"reason": "too_large"}, "too_large"),
        ("FETCH", {"reason": "robot_page", "status": 403}, "robot_page"),
        ("FETCH", {"reason": "made up", "status": 404}, "missing"),
        ("FETCH", {"reason": ["robots"]}, "unreadable"),
        ("TIMEOUT", None, "timeout"),
        ("FORBIDDEN_URL", {}, "forbidden"),
        ("PROVIDER", {"status": 404}, "unreadable"),
    ],
)
def test_every_failure_has_one_reason(
    code: str, details: dict[str, object] | None, expected: str
) -> None:
    assert reason(code, details) == expected


def test_the_note_names_the_site_and_the_reason() -> None:
    note = unreadable_note(
        "FETCH", {"status": 404}, "example.com", "example.com answered with HTTP status 404."
    )
    assert note == (
        "**This page of example.com could not be read: not found.** example.com answered with HTTP status 404. "
        "There is no page at this address (any more); look for its new address."
    )


@pytest.mark.parametrize("why", sorted(REASONS))
def test_every_reason_has_its_own_note(why: str) -> None:
    notes = {
        unreadable_note("FETCH", {"reason": other}, "example.com", "It failed.")
        for other in REASONS
    }
    assert unreadable_note("FETCH", {"reason": why}, "example.com", "It failed.") in notes
    assert len(notes) == len(REASONS)


def test_a_host_cannot_write_markdown() -> None:
    assert "](" not in unreadable_note("TIMEOUT", None, "a](javascript:alert(1))", "")
    assert unreadable_note("TIMEOUT", None, "", "").startswith(
        "**This page could not be read: too slow.**"
    )


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (SearchQuery("q"), "Nothing was found: try fewer or other words."),
        (
            SearchQuery("q", freshness_hours=168, topic="news"),
            "Nothing was found with these filters: the last 7 days (usual for news). Try more, or other words.",
        ),
        (
            SearchQuery(
                "q",
                region="DE",
                language="de",
                exclude_domains=("a.example", "b.example", "c.example", "d.example"),
            ),
            "Nothing was found with these filters: not a.example, b.example, c.example, ...; the region DE; the "
            "language de. Try other `excludeDomains`, no `region`, no `language`, or other words.",
        ),
    ],
)
def test_a_search_that_found_nothing_tells_its_filters_and_what_to_try(
    query: SearchQuery, told: str
) -> None:
    assert nothing_found(query, longer="more") == told


@pytest.mark.parametrize(("topic", "is_usual"), [("news", True), ("general", False)])
def test_a_period_that_is_usual_for_news_is_called_so(topic: str, is_usual: bool) -> None:
    query = SearchQuery("tides", freshness_hours=24, topic=topic)
    assert ("usual for news" in nothing_found(query)) is is_usual
