"""Operating a gateway: reports of health, load and costs; the doctor's check, which calls every configured upstream
once and gives a remedy for each problem; and care for the shared state: what it holds, clearing and copying the cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal, Protocol

from pydantic import ValidationError

from websearch_gateway import __version__
from websearch_gateway.base import checked_query
from websearch_gateway.cache.clearing import Stamp, mark_cleared, question_name
from websearch_gateway.cache.judgements import JUDGED
from websearch_gateway.cache.pages import KEEP_SECONDS
from websearch_gateway.cache.semantic import wordings
from websearch_gateway.errors import (
    UNUSABLE,
    ForbiddenUrlError,
    SearchError,
    SearchValidationError,
    StateUnavailable,
)
from websearch_gateway.models import (
    LOCAL,
    SCOPES,
    SHORTEST_QUERY,
    Call,
    Caller,
    Deadline,
    SearchQuery,
    StateEntry,
    StateProblem,
    StateUsage,
)
from websearch_gateway.ports import Embedder, HostedEngine, Reranker, Searcher, State
from websearch_gateway.results import (
    CacheClearResult,
    CacheState,
    CacheStats,
    Check,
    DayStats,
    Diagnosis,
    LastError,
    Latency,
    MigrateResult,
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
from websearch_gateway.upstream.ledger import LEVELS, Day, Ledger, UserDay
from websearch_gateway.upstream.telemetry import Figures, Statistics, Telemetry, ToolFigures

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
        rows = zip(tokens, days, strict=True)
        return TokenUses(
            tokens=tuple(
                _token_use(token, day, self.api_tokens.has_expired(token)) for token, day in rows
            )
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
            started_at=datetime.fromtimestamp(figures.started_at, UTC).isoformat(
                timespec="seconds"
            ),
            uptime_seconds=round(figures.uptime_seconds, 1),
            calls_per_minute=figures.calls_per_minute,
            tools=tuple(_tool(name, tool) for name, tool in sorted(figures.tools.items())),
            daily_budget_usd=budget,
            left_today_usd=max(0.0, round(budget - days[0].usd, 6))
            if budget is not None and days
            else None,
            days=tuple(
                _cost(day) for day in days if any(day.calls_by_latency) or day.usd or day is days[0]
            ),
            warnings=(*warnings, *([str(self.state.problem)] if self.state.problem else [])),
        )


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
    error = status.last_error
    return ProviderStatus(
        name=status.name,
        breaker=status.breaker,
        open_for_seconds=round(status.retry_after, 1) if status.retry_after else None,
        calls=status.calls,
        failures=status.failures,
        error_rate=round(status.failures / status.calls, 4) if status.calls else None,
        last_success_at=status.last_success.isoformat(timespec="seconds")
        if status.last_success
        else None,
        p50_ms=_ms(status.p50),
        p95_ms=_ms(status.p95),
        last_error=LastError(
            code=error.code, message=error.message, at=error.at.isoformat(timespec="seconds")
        )
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
        latency_ms=Latency(
            p50=day.quantile_ms(0.5), p95=day.quantile_ms(0.95), p99=day.quantile_ms(0.99)
        ),
    )


PROBE = SearchQuery("example domain", max_results=1)
PROBE_SECONDS = 10.0
"""For one check of `doctor` (seconds): what answers later would fail most calls too."""

REMEDIES = {
    "AUTH": "Put a valid key into that setting, or give this key the permission. Waiting does not help. Until then a "
    "call that asks it first fails; others skip it with a warning.",
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


NO_ENGINE = Check(
    name="openai",
    status="off",
    finding="OPENAI_API_KEY is not set.",
    remedy="Set it, or the key of another engine, to get written answers. Without one the gateway quotes pages.",
)


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
    today: Callable[[], date] = lambda: datetime.now(UTC).date()
    advice: Callable[[], str] = str
    unfinished: Mapping[str, str] = field(default_factory=dict)
    reranker: Reranker | None = None

    async def examine(self) -> Diagnosis:
        """One check per part, run concurrently."""
        engines, providers, own = await asyncio.gather(
            asyncio.gather(*map(_engine, self.engines)),
            asyncio.gather(*map(self._provider, self.searchers)),
            asyncio.gather(
                self.check_state(),
                self._embedder(),
                self._reranker(),
                self._browser(),
                self._budget(),
            ),
        )
        half = [
            Check(
                name=name,
                status="warn",
                finding=finding,
                remedy="Set it too, or remove the others.",
            )
            for name, finding in self.unfinished.items()
        ]
        upstreams = (*_with_stand_ins(engines or [NO_ENGINE]), *half, *_with_stand_ins(providers))
        checks = (*upstreams, *filter(None, own))
        return Diagnosis(checks=(*checks, *self._keys(providers)))

    def _keys(self, providers: Sequence[Check]) -> Iterator[Check]:
        """A hint while the providers without a key answer, else a warning."""
        if remedy := self.advice():
            finding = "no search provider has a key; DuckDuckGo often refuses, and Wikipedia is only an encyclopaedia"
            works = any(check.status == "ok" for check in providers)
            yield Check(
                name="keys", status="off" if works else "warn", finding=finding, remedy=remedy
            )

    async def _provider(self, searcher: Searcher) -> Check:
        try:
            results = await searcher.ask(Call.of(PROBE, Deadline.after(PROBE_SECONDS)))
        except SearchError as error:
            return _failed(searcher.name, error)
        if not results.hits:
            remedy = "Try another question with `search --json`. If it finds nothing again, remove it from SEARCH_PROVIDERS."
            return Check(
                name=searcher.name,
                status="warn",
                finding="answers, but finds nothing",
                remedy=remedy,
            )
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
            return _as_warning(
                Check(name="embedder", finding="does not answer", remedy=REMEDIES["TIMEOUT"])
            )
        return Check(
            name="embedder",
            finding=f"{self.embedder.name} makes vectors of {rows.shape[1]} numbers",
        )

    async def _reranker(self) -> Check | None:
        if self.reranker is None:
            return None
        order, fault = await self.reranker.order(
            PROBE.text, ["A bicycle.", PROBE.text], Call.after(PROBE_SECONDS)
        )
        if fault:
            remedy = "Correct RERANKER_URL, RERANKER_MODEL or RERANKER_API_KEY. Calls keep their own order until then."
            return Check(name="reranker", status="warn", finding=fault, remedy=remedy)
        if order[0] == 0:
            remedy = "Check that RERANKER_MODEL is a model for reranking."
            return Check(
                name="reranker", status="warn", finding="prefers an unrelated text", remedy=remedy
            )
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
            return Check(
                name="budget",
                status="off",
                finding="DAILY_BUDGET_USD is none, so nothing limits the costs",
            )
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
            return Check(
                name="state", status="warn", finding=problem.finding, remedy=problem.remedy
            )
        return Check(name="state", finding="can be read and written")


def _with_stand_ins(row: Sequence[Check]) -> Iterator[Check]:
    """The checks of upstreams, in the order of use. One that failed says which of the later ones serves meanwhile."""
    for place, check in enumerate(row):
        stand_in = next(
            (later.name for later in row[place + 1 :] if later.status in ("ok", "warn")), None
        )
        gives_way = check.status == "fail" and not check.finding.startswith(
            (*UNUSABLE, "VALIDATION")
        )
        if stand_in and gives_way:
            check = check.model_copy(
                update={"remedy": f"{check.remedy} {stand_in} answers instead."}
            )
        yield check


async def _engine(engine: HostedEngine) -> Check:
    try:
        findings = await engine.check(Deadline.after(PROBE_SECONDS))
    except SearchError as error:
        return _failed(engine.name, error)
    if findings:
        remedy = (
            f"Put a model that exists and has no end date first in {engine.name.upper()}_MODELS."
        )
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


MOST_COUNTED = 5_000
"""The most entries of a kind to read for the figures. A backend may charge for each."""

COUNTING_SECONDS = 3.0
"""For counting what is stored (seconds): a person waits for it."""

_AT_ONCE = 32
"""Entries of one batch: calls get a turn between two."""
_END_MARKS = "?!.？！。 "
_STATES: tuple[CacheState, ...] = ("exact", "semantic", "stale", "miss")


class Memory(Protocol):
    """The part of the cache in this process's memory."""

    def in_memory(self) -> Mapping[str, int]: ...

    def forget(self) -> None: ...


@dataclass(slots=True)
class _Tally:
    entries: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    ages: list[float] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, kind: Kind, content: Content) -> None:
        self.entries[kind] += 1
        self.sizes[kind] += content.size
        if content.age_seconds is not None:
            self.ages.append(content.age_seconds)


@dataclass(frozen=True, slots=True)
class CacheAdmin:
    """Inspects and clears the cache, in the shared state and in this process's memory.

    Args:
        clock: seconds since the epoch, the same in all processes.
    """

    state: State
    memories: Sequence[Memory]
    statistics: Statistics
    telemetry: Telemetry
    ledger: Ledger
    clock: Callable[[], float] = time.time

    async def stats(self) -> CacheStats:
        """The use that this process makes of the cache, and the contents that all processes share.

        Reads at most MOST_COUNTED entries of a kind and takes at most COUNTING_SECONDS; `warnings` says what is
        missing.
        """
        tally = await self._counted()
        usage: StateUsage | None = None
        with suppress(StateUnavailable):  # the tally has a warning for it
            usage = await self.state.usage()
        self.telemetry.flush()
        figures = self.statistics.figures()
        exact, semantic, stale, missed = (figures.cache.get(kind, 0) for kind in _STATES)
        asked = exact + semantic + stale + missed
        return CacheStats(
            exact_hits=exact,
            semantic_hits=semantic,
            joined=figures.joined,
            stale_served=stale,
            misses=missed - figures.joined,
            hit_rate=round((exact + semantic) / asked, 4) if asked else None,
            saved_today_usd=await self._saved_today(tally.warnings),
            entries=sum(tally.entries.values()),
            bytes=sum(tally.sizes.values()),
            entries_by_kind={kind: tally.entries[kind] for kind in PREFIXES},
            bytes_by_kind={kind: tally.sizes[kind] for kind in PREFIXES},
            in_memory={
                kind: count
                for memory in self.memories
                for kind, count in memory.in_memory().items()
            },
            state_bytes=usage and usage.bytes,
            max_state_bytes=usage and usage.most_bytes,
            evictions=usage.evictions if usage else 0,
            oldest_seconds=round(max(tally.ages), 1) if tally.ages else None,
            newest_seconds=round(min(tally.ages), 1) if tally.ages else None,
            warnings=(*tally.warnings, *([str(self.state.problem)] if self.state.problem else [])),
        )

    async def clear(
        self, *, older_than_hours: float | None = None, query: str | None = None
    ) -> CacheClearResult:
        """Remove entries from the state and drop every process's memory. After an interruption, run it again. Also
        removes entries whose age or question is unknown.

        Args:
            older_than_hours: only entries stored longer ago than this.
            query: only answers and results for this question, from any user and with any parameters: those that the
                cache finds for it, in any case, with other punctuation, or in other words of the same meaning.

        Raises:
            SearchValidationError: an argument is unacceptable.
            StateUnavailable: the state failed; entries already removed stay removed.
        """
        if older_than_hours is not None and not 0 < older_than_hours < math.inf:
            demand = "a number of hours above 0"
            details = {"field": "olderThanHours", "allowed": demand}
            raise SearchValidationError(f"`olderThanHours` must be {demand}.", details=details)
        least_age = (older_than_hours or 0.0) * 3600
        questions = (
            None if query is None else await self._names(checked_query(query, SHORTEST_QUERY))
        )
        removed: dict[str, int] = {}
        # An outage hides entries of the file.
        problem, outages = (
            self.state.problem,
            self.state.outages,
        )
        try:
            await mark_cleared(self.state, self.clock() - least_age, questions)
            for kind in PREFIXES if questions is None else ABOUT_QUESTIONS:
                removed[kind] = await self._remove(kind, least_age, questions)
        finally:
            for memory in self.memories:
                memory.forget()
        if (problem := problem or self.state.problem) or self.state.outages > outages:
            why = problem or "it could not be used for a while. Run this again."
            raise StateUnavailable(
                f"The cache of this process is cleared, but the file is not: {why}"
            )
        return CacheClearResult(removed=sum(removed.values()), removed_by_kind=removed)

    async def _names(self, text: str) -> frozenset[str]:
        """The names of the question in each wording under which the cache may hold it."""
        bare = text.rstrip(_END_MARKS)
        same = {
            text,
            bare,
            *(f"{bare}{mark}" for mark in _END_MARKS),
            *await wordings(self.state, text),
        }
        return frozenset(map(question_name, same))

    async def _remove(self, kind: Kind, least_age: float, questions: frozenset[str] | None) -> int:
        removed, batch = 0, list[str]()

        async def delete() -> int:
            return sum(await asyncio.gather(*map(self.state.delete, batch)))

        async for content in contents(self.state, kind, self.clock()):
            is_old = content.age_seconds is None or content.age_seconds >= least_age
            if is_old and (
                questions is None or content.question is None or content.question in questions
            ):
                batch.append(content.key)
            if len(batch) == _AT_ONCE:
                removed += await delete()
                batch = []
        return removed + await delete()

    async def _counted(self) -> _Tally:
        tally = _Tally()
        try:
            async with asyncio.timeout(COUNTING_SECONDS):
                for kind in PREFIXES:
                    async for content in contents(self.state, kind, self.clock()):
                        if tally.entries[kind] == MOST_COUNTED:
                            tally.warnings.append(
                                f"Only {MOST_COUNTED:,} of the {kind} are counted; there are more."
                            )
                            break
                        tally.add(kind, content)
                        if tally.entries[kind] % _AT_ONCE == 0:
                            # The in-memory backend never yields to the event loop.
                            await asyncio.sleep(0)
        except TimeoutError:
            tally.warnings.append(
                f"Counting stopped after {COUNTING_SECONDS:g} s, so some entries are not counted."
            )
        except StateUnavailable as error:
            tally.warnings.append(f"The state cannot be read: {error.message}")
        return tally

    async def _saved_today(self, warnings: list[str]) -> float | None:
        try:
            async with asyncio.timeout(COUNTING_SECONDS):
                return (await self.ledger.day()).saved_usd
        except (StateUnavailable, TimeoutError):
            warnings.append("Today's savings cannot be read.")
            return None


Kind = Literal["answers", "questions", "web", "raw", "judgements", "pages"]

PREFIXES: dict[Kind, str] = {
    "answers": "cache/exact/",  # of search_web
    "questions": "cache/near/",  # for finding answers to other wordings
    "web": "cache/web/",  # results of web_search and search_news
    "raw": "cache/raw/",  # results of single queries of web_search_raw
    "judgements": JUDGED,  # of claims, by a model
    "pages": "page/",
}
"""The beginning of an entry's key, by its kind."""

ABOUT_QUESTIONS: tuple[Kind, ...] = ("answers", "questions", "web", "raw")

_CLOCK_SKEW_SECONDS = 60.0
"""An entry that is stored so far in the future (seconds) is of a wrong clock, not of another machine's."""


@dataclass(frozen=True, slots=True)
class Content:
    """An entry: bytes of its value, seconds since it was stored, `results.question_name`. None if unknown."""

    key: str
    size: int
    age_seconds: float | None
    question: str | None = None


async def contents(state: State, kind: Kind, now: float) -> AsyncIterator[Content]:
    """All entries of a kind, in the order of their keys. `now` is seconds since the epoch.

    Raises:
        StateUnavailable: the state cannot be read.
    """
    async for entry in state.entries(PREFIXES[kind]):
        stamp = Stamp()
        if kind in ABOUT_QUESTIONS:
            with suppress(ValidationError):
                stamp = Stamp.model_validate_json(entry.value)
            age = (
                None
                if stamp.stored is None or stamp.stored - now >= _CLOCK_SKEW_SECONDS
                else now - stamp.stored
            )
        # All have one lifetime, so the rest of it gives their age.
        elif kind == "pages" and entry.ttl is not None:
            age = KEEP_SECONDS - entry.ttl
        else:
            age = None
        yield Content(
            entry.key, len(entry.value), None if age is None else max(age, 0.0), stamp.question
        )


_NOTES = "migration/"
_NOTE_SECONDS = 7 * 86_400.0
"""How long an interrupted migration can be resumed (seconds): a week, over a holiday."""
_ENTRIES_AT_ONCE = 32
"""Entries of one batch: calls get a turn between two."""
_FILE = re.compile(r"sqlite:///([A-Za-z0-9_][A-Za-z0-9_.-]*)")


@dataclass(frozen=True, slots=True)
class Migration:
    """Copies `source` to the target that a caller names, if the caller may name it. It only reads its source.

    After each page of entries the target gets a note of the last key, where an interrupted run resumes. A target that
    was emptied meanwhile has lost the note too, so it gets everything again.

    Args:
        source_url: its `STATE_URL`, to recognise a target that is the source.
        open_state: makes the State of another such URL.
        data_dir: the folder of local files.
    """

    source: State
    source_url: str
    open_state: Callable[[str], State]
    data_dir: Path

    async def migrate(
        self, target_url: str, caller: Caller = LOCAL, *, counters: bool = False
    ) -> MigrateResult:
        """Copy every entry that has not expired, with its remaining lifetime.

        A local caller may name any target. A remote caller may only name a new file in the data folder: otherwise the
        gateway would send all its users' queries to a database of the caller's choice.

        Args:
            counters: copy the counts of limits and costs too. A counter that the target already has stays.

        Raises:
            ForbiddenUrlError: the caller may not name that target.
            SearchValidationError: the target is the source.
            SearchNotConfiguredError: the target is not a `STATE_URL`.
            StateUnavailable: one of the two failed; the next run resumes here.
        """
        target_url = self._allowed(target_url.strip(), caller)
        if target_url == self.source_url:
            raise SearchValidationError("The target is the state that is in use already.")
        target = self.open_state(target_url)
        note = (
            _NOTES
            + hashlib.blake2b(
                repr((self.source_url, counters)).encode(), digest_size=16
            ).hexdigest()
        )
        tally: Counter[str] = Counter()
        try:
            after = (await target.get(note) or b"").decode()
            async with aclosing(self._pages(after, counters)) as pages:
                async for page in pages:
                    tally.update(await asyncio.gather(*(_copy(entry, target) for entry in page)))
                    await target.put(note, page[-1].key.encode(), _NOTE_SECONDS)
            await target.delete(note)
        finally:
            await target.close()
        return MigrateResult(target=target_url.partition("://")[0], resumed=bool(after), **tally)

    def _allowed(self, target_url: str, caller: Caller) -> str:
        if caller == LOCAL:
            return target_url
        if (file := _FILE.fullmatch(target_url)) is None:
            raise ForbiddenUrlError(
                "With a token the target must be a file in the data folder, sqlite:///NAME. For any other "
                "target, run `websearch-gateway cache migrate` on the gateway's machine."
            )
        return f"sqlite:///{self.data_dir / file[1]}"

    async def _pages(
        self, after: str, counters: bool
    ) -> AsyncGenerator[Sequence[StateEntry], None]:
        page: list[StateEntry] = []
        async for entry in self.source.entries("", after):
            if not entry.key.startswith(_NOTES) and (counters or not entry.counts):
                page.append(entry)
            if len(page) == _ENTRIES_AT_ONCE:
                yield page
                page = []
        if page:
            yield page


async def _copy(
    entry: StateEntry, target: State
) -> Literal["copied", "counters", "already_there", "expired", "left_out"]:
    """Copy an entry and read it back."""
    started = time.monotonic()
    if entry.counts:
        if await target.get(entry.key) is not None:
            return "already_there"
        await target.add(entry.key, int(entry.value), entry.ttl)
        return "counters"
    await target.put(entry.key, entry.value, entry.ttl)
    arrived = await target.get(entry.key)
    if arrived not in (None, entry.value):
        raise StateUnavailable(
            "An entry differs in the target. The source is untouched; run the migration again."
        )
    if arrived is not None:
        return "copied"
    return (
        "expired"
        if entry.ttl is not None and entry.ttl <= time.monotonic() - started
        else "left_out"
    )
