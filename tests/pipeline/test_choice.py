"""The wanted page of hits becomes the results."""

from __future__ import annotations

import pytest

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Hit, SearchQuery, WebSearchRequest
from websearch_gateway.pipeline.choice import choose_hits, hits_to_ask_for

HITS = [Hit(f"https://{host}.example/{number}", "t", "s", "p") for number in range(4) for host in ("a", "b", "c")]


def chosen(**wishes: object) -> list[str]:
    made = choose_hits(WebSearchRequest("query", **wishes))  # type: ignore[arg-type]
    return [hit.url.removeprefix("https://").replace(".example/", "") for hit in made.of(HITS)]


def test_pages_follow_each_other_without_overlap() -> None:
    assert chosen(num_results=3) == ["a0", "b0", "c0"]
    assert chosen(num_results=3, page=2) == ["a1", "b1", "c1"]


def test_enough_hits_are_requested() -> None:
    plain, filtered = SearchQuery("query"), SearchQuery("query", include_domains=("b.example",))
    assert hits_to_ask_for(choose_hits(WebSearchRequest("query", 3, page=2)).up_to, plain) == 6
    assert hits_to_ask_for(3, filtered) == 20
    assert hits_to_ask_for(20 * 10, plain) == 100


@pytest.mark.parametrize("page", [0, -1, 11])
def test_a_page_out_of_range_is_refused(page: int) -> None:
    with pytest.raises(SearchValidationError, match="page"):
        choose_hits(WebSearchRequest("query", page=page))
