"""What monitors and operators ask: the status page, health, readiness and metrics."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from tests.clock import Clock
from tests.entrypoints.http.calls import QUESTION, bearer, post, search
from tests.entrypoints.http.conftest import SECRET, Door
from tests.entrypoints.http.status.samples import BROKEN, FRESH, HEALTHY, HOSTILE, NOW, SPENT, error
from websearch_gateway.admin.doctor import Doctor
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.entrypoints.http import status
from websearch_gateway.entrypoints.http.replies import tag
from websearch_gateway.entrypoints.http.status import (
    BEAT_SECONDS,
    WINDOW_SECONDS,
    LoopLag,
    dollars,
    duration,
    level_of,
    percent,
    rendered,
    span,
    state_of,
)
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.errors import ErrorCode
from websearch_gateway.results import Check
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.upstream.health import BreakerState, UpstreamStatus


def words(snapshot: Snapshot) -> str:
    """The text of the page, with single spaces."""
    return " ".join(" ".join(html.fromstring(rendered(snapshot, NOW)).itertext()).split())


def test_a_healthy_gateway_shows_its_numbers() -> None:
    text = words(HEALTHY)
    for shown in (
        "Every upstream asked so far is healthy",
        "14 per minute",
        "2,188 in all · 25 failed · 15 refused · 2 now",
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


def test_an_upstreams_words_stay_words() -> None:
    page = html.fromstring(rendered(BROKEN, NOW))
    assert page.findall(".//script") == page.findall(".//img") == []
    assert HOSTILE in [cell.get("title") for cell in page.iter("p")]


@pytest.mark.parametrize("place", ["name", "message"])
@given(
    text=st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1)
)
def test_no_text_changes_the_structure(place: str, text: str) -> None:
    def shape(filling: str) -> list[object]:
        name, message = (filling, "m") if place == "name" else ("n", filling)
        ill = UpstreamStatus(name, "closed", None, 1, 1, None, None, error("PROVIDER", message, 1))
        return [
            element.tag
            for element in html.fromstring(rendered(replace(FRESH, upstreams=(ill,)), NOW)).iter()
        ]

    assert shape(text) == shape("plain")


def test_attributes_are_escaped() -> None:
    assert (
        tag("p", "<b>", class_='"><script>') == '<p class="&quot;&gt;&lt;script&gt;">&lt;b&gt;</p>'
    )


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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.0, "0 ms"),
        (0.0084, "8 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (14.44, "14.4 s"),
    ],
)
def test_a_latency_has_the_unit_that_fits(seconds: float | None, text: str) -> None:
    assert duration(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3_599, "59 min"),
        (3_600, "1 h"),
        (200_000, "2 d"),
    ],
)
def test_a_long_time_has_its_largest_unit(seconds: float, text: str) -> None:
    assert span(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [(0, "$0.00"), (0.0021, "$0.0021"), (0.09, "$0.09"), (12.4, "$12.40"), (1234.5, "$1,234.50")],
)
def test_an_amount_never_looks_like_nothing(usd: float, text: str) -> None:
    assert dollars(usd) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.001, "< 1%"), (0.435, "44%"), (0.999, "> 99%"), (1, "100%")]
)
def test_a_share_is_not_rounded_to_all_or_nothing(share: float, text: str) -> None:
    assert percent(share) == text


async def test_a_server_with_its_state_is_ready(door: Door) -> None:
    async with door() as http:
        replies = [await http.get(path) for path in ("/healthz", "/readyz")]
    assert [(reply.status_code, reply.json()["status"]) for reply in replies] == [
        (200, "ok"),
        (200, "ready"),
    ]


async def test_a_server_without_its_state_is_degraded_and_still_in_the_load_balancer(
    door: Door,
) -> None:
    async with door(state_url="postgresql://somebody@127.0.0.1:1/x") as http:
        reply = await http.get("/readyz")
        answer = await http.post("/v1/search", json={"query": "How tall is the Eiffel Tower?"})
    told = reply.json()
    assert (reply.status_code, told["status"], answer.status_code) == (200, "degraded", 200)
    assert told["reason"] == told["dependencies"]["state"]
    assert "somebody" not in reply.text
    assert (told["dependencies"]["workers"], told["dependencies"]["event loop"]) == ("ok", "ok")


async def test_an_upstream_that_rests_is_named_without_its_error(
    door: Door, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=503)
    async with door(breaker_failures=1) as http:
        await http.post("/v1/search", json={"query": "How tall is the Eiffel Tower?"})
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["status"]) == (200, "degraded")
    assert reply.json()["dependencies"]["openai"] == "Its circuit is open."


async def test_probes_share_one_look_at_the_state(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    look = Doctor.check_state

    async def counted(doctor: Doctor) -> Check:
        looks.append(doctor)
        return await look(doctor)

    monkeypatch.setattr(Doctor, "check_state", counted)
    async with door() as http:
        await asyncio.gather(*(http.get("/readyz") for _ in range(5)))
        assert len(looks) == 1
        monkeypatch.setattr(status, "STATE_SECONDS", 0.0)
        await http.get("/readyz")
    assert len(looks) == 2


async def test_a_server_that_keeps_its_state_in_memory_is_degraded_and_its_page_says_so(
    door: Door, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    async with door(state_url=f"sqlite:///{tmp_path / 'file'}/state.db") as http:
        replies = [await http.get(path) for path in ("/readyz", "/")]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert replies[0].json()["status"] == "degraded"
    assert "Costs, limits and cache in memory only" in replies[1].text


async def test_a_gateway_that_cannot_be_built_is_not_ready_and_says_why(door: Door) -> None:
    async with door(search_providers="nope") as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "nope" in reply.json()["reason"]


async def test_a_gateway_that_is_still_loading_is_not_ready(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_: LazyGateway) -> None:
        await asyncio.Event().wait()

    async with door() as http:
        monkeypatch.setattr(LazyGateway, "get", hang)
        monkeypatch.setattr(status, "READY_SECONDS", 0.01)
        reply = await http.get("/readyz")
    assert (reply.status_code, "loading" in reply.json()["reason"]) == (503, True)


async def test_a_state_that_takes_too_long_is_named(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_: Doctor) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Doctor, "check_state", hang)
    async with door() as http:
        # It is built.
        await http.post("/v1/search", json={"query": "How tall is the Eiffel Tower?"})
        monkeypatch.setattr(status, "READY_SECONDS", 0.1)
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["dependencies"]["state"]) == (
        200,
        "The state does not answer in time.",
    )


async def test_a_server_whose_workers_do_not_start_is_not_ready(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workers, "trouble", "Worker processes cannot be started.")
    async with door() as http:
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["reason"]) == (
        503,
        "Worker processes cannot be started.",
    )


async def test_a_server_whose_loop_was_blocked_is_not_ready(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoopLag, "seconds", status.MOST_LAG_SECONDS + 1)
    async with door() as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "blocked" in reply.json()["reason"]


async def test_a_server_that_crawls_nothing_any_more_is_degraded_and_says_why(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        LazyGateway, "crawl_trouble", "This process crawls no documentation for now."
    )
    async with door() as http:
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["status"]) == (200, "degraded")
    assert "crawls no documentation" in reply.json()["reason"]


AUTH = {"auth_mode": "secret", "auth_secret": SECRET}


async def scraped(http: httpx2.AsyncClient) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample by name, without the prefix, and labels."""
    reply = await http.get("/metrics")
    assert reply.status_code == 200
    return {
        (
            sample.name.removeprefix("websearch_gateway_"),
            frozenset(sample.labels.items()),
        ): sample.value
        for family in parser.text_string_to_metric_families(reply.text)
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


async def test_the_counts_are_those_of_the_calls(door: Door) -> None:
    async with door(daily_budget_usd=1.0, openai_models="gpt-6-luna") as http:
        before = await scraped(http)
        for query in (QUESTION, QUESTION, "x"):
            await post(http, search(query))
        samples = await scraped(http)
    assert before[key("calls_in_flight")] == samples[key("calls_in_flight")] == 0
    assert (
        samples[key("calls_total", tool="search_web", route="gpt-6-luna-web-search", outcome="ok")]
        == 1
    )
    assert samples[key("calls_total", tool="search_web", route="cache", outcome="ok")] == 1
    assert (
        samples[key("calls_total", tool="search_web", route="refused", outcome="VALIDATION")] == 1
    )
    assert (
        samples[key("cache_lookups_total", result="exact")]
        == samples[key("cache_lookups_total", result="miss")]
        == 1
    )
    assert samples[key("call_seconds_count", tool="search_web", outcome="ok")] == 2
    assert samples[key("call_seconds_bucket", tool="search_web", outcome="ok", le="30.0")] == 2
    assert samples[key("upstream_calls_total", upstream="openai")] == 1
    assert samples[key("upstream_seconds_count", upstream="openai")] == 1
    assert samples[key("breaker_state", upstream="openai", state="closed")] == 1
    paid = samples[key("cost_usd_total", upstream="openai")]
    assert 0 < paid < 0.1
    assert samples[key("budget_left_usd")] == 1.0 - paid
    assert samples[("process_resident_memory_bytes", frozenset())] > 0


async def test_a_delay_of_the_event_loop_is_shown(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with door() as http:
        assert 0 <= (await scraped(http))[key("event_loop_lag_seconds")] < 10
        monkeypatch.setattr(LoopLag, "seconds", 3.5)
        assert (await scraped(http))[key("event_loop_lag_seconds")] == 3.5


async def test_failures_are_counted_by_code_and_fallbacks_by_reason(
    door: Door, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=503)
    async with door(breaker_failures=1) as http:
        await post(http, search())
        samples = await scraped(http)
    assert samples[key("upstream_errors_total", upstream="openai", code="PROVIDER")] == 1
    assert samples[key("fallbacks_total", fallback_from="openai", reason="PROVIDER")] == 1
    assert samples[key("breaker_state", upstream="openai", state="open")] == 1


async def test_no_label_holds_a_query_or_a_user(door: Door) -> None:
    async with door(**AUTH) as http:
        await post(http, search("Which zebra crossed the ocean?"), **bearer("mallory@example.org"))
        text = (await http.get("/metrics", headers=bearer(scope="ops"))).text
    assert "search_web" in text
    assert "zebra" not in text
    assert "mallory" not in text


async def test_who_asks_for_openmetrics_gets_it(door: Door) -> None:
    async with door() as http:
        await post(http, search())
        reply = await http.get(
            "/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0,*/*;q=0.1"}
        )
    assert reply.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert "websearch_gateway_calls" in {
        family.name for family in openmetrics.text_string_to_metric_families(reply.text)
    }


async def test_the_metrics_need_the_scope_ops(door: Door) -> None:
    async with door(**AUTH) as http:
        assert (await http.get("/metrics")).status_code == 401
        refused = await http.get("/metrics", headers=bearer(scope="search read admin"))
        assert refused.status_code == 403
        assert 'scope="ops"' in refused.headers["www-authenticate"]
        assert (await http.get("/metrics", headers=bearer(scope="ops"))).status_code == 200


async def test_a_gateway_that_cannot_be_built_says_why(door: Door) -> None:
    async with door(search_providers="nope") as http:
        reply = await http.get("/metrics")
    assert reply.status_code == 503
    assert reply.json()["error"]["code"] == "NOT_CONFIGURED"


async def test_every_metric_is_in_its_document(door: Door) -> None:
    document = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
    async with door(daily_budget_usd=1.0, openai_models="gpt-6-luna") as http:
        reply = await http.get("/metrics")
    families = [family.name for family in parser.text_string_to_metric_families(reply.text)]
    ours = [
        name.removeprefix("websearch_gateway_")
        for name in families
        if name.startswith("websearch_gateway_")
    ]
    assert len(ours) == 14
    assert [
        name for name in ours if f"`{name}`" not in document and f"`{name}_total`" not in document
    ] == []


async def test_a_block_counts_while_it_lasts_and_for_ten_seconds_after() -> None:
    clock = Clock(100.0)
    lag = LoopLag(clock)

    def pass_on_time(seconds: float) -> None:
        for _ in range(round(seconds / BEAT_SECONDS)):
            clock.now += BEAT_SECONDS
            lag.beat()

    async with lag.watched():
        await asyncio.sleep(0)
        assert lag.seconds == 0
        clock.now += BEAT_SECONDS + 3
        assert lag.seconds == 3
        lag.beat()
        pass_on_time(WINDOW_SECONDS - 1)
        assert lag.seconds == 3
        pass_on_time(2)
        assert lag.seconds == 0


async def test_nothing_is_late_that_is_not_watched() -> None:
    assert LoopLag().seconds == 0
