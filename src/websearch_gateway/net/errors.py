"""The one map from httpx2's exceptions to ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from websearch_gateway.errors import SearchProviderError, SearchTimeoutError, Unavailable


def unavailable(error: httpx2.HTTPError | httpx2.InvalidURL | httpx2.StreamError, upstream: str) -> Unavailable:
    """What a failed exchange with `upstream` means. The original text may hold a URL, so only its kind is told."""
    if isinstance(error, httpx2.TimeoutException):
        return SearchTimeoutError(f"{upstream} did not answer in time.")
    if isinstance(error, httpx2.ConnectError):
        return SearchProviderError(f"{upstream} cannot be reached.", retryable=True)
    # A server may close a kept connection at any time, so a broken exchange deserves a second one.
    broken = isinstance(error, (httpx2.NetworkError, httpx2.RemoteProtocolError))
    return SearchProviderError(f"The exchange with {upstream} broke off ({type(error).__name__}).", retryable=broken)


@contextmanager
def mapped_errors(upstream: str) -> Iterator[None]:
    """Raise ours instead of httpx2's inside the block.

    Raises:
        SearchTimeoutError: a connect, read, write or pool timeout, or the end of an `asyncio.timeout` block.
        SearchProviderError: any other failure of the exchange.
    """
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise unavailable(error, upstream) from error
    except TimeoutError as error:
        raise SearchTimeoutError(f"{upstream} did not answer in time.") from error
