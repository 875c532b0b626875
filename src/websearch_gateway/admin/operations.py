"""What the operator sees: upstreams, calls, costs, tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from websearch_gateway import __version__
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import SCOPES, StateProblem
from websearch_gateway.ports import State
from websearch_gateway.results import (
    DayStats,
    LastError,
    Latency,
    ProviderStatus,
    ProviderStatuses,
    ServerStats,
    TokenUse,
    TokenUses,
    ToolStats,
)
from websearch_gateway.upstream.api_tokens import ApiToken, ApiTokens
from websearch_gateway.upstream.best_effort import BestEffort
from websearch_gateway.upstream.health import HealthRegistry, UpstreamStatus
from websearch_gateway.upstream.ledger import Day, Ledger, UserDay
from websearch_gateway.upstream.statistics import Figures, Statistics, ToolFigures
from websearch_gateway.upstream.telemetry import Telemetry

DAYS = 7
"""The number of days whose costs are shown."""

_STATE_SECONDS = 2.0
"""The longest wait for the day's costs (seconds): the rest of a status page must not wait for a slow state."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of all counters.

    `paid_usd` is what this process paid, by upstream. `days` are those of all processes, today first; empty if the
    state cannot be read. `daily_usd` is the budget, None if there is none.
    """

    figures: Figures
    upstreams: Sequence[UpstreamStatus]
    paid_usd: Mapping[str, float]
    in_flight: int
    daily_usd: float | None
    days: Sequence[Day]
    state_problem: StateProblem | None = None

    @property
    def left_usd(self) -> float | None:
        """The rest of today's budget; None if there is no budget or the rest is unknown."""
        if self.daily_usd is None or not self.days:
            return None
        return max(0.0, self.daily_usd - self.days[0].usd)


@dataclass(frozen=True, slots=True)
class Operations:
    """Reads the counters of all parts. Calls no upstream."""

    health: HealthRegistry
    statistics: Statistics
    ledger: Ledger
    telemetry: Telemetry
    state: State
    api_tokens: ApiTokens
    best_effort: BestEffort = field(
        default_factory=lambda: BestEffort("Snapshots lack the costs of the day")
    )

    def provider_status(self) -> ProviderStatuses:
        """The record of every upstream in this process."""
        return ProviderStatuses(providers=tuple(map(_status, self.health.snapshot())))

    async def snapshot(self, days: int = 1) -> Snapshot:
        """All counts, including the call that has just ended. Waits only briefly for a state that hangs."""
        none: Sequence[Day] = ()
        costs = await self.best_effort(lambda: self._days(days), none, seconds=_STATE_SECONDS)
        self.telemetry.flush()
        return Snapshot(
            self.statistics.figures(),
            self.health.snapshot(),
            self.ledger.paid_usd(),
            self.telemetry.in_flight,
            self.ledger.daily_usd,
            costs,
            self.state.problem,
        )

    async def token_uses(self) -> TokenUses:
        """Every token that an operator has created, and what its bearer did today.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        tokens = await self.api_tokens.all()
        days = await self.ledger.user_days([token.name for token in tokens])
        uses = []
        for token, day in zip(tokens, days, strict=True):
            uses.append(_token_use(token, day, self.api_tokens.has_expired(token)))
        return TokenUses(tokens=tuple(uses))

    async def _days(self, count: int) -> Sequence[Day]:
        return [await self.ledger.day(ago) for ago in range(count)]

    async def server_stats(self) -> ServerStats:
        """Load and latencies of this process, costs of all."""
        figures = self.statistics.figures()
        warnings = []
        days: Sequence[Day] = ()
        try:
            days = await self._days(DAYS)
        except StateUnavailable as error:
            warnings.append(f"The costs cannot be read: {error.message}")
        if self.state.problem:
            warnings.append(str(self.state.problem))
        budget = self.ledger.daily_usd
        left_today = None
        if budget is not None and days:
            left_today = max(0.0, round(budget - days[0].usd, 6))
        # Today comes first, and is shown even before its first call.
        shown_days = [day for day in days if day is days[0] or _has_calls(day)]
        return ServerStats(
            version=__version__,
            started_at=moment(figures.started_at),
            uptime_seconds=round(figures.uptime_seconds, 1),
            calls_per_minute=figures.calls_per_minute,
            tools=tuple(_tool(name, tool) for name, tool in sorted(figures.tools.items())),
            daily_budget_usd=budget,
            left_today_usd=left_today,
            days=tuple(map(_cost, shown_days)),
            warnings=tuple(warnings),
        )


def _has_calls(day: Day) -> bool:
    return any(day.calls_by_latency) or bool(day.usd)


def _token_use(token: ApiToken, day: UserDay, has_expired: bool) -> TokenUse:
    return TokenUse(
        name=token.name,
        scopes=tuple(scope for scope in SCOPES if scope in token.scopes),
        rate_limit=token.limits.rate_limit,
        daily_budget_usd=token.limits.daily_usd,
        created_at=moment(token.created),
        expires_at=None if token.expires is None else moment(token.expires),
        has_expired=has_expired,
        spent_today_usd=day.usd,
        calls_today=day.calls,
        last_used_at=None if day.last_call is None else moment(day.last_call),
    )


def moment(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _status(status: UpstreamStatus) -> ProviderStatus:
    last_success = None
    if status.last_success:
        last_success = status.last_success.isoformat(timespec="seconds")
    last_error = None
    if status.last_error:
        error = status.last_error
        at = error.at.isoformat(timespec="seconds")
        last_error = LastError(code=error.code, message=error.message, at=at)
    return ProviderStatus(
        name=status.name,
        breaker=status.breaker,
        open_for_seconds=round(status.retry_after, 1) if status.retry_after else None,
        calls=status.calls,
        failures=status.failures,
        error_rate=round(status.failures / status.calls, 4) if status.calls else None,
        last_success_at=last_success,
        p50_ms=_ms(status.p50),
        p95_ms=_ms(status.p95),
        last_error=last_error,
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


def _cost(day: Day) -> DayStats:
    return DayStats(
        day=day.day,
        usd=day.usd,
        saved_usd=day.saved_usd,
        by_provider=dict(day.usd_by_upstream),
        calls_by_provider=dict(day.calls_by_upstream),
        calls=sum(day.calls_by_latency),
        latency_ms=Latency(
            p50=day.quantile_ms(0.5), p95=day.quantile_ms(0.95), p99=day.quantile_ms(0.99)
        ),
    )
