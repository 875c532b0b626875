"""The results of the tools for operators."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from websearch_gateway.results.base import ErrorInfo, WireModel


class Check(WireModel):
    """The health of one part of the gateway, and how to fix it."""

    name: str = ""
    status: Literal["ok", "warn", "fail", "off"] = "ok"
    finding: str = ""
    remedy: str = ""


class Diagnosis(WireModel):
    """The result of `doctor`: one check per part."""

    checks: tuple[Check, ...] = ()
    error: ErrorInfo | None = None


class LastError(WireModel):
    """The latest error of an upstream. `at` is ISO 8601, UTC."""

    code: str = ""
    message: str = ""
    at: str = ""


class ProviderStatus(WireModel):
    """The record of one upstream since this process started.

    `breaker` is `closed` (called as usual), `open` (not called for `open_for_seconds`) or `half_open` (one call probes
    it). `failures` counts the `calls` that failed through its fault; `error_rate` is their share (0..1).
    `last_success_at` is the latest successful call (ISO 8601, UTC). Latencies are those of recent calls. Fields are
    null before the first call.
    """

    name: str = ""
    breaker: Literal["closed", "open", "half_open"] = "closed"
    open_for_seconds: float | None = None
    calls: int = 0
    failures: int = 0
    error_rate: float | None = None
    last_success_at: str | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    last_error: LastError | None = None


class ProviderStatuses(WireModel):
    """The result of `get_provider_status`: the answer engines, then the raw providers, each in order of use."""

    providers: tuple[ProviderStatus, ...] = ()
    error: ErrorInfo | None = None


class CacheStats(WireModel):
    """The result of `get_cache_stats`.

    Hits and misses count calls of `search_web`, `web_search` and `search_news` in this process:
    `joined` calls got the result of an identical one in flight, `misses` went upstream, `stale_served` got an old
    result because upstreams failed; `hit_rate` is the share of hits (0..1), null before the first call. Entries, their
    bytes and ages describe the shared state; `in_memory` counts the entries in this process's memory. `state_bytes` is
    the size of all data in the state's file (null for other backends), `max_state_bytes` its limit, and `evictions`
    the number of entries that this process deleted to stay below it. `warnings` names what was not counted.
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
    """The 50th, 95th and 99th percentile of recent calls (milliseconds); null before the first call."""

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
    """One day (UTC) of all processes: costs and savings (USD), calls and latencies.

    Latencies are rounded up to the next bound of the histogram.
    """

    day: str = ""
    usd: float = 0.0
    saved_usd: float = 0.0
    by_provider: dict[str, float] = Field(default_factory=dict)
    calls_by_provider: dict[str, int] = Field(default_factory=dict)
    calls: int = 0
    latency_ms: Latency = Latency()


class ServerStats(WireModel):
    """The result of `get_server_stats`: the tools of this process, and the costs of all processes that share the state.

    `warnings` names what could not be read.
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
