"""When a slow upstream is worth a second call, and how many such calls there may be."""

from __future__ import annotations

from dataclasses import dataclass, field

from websearch_gateway.upstream.health import HealthRegistry

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
