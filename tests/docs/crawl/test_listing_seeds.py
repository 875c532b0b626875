"""The lists that a site publishes of its pages are parsed."""

import gzip
import zlib
from collections.abc import Callable

import pytest

from tests.growth import too_much
from websearch_gateway.docs.crawl import listing
from websearch_gateway.docs.crawl.listing import (
    full_text_in,
    full_text_pages,
    inventory,
    llms_in,
    llms_urls,
    robots_sitemaps,
    search_index_urls,
    sitemap_in,
    sitemap_urls,
)
from websearch_gateway.docs.crawl.scope import Scope

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


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1]", b'{"docs": [{"location": 1}]}', b"[" * 100_000]
)
def test_any_other_body_lists_no_pages(body: bytes) -> None:
    assert search_index_urls(body, BASE) == []


def test_a_list_that_inflates_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sitemap = gzip.compress(b"<urlset>" + b"<url><loc>https://a.example/</loc></url>" * 10_000)
    names = b"# Sphinx inventory version 2\n#\n#\n#\n" + zlib.compress(
        b"a.b py:function 1 c.html#$ -\n" * 10_000
    )
    assert (len(sitemap_urls(sitemap)), len(inventory(names, BASE))) == (10_000, 10_000)
    monkeypatch.setattr(listing, "MAX_INFLATED", 10_000)
    assert 100 < len(sitemap_urls(sitemap)) < 300
    assert 100 < len(inventory(names, BASE)) < 500


PLACES = [f"https://x.org/docs/{number}.html" for number in range(3)]
SITEMAP = (
    f"<urlset>{''.join(f'<url><loc>{place}</loc></url>' for place in PLACES)}</urlset>".encode()
)
COMPRESSED = gzip.compress(SITEMAP, mtime=0)


@pytest.mark.parametrize(
    "body",
    [SITEMAP, COMPRESSED, COMPRESSED[:-6], "\ufeff".encode() + "\r\n".join(PLACES).encode()],
)
def test_a_sitemap_may_be_compressed_cut_off_or_plain_text(body: bytes) -> None:
    assert sitemap_urls(body) == [(place, False) for place in PLACES]


def _compressed_names(text: str) -> bytes:
    return b"# Sphinx inventory version 2\n#\n#\n#\n" + zlib.compress(text.encode())


HOSTILE = [
    "a ::::",
    ":",
    "a ",
    " ",
    "\t\n",
    "\n",
    "a b:c 1",
    "a b:c ",
    "1 ",
    "sitemap",
    "sitemap:",
    "docnames:[",
    '"',
    "<loc>",
    "<loc ",
    "[",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "parse",
    [
        lambda text: inventory(_compressed_names(text), BASE),
        lambda text: robots_sitemaps(text, "https://docs.example.org"),
        lambda text: sitemap_urls(text.encode()),
        lambda text: search_index_urls(text.encode(), BASE),
        lambda text: search_index_urls(b"docnames:[" + text.encode(), BASE),
        lambda text: llms_urls(text, BASE),
    ],
    ids=["inventory", "robots.txt", "sitemap", "search index", "document names", "llms.txt"],
)
def test_a_list_takes_linear_time_whatever_its_text(
    parse: Callable[[str], object], text: str
) -> None:
    assert too_much(parse, text) is None


def test_names_with_blanks_and_colons_are_read_and_long_lines_skipped() -> None:
    lines = (
        "std::vector<a b> cpp:class 1 v.html#$ -\n"
        "operator std::string cpp:function -1 s.html#x S\n"
        f"{'x' * 2_000} py:class 1 x.html#$ -\n"
        "git add --all std:cmdoption 1 git.html#cmdoption-all -\n"
        "index std:doc -1 index.html Title\n"
    )
    assert inventory(_compressed_names(lines), BASE) == [
        ("std::vector<a b>", f"{BASE}v.html", "std::vector<a b>"),
        ("operator std::string", f"{BASE}s.html", "x"),
        ("--all", f"{BASE}git.html", "cmdoption-all"),
    ]


def test_a_list_that_holds_a_malformed_address_keeps_the_others() -> None:
    scope = Scope.of(BASE)
    text = "[a](http://[) [b](b.html) [c](/c.html) [d](https://e.org/) [b](b.html#x) [c](/c.html)"
    found, left_out = llms_in(scope, text.encode(), f"{BASE}llms.txt")
    assert found == [f"{BASE}b.html"]
    assert left_out == {"outside of the start URL's folder": ["https://docs.example.org/c.html"]}


@pytest.mark.parametrize(
    "named", ["https://docs.example.org/maps/a.xml", "/maps/a.xml", "maps/a.xml"]
)
def test_robots_txt_names_a_sitemap_by_its_address_or_its_path(named: str) -> None:
    robots = f"User-agent: *\nDisallow:\n\nSitemap: {named}\n"
    assert robots_sitemaps(robots, "https://docs.example.org") == [
        "https://docs.example.org/maps/a.xml"
    ]


def test_a_sitemap_of_sitemaps_names_only_those_of_the_same_origin() -> None:
    listed = b"<sitemapindex><loc>https://docs.example.org/m.xml</loc><loc>https://evil.example/m.xml</loc></sitemapindex>"
    assert sitemap_in(Scope.of(BASE), listed) == (([], {}), ["https://docs.example.org/m.xml"])


@pytest.mark.parametrize(
    "head",
    [
        "# One\nSource: https://e.org/one\n",
        "# One\n\nURL: https://e.org/one\n",
        "# One\n> **Source**: <https://e.org/one>\n",
        '---\ntitle: One\nurl: "https://e.org/one"\n---\n\n# One\n',
        "# One (https://e.org/one)\n",
    ],
)
def test_a_full_text_is_cut_into_its_pages_which_name_their_addresses(head: str) -> None:
    text = f"{head}\nFirst.\n\n```sh\n# no heading\n```\n\n## Part\n\n{head.replace('ne', 'ther')}\nSecond.\n"
    pages = full_text_pages(text)
    assert [(url, text[start:stop].partition("\n")[0][:5]) for _, url, start, stop in pages] == [
        ("https://e.org/one", "# One"),
        ("https://e.org/other", "# Oth"),
    ]
    assert "## Part" in text[slice(*pages[0][2:])]
    assert "Second" not in text[slice(*pages[0][2:])]


def test_pages_without_an_address_of_the_site_have_one_below_the_file() -> None:
    body = b"# All\n\n## Zebras\n\nEat.\n\n## Zebras\n\nurl: https://evil.example/x\n\n## Lions\n\nSource: /3/lions\n"
    found = full_text_in(Scope.of(BASE), body, f"{BASE}llms-full.txt")
    assert [address for address, _, _ in found] == [
        f"{BASE}llms-full.txt!/zebras",
        f"{BASE}llms-full.txt!/zebras-2",
        f"{BASE}lions",
    ]


def test_every_page_of_a_full_text_is_kept_in_any_script() -> None:
    titles = [*(f"Ω{number}" for number in range(60)), *["日本語"] * 60, *["!"] * 60]
    scope = Scope.of(BASE)
    found = full_text_in(
        scope,
        "".join(f"# {title}\n\nText.\n\n" for title in titles).encode(),
        f"{BASE}llms-full.txt",
    )
    assert len(found) == 180
    assert all(scope.link(BASE, address) == address for address, _, _ in found)


@pytest.mark.parametrize(
    "code",
    [
        "```\n```python\n# no heading\n```\n",
        "````\n```\n# no heading\n````  \n",
        "~~~\n```\n# no heading\n~~~~\n",
    ],
)
def test_a_fence_ends_at_its_closing_line(code: str) -> None:
    pages = full_text_pages(f"# One\n\n{code}\n# Two\n\n# Three\n")
    assert [title for title, *_ in pages] == ["One", "Two", "Three"]


@pytest.mark.parametrize(
    "text", ["# a\n", "---\nurl: x\n", "```\n", "```x\n", "# a (", "source: /", "---\n"]
)
def test_a_full_text_takes_linear_time(text: str) -> None:
    assert too_much(full_text_pages, text) is None
