"""The circuit breaker: an upstream that keeps failing is left alone for a while, and then one call probes it.

closed ----- failures in a row -----> open ----- rest is over -----> half-open
   ^                                    ^                                |
   |                                    `------- the probe fails --------|
   `------------------------------------------ the probe succeeds -------'
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from websearch_gateway.errors import NotAsked, Refused, SearchTimeoutError, SearchValidationError, Unavailable
from websearch_gateway.models import Deadline
from websearch_gateway.pipeline.health import UpstreamHealth

LONGEST_REST_SECONDS = 3600.0
"""However long an upstream asks to be left alone: a probe an hour is cheap, a day without it may be an error."""

_EDGE_SECONDS = 0.1
"""Timers are not exact: a call that ends so shortly before its deadline was ended by it."""

T = TypeVar("T")


class Breaker:
    """The layer that stops calling an upstream which keeps failing. One for each upstream of the process.

    A failure is what tells that the upstream is ill: `Unavailable` of any kind, but a timeout only when the upstream
    had `fair_seconds`, or when there was time left and it overran a limit of its own. A `Refused` is a sign of life.
    What was cancelled tells nothing, nor does a call that was not made (`NotAsked`).

    Args:
        health: the record that this breaker writes; its clock counts.
        failures: so many in a row open it.
        rest_seconds: for so long at least; longer when the upstream said so, up to an hour.
        fair_seconds: whoever had less and ran into the deadline of the caller is not to blame.
    """

    def __init__(
        self, health: UpstreamHealth, failures: int = 5, rest_seconds: float = 30.0, fair_seconds: float = 1.5
    ) -> None:
        self.health = health
        self.failures = failures
        self.rest_seconds = rest_seconds
        self.fair_seconds = fair_seconds
        self._row = 0
        # Calls begun before the breaker opened or closed must not decide what comes after: each belongs to its era.
        self._era = 0
        self._probing = False

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`.

        Raises:
            NotAsked: the upstream rests, or somebody else's probe is under way. At once.
            SearchError: what `call` raises.
        """
        era = self._enter()
        given = deadline.remaining()
        self.health.calls += 1
        try:
            result = await call()
        except NotAsked:
            self.health.calls -= 1
            raise
        except Refused as error:
            if not isinstance(error, SearchValidationError):  # which is about one request, not about the upstream
                self.health.noted(error)
            self._answered(era)
            raise
        except Unavailable as error:
            if self._is_to_blame(error, given, deadline):
                self._failed(error, era)
            raise
        else:
            self._answered(era)
            return result
        finally:
            if era == self._era:
                self._probing = False

    def overtaken(self) -> None:
        """Count a call that was given up because another upstream had answered when this one was overdue."""
        if not self.health.rest:
            self._failed(SearchTimeoutError(f"{self.health.name} was overdue when another had answered."), self._era)

    def _enter(self) -> int:
        """The era of a call that may begin."""
        if self.health.rests_until is None:
            return self._era
        if self.health.rest or self._probing:
            raise self.health.left_alone()
        self._probing = True
        self._era += 1
        return self._era

    def _is_to_blame(self, error: Unavailable, given: float, deadline: Deadline) -> bool:
        overran = deadline.remaining() < _EDGE_SECONDS
        return not isinstance(error, SearchTimeoutError) or given >= self.fair_seconds or not overran

    def _answered(self, era: int) -> None:
        if era != self._era:
            return
        self._row = 0
        if self._probing:
            self.health.rests_until = None
            self._turn()

    def _failed(self, error: Unavailable, era: int) -> None:
        self.health.failures += 1
        self.health.noted(error)
        if era != self._era:
            return
        self._row += 1
        if self._row >= self.failures or self.health.rests_until is not None:
            asked_for = min(error.retry_after or 0.0, LONGEST_REST_SECONDS)
            self.health.rests_until = self.health.clock() + max(self.rest_seconds, asked_for)
            self._row = 0
            self._turn()

    def _turn(self) -> None:
        self._era += 1
        self._probing = False
