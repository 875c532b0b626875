"""Google's JSON, merged or imitated, has the promised format and nothing hostile in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.models import Hit, SearchQuery
from websearch_gateway.text.google_format import imitated, merged

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def body(numbers: range, **more: Any) -> bytes:
    return json.dumps({"items": [{"link": f"https://a.example/{n}"} for n in numbers], **more}).encode()


def test_pages_are_merged_into_the_first_reply() -> None:
    first = body(range(10), queries={"request": [{"startIndex": 1}]}, searchInformation={"totalResults": "123"})
    second = body(range(10, 20), queries={"request": [{"startIndex": 11}]}, searchInformation={"totalResults": "9"})
    reply = merged([first, second], 15)
    assert [item["link"][-2:] for item in reply["items"]] == [f"/{n}" if n < 10 else str(n) for n in range(15)]
    assert reply["queries"]["request"][0]["startIndex"] == 1
    assert reply["searchInformation"]["totalResults"] == "123"


def test_a_reply_without_results_has_no_items_as_from_google() -> None:
    assert merged([b'{"searchInformation": {"totalResults": "0"}}'], 10) == {"searchInformation": {"totalResults": "0"}}


@pytest.mark.parametrize("items", ["null", "[]"])
def test_empty_items_are_left_out_too(items: str) -> None:
    assert merged([f'{{"kind": "k", "items": {items}}}'.encode()], 10) == {"kind": "k"}


def test_invisible_characters_and_invalid_numbers_are_left_out() -> None:
    reply = merged([b'{"a": ["x\\u202ey", "\\ud800", NaN, -Infinity, 1.5], "b\\u200b\\u0000": true}'], 10)
    assert reply == {"a": ["xy", "", None, None, 1.5], "b": True}


@given(st.dictionaries(st.text(max_size=4), values, max_size=4))
def test_any_reply_is_valid_json_again(document: dict[str, Any]) -> None:
    document.pop("items", None)
    reply = merged([json.dumps(document).encode()], 10)
    assert json.loads(json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()) == reply


@pytest.mark.parametrize("reply", [b"<html>", b"[]", b'{"items": 5}', b'{"a":' * 900 + b"1" + b"}" * 900])
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
