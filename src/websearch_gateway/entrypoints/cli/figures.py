"""Renders the gateway's own state for the terminal: settings, health, costs, tokens and the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from websearch_gateway.entrypoints.cli.terminal import (
    MARKS,
    console_of_stdout,
    dollars,
    duration,
    figures_table,
    minute,
    say,
    size,
    warn,
)
from websearch_gateway.results import (
    CacheClearResult,
    CacheStats,
    Diagnosis,
    MigrateResult,
    ServerStats,
    TokenUse,
    TokenUses,
)


def show_diagnosis(diagnosis: Diagnosis) -> None:
    """One row per part of the gateway: healthy, warning, broken or not configured, and below it how to fix it."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for overflow in ("ellipsis", "ellipsis", "fold"):
        table.add_column(overflow=overflow)
    for check in diagnosis.checks:
        mark, style = MARKS[check.status]
        finding = Text(check.finding)
        if check.remedy:
            finding.append(f"\n{check.remedy}", style="dim")
        table.add_row(Text(mark, style=style), check.name, finding)
    console_of_stdout().print(table)


def show_migration(result: MigrateResult) -> None:
    """One line: what was copied, and what was not."""
    line = f"{result.copied} entries copied to {result.target}"
    others = {
        "counters": result.counters,
        "already in the target": result.already_there,
        "expired": result.expired,
        "left out": result.left_out,
    }
    for name, count in others.items():
        if count:
            line += f", {count} {name}"
    if result.resumed:
        line += " (resumed an interrupted run)"
    say(console_of_stdout(), line)


def show_settings(settings: dict[str, Any]) -> None:
    """Every setting by its environment name."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting")
    table.add_column("value")
    for name, value in settings.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else value
        is_set = text not in (None, "", {})
        table.add_row(name, Text(str(text)) if is_set else Text("not set", style="dim"))
    console_of_stdout().print(table)


def show_stats(stats: ServerStats, console: Console | None = None) -> None:
    """A row per day that had calls, the latest first; a row per paid upstream; and the rest of today's budget."""
    console = console or console_of_stdout()
    if stats.days:
        console.print(_days(stats), Text(), sep="\n")
        paid = _paid_providers(stats)
        if paid:
            console.print(_providers(stats, paid), Text(), sep="\n")
        say(console, _summary(stats))
    warn(console, stats.warnings)


def _days(stats: ServerStats) -> Table:
    table = figures_table("day", ">cost", ">saved", ">calls", ">p50", ">p95", ">p99")
    for day in stats.days:
        latency = day.latency_ms
        table.add_row(
            day.day,
            dollars(day.usd),
            dollars(day.saved_usd),
            f"{day.calls:,}",
            _milliseconds(latency.p50),
            _milliseconds(latency.p95),
            _milliseconds(latency.p99),
        )
    return table


def _milliseconds(latency: float | None) -> str:
    return "" if latency is None else f"{latency:,.0f} ms"


def _paid_providers(stats: ServerStats) -> dict[str, float]:
    """The upstreams that cost something, with what they cost on all days."""
    paid: dict[str, float] = {}
    for day in stats.days:
        for name, usd in day.by_provider.items():
            if usd:
                paid[name] = paid.get(name, 0) + usd
    return paid


def _providers(stats: ServerStats, paid: dict[str, float]) -> Table:
    """A row per paid upstream, the dearest first."""
    table = figures_table("provider", ">cost", ">paid calls")
    for name in sorted(paid, key=lambda name: -paid[name]):
        calls = sum(day.calls_by_provider.get(name, 0) for day in stats.days)
        table.add_row(name, dollars(paid[name]), f"{calls:,}")
    return table


def _summary(stats: ServerStats) -> str:
    """What today costs, what all shown days cost, and what the cache saved."""
    today = f"today {dollars(stats.days[0].usd)}"
    if stats.daily_budget_usd is not None and stats.left_today_usd is not None:
        today += f" of {dollars(stats.daily_budget_usd)}, {dollars(stats.left_today_usd)} left"
    total = sum(day.usd for day in stats.days)
    saved = sum(day.saved_usd for day in stats.days)
    savings = f"the cache saved {dollars(saved)}"
    if saved:
        savings += f" ({saved / (saved + total):.0%})"
    return f"{today} · shown days {dollars(total)} · {savings}"


def show_tokens(uses: TokenUses, console: Console | None = None) -> None:
    """A row per token."""
    console = console or console_of_stdout()
    if not uses.tokens:
        say(console, "No token yet: websearch-gateway token create NAME")
        return
    columns = ("name", "scopes", "rate limit", ">budget", ">spent today", ">calls today")
    table = figures_table(*columns, "last use", "expires")
    for use in uses.tokens:
        table.add_row(*_token_cells(use))
    console.print(table)


def _token_cells(use: TokenUse) -> Sequence[str]:
    rate_limit = use.rate_limit or ""
    if use.rate_limit == "":  # the token has none, where None is the server's
        rate_limit = "none"
    budget = "" if use.daily_budget_usd is None else dollars(use.daily_budget_usd)
    expires = minute(use.expires_at)
    if use.has_expired:
        expires = f"expired {expires}"
    return (
        use.name,
        " ".join(use.scopes),
        rate_limit,
        budget,
        dollars(use.spent_today_usd),
        f"{use.calls_today:,}",
        minute(use.last_used_at),
        expires,
    )


def show_cache(stats: CacheStats, console: Console | None = None) -> None:
    """A row per kind of entry, then age and savings. Usage is left out: this process has served no calls."""
    console = console or console_of_stdout()
    table = figures_table("kind", ">entries", ">size")
    for kind, entries in stats.entries_by_kind.items():
        table.add_row(kind, f"{entries:,}", size(stats.bytes_by_kind.get(kind, 0)))
    facts = [f"{stats.entries:,} entries, {size(stats.bytes)}"]
    if stats.oldest_seconds is not None and stats.newest_seconds is not None:
        oldest, newest = duration(stats.oldest_seconds), duration(stats.newest_seconds)
        facts.append(f"the oldest {oldest}, the newest {newest} old")
    if stats.saved_today_usd is not None:
        facts.append(f"saved {dollars(stats.saved_today_usd)} today")
    console.print(table, Text(), Text(" · ".join(facts)), sep="\n")
    warn(console, stats.warnings)


def show_cleared(result: CacheClearResult) -> None:
    """One line: the number of removed entries, by kind."""
    if not result.removed:
        say(console_of_stdout(), "There was nothing to remove.")
        return
    kinds = [f"{count:,} {kind}" for kind, count in result.removed_by_kind.items() if count]
    say(console_of_stdout(), f"Removed {result.removed:,} entries: {', '.join(kinds)}.")
