"""The search providers in their order: the next one starts when one fails, or is slow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.errors import UNRELATED, SearchNotConfiguredError, Unavailable
from websearch_gateway.models import Call, Fallback, SearchResults
from websearch_gateway.ports import Searcher
from websearch_gateway.upstream.hedging import Hedging
from websearch_gateway.upstream.race import LEAST_SHARE_SECONDS, FirstSuccess, Trial, failures, loud

MOST_UNRELATED = 2
"""So many searchers are asked whose results share no word with the query. When two agree, the query is the reason, and
each further one would cost a search."""


NO_SEARCHER = (
    "No search provider is configured. OPENAI_API_KEY answers questions without one. For results set TAVILY_API_KEY, "
    "SERPER_API_KEY, BRAVE_API_KEY, GOOGLE_API_KEY with GOOGLE_SEARCH_ENGINE_ID, SYNTHETIC_API_KEY or "
    "SEARXNG_BASE_URL, or add duckduckgo and wikipedia, which need no key, to SEARCH_PROVIDERS."
)


@dataclass(frozen=True, slots=True)
class FallbackSearcher:
    """Calls the next searcher if one is `Unavailable`. An empty result is an answer.

    A `Refused` is never masked, but for a rejected key of a searcher that was not asked first: it is skipped with a
    warning.

    Results that share no word with the query may be for a corrected spelling or another language, or a page for bots.
    So one more searcher is asked; if its results are no better, the first ones are served with a warning.

    `order` sorts the searchers for a call, by default as given. With `hedging` the next one also starts beside a slow
    one; the first good answer wins and the others are cancelled. `advice` tells the operator what to do if all fail.
    """

    searchers: Sequence[Searcher]
    name: str = "chain"
    order: Order = tuple
    hedging: Hedging | None = None
    advice: Callable[[], str] = str

    async def ask(self, call: Call) -> SearchResults:
        """The winning answer; its warnings name the searchers that failed or were too slow.

        Each searcher except the last may take an equal share of the remaining time, so one that hangs leaves time for
        the next.

        Raises:
            SearchNotConfiguredError: there is no searcher.
            Refused: a searcher refused the request, or the key of the one that was asked first was rejected.
            Exhausted: all failed. `retry_after` is the shortest wait after which one of them may serve again.
        """
        if not self.searchers:
            raise SearchNotConfiguredError(NO_SEARCHER)
        if self.hedging:
            self.hedging.earn()
        async with FirstSuccess[SearchResults](found=lambda results: bool(results.hits)) as race:
            winner = await race.run(_OneByOne(self, race, call))
            set_aside = _set_aside(race)
            if set_aside and not (winner and _has_hits(winner)):
                return _unrelated_answer(race, set_aside[0])
            if winner is None:
                raise race.exhausted(self.advice())
            return _answer(race, winner)


class _OneByOne:
    """The Schedule of a FallbackSearcher, for one call."""

    def __init__(
        self, chain: FallbackSearcher, race: FirstSuccess[SearchResults], call: Call
    ) -> None:
        self._race, self._call, self._hedging = race, call, chain.hedging
        self._left = deque(chain.order(chain.searchers))
        self._slow_at: float | None = None
        self._hedge: Trial[SearchResults] | None = None

    def holds_stopgap(self, now: float) -> bool:
        return False

    async def starts_another(self, now: float) -> bool:
        race = self._race
        if self._hedging and self._hedge and not self._hedge.was_asked:
            self._hedging.give_back()
            self._hedge = None
        is_slow = self._slow_at is not None and now >= self._slow_at
        if race.trials and not race.trials[-1].failure and not is_slow:
            return False
        self._slow_at = None
        if not self._left or len(_set_aside(race)) >= MOST_UNRELATED:
            return False
        is_hedge = bool(race.running)
        if is_hedge and not (self._hedging and self._hedging.take()):
            return False
        trial = self._start_next()
        if is_hedge:
            self._hedge = trial
        if self._hedging and self._left:
            slow_after = self._hedging.slow_after(trial.name)
            self._slow_at = None if slow_after is None else now + slow_after
        return True

    def seconds_to_wait(self, now: float) -> float | None:
        return None if self._slow_at is None else self._slow_at - now

    def _start_next(self) -> Trial[SearchResults]:
        # The last searcher may take all the time, but not if results wait that must still be served.
        shares = max(len(self._left), 2 if _set_aside(self._race) else 1)
        share = max(LEAST_SHARE_SECONDS, self._call.remaining() / shares)
        call = self._call.within(share) if shares > 1 else self._call
        call = replace(call, behind=call.behind or self._race.has_asked)
        searcher = self._left.popleft()
        return self._race.start(searcher.name, _related(searcher, call), behind=call.behind)


class _SetAside(Unavailable, code="PROVIDER"):
    """A searcher gave `results` that share no word with the query: they are served if no other searcher has better."""

    def __init__(self, results: SearchResults) -> None:
        super().__init__(
            f"The results of {results.provider} share no word with the query.",
            details={"reason": UNRELATED},
        )
        self.results = results


async def _related(searcher: Searcher, call: Call) -> SearchResults:
    results = await searcher.ask(call)
    if results.is_unrelated:
        raise _SetAside(results)
    return results


def _has_hits(trial: Trial[SearchResults]) -> bool:
    """Whether it ended with results, rather than with none or with a refusal."""
    return trial.answered and bool(trial.task.result().hits)


def _set_aside(race: FirstSuccess[SearchResults]) -> list[SearchResults]:
    """The unrelated results so far, in the order in which their searchers were asked."""
    return [trial.failure.results for trial in race.trials if isinstance(trial.failure, _SetAside)]


def _answer(race: FirstSuccess[SearchResults], winner: Trial[SearchResults]) -> SearchResults:
    results = winner.task.result()
    unrelated = [attempt for attempt in race.attempts if attempt.cause == UNRELATED]
    replaced = [
        f"{attempt.reason} Those of {results.provider} are shown instead." for attempt in unrelated
    ]
    slow = [f"{trial.name} was slow; {winner.name} answered before it." for trial in race.running]
    return replace(
        results,
        warnings=(
            *loud(race.attempts),
            *failures(race.attempts),
            *replaced,
            *slow,
            *results.warnings,
        ),
        fallback=Fallback(unrelated[0].name, UNRELATED) if unrelated else results.fallback,
    )


def _unrelated_answer(race: FirstSuccess[SearchResults], results: SearchResults) -> SearchResults:
    """The results that were set aside, since no other searcher had better ones."""
    told = f"No result of {results.provider} shares a word with the query: check the spelling, or whether they answer it."
    warnings = results.warnings if told in results.warnings else (told, *results.warnings)
    return replace(results, warnings=(*loud(race.attempts), *failures(race.attempts), *warnings))


Order = Callable[[Sequence[Searcher]], Sequence[Searcher]]
"""Puts the searchers of a call in order."""
