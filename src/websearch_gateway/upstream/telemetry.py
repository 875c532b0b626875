"""One event and one span per tool call.

An event holds no query, result, page, key, user or URL: only names from the code, codes, numbers, and a hash of the
query with a key that is lost when the process ends.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import token_bytes
from types import TracebackType
from typing import NamedTuple, get_args

from websearch_gateway.base import outcome_of
from websearch_gateway.errors import ErrorCode, Refused, SearchError
from websearch_gateway.results import CacheState, SearchResponse
from websearch_gateway.upstream.tracing import call_span

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
