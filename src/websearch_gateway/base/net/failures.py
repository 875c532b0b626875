"""What a failed HTTP exchange means: the one map from the exceptions of the HTTP libraries, and from the statuses of
replies, to ours.

httpx2 asks APIs whose addresses the operator sets; httpcore2, on which it is built, fetches pages, since only it dials
the address that was checked. Their exceptions mean the same. A message names neither an address nor the words of a
server, which may quote a query or a key.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import httpcore2
import httpx2

from websearch_gateway.base.net.bodies import BodyCutShort, CodingError
from websearch_gateway.base.net.requests import parse_retry_after
from websearch_gateway.errors import (
    QUOTA,
    RATE_LIMITED,
    SearchAuthError,
    SearchError,
    SearchFetchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
)


class UnreachableProxyError(httpx2.ProxyError):
    """The operator's proxy accepts no connection; the message names the setting that names it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How an exchange failed. `sentence` has a place for `who` was asked; `is_unreachable`: nothing was sent."""

    sentence: str
    retryable: bool = False
    is_unreachable: bool = False


TLS = Failure("{who} does not speak TLS, or has no valid certificate.", is_unreachable=True)
UNREACHABLE = Failure("{who} cannot be reached.", retryable=True, is_unreachable=True)
CLOSED_PROXY = Failure("The proxy refuses to connect to {who}; check OUTBOUND_PROXY.")
BAD_ADDRESS = Failure("The address of {who} in the settings is invalid; correct it.")
# A server may close a kept-alive connection at any time.
BROKEN = Failure("The exchange with {who} broke off.", retryable=True)
UNFINISHED = Failure("The reply of {who} ended too early.", retryable=True)
OURS = Failure("The exchange with {who} failed.")

_FAILURES: tuple[tuple[tuple[type[Exception], ...], Failure], ...] = (
    ((httpx2.ProxyError, httpcore2.ProxyError), CLOSED_PROXY),
    ((httpx2.ConnectError, httpcore2.ConnectError), UNREACHABLE),
    ((httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpcore2.UnsupportedProtocol), BAD_ADDRESS),
    ((httpx2.NetworkError, httpcore2.NetworkError), BROKEN),
    ((httpx2.RemoteProtocolError, httpcore2.RemoteProtocolError), BROKEN),
    ((BodyCutShort,), UNFINISHED),
)
"""The first row that fits."""

_TIMEOUTS = (httpx2.TimeoutException, httpcore2.TimeoutException, TimeoutError)
_EXCHANGE = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
    BodyCutShort,
)


def failure_of(error: Exception) -> Failure:
    """What an exception of an exchange means."""
    if isinstance(error, UnreachableProxyError):
        return Failure(f"{{who}}: {error}", retryable=True, is_unreachable=True)
    if is_about_tls(error):
        return TLS
    return next((failure for kinds, failure in _FAILURES if isinstance(error, kinds)), OURS)


def is_about_tls(error: BaseException) -> bool:
    """Whether a connection was made, and TLS on it failed."""
    if isinstance(error, httpx2.ConnectError):
        return error.__cause__ is not None and is_about_tls(error.__cause__)
    cause = next(iter(error.args), None)
    return isinstance(error, httpcore2.ConnectError) and isinstance(cause, ssl.SSLError)


@contextmanager
def mapped_errors(upstream: str) -> Iterator[None]:
    """Inside the block, raise our errors about an API instead of those of the HTTP libraries and `net.bodies`.

    Raises:
        SearchTimeoutError: a connect, read, write or pool timeout, or the end of an `asyncio.timeout` block.
        SearchProviderParseError: compressed data is invalid, or a content coding was not requested.
        SearchProviderError: any other failure of the exchange.
    """
    try:
        yield
    except _TIMEOUTS as error:
        raise SearchTimeoutError(f"{upstream} did not answer in time.") from error
    except CodingError as error:
        raise SearchProviderParseError(f"The reply of {upstream} {error}.") from error
    except _EXCHANGE as error:
        failure = failure_of(error)
        raise SearchProviderError(
            failure.sentence.format(who=upstream),
            retryable=failure.retryable,
            details={"reason": "unreachable"} if failure.is_unreachable else None,
        ) from error


@contextmanager
def mapped_page_errors(host: str) -> Iterator[None]:
    """The same about a page: SearchTimeoutError, or else SearchFetchError."""
    try:
        yield
    except _TIMEOUTS as error:
        raise SearchTimeoutError(f"{host} cannot be reached in time.") from error
    except CodingError as error:
        raise SearchFetchError(f"The page {error}.") from error
    except _EXCHANGE as error:
        failure = failure_of(error)
        raise SearchFetchError(
            failure.sentence.format(who=host), retryable=failure.retryable
        ) from error


OVERLOADED = 529
"""Anthropic's status for a service that is overloaded."""

_REASONS = {402: QUOTA, 429: RATE_LIMITED}
PASSING_STATUSES = (429, 500, 502, 503)
"""HTTP statuses that a retry may avoid."""


def unavailable(
    status: int,
    headers: Mapping[str, str],
    upstream: str,
    hint: str = "",
    clock: Callable[[], float] = time.time,
) -> SearchProviderError:
    """The error for a status with which an API does not serve now; `hint` says what the operator may do."""
    reason = {"reason": _REASONS[status]} if status in _REASONS else {}
    if status == 429:
        message = f"{upstream}'s rate limit is reached (HTTP 429){hint}."
    else:
        message = f"{upstream} answered with HTTP {status}{hint}."
    return SearchProviderError(
        message,
        retry_after=parse_retry_after(headers, clock()),
        retryable=status in PASSING_STATUSES or status == OVERLOADED,
        details={"status": status, **reason},
    )


def refusal_of(
    status: int,
    headers: Mapping[str, str],
    upstream: str,
    key_setting: str | None,
    clock: Callable[[], float] = time.time,
) -> SearchError | None:
    """The error for a status of an API that is needed to answer; None for 2xx.

    Args:
        key_setting: the setting with its key; None for an API without keys.
    """
    if 200 <= status < 300:
        return None
    if status in (401, 403) and key_setting:
        return SearchAuthError(f"{upstream} rejected the key (HTTP {status}); check {key_setting}.")
    if status in (400, 413, 422):
        return SearchValidationError(f"{upstream} rejected the request as invalid (HTTP {status}).")
    return unavailable(status, headers, upstream, clock=clock)
