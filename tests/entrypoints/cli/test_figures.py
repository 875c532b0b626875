"""Figures fit a terminal of 80 columns at any size."""

from __future__ import annotations

import io

from rich.console import Console

from websearch_gateway.entrypoints.cli.figures import show_cache, show_stats
from websearch_gateway.results import CacheStats, DayStats, Latency, ServerStats

LATENCY = Latency(p50=2500, p95=10_000, p99=15_000)
LATER = DayStats(
    day="2026-11-21",
    usd=1234.5,
    saved_usd=1000.25,
    by_provider={"openai": 1234.4, "duckduckgo": 0.1},
    calls_by_provider={"openai": 98_765, "duckduckgo": 3},
    calls=123_456,
    latency_ms=LATENCY,
)
EARLIER = DayStats(
    day="2026-11-18", usd=0.1, by_provider={"openai": 0.1}, calls=1, latency_ms=LATENCY
)


def drawn(show: object, *arguments: object) -> str:
    file = io.StringIO()
    show(*arguments, Console(file=file, width=80))  # type: ignore[operator]
    return file.getvalue()


def test_large_figures_fit() -> None:
    shown = drawn(
        show_stats, ServerStats(days=(LATER, EARLIER), daily_budget_usd=5000, left_today_usd=3765.5)
    )
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    assert "$1,234 of $5,000, $3,766 left" in shown


def test_nothing_yet_is_shown_as_nothing() -> None:
    assert "$0.00" in drawn(show_stats, ServerStats(days=(DayStats(day="2026-11-21"),)))
    assert "0 entries" in drawn(show_cache, CacheStats(entries_by_kind={"answers": 0}))


def test_what_could_not_be_read_is_told() -> None:
    assert drawn(show_stats, ServerStats(warnings=("It is gone.",))) == "! It is gone.\n"
    assert "! It is gone." in drawn(show_cache, CacheStats(warnings=("It is gone.",)))
