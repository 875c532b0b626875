from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.errors import (
    Exhausted,
    SearchAuthError,
    SearchNotConfiguredError,
    SearchProviderParseError,
    SearchRateLimitError,
    SearchValidationError,
)
from websearch_gateway.models import (
    Caller,
    Hit,
    RawSearchRequest,
    SearchQuery,
    SearchRequest,
    WebSearchRequest,
)
from websearch_gateway.pipeline.raw_search import imitated, merged

WATER = RawSearchRequest(("the water and the time",), max_results=25)
THREE = RawSearchRequest(("tides", "comet", "knots"))


def links(entry):
    return [item["link"] for item in entry.result["items"]]


async def test_googles_pages_are_merged_and_paid_for_once_each(gateway, sandbox):
    async with gateway() as opened:
        response = await opened.raw_search(WATER)
    (entry,) = response.queries
    assert (entry.query, entry.provider) == (WATER.queries[0], "google")
    assert len(set(links(entry))) == len(links(entry)) == 25
    assert entry.result["queries"]["request"][0]["startIndex"] == 1
    assert sandbox.calls("google") == 3
    assert response.cost_usd == pytest.approx(3 * 0.005)
    assert response.warnings == ()


async def test_a_repeated_query_is_searched_once_and_returned_twice(gateway, sandbox):
    async with gateway() as opened:
        response = await opened.raw_search(RawSearchRequest(("tides", "comet", "tides")))
    assert [entry.query for entry in response.queries] == ["tides", "comet", "tides"]
    assert response.queries[0] == response.queries[2]
    assert sandbox.calls("google") == 2


async def test_if_google_fails_another_provider_serves_in_its_format_with_a_warning(
    gateway, sandbox
):
    sandbox.fault("google", "status", status=500)
    async with gateway() as opened:
        response = await opened.raw_search(WATER)
    (entry,) = response.queries
    assert entry.provider == "serper"
    assert entry.result["kind"] == "customsearch#search"
    assert {"title", "link", "displayLink", "snippet"} <= set(entry.result["items"][0])
    assert len(links(entry)) == 25
    assert any(warning.startswith("google failed: PROVIDER") for warning in response.warnings)
    assert any(
        "results of serper in the form of Google's" in warning for warning in response.warnings
    )


async def test_if_google_is_not_configured_the_warning_names_the_variables(gateway, sandbox):
    async with gateway(google_api_key=None, google_search_engine_id=None) as opened:
        response = await opened.raw_search(THREE)
    assert {entry.provider for entry in response.queries} == {"serper"}
    assert len(response.warnings) == 1
    assert "set GOOGLE_API_KEY and GOOGLE_SEARCH_ENGINE_ID" in response.warnings[0]


async def test_a_google_that_the_operator_left_out_is_not_called(gateway, sandbox):
    async with gateway(search_providers="duckduckgo") as opened:
        response = await opened.raw_search(RawSearchRequest(("tides",)))
    assert response.queries[0].provider == "duckduckgo"
    assert "add google to SEARCH_PROVIDERS" in response.warnings[0]
    assert sandbox.calls("google") == 0


async def test_a_rejected_key_is_shown_and_not_masked(gateway):
    async with gateway(google_api_key="wrong") as opened:
        with pytest.raises(SearchAuthError, match="GOOGLE_API_KEY"):
            await opened.raw_search(THREE)


async def test_a_query_that_fails_does_not_fail_the_others(gateway, sandbox):
    sandbox.fault("google", "garbage", when="comet")
    async with gateway(search_providers="google") as opened:
        response = await opened.raw_search(
            replace(THREE, queries=("tides", "comet", "polymarket odds on a fed cut"))
        )
    tides, comet, odds = response.queries
    assert links(tides)
    assert comet.result["error"]["code"] == "PARSE"
    assert "PARSE" in comet.result["error"]["message"]
    assert odds.result["error"]["code"] == "VALIDATION"
    assert odds.result["error"]["details"]["use"] == "polymarket"
    assert (comet.provider, odds.provider) == ("", "")


async def test_when_all_fail_the_call_fails(gateway, sandbox):
    sandbox.fault("google", "garbage")
    async with gateway(search_providers="google") as opened:
        with pytest.raises(Exhausted, match="google: PARSE"):
            await opened.raw_search(THREE)


async def test_a_later_page_that_fails_is_left_out_with_a_warning(gateway, sandbox):
    sandbox.fault("google", "garbage", when="start=11")
    async with gateway() as opened:
        response = await opened.raw_search(WATER)
    assert len(links(response.queries[0])) == 10
    assert any("Page 2 of google is missing" in warning for warning in response.warnings)


async def test_every_query_counts_for_its_caller_and_one_beyond_the_limit_gets_its_own_error(
    gateway,
):
    async with gateway(search_rate_limit="2/minute") as opened:
        response = await opened.raw_search(THREE, Caller("me"))
        with pytest.raises(SearchRateLimitError):
            await opened.raw_search(RawSearchRequest(("mist", "snow")), Caller("me"))
        other = await opened.raw_search(RawSearchRequest(("tides", "comet")), Caller("you"))
    codes = [entry.result.get("error", {}).get("code", "ok") for entry in response.queries]
    assert sorted(codes) == ["RATE_LIMIT", "ok", "ok"]
    assert all("error" not in entry.result for entry in other.queries)


async def test_a_query_that_called_no_provider_does_not_count(gateway, sandbox):
    sandbox.fault("google", "status", status=503)
    async with gateway(
        search_providers="google", search_rate_limit="2/minute", breaker_failures=1
    ) as opened:
        for _ in range(5):  # the first opens the breaker, the others are not sent
            with pytest.raises(Exhausted):
                await opened.raw_search(RawSearchRequest(("tides",)), Caller("me"))
        sent = sandbox.calls("google")
        for _ in range(2):
            with pytest.raises(Exhausted):
                await opened.raw_search(RawSearchRequest(("tides",)), Caller("me"))
    assert sandbox.calls("google") == sent


async def test_a_batch_does_not_use_up_the_limits_of_the_other_tools(gateway):
    queries = tuple(f"the water, part {number}" for number in range(20))
    async with gateway(
        search_rate_limit="20/minute", rate_limit="1/minute", read_rate_limit="1/minute"
    ) as opened:
        await opened.raw_search(RawSearchRequest(queries), Caller("me"))
        with pytest.raises(SearchRateLimitError, match="SEARCH_RATE_LIMIT"):
            await opened.web_search(WebSearchRequest("the water"), Caller("me"))
        assert (
            await opened.search(SearchRequest("How tall is the Eiffel Tower?"), Caller("me"))
        ).citations
        assert not (await opened.search_cached("What is a tide?", Caller("me"))).found


@pytest.mark.parametrize("queries", [(), ("tides",) * 21])
async def test_the_list_has_one_to_twenty_queries(gateway, sandbox, queries):
    async with gateway() as opened:
        with pytest.raises(SearchValidationError, match="1 to 20"):
            await opened.raw_search(RawSearchRequest(queries))
    assert sandbox.calls("google") == 0


async def test_filters_reach_google(gateway, sandbox):
    async with gateway() as opened:
        await opened.raw_search(RawSearchRequest(("suppe",), 5, "DE", "de", "strict"))
        with pytest.raises(SearchValidationError, match="language"):
            await opened.raw_search(RawSearchRequest(("suppe",), language="xx"))
    query = sandbox.seen("google")[0].query
    assert all(part in query for part in ("gl=de", "lr=lang_de", "safe=active"))


async def test_queries_run_concurrently_up_to_a_cap_and_cancelling_ends_them(gateway, sandbox):
    sandbox.fault("google", "hang")
    async with gateway() as opened:
        searching = asyncio.create_task(
            opened.raw_search(RawSearchRequest(tuple(f"query {n}" for n in range(8))))
        )
        await sandbox.wait_for("google", calls=5)
        searching.cancel()
        await sandbox.wait_for("google", cancelled=5)
    assert sandbox.calls("google") == 5


async def test_a_defect_in_one_query_ends_the_others(gateway):
    cancelled = []

    async def recall(checked, *_, **__):
        if checked.query.text == "comet":
            raise RuntimeError("a defect")
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(checked.query.text)

    async with gateway() as opened:
        with pytest.raises(ExceptionGroup):
            await replace(opened.raw, recall=recall).search(THREE)
        assert sorted(cancelled) == ["knots", "tides"]


async def test_without_any_provider_the_error_names_the_variables(gateway):
    with pytest.raises(SearchNotConfiguredError, match="BRAVE_API_KEY"):
        async with gateway(search_providers="brave", brave_api_key=None):
            raise AssertionError("it must not open")


async def test_a_query_is_served_again_from_the_cache_free_of_charge_with_its_age(gateway, sandbox):
    async with gateway() as opened:
        paid = await opened.raw_search(WATER)
        again = await opened.raw_search(RawSearchRequest((*WATER.queries, "comet"), 25))
        fewer = await opened.raw_search(replace(WATER, max_results=10))
    assert (paid.queries[0].cache, again.queries[0].cache, again.queries[1].cache) == (
        "miss",
        "exact",
        "miss",
    )
    assert again.queries[0].result == paid.queries[0].result
    assert 0 <= again.queries[0].age_seconds < 60
    assert paid.cost_usd > 0
    assert fewer.queries[0].cache == "miss"
    assert sum("water" in call.query for call in sandbox.seen("google")) == 3 + 1


async def test_use_cache_false_searches_again(gateway, sandbox):
    async with gateway() as opened:
        for use_cache in (True, False):
            response = await opened.raw_search(RawSearchRequest(("tides",), use_cache=use_cache))
            assert response.queries[0].cache == "miss"
    assert sandbox.calls("google") == 2


async def test_identical_queries_in_flight_share_one_call_and_one_bill(gateway, sandbox):
    sandbox.fault("google", "delay", seconds=1)
    async with gateway() as opened:
        asked = [
            opened.raw_search(RawSearchRequest(("tides",)), Caller(f"user {number}"))
            for number in range(20)
        ]
        replies = await asyncio.gather(*asked)
    assert sandbox.calls("google") == 1
    assert sorted(reply.cost_usd for reply in replies) == [0] * 19 + [pytest.approx(0.005)]
    assert all(reply.queries == replies[0].queries for reply in replies)


async def test_a_query_from_the_cache_does_not_count(gateway):
    async with gateway(search_rate_limit="1/minute") as opened:
        await opened.raw_search(RawSearchRequest(("tides",)), Caller("one"))
        for _ in range(3):
            response = await opened.raw_search(RawSearchRequest(("tides",)), Caller("other"))
            assert response.queries[0].cache == "exact"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


def body(numbers: range, **more: Any) -> bytes:
    return json.dumps(
        {"items": [{"link": f"https://a.example/{n}"} for n in numbers], **more}
    ).encode()


def test_pages_are_merged_into_the_first_reply() -> None:
    first = body(
        range(10),
        queries={"request": [{"startIndex": 1}]},
        searchInformation={"totalResults": "123"},
    )
    second = body(
        range(10, 20),
        queries={"request": [{"startIndex": 11}]},
        searchInformation={"totalResults": "9"},
    )
    reply = merged([first, second], 15)
    assert [item["link"][-2:] for item in reply["items"]] == [
        f"/{n}" if n < 10 else str(n) for n in range(15)
    ]
    assert reply["queries"]["request"][0]["startIndex"] == 1
    assert reply["searchInformation"]["totalResults"] == "123"


def test_a_reply_without_results_has_no_items_as_from_google() -> None:
    assert merged([b'{"searchInformation": {"totalResults": "0"}}'], 10) == {
        "searchInformation": {"totalResults": "0"}
    }


@pytest.mark.parametrize("items", ["null", "[]"])
def test_empty_items_are_left_out_too(items: str) -> None:
    assert merged([f'{{"kind": "k", "items": {items}}}'.encode()], 10) == {"kind": "k"}


def test_invisible_characters_and_invalid_numbers_are_left_out() -> None:
    reply = merged(
        [b'{"a": ["x\\u202ey", "\\ud800", NaN, -Infinity, 1.5], "b\\u200b\\u0000": true}'], 10
    )
    assert reply == {"a": ["xy", "?", None, None, 1.5], "b": True}


@given(st.dictionaries(st.text(max_size=4), values, max_size=4))
def test_any_reply_is_valid_json_again(document: dict[str, Any]) -> None:
    document.pop("items", None)
    reply = merged([json.dumps(document).encode()], 10)
    assert json.loads(json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()) == reply


@pytest.mark.parametrize(
    "reply", [b"<html>", b"[]", b'{"items": 5}', b'{"a":' * 900 + b"1" + b"}" * 900]
)
def test_a_reply_that_is_not_googles_json_is_a_parse_error(reply: bytes) -> None:
    with pytest.raises(SearchProviderParseError):
        merged([reply], 10)


def test_hits_of_other_providers_get_googles_format() -> None:
    hits = [
        Hit("https://www.a.example:8443/p", "T\u202e", "S\u200b", "brave", published="2026-05-10"),
        Hit("https://b.example/", "U", "", "brave"),
    ]
    reply = imitated(SearchQuery("tides"), hits)
    assert reply["items"][0] == {
        "kind": "customsearch#result",
        "title": "T",
        "link": "https://www.a.example:8443/p",
        "displayLink": "www.a.example",
        "snippet": "S",
        "formattedUrl": "https://www.a.example:8443/p",
        "pagemap": {"metatags": [{"article:published_time": "2026-05-10"}]},
    }
    assert "pagemap" not in reply["items"][1]
    assert reply["searchInformation"]["totalResults"] == "2"
    assert reply["queries"]["request"][0]["searchTerms"] == "tides"


def test_a_reply_without_hits_has_no_items() -> None:
    assert "items" not in imitated(SearchQuery("tides"), [])
