"""One line of JSON on stderr per search, and the log of everything else in the same form.

The event tells how a search went and never what was asked, found or fetched. Logging goes through the standard library:
a process that configures nothing stays silent. structlog, which writes the JSON, is imported with the first record.
"""

from __future__ import annotations

import asyncio
import functools
import hmac
import logging
import re
import select
import sys
import time
from collections.abc import Callable, Collection, MutableMapping
from secrets import token_bytes
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TextIO, get_args
from urllib.parse import quote, quote_plus

from websearch_gateway.errors import ErrorCode, Refused, SearchError
from websearch_gateway.models import SearchResponse

if TYPE_CHECKING:
    from structlog.stdlib import BoundLogger

_OURS = "websearch_gateway"
_EVENT_DELAY_SECONDS = 0.005
_MOST_OF_A_TRACEBACK = 3_000  # characters, so that a record fits the 4 KiB that a pipe takes without waiting

_log = logging.getLogger(__name__)


class Telemetry:
    """Reports each search with one event.

    Args:
        clock: seconds, for durations.
    """

    def __init__(self, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        # With a key that dies with the process nobody can find a query by hashing candidates.
        self._key = token_bytes(32)
        self._waiting: list[dict[str, Any]] = []

    def call(self, text: str) -> CallEvent:
        """The event of a search for `text`, as a context manager around it."""
        return CallEvent(text, self._key, self._clock, self._report)

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
    """Times a search and logs, at its end, how it went. Changes nothing: exceptions pass through.

    Fields: `query_hash` (HMAC-SHA256 with a key of this process, 16 hex digits), `query_length` (characters),
    `latency_ms`, `route` (`openai`, `NAME-raw-search`, `cache`, `refused` or `failed`), `outcome` (`ok`, the error's
    code, `CANCELLED` or `INTERNAL`), `result_count`, `cost_usd`, `cache`, `fallback_from` and `fallback_reason`.
    """

    __slots__ = ("_clock", "_key", "_report", "_response", "_started", "_text")

    def __init__(
        self, text: str, key: bytes, clock: Callable[[], float], report: Callable[[dict[str, Any]], None]
    ) -> None:
        self._text = str(text)  # the guard has not seen it yet: it may be anything
        self._key = key
        self._clock = clock
        self._report = report
        self._response: SearchResponse | None = None

    def answered(self, response: SearchResponse) -> None:
        """Note the answer."""
        self._response = response

    def __enter__(self) -> CallEvent:
        self._started = self._clock()
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        if not _log.isEnabledFor(logging.INFO):
            return
        digest = hmac.digest(self._key, self._text.encode("utf-8", "surrogatepass"), "sha256")
        self._report(
            {
                "query_hash": digest.hex()[:16],
                "query_length": len(self._text),
                "latency_ms": round((self._clock() - self._started) * 1000, 1),
                **(_success(self._response or SearchResponse()) if error is None else _failure(error)),
            }
        )


def _success(response: SearchResponse) -> dict[str, Any]:
    fallback = response.fallback
    # A reason is "CODE: words for a person"; the words might quote somebody.
    code = fallback.reason.partition(":")[0] if fallback else None
    return {
        "route": response.provider if response.cache == "miss" else "cache",
        "outcome": "ok",
        "result_count": len(response.citations),
        "cost_usd": response.cost_usd,
        "cache": response.cache,
        "fallback_from": fallback.from_ if fallback else None,
        "fallback_reason": code if code is None or code in get_args(ErrorCode) else "OTHER",
    }


def _failure(error: BaseException) -> dict[str, Any]:
    if isinstance(error, SearchError):
        outcome: str = error.code
    else:
        outcome = "CANCELLED" if isinstance(error, asyncio.CancelledError) else "INTERNAL"
    return {
        "route": "refused" if isinstance(error, Refused) else "failed",
        "outcome": outcome,
        "result_count": 0,
        "cost_usd": 0.0,
        "cache": "miss",
        "fallback_from": None,
        "fallback_reason": None,
    }


@functools.cache
def _events() -> BoundLogger:
    import structlog

    logger: BoundLogger = structlog.wrap_logger(
        _log,
        processors=[structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
    ).bind()
    return logger


def configure_logging(level: Literal["DEBUG", "INFO", "WARNING", "ERROR"], secrets: Collection[str]) -> None:
    """Send all logging of this process to stderr as lines of JSON, in place of whatever was configured before.

    Args:
        level: how much the gateway itself tells. Libraries are heard from WARNING on, whatever it is: the HTTP client
            logs whole URLs below that.
        secrets: values that must not appear; each is replaced by `***` wherever it stands in a record.
    """
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
    root.addHandler(_JsonHandler(sys.stderr, secrets))
    root.setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(level)


class _JsonHandler(logging.StreamHandler[TextIO]):
    """Writes records as lines of JSON, and drops one rather than wait for a reader who does not read."""

    def __init__(self, stream: TextIO, secrets: Collection[str]) -> None:
        super().__init__(stream)
        self._secrets = secrets
        self.addFilter(_is_ours_or_a_warning)

    @functools.cached_property
    def _json(self) -> logging.Formatter:
        import structlog

        return structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.add_logger_name,
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                _shorten_traceback,
                Redaction(self._secrets),
                structlog.processors.JSONRenderer(),
            ]
        )

    def format(self, record: logging.LogRecord) -> str:
        return self._json.format(record)

    def emit(self, record: logging.LogRecord) -> None:
        if self._takes_a_line():
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the base class's
        """Say nothing: the base class would print the record as it is, with whatever secret it holds."""

    def _takes_a_line(self) -> bool:
        """Whether writing would not block. A client that starts us and never reads our stderr must not stop us."""
        try:
            return bool(select.select((), (self.stream,), (), 0)[1])
        except (OSError, ValueError):  # not a file of the system: nothing to wait for
            return True


def _is_ours_or_a_warning(record: logging.LogRecord) -> bool:
    # On the handler, for a library may set its own logger's level at any time.
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] == _OURS


def _shorten_traceback(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if "exception" in event:
        event["exception"] = event["exception"][-_MOST_OF_A_TRACEBACK:]
    return event


class Redaction:
    """A structlog processor that replaces secrets by `***` in every key and value of an event, however nested."""

    def __init__(self, secrets: Collection[str]) -> None:
        # As they are, as they look in a URL, and as they look in a repr.
        forms = {form(secret) for secret in secrets if secret for form in (str, _in_url, quote_plus, _in_repr)}
        pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or r"(?!)")
        self._masked = functools.partial(pattern.sub, "***")

    def __call__(self, _: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {self._masked(str(key)): self._shown(value) for key, value in event.items()}

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


def _in_url(secret: str) -> str:
    return quote(secret, safe="")


def _in_repr(secret: str) -> str:
    return repr(secret)[1:-1]
