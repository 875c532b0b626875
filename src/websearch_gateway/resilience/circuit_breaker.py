"""The circuit breaker: stops calls to an upstream that keeps failing, and later sends one call as a probe.

closed ----- failures in a row -----> open ----- time is over -----> half-open
   ^                                    ^                                |
   |                                    `------- the probe fails --------|
   `------------------------------------------ the probe succeeds -------'
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from websearch_gateway.errors import BLOCKED, NotAsked, Refused, SearchTimeoutError, SearchValidationError, Unavailable
from websearch_gateway.models import Deadline
from websearch_gateway.resilience.health import UpstreamHealth

LONGEST_OPEN_SECONDS = 3600.0
"""The longest time without a probe, even if the upstream asks for more: one probe an hour is cheap."""

_MOST_DOUBLINGS = 10
_EDGE_SECONDS = 0.1
"""Timers are not exact: a call that ends this shortly before the deadline was ended by it (seconds)."""

T = TypeVar("T")


class CircuitBreaker:
    """The layer that stops calls to an upstream that keeps failing. One per upstream and process.

    Every `Unavailable` is a failure, but a timeout only if the upstream had `fair_seconds`, or exceeded its own limit
    before the caller's deadline. A `Refused` shows that the upstream works. Cancelled calls and calls that were not
    made (`NotAsked`) do not count. A single reply that blocks this address as a bot (`errors.BLOCKED`) opens the
    circuit, and the open time doubles with each such reply until the upstream serves again.

    Args:
        health: the record that this breaker writes, and whose clock it uses.
        failures: the number of consecutive failures that opens the circuit.
        open_seconds: how long it stays open; longer if the upstream asks for it, up to LONGEST_OPEN_SECONDS.
        fair_seconds: a timeout does not count if the caller's deadline left the upstream less time.
    """

    def __init__(
        self, health: UpstreamHealth, failures: int = 5, open_seconds: float = 30.0, fair_seconds: float = 1.5
    ) -> None:
        self.health = health
        self.failures = failures
        self.open_seconds = open_seconds
        self.fair_seconds = fair_seconds
        self._consecutive_failures = 0
        self._blocks = 0
        # Calls that began before the circuit opened or closed must not change its new state, so each call knows its
        # generation.
        self._generation = 0
        self._probing = False

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`.

        Raises:
            NotAsked: at once, if the circuit is open or another call's probe is in flight.
            SearchError: what `call` raises.
        """
        generation = self._enter()
        given_seconds = deadline.remaining()
        self.health.calls += 1
        try:
            result = await call()
        except NotAsked:
            self.health.calls -= 1
            raise
        except Refused as error:
            if not isinstance(error, SearchValidationError):  # that error is about one request, not about the upstream
                self.health.record_error(error)
            self._record_answer(generation)
            raise
        except Unavailable as error:
            if self._is_to_blame(error, given_seconds, deadline):
                self._record_failure(error, generation)
            raise
        else:
            self._record_answer(generation)
            return result
        finally:
            if generation == self._generation:
                self._probing = False

    def overtaken(self) -> None:
        """Count a call that was cancelled because it was overdue and another upstream answered."""
        if not self.health.open_for:
            error = SearchTimeoutError(f"{self.health.name} was overdue when another had answered.")
            self._record_failure(error, self._generation)

    def _enter(self) -> int:
        """Admit a call. Returns its generation."""
        if self.health.open_until is None:
            return self._generation
        if self.health.open_for or self._probing:
            raise self.health.circuit_open()
        self._probing = True
        self._generation += 1
        return self._generation

    def _is_to_blame(self, error: Unavailable, given_seconds: float, deadline: Deadline) -> bool:
        if not isinstance(error, SearchTimeoutError):
            return True
        deadline_passed = deadline.remaining() < _EDGE_SECONDS
        return given_seconds >= self.fair_seconds or not deadline_passed

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
        is_blocked = error.details.get("reason") == BLOCKED
        if is_blocked or self._consecutive_failures >= self.failures or self.health.open_until is not None:
            asked_for = (error.retry_after or 0.0) * (2**self._blocks if is_blocked else 1)
            seconds = max(self.open_seconds, min(asked_for, LONGEST_OPEN_SECONDS))
            self.health.open_until = self.health.clock() + seconds
            self._consecutive_failures = 0
            self._blocks = min(self._blocks + is_blocked, _MOST_DOUBLINGS)
            self._begin_generation()

    def _begin_generation(self) -> None:
        self._generation += 1
        self._probing = False
