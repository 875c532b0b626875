"""How the upstreams are, in a word each and in one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.entrypoints.http.status.samples import BROKEN, FRESH, HEALTHY, NOW, SPENT, error
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.upstream_states import level_of, state_of
from websearch_gateway.errors import ErrorCode
from websearch_gateway.upstream.health import BreakerState, UpstreamStatus


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
        (
            replace(SPENT, daily_usd=SPENT.days[0].usd / 0.85),
            ("warn", "85% of today's budget is spent"),
        ),
        (replace(SPENT, upstreams=BROKEN.upstreams), ("warn", "openai and serper are failing")),
        (replace(HEALTHY, days=[]), ("ok", "Every upstream asked so far is healthy")),
        (upstreams(a=(1, "closed"), b=(1, "closed")), ("ok", "All upstreams are healthy")),
        (upstreams(a=(1, "closed"), b=(1, "open")), ("warn", "b is failing")),
        (upstreams(a=(1, "open"), b=(0, "closed")), ("bad", "a is failing")),
        (upstreams(a=(1, "open"), b=(1, "half_open")), ("bad", "Every upstream is failing")),
        (
            upstreams(a=(1, "open"), b=(1, "open"), c=(1, "open"), d=(1, "closed")),
            ("warn", "3 upstreams are failing"),
        ),
    ],
)
def test_the_headline_counts_only_those_that_were_asked(
    snapshot: Snapshot, told: tuple[str, str]
) -> None:
    assert level_of(snapshot, NOW) == told


def test_the_headline_names_rejected_keys() -> None:
    rejected = UpstreamStatus("a", "closed", None, 9, 0, None, None, error("AUTH", "No.", 5))
    others = upstreams(b=(1, "open"), c=(1, "closed")).upstreams
    assert level_of(replace(HEALTHY, upstreams=(rejected, others[1])), NOW) == (
        "warn",
        "Key of a rejected",
    )
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
    upstream = UpstreamStatus(
        "a", "closed", None, 9, 0, None, None, error(code, "No.", seconds_ago)
    )
    assert state_of(upstream, NOW) == state
