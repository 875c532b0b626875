"""Chooses the hits that become results: one page of a provider's hits. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Hit, SearchQuery, WebSearchRequest

LAST_PAGE = 10
MOST_HITS = 100
"""No call asks a provider for more hits than this, on any page."""
LEAST_FILTERED = 20
"""The least number of hits to ask for if domains are filtered here: the filter may drop most of them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """`count` results of page `page` (from 1)."""

    count: int
    page: int = 1

    @property
    def up_to(self) -> int:
        """The number of hits from the first to the end of the page."""
        return self.count * self.page

    def of(self, hits: Sequence[Hit]) -> list[Hit]:
        """The chosen hits, in their order."""
        return list(hits[(self.page - 1) * self.count : self.page * self.count])


def hits_to_ask_for(wanted: int, query: SearchQuery) -> int:
    """How many hits to ask a provider for, so that about `wanted` remain after domains are filtered here."""
    filtered = query.include_domains or query.exclude_domains
    return min(MOST_HITS, max(wanted * 2, LEAST_FILTERED) if filtered else wanted)


def choose_hits(request: WebSearchRequest) -> Choice:
    """The hits that a request asks for.

    Raises:
        SearchValidationError: the page is out of range.
    """
    if not 1 <= request.page <= LAST_PAGE:
        raise SearchValidationError(
            f"`page` must be a whole number from 1 to {LAST_PAGE}.",
            details={"field": "page", "allowed": f"1-{LAST_PAGE}"},
        )
    return Choice(request.num_results, request.page)
