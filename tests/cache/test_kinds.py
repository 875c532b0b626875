"""Which results of a web search and of a raw search are worth keeping, and how they come back."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tests import stored_answer
from tests.clock import Clock
from websearch_gateway.cache.kinds import ANSWERS, RAW_RESULTS, WEB_RESULTS, RawResult
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.results import ResultCache, Served, variant
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.results import (
    ErrorInfo,
    SearchResponse,
    WebResult,
    WebSearchResponse,
)
from websearch_gateway.state.memory import MemoryState

LIFETIMES = Lifetimes(300, 300, 0)
WEB_QUERY = SearchQuery("tides", max_results=3)
RESULT = WebResult(
    title="T", link="https://a.example/", page_content="text", provider="brave", relevance_score=0.5
)
RESPONSE = WebSearchResponse(results=(RESULT,), cost_usd=0.005, warnings=("one",))
RECALLED_RESULTS = Served(
    RESPONSE.model_copy(update={"cache": "exact", "cost_usd": 0.0}), saved_usd=0.005
)
ME = Caller("me")


@pytest.fixture
def web_cache(state, clock):
    return ResultCache(state, WEB_RESULTS, LIFETIMES, clock=clock)


@pytest.fixture
def other_web_process(state, clock):
    return ResultCache(state, WEB_RESULTS, LIFETIMES, clock=clock)


@pytest.mark.parametrize(("stopgap", "seconds"), [(False, 300), (True, 60)])
async def test_results_are_served_for_their_ttl_and_a_stopgap_for_a_minute(
    web_cache, other_web_process, clock, stopgap, seconds
):
    await web_cache.put(WEB_QUERY, ME, RESPONSE, stopgap=stopgap)
    clock.now += seconds - 1
    aged = RECALLED_RESULTS.response.model_copy(update={"age_seconds": seconds - 1})
    expected = Served(aged, RECALLED_RESULTS.saved_usd, age_seconds=seconds - 1)
    assert (
        await web_cache.get(WEB_QUERY, ME) == await other_web_process.get(WEB_QUERY, ME) == expected
    )
    clock.now += 1
    assert await web_cache.get(WEB_QUERY, ME) is None
    assert await other_web_process.get(WEB_QUERY, ME) is None


async def test_a_ttl_of_zero_turns_it_off(web_cache, state):
    off = ResultCache(state, WEB_RESULTS, Lifetimes(0, 0, 0))
    await off.put(WEB_QUERY, ME, RESPONSE, stopgap=False)
    assert [entry async for entry in state.scan("")] == []
    await web_cache.put(WEB_QUERY, ME, RESPONSE, stopgap=False)
    assert await off.get(WEB_QUERY, ME) is None


def test_the_order_of_providers_and_the_scope_are_part_of_the_key(web_cache, state):
    asked = ((), ("brave",), ("brave", "serper"), ("serper", "brave"))
    keys = {
        web_cache.key(dataclasses.replace(WEB_QUERY, variant=variant(names)), ME) for names in asked
    }
    assert len(keys) == 4
    assert web_cache.key(WEB_QUERY, ME) == web_cache.key(WEB_QUERY, Caller("you"))
    private = ResultCache(state, WEB_RESULTS, LIFETIMES, scope="user")
    assert private.key(WEB_QUERY, ME) != private.key(WEB_QUERY, Caller("you"))


@pytest.mark.parametrize(
    "worthless",
    [
        WebSearchResponse(),
        RESPONSE.model_copy(update={"error": ErrorInfo(code="PROVIDER")}),
    ],
)
async def test_errors_and_empty_results_are_not_cached(web_cache, state, worthless):
    await web_cache.put(WEB_QUERY, ME, worthless, stopgap=False)
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
async def test_a_row_that_is_not_ours_is_a_miss(web_cache, other_web_process, state, change):
    key = web_cache.key(WEB_QUERY, ME)
    await web_cache.put(WEB_QUERY, ME, RESPONSE, stopgap=False)
    row = json.loads(await state.get(key))
    row["response"]["results"][0] |= change
    await state.put(key, json.dumps(row).encode())
    assert await other_web_process.get(WEB_QUERY, ME) is None


FOUND = RawResult(
    provider="google", result={"items": [{"link": "https://a.example/"}]}, cost_usd=0.005
)


@pytest.fixture
def raw_cache(clock: Clock) -> ResultCache[RawResult]:
    return ResultCache(MemoryState(clock=clock), RAW_RESULTS, Lifetimes(300, 600, 0), clock=clock)


async def test_a_result_is_served_free_of_charge_with_its_age(
    raw_cache: ResultCache[RawResult], clock: Clock
) -> None:
    await raw_cache.put(WEB_QUERY, ME, FOUND)
    clock.now += 599
    served = await raw_cache.get(WEB_QUERY, ME)
    assert served is not None
    assert (served.response.cache, served.response.cost_usd, served.saved_usd) == (
        "exact",
        0,
        0.005,
    )
    assert (served.response.result, served.response.age_seconds) == (FOUND.result, 599)
    clock.now += 1
    assert await raw_cache.get(WEB_QUERY, ME) is None


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"items": []},
        {"items": ["x"]},
        {"items": {"link": "x"}},
        {"items": [{"link": "javascript:alert(1)"}]},
    ],
)
async def test_results_without_items_or_with_other_links_are_not_kept(
    raw_cache: ResultCache[RawResult], result: dict[str, object]
) -> None:
    await raw_cache.put(WEB_QUERY, ME, FOUND.model_copy(update={"result": result}))
    assert await raw_cache.get(WEB_QUERY, ME) is None


CITED = stored_answer.ANSWER
OFF = CITED.citations[0].model_copy(update={"end_index": len(CITED.text) + 1})


@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [
        (CITED, True),
        (CITED.model_copy(update={"citations": ()}), False),
        (CITED.model_copy(update={"citations": (OFF,)}), False),
        (CITED.model_copy(update={"error": ErrorInfo(code="PROVIDER")}), False),
    ],
    ids=["cited", "no source", "misplaced", "error"],
)
def test_an_answer_without_an_error_and_with_places_in_its_text_is_kept(
    answer: SearchResponse, is_kept: bool
) -> None:
    assert (ANSWERS.recalled(answer) is not None) is is_kept
