"""Calls that meet: several upstreams for one call (which are asked, in which order, and which answer wins), and one
call for several callers who ask the same at the same time.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from websearch_gateway.errors import (
    UNRELATED,
    UNUSABLE,
    Attempt,
    Exhausted,
    NotAsked,
    SearchAuthError,
    SearchNotConfiguredError,
    SearchRateLimitError,
    SearchValidationError,
    Unavailable,
    shortest,
)
from websearch_gateway.models import (
    UNLIMITED,
    Call,
    Deadline,
    Fallback,
    Progress,
    SearchResults,
    Topic,
    no_progress,
)
from websearch_gateway.ports import Searcher
from websearch_gateway.upstream.health import HealthRegistry

T = TypeVar("T")

LEAST_SHARE_SECONDS = 1.5
"""A search with less time than this is likely to be cut off just before its answer (seconds)."""

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


def failures(attempts: Iterable[Attempt]) -> list[str]:
    """A warning for each upstream that failed, other than by its settings or by unrelated results."""
    return [
        f"{attempt.name} failed: {attempt.code}: {attempt.reason}"
        for attempt in attempts
        if attempt.code not in UNUSABLE and attempt.cause != UNRELATED
    ]


@dataclass(frozen=True, slots=True)
class ProviderSelection:
    """The raw providers of this gateway.

    Attributes:
        pool: serves calls that name no provider.
        searchers: each provider that a call may name, by name, in the operator's order.
        news: the names of the providers with a news search.
        absent: every other known provider, by name, with what it lacks.
        hedging: starts the next provider beside a slow one, as in the pool.
    """

    pool: Searcher
    searchers: Mapping[str, Searcher]
    news: Collection[str]
    absent: Mapping[str, str]
    hedging: Hedging | None = None

    def choose(self, names: Sequence[str] = (), topic: Topic = "general") -> Searcher:
        """The providers of a call.

        With `names`, these in their order; without, the pool, or for news the providers with a news search first.

        Raises:
            SearchValidationError: a name is unknown; the message lists the known ones.
            SearchNotConfiguredError: a named provider cannot serve here; the message says what it lacks.
        """
        if names:
            wanted = dict.fromkeys(name.strip().lower() for name in names)
            return FallbackSearcher([self._named(name) for name in wanted], hedging=self.hedging)
        return self.preferring(self.news) if topic == "news" else self.pool

    def preferring(self, names: Collection[str]) -> Searcher:
        """The providers in `names` before the others.

        All others share one place in the chain, so that each of the preferred providers has time to finish.
        """
        first = [searcher for name, searcher in self.searchers.items() if name in names]
        others = [searcher for name, searcher in self.searchers.items() if name not in names]
        # The inner fallback does not hedge: a call must not earn two hedges.
        chain = [*first, FallbackSearcher(others)] if first and others else first or others
        return FallbackSearcher(chain, hedging=self.hedging)

    def _named(self, name: str) -> Searcher:
        if name in self.searchers:
            return self.searchers[name]
        if remedy := self.absent.get(name):
            raise SearchNotConfiguredError(
                f"`providers` names {name}, which cannot serve here: {remedy}."
            )
        known = ", ".join((*self.searchers, *self.absent))
        raise SearchValidationError(
            f"`providers` may hold these names: {known}.",
            details={"field": "providers", "allowed": known},
        )


ENOUGH_SAMPLES = 20
"""With fewer latencies the p95 says little."""

EARLIEST_SECONDS, LATEST_SECONDS = 0.1, 5.0
"""Bounds of the wait: sooner, jitter would double the calls; later, too little time would be left."""

_CALLS_PER_HEDGE = 10
_MOST_SAVED = 5


@dataclass(slots=True)
class Hedging:
    """When an upstream counts as slow, and how often a second one may start beside it.

    An upstream is slow when it exceeds its own recent p95. Each call earns a tenth of a hedge, and at most five hedges
    are saved up, so hedges never exceed a tenth of the calls, even if an upstream is very slow. `hedges` counts them.
    """

    health: HealthRegistry
    hedges: int = field(default=0, init=False)
    # tenths, as whole numbers: they add up exactly.
    _earned: int = field(default=0, init=False, repr=False)

    def earn(self) -> None:
        """Earn a tenth of a hedge, as each call does."""
        self._earned = min(self._earned + 1, _MOST_SAVED * _CALLS_PER_HEDGE)

    def take(self) -> bool:
        """Take a hedge; False if there is none."""
        if self._earned < _CALLS_PER_HEDGE:
            return False
        self._earned -= _CALLS_PER_HEDGE
        self.hedges += 1
        return True

    def give_back(self) -> None:
        """Give back a hedge that sent nothing."""
        self._earned += _CALLS_PER_HEDGE
        self.hedges -= 1

    def slow_after(self, name: str) -> float | None:
        """The seconds after which this upstream is slow; None while it has too few samples."""
        upstream = self.health.known(name)
        if upstream is None or upstream.samples < ENOUGH_SAMPLES:
            return None
        return min(max(upstream.quantile(0.95) or 0.0, EARLIEST_SECONDS), LATEST_SECONDS)


Order = Callable[[Sequence[Searcher]], Sequence[Searcher]]
"""Puts the searchers of a call in order."""


def by_weight(
    weights: Mapping[str, float], choose: Callable[..., Sequence[Searcher]] = random.choices
) -> Order:
    """The Order that picks the first searcher at random, by weight, and keeps the order of the others.

    A searcher without a weight is never first; without any weights the order stays the same.
    """

    def order(searchers: Sequence[Searcher]) -> Sequence[Searcher]:
        shares = [weights.get(searcher.name, 0.0) for searcher in searchers]
        if not any(shares):
            return searchers
        [first] = choose(searchers, shares)
        return (first, *(searcher for searcher in searchers if searcher is not first))

    return order


Failure = Unavailable | Exhausted | SearchAuthError | SearchNotConfiguredError


class Trial(Generic[T]):
    """One upstream's call, in its own task. `behind`: another one was asked before in the same call."""

    def __init__(self, name: str, call: Coroutine[Any, Any, T], *, behind: bool = False) -> None:
        self.name = name
        self.behind = behind
        self.task = asyncio.create_task(call)

    @property
    def running(self) -> bool:
        return not self.task.done()

    @property
    def failure(self) -> Failure | None:
        """Why this upstream cannot serve; None while it runs, if it answered, or if its error ends the race.

        A rejected key ends the race only if no other upstream was asked before: it must be seen, but it must not stop
        the upstreams behind it when the first one is down.
        """
        error = None if self.running or self.task.cancelled() else self.task.exception()
        if isinstance(error, SearchAuthError | SearchNotConfiguredError):
            return error if self.behind else None
        return error if isinstance(error, Unavailable | Exhausted) else None

    @property
    def answered(self) -> bool:
        return not self.running and not self.task.cancelled() and self.task.exception() is None

    @property
    def was_asked(self) -> bool:
        """Whether a request was sent, or may still be."""
        return not isinstance(self.failure, NotAsked)

    @property
    def attempts(self) -> Sequence[Attempt]:
        """The failure; for a composite, one per part."""
        error = self.failure
        if error is None:
            return ()
        cause = error.details.get("reason")
        alone = Attempt(
            self.name, error.code, error.message, cause if isinstance(cause, str) else ""
        )
        return error.attempts if isinstance(error, Exhausted) else (alone,)


def loud(attempts: Iterable[Attempt]) -> list[str]:
    """A warning for each upstream that was skipped because its key or another setting is wrong."""
    return [
        f"{attempt.name.upper()} IS SKIPPED until its setting is corrected: {attempt.reason}"
        for attempt in attempts
        if attempt.code in UNUSABLE
    ]


class Schedule(Protocol):
    """Decides which trial of a race starts when. `now` is a moment on the clock of the loop (seconds)."""

    def holds_stopgap(self, now: float) -> bool:
        """Whether the stopgap must still wait for a better answer."""
        ...

    async def starts_another(self, now: float) -> bool:
        """Start a trial if one is due. Called again until none is, and after each change."""
        ...

    def seconds_to_wait(self, now: float) -> float | None:
        """When to ask again if no trial ends before; None if time alone changes nothing."""
        ...


class FirstSuccess(Generic[T]):
    """Trials in the order of their start. Leaving the context cancels running trials and waits for their end.

    An earlier trial has precedence. While it runs, a later trial wins only with an answer for which `found` is true,
    and the refusal of a later trial waits until no earlier one can answer. See `Trial.failure` for rejected keys.

    One trial may be the `stopgap`: it ranks after all others, even those that start later, and never wins while
    `holds_stopgap` is true or a refusal waits.
    """

    def __init__(self, found: Callable[[T], bool]) -> None:
        self.trials: list[Trial[T]] = []
        self.stopgap: Trial[T] | None = None
        self.holds_stopgap = False
        self._found = found

    @property
    def running(self) -> list[Trial[T]]:
        return [trial for trial in self.trials if trial.running]

    def before(self, trial: Trial[T]) -> list[Trial[T]]:
        """The trials that started before this one."""
        return self.trials[: self.trials.index(trial)]

    @property
    def attempts(self) -> list[Attempt]:
        """All failed attempts so far."""
        return [attempt for trial in self.trials for attempt in trial.attempts]

    @property
    def has_asked(self) -> bool:
        """Whether a trial asked its upstream. One with an open circuit did not."""
        return any(trial.was_asked for trial in self.trials)

    def start(self, name: str, call: Coroutine[Any, Any, T], *, behind: bool = False) -> Trial[T]:
        """Start another trial; see `Trial.behind`."""
        self.trials.append(Trial(name, call, behind=behind))
        return self.trials[-1]

    async def run(self, schedule: Schedule) -> Trial[T] | None:
        """The deciding trial: it answers, or raises the error to show. None if all that the schedule starts fail.

        No trial starts while the outcome of a later trial waits for an earlier one: that would mask a refusal.
        """
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            self.holds_stopgap = schedule.holds_stopgap(now)
            if winner := self.winner:
                return winner
            may_start = not self.has_waiting_outcome
            if may_start and await schedule.starts_another(now):
                continue
            tasks = [trial.task for trial in self.running]
            if not tasks:
                return None
            seconds = schedule.seconds_to_wait(now) if may_start else None
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    @property
    def has_waiting_outcome(self) -> bool:
        """Whether a trial other than the stopgap has ended and waits for an earlier one, which decides first."""
        return any(
            not trial.running and not trial.failure
            for trial in self.trials
            if trial is not self.stopgap
        )

    @property
    def winner(self) -> Trial[T] | None:
        """The deciding trial; None as long as none decides."""
        earlier_runs = False
        for trial in sorted(self.trials, key=lambda one: one is self.stopgap):
            is_held = trial is self.stopgap and (self.holds_stopgap or self.has_waiting_outcome)
            if trial.running:
                earlier_runs = True
            elif trial.failure or is_held:
                continue
            elif not earlier_runs or (trial.answered and self._found(trial.task.result())):
                return trial
        return None

    def exhausted(self, advice: str = "") -> Exhausted:
        """The error for a race without a winner, with `advice`, or else the advice of a trial."""
        failures = [trial.failure for trial in self.trials if trial.failure]
        waits = [failure.retry_after for failure in failures if failure.code not in UNUSABLE]
        given = (failure.advice for failure in failures if isinstance(failure, Exhausted))
        advice = advice or next(filter(None, given), "")
        # Your own model and raw search share one search, which fails once.
        error = Exhausted(
            tuple(dict.fromkeys(self.attempts)), retry_after=shortest(waits), advice=advice
        )
        if error.code == "RATE_LIMIT":
            error.retry_after = min((wait for wait in waits if wait is not None), default=None)
        return error

    async def __aenter__(self) -> FirstSuccess[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        for trial in self.trials:
            trial.task.cancel()
        # No upstream call outlives its question.
        await asyncio.gather(*(trial.task for trial in self.trials), return_exceptions=True)


Start = Callable[[Progress], Coroutine[Any, Any, T]]


@dataclass(slots=True, eq=False)
class _Flight:
    """A task, who began it and until when, and one queue per waiting caller: messages, then None at the end."""

    task: asyncio.Task[Any]
    user: str
    until: float
    waiting: set[asyncio.Queue[str | None]] = field(default_factory=set)

    def tell(self, message: str | None) -> None:
        for queue in self.waiting:
            queue.put_nowait(message)


class SingleFlight:
    """Joins calls by key. Belongs to one event loop.

    The shared task runs as long as a caller waits; when the last one leaves, it is cancelled. Each caller forwards
    progress in its own task, so a slow or lost caller does not delay the others.

    Args:
        later_seconds: when a call runs out of time, a caller who joined it and whose deadline is later by more than
            this begins another one.
    """

    def __init__(self, later_seconds: float = 0.0) -> None:
        self._later_seconds = later_seconds
        self._flights: dict[str, _Flight] = {}
        self._tasks: set[asyncio.Task[Any]] = set()  # the loop itself holds tasks only weakly

    async def join(
        self,
        key: str,
        start: Start[T],
        progress: Progress = no_progress,
        *,
        user: str = "",
        deadline: Deadline = UNLIMITED,
    ) -> tuple[T, bool]:
        """The result of the call in flight for `key`, and True; if there is none, the result of `start`, and False.

        `start` gets a Progress that reaches all callers waiting at that moment. Its error is raised in each; but a
        SearchRateLimitError concerns only the user who began the call, and a timeout only callers with as little time:
        others begin a call of their own.
        """
        while True:
            joined = key in self._flights
            flight = self._flights[key] if joined else self._begin(key, start, user, deadline.at)
            try:
                return await self._result(key, flight, progress), joined
            except SearchRateLimitError:
                if flight.user == user:
                    raise
                key = f"{key} {user}"
            except (Unavailable, Exhausted) as error:
                if error.code != "TIMEOUT" or deadline.at <= flight.until + self._later_seconds:
                    raise

    async def close(self) -> None:
        """Cancel all calls, and wait until each has put its costs on the ledger. Idempotent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _result(self, key: str, flight: _Flight, progress: Progress) -> Any:
        messages: asyncio.Queue[str | None] = asyncio.Queue()
        flight.waiting.add(messages)
        try:
            while (message := await messages.get()) is not None:
                await progress(message)
        finally:
            flight.waiting.remove(messages)
            if not flight.waiting:  # new callers must not join it
                self._forget(key, flight)
                flight.task.cancel()
        return flight.task.result()

    def _begin(self, key: str, start: Start[T], user: str, until: float) -> _Flight:
        async def tell(message: str) -> None:
            flight.tell(message)

        def finish(task: asyncio.Task[T]) -> None:
            self._tasks.discard(task)
            self._forget(key, flight)
            flight.tell(None)
            if not task.cancelled():
                task.exception()  # retrieve it, or asyncio logs it as never retrieved

        self._flights[key] = flight = _Flight(asyncio.create_task(start(tell)), user, until)
        self._tasks.add(flight.task)
        flight.task.add_done_callback(finish)
        return flight

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
