"""Spans below the current OpenTelemetry span, if there is one, and those attributes that only the sender of a request
knows. A call of a model has a span and metrics of its own.

The names are those of the semantic conventions (https://opentelemetry.io/docs/specs/semconv/http/http-spans/,
https://github.com/open-telemetry/semantic-conventions-genai). Only the host of a URL is recorded: paths and parameters
may contain a query or a key.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.metrics import get_meter
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, StatusCode, get_current_span, get_tracer, use_span

from websearch_gateway import __version__
from websearch_gateway.errors import SearchError

TRACER = get_tracer("websearch_gateway", __version__)
UNRECORDED: AbstractContextManager[Span] = nullcontext(INVALID_SPAN)
_METER = get_meter("websearch_gateway", __version__)
_TOKENS = _METER.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens that a call of a model used.")
_SECONDS = _METER.create_histogram("gen_ai.client.operation.duration", "s", "The duration of a call of a model.")


def note_host(url: str) -> None:
    """Record the host of the request's `url`."""
    span = get_current_span()
    if span.is_recording():
        span.set_attribute("server.address", host_of(url))


def note_status(status: int) -> None:
    """Record the HTTP status of the reply."""
    get_current_span().set_attribute("http.response.status_code", status)


def note_retry(number: int) -> None:
    """Record the `number`th retry of the request."""
    get_current_span().set_attribute("http.request.resend_count", number)


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
def noting_model(provider: str, model: str, operation: str = "chat", most_tokens: int | None = None) -> Iterator[None]:
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
        found = json.loads(reply) if isinstance(reply, bytes) else reply
        choices = found.get("choices") or found.get("candidates") or ()
        reasons = [choice.get("finish_reason") or choice.get("finishReason") for choice in choices]
        detail = found.get("incomplete_details") or {}
        reasons += [detail.get("reason") or found.get("stop_reason") or found.get("status")]
        said = {
            "id": found.get("id") or found.get("responseId"),
            "model": found.get("model") or found.get("modelVersion"),
        }
    except (ValueError, RecursionError, AttributeError, TypeError):
        return  # the engine reports what it cannot read
    for name, value in said.items():
        if isinstance(value, str) and _FIT_FOR_SPANS.fullmatch(value):
            span.set_attribute(f"gen_ai.response.{name}", value)
    if stops := [one for one in reasons if isinstance(one, str) and _FIT_FOR_SPANS.fullmatch(one)]:
        span.set_attribute("gen_ai.response.finish_reasons", stops)


def note_tokens(provider: str, model: str, sent: int, written: int, cached: int = 0) -> None:
    """Record the tokens of a call of a model: `sent` includes those that the vendor had `cached`."""
    usage = {"input_tokens": sent, "output_tokens": written, "cache_read.input_tokens": cached}
    get_current_span().set_attributes({f"gen_ai.usage.{name}": count for name, count in usage.items()})
    for kind, count in (("input", sent), ("output", written)):
        _TOKENS.record(count, {**_of_model(provider, model), "gen_ai.token.type": kind})


def _of_model(provider: str, model: str, operation: str = "chat") -> dict[str, str]:
    return {"gen_ai.operation.name": operation, "gen_ai.provider.name": provider, "gen_ai.request.model": model}


def host_of(url: str) -> str:
    """The host, without user name and port; "" if there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
