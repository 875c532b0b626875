"""Which providers a call asks, and in which order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest

from websearch_gateway.errors import (
    SearchAuthError,
    SearchNotConfiguredError,
    SearchProviderError,
    SearchValidationError,
)
from websearch_gateway.models import Call, Deadline, SearchQuery, SearchResults
from websearch_gateway.upstream.provider_selection import ProviderSelection, by_weight

CHOSEN_QUERY = SearchQuery("tides")


class ScriptedProvider:
    """A Searcher that answers or raises its error, and records that it was called."""

    def __init__(self, name: str, asked: list[str]) -> None:
        self.name = name
        self.asked = asked
        self.error: Exception | None = None
        self.seconds = 0.0

    async def ask(self, call: Call) -> SearchResults:
        self.asked.append(self.name)
        self.seconds = call.remaining()
        if self.error:
            raise self.error
        return SearchResults((), self.name)


@pytest.fixture
def asked():
    return []


@pytest.fixture
def provider_selection_three_providers(asked):
    return {
        name: ScriptedProvider(name, asked) for name in ("serper", "brave", "google", "duckduckgo")
    }


@pytest.fixture
def selection(provider_selection_three_providers, asked):
    absent = {"tavily": "set TAVILY_API_KEY", "searxng": "set SEARXNG_BASE_URL"}
    return ProviderSelection(
        ScriptedProvider("pool", asked),
        provider_selection_three_providers,
        {"brave", "google"},
        absent,
    )


async def provider_of(searcher) -> str:
    return (await searcher.ask(Call.of(CHOSEN_QUERY, Deadline.after(60)))).provider


def fail(provider_selection_three_providers, *names):
    for name in names:
        provider_selection_three_providers[name].error = SearchProviderError("Down.")


async def test_without_names_the_pool_serves(selection):
    assert await provider_of(selection.choose()) == "pool"


async def test_named_providers_are_called_in_their_order_once_each_and_no_others(
    selection, provider_selection_three_providers, asked
):
    fail(provider_selection_three_providers, "duckduckgo", "brave")
    with pytest.raises(Exception, match="duckduckgo: PROVIDER: Down; brave: PROVIDER: Down"):
        await provider_of(selection.choose(["DuckDuckGo ", "brave", "duckduckgo"]))
    assert asked == ["duckduckgo", "brave"]


async def test_for_news_the_providers_with_a_news_search_come_first(
    selection, provider_selection_three_providers, asked
):
    fail(provider_selection_three_providers, "brave", "google", "serper")
    assert await provider_of(selection.choose(topic="news")) == "duckduckgo"
    assert asked == ["brave", "google", "serper", "duckduckgo"]


async def test_a_name_wins_over_the_topic(selection):
    assert await provider_of(selection.choose(["serper"], "news")) == "serper"


async def test_the_preferred_provider_may_take_half_of_the_time_however_many_follow(
    selection, provider_selection_three_providers
):
    await provider_of(selection.preferring(("google",)))
    assert 29 < provider_selection_three_providers["google"].seconds <= 30


async def test_only_preferred_or_no_preferred_providers_serve_too(
    selection, provider_selection_three_providers, asked
):
    assert await provider_of(selection.preferring(provider_selection_three_providers)) == "serper"
    assert await provider_of(selection.preferring(("tavily",))) == "serper"
    with pytest.raises(SearchNotConfiguredError, match="SERPER_API_KEY"):
        await provider_of(
            ProviderSelection(ScriptedProvider("pool", asked), {}, set(), {}).preferring(
                ("google",)
            )
        )


async def test_a_rejected_key_is_not_masked_by_the_others(
    selection, provider_selection_three_providers
):
    provider_selection_three_providers["google"].error = SearchAuthError("Wrong key.")
    with pytest.raises(SearchAuthError):
        await provider_of(selection.preferring(("google",)))


def test_the_error_for_a_provider_that_cannot_serve_says_what_it_lacks(selection):
    with pytest.raises(
        SearchNotConfiguredError, match="tavily, which cannot serve here: set TAVILY_API_KEY"
    ):
        selection.choose(["serper", "tavily"])


def test_the_error_for_an_unknown_name_lists_the_known_ones(selection):
    with pytest.raises(
        SearchValidationError, match="serper, brave, google, duckduckgo, tavily, searxng"
    ) as caught:
        selection.choose(["bing"])
    assert caught.value.details["field"] == "providers"


@dataclass(frozen=True)
class Named:
    name: str

    async def ask(self, call: Call) -> SearchResults:
        return SearchResults((), self.name)


A, B, C = Named("a"), Named("b"), Named("c")


def test_the_first_is_picked_at_random_by_weight_and_the_others_keep_their_order() -> None:
    order = by_weight({"b": 3, "c": 1}, Random(7).choices)
    orders = Counter("".join(searcher.name for searcher in order((A, B, C))) for _ in range(4000))
    assert set(orders) == {"bac", "cab"}
    assert orders["bac"] == pytest.approx(3000, abs=120)


def test_without_any_weight_the_order_stays_the_same() -> None:
    assert list(by_weight({"a": 0, "z": 5})((A, B, C))) == [A, B, C]
