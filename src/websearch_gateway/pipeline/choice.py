"""Which of a provider's hits become results: the wanted page of those from wanted domains. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Hit, WebSearchRequest
from websearch_gateway.text.domains import covered, domains

LAST_PAGE = 10
MOST_HITS = 100
"""No call asks a provider for more hits than this, whatever the page."""
LEAST_FILTERED = 20
"""Asked for at least where domains are filtered here: most hits may be dropped."""


@dataclass(frozen=True, slots=True)
class Choice:
    """`count` results of page `page` (from 1), of hits on `include` (all if empty) and not on `exclude`."""

    count: int
    page: int = 1
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def wanted(self) -> int:
        """How many hits to ask a provider for."""
        upto = self.count * self.page
        return min(MOST_HITS, max(upto * 2, LEAST_FILTERED) if self.include or self.exclude else upto)

    def of(self, hits: Sequence[Hit]) -> list[Hit]:
        """The chosen ones, in their order."""
        kept = [hit for hit in hits if self._may_stay(hit.url)]
        return kept[(self.page - 1) * self.count : self.page * self.count]

    def _may_stay(self, url: str) -> bool:
        return not covered(url, self.exclude) and (not self.include or covered(url, self.include))


def choice(request: WebSearchRequest) -> Choice:
    """What a request chooses.

    Raises:
        SearchValidationError: the page is out of range, or an entry of a list is no domain.
    """
    if not 1 <= request.page <= LAST_PAGE:
        raise SearchValidationError(
            f"`page` must be a whole number from 1 to {LAST_PAGE}.",
            details={"field": "page", "allowed": f"1-{LAST_PAGE}"},
        )
    return Choice(
        request.num_results,
        request.page,
        domains("include_domains", request.include_domains),
        domains("exclude_domains", request.exclude_domains),
    )
