from __future__ import annotations

import re

import pytest

from tests.providers.test_contract import SETTINGS
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import SearchQuery
from websearch_gateway.providers.table import PROVIDERS, advice, configured
from websearch_gateway.settings.loading import Settings


def names(settings: Settings) -> list[str]:
    return [provider.name for provider in configured(settings)]


def test_without_any_key_duckduckgo_and_wikipedia_serve() -> None:
    assert names(Settings()) == ["duckduckgo", "wikipedia"]


def test_every_configured_provider_serves_in_the_order_of_the_table() -> None:
    settings = Settings(brave_api_key="b", serper_api_key="s", google_api_key="lacks-an-engine")
    assert names(settings) == ["serper", "brave", "duckduckgo", "wikipedia"]


def test_search_providers_wins_over_the_table() -> None:
    settings = Settings(
        brave_api_key="b", serper_api_key="s", search_providers="DuckDuckGo, brave,duckduckgo"
    )
    assert names(settings) == ["duckduckgo", "brave"]


def test_a_named_provider_without_its_settings_is_an_error_that_names_them() -> None:
    with pytest.raises(
        SearchNotConfiguredError, match="GOOGLE_API_KEY and GOOGLE_SEARCH_ENGINE_ID"
    ):
        configured(Settings(search_providers="google"))


def test_the_error_for_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        SearchNotConfiguredError, match=r"SEARCH_PROVIDERS names 'bing'.*serper.*duckduckgo"
    ):
        configured(Settings(search_providers="bing"))


def test_blanks_around_a_key_are_ignored_and_the_settings_reach_the_provider() -> None:
    settings = Settings(
        google_api_key=" k \n",
        google_search_engine_id="cx",
        google_search_base_url="http://g/",
        google_safe_search="off",
    )
    google, *_ = configured(settings)
    request = google.request(SearchQuery("x"))
    assert request.url == "http://g/customsearch/v1"
    assert (request.params["key"], request.params["cx"], request.params["safe"]) == (
        "k",
        "cx",
        "off",
    )


def test_without_keys_the_advice_names_the_cheapest_and_their_sign_up_pages() -> None:
    told = advice(Settings())
    priced = {
        entry.needs[0].upper(): entry.build(SETTINGS).capabilities
        for entry in PROVIDERS
        if len(entry.needs) == 1
    }
    costs = {
        key: can.cost_per_call_usd
        for key, can in priced.items()
        if can.cost_per_call_usd and not can.ends
    }
    first, second, *others = re.findall(r"[A-Z]+_API_KEY", told)
    assert first == "SERPER_API_KEY"
    assert [costs[first], costs[second]] == sorted(costs.values())[:2]
    assert "USD 0.001 a request, https://serper.dev)" in told
    assert others == ["TAVILY_API_KEY", "OPENAI_API_KEY"]
    assert "OPENAI" not in advice(Settings(openai_api_key="sk"))
    assert advice(Settings(tavily_api_key="t")) == ""
    assert advice(Settings(searxng_base_url="http://own.example")) == ""
