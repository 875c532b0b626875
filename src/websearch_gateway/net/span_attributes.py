"""Sets those attributes of the current OpenTelemetry span, if there is one, that only the sender of a request knows.

The names are those of the semantic conventions (https://opentelemetry.io/docs/specs/semconv/http/http-spans/). Only the
host of a URL is recorded: paths and parameters may contain a query or a key.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from opentelemetry.trace import get_current_span


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


def host_of(url: str) -> str:
    """The host, without user name and port; "" if there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
