"""The page: a snapshot as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from urllib.parse import quote

from websearch_gateway import __version__
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.pages.html import Html, joined, tag
from websearch_gateway.entrypoints.http.status.bars import days_bars, range_bar, share_bar
from websearch_gateway.entrypoints.http.status.status_level import level_of, state_of
from websearch_gateway.entrypoints.http.status.words import NONE, count, dollars, duration, facts, percent, span
from websearch_gateway.upstream.health import UpstreamStatus
from websearch_gateway.upstream.telemetry import ToolFigures

REFRESH_SECONDS = 10
LAST_FAILURES = 8
MAIN_TOOL = "search_web"

_ICON = {"ok": "#1f8a55", "warn": "#d99a1c", "bad": "#d0402f", "idle": "#8a9199"}


def rendered(snapshot: Snapshot, now: datetime, style: str) -> str:
    """The whole document."""
    level, sentence = level_of(snapshot, now)
    head = tag(
        "head",
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="refresh" content="{REFRESH_SECONDS}"><meta name="color-scheme" content="light dark">'),
        Html(f'<link rel="icon" href="{_icon(level)}">'),
        tag("title", f"{sentence} · websearch-gateway"),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        _header(snapshot, now, level, sentence),
        tag(
            "main",
            tag("div", _traffic(snapshot), _cache(snapshot), _costs(snapshot), _speed(snapshot), class_="cards"),
            _upstreams(snapshot.upstreams, now),
            tag("div", _tools(snapshot), _failures(snapshot, now), class_="columns"),
        ),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def _icon(level: str) -> str:
    circle = f'<circle cx="8" cy="8" r="6" fill="{_ICON[level]}"/>'
    return "data:image/svg+xml," + quote(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">{circle}</svg>')


def _header(snapshot: Snapshot, now: datetime, level: str, sentence: str) -> Html:
    summary = facts(f"version {__version__}", f"up {span(snapshot.figures.uptime_seconds)}", f"{now:%H:%M:%S} UTC")
    return tag(
        "header",
        tag("p", "websearch-gateway", class_="name"),
        tag("h1", tag("span", class_=f"dot {level}", aria_hidden="true"), sentence),
        tag("p", summary, class_="facts"),
    )


def _card(title: str, figure: str, note: str, *more: Html) -> Html:
    return tag("section", tag("h2", title), tag("p", figure, class_="figure"), *more, tag("p", note, class_="note"))


def _traffic(snapshot: Snapshot) -> Html:
    figures = snapshot.figures
    calls = sum(sum(tool.outcomes.values()) for tool in figures.tools.values())
    failed = sum(map(_failed, figures.tools.values()))
    unit = joined(f"{figures.calls_per_minute:,}", tag("small", " per minute"))
    shares = [("fill", (calls - failed) / calls), ("fill bad", failed / calls)] if calls else []
    note = facts(count(calls, "call", "calls"), f"{failed:,} failed", f"{snapshot.in_flight:,} now")
    return _card("Calls", unit, note, share_bar(shares, note))


def _cache(snapshot: Snapshot) -> Html:
    counts = snapshot.figures.cache
    exact, semantic, misses = (counts.get(kind, 0) for kind in ("exact", "semantic", "miss"))
    if not (total := exact + semantic + misses):
        return _card("From the cache", NONE, "No question yet", share_bar([], "no question yet"))
    note = facts(f"{exact:,} exact", f"{semantic:,} similar", f"{misses:,} new")
    bar = share_bar([("fill", exact / total), ("fill soft", semantic / total)], note)
    return _card("From the cache", percent((exact + semantic) / total), note, bar)


def _costs(snapshot: Snapshot) -> Html:
    if not snapshot.days:
        return _card("Cost today", NONE, "The ledger cannot be read", share_bar([], "unknown"))
    today, daily, left = snapshot.days[0], snapshot.daily_usd, snapshot.left_usd
    saved = f"cache saved {dollars(today.saved_usd)}"
    if daily is None or left is None:
        return _card("Cost today", dollars(today.usd), facts(saved, "no budget set"), days_bars(snapshot.days))
    used = 1.0 if not daily else min(1.0, today.usd / daily)
    kind = "fill bad" if used >= 0.95 else "fill warn" if used >= 0.8 else "fill"
    figure = joined(dollars(today.usd), tag("small", f" of {dollars(daily)}"))
    bar = share_bar([(kind, used)], f"{percent(used)} of the budget")
    return _card("Cost today", figure, facts(f"{dollars(left)} left", saved), bar, days_bars(snapshot.days))


def _speed(snapshot: Snapshot) -> Html:
    tool = snapshot.figures.tools.get(MAIN_TOOL)
    if tool is None or not tool.latencies_ms:
        return _card("Time to answer", NONE, "No question yet", range_bar(None, None))
    p50, p95, p99 = _latencies(tool)
    figure = joined(p50, tag("small", " median"))
    bar = range_bar(*(milliseconds / 1000 for milliseconds in tool.latencies_ms[:2]))
    return _card("Time to answer", figure, facts(f"p95 {p95}", f"p99 {p99}"), bar)


def _upstreams(upstreams: Sequence[UpstreamStatus], now: datetime) -> Html:
    titles = ("Upstreams", "State", "Calls", "Failed", "p50", "p95", "Latency", "Last error")
    rows = (_upstream(upstream, now) for upstream in upstreams)
    return _table(titles, rows, "No upstream is configured.")


def _upstream(upstream: UpstreamStatus, now: datetime) -> Html:
    level, word = state_of(upstream, now)
    rest = f" {span(upstream.retry_after)}" if upstream.retry_after else ""
    error = upstream.last_error
    last_error: str = ""
    if error is not None:
        ago = span((now - error.at).total_seconds())
        last_error = tag("p", tag("b", error.code), f" · {ago} ago · {error.message}", title=error.message)
    return tag(
        "tr",
        tag("th", upstream.name, scope="row"),
        tag("td", tag("span", class_=f"dot {level}", aria_hidden="true"), word + rest, class_="state"),
        _number(f"{upstream.calls:,}", "Calls"),
        _number(f"{upstream.failures:,}" if upstream.failures else NONE, "Failed"),
        _number(duration(upstream.p50), "p50"),
        _number(duration(upstream.p95), "p95"),
        tag("td", range_bar(upstream.p50, upstream.p95), class_="range"),
        tag("td", last_error, class_="error"),
    )


def _tools(snapshot: Snapshot) -> Html:
    rows = (
        tag(
            "tr",
            tag("th", name, scope="row"),
            _number(f"{sum(tool.outcomes.values()):,}", "Calls"),
            _number(f"{failed:,}" if (failed := _failed(tool)) else NONE, "Failed"),
            *(_number(text, title) for text, title in zip(_latencies(tool), ("p50", "p95", "p99"), strict=True)),
        )
        for name, tool in sorted(snapshot.figures.tools.items())
    )
    return _table(("Tools", "Calls", "Failed", "p50", "p95", "p99"), rows, "No call yet.")


def _failures(snapshot: Snapshot, now: datetime) -> Html:
    failures = snapshot.figures.last_failures[:LAST_FAILURES]
    items = (
        tag("li", tag("b", one.code), tag("span", one.tool), tag("time", f"{span(now.timestamp() - one.at)} ago"))
        for one in failures
    )
    listed = tag("ol", *items) if failures else tag("p", "None so far.", class_="note")
    return tag("section", tag("h2", "Last errors"), listed)


def _table(titles: Sequence[str], rows: Iterable[Html], nothing: str) -> Html:
    """A section whose title is that of the first column."""
    title = tag("h2", titles[0])
    if not (held := joined(*rows)):
        return tag("section", title, tag("p", nothing, class_="note"))
    heads = (tag("th", name, scope="col", class_=name.lower().replace(" ", "-")) for name in titles[1:])
    head = tag("thead", tag("tr", tag("th", title, scope="col"), *heads))
    return tag("section", tag("table", head, tag("tbody", held)), class_=titles[0].lower())


def _number(text: str, title: str) -> Html:
    """A cell with its own label, for screens too narrow for a table head."""
    return tag("td", text, class_="number", data_title=title)


def _failed(tool: ToolFigures) -> int:
    return sum(count for outcome, count in tool.outcomes.items() if outcome not in ("ok", "CANCELLED"))


def _latencies(tool: ToolFigures | None) -> tuple[str, ...]:
    if tool is None or not tool.latencies_ms:
        return (NONE, NONE, NONE)
    return tuple(duration(milliseconds / 1000) for milliseconds in tool.latencies_ms)
