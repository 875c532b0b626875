"""Searchers in order: the next one starts when one fails or is slow, and the first answer wins."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from websearch_gateway.errors import UNUSABLE, SearchNotConfiguredError
from websearch_gateway.models import Deadline, SearchQuery, SearchResults
from websearch_gateway.ports import Searcher
from websearch_gateway.resilience.first_success import FirstSuccess, Trial, loud
from websearch_gateway.resilience.hedge import Hedging, Order

LEAST_SHARE_SECONDS = 1.5
"""A search with less time than this is likely to be cut off just before its answer (seconds)."""


@dataclass(frozen=True, slots=True)
class FallbackSearcher:
    """Calls the next searcher if one is `Unavailable`. An empty result is an answer.

    A `Refused` is never masked, but for a rejected key of a searcher that was not asked first: it is skipped with a
    warning.

    `order` sorts the searchers for a call, by default as given. With `hedging` the next one also starts beside a slow
    one; the first good answer wins and the others are cancelled. `advice` tells the operator what to do if all fail.
    """

    searchers: Sequence[Searcher]
    name: str = "chain"
    order: Order = tuple
    hedging: Hedging | None = None
    advice: str = ""

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        """The winning answer; its warnings name the searchers that failed or were too slow.

        Each searcher except the last may take an equal share of the remaining time, so one that hangs leaves time for
        the next. `cost_usd` includes requests to searchers that failed or were cancelled.

        Raises:
            SearchNotConfiguredError: there is no searcher.
            Refused: a searcher refused the request, or the key of the one that was asked first was rejected.
            Exhausted: all failed. `retry_after` is the shortest wait after which one of them may serve again.
        """
        if not self.searchers:
            raise SearchNotConfiguredError(
                "No search provider is configured: set SERPER_API_KEY, TAVILY_API_KEY, BRAVE_API_KEY, GOOGLE_API_KEY "
                "with GOOGLE_SEARCH_ENGINE_ID, SYNTHETIC_API_KEY or SEARXNG_BASE_URL, or add duckduckgo and "
                "wikipedia to SEARCH_PROVIDERS."
            )
        if self.hedging:
            self.hedging.earn()
        async with FirstSuccess[SearchResults](found=lambda results: bool(results.hits)) as race:
            winner = await self._run(race, query, deadline)
            if winner is None:
                raise race.exhausted(self.advice)
            return _answer(race, winner)

    async def _run(
        self, race: FirstSuccess[SearchResults], query: SearchQuery, deadline: Deadline
    ) -> Trial[SearchResults] | None:
        """The deciding trial; None if all failed. A trial that starts beside a running one is a hedge."""
        queue = deque(self.order(self.searchers))
        while queue:
            is_hedge = bool(race.running)
            if is_hedge and not (self.hedging and self.hedging.take()):
                if winner := await race.outcome():
                    return winner
                continue
            share = _share(deadline, len(queue))
            searcher = queue.popleft()
            asked = replace(query, behind=query.behind or race.has_asked)
            trial = race.start(searcher.name, searcher.search(asked, share), behind=asked.behind)
            slow_after = self.hedging.slow_after(searcher.name) if self.hedging and queue else None
            if winner := await race.outcome(trial, slow_after):
                return winner
            if is_hedge and self.hedging and not trial.was_asked:
                self.hedging.give_back()
        return await race.outcome()


def _share(deadline: Deadline, searchers_left: int) -> Deadline:
    if searchers_left == 1:
        return deadline
    return deadline.within(max(LEAST_SHARE_SECONDS, deadline.remaining() / searchers_left))


def _answer(race: FirstSuccess[SearchResults], winner: Trial[SearchResults]) -> SearchResults:
    results = winner.task.result()
    failed = [f"{a.name} failed: {a.code}: {a.reason}" for a in race.attempts if a.code not in UNUSABLE]
    slow = [f"{trial.name} was slow; {winner.name} answered before it." for trial in race.running]
    return replace(
        results,
        cost_usd=results.cost_usd + race.lost_usd(winner),
        warnings=(*loud(race.attempts), *failed, *slow, *results.warnings),
    )
