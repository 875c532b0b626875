"""The status page: one screen about one gateway.

It holds no script and loads nothing, and its content security policy allows neither; keep it so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from websearch_gateway import __version__
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.figures import NONE, dollars, duration, facts, percent, span
from websearch_gateway.entrypoints.http.replies import Html, document, joined, tag
from websearch_gateway.entrypoints.http.upstream_states import level_of, state_of
from websearch_gateway.results import TokenUse, TokenUses
from websearch_gateway.upstream.health import UpstreamStatus
from websearch_gateway.upstream.statistics import ToolFigures

UPSTREAMS = ("Upstreams", "State", "Calls", "Failed", "p50", "p95", "Last error")
REFRESH_SECONDS = 10
RELOAD = f"Reload every {REFRESH_SECONDS} s"
LAST_FAILURES = 8
MAIN_TOOL = "search_web"


def rendered(
    snapshot: Snapshot,
    now: datetime,
    *,
    tokens: TokenUses | None = None,
    links: Sequence[tuple[str, str]] = (),
    sign_out: str = "",
    live: bool = False,
) -> str:
    """The whole document.

    Args:
        tokens: those that were created, if the page lists them.
        links: addresses and titles of other pages.
        sign_out: where the button posts that ends the session; empty for no button.
        live: it reloads itself, which people who need time to read must be able to leave off (WCAG 2.2, 2.2.2).
    """
    level, sentence = level_of(snapshot, now)
    summary = facts(
        f"version {__version__}",
        f"up {span(snapshot.figures.uptime_seconds)}",
        f"{now:%H:%M:%S} UTC",
    )
    return document(
        f"{sentence} · websearch-gateway",
        tag(
            "header",
            tag("p", "websearch-gateway", class_="name"),
            tag("h1", tag("span", class_=f"dot {level}", aria_hidden="true"), sentence),
            tag("p", summary, class_="facts"),
            *_navigation(links, sign_out),
        ),
        tag(
            "main",
            tag(
                "div",
                _traffic(snapshot),
                _cache(snapshot),
                _costs(snapshot),
                _speed(snapshot),
                class_="cards",
            ),
            _table(
                UPSTREAMS,
                (_upstream(upstream, now) for upstream in snapshot.upstreams),
                "No upstream is configured.",
            ),
            tag("div", _tools(snapshot), _failures(snapshot, now), class_="columns"),
            *([] if tokens is None else [_tokens(tokens)]),
        ),
        head=Html(f'<meta http-equiv="refresh" content="{REFRESH_SECONDS}">') if live else None,
    )


def _navigation(links: Sequence[tuple[str, str]], sign_out: str) -> list[Html]:
    shown = [tag("a", title, href=address) for address, title in links]
    if sign_out:
        shown.append(
            tag("form", tag("button", "Sign out", type="submit"), method="post", action=sign_out)
        )
    return [tag("nav", *shown, aria_label="Other pages")] if shown else []


def _card(title: str, figure: str, note: str) -> Html:
    return tag(
        "section",
        tag("h2", title),
        tag("p", figure, class_="figure"),
        tag("p", note, class_="note"),
    )


def _traffic(snapshot: Snapshot) -> Html:
    figures = snapshot.figures
    calls = sum(sum(tool.outcomes.values()) for tool in figures.tools.values())
    failed = sum(map(_failed, figures.tools.values()))
    refused = sum(map(_refused, figures.tools.values()))
    unit = joined(f"{figures.calls_per_minute:,}", tag("small", " per minute"))
    counts = (
        f"{calls:,} in all",
        f"{failed:,} failed",
        f"{refused:,} refused",
        f"{snapshot.in_flight:,} now",
    )
    return _card("Calls", unit, facts(*counts))


def _cache(snapshot: Snapshot) -> Html:
    counts = snapshot.figures.cache
    exact, semantic, misses = (counts.get(kind, 0) for kind in ("exact", "semantic", "miss"))
    total = exact + semantic + misses
    if not total:
        return _card("From the cache", NONE, "No question yet")
    note = facts(f"{exact:,} exact", f"{semantic:,} similar", f"{misses:,} new")
    return _card("From the cache", percent((exact + semantic) / total), note)


def _costs(snapshot: Snapshot) -> Html:
    if not snapshot.days:
        return _card("Cost today", NONE, "The ledger cannot be read")
    today, daily, left = snapshot.days[0], snapshot.daily_usd, snapshot.left_usd
    saved = f"cache saved {dollars(today.saved_usd)}"
    if daily is None or left is None:
        return _card("Cost today", dollars(today.usd), facts(saved, "no budget set"))
    figure = joined(dollars(today.usd), tag("small", f" of {dollars(daily)}"))
    return _card("Cost today", figure, facts(f"{dollars(left)} left", saved))


def _speed(snapshot: Snapshot) -> Html:
    tool = snapshot.figures.tools.get(MAIN_TOOL)
    if tool is None or not tool.latencies_ms:
        return _card("Time to answer", NONE, "No question yet")
    p50, p95, p99 = _latencies(tool)
    figure = joined(p50, tag("small", " median"))
    return _card("Time to answer", figure, facts(f"p95 {p95}", f"p99 {p99}"))


def _upstream(upstream: UpstreamStatus, now: datetime) -> Html:
    level, word = state_of(upstream, now)
    rest = f" {span(upstream.retry_after)}" if upstream.retry_after else ""
    error = upstream.last_error
    last_error: str = ""
    if error is not None:
        ago = span((now - error.at).total_seconds())
        last_error = tag(
            "p", tag("b", error.code), f" · {ago} ago · {error.message}", title=error.message
        )
    return tag(
        "tr",
        tag("th", upstream.name, scope="row"),
        tag(
            "td",
            tag("span", class_=f"dot {level}", aria_hidden="true"),
            word + rest,
            class_="state",
        ),
        _number(f"{upstream.calls:,}", "Calls"),
        _number(f"{upstream.failures:,}" if upstream.failures else NONE, "Failed"),
        _number(duration(upstream.p50), "p50"),
        _number(duration(upstream.p95), "p95"),
        tag("td", last_error, class_="error"),
    )


def _tools(snapshot: Snapshot) -> Html:
    titles = ("Tools", "Calls", "Failed", "Refused", "p50", "p95", "p99")
    tools = sorted(snapshot.figures.tools.items())
    return _table(titles, (_tool(name, figures) for name, figures in tools), "No call yet.")


def _tool(name: str, tool: ToolFigures) -> Html:
    p50, p95, p99 = _latencies(tool)
    return tag(
        "tr",
        tag("th", name, scope="row"),
        _number(f"{sum(tool.outcomes.values()):,}", "Calls"),
        _number(_some(_failed(tool)), "Failed"),
        _number(_some(_refused(tool)), "Refused"),
        _number(p50, "p50"),
        _number(p95, "p95"),
        _number(p99, "p99"),
    )


def _tokens(tokens: TokenUses) -> Html:
    titles = ("Tokens", "Scopes", "Spent today", "Budget", "Calls today", "Last use", "Expires")
    return _table(
        titles, map(_token, tokens.tokens), "No token yet: websearch-gateway token create NAME"
    )


def _token(use: TokenUse) -> Html:
    budget = NONE if use.daily_budget_usd is None else dollars(use.daily_budget_usd)
    expires = "expired" if use.has_expired else _day(use.expires_at)
    return tag(
        "tr",
        tag("th", use.name, scope="row"),
        tag("td", " ".join(use.scopes), class_="scopes"),
        _number(dollars(use.spent_today_usd), "Spent today"),
        _number(budget, "Budget"),
        _number(f"{use.calls_today:,}", "Calls today"),
        _number(_day(use.last_used_at), "Last use"),
        _number(expires, "Expires"),
    )


def _day(moment: str | None) -> str:
    return NONE if moment is None else moment[:10]


def _some(count: int) -> str:
    return f"{count:,}" if count else NONE


def _failures(snapshot: Snapshot, now: datetime) -> Html:
    failures = snapshot.figures.last_failures[:LAST_FAILURES]
    items = (
        tag(
            "li",
            tag("b", failure.code, **({"class_": "refused"} if failure.code in REFUSED else {})),
            tag("span", failure.tool),
            tag("time", f"{span(now.timestamp() - failure.at)} ago"),
        )
        for failure in failures
    )
    listed = tag("ol", *items) if failures else tag("p", "None so far.", class_="note")
    return tag("section", tag("h2", "Last errors"), listed)


def _table(titles: Sequence[str], rows: Iterable[Html], nothing: str) -> Html:
    """A section whose title is that of the first column."""
    title = tag("h2", titles[0])
    body = joined(*rows)
    if not body:
        return tag("section", title, tag("p", nothing, class_="note"))
    heads = (
        tag("th", name, scope="col", class_=name.lower().replace(" ", "-")) for name in titles[1:]
    )
    head = tag("thead", tag("tr", tag("th", title, scope="col"), *heads))
    return tag("section", tag("table", head, tag("tbody", body)), class_=titles[0].lower())


def _number(text: str, title: str) -> Html:
    """A cell with its own label, for screens too narrow for a table head."""
    return tag("td", text, class_="number", data_title=title)


REFUSED = frozenset({"VALIDATION", "FORBIDDEN_URL", "RATE_LIMIT", "BUDGET"})
"""Outcomes of calls that the gateway rightly refused: a caller's typo is no failure of the gateway."""


def _failed(tool: ToolFigures) -> int:
    no_failures = ("ok", "CANCELLED", *REFUSED)
    return sum(count for outcome, count in tool.outcomes.items() if outcome not in no_failures)


def _refused(tool: ToolFigures) -> int:
    return sum(count for outcome, count in tool.outcomes.items() if outcome in REFUSED)


def _latencies(tool: ToolFigures | None) -> tuple[str, ...]:
    if tool is None or not tool.latencies_ms:
        return (NONE, NONE, NONE)
    return tuple(duration(milliseconds / 1000) for milliseconds in tool.latencies_ms)
