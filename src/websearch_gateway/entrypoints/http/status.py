"""What monitors and operators ask: the page `/`, `/healthz`, `/readyz`, `/metrics`, and the lag of the event loop.

The page is one screen about one gateway. It holds no script and loads nothing, and its content security policy allows
neither; keep it so.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway import __version__
from websearch_gateway.admin.operations import DAYS, Snapshot
from websearch_gateway.entrypoints.http.authentication import caller_of, require_scope
from websearch_gateway.entrypoints.http.metrics import exposition
from websearch_gateway.entrypoints.http.replies import (
    Html,
    document,
    failure,
    joined,
    json_reply,
    page_reply,
    policy,
    tag,
)
from websearch_gateway.entrypoints.http.sign_in import SIGN_OUT, cookie_token
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.errors import SearchError
from websearch_gateway.results import TokenUse, TokenUses
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.health import UpstreamStatus
from websearch_gateway.upstream.ledger import LEVELS
from websearch_gateway.upstream.statistics import ToolFigures

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway


def status_endpoint(
    gateway: LazyGateway, settings: Settings
) -> Callable[[Request], Awaitable[Response]]:
    """The current page; needs the scope `ops`. With `admin` it lists the tokens that were created."""
    links = [(f"{settings.base_path}/play", "Ask by hand")] if settings.playground == "on" else []
    links.append((f"{settings.base_path}/openapi.json", "HTTP API"))

    async def status(request: Request) -> Response:
        require_scope(request, "ops")
        try:
            operations = (await gateway.get()).operations
            snapshot = await operations.snapshot(DAYS)
        except SearchError as error:
            return failure(error)
        tokens: TokenUses | None = None
        if settings.auth_mode == "token" and "admin" in caller_of(request).scopes:
            tokens = await operations.best_effort(
                operations.token_uses, None, seconds=TOKENS_SECONDS
            )
        sign_out = f"{settings.base_path}{SIGN_OUT}" if cookie_token(request.scope) else ""
        live = "live" in request.query_params
        own = (
            (f"{settings.base_path}/", "Stop reloading")
            if live
            else (f"{settings.base_path}/?live", _RELOAD)
        )
        shown = [*links, own]
        page = rendered(
            snapshot, datetime.now(UTC), tokens=tokens, links=shown, sign_out=sign_out, live=live
        )
        allowed = (
            {"Content-Security-Policy": policy(form=True), "Referrer-Policy": "same-origin"}
            if sign_out
            else {}
        )
        return page_reply(page, headers=allowed)

    return status


async def healthz(_: Request) -> Response:
    """Always 200."""
    return json_reply({"status": "ok"})


def readyz(gateway: LazyGateway, lag: LoopLag) -> Callable[[Request], Awaitable[Response]]:
    """200 while this process can answer, else 503; the body names each dependency and what is wrong with it.

    An outage that every replica sees (the state, an upstream), or a crawl that fails, makes it `degraded`, with 200: a
    load balancer that took all replicas out would turn a slower service into none. Only troubles of this process itself
    make it `not ready`. Probes may come every second from several places, and looking at the state is a write: they
    share one look for `STATE_SECONDS`.
    """
    state = _StateCheck()

    async def ready(_: Request) -> Response:
        try:
            async with asyncio.timeout(READY_SECONDS):
                built = await gateway.get()
        except SearchError as error:
            return json_reply({"status": "not ready", "reason": error.message}, 503)
        except TimeoutError:
            return json_reply(
                {"status": "not ready", "reason": "The gateway is still loading."}, 503
            )
        own = {"workers": built.workers.trouble or "ok", "event loop": "ok"}
        if lag.seconds > MOST_LAG_SECONDS:
            own["event loop"] = "The event loop is blocked: calls wait for seconds."
        crawl = {"documentation": gateway.crawl_trouble} if gateway.crawl_trouble else {}
        shared = {"state": await state.of(built), **_resting(built), **crawl}
        troubles = [finding for finding in (*own.values(), *shared.values()) if finding != "ok"]
        is_ready = all(finding == "ok" for finding in own.values())
        status = "not ready" if not is_ready else "degraded" if troubles else "ready"
        reason = {"reason": troubles[0]} if troubles else {}
        return json_reply(
            {"status": status, **reason, "dependencies": {**own, **shared}},
            200 if is_ready else 503,
        )

    return ready


STATE_SECONDS = 5.0
"""How long probes share what one of them saw of the state."""


class _StateCheck:
    """What the last look at the state showed. Probes that come while one looks wait for it."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._looked_at = -math.inf
        self._finding = ""

    async def of(self, gateway: Gateway) -> str:
        """`ok`, or what is wrong with the state."""
        async with self._turn:
            if time.monotonic() - self._looked_at >= STATE_SECONDS:
                self._finding = await _state_of(gateway)
                self._looked_at = time.monotonic()
            return self._finding


async def _state_of(gateway: Gateway) -> str:
    try:
        async with asyncio.timeout(READY_SECONDS):
            check = await gateway.doctor.check_state()
    except TimeoutError:
        return "The state does not answer in time."
    return "ok" if check.status == "ok" else check.finding


def _resting(gateway: Gateway) -> dict[str, str]:
    """The upstreams that are not asked for now. Their errors stay on the status page: strangers may read this."""
    return {
        one.name: "Its circuit is open."
        for one in gateway.health.snapshot()
        if one.breaker != "closed"
    }


def metrics_endpoint(
    gateway: LazyGateway, lag: LoopLag
) -> Callable[[Request], Awaitable[Response]]:
    """The metrics in the format that the request prefers; needs the scope `ops`."""

    async def metrics(request: Request) -> Response:
        require_scope(request, "ops")
        try:
            snapshot = await (await gateway.get()).operations.snapshot()
        except SearchError as error:
            return failure(error)
        accept = request.headers.get("accept", "")
        # In a thread: the library is slow to import, and process metrics are read from files.
        body, media_type = await asyncio.to_thread(exposition, snapshot, lag.seconds, accept)
        return Response(body, headers={"Content-Type": media_type})

    return metrics


READY_SECONDS = 2.0
MOST_LAG_SECONDS = 2.0
"""The largest acceptable delay of the event loop within ten seconds (seconds)."""
BEAT_SECONDS = 0.25
WINDOW_SECONDS = 10.0


class LoopLag:
    """Records the delay of a timer a few times a second.

    Args:
        clock: seconds on a monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._beats: deque[tuple[float, float]] = deque()
        self._due = 0.0

    @property
    def seconds(self) -> float:
        """The largest delay of the last ten seconds, including that of an overdue timer."""
        now = self._clock()
        overdue = max(0.0, now - self._due) if self._due else 0.0
        return max(
            [overdue, *(late for moment, late in self._beats if moment > now - WINDOW_SECONDS)]
        )

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Watch for the length of the block."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._due = 0.0

    async def _watch(self) -> None:
        self._due = self._clock() + BEAT_SECONDS
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self.beat()

    def beat(self) -> None:
        """Record that the timer has fired, and when it is due again."""
        now = self._clock()
        self._beats.append((now, max(0.0, now - self._due)))
        self._due = now + BEAT_SECONDS
        while self._beats[0][0] <= now - WINDOW_SECONDS:
            self._beats.popleft()


UPSTREAMS = ("Upstreams", "State", "Calls", "Failed", "p50", "p95", "Last error")
TOKENS_SECONDS = 2.0
"""The longest wait for what tokens have used; without it the page has no list of them (seconds)."""
REFRESH_SECONDS = 10
_RELOAD = f"Reload every {REFRESH_SECONDS} s"
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
                (_upstream(one, now) for one in snapshot.upstreams),
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
    if not (total := exact + semantic + misses):
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
    rows = (
        tag(
            "tr",
            tag("th", name, scope="row"),
            _number(f"{sum(tool.outcomes.values()):,}", "Calls"),
            _number(_some(_failed(tool)), "Failed"),
            _number(_some(_refused(tool)), "Refused"),
            *(
                _number(text, title)
                for text, title in zip(_latencies(tool), ("p50", "p95", "p99"), strict=True)
            ),
        )
        for name, tool in sorted(snapshot.figures.tools.items())
    )
    return _table(
        ("Tools", "Calls", "Failed", "Refused", "p50", "p95", "p99"), rows, "No call yet."
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
            tag("b", one.code, **({"class_": "refused"} if one.code in REFUSED else {})),
            tag("span", one.tool),
            tag("time", f"{span(now.timestamp() - one.at)} ago"),
        )
        for one in failures
    )
    listed = tag("ol", *items) if failures else tag("p", "None so far.", class_="note")
    return tag("section", tag("h2", "Last errors"), listed)


def _table(titles: Sequence[str], rows: Iterable[Html], nothing: str) -> Html:
    """A section whose title is that of the first column."""
    title = tag("h2", titles[0])
    if not (held := joined(*rows)):
        return tag("section", title, tag("p", nothing, class_="note"))
    heads = (
        tag("th", name, scope="col", class_=name.lower().replace(" ", "-")) for name in titles[1:]
    )
    head = tag("thead", tag("tr", tag("th", title, scope="col"), *heads))
    return tag("section", tag("table", head, tag("tbody", held)), class_=titles[0].lower())


def _number(text: str, title: str) -> Html:
    """A cell with its own label, for screens too narrow for a table head."""
    return tag("td", text, class_="number", data_title=title)


REFUSED = frozenset({"VALIDATION", "FORBIDDEN_URL", "RATE_LIMIT", "BUDGET"})
"""Outcomes of calls that the gateway rightly refused: a caller's typo is no failure of the gateway."""


def _failed(tool: ToolFigures) -> int:
    return sum(
        count
        for outcome, count in tool.outcomes.items()
        if outcome not in ("ok", "CANCELLED", *REFUSED)
    )


def _refused(tool: ToolFigures) -> int:
    return sum(count for outcome, count in tool.outcomes.items() if outcome in REFUSED)


def _latencies(tool: ToolFigures | None) -> tuple[str, ...]:
    if tool is None or not tool.latencies_ms:
        return (NONE, NONE, NONE)
    return tuple(duration(milliseconds / 1000) for milliseconds in tool.latencies_ms)


REFUSED_SECONDS = 600.0
"""How long after rejecting our key an upstream counts as down: its circuit does not open for that."""

KEY_REJECTED = "key rejected"

_STATES = {
    "closed": ("ok", "healthy"),
    "half_open": ("warn", "probing"),
    "open": ("bad", "circuit open"),
}
_MOST_NAMES = 2


def level_of(snapshot: Snapshot, now: datetime) -> tuple[str, str]:
    """The status level of the whole gateway, and a sentence about it. Upstreams without calls do not count."""
    levels = {upstream.name: state_of(upstream, now)[0] for upstream in snapshot.upstreams}
    asked = [name for name, level in levels.items() if level != "idle"]
    failing = [name for name in asked if levels[name] != "ok"]
    if failing:
        level = "bad" if len(failing) == len(asked) else "warn"
        if len(failing) == len(levels):
            return level, "Every upstream is failing"
        rejected = [
            upstream.name
            for upstream in snapshot.upstreams
            if state_of(upstream, now)[1] == KEY_REJECTED
        ]
        keys = f"Key of {' and '.join(rejected[:_MOST_NAMES])} rejected" if rejected else ""
        if failing == rejected:
            return level, keys
        return level, f"{_are_failing(failing)}. {keys}" if keys else _are_failing(failing)
    if snapshot.state_problem:
        return "warn", "Costs, limits and cache in memory only"
    if snapshot.daily_usd and snapshot.left_usd == 0:
        return "warn", "Today's budget is spent"
    if snapshot.daily_usd and snapshot.left_usd is not None:
        used = 1 - snapshot.left_usd / snapshot.daily_usd
        if used >= LEVELS[0]:
            return "warn", f"{used:.0%} of today's budget is spent"
    if not asked:
        return "idle", "Waiting for the first call"
    return "ok", "All upstreams are healthy" if len(asked) == len(
        levels
    ) else "Every upstream asked so far is healthy"


def state_of(upstream: UpstreamStatus, now: datetime) -> tuple[str, str]:
    """The status level of an upstream, and its state in words."""
    error = upstream.last_error
    if upstream.breaker != "closed":
        return _STATES[upstream.breaker]
    if (
        error
        and error.code in ("AUTH", "NOT_CONFIGURED")
        and (now - error.at).total_seconds() < REFUSED_SECONDS
    ):
        return "bad", KEY_REJECTED if error.code == "AUTH" else "not set up"
    return _STATES["closed"] if upstream.calls else ("idle", "not asked")


def _are_failing(names: list[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{len(names)} upstreams are failing"
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} failing"


NONE = "–"
_NEAR = "\N{NO-BREAK SPACE}"


def duration(seconds: float | None) -> str:
    """A latency: `8 ms`, `412 ms`, `1.2 s`."""
    if seconds is None:
        return NONE
    return f"{seconds * 1000:.0f}{_NEAR}ms" if seconds < 0.9995 else f"{seconds:.1f}{_NEAR}s"


def span(seconds: float) -> str:
    """A long time in its largest unit: `42 s`, `3 min`, `4 h`, `9 d`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds / size)}{_NEAR}{unit}"
    return f"{max(0, int(seconds))}{_NEAR}s"


def dollars(usd: float) -> str:
    """An amount: in cents, or with more digits if it is below a cent: `$12.40`, `$0.0021`."""
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.01 else f"${usd:.4f}"


def percent(share: float) -> str:
    """A share as a percentage, never rounded up to 100% or down to 0%."""
    if 0 < share < 0.01:
        return "< 1%"
    if 0.99 < share < 1:
        return "> 99%"
    return f"{share:.0%}"


def facts(*parts: str) -> str:
    """Short facts in a row; a line breaks only between two of them."""
    return " · ".join(fact.replace(" ", _NEAR) for fact in parts)
