from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from tests.clock import Clock
from tests.entrypoints.http.calls import QUESTION, bearer, post, search
from tests.entrypoints.http.conftest import SECRET, Door
from websearch_gateway.entrypoints.http import status
from websearch_gateway.entrypoints.http.status import BEAT_SECONDS, WINDOW_SECONDS, LoopLag
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.workers.pool import Workers


async def test_a_server_with_its_state_is_ready(door: Door) -> None:
    async with door() as http:
        replies = [await http.get(path) for path in ("/healthz", "/readyz")]
    assert [(reply.status_code, reply.json()["status"]) for reply in replies] == [(200, "ok"), (200, "ready")]


async def test_a_server_without_its_state_lives_and_is_not_ready(door: Door) -> None:
    async with door(state_url="postgresql://somebody@127.0.0.1:1/x") as http:
        replies = [await http.get(path) for path in ("/healthz", "/readyz")]
    assert [reply.status_code for reply in replies] == [200, 503]
    assert replies[1].json()["reason"]


async def test_a_server_that_keeps_its_state_in_memory_is_ready_and_its_page_says_so(
    door: Door, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    async with door(state_url=f"sqlite:///{tmp_path / 'file'}/state.db") as http:
        replies = [await http.get(path) for path in ("/readyz", "/")]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert "Costs, limits and cache in memory only" in replies[1].text


async def test_a_gateway_that_cannot_be_built_is_not_ready_and_says_why(door: Door) -> None:
    async with door(search_providers="nope") as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "nope" in reply.json()["reason"]


async def test_a_state_that_takes_too_long_is_not_ready(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "READY_SECONDS", 0)
    async with door(state_url=f"sqlite:///{tmp_path}/state.db") as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "in time" in reply.json()["reason"]


async def test_a_server_whose_workers_do_not_start_is_not_ready(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workers, "trouble", "Worker processes cannot be started.")
    async with door() as http:
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["reason"]) == (503, "Worker processes cannot be started.")


async def test_a_server_whose_loop_was_blocked_is_not_ready(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoopLag, "seconds", status.MOST_LAG_SECONDS + 1)
    async with door() as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "blocked" in reply.json()["reason"]


AUTH = {"auth_mode": "secret", "auth_secret": SECRET}


async def scraped(http: httpx2.AsyncClient) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample by name, without the prefix, and labels."""
    reply = await http.get("/metrics")
    assert reply.status_code == 200
    return {
        (sample.name.removeprefix("websearch_gateway_"), frozenset(sample.labels.items())): sample.value
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
    assert samples[key("calls_total", tool="search_web", route="gpt-6-luna-web-search", outcome="ok")] == 1
    assert samples[key("calls_total", tool="search_web", route="cache", outcome="ok")] == 1
    assert samples[key("calls_total", tool="search_web", route="refused", outcome="VALIDATION")] == 1
    assert (
        samples[key("cache_lookups_total", result="exact")] == samples[key("cache_lookups_total", result="miss")] == 1
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


async def test_a_delay_of_the_event_loop_is_shown(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    async with door() as http:
        assert 0 <= (await scraped(http))[key("event_loop_lag_seconds")] < 10
        monkeypatch.setattr(LoopLag, "seconds", 3.5)
        assert (await scraped(http))[key("event_loop_lag_seconds")] == 3.5


async def test_failures_are_counted_by_code_and_fallbacks_by_reason(door: Door, sandbox: Sandbox) -> None:
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
        reply = await http.get("/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0,*/*;q=0.1"})
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
    ours = [name.removeprefix("websearch_gateway_") for name in families if name.startswith("websearch_gateway_")]
    assert len(ours) == 14
    assert [name for name in ours if f"`{name}`" not in document and f"`{name}_total`" not in document] == []


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
