"""Reports for operators and agents: health, load, costs, the cache, and the doctor's check, which calls every
configured upstream once and gives a remedy for each problem.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from websearch_gateway import __version__
from websearch_gateway.errors import UNUSABLE, EngineNotConfigured, SearchError, StateUnavailable
from websearch_gateway.models import Call, Deadline, SearchQuery, StateProblem
from websearch_gateway.ports import Embedder, HostedEngine, Reranker, Searcher, State
from websearch_gateway.results import (
    Check,
    DayStats,
    Diagnosis,
    LastError,
    Latency,
    ProviderStatus,
    ProviderStatuses,
    ServerStats,
    ToolStats,
)
from websearch_gateway.upstream.health import BestEffort, HealthRegistry, UpstreamStatus
from websearch_gateway.upstream.ledger import LEVELS, Day, Ledger
from websearch_gateway.upstream.telemetry import Figures, Statistics, Telemetry, ToolFigures

DAYS = 7
"""The number of days whose costs are shown."""

_STATE_SECONDS = 2.0


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
    best_effort: BestEffort = field(default_factory=lambda: BestEffort("Snapshots lack the costs of the day"))

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

    async def _days(self, count: int) -> Sequence[Day]:
        return [await self.ledger.day(ago) for ago in range(count)]

    async def server_stats(self) -> ServerStats:
        """Load and latencies of this process, costs of all."""
        figures = self.statistics.figures()
        warnings: tuple[str, ...] = ()
        days: Sequence[Day] = ()
        try:
            days = await self._days(DAYS)
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
            days=tuple(_cost(day) for day in days if any(day.calls_by_latency) or day.usd or day is days[0]),
            warnings=(*warnings, *([str(self.state.problem)] if self.state.problem else [])),
        )


def _status(status: UpstreamStatus) -> ProviderStatus:
    error = status.last_error
    return ProviderStatus(
        name=status.name,
        breaker=status.breaker,
        open_for_seconds=round(status.retry_after, 1) if status.retry_after else None,
        calls=status.calls,
        failures=status.failures,
        error_rate=round(status.failures / status.calls, 4) if status.calls else None,
        last_success_at=status.last_success.isoformat(timespec="seconds") if status.last_success else None,
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


def _cost(day: Day) -> DayStats:
    return DayStats(
        day=day.day,
        usd=day.usd,
        saved_usd=day.saved_usd,
        by_provider=dict(day.usd_by_upstream),
        calls_by_provider=dict(day.calls_by_upstream),
        calls=sum(day.calls_by_latency),
        latency_ms=Latency(p50=day.quantile_ms(0.5), p95=day.quantile_ms(0.95), p99=day.quantile_ms(0.99)),
    )


PROBE = SearchQuery("example domain", max_results=1)
PROBE_SECONDS = 10.0

REMEDIES = {
    "AUTH": "Put a valid key into that setting, or give this key the permission. Waiting does not help.",
    "NOT_CONFIGURED": "Set what the message names.",
    "VALIDATION": "Correct its settings, first its *_BASE_URL. Waiting does not help.",
    "PARSE": "Check that its *_BASE_URL is the address of the API and not of a login page. If it is, "
    "update this gateway.",
    "TIMEOUT": "Try again later. If it fails again, check firewall and proxy, or raise REQUEST_TIMEOUT_MS.",
    "PROVIDER": "Try again later, and check the vendor's status page.",
}
"""What the operator can do, by error code."""

REASONS = {
    "quota": "Top up the account or raise its limit.",
    "unreachable": "Check its *_BASE_URL, and that this machine's DNS and firewall allow the connection.",
}
"""The same, by `details["reason"]` where an error has one."""


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class Doctor:
    """Checks everything that the gateway depends on. Costs one search per paid provider.

    `ends` gives the day on which a provider's API shuts down. `browser_lacks` says why no browser can start,
    `advice` which keys to get where no provider has one, `unfinished` what is missing for a part whose settings are
    only partly set.
    """

    engines: Sequence[HostedEngine]
    searchers: Sequence[Searcher]
    state: State
    embedder: Embedder
    ends: Mapping[str, date | None]
    browser_lacks: Callable[[], str | None]
    ledger: Ledger
    today: Callable[[], date] = _today
    advice: str = ""
    unfinished: Mapping[str, str] = field(default_factory=dict)
    reranker: Reranker | None = None

    async def examine(self) -> Diagnosis:
        """One check per part, run concurrently."""
        engines, providers, own = await asyncio.gather(
            asyncio.gather(*map(_engine, self.engines)),
            asyncio.gather(*map(self._provider, self.searchers)),
            asyncio.gather(self.check_state(), self._embedder(), self._reranker(), self._browser(), self._budget()),
        )
        half = [
            Check(name=name, status="warn", finding=finding, remedy="Set it too, or remove the others.")
            for name, finding in self.unfinished.items()
        ]
        keys = self._keys(providers)
        return Diagnosis(
            checks=(*_with_stand_ins(engines), *half, *_with_stand_ins(providers), *filter(None, own), *keys)
        )

    def _keys(self, providers: Sequence[Check]) -> Iterator[Check]:
        """A hint while the providers without a key answer, else a warning."""
        if self.advice:
            finding = "no search provider has a key; DuckDuckGo often refuses, and Wikipedia is only an encyclopaedia"
            works = any(check.status == "ok" for check in providers)
            yield Check(name="keys", status="off" if works else "warn", finding=finding, remedy=self.advice)

    async def _provider(self, searcher: Searcher) -> Check:
        try:
            results = await searcher.ask(Call.of(PROBE, Deadline.after(PROBE_SECONDS)))
        except SearchError as error:
            return _failed(searcher.name, error)
        if not results.hits:
            remedy = (
                "Try another question with `search --json`. If it finds nothing again, remove it from SEARCH_PROVIDERS."
            )
            return Check(name=searcher.name, status="warn", finding="answers, but finds nothing", remedy=remedy)
        if (end := self.ends.get(searcher.name)) is not None:
            gone = self.today() >= end
            finding = f"answers, but its API {'has ended' if gone else 'ends'} on {end}"
            remedy = "Set the key of another provider before that day."
            return Check(name=searcher.name, status="warn", finding=finding, remedy=remedy)
        return Check(name=searcher.name, finding="answers")

    async def _embedder(self) -> Check:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                rows = await self.embedder.embed([PROBE.text], "query")
        except SearchError as error:
            return _as_warning(_failed("embedder", error))
        except TimeoutError:
            return _as_warning(Check(name="embedder", finding="does not answer", remedy=REMEDIES["TIMEOUT"]))
        return Check(name="embedder", finding=f"{self.embedder.name} makes vectors of {rows.shape[1]} numbers")

    async def _reranker(self) -> Check | None:
        if self.reranker is None:
            return None
        order, fault = await self.reranker.order(PROBE.text, ["A bicycle.", PROBE.text], Call.after(PROBE_SECONDS))
        if fault:
            remedy = "Correct RERANKER_URL, RERANKER_MODEL or RERANKER_API_KEY. Calls keep their own order until then."
            return Check(name="reranker", status="warn", finding=fault, remedy=remedy)
        if order[0] == 0:
            remedy = "Check that RERANKER_MODEL is a model for reranking."
            return Check(name="reranker", status="warn", finding="prefers an unrelated text", remedy=remedy)
        return Check(name="reranker", finding="orders texts")

    async def _browser(self) -> Check:
        if (lack := self.browser_lacks()) is None:
            return Check(name="browser", finding="reads pages that need scripts")
        return Check(
            name="browser",
            status="off",
            finding=lack,
            remedy="Do this if you need pages that scripts make; the gateway reads all others without it.",
        )

    async def _budget(self) -> Check:
        """How much of today's budget is left."""
        if (daily := self.ledger.daily_usd) is None:
            return Check(name="budget", status="off", finding="DAILY_BUDGET_USD is none, so nothing limits the costs")
        try:
            spent = (await self.ledger.day()).usd
        except StateUnavailable as error:
            return Check(name="budget", status="warn", finding=f"cannot be read: {error.message}")
        finding = f"${spent:.2f} of ${daily:g} is spent today"
        if not daily or spent < LEVELS[0] * daily:
            return Check(name="budget", finding=finding)
        remedy = "Raise DAILY_BUDGET_USD, or wait until 00:00 UTC. Free upstreams still answer."
        return Check(name="budget", status="warn", finding=finding, remedy=remedy)

    async def check_state(self) -> Check:
        """Whether the state reads and writes."""
        try:
            await self.state.add("doctor/probe", ttl=60)
        except StateUnavailable as error:
            return Check(
                name="state",
                status="fail",
                finding=error.message,
                remedy="Fix STATE_URL or DATA_DIR. Searches work without the state.",
            )
        if problem := self.state.problem:
            return Check(name="state", status="warn", finding=problem.finding, remedy=problem.remedy)
        return Check(name="state", finding="can be read and written")


def _with_stand_ins(row: Sequence[Check]) -> Iterator[Check]:
    """The checks of upstreams, in the order of use. A failed check says what happens meanwhile."""
    for place, check in enumerate(row):
        stand_in = next((later.name for later in row[place + 1 :] if later.status in ("ok", "warn")), None)
        meanwhile = f" {stand_in} answers instead." if stand_in else ""
        if check.finding.startswith(UNUSABLE):
            meanwhile = " A call that asks it first fails; other calls skip it with a warning."
        if check.status == "fail" and not check.finding.startswith("VALIDATION"):
            check = check.model_copy(update={"remedy": f"{check.remedy}{meanwhile}"})
        yield check


async def _engine(engine: HostedEngine) -> Check:
    try:
        findings = await engine.check(Deadline.after(PROBE_SECONDS))
    except EngineNotConfigured as error:
        remedy = "Set it, or the key of another engine, to get written answers. Without one the gateway quotes pages."
        return Check(name=engine.name, status="off", finding=error.message, remedy=remedy)
    except SearchError as error:
        return _failed(engine.name, error)
    if findings:
        remedy = f"Put a model that exists and has no end date first in {engine.name.upper()}_MODELS."
        return Check(name=engine.name, status="warn", finding=" ".join(findings), remedy=remedy)
    return Check(name=engine.name, finding="answers")


def _failed(name: str, error: SearchError) -> Check:
    by_code = REMEDIES.get(error.code, REMEDIES["PROVIDER"])
    remedy = REASONS.get(str(error.details.get("reason")), by_code)
    return Check(name=name, status="fail", finding=f"{error.code}: {error.message}", remedy=remedy)


def _as_warning(check: Check) -> Check:
    """Without an embedder passages are ranked by words, so its failure does not make the gateway fail."""
    return check.model_copy(
        update={"status": "warn", "remedy": f"{check.remedy} Until then words alone rank passages."}
    )
