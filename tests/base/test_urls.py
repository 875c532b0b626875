from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.urls import (
    canonical,
    find_urls,
    host,
    is_web_address,
    strip_trackers,
    with_scheme,
)
from websearch_gateway.models import LONGEST_URL


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://a.example/x. Then", ["https://a.example/x"]),
        ("([a](https://a.example/x_(y)?b=(c)#d))", ["https://a.example/x_(y)?b=(c)#d"]),
        ("(https://a.example/x)(HTTPS://b.example)", ["https://a.example/x", "HTTPS://b.example"]),
        ("https://a.example/ask?k=s&S=K", ["https://a.example/ask?k=s&S=K"]),
        ("出典:https://例え.example/塔。次", ["https://例え.example/塔"]),
        ("https://a.example/?utm_source=openaiを見る", ["https://a.example/?utm_source=openai"]),
        (
            "**https://a.example/x** <https://b.example/>",
            ["https://a.example/x", "https://b.example/"],
        ),
        ("http://[::1]:80/x", ["http://[::1]:80/x"]),
        ("https:// http:/x ftp://a.example", []),
    ],
)
def test_urls_are_found_without_the_punctuation_around_them(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_urls(text)] == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTPS://A.Example:443/x/", "https://a.example/x"),
        ("http://a.example:80", "http://a.example/"),
        ("https://a.example/x?utm_source=openai#part", "https://a.example/x"),
        ("https://a.example/x?id=1&fbclid=2", "https://a.example/x?id=1"),
        ("https://u:p@a.example:/x?", "https://a.example/x"),
    ],
)
def test_spellings_of_one_url_have_the_same_canonical_form(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x?id=1", "https://a.example/x?id=2"),
        ("https://a.example/X", "https://a.example/x"),
        ("https://a.example:8443/", "https://a.example/"),
        ("https://a.example", "http://a.example"),
        ("http://[", "http://]"),
    ],
)
def test_different_pages_have_different_canonical_forms(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_the_host_has_no_www_and_is_empty_for_an_invalid_url() -> None:
    assert [host(url) for url in ("https://WWW.A.example:1/x", "http://[", "mailto:a@b.c")] == [
        "a.example",
        "",
        "",
    ]


def test_an_address_that_is_too_long_is_not_looked_at() -> None:
    url = "https://a.example/#".ljust(LONGEST_URL + 1, "x")
    assert (host(url), is_web_address(url), canonical(url)) == ("", False, url)
    assert (host(url[:-1]), is_web_address(url[:-1]), canonical(url[:-1])) == (
        "a.example",
        True,
        "https://a.example",
    )


@given(st.text())
def test_any_text_can_be_searched_for_urls(text: str) -> None:
    for start, end in find_urls(text + " https://" + text):
        assert 0 <= start < end
    once = canonical("https://a.example/" + text)
    assert canonical(once) == once
    if is_web_address("https://" + text):
        assert host("https://" + text)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("en.wikipedia.org/wiki/Tide", "https://en.wikipedia.org/wiki/Tide"),
        ("//example.org/a", "https://example.org/a"),
        ("example.org", "https://example.org"),
        ("example.org:8443?q=1", "https://example.org:8443?q=1"),
        ("http://example.org/", "http://example.org/"),
        *[
            (other, None)
            for other in (
                "",
                "tides",
                "/tides",
                "localhost:80/x",
                "mailto:a@b.example",
                "two words.org",
            )
        ],
    ],
)
def test_an_address_that_begins_with_its_host_gets_a_scheme(given: str, meant: str | None) -> None:
    assert with_scheme(given) == meant


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://a.example/x?utm_source=openai", "https://a.example/x"),
        ("https://a.example/x?utm_source=openai#part", "https://a.example/x#part"),
        ("https://a.example/x?id=1&utm_source=openai", "https://a.example/x?id=1"),
        ("https://a.example/x?utm_source=openai&id=1", "https://a.example/x?id=1"),
        ("https://a.example/x?fbclid=1&id=1&gclid=2&b&utm_medium=3", "https://a.example/x?id=1&b"),
        ("https://a.example/x?utm_source=a&gclid=b&id=1", "https://a.example/x?id=1"),
        ("https://a.example/x?id=1&amp;utm_source=openai", "https://a.example/x?id=1"),
        ("https://a.example/x?utm_source=openai&amp;id=1", "https://a.example/x?id=1"),
        ("https://a.example/x?&utm_source=openai&", "https://a.example/x"),
        ("https://a.example/x?UTM_Source=A&%75tm_id=7", "https://a.example/x"),
        ("https://a.example/x?ref=producthunt", "https://a.example/x"),
        ("https://a.example/x#?utm_source=openai", "https://a.example/x#?utm_source=openai"),
        (
            "https://a.example/x?next=/y?utm_source=openai",
            "https://a.example/x?next=/y?utm_source=openai",
        ),
        ("https://a.example/x?", "https://a.example/x?"),
        ("https://a.example/x?q=utm_source&&b=%20+", "https://a.example/x?q=utm_source&&b=%20+"),
        (
            "https://a.example/x?reference=1&utmost=2&source=3",
            "https://a.example/x?reference=1&utmost=2&source=3",
        ),
        ("no url", "no url"),
    ],
)
def test_only_trackers_are_removed(url: str, clean: str) -> None:
    assert strip_trackers(url) == clean


@pytest.mark.parametrize(
    "host",
    [
        "github.com",
        "api.github.com",
        "gitlab.com",
        "gitlab.gnome.org",
        "git.kernel.example",
        "codeberg.org",
    ],
)
def test_on_code_hosts_ref_names_a_branch_and_stays(host: str) -> None:
    assert (
        strip_trackers(f"https://{host}/a?ref=main&utm_source=openai")
        == f"https://{host}/a?ref=main"
    )


@pytest.mark.parametrize("host", ["digit.example", "a.example/github.com/x", "legit.example"])
def test_other_hosts_do_not_count_as_code_hosts(host: str) -> None:
    assert strip_trackers(f"https://{host}/?ref=main") == f"https://{host}/"


names = st.sampled_from(
    ("gclid", "_ga", "ref", "S_CID", "wt_mc", "utm_x", "id", "q", "page", "", "référence")
)


@given(
    st.lists(st.tuples(names, st.none() | st.text("aé/%2+:", max_size=4)), max_size=6),
    st.sampled_from(("", "#f", "#?ref=1")),
)
def test_stripping_keeps_the_order_and_values_of_the_rest(
    parameters: list[tuple[str, str | None]], end: str
) -> None:
    query = "&".join(name if value is None else f"{name}={value}" for name, value in parameters)
    clean = strip_trackers(f"https://a.example/x?{query}{end}")
    kept = [(n, v or "") for n, v in parameters if n in ("id", "q", "page", "référence")]
    assert [(n, v) for n, v in parse_qsl(urlsplit(clean).query, keep_blank_values=True) if n] == [
        pair for n, v in kept for pair in parse_qsl(f"{n}={v}", keep_blank_values=True)
    ]
    assert urlsplit(clean).fragment == end[1:]
    assert strip_trackers(clean) == clean
