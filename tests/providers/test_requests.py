"""Requests follow the special rules of each vendor."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from websearch_gateway.models import HttpRequest, SafeSearch, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.providers.brave import Brave
from websearch_gateway.providers.duckduckgo import DuckDuckGo
from websearch_gateway.providers.google import Google
from websearch_gateway.providers.searxng import Searxng
from websearch_gateway.providers.serper import Serper
from websearch_gateway.providers.tavily import Tavily
from websearch_gateway.providers.with_texts import Exa, Firecrawl, Linkup, PerplexitySearch

QUERY = SearchQuery(
    "heron colony census", max_results=50, freshness_hours=48, region="GB", language="en"
)
MORE_AT_GOOGLE = (
    b'{"searchInformation": {}, "queries": {"nextPage": [{"startIndex": 11}]}, "items": []}'
)
MORE_AT_BRAVE = b'{"type": "search", "query": {"more_results_available": true}}'


def next_request(provider: Provider, query: SearchQuery, body: bytes, page: int) -> HttpRequest:
    request = provider.next_page(query, body, page)
    assert request is not None
    return request


def test_serper_gets_googles_own_parameters() -> None:
    request = Serper("k").request(QUERY)
    assert request.url == "https://google.serper.dev/search"
    assert request.json == {"q": QUERY.text, "num": 10, "tbs": "qdr:w", "gl": "gb", "hl": "en"}
    assert Serper("k").request(replace(QUERY, topic="news")).url.endswith("/news")


def test_tavily_gets_the_country_by_name_and_only_for_the_general_topic() -> None:
    provider = Tavily("k")
    body = provider.request(QUERY).json or {}
    assert (body["country"], body["time_range"], body["max_results"]) == (
        "united kingdom",
        "week",
        20,
    )
    news = replace(QUERY, topic="news")
    assert "country" not in (provider.request(news).json or {})
    assert provider.applied(news).region is None


@pytest.mark.parametrize(
    ("region", "name"),
    [
        ("KR", "south korea"),
        ("RU", "russia"),
        ("TR", "turkey"),
        ("CZ", "czech republic"),
        ("BO", "bolivia"),
        ("HK", None),
    ],
)
def test_tavily_has_its_own_names_for_some_countries(region: str, name: str | None) -> None:
    body = Tavily("k").request(replace(QUERY, region=region)).json or {}
    assert body.get("country") == name


def test_brave_counts_pages_and_stops_after_the_tenth() -> None:
    provider = Brave("k")
    assert provider.request(QUERY).params["count"] == "20"
    assert "offset" not in provider.request(QUERY).params
    assert next_request(provider, QUERY, MORE_AT_BRAVE, 2).params["offset"] == "1"
    assert next_request(provider, QUERY, MORE_AT_BRAVE, 10).params["offset"] == "9"
    assert provider.next_page(QUERY, MORE_AT_BRAVE, 11) is None


@pytest.mark.parametrize(
    ("language", "code"),
    [("ja", "jp"), ("pt", "pt-pt"), ("zh", "zh-hans"), ("de", "de"), ("eo", None)],
)
def test_brave_has_its_own_codes_for_some_languages(language: str, code: str | None) -> None:
    assert Brave("k").request(replace(QUERY, language=language)).params.get("search_lang") == code


def test_brave_is_never_sent_more_words_than_it_takes() -> None:
    """Brave rejects more than fifty words as invalid, which would stop the whole search."""
    sent = Brave("k").request(replace(QUERY, text="why " * 90)).params["q"]
    assert sent.split() == ["why"] * 50


def test_google_pages_by_ten_up_to_the_hundredth_result() -> None:
    provider = Google("k", "cx")
    starts = {}
    for page in range(2, 12):
        request = provider.next_page(QUERY, MORE_AT_GOOGLE, page)
        starts[page] = (request.params["start"], request.params["num"]) if request else None
    assert starts[2] == ("11", "10")
    assert starts[9] == ("81", "10")
    assert starts[10] == ("91", "9"), "start + num may be a hundred at most"
    assert starts[11] is None


@pytest.mark.parametrize(
    ("wish", "sent"),
    [("off", "off"), ("moderate", "active"), ("strict", "active"), (None, "active")],
)
def test_google_only_switches_safe_search_on_or_off(wish: SafeSearch | None, sent: str) -> None:
    query = replace(QUERY, safe_search=wish)
    assert Google("k", "cx").request(query).params["safe"] == sent


def test_google_has_its_own_codes_for_some_languages() -> None:
    google = Google("k", "cx")
    assert google.request(replace(QUERY, language="he")).params["lr"] == "lang_iw"
    assert "lr" not in google.request(replace(QUERY, language="eo")).params


def test_searxng_takes_a_locale_and_never_a_bare_region() -> None:
    provider = Searxng("http://searx")
    assert provider.request(QUERY).params["language"] == "en-GB"
    assert "language" not in provider.request(replace(QUERY, language=None)).params
    assert provider.request(replace(QUERY, safe_search="strict")).params["safesearch"] == "2"


def test_a_request_to_duckduckgo_submits_its_form_under_our_own_user_agent() -> None:
    request = DuckDuckGo("http://ddg").request(QUERY)
    assert request.form == {"q": QUERY.text, "b": "", "kl": "uk-en", "df": "w"}
    assert request.headers["Cookie"] == "kl=uk-en; df=w"
    assert request.headers["Referer"] == "http://ddg/"
    assert "User-Agent" not in request.headers


@pytest.mark.parametrize(
    ("region", "language", "locale"),
    [
        ("GB", None, "uk-en"),
        ("CH", "fr", "ch-fr"),
        ("CH", "en", "ch-de"),
        ("SI", None, "sl-sl"),
        ("AQ", "en", "wt-wt"),
        (None, "de", "wt-wt"),
    ],
)
def test_duckduckgos_locale_follows_the_region(
    region: str | None, language: str | None, locale: str
) -> None:
    form = DuckDuckGo().request(replace(QUERY, region=region, language=language)).form or {}
    assert form["kl"] == locale


def test_duckduckgos_second_page_needs_the_token_of_the_first() -> None:
    provider = DuckDuckGo()
    page = b'<div id="links"><form><input type="hidden" name="vqd" value="4-123"></form></div>'
    assert next_request(provider, QUERY, page, 2).form == {
        "q": QUERY.text, "s": "10", "dc": "11", "vqd": "4-123", "nextParams": "", "api": "d.js", "o": "json", "v": "l",
        "kl": "uk-en", "df": "w",
    }  # fmt: skip
    assert (next_request(provider, QUERY, page, 3).form or {})["s"] == "25"
    assert provider.next_page(QUERY, b'<div id="links"></div>', 2) is None


@pytest.mark.parametrize("make", [Exa, Firecrawl])
def test_a_vendor_with_one_list_of_domains_gets_the_included_ones(
    make: type[Exa] | type[Firecrawl],
) -> None:
    both = replace(QUERY, include_domains=("a.example",), exclude_domains=("b.example",))
    body = make("k").request(both).json or {}
    assert body["includeDomains"] == ["a.example"]
    assert "excludeDomains" not in body
    body = make("k").request(replace(both, include_domains=())).json or {}
    assert body["excludeDomains"] == ["b.example"]


def test_perplexity_takes_twenty_domains_all_wanted_or_all_unwanted() -> None:
    names = tuple(f"host{number}.example" for number in range(21))
    sent = PerplexitySearch("k").request
    assert (sent(replace(QUERY, exclude_domains=names[:2])).json or {})["search_domain_filter"] == [
        "-host0.example",
        "-host1.example",
    ]
    assert (
        len((sent(replace(QUERY, include_domains=names[:20])).json or {})["search_domain_filter"])
        == 20
    )
    assert "search_domain_filter" not in (sent(replace(QUERY, include_domains=names)).json or {})


def test_vendors_with_dates_get_the_first_day_of_the_period() -> None:
    def clock() -> datetime:
        return datetime(2026, 11, 23, 12, tzinfo=UTC)

    assert (Exa("k", clock=clock).request(QUERY).json or {})[
        "startPublishedDate"
    ] == "2026-11-16T00:00:00.000Z"
    assert (Linkup("k", clock=clock).request(QUERY).json or {})["fromDate"] == "2026-11-16"


def test_exa_and_firecrawl_are_never_asked_for_more_results_than_their_price_covers() -> None:
    many = replace(QUERY, max_results=50)
    assert (Exa("k").request(many).json or {})["numResults"] == 10
    assert (Firecrawl("k").request(many).json or {})["limit"] == 10
