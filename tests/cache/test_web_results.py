"""The cache of results with pages: lifetimes, and the rows that it does not trust."""

from __future__ import annotations

import dataclasses
import json

import pytest

from websearch_gateway.cache.exact_cache import ExactCache, variant
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.result_store import Served
from websearch_gateway.cache.web_results import WEB_RESULTS
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.results.base import ErrorInfo
from websearch_gateway.results.search import WebResult, WebSearchResponse

QUERY = SearchQuery("tides", max_results=3)
RESULT = WebResult(title="T", link="https://a.example/", page_content="text", provider="brave", relevance_score=0.5)
RESPONSE = WebSearchResponse(results=(RESULT,), cost_usd=0.005, warnings=("one",))
RECALLED = Served(RESPONSE.model_copy(update={"cache": "exact", "cost_usd": 0.0}), saved_usd=0.005)
LIFETIMES = Lifetimes(300, 300, 0)
ME = Caller("me")


@pytest.fixture
def cache(state, clock):
    return ExactCache(state, WEB_RESULTS, LIFETIMES, clock=clock)


@pytest.fixture
def other_process(state, clock):
    return ExactCache(state, WEB_RESULTS, LIFETIMES, clock=clock)


@pytest.mark.parametrize(("stopgap", "seconds"), [(False, 300), (True, 60)])
async def test_results_are_served_for_their_ttl_and_a_stopgap_for_a_minute(
    cache, other_process, clock, stopgap, seconds
):
    await cache.put(QUERY, ME, RESPONSE, stopgap=stopgap)
    clock.now += seconds - 1
    aged = RECALLED.response.model_copy(update={"age_seconds": seconds - 1})
    expected = Served(aged, RECALLED.saved_usd, age_seconds=seconds - 1)
    assert await cache.get(QUERY, ME) == await other_process.get(QUERY, ME) == expected
    clock.now += 1
    assert await cache.get(QUERY, ME) is None
    assert await other_process.get(QUERY, ME) is None


async def test_a_ttl_of_zero_turns_it_off(cache, state):
    off = ExactCache(state, WEB_RESULTS, Lifetimes(0))
    await off.put(QUERY, ME, RESPONSE, stopgap=False)
    assert [entry async for entry in state.scan("")] == []
    await cache.put(QUERY, ME, RESPONSE, stopgap=False)
    assert await off.get(QUERY, ME) is None


def test_the_order_of_providers_and_the_scope_are_part_of_the_key(cache, state):
    asked = ((), ("brave",), ("brave", "serper"), ("serper", "brave"))
    keys = {cache.key(dataclasses.replace(QUERY, variant=variant(names)), ME) for names in asked}
    assert len(keys) == 4
    assert cache.key(QUERY, ME) == cache.key(QUERY, Caller("you"))
    private = ExactCache(state, WEB_RESULTS, LIFETIMES, scope="user")
    assert private.key(QUERY, ME) != private.key(QUERY, Caller("you"))


@pytest.mark.parametrize(
    "worthless",
    [
        WebSearchResponse(),
        RESPONSE.model_copy(update={"error": ErrorInfo(code="PROVIDER")}),
    ],
)
async def test_errors_and_empty_results_are_not_cached(cache, state, worthless):
    await cache.put(QUERY, ME, worthless, stopgap=False)
    assert [entry async for entry in state.scan("")] == []


@pytest.mark.parametrize(
    "change",
    [
        {"link": "javascript:alert(1)"},
        {"page_content": ""},
        {"page_content": None},
        {"relevance_score": 7},
        {"relevance_score": "NaN"},
    ],
)
async def test_a_row_that_is_not_ours_is_a_miss(cache, other_process, state, change):
    key = cache.key(QUERY, ME)
    await cache.put(QUERY, ME, RESPONSE, stopgap=False)
    row = json.loads(await state.get(key))
    row["response"]["results"][0] |= change
    await state.put(key, json.dumps(row).encode())
    assert await other_process.get(QUERY, ME) is None
