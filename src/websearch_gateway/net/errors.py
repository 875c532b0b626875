"""The only place that maps the exceptions of an HTTP exchange to ours."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpcore2
import httpx2

from websearch_gateway.errors import (
    SearchFetchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    Unavailable,
)
from websearch_gateway.net.decode import CodingError


def unavailable(error: httpx2.HTTPError | httpx2.InvalidURL | httpx2.StreamError, upstream: str) -> Unavailable:
    """The error for a failed exchange with `upstream`. It leaves out the original message, which may contain a URL."""
    if isinstance(error, httpx2.TimeoutException):
        return SearchTimeoutError(f"{upstream} did not answer in time.")
    if isinstance(error, httpx2.ConnectError):
        return SearchProviderError(f"{upstream} cannot be reached.", retryable=True, details={"reason": "unreachable"})
    if isinstance(error, httpx2.ProxyError):
        return SearchProviderError(f"The proxy refuses to connect to {upstream}; check OUTBOUND_PROXY.")
    if isinstance(error, (httpx2.UnsupportedProtocol, httpx2.InvalidURL)):
        return SearchProviderError(f"The address of {upstream} in the settings is invalid; correct it.")
    # A server may close a kept-alive connection at any time, so a broken exchange is retryable.
    broken = isinstance(error, (httpx2.NetworkError, httpx2.RemoteProtocolError))
    return SearchProviderError(f"The exchange with {upstream} broke off ({type(error).__name__}).", retryable=broken)


@contextmanager
def mapped_errors(upstream: str) -> Iterator[None]:
    """Inside the block, raise our errors instead of those of httpx2 and `net.decode`.

    Raises:
        SearchTimeoutError: a connect, read, write or pool timeout, or the end of an `asyncio.timeout` block.
        SearchProviderParseError: compressed data is invalid, or a content coding was not requested.
        SearchProviderError: any other failure of the exchange.
    """
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise unavailable(error, upstream) from error
    except CodingError as error:
        raise SearchProviderParseError(f"The reply of {upstream} {error}.") from error
    except TimeoutError as error:
        raise SearchTimeoutError(f"{upstream} did not answer in time.") from error


@contextmanager
def mapped_page_errors(host: str) -> Iterator[None]:
    """Inside the block, raise our errors about a page instead of those of httpcore2 and `net.decode`.

    Raises:
        SearchTimeoutError: a connect, read, write or pool timeout.
        SearchFetchError: any other failure of the exchange.
    """
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise SearchTimeoutError(f"{host} cannot be reached in time.") from error
    except httpcore2.ConnectError as error:
        if error.args and isinstance(error.args[0], ssl.SSLError):
            raise SearchFetchError(f"{host} does not speak TLS, or has no valid certificate.") from error
        raise SearchFetchError(f"{host} cannot be reached.") from error
    except httpcore2.ProxyError as error:
        raise SearchFetchError(f"The proxy refuses to connect to {host}.") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise SearchFetchError(f"The exchange with {host} broke off.") from error
    except CodingError as error:
        raise SearchFetchError(f"The page {error}.") from error
