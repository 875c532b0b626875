"""Sets those attributes of the current OpenTelemetry span, if there is one, that only the sender of a request knows.
Records the metrics of calls of models too.

The names are those of the semantic conventions (https://opentelemetry.io/docs/specs/semconv/http/http-spans/,
https://github.com/open-telemetry/semantic-conventions-genai). Only the host of a URL is recorded: paths and parameters
may contain a query or a key.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from opentelemetry.metrics import get_meter
from opentelemetry.trace import get_current_span

from websearch_gateway import __version__
from websearch_gateway.errors import SearchError

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


@contextmanager
def noting_model(provider: str, model: str) -> Iterator[None]:
    """Record a call of a model: its attributes in the current span, and its duration (seconds) as a metric.

    Args:
        provider: a well-known value of `gen_ai.provider.name`, or the vendor's own name.
    """
    known = _of_model(provider, model)
    get_current_span().set_attributes(known)
    started, failure = time.monotonic(), {}
    try:
        yield
    except SearchError as error:
        failure = {"error.type": error.code}
        raise
    finally:
        _SECONDS.record(time.monotonic() - started, {**known, **failure})


def note_tokens(provider: str, model: str, sent: int, written: int, cached: int = 0) -> None:
    """Record the tokens of a call of a model: `sent` includes those that the vendor had `cached`."""
    usage = {"input_tokens": sent, "output_tokens": written, "cache_read.input_tokens": cached}
    get_current_span().set_attributes({f"gen_ai.usage.{name}": count for name, count in usage.items()})
    for kind, count in (("input", sent), ("output", written)):
        _TOKENS.record(count, {**_of_model(provider, model), "gen_ai.token.type": kind})


def _of_model(provider: str, model: str) -> dict[str, str]:
    return {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}


def host_of(url: str) -> str:
    """The host, without user name and port; "" if there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
