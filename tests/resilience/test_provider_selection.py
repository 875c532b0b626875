"""The providers of a call: those that it names, else the pool, with those for the topic first."""

from __future__ import annotations

import pytest

from websearch_gateway.errors import (
    SearchAuthError,
    SearchNotConfiguredError,
    SearchProviderError,
    SearchValidationError,
)
from websearch_gateway.models import Deadline, SearchQuery, SearchResults
from websearch_gateway.resilience.provider_selection import ProviderSelection

QUERY = SearchQuery("tides")


class Scripted:
    """A Searcher that answers or raises its error, and records that it was called."""

    def __init__(self, name: str, asked: list[str]) -> None:
        self.name = name
        self.asked = asked
        self.error: Exception | None = None
        self.seconds = 0.0

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        self.asked.append(self.name)
        self.seconds = deadline.remaining()
        if self.error:
            raise self.error
        return SearchResults((), self.name)


@pytest.fixture
def asked():
    return []


@pytest.fixture
def searchers(asked):
    return {name: Scripted(name, asked) for name in ("serper", "brave", "google", "duckduckgo")}


@pytest.fixture
def selection(searchers, asked):
    absent = {"tavily": "set TAVILY_API_KEY", "searxng": "set SEARXNG_BASE_URL"}
    return ProviderSelection(Scripted("pool", asked), searchers, {"brave", "google"}, absent)


async def provider_of(searcher) -> str:
    return (await searcher.search(QUERY, Deadline.after(60))).provider


def fail(searchers, *names):
    for name in names:
        searchers[name].error = SearchProviderError("Down.")


async def test_without_names_the_pool_serves(selection):
    assert await provider_of(selection.choose()) == "pool"


async def test_named_providers_are_called_in_their_order_once_each_and_no_others(selection, searchers, asked):
    fail(searchers, "duckduckgo", "brave")
    with pytest.raises(Exception, match="duckduckgo: PROVIDER: Down; brave: PROVIDER: Down"):
        await provider_of(selection.choose(["DuckDuckGo ", "brave", "duckduckgo"]))
    assert asked == ["duckduckgo", "brave"]


async def test_for_news_the_providers_with_a_news_search_come_first(selection, searchers, asked):
    fail(searchers, "brave", "google", "serper")
    assert await provider_of(selection.choose(topic="news")) == "duckduckgo"
    assert asked == ["brave", "google", "serper", "duckduckgo"]


async def test_a_name_wins_over_the_topic(selection):
    assert await provider_of(selection.choose(["serper"], "news")) == "serper"


async def test_the_preferred_provider_may_take_half_of_the_time_however_many_follow(selection, searchers):
    await provider_of(selection.preferring(("google",)))
    assert 29 < searchers["google"].seconds <= 30


async def test_only_preferred_or_no_preferred_providers_serve_too(selection, searchers, asked):
    assert await provider_of(selection.preferring(searchers)) == "serper"
    assert await provider_of(selection.preferring(("tavily",))) == "serper"
    with pytest.raises(SearchNotConfiguredError, match="SERPER_API_KEY"):
        await provider_of(ProviderSelection(Scripted("pool", asked), {}, set(), {}).preferring(("google",)))


async def test_a_rejected_key_is_not_masked_by_the_others(selection, searchers):
    searchers["google"].error = SearchAuthError("Wrong key.")
    with pytest.raises(SearchAuthError):
        await provider_of(selection.preferring(("google",)))


def test_the_error_for_a_provider_that_cannot_serve_says_what_it_lacks(selection):
    with pytest.raises(SearchNotConfiguredError, match="tavily, which cannot serve here: set TAVILY_API_KEY"):
        selection.choose(["serper", "tavily"])


def test_the_error_for_an_unknown_name_lists_the_known_ones(selection):
    with pytest.raises(SearchValidationError, match="serper, brave, google, duckduckgo, tavily, searxng") as caught:
        selection.choose(["bing"])
    assert caught.value.details["field"] == "providers"
