"""What a scraper is told."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from tests.entrypoints.http.calls import QUESTION, bearer, post, search
from tests.entrypoints.http.conftest import SECRET, Door
from websearch_gateway.entrypoints.http.loop_lag import LoopLag
from websearch_gateway.sandbox import Sandbox

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
