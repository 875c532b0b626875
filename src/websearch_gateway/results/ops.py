"""The results of what operators ask."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from websearch_gateway.results.base import ErrorInfo, WireModel


class Check(WireModel):
    """The health of one part of the gateway, and how to mend it."""

    name: str = ""
    status: Literal["ok", "warn", "fail", "off"] = "ok"
    finding: str = ""
    remedy: str = ""


class Diagnosis(WireModel):
    """The result of `doctor`: one check per part."""

    checks: tuple[Check, ...] = ()
    error: ErrorInfo | None = None


class LastError(WireModel):
    """The latest trouble of an upstream. `at` is ISO 8601, UTC."""

    code: str = ""
    message: str = ""
    at: str = ""


class ProviderStatus(WireModel):
    """One upstream, as this process has met it since it began.

    `breaker` is `closed` (asked as usual), `open` (not called for `rests_for_seconds`) or `half_open` (one call probes
    it). `failures` are those of its `calls` that were its own fault, `error_rate` is their share (0..1), and
    `last_success_at` the latest call that was not (ISO 8601, UTC). Latencies are of recent calls. Null before any.
    """

    name: str = ""
    breaker: Literal["closed", "open", "half_open"] = "closed"
    rests_for_seconds: float | None = None
    calls: int = 0
    failures: int = 0
    error_rate: float | None = None
    last_success_at: str | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    last_error: LastError | None = None


class ProviderStatuses(WireModel):
    """The result of `get_provider_status`: the answer engine, then the raw providers in their order."""

    providers: tuple[ProviderStatus, ...] = ()
    error: ErrorInfo | None = None


class CacheStats(WireModel):
    """The result of `get_cache_stats`.

    Hits and misses are those of `search_web`, `web_search` and `search_news` in this process:
    `joined` calls got the result of an identical one in flight, `misses` went upstream, `stale_served` got an old
    result because upstreams failed; `hit_rate` is the share of hits (0..1), null before the first call. Entries, their
    bytes and ages are those of the shared state; `in_memory` are those that this process has at hand. `state_bytes` is
    the size of all data in the state's file (null for other backends), `max_state_bytes` its limit, `evictions`
    how many entries this process deleted to stay below it. `warnings` says what was not counted.
    """

    exact_hits: int = 0
    semantic_hits: int = 0
    joined: int = 0
    stale_served: int = 0
    misses: int = 0
    hit_rate: float | None = None
    saved_today_usd: float | None = None
    entries: int = 0
    bytes: int = 0
    entries_by_kind: dict[str, int] = Field(default_factory=dict)
    bytes_by_kind: dict[str, int] = Field(default_factory=dict)
    in_memory: dict[str, int] = Field(default_factory=dict)
    state_bytes: int | None = None
    max_state_bytes: int | None = None
    evictions: int = 0
    oldest_seconds: float | None = None
    newest_seconds: float | None = None
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None


class Latency(WireModel):
    """Milliseconds that half, 95 and 99 in a hundred of the recent calls did not exceed; null before the first."""

    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


class ToolStats(WireModel):
    """The calls of one tool in this process, by outcome (`ok` or an error's code)."""

    tool: str = ""
    calls: int = 0
    outcomes: dict[str, int] = Field(default_factory=dict)
    latency_ms: Latency = Latency()


class DayStats(WireModel):
    """One day (UTC) of all processes: what they spent and the cache saved (USD), their calls, and how long those took.

    Latencies are rounded up to the bounds between which they are counted.
    """

    day: str = ""
    usd: float = 0.0
    saved_usd: float = 0.0
    by_provider: dict[str, float] = Field(default_factory=dict)
    calls_by_provider: dict[str, int] = Field(default_factory=dict)
    calls: int = 0
    latency_ms: Latency = Latency()


class ServerStats(WireModel):
    """The result of `get_server_stats`. Tools are those of this process; costs those of all that share the state.

    `warnings` says what could not be read.
    """

    version: str = ""
    started_at: str = ""
    uptime_seconds: float = 0.0
    calls_per_minute: int = 0
    tools: tuple[ToolStats, ...] = ()
    daily_budget_usd: float | None = None
    left_today_usd: float | None = None
    days: tuple[DayStats, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorInfo | None = None
