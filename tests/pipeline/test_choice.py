"""Which hits become results."""

from __future__ import annotations

import pytest

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Hit, WebSearchRequest
from websearch_gateway.pipeline.choice import choice

HITS = [Hit(f"https://{host}.example/{number}", "t", "s", "p") for number in range(4) for host in ("a", "b", "c")]


def chosen(**wishes: object) -> list[str]:
    made = choice(WebSearchRequest("query", **wishes))  # type: ignore[arg-type]
    return [hit.url.removeprefix("https://").replace(".example/", "") for hit in made.of(HITS)]


def test_pages_follow_each_other_without_overlap() -> None:
    assert chosen(num_results=3) == ["a0", "b0", "c0"]
    assert chosen(num_results=3, page=2) == ["a1", "b1", "c1"]


def test_domains_are_kept_or_dropped_before_pages_are_counted() -> None:
    assert chosen(num_results=2, page=2, include_domains=("b.example",)) == ["b2", "b3"]
    assert chosen(num_results=3, exclude_domains=("a.example", "c.example")) == ["b0", "b1", "b2"]


def test_enough_hits_are_asked_for() -> None:
    assert choice(WebSearchRequest("query", 3, page=2)).wanted == 6
    assert choice(WebSearchRequest("query", 3, include_domains=("b.example",))).wanted == 20
    assert choice(WebSearchRequest("query", 20, page=10)).wanted == 100


@pytest.mark.parametrize("page", [0, -1, 11])
def test_a_page_out_of_range_is_refused(page: int) -> None:
    with pytest.raises(SearchValidationError, match="page"):
        choice(WebSearchRequest("query", page=page))
