"""The cache of single queries of `web_search_raw`, and the rows that it does not trust."""

from __future__ import annotations

import pytest

from tests.clock import Clock
from websearch_gateway.cache.exact_cache import ExactCache
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.raw_results import RAW_RESULTS, RawResult
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.state.memory import MemoryState

QUERY = SearchQuery("tides", max_results=3)
ME = Caller("me")
FOUND = RawResult(provider="google", result={"items": [{"link": "https://a.example/"}]}, cost_usd=0.005)


@pytest.fixture
def cache(clock: Clock) -> ExactCache[RawResult]:
    return ExactCache(MemoryState(clock=clock), RAW_RESULTS, Lifetimes(300, 600, 0), clock=clock)


async def test_a_result_is_served_free_of_charge_with_its_age(cache: ExactCache[RawResult], clock: Clock) -> None:
    await cache.put(QUERY, ME, FOUND)
    clock.now += 599
    served = await cache.get(QUERY, ME)
    assert served is not None
    assert (served.response.cache, served.response.cost_usd, served.saved_usd) == ("exact", 0, 0.005)
    assert (served.response.result, served.response.age_seconds) == (FOUND.result, 599)
    clock.now += 1
    assert await cache.get(QUERY, ME) is None


@pytest.mark.parametrize(
    "result",
    [{}, {"items": []}, {"items": ["x"]}, {"items": {"link": "x"}}, {"items": [{"link": "javascript:alert(1)"}]}],
)
async def test_results_without_items_or_with_other_links_are_not_kept(
    cache: ExactCache[RawResult], result: dict[str, object]
) -> None:
    await cache.put(QUERY, ME, FOUND.model_copy(update={"result": result}))
    assert await cache.get(QUERY, ME) is None
