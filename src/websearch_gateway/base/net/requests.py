"""What surrounds one outgoing request: its repeats, and what the current OpenTelemetry span records of it.

This is the only place that repeats requests. It makes at most two attempts, and retries only if the error is
`retryable`: 429, 500, 502, 503 and broken connections, never a timeout, an unreadable reply or an exhausted quota.
Retries in other places would multiply with these.

A call of a model has a span and metrics of its own. The names are those of the semantic conventions
(https://opentelemetry.io/docs/specs/semconv/http/http-spans/, https://github.com/open-telemetry/semantic-conventions-genai).
Only the host of a URL is recorded: paths and parameters may contain a query or a key.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from opentelemetry.metrics import get_meter
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanKind,
    StatusCode,
    get_current_span,
    get_tracer,
    use_span,
)

from websearch_gateway import __version__
from websearch_gateway.errors import SearchError, Unavailable
from websearch_gateway.foreign_json import MALFORMED, parse_json
from websearch_gateway.models import Deadline

MAX_ATTEMPTS = 2
"""Of one request: a second retry helps rarely, and adds load to what is overloaded."""
JITTER_SECONDS = 0.1
"""The longest random wait before a retry (seconds), so that callers do not come back all at once."""
LONGEST_PAUSE_SECONDS = 86_400.0
"""The longest Retry-After that is believed (seconds): a day, the longest period of a quota."""

T = TypeVar("T")


class RetryBudget:
    """Tokens that keep retries from multiplying the load on an upstream that is down.

    A retry takes a whole token, a success returns a tenth: in the long run at most one retry for ten successes.
    This is gRPC's retry throttling (https://github.com/grpc/proposal/blob/master/A6-client-retries.md).
    """

    def __init__(self, capacity: float = 10.0, refund: float = 0.1) -> None:
        self.capacity = capacity
        self.refund = refund
        self.tokens = capacity

    def take(self) -> bool:
        """Take the token for one retry; False if none is left."""
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True

    def succeeded(self) -> None:
        """Return a part of a token after a success."""
        self.tokens = min(self.capacity, self.tokens + self.refund)


@dataclass(frozen=True, slots=True)
class Retry:
    """Calls once, and retries once if the error is retryable. One instance with one budget serves the whole process.

    `jitter(low, high)` picks the random part of the wait, so that callers that failed together do not retry together.
    """

    budget: RetryBudget = field(default_factory=RetryBudget)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[float, float], float] = random.uniform

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`.

        Before the retry it waits `retry_after`, if the error has it, plus up to a tenth of a second at random. If the
        deadline or the budget does not allow the retry, it raises the first error unchanged.

        Raises:
            SearchError: the last error that `call` raised.
        """
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

        def give_up(state: RetryCallState) -> bool:
            too_late = state.upcoming_sleep >= deadline.remaining()
            return state.attempt_number >= MAX_ATTEMPTS or too_late or not self.budget.take()

        attempts = AsyncRetrying(
            retry=retry_if_exception(
                lambda error: isinstance(error, Unavailable) and error.retryable
            ),
            wait=lambda state: self._wait(state.outcome.exception() if state.outcome else None),
            stop=give_up,
            sleep=self.sleep,
            before_sleep=lambda state: get_current_span().set_attribute(
                "http.request.resend_count", state.attempt_number
            ),
            reraise=True,
        )
        async for attempt in attempts:
            with attempt:
                result = await call()
        self.budget.succeeded()
        return result

    def _wait(self, error: BaseException | None) -> float:
        retry_after = error.retry_after if isinstance(error, Unavailable) else None
        return (retry_after or 0.0) + self.jitter(0.0, JITTER_SECONDS)


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait according to `retry-after-ms` (OpenAI's) or `Retry-After` (RFC 9110, 10.2.3), at most a day.

    None if neither is present and valid (negative, NaN, infinite or prose is invalid). A past date gives zero.

    Args:
        headers: keys in lower case, or a case-insensitive mapping.
        now: seconds since the epoch, subtracted from a date.
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""), now)
    if milliseconds is not None:
        return min(milliseconds / 1000, LONGEST_PAUSE_SECONDS)
    seconds = _seconds(headers.get("retry-after", ""), now)
    return None if seconds is None else min(seconds, LONGEST_PAUSE_SECONDS)


def _seconds(value: str, now: float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
    else:
        return number if math.isfinite(number) and number >= 0 else None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - now)


TRACER = get_tracer("websearch_gateway", __version__)
UNRECORDED: AbstractContextManager[Span] = nullcontext(INVALID_SPAN)
_METER = get_meter("websearch_gateway", __version__)
_TOKENS = _METER.create_histogram(
    "gen_ai.client.token.usage", "{token}", "Tokens that a call of a model used."
)
_SECONDS = _METER.create_histogram(
    "gen_ai.client.operation.duration", "s", "The duration of a call of a model."
)


def note_host(url: str) -> None:
    """Record the host of the request's `url`."""
    span = get_current_span()
    if span.is_recording():
        span.set_attribute("server.address", host_of(url))


def note_status(status: int) -> None:
    """Record the HTTP status of the reply."""
    get_current_span().set_attribute("http.response.status_code", status)


def child_span(name: str, kind: SpanKind = SpanKind.INTERNAL) -> AbstractContextManager[Span]:
    """The span of a part of the current call, if that is recorded."""
    if not get_current_span().is_recording():
        return UNRECORDED
    return recorded(TRACER.start_span(name, kind=kind))


@contextmanager
def recorded(span: Span) -> Iterator[Span]:
    """Makes `span` current; records only the code of an error, since a message may quote a URL."""
    with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield span
        except BaseException as error:
            span.set_attribute("error.type", outcome_of(error))
            # Cancelled is not an error: another upstream was faster, or the caller left.
            if not isinstance(error, asyncio.CancelledError):
                span.set_status(StatusCode.ERROR)
            raise


def outcome_of(error: BaseException) -> str:
    """How a call ended that raised this: the error's code, `CANCELLED`, or the name of the error's type."""
    if isinstance(error, asyncio.CancelledError):
        return "CANCELLED"
    return error.code if isinstance(error, SearchError) else type(error).__name__


@contextmanager
def noting_model(
    provider: str, model: str, operation: str = "chat", most_tokens: int | None = None
) -> Iterator[None]:
    """Record a call of a model: a span with its attributes, and its duration (seconds) as a metric.

    Args:
        provider: a well-known value of `gen_ai.provider.name`, or the vendor's own name.
        operation: a well-known value of `gen_ai.operation.name`.
        most_tokens: the most that the model may write.
    """
    known = _of_model(provider, model, operation)
    started, failure = time.monotonic(), {}
    try:
        with child_span(f"{operation} {model}", SpanKind.CLIENT) as span:
            span.set_attributes(known)
            if most_tokens is not None:
                span.set_attribute("gen_ai.request.max_tokens", most_tokens)
            yield
    except SearchError as error:
        failure = {"error.type": error.code}
        raise
    finally:
        _SECONDS.record(time.monotonic() - started, {**known, **failure})


_FIT_FOR_SPANS = re.compile(r"[\w.:/@-]{1,120}", re.ASCII)
"""Identifiers and codes: a vendor's other words could repeat a question."""


def note_reply(reply: bytes | Mapping[str, Any]) -> None:
    """Record which model replied and why it stopped, from a reply of any vendor that the engines ask."""
    span = get_current_span()
    if not span.is_recording():
        return
    try:
        found = parse_json(reply) if isinstance(reply, bytes) else reply
        choices = found.get("choices") or found.get("candidates") or ()
        reasons = [choice.get("finish_reason") or choice.get("finishReason") for choice in choices]
        detail = found.get("incomplete_details") or {}
        reasons += [detail.get("reason") or found.get("stop_reason") or found.get("status")]
        attributes = {
            "id": found.get("id") or found.get("responseId"),
            "model": found.get("model") or found.get("modelVersion"),
        }
    except MALFORMED:
        return  # the engine reports what it cannot read
    for name, value in attributes.items():
        if isinstance(value, str) and _FIT_FOR_SPANS.fullmatch(value):
            span.set_attribute(f"gen_ai.response.{name}", value)
    texts = [reason for reason in reasons if isinstance(reason, str)]
    stops = list(filter(_FIT_FOR_SPANS.fullmatch, texts))
    if stops:
        span.set_attribute("gen_ai.response.finish_reasons", stops)


def note_tokens(provider: str, model: str, sent: int, written: int, cached: int = 0) -> None:
    """Record the tokens of a call of a model: `sent` includes those that the vendor had `cached`."""
    usage = {"input_tokens": sent, "output_tokens": written, "cache_read.input_tokens": cached}
    get_current_span().set_attributes(
        {f"gen_ai.usage.{name}": count for name, count in usage.items()}
    )
    for kind, count in (("input", sent), ("output", written)):
        _TOKENS.record(count, {**_of_model(provider, model), "gen_ai.token.type": kind})


def _of_model(provider: str, model: str, operation: str = "chat") -> dict[str, str]:
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
    }


def host_of(url: str) -> str:
    """The host, without user name and port; "" if there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
