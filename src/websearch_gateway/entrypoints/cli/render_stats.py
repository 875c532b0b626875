"""Costs, latencies and the cache as a person sees them in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

from rich.console import Console
from rich.table import Table
from rich.text import Text

from websearch_gateway.results.admin import CacheClearResult
from websearch_gateway.results.ops import CacheStats, DayStats, ServerStats

_BAR_CELLS = 12
_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def show_stats(stats: ServerStats, console: Console | None = None) -> None:
    """A row per day that had calls, the latest first; a row per paid upstream; and the rest of today's budget."""
    console = console or Console()
    if stats.days:
        console.print(_days(stats.days))
        if providers := _by_provider(stats.days):
            console.print(Text(), _providers(stats.days, providers), sep="\n")
        console.print(Text(), Text(_summary(stats)), sep="\n")
    _warn(stats.warnings, console)


def show_cache(stats: CacheStats, console: Console | None = None) -> None:
    """A row per kind of entry, then age and savings. Usage is left out: this process has served no calls."""
    console = console or Console()
    table = _table("kind", "", ">entries", ">size")
    most = max(stats.bytes_by_kind.values(), default=0)
    for kind, entries in stats.entries_by_kind.items():
        size = stats.bytes_by_kind.get(kind, 0)
        table.add_row(kind, bar(size, most), f"{entries:,}", _size(size))
    console.print(table)
    facts = [f"{stats.entries:,} entries, {_size(stats.bytes)}"]
    if stats.oldest_seconds is not None and stats.newest_seconds is not None:
        facts.append(f"the oldest {_duration(stats.oldest_seconds)}, the newest {_duration(stats.newest_seconds)} old")
    if stats.saved_today_usd is not None:
        facts.append(f"saved {_usd(stats.saved_today_usd)} today")
    console.print(Text(), Text(" · ".join(facts)), sep="\n")
    _warn(stats.warnings, console)


def show_cleared(result: CacheClearResult, console: Console | None = None) -> None:
    """One line: the number of removed entries, by kind."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.removed_by_kind.items() if count)
    removed = "Nothing was there to remove." if not result.removed else f"Removed {result.removed:,} entries: {kinds}."
    (console or Console()).print(Text(removed))


def bar(value: float, most: float, cells: int = _BAR_CELLS) -> Text:
    """A bar of `cells * value / most` cells; at least one for a value above 0."""
    eighths = max(round(value / most * cells * 8), 1) if value > 0 else 0
    return Text("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip(), style="cyan")


def sparkline(values: Sequence[float]) -> str:
    """A line of blocks, one per value, the highest for the largest; a dot for 0."""
    most = max(values, default=0.0)
    return "".join(_HEIGHTS[round(value / most * (len(_HEIGHTS) - 1))] if value > 0 else "·" for value in values)


def _days(days: Sequence[DayStats]) -> Table:
    table = _table("day", "", ">cost", ">saved", ">calls", ">p50", ">p95", ">p99")
    most = max(day.usd for day in days)
    for day in days:
        latencies = (day.latency_ms.p50, day.latency_ms.p95, day.latency_ms.p99)
        table.add_row(
            day.day,
            bar(day.usd, most),
            _usd(day.usd),
            _usd(day.saved_usd),
            f"{day.calls:,}",
            *("" if latency is None else _latency(latency) for latency in latencies),
        )
    return table


def _providers(days: Sequence[DayStats], costs: Counter[str]) -> Table:
    table = _table("provider", "", ">cost", ">paid calls", "by day")
    by_day = {day.day: day for day in days}
    last = date.fromisoformat(days[0].day)
    span = (last - date.fromisoformat(days[-1].day)).days
    every = [by_day.get((last - timedelta(days=ago)).isoformat(), DayStats()) for ago in range(span, -1, -1)]
    for name, usd in costs.most_common():
        calls = sum(day.calls_by_provider.get(name, 0) for day in days)
        line = Text(sparkline([day.by_provider.get(name, 0.0) for day in every]), style="cyan")
        table.add_row(name, bar(usd, max(costs.values())), _usd(usd), f"{calls:,}", line)
    return table


def _by_provider(days: Sequence[DayStats]) -> Counter[str]:
    costs: Counter[str] = Counter()
    for day in days:
        costs.update(day.by_provider)
    return +costs


def _summary(stats: ServerStats) -> str:
    today = stats.days[0]
    facts = [f"today {_usd(today.usd)}"]
    if stats.daily_budget_usd is not None and stats.left_today_usd is not None:
        facts = [f"today {_usd(today.usd)} of {_usd(stats.daily_budget_usd)}, {_usd(stats.left_today_usd)} left"]
    total, saved = sum(day.usd for day in stats.days), sum(day.saved_usd for day in stats.days)
    share = f" ({saved / (saved + total):.0%})" if saved else ""
    return " · ".join([*facts, f"shown days {_usd(total)}", f"the cache saved {_usd(saved)}{share}"])


def _table(*columns: str) -> Table:
    """`>` before a name puts its column to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        right = name.startswith(">")
        table.add_column(name.removeprefix(">"), justify="right" if right else "left", no_wrap=True)
    return table


def _warn(warnings: Sequence[str], console: Console) -> None:
    for warning in warnings:
        console.print(Text(f"! {warning}", style="yellow"))


def _usd(amount: float) -> str:
    digits = 0 if amount >= 1000 else 2 if amount >= 1 or not amount else 4
    return f"${amount:,.{digits}f}"


def _latency(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def _duration(seconds: float) -> str:
    length, unit = next(((length, unit) for length, unit in _UNITS if seconds >= length), (1, "s"))
    return f"{seconds / length:.0f} {unit}"


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
