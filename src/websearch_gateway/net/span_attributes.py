"""What only the sender of a request knows, noted on the span that is open (OpenTelemetry; most often there is none).

Attributes are those of the semantic conventions (https://opentelemetry.io/docs/specs/semconv/http/http-spans/). Of a
URL only the host is told: paths and parameters may hold a query or a key.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from opentelemetry.trace import get_current_span


def note_host(url: str) -> None:
    """A request goes out to the host of `url`."""
    span = get_current_span()
    if span.is_recording():
        span.set_attribute("server.address", host_of(url))


def note_status(status: int) -> None:
    """The HTTP status of its reply."""
    get_current_span().set_attribute("http.response.status_code", status)


def note_retry(number: int) -> None:
    """It is sent once more, for the `number`th time."""
    get_current_span().set_attribute("http.request.resend_count", number)


def host_of(url: str) -> str:
    """The host, without a user's name or a port; "" where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
