"""Runs several trials of one call, in sequence or concurrently: the first good answer wins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextvars import copy_context
from types import TracebackType
from typing import Any, Generic, TypeVar

from websearch_gateway.errors import (
    UNUSABLE,
    Attempt,
    EngineNotConfigured,
    Exhausted,
    NotAsked,
    SearchAuthError,
    SearchNotConfiguredError,
    Unavailable,
    shortest,
)
from websearch_gateway.net.cost_context import spend, spent

T = TypeVar("T")

Failure = Unavailable | Exhausted | SearchAuthError | SearchNotConfiguredError


class Trial(Generic[T]):
    """One upstream's call, in its own task and context. `behind`: another one was asked before in the same call."""

    def __init__(self, name: str, call: Coroutine[Any, Any, T], *, behind: bool = False) -> None:
        self.name = name
        self.behind = behind
        self._context = copy_context()
        self._spent_before = spent()
        self.task = asyncio.create_task(call, context=self._context)

    @property
    def running(self) -> bool:
        """Whether the outcome is still open."""
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
        """Whether the trial has a result."""
        return not self.running and not self.task.cancelled() and self.task.exception() is None

    @property
    def was_asked(self) -> bool:
        """Whether a request was sent, or may still be."""
        return not isinstance(self.failure, NotAsked | EngineNotConfigured)

    @property
    def cost_usd(self) -> float:
        """The cost so far (USD), from its context or its error."""
        reported = self.failure.cost_usd if self.failure else 0.0
        return max(reported, round(spent(self._context) - self._spent_before, 9))

    @property
    def attempts(self) -> Sequence[Attempt]:
        """The failure; for a composite, one per part."""
        error = self.failure
        if error is None:
            return ()
        return error.attempts if isinstance(error, Exhausted) else (_attempt(self.name, error),)


def loud(attempts: Iterable[Attempt]) -> list[str]:
    """A warning for each upstream that was skipped because its key or another setting is wrong."""
    return [
        f"{attempt.name.upper()} IS SKIPPED until its setting is corrected: {attempt.reason}"
        for attempt in attempts
        if attempt.code in UNUSABLE
    ]


def _attempt(name: str, error: Failure) -> Attempt:
    cause = error.details.get("reason")
    return Attempt(name, error.code, error.message, cause if isinstance(cause, str) else "")


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
        """The trials whose outcome is open."""
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
        """Whether a trial asked its upstream. One with an open circuit, or without a key, did not."""
        return any(trial.was_asked for trial in self.trials)

    def start(self, name: str, call: Coroutine[Any, Any, T], *, behind: bool = False) -> Trial[T]:
        """Start another trial; see `Trial.behind`."""
        self.trials.append(Trial(name, call, behind=behind))
        return self.trials[-1]

    async def outcome(self, latest: Trial[T] | None = None, slow_after: float | None = None) -> Trial[T] | None:
        """The deciding trial: it answers, or raises the error to show.

        None if another trial should start: all have failed, `latest` has failed, or `slow_after` seconds have passed.
        No trial should start while the outcome of a later trial waits for an earlier one: that would mask a refusal.
        """
        loop = asyncio.get_running_loop()
        slow_at = None if slow_after is None else loop.time() + slow_after
        while True:
            if winner := self.winner:
                return winner
            if self.has_waiting_outcome:
                slow_at = latest = None
            left = None if slow_at is None else max(0.0, slow_at - loop.time())
            if not self.running or (latest and latest.failure) or left == 0.0:
                return None
            await self.change(left)

    async def change(self, seconds: float | None) -> None:
        """Wait until a trial ends, for at most `seconds`."""
        tasks = [trial.task for trial in self.running]
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    @property
    def has_waiting_outcome(self) -> bool:
        """Whether a trial other than the stopgap has ended and waits for an earlier one, which decides first."""
        return any(not trial.running and not trial.failure for trial in self.trials if trial is not self.stopgap)

    @property
    def winner(self) -> Trial[T] | None:
        """The deciding trial; None as long as none decides."""
        earlier_runs = False
        for trial in sorted(self.trials, key=lambda one: one is self.stopgap):
            if trial.running:
                earlier_runs = True
            elif not trial.failure and not self._is_held(trial) and (not earlier_runs or self._has_found(trial)):
                return trial
        return None

    def _is_held(self, trial: Trial[T]) -> bool:
        return trial is self.stopgap and (self.holds_stopgap or self.has_waiting_outcome)

    def _has_found(self, trial: Trial[T]) -> bool:
        return trial.answered and self._found(trial.task.result())

    def lost_usd(self, winner: Trial[T]) -> float:
        """The cost of all other trials (USD): those that failed, and those cancelled now."""
        return sum(trial.cost_usd for trial in self.trials if trial is not winner)

    def exhausted(self, advice: str = "") -> Exhausted:
        """The error for a race without a winner, with `advice`, or else the advice of a trial."""
        failures = [trial.failure for trial in self.trials if trial.failure]
        waits = [failure.retry_after for failure in failures if failure.code not in UNUSABLE]
        given = (failure.advice for failure in failures if isinstance(failure, Exhausted))
        advice = advice or next(filter(None, given), "")
        error = Exhausted(self.attempts, retry_after=shortest(waits), advice=advice)
        if error.code == "RATE_LIMIT":
            error.retry_after = min((wait for wait in waits if wait is not None), default=None)
        return error

    async def __aenter__(self) -> FirstSuccess[T]:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        for trial in self.trials:
            trial.task.cancel()
        # No upstream call outlives its question.
        await asyncio.gather(*(trial.task for trial in self.trials), return_exceptions=True)
        spend(sum(trial.cost_usd for trial in self.trials))
