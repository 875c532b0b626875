"""Gateways in good and in bad shape."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.errors import ErrorCode
from websearch_gateway.upstream.health import LastError, UpstreamStatus
from websearch_gateway.upstream.ledger import Day
from websearch_gateway.upstream.statistics import Failure, Figures, ToolFigures

NOW = datetime(2026, 11, 21, 16, 10, 5, tzinfo=UTC)
_NOW = NOW.timestamp()
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\"'&"


def error(code: ErrorCode, message: str, seconds_ago: float) -> LastError:
    return LastError(code, message, NOW - timedelta(seconds=seconds_ago))


FRESH = Snapshot(
    figures=Figures(_NOW - 3, 3.0, 0, {}, {}, (), {}, {}, {}),
    upstreams=(UpstreamStatus("openai", "closed", None, 0, 0, None, None, None),),
    paid_usd={},
    in_flight=0,
    daily_usd=None,
    days=[Day(f"2026-11-{21 - ago}") for ago in range(7)],
)

HEALTHY = Snapshot(
    figures=Figures(
        started_at=_NOW - 277_000,
        uptime_seconds=277_000.0,
        calls_per_minute=14,
        tools={
            "get_content": ToolFigures(
                {"ok": 540, "FETCH": 21, "FORBIDDEN_URL": 2}, (310.0, 1900.0, 4100.0)
            ),
            "read_from_page": ToolFigures({"ok": 88}, (420.0, 2200.0, 2900.0)),
            "search_web": ToolFigures(
                {"ok": 1204, "TIMEOUT": 3, "RATE_LIMIT": 13}, (1840.0, 5210.0, 8900.0)
            ),
            "web_search": ToolFigures(
                {"ok": 312, "PROVIDER": 1, "CANCELLED": 4}, (912.0, 2410.0, 3900.0)
            ),
        },
        cache={"exact": 402, "semantic": 118, "miss": 684},
        last_failures=[
            Failure(_NOW - 42, "get_content", "FETCH"),
            Failure(_NOW - 130, "search_web", "RATE_LIMIT"),
            Failure(_NOW - 4_000, "get_content", "FORBIDDEN_URL"),
            Failure(_NOW - 9_000, "search_web", "TIMEOUT"),
        ],
        routes={},
        durations={},
        fallbacks={},
    ),
    upstreams=(
        UpstreamStatus(
            "openai",
            "closed",
            None,
            684,
            4,
            1.9,
            5.4,
            error("TIMEOUT", "No answer in time.", 9_000),
        ),
        UpstreamStatus("serper", "closed", None, 301, 0, 0.62, 1.3, None),
        UpstreamStatus(
            "tavily", "closed", None, 42, 1, 1.1, 2.6, error("PROVIDER", "HTTP 502.", 52_000)
        ),
        UpstreamStatus("brave", "closed", None, 0, 0, None, None, None),
        UpstreamStatus("duckduckgo", "closed", None, 7, 0, 0.8, 1.2, None),
    ),
    paid_usd={"openai": 1.8},
    in_flight=2,
    daily_usd=5.0,
    days=[
        Day(f"2026-11-{21 - ago}", usd, 0.91)
        for ago, usd in enumerate((1.8342, 2.4, 3.1, 1.2, 0.4, 2.9, 3.3))
    ],
)

BROKEN = replace(
    HEALTHY,
    upstreams=(
        UpstreamStatus(
            "openai", "open", 24.0, 684, 9, 1.9, 14.4, error("PROVIDER", "HTTP 503.", 6)
        ),
        UpstreamStatus("serper", "half_open", None, 301, 12, 0.62, 1.3, error("AUTH", HOSTILE, 40)),
        *HEALTHY.upstreams[2:],
    ),
    days=[Day("2026-11-21", 4.91, 0.2), *HEALTHY.days[1:]],
)

SPENT = replace(HEALTHY, days=[Day("2026-11-21", 5.0, 0.2), *HEALTHY.days[1:]])
