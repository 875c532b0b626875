from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from tests.entrypoints.http.status.samples import BROKEN, FRESH, HEALTHY, HOSTILE, NOW, SPENT, error
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.replies import tag
from websearch_gateway.entrypoints.http.status import (
    count,
    dollars,
    duration,
    level_of,
    percent,
    rendered,
    span,
    state_of,
)
from websearch_gateway.errors import ErrorCode
from websearch_gateway.upstream.health import BreakerState, UpstreamStatus


def words(snapshot: Snapshot) -> str:
    """The text of the page, with single spaces."""
    return " ".join(" ".join(html.fromstring(rendered(snapshot, NOW, "")).itertext()).split())


def test_a_healthy_gateway_shows_its_numbers() -> None:
    text = words(HEALTHY)
    for shown in (
        "Every upstream asked so far is healthy",
        "14 per minute",
        "2,188 calls · 40 failed · 2 now",
        "43%",
        "402 exact · 118 similar · 684 new",
        "$1.83 of $5.00",
        "$3.17 left · cache saved $0.91",
        "1.8 s median",
        "brave not asked 0",
        "TIMEOUT · 2 h ago · No answer in time.",
        "FETCH get_content 42 s ago",
        "up 3 d",
    ):
        assert shown in text


def test_a_broken_one_says_what_is_wrong() -> None:
    text = words(BROKEN)
    assert "openai and serper are failing" in text
    assert "openai circuit open 24 s" in text
    assert "serper probing" in text
    assert "$0.09 left" in text


def test_a_new_one_claims_nothing() -> None:
    text = words(FRESH)
    assert "Waiting for the first call" in text
    assert "healthy" not in text
    assert "no budget set" in text


def test_costs_that_nobody_can_read_are_not_zero() -> None:
    text = words(replace(HEALTHY, days=[]))
    assert "The ledger cannot be read" in text
    assert "$" not in text


def test_a_budget_of_nothing_is_used_up() -> None:
    assert "100% of the budget" in words(replace(HEALTHY, daily_usd=0.0))


def test_an_upstreams_words_stay_words() -> None:
    page = html.fromstring(rendered(BROKEN, NOW, ""))
    assert page.findall(".//script") == page.findall(".//img") == []
    assert HOSTILE in [cell.get("title") for cell in page.iter("p")]


@pytest.mark.parametrize("place", ["name", "message"])
@given(text=st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1))
def test_no_text_changes_the_structure(place: str, text: str) -> None:
    def shape(filling: str) -> list[object]:
        name, message = (filling, "m") if place == "name" else ("n", filling)
        ill = UpstreamStatus(name, "closed", None, 1, 1, None, None, error("PROVIDER", message, 1))
        return [element.tag for element in html.fromstring(rendered(replace(FRESH, upstreams=(ill,)), NOW, "")).iter()]

    assert shape(text) == shape("plain")


def test_attributes_are_escaped() -> None:
    assert tag("p", "<b>", class_='"><script>') == '<p class="&quot;&gt;&lt;script&gt;">&lt;b&gt;</p>'


def upstreams(**calls_and_breakers: tuple[int, BreakerState]) -> Snapshot:
    """A gateway with these upstreams."""
    statuses = (
        UpstreamStatus(name, breaker, None, calls, 0, None, None, None)
        for name, (calls, breaker) in calls_and_breakers.items()
    )
    return replace(HEALTHY, upstreams=tuple(statuses))


@pytest.mark.parametrize(
    ("snapshot", "told"),
    [
        (FRESH, ("idle", "Waiting for the first call")),
        (SPENT, ("warn", "Today's budget is spent")),
        (replace(SPENT, daily_usd=SPENT.days[0].usd / 0.85), ("warn", "85% of today's budget is spent")),
        (replace(SPENT, upstreams=BROKEN.upstreams), ("warn", "openai and serper are failing")),
        (replace(HEALTHY, days=[]), ("ok", "Every upstream asked so far is healthy")),
        (upstreams(a=(1, "closed"), b=(1, "closed")), ("ok", "All upstreams are healthy")),
        (upstreams(a=(1, "closed"), b=(1, "open")), ("warn", "b is failing")),
        (upstreams(a=(1, "open"), b=(0, "closed")), ("bad", "a is failing")),
        (upstreams(a=(1, "open"), b=(1, "half_open")), ("bad", "Every upstream is failing")),
        (upstreams(a=(1, "open"), b=(1, "open"), c=(1, "open"), d=(1, "closed")), ("warn", "3 upstreams are failing")),
    ],
)
def test_the_headline_counts_only_those_that_were_asked(snapshot: Snapshot, told: tuple[str, str]) -> None:
    assert level_of(snapshot, NOW) == told


def test_the_headline_names_rejected_keys() -> None:
    rejected = UpstreamStatus("a", "closed", None, 9, 0, None, None, error("AUTH", "No.", 5))
    others = upstreams(b=(1, "open"), c=(1, "closed")).upstreams
    assert level_of(replace(HEALTHY, upstreams=(rejected, others[1])), NOW) == ("warn", "Key of a rejected")
    told = level_of(replace(HEALTHY, upstreams=(rejected, *others)), NOW)
    assert told == ("warn", "a and b are failing. Key of a rejected")


def test_a_gateway_that_is_to_spend_nothing_is_not_told_so_all_day() -> None:
    assert level_of(replace(HEALTHY, daily_usd=0.0), NOW)[0] == "ok"


@pytest.mark.parametrize(
    ("code", "seconds_ago", "state"),
    [
        ("AUTH", 599, ("bad", "key rejected")),
        ("AUTH", 601, ("ok", "healthy")),
        ("NOT_CONFIGURED", 1, ("bad", "not set up")),
        ("PROVIDER", 1, ("ok", "healthy")),
    ],
)
def test_a_rejected_key_is_seen_although_no_breaker_opens(
    code: ErrorCode, seconds_ago: float, state: tuple[str, str]
) -> None:
    upstream = UpstreamStatus("a", "closed", None, 9, 0, None, None, error(code, "No.", seconds_ago))
    assert state_of(upstream, NOW) == state


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0.0, "0 ms"), (0.0084, "8 ms"), (0.9994, "999 ms"), (0.9996, "1.0 s"), (14.44, "14.4 s")],
)
def test_a_latency_has_the_unit_that_fits(seconds: float | None, text: str) -> None:
    assert duration(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1 min"), (3_599, "59 min"), (3_600, "1 h"), (200_000, "2 d")],
)
def test_a_long_time_has_its_largest_unit(seconds: float, text: str) -> None:
    assert span(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("usd", "text"), [(0, "$0.00"), (0.0021, "$0.0021"), (0.09, "$0.09"), (12.4, "$12.40"), (1234.5, "$1,234.50")]
)
def test_an_amount_never_looks_like_nothing(usd: float, text: str) -> None:
    assert dollars(usd) == text


@pytest.mark.parametrize(("share", "text"), [(0, "0%"), (0.001, "< 1%"), (0.435, "44%"), (0.999, "> 99%"), (1, "100%")])
def test_a_share_is_not_rounded_to_all_or_nothing(share: float, text: str) -> None:
    assert percent(share) == text


def test_one_of_a_thing_is_named_so() -> None:
    assert (count(1, "call", "calls"), count(1204, "call", "calls")) == ("1 call", "1,204 calls")
