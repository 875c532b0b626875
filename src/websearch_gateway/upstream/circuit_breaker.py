"""The layer that stops calls to an upstream that keeps failing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websearch_gateway.errors import (
    BLOCKED,
    QUOTA,
    QUOTA_PAUSE_SECONDS,
    NotAsked,
    Refused,
    SearchTimeoutError,
    SearchValidationError,
    Unavailable,
)
from websearch_gateway.models import Deadline
from websearch_gateway.upstream.health import UpstreamHealth

LONGEST_OPEN_SECONDS = 3600.0
"""The longest time without a probe, even if the upstream asks for more: one probe an hour is cheap."""

_MOST_DOUBLINGS = 10
_EDGE_SECONDS = 0.1
"""Timers are not exact: a call that ends this shortly before the deadline was ended by it (seconds)."""


class CircuitBreaker:
    """The layer that stops calls to an upstream that keeps failing. One per upstream and process.

    Every `Unavailable` is a failure, but a timeout only if the upstream had `fair_seconds`, or exceeded its own limit
    before the caller's deadline. A `Refused` shows that the upstream works. Cancelled calls and calls that were not
    made (`NotAsked`) do not count. A single reply that says that the quota is spent (`errors.QUOTA`), or that blocks
    this address as a bot (`errors.BLOCKED`), opens the circuit. With each further bot page the open time doubles until
    the upstream serves again.

    Args:
        health: the record that this breaker writes, and whose clock it uses.
        failures: the number of consecutive failures that opens the circuit.
        open_seconds: how long it stays open; longer if the upstream asks for it, up to LONGEST_OPEN_SECONDS.
        fair_seconds: a timeout does not count if the caller's deadline left the upstream less time.
        timeouts: the number of failures that opens it, if the last one is a timeout; by default `failures`.
    """

    def __init__(
        self,
        health: UpstreamHealth,
        failures: int = 5,
        open_seconds: float = 30.0,
        fair_seconds: float = 1.5,
        timeouts: int | None = None,
    ) -> None:
        self.health = health
        self.failures = failures
        self.open_seconds = open_seconds
        self.fair_seconds = fair_seconds
        self.timeouts = timeouts or failures
        self._consecutive_failures = 0
        self._blocks = 0
        # Calls that began before the circuit opened or closed must not change its new state, so each call knows its
        # generation.
        self._generation = 0
        self._probing = False

    @asynccontextmanager
    async def __call__(self, deadline: Deadline) -> AsyncIterator[None]:
        """The block of a call.

        Raises:
            NotAsked: at once, if the circuit is open or another call's probe is in flight.
        """
        generation = self._enter()
        allowed_seconds = deadline.remaining()
        self.health.calls += 1
        try:
            yield
        except NotAsked:
            self.health.calls -= 1
            raise
        except Refused as error:
            # That error is about one request, not about the upstream.
            if not isinstance(error, SearchValidationError):
                self.health.record_error(error)
            self._record_answer(generation)
            raise
        except Unavailable as error:
            deadline_passed = deadline.remaining() < _EDGE_SECONDS
            is_fair = allowed_seconds >= self.fair_seconds or not deadline_passed
            if is_fair or not isinstance(error, SearchTimeoutError):
                self._record_failure(error, generation)
            raise
        else:
            self._record_answer(generation)
        finally:
            if generation == self._generation:
                self._probing = False

    def overtaken(self) -> None:
        """Count a call that was cancelled because it was overdue and another upstream answered."""
        if not self.health.open_for:
            error = SearchTimeoutError(
                f"{self.health.name} had not answered when another upstream had."
            )
            self._record_failure(error, self._generation)

    def _enter(self) -> int:
        if self.health.open_until is None:
            return self._generation
        if self.health.open_for or self._probing:
            raise self.health.circuit_open()
        self._probing = True
        self._generation += 1
        return self._generation

    def _record_answer(self, generation: int) -> None:
        if generation != self._generation:
            return
        self._consecutive_failures = self._blocks = 0
        if self._probing:
            self.health.open_until = None
            self._begin_generation()

    def _record_failure(self, error: Unavailable, generation: int) -> None:
        self.health.failures += 1
        self.health.record_error(error)
        if generation != self._generation:
            return
        self._consecutive_failures += 1
        reason = error.details.get("reason")
        most = self.timeouts if isinstance(error, SearchTimeoutError) else self.failures
        is_the_last_straw = self._consecutive_failures >= most
        is_probe = self.health.open_until is not None
        if reason in (BLOCKED, QUOTA) or is_the_last_straw or is_probe:
            self._open(self._pause_after(error))
            if reason == BLOCKED:
                self._blocks = min(self._blocks + 1, _MOST_DOUBLINGS)

    def _pause_after(self, error: Unavailable) -> float:
        """How long the circuit opens (seconds)."""
        seconds = error.retry_after or 0.0
        reason = error.details.get("reason")
        if reason == BLOCKED:
            seconds *= 2**self._blocks
        elif reason == QUOTA:
            seconds = max(seconds, QUOTA_PAUSE_SECONDS)
        return max(self.open_seconds, min(seconds, LONGEST_OPEN_SECONDS))

    def _open(self, seconds: float) -> None:
        self.health.open_until = self.health.clock() + seconds
        self._consecutive_failures = 0
        self._begin_generation()

    def _begin_generation(self) -> None:
        self._generation += 1
        self._probing = False
