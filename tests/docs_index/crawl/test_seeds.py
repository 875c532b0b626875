"""What a site publishes about its pages."""

import pytest

from websearch_gateway.docs_index.crawl.seeds import search_index_urls

BASE = "https://docs.example.org/3/"


@pytest.mark.parametrize(
    "body",
    [
        b'Search.setIndex({docnames:["a","b/c"],filenames:["a.rst","b/c.rst"],terms:{}})',
        b'Search.setIndex({"alltitles": {}, "docnames": ["a", "b/c"], "envversion": {}})',
        b'{"config": {}, "docs": [{"location": "a.html", "text": "x"}, {"location": "b/c.html#here", "title": "y"}]}',
    ],
)
def test_a_search_index_lists_the_pages(body: bytes) -> None:
    assert search_index_urls(body, BASE) == [f"{BASE}a.html", f"{BASE}b/c.html"]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"docs": [{"location": 1}]}', b"[" * 100_000])
def test_anything_else_lists_none(body: bytes) -> None:
    assert search_index_urls(body, BASE) == []
