from __future__ import annotations

import pytest

from websearch_gateway.base.hits import make_hit, one_line, records
from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.foreign_json import reply_object


def test_a_missing_list_is_empty_only_if_it_is_optional() -> None:
    assert records({}, "items", "vendor", optional=True) == []
    assert records({"items": None}, "items", "vendor", optional=True) == []
    for wrong in ({}, {"items": None}, {"items": "none"}, {"items": {}}):
        with pytest.raises(SearchProviderParseError, match="vendor"):
            records(wrong, "items", "vendor")
    with pytest.raises(SearchProviderParseError):
        records({"items": "none"}, "items", "vendor", optional=True)


def test_one_invalid_entry_does_not_affect_the_others() -> None:
    assert records({"items": [None, {"a": 1}, "x"]}, "items", "vendor") == [{"a": 1}]
    with pytest.raises(SearchProviderParseError, match="not objects"):
        records({"items": [None, "x"]}, "items", "vendor")


def test_an_error_quotes_nothing_of_the_reply() -> None:
    with pytest.raises(SearchProviderParseError) as raised:
        reply_object(b'["a private question"]', "vendor")
    assert "private" not in str(raised.value)


def test_text_is_one_line_that_can_be_encoded() -> None:
    assert one_line(" a\n\tb\u00a0c ") == "a b c"
    assert one_line("half \ud83d of a pair") == "half ? of a pair"
    assert one_line(7) == one_line(None) == ""


@pytest.mark.parametrize(
    "url",
    [
        None,
        7,
        "",
        "example.org",
        "//example.org",
        "ftp://a.example",
        "javascript:alert(1)",
        "http://",
        "http://[x",
    ],
)
def test_an_invalid_web_address_gives_no_hit(url: object) -> None:
    assert make_hit("vendor", url, "title", "snippet") is None


def test_the_title_of_a_hit_without_one_is_its_address() -> None:
    hit = make_hit("vendor", " https://a.example/ ", None, "words")
    assert hit is not None
    assert (hit.url, hit.title, hit.snippet) == (
        "https://a.example/",
        "https://a.example/",
        "words",
    )
