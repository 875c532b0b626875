"""How much of a page's links is kept."""

from __future__ import annotations

import pytest

from websearch_gateway.docs.crawl.chunking import _placed, drafted
from websearch_gateway.docs.crawl.scope import Scope
from websearch_gateway.pages.extraction.crawled import CrawledPage


@pytest.mark.parametrize(("letters", "is_kept"), [(5_000, True), (5_001, False)])
def test_the_address_that_a_page_names_has_at_most_five_thousand_characters(
    letters: int, is_kept: bool
) -> None:
    address = "https://a.example/".ljust(letters, "x")
    page = CrawledPage("T", "Words.", canonical=address, refresh=address)
    draft = drafted(Scope.of("https://a.example/"), (), page)
    assert draft["canonical"] == draft["refresh"] == (address if is_kept else "")


def test_twenty_thousand_links_of_a_site_are_remembered() -> None:
    assert _placed.cache_parameters()["maxsize"] == 20_000
