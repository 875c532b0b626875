"""RFC 5861: if everything fails, an old answer is better than none, and is marked as stale."""

from __future__ import annotations

import asyncio

import pytest

from bench.virtual_time import in_virtual_time, now
from tests.clock import Clock
from tests.opening import UPSTREAMS, Open
from websearch_gateway.base import AddressPolicy
from websearch_gateway.cache.kinds import ANSWERS
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.results import ResultCache
from websearch_gateway.errors import Exhausted
from websearch_gateway.models import (
    Answer,
    Call,
    RawSearchRequest,
    SearchRequest,
    Span,
    WebSearchRequest,
)
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.pipeline.recall import Recall
from websearch_gateway.pipeline.search import SearchPipeline
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream.single_flight import SingleFlight
from websearch_gateway.upstream.telemetry import Telemetry

TOWER = SearchRequest("How tall is the Eiffel Tower?")
WEATHER = SearchRequest("How is the weather at the Eiffel Tower?")
ESPRESSO = WebSearchRequest("descale an espresso machine")
LIFETIMES = Lifetimes(300, 3_600, 86_400)
EXPIRED_AT_ONCE = {"cache_ttl_seconds": 1e-6, "cache_long_ttl_seconds": 1e-6}


def break_all(sandbox: Sandbox) -> None:
    for upstream in UPSTREAMS:
        sandbox.fault(upstream, "status", status=503)


async def test_an_old_answer_replaces_the_error_when_every_upstream_fails(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(**EXPIRED_AT_ONCE) as opened:
        first = await opened.search(TOWER)
        break_all(sandbox)
        second = await opened.search(TOWER)
        statistics = await opened.cache.stats()
    assert (first.cache, second.cache) == ("miss", "stale")
    assert (second.text, second.citations) == (first.text, first.citations)
    assert second.cost_usd == 0
    assert second.age_seconds >= 0
    assert "old: a new search failed with PROVIDER" in second.warnings[-1]
    assert (statistics.stale_served, statistics.misses) == (1, 1)


async def test_old_web_results_replace_errors_too(gateway: Open, sandbox: Sandbox) -> None:
    async with gateway(**EXPIRED_AT_ONCE) as opened:
        first = await opened.web_search(ESPRESSO)
        break_all(sandbox)
        second = await opened.web_search(ESPRESSO)
    assert (first.cache, second.cache) == ("miss", "stale")
    assert second.results == first.results
    assert "old: a new search failed" in second.warnings[-1]


async def test_an_old_raw_result_of_google_is_served_and_not_that_of_its_substitute(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(**EXPIRED_AT_ONCE) as opened:
        first = await opened.raw_search(RawSearchRequest(("tides",)))
        sandbox.fault("google", "status", status=503)
        second = await opened.raw_search(RawSearchRequest(("tides",)))
        break_all(sandbox)
        third = await opened.raw_search(RawSearchRequest(("tides",)))
    assert [reply.queries[0].cache for reply in (first, second, third)] == ["miss", "miss", "stale"]
    assert [reply.queries[0].provider for reply in (first, second, third)] == [
        "google",
        "serper",
        "google",
    ]
    assert third.queries[0].result == first.queries[0].result
    assert "old: a new search failed" in third.warnings[-1]


async def test_an_old_raw_result_is_served_when_a_provider_hangs_until_the_deadline(
    gateway: Open, sandbox: Sandbox
) -> None:
    settings = {**EXPIRED_AT_ONCE, "search_providers": "google"}
    async with gateway(**settings) as opened:
        first = await opened.raw_search(RawSearchRequest(("tides",)))
    sandbox.fault("google", "hang")
    async with gateway(**settings, search_deadline_seconds=2.0) as opened:
        second = await opened.raw_search(RawSearchRequest(("tides",)))
    assert second.queries[0].cache == "stale"
    assert second.queries[0].result == first.queries[0].result


async def test_an_extractive_answer_does_not_replace_the_old_answer_of_the_engine(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(**EXPIRED_AT_ONCE) as opened:
        first = await opened.search(TOWER)
        sandbox.fault("openai", "status", status=503)
        stopgap = await opened.search(TOWER)
        break_all(sandbox)
        third = await opened.search(TOWER)
    assert stopgap.fallback is not None
    assert (third.cache, third.provider, third.text) == ("stale", first.provider, first.text)


@pytest.mark.parametrize(
    ("request_", "settings"),
    [
        (WEATHER, {}),
        (SearchRequest(TOWER.query, freshness_hours=24), {}),
        (TOWER, {"stale_if_error_seconds": 0}),
    ],
)
async def test_no_old_answer_is_served_for_changing_subjects_or_if_the_operator_forbids_it(
    gateway: Open, sandbox: Sandbox, request_: SearchRequest, settings: dict[str, float]
) -> None:
    async with gateway(**EXPIRED_AT_ONCE, **settings) as opened:
        await opened.search(request_)
        break_all(sandbox)
        with pytest.raises(Exhausted):
            await opened.search(request_)


class Once:
    """An engine that answers one question, and then takes longer than anybody waits."""

    name = "once"
    asked = 0

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    async def ask(self, call: Call) -> Answer:
        self.asked += 1
        if self.asked > 1:
            await asyncio.sleep(3600)
        await asyncio.sleep(self._seconds)
        return Answer("It is 330 m tall.", (Span("https://a.example/", "A", 0, 17),), self.name)


def answering(engine: Once, state: MemoryState, clock: Clock) -> SearchPipeline:
    limits = RateLimits(state, MemoryState(), "")
    recall = Recall(
        ResultCache(state, ANSWERS, LIFETIMES, clock=clock), SingleFlight(), limits, limits, state
    )
    return SearchPipeline(Guard({}, ()), recall, engine, AddressPolicy(), Telemetry([]), 5.0)


@in_virtual_time
async def test_an_engine_that_overruns_its_time_leaves_time_for_an_old_answer() -> None:
    clock = Clock()
    pipeline = answering(Once(), MemoryState(), clock)
    await pipeline.search(TOWER)
    clock.now += 2 * LIFETIMES.longest
    assert (await pipeline.search(TOWER)).cache == "stale"
    assert now() < 5


class Hanging(MemoryState):
    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        await asyncio.sleep(3600)


@in_virtual_time
async def test_a_state_that_hangs_does_not_cost_an_answer_that_comes_late() -> None:
    pipeline = answering(Once(4.8), Hanging(), Clock())
    assert (await pipeline.search(TOWER)).text
    assert now() < 5
    assert (await pipeline.search(TOWER)).cache == "exact"


async def test_lasting_answers_live_longer_than_those_about_changing_subjects(
    gateway: Open,
) -> None:
    async with gateway(cache_ttl_seconds=1e-6, cache_long_ttl_seconds=60) as opened:
        for request, expected in ((TOWER, "exact"), (WEATHER, "miss")):
            await opened.search(request)
            assert (await opened.search(request)).cache == expected
