"""One event and one span per tool call, with child spans; the figures of all calls of this process; and the log.

Nothing here holds a query, a result, a page, a key, a user or a URL: only names from the code, codes, numbers and
hosts. Events go through the standard library, so a process that configures nothing stays silent; `configure_logging`
sends them to stderr, as lines of JSON, or on a terminal as lines for people, and writing never blocks. Spans use only
the API of OpenTelemetry, which records nothing until `entrypoints/lifecycle.py` or the surrounding process sets up its
SDK; below a call that is not recorded they cost almost nothing. Upstreams are untrusted, so they get no trace context.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import json
import logging
import re
import select
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from secrets import token_bytes
from types import TracebackType
from typing import Any, Literal, NamedTuple, TextIO, TypeVar, cast, get_args
from urllib.parse import quote, quote_plus

from opentelemetry.trace import Span, SpanKind, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from websearch_gateway.base import TRACER, UNRECORDED, child_span, outcome_of, recorded
from websearch_gateway.errors import ErrorCode, Refused, SearchError
from websearch_gateway.models import Call
from websearch_gateway.results import CacheState, SearchResponse
from websearch_gateway.upstream.health import Distribution, Histogram

_log = logging.getLogger(__name__)

_EVENT_DELAY_SECONDS = 0.005


class Outcome(NamedTuple):
    """The outcome of a call. The event also has `tool`, `latency_ms`, `query_hash` and `query_length`.

    `route` names the part that served the call (`MODEL-web-search`, `NAME-raw-search`, a provider, a reader, `cache`),
    or is `refused` or `failed`; `outcome` is `ok`, the error's code, `CANCELLED` or `INTERNAL`; `saved_usd` is the
    price of a result from the cache; `joined` says that the answer came from an identical call in flight.
    """

    route: str = ""
    outcome: str = "ok"
    result_count: int = 0
    cost_usd: float = 0.0
    cache: CacheState = "miss"
    fallback_from: str | None = None
    fallback_reason: str | None = None
    saved_usd: float = 0.0
    joined: bool = False


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A finished call. `text` is its query or URL, used only for the hash in the event."""

    tool: str
    text: str
    latency_ms: float
    outcome: Outcome


class Telemetry:
    """Reports each call with one event.

    `in_flight` is the number of calls in flight.

    Args:
        observers: functions that get each finished call. They must not raise.
        clock: seconds, for durations.
    """

    def __init__(
        self,
        observers: Sequence[Callable[[CallRecord], None]] = (),
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._observers = observers
        self._clock = clock
        # The key is lost when the process ends, so nobody can find a query by hashing candidates.
        self._key = token_bytes(32)
        self._waiting: list[CallRecord] = []
        self.in_flight = 0

    def call(self, text: str, tool: str = "search_web") -> CallEvent:
        """The event of a call of `tool` with `text` (a query or a URL): a context manager around the call."""
        self.in_flight += 1
        return CallEvent(text, tool, self._clock, self._report)

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for record in waiting:
            for observe in self._observers:
                observe(record)
            if _log.isEnabledFor(logging.INFO):
                digest = hashlib.blake2b(
                    record.text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8
                )
                event = {
                    "event": "search",
                    "tool": record.tool,
                    "query_hash": digest.hexdigest(),
                    "query_length": len(record.text),
                    "latency_ms": record.latency_ms,
                    **record.outcome._asdict(),
                }
                _log.info(event)

    def _report(self, record: CallRecord) -> None:
        """Write the event a moment later, so that the answer does not wait for it; at once if no event loop runs."""
        self.in_flight -= 1
        self._waiting.append(record)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()
        else:
            if len(self._waiting) == 1:
                loop.call_later(_EVENT_DELAY_SECONDS, self.flush)


class CallEvent:
    """Times and traces a call, and reports its outcome at the end. Exceptions pass through unchanged."""

    __slots__ = ("_clock", "_outcome", "_report", "_span", "_started", "_text", "_tool", "_tracing")

    def __init__(
        self, text: str, tool: str, clock: Callable[[], float], report: Callable[[CallRecord], None]
    ) -> None:
        self._text = str(text)  # not checked by the guard yet: it may have any type
        self._tool = tool
        self._clock = clock
        self._report = report
        self._outcome = Outcome()

    def answered(
        self, response: SearchResponse, *, saved_usd: float = 0.0, joined: bool = False
    ) -> None:
        """As `served`, for a call of `search_web`."""
        count, money = (
            len(response.citations),
            {"cost_usd": response.cost_usd, "saved_usd": saved_usd},
        )
        self.served(response.provider, count, cache=response.cache, joined=joined, **money)
        if fallback := response.fallback:
            # A reason is "CODE: message"; the message might quote a query.
            code = fallback.reason.partition(":")[0]
            code = code if code in get_args(ErrorCode) else "OTHER"
            self._outcome = self._outcome._replace(
                fallback_from=fallback.from_, fallback_reason=code
            )

    def served(
        self,
        route: str,
        results: int,
        *,
        cost_usd: float = 0.0,
        cache: CacheState = "miss",
        saved_usd: float = 0.0,
        joined: bool = False,
    ) -> None:
        """Record the outcome of a call: the route that served it, and the number of results."""
        is_new = cache == "miss"
        self._outcome = Outcome(
            route if is_new else "cache",
            "ok",
            results,
            cost_usd,
            cache,
            saved_usd=saved_usd,
            joined=joined and is_new,
        )

    def __enter__(self) -> CallEvent:
        self._started = self._clock()
        self._tracing = call_span(self._tool)
        self._span = self._tracing.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        latency_ms = round((self._clock() - self._started) * 1000, 1)
        outcome = self._outcome
        if error is not None:
            code = (
                outcome_of(error)
                if isinstance(error, SearchError | asyncio.CancelledError)
                else "INTERNAL"
            )
            outcome = Outcome(
                route="refused" if isinstance(error, Refused) else "failed", outcome=code
            )
        if self._span.is_recording():
            known = {name: value for name, value in outcome._asdict().items() if value is not None}
            self._span.set_attributes({f"websearch.{name}": value for name, value in known.items()})
        self._tracing.__exit__(kind, error, trace)
        self._report(CallRecord(self._tool, self._text, latency_ms, outcome))


WINDOW = 1_000
"""The number of latest calls of a tool whose latencies are kept."""
RATE_SECONDS = 60.0

CACHED_TOOLS = frozenset({"search_web", "web_search", "search_news", "web_search_raw"})
"""The tools whose hits and misses of the cache are counted."""

QUANTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """One tool: calls by outcome, and latencies in milliseconds at QUANTILES over the latest WINDOW calls."""

    outcomes: Mapping[str, int]
    latencies_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: its time (seconds since the epoch), its tool and its error code."""

    at: float
    tool: str
    code: str


@dataclass(frozen=True, slots=True)
class Figures:
    """A snapshot. `calls_per_minute` counts the last minute; `started_at` is seconds since the epoch.

    `routes` counts calls by tool, route and outcome; `durations` has their durations by tool and outcome; `fallbacks`
    counts fallbacks by failed upstream and error code. `joined` is the number of cache misses that an identical call in
    flight answered.
    """

    started_at: float
    uptime_seconds: float
    calls_per_minute: int
    tools: Mapping[str, ToolFigures]
    cache: Mapping[CacheState, int]
    last_failures: Sequence[Failure]
    routes: Mapping[tuple[str, str, str], int]
    durations: Mapping[tuple[str, str], Distribution]
    fallbacks: Mapping[tuple[str, str], int]
    joined: int = 0


class Statistics:
    """Counts calls. `observe` is an observer for `Telemetry`.

    Args:
        clock: seconds since the epoch.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._started_at = clock()
        self._outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._latencies: defaultdict[str, deque[float]] = defaultdict(
            partial(deque[float], maxlen=WINDOW)
        )
        self._cache: Counter[CacheState] = Counter()
        self._moments: deque[float] = deque(maxlen=100_000)
        self._failures: deque[Failure] = deque(maxlen=20)
        self._routes: Counter[tuple[str, str, str]] = Counter()
        self._durations: defaultdict[tuple[str, str], Histogram] = defaultdict(Histogram)
        self._fallbacks: Counter[tuple[str, str]] = Counter()
        self._joined = 0

    def observe(self, record: CallRecord) -> None:
        """Count a call."""
        now, outcome = self._clock(), record.outcome.outcome
        self._outcomes[record.tool][outcome] += 1
        self._latencies[record.tool].append(record.latency_ms)
        self._moments.append(now)
        self._routes[record.tool, record.outcome.route, outcome] += 1
        self._durations[record.tool, outcome].observe(record.latency_ms / 1000)
        if record.outcome.fallback_from is not None:
            self._fallbacks[record.outcome.fallback_from, record.outcome.fallback_reason or ""] += 1
        if outcome == "ok" and record.tool in CACHED_TOOLS:
            self._cache[record.outcome.cache] += 1
            self._joined += record.outcome.joined
        elif outcome not in ("ok", "CANCELLED"):
            self._failures.append(Failure(now, record.tool, outcome))

    def figures(self) -> Figures:
        """The numbers so far, with the latest failure first."""
        now = self._clock()
        while self._moments and self._moments[0] < now - RATE_SECONDS:
            self._moments.popleft()
        tools = {
            tool: ToolFigures(dict(outcomes), quantiles(self._latencies[tool]))
            for tool, outcomes in self._outcomes.items()
        }
        return Figures(
            self._started_at,
            now - self._started_at,
            len(self._moments),
            tools,
            dict(self._cache),
            tuple(reversed(self._failures)),
            dict(self._routes),
            {labels: histogram.distribution() for labels, histogram in self._durations.items()},
            dict(self._fallbacks),
            self._joined,
        )


def quantiles(values: Sequence[float]) -> tuple[float, ...]:
    """The values at QUANTILES of the sorted `values`; empty without values."""
    ordered = sorted(values)
    return (
        tuple(ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in QUANTILES)
        if ordered
        else ()
    )


T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def call_span(
    name: str, kind: SpanKind = SpanKind.INTERNAL, carrier: Mapping[str, str] | None = None
) -> AbstractContextManager[Span]:
    """The span of a whole call: a child of the caller's span if `carrier` names one, else of the current span.

    Args:
        carrier: may hold the caller's `traceparent` and `tracestate` (https://www.w3.org/TR/trace-context/).
    """
    remote = (
        TraceContextTextMapPropagator().extract(carrier)
        if carrier and "traceparent" in carrier
        else None
    )
    span = TRACER.start_span(name, remote, kind)
    # An unrecorded span becomes current too, so that spans below it do not start traces of their own.
    return recorded(span) if span.get_span_context().is_valid else UNRECORDED


def stage(name: str) -> Callable[[F], F]:
    """A decorator that gives a sync or async function a child span."""

    def decorate(function: F) -> F:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def staged(*args: Any, **kwargs: Any) -> Any:
                if not get_current_span().is_recording():
                    return await function(*args, **kwargs)
                with child_span(name):
                    return await function(*args, **kwargs)

        else:

            @functools.wraps(function)
            def staged(*args: Any, **kwargs: Any) -> Any:
                if not get_current_span().is_recording():
                    return function(*args, **kwargs)
                with child_span(name):
                    return function(*args, **kwargs)

        return cast("F", staged)

    return decorate


@asynccontextmanager
async def traced(upstream: str, call: Call) -> AsyncIterator[None]:
    """The block of a call of an upstream: its span, and what the caller's watch sees of it.

    The span has the host, the last HTTP status and the retries.
    """
    watch = call.caller.watch
    if watch is not None:
        watch.note(upstream, "")
    started, outcome = time.monotonic(), "ok"
    try:
        with child_span(f"upstream {upstream}", SpanKind.CLIENT):
            yield
    except BaseException as error:
        outcome = outcome_of(error)
        raise
    finally:
        if watch is not None:
            watch.note(upstream, outcome, time.monotonic() - started)


_OURS = "websearch_gateway"
_BATCH_SECONDS = 0.05
_NOT_FOR_PEOPLE = ("event", "exception", "query_hash", "query_length")
_TRACEBACK_FORMATTER = logging.Formatter()
_TRACEBACK_CHARACTERS = 3_000  # so that a record fits the 4 KiB that a pipe takes without blocking


def configure_logging(
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"],
    secrets: Collection[str],
    *,
    told: Collection[str] = (),
) -> None:
    """Send all logging of this process to stderr, in place of any earlier configuration.

    Each record is a line of JSON, or on a terminal a line for people.

    Args:
        level: the least level of the gateway's own log. Libraries always log from WARNING on, since the HTTP client
            logs whole URLs below that.
        secrets: values that must not appear; each is replaced by `***` anywhere in a record.
        told: names of loggers whose warnings the replies contain anyway, so that only their errors are logged.
    """
    root = logging.getLogger()
    for earlier in root.handlers[:]:
        root.removeHandler(earlier)
    handler = _Handler(sys.stderr, secrets)
    handler.addFilter(lambda record: record.levelno >= logging.ERROR or record.name not in told)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(level)


def flush_logs() -> None:
    """Write all queued records. For a process that is about to end without clean-up."""
    for handler in logging.getLogger().handlers:
        handler.flush()


class _Handler(logging.StreamHandler[TextIO]):
    """Writes records as lines, and drops records that a slow reader does not take.

    In an event loop it writes a moment later, in batches: the answer does not wait for its record, and a record in a
    batch takes a third of the time. A warning is written at once, together with all queued records.
    """

    def __init__(self, stream: TextIO, secrets: Collection[str]) -> None:
        super().__init__(stream)
        self._redacted = Redaction(secrets)
        self._for_people = stream.isatty()
        self._scheduled_in: asyncio.AbstractEventLoop | None = None
        self._waiting: list[logging.LogRecord] = []
        # A filter of the handler, since a library may set the level of its own logger at any time.
        self.addFilter(
            lambda record: (
                record.levelno >= logging.WARNING or record.name.partition(".")[0] == _OURS
            )
        )

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON, or of words for people."""
        event: Any = record.msg if isinstance(record.msg, dict) else {"event": record.getMessage()}
        if not self._for_people:
            at = (
                datetime.fromtimestamp(record.created, UTC)
                .isoformat(timespec="microseconds")
                .replace("+00:00", "Z")
            )
            event = {
                **event,
                "logger": record.name,
                "level": record.levelname.lower(),
                "timestamp": at,
            }
        if record.exc_info:
            event["exception"] = _TRACEBACK_FORMATTER.formatException(record.exc_info)[
                -_TRACEBACK_CHARACTERS:
            ]
        shown = self._redacted(event)
        return _in_words(shown, record) if self._for_people else json.dumps(shown)

    def emit(self, record: logging.LogRecord) -> None:
        self._waiting.append(record)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()
            return
        if record.levelno >= logging.WARNING:
            self.flush()
        elif self._scheduled_in is not loop:
            self._scheduled_in = loop
            loop.call_later(_BATCH_SECONDS, self.flush)

    def flush(self) -> None:
        self.acquire()
        try:
            waiting, self._waiting, self._scheduled_in = self._waiting, [], None
            for record in waiting:
                if self._is_writable():
                    super().emit(record)  # close() flushes again, with nothing queued
            # A stderr that is closed or full must not end what was logged about.
            with suppress(OSError, ValueError):
                super().flush()
        finally:
            self.release()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the base class's
        """Print nothing: the base class would print the record unmasked, with any secret in it."""

    def _is_writable(self) -> bool:
        """Whether a write would not block. A client that never reads our stderr must not stop us."""
        try:
            return bool(select.select((), (self.stream,), (), 0)[1])
        except (OSError, ValueError):  # not a file of the operating system, so it never blocks
            return True


def _in_words(event: Mapping[str, Any], record: logging.LogRecord) -> str:
    """`12:30:05 WARNING what happened name=value ...`, without the level of ordinary events and empty values."""
    level = f"{record.levelname} " if record.levelno >= logging.WARNING else ""
    values = [
        f"{name}={value}" for name, value in event.items() if name not in _NOT_FOR_PEOPLE and value
    ]
    told = " ".join((f"{level}{event.get('event', '')}", *values))
    lines = f"{told}\n{event['exception']}" if "exception" in event else told
    clean = "".join(
        character if character.isprintable() or character == "\n" else " " for character in lines
    )
    # Indented, so that no message can look like two records.
    return f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {clean}".replace(
        "\n", "\n    "
    )


class Redaction:
    """Replaces secrets by `***` in every key and value of an event, at any depth, and converts values to JSON types."""

    def __init__(self, secrets: Collection[str]) -> None:
        # The plain values, and how they look in a URL and in a repr.
        given = [secret for secret in secrets if secret]
        forms = {
            form
            for one in given
            for form in (one, quote(one, safe=""), quote_plus(one), repr(one)[1:-1])
        }
        pattern = re.compile(
            "|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or r"(?!)"
        )
        self._masked = functools.partial(pattern.sub, "***")
        # Events have the same few names.
        self._masked_key = functools.lru_cache(maxsize=256)(self._masked)

    def __call__(self, event: Mapping[str, Any]) -> dict[str, Any]:
        return {self._masked_key(str(key)): self._shown(value) for key, value in event.items()}

    def _shown(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._masked(value)
        if value is None or isinstance(value, (int, float)):
            return value
        if isinstance(value, dict):
            return {self._masked(str(key)): self._shown(item) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self._shown(item) for item in value]
        return self._masked(repr(value))
