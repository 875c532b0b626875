"""The lists that a site publishes of its pages are parsed."""

import gzip
import zlib

import pytest

from websearch_gateway.docs_index.crawl import seeds
from websearch_gateway.docs_index.crawl.seeds import inventory, search_index_urls, sitemap_urls

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
def test_any_other_body_lists_no_pages(body: bytes) -> None:
    assert search_index_urls(body, BASE) == []


def test_a_list_that_inflates_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sitemap = gzip.compress(b"<urlset>" + b"<url><loc>https://a.example/</loc></url>" * 10_000)
    names = b"# Sphinx inventory version 2\n#\n#\n#\n" + zlib.compress(b"a.b py:function 1 c.html#$ -\n" * 10_000)
    assert (len(sitemap_urls(sitemap)), len(inventory(names, BASE))) == (10_000, 10_000)
    monkeypatch.setattr(seeds, "MAX_INFLATED", 10_000)
    assert 100 < len(sitemap_urls(sitemap)) < 300
    assert 100 < len(inventory(names, BASE)) < 500


PLACES = [f"https://x.org/docs/{number}.html" for number in range(3)]
SITEMAP = f"<urlset>{''.join(f'<url><loc>{place}</loc></url>' for place in PLACES)}</urlset>".encode()


@pytest.mark.parametrize(
    "body",
    [SITEMAP, gzip.compress(SITEMAP), gzip.compress(SITEMAP)[:-6], "\ufeff".encode() + "\r\n".join(PLACES).encode()],
)
def test_a_sitemap_may_be_compressed_cut_off_or_plain_text(body: bytes) -> None:
    assert sitemap_urls(body) == [(place, False) for place in PLACES]
