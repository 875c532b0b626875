"""What operators and agents may see of the gateway: health, load, costs and the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from websearch_gateway import __version__
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.pipeline.health import HealthRegistry, UpstreamStatus
from websearch_gateway.pipeline.ledger import Day, Ledger
from websearch_gateway.pipeline.statistics import Figures, Statistics, ToolFigures
from websearch_gateway.pipeline.telemetry import Telemetry
from websearch_gateway.wire.ops import (
    DayCost,
    LastError,
    Latency,
    ProviderStatus,
    ProviderStatuses,
    ServerStats,
    ToolStats,
)

DAYS = 7
"""The days whose costs are shown."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What all processes may spend today, and what they still may, in USD."""

    daily_usd: float
    left_usd: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that was counted, as it was at one moment. `budget` is None without one, and when it is not known."""

    figures: Figures
    upstreams: Sequence[UpstreamStatus]
    paid_usd: Mapping[str, float]
    in_flight: int
    budget: Budget | None


@dataclass(frozen=True, slots=True)
class Operations:
    """Looks at what the parts have counted. Calls no upstream."""

    health: HealthRegistry
    statistics: Statistics
    ledger: Ledger
    telemetry: Telemetry

    def provider_status(self) -> ProviderStatuses:
        """Every upstream as this process has met it."""
        return ProviderStatuses(providers=tuple(map(_status, self.health.snapshot())))

    async def snapshot(self) -> Snapshot:
        """What this process has counted, the call that has just ended among it; the budget of all."""
        budget = await self._budget()
        self.telemetry.flush()
        return Snapshot(
            self.statistics.figures(),
            self.health.snapshot(),
            self.ledger.paid_usd(),
            self.telemetry.in_flight,
            budget,
        )

    async def _budget(self) -> Budget | None:
        daily = self.ledger.daily_usd
        if daily is None:
            return None
        try:
            today = await self.ledger.day()
        except StateUnavailable:
            return None
        return Budget(daily, max(0.0, daily - today.usd))

    async def server_stats(self) -> ServerStats:
        """Load and latencies of this process, costs of all."""
        figures = self.statistics.figures()
        warnings: tuple[str, ...] = ()
        days: Sequence[Day] = ()
        try:
            days = [await self.ledger.day(ago) for ago in range(DAYS)]
        except StateUnavailable as error:
            warnings = (f"The costs cannot be read: {error.message}",)
        budget = self.ledger.daily_usd
        return ServerStats(
            version=__version__,
            started_at=datetime.fromtimestamp(figures.started_at, UTC).isoformat(timespec="seconds"),
            uptime_seconds=round(figures.uptime_seconds, 1),
            calls_per_minute=figures.calls_per_minute,
            tools=tuple(_tool(name, tool) for name, tool in sorted(figures.tools.items())),
            daily_budget_usd=budget,
            left_today_usd=max(0.0, round(budget - days[0].usd, 6)) if budget is not None and days else None,
            days=tuple(_cost(day) for day in days if day.usd or day.saved_usd or day is days[0]),
            warnings=warnings,
        )


def _status(status: UpstreamStatus) -> ProviderStatus:
    error = status.last_error
    return ProviderStatus(
        name=status.name,
        breaker=status.breaker,
        rests_for_seconds=round(status.retry_after, 1) if status.retry_after else None,
        calls=status.calls,
        failures=status.failures,
        p50_ms=_ms(status.p50),
        p95_ms=_ms(status.p95),
        last_error=LastError(code=error.code, message=error.message, at=error.at.isoformat(timespec="seconds"))
        if error
        else None,
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)


def _tool(name: str, figures: ToolFigures) -> ToolStats:
    p50, p95, p99 = figures.latencies_ms or (None, None, None)
    return ToolStats(
        tool=name,
        calls=sum(figures.outcomes.values()),
        outcomes=dict(figures.outcomes),
        latency_ms=Latency(p50=p50, p95=p95, p99=p99),
    )


def _cost(day: Day) -> DayCost:
    return DayCost(
        day=day.day,
        usd=day.usd,
        saved_usd=day.saved_usd,
        by_provider=dict(day.usd_by_upstream),
        calls_by_provider=dict(day.calls_by_upstream),
    )
