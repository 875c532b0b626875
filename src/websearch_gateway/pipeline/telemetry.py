"""One event per call of a tool: how it went, and never what was asked, found or fetched.

Logging goes through the standard library: a process that configures nothing stays silent. structlog, which writes the
JSON, is imported with the first record.
"""

from __future__ import annotations

import asyncio
import functools
import hmac
import logging
import time
from collections.abc import Callable
from secrets import token_bytes
from types import TracebackType
from typing import TYPE_CHECKING, Any, get_args

from websearch_gateway.errors import ErrorCode, Refused, SearchError
from websearch_gateway.wire.answer import CacheState, SearchResponse

if TYPE_CHECKING:
    from structlog.stdlib import BoundLogger

_EVENT_DELAY_SECONDS = 0.005

_log = logging.getLogger(__name__)


class Telemetry:
    """Reports each call with one event.

    Args:
        clock: seconds, for durations.
    """

    def __init__(self, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        # With a key that dies with the process nobody can find a query by hashing candidates.
        self._key = token_bytes(32)
        self._waiting: list[dict[str, Any]] = []

    def call(self, text: str, tool: str = "search_web") -> CallEvent:
        """The event of a call of `tool` with `text` (a query, or a URL), as a context manager around it."""
        return CallEvent(text, tool, self._key, self._clock, self._report)

    def flush(self) -> None:
        """Write the events that still wait."""
        waiting, self._waiting = self._waiting, []
        for fields in waiting:
            _events().info("search", **fields)

    def _report(self, fields: dict[str, Any]) -> None:
        """Write the event a moment later, so that the answer does not wait for it; at once where there is no loop."""
        self._waiting.append(fields)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()
        else:
            if len(self._waiting) == 1:
                loop.call_later(_EVENT_DELAY_SECONDS, self.flush)


class CallEvent:
    """Times a call and logs, at its end, how it went. Changes nothing: exceptions pass through.

    Fields: `tool`, `query_hash` (HMAC-SHA256 with a key of this process, 16 hex digits), `query_length` (characters),
    `latency_ms`, `route` (who served: `openai`, `NAME-raw-search`, a provider, a reader, `cache`; else `refused` or
    `failed`), `outcome` (`ok`, the error's code, `CANCELLED` or `INTERNAL`), `result_count`, `cost_usd`, `cache`,
    `fallback_from` and `fallback_reason`.
    """

    __slots__ = ("_clock", "_key", "_outcome", "_report", "_started", "_text", "_tool")

    def __init__(
        self, text: str, tool: str, key: bytes, clock: Callable[[], float], report: Callable[[dict[str, Any]], None]
    ) -> None:
        self._text = str(text)  # the guard has not seen it yet: it may be anything
        self._key = key
        self._clock = clock
        self._report = report
        self._tool = tool
        self._outcome: Callable[[], dict[str, Any]] = _success

    def answered(self, response: SearchResponse) -> None:
        """Note the answer of `search_web`."""
        self._outcome = lambda: _answer(response)

    def served(self, route: str, results: int, *, cost_usd: float = 0.0, cache: CacheState = "miss") -> None:
        """Note who served the call of any other tool, with how many results."""
        self._outcome = lambda: _success(route=route, result_count=results, cost_usd=cost_usd, cache=cache)

    def __enter__(self) -> CallEvent:
        self._started = self._clock()
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        if not _log.isEnabledFor(logging.INFO):
            return
        digest = hmac.digest(self._key, self._text.encode("utf-8", "surrogatepass"), "sha256")
        self._report(
            {
                "tool": self._tool,
                "query_hash": digest.hex()[:16],
                "query_length": len(self._text),
                "latency_ms": round((self._clock() - self._started) * 1000, 1),
                **(self._outcome() if error is None else _failure(error)),
            }
        )


def _answer(response: SearchResponse) -> dict[str, Any]:
    fallback = response.fallback
    # A reason is "CODE: words for a person"; the words might quote somebody.
    code = fallback.reason.partition(":")[0] if fallback else None
    return _success(
        route=response.provider,
        result_count=len(response.citations),
        cost_usd=response.cost_usd,
        cache=response.cache,
        fallback_from=fallback.from_ if fallback else None,
        fallback_reason=code if code is None or code in get_args(ErrorCode) else "OTHER",
    )


def _success(
    *,
    route: str = "",
    result_count: int = 0,
    cost_usd: float = 0.0,
    cache: CacheState = "miss",
    fallback_from: str | None = None,
    fallback_reason: str | None = None,
) -> dict[str, Any]:
    return {
        "route": route if cache == "miss" else "cache",
        "outcome": "ok",
        "result_count": result_count,
        "cost_usd": cost_usd,
        "cache": cache,
        "fallback_from": fallback_from,
        "fallback_reason": fallback_reason,
    }


def _failure(error: BaseException) -> dict[str, Any]:
    if isinstance(error, SearchError):
        outcome: str = error.code
    else:
        outcome = "CANCELLED" if isinstance(error, asyncio.CancelledError) else "INTERNAL"
    return {**_success(route="refused" if isinstance(error, Refused) else "failed"), "outcome": outcome}


@functools.cache
def _events() -> BoundLogger:
    import structlog

    logger: BoundLogger = structlog.wrap_logger(
        _log,
        processors=[structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
    ).bind()
    return logger
