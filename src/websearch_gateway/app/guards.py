"""The guard around each upstream, as the settings want it: its health, its circuit breaker and its share of the budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from websearch_gateway.models import SearchQuery
from websearch_gateway.ports import no_layer
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.burst_gate import BurstGate
from websearch_gateway.upstream.circuit_breaker import CircuitBreaker
from websearch_gateway.upstream.guarded import UpstreamGuard
from websearch_gateway.upstream.health import HealthRegistry, Stopwatch
from websearch_gateway.upstream.ledger import Ledger
from websearch_gateway.upstream.race import LEAST_SHARE_SECONDS


@dataclass(frozen=True, slots=True)
class Guards:
    """Makes the guards. They write to `health` and reserve what a call may cost in `ledger`."""

    settings: Settings
    health: HealthRegistry
    ledger: Ledger

    def around(
        self,
        name: str,
        most_usd: Callable[[SearchQuery], float] | None,
        *,
        fair_seconds: float = LEAST_SHARE_SECONDS,
        timeouts: int | None = None,
    ) -> UpstreamGuard:
        """The guard of the upstream `name`. Call it once per upstream and process.

        Args:
            most_usd: what a call may cost; None if it is free.
            fair_seconds: a shorter wait is no timeout of the upstream.
            timeouts: the number of failures that opens the circuit, if the last one is a timeout; by default
                BREAKER_FAILURES.
        """
        record = self.health.of(name)
        breaker = CircuitBreaker(
            record,
            self.settings.breaker_failures,
            self.settings.breaker_rest_seconds,
            fair_seconds,
            timeouts,
        )
        budget = self.ledger.budget(name, most_usd) if most_usd is not None else no_layer
        return UpstreamGuard(name, BurstGate(name), breaker, budget, Stopwatch(record))
