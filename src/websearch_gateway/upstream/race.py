"""Several calls of which the first success wins: what has failed, what still runs, and when another one may start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from websearch_gateway.errors import (
    UNRELATED,
    UNUSABLE,
    Attempt,
    Exhausted,
    NotAsked,
    SearchAuthError,
    SearchNotConfiguredError,
    Unavailable,
    shortest,
)

T = TypeVar("T")

LEAST_SHARE_SECONDS = 1.5
"""A search with less time than this is likely to be cut off just before its answer (seconds)."""


def failures(attempts: Iterable[Attempt]) -> list[str]:
    """A warning for each upstream that failed, other than by its settings or by unrelated results."""
    return [
        f"{attempt.name} failed: {attempt.code}: {attempt.reason}"
        for attempt in attempts
        if attempt.code not in UNUSABLE and attempt.cause != UNRELATED
    ]


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
        for trial in sorted(self.trials, key=lambda trial: trial is self.stopgap):
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
