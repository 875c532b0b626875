"""Searchers in a row: the first that answers wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from websearch_gateway.errors import Attempt, Exhausted, SearchNotConfiguredError, Unavailable, shortest
from websearch_gateway.models import Deadline, SearchQuery, SearchResults
from websearch_gateway.ports import Searcher

LEAST_SHARE_SECONDS = 1.5
"""A search that gets less than this is likely to be cut off just before its answer."""


@dataclass(frozen=True, slots=True)
class FallbackSearcher:
    """Asks the next searcher where one is `Unavailable`. No hits is an answer, and a `Refused` is never masked."""

    searchers: Sequence[Searcher]
    name: str = "chain"

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        """The first answer; its warnings name those that failed before it.

        Each searcher but the last may take an equal share of the time that remains, so one that hangs leaves time for
        the next.

        Raises:
            SearchNotConfiguredError: there is no searcher.
            Refused: a searcher refused the request, or its key was rejected.
            Exhausted: all failed. `retry_after` is the shortest wait after which one of them may serve again.
        """
        if not self.searchers:
            raise SearchNotConfiguredError(
                "No search provider is configured: set SERPER_API_KEY, TAVILY_API_KEY, BRAVE_API_KEY, GOOGLE_API_KEY "
                "with GOOGLE_SEARCH_ENGINE_ID, SYNTHETIC_API_KEY or SEARXNG_BASE_URL, or add duckduckgo to "
                "SEARCH_PROVIDERS."
            )
        attempts: list[Attempt] = []
        waits: list[float | None] = []
        for position, searcher in enumerate(self.searchers):
            try:
                results = await searcher.search(query, _share(deadline, len(self.searchers) - position))
            except (Unavailable, Exhausted) as error:
                attempts += _attempts(searcher.name, error)
                waits.append(error.retry_after)
            else:
                return replace(results, warnings=(*map(_warning, attempts), *results.warnings))
        raise Exhausted(attempts, retry_after=shortest(waits))


def _share(deadline: Deadline, searchers_left: int) -> Deadline:
    if searchers_left == 1:
        return deadline
    return deadline.within(max(LEAST_SHARE_SECONDS, deadline.remaining() / searchers_left))


def _attempts(name: str, error: Unavailable | Exhausted) -> Sequence[Attempt]:
    return error.attempts if isinstance(error, Exhausted) else (Attempt(name, error.code, error.message),)


def _warning(attempt: Attempt) -> str:
    return f"{attempt.name} failed: {attempt.code}: {attempt.reason}"
