"""Lists of domains: the spellings that people use, and the addresses that they cover."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.urls import admitted, domains, narrowed, with_sites
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import MOST_DOMAINS, SearchQuery


def test_every_usual_spelling_is_normalised_to_the_domain() -> None:
    given = [
        "Example.org",
        "https://www.example.org/path?x=1",
        "*.example.org",
        ".example.org",
        "example.org:443",
        " ",
    ]
    assert domains("include_domains", given) == ("example.org",)
    assert domains("include_domains", ["bücher.example"]) == ("xn--bcher-kva.example",)


@pytest.mark.parametrize("entry", ["a b", "exa$mple.org", "http://[", "..", "-", "x" * 300, "a..b"])
def test_an_entry_that_is_not_a_domain_is_refused(entry: str) -> None:
    with pytest.raises(SearchValidationError, match="exclude_domains"):
        domains("exclude_domains", [entry])


@pytest.mark.parametrize(
    "given", [(5,), [None], [["example.org"]], 5, "example.org", iter(["example.org"])]
)
def test_what_is_no_list_of_texts_is_refused(given: Any) -> None:
    with pytest.raises(SearchValidationError, match="exclude_domains"):
        domains("exclude_domains", given)


def test_the_length_of_a_list_is_limited() -> None:
    with pytest.raises(SearchValidationError):
        domains("include_domains", [f"host{number}.example" for number in range(MOST_DOMAINS + 1)])


@pytest.mark.parametrize(
    ("url", "is_covered"),
    [
        ("https://example.org/a", True),
        ("https://docs.example.org:8443/a", True),
        ("https://EXAMPLE.org./", True),
        ("https://notexample.org/", False),
        ("https://example.org.evil.test/", False),
        ("https://example.org@evil.test/", False),
        ("http://[", False),
    ],
)
def test_a_domain_covers_itself_and_its_subdomains(url: str, is_covered: bool) -> None:
    assert admitted(url, ("example.org",), ()) is is_covered


def test_excluded_domains_take_precedence_over_included_ones() -> None:
    assert not admitted("https://ads.example.org/", ("example.org",), ("ads.example.org",))
    assert admitted("https://example.org/", ("example.org",), ("ads.example.org",))
    assert not admitted("http://[", (), ("example.org",))


@pytest.mark.parametrize(
    ("include", "exclude", "allowed", "blocked", "outcome"),
    [
        ((), (), (), (), ((), ())),
        (("a.example",), ("b.example",), (), (), (("a.example",), ())),
        (("a.example",), ("ads.a.example",), (), (), (("a.example",), ("ads.a.example",))),
        ((), (), ("a.example",), ("x.a.example", "b.example"), (("a.example",), ("x.a.example",))),
        (("docs.a.example", "b.example"), (), ("a.example",), (), (("docs.a.example",), ())),
        (("example",), (), ("a.example", "b.test"), (), (("a.example",), ())),
        ((), ("a.example",), (), ("b.example", "a.example"), ((), ("a.example", "b.example"))),
    ],
)
def test_the_lists_of_a_call_stay_within_those_of_the_operator(
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    allowed: tuple[str, ...],
    blocked: tuple[str, ...],
    outcome: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    assert narrowed(include, exclude, allowed, blocked) == outcome


@pytest.mark.parametrize(
    ("include", "exclude", "allowed", "blocked"),
    [
        (("a.example",), ("a.example",), (), ()),
        (("a.example",), (), ("b.example",), ()),
        (("docs.a.example",), (), (), ("a.example",)),
        ((), ("a.example",), ("a.example",), ()),
    ],
)
def test_lists_that_leave_no_domain_are_refused(
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    allowed: tuple[str, ...],
    blocked: tuple[str, ...],
) -> None:
    with pytest.raises(SearchValidationError, match="No domain remains to search"):
        narrowed(include, exclude, allowed, blocked)


HOSTS = st.sampled_from(["a.example", "x.a.example", "z.x.a.example", "b.example", "c.test"])
NAMES = st.lists(
    st.sampled_from(["a.example", "x.a.example", "b.example", "y.b.example", "example"]), max_size=3
)


@given(
    NAMES,
    NAMES,
    NAMES,
    NAMES,
    st.sampled_from(["a.example", "x.a.example", "z.x.a.example", "b.example", "c.test"]),
)
def test_a_host_is_admitted_by_the_narrowed_lists_when_call_and_operator_both_admit_it(
    include: list[str], exclude: list[str], allowed: list[str], blocked: list[str], host: str
) -> None:
    url = f"https://{host}/"
    both = admitted(url, include, exclude) and admitted(url, allowed, blocked)
    try:
        lists = narrowed(include, exclude, allowed, blocked)
    except SearchValidationError:
        assert not both
        return
    assert admitted(url, *lists) is both


QUERY = SearchQuery("heron census")


@pytest.mark.parametrize(
    ("include", "exclude", "text"),
    [
        ((), (), "heron census"),
        (("a.example",), (), "heron census site:a.example"),
        (("a.example", "b.example"), (), "heron census (site:a.example OR site:b.example)"),
        ((), ("a.example", "b.example"), "heron census -site:a.example -site:b.example"),
        (("a.example",), ("x.a.example",), "heron census site:a.example -site:x.a.example"),
    ],
)
def test_domains_become_site_operators(
    include: tuple[str, ...], exclude: tuple[str, ...], text: str
) -> None:
    query = replace(QUERY, include_domains=include, exclude_domains=exclude)
    assert with_sites(query) == text


@pytest.mark.parametrize(
    "query",
    [
        replace(QUERY, include_domains=tuple(f"a{number}.example" for number in range(9))),
        replace(QUERY, text="word " * 31 + "word", include_domains=("a.example",)),
        replace(QUERY, text="w" * 390, exclude_domains=("a.example",)),
    ],
)
def test_a_query_without_room_for_its_domains_gets_no_operators(query: SearchQuery) -> None:
    assert with_sites(query) == query.text


def test_a_vendor_without_alternatives_takes_one_domain() -> None:
    two = replace(QUERY, include_domains=("a.example", "b.example"))
    assert with_sites(two, most_included=1) == two.text
