"""Every failure of an exchange becomes an error of ours that names the upstream and nothing of the request."""

from __future__ import annotations

import ssl

import httpcore2
import httpx2
import pytest

from websearch_gateway.base.net.bodies import CodingError
from websearch_gateway.base.net.failures import mapped_errors, mapped_page_errors, unavailable
from websearch_gateway.errors import (
    SearchFetchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
)

SECRET = "https://api.example/v1?key=hunter2"


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (httpx2.ReadTimeout(SECRET), SearchTimeoutError, None),
        (TimeoutError(SECRET), SearchTimeoutError, None),
        (httpx2.ConnectError(SECRET), SearchProviderError, True),
        (httpx2.ReadError(SECRET), SearchProviderError, True),
        (httpx2.RemoteProtocolError(SECRET), SearchProviderError, True),
        (httpx2.ProxyError(SECRET), SearchProviderError, False),
        (httpx2.InvalidURL(SECRET), SearchProviderError, False),
        (CodingError("has invalid compressed data"), SearchProviderParseError, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_failure_of_an_exchange_with_an_upstream_has_its_error(
    error: Exception, kind: type[Exception], retryable: bool | None
) -> None:
    with pytest.raises(kind) as caught, mapped_errors("heron"):
        raise error
    assert "heron" in str(caught.value) or "proxy" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    if retryable is not None:
        assert caught.value.retryable is retryable  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (
            httpcore2.ConnectTimeout(SECRET),
            SearchTimeoutError,
            "tides.example cannot be reached in time",
        ),
        (httpcore2.ConnectError(SECRET), SearchFetchError, "tides.example cannot be reached"),
        (
            httpcore2.ConnectError(ssl.SSLError()),
            SearchFetchError,
            "does not speak TLS, or has no valid certificate",
        ),
        (httpcore2.ProxyError(SECRET), SearchFetchError, "The proxy refuses to connect"),
        (httpcore2.ReadError(SECRET), SearchFetchError, "tides.example broke off"),
        (httpcore2.RemoteProtocolError(SECRET), SearchFetchError, "tides.example broke off"),
        (
            CodingError("has invalid compressed data"),
            SearchFetchError,
            "The page has invalid compressed data",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_failure_of_an_exchange_with_a_site_has_its_error(
    error: Exception, kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told) as caught, mapped_page_errors("tides.example"):
        raise error
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "is_retried"),
    [
        *((429, True), (500, True), (502, True), (503, True), (529, True)),
        *((402, False), (404, False), (501, False), (504, False)),
    ],
)
def test_a_status_that_may_pass_is_worth_a_retry(status: int, is_retried: bool) -> None:
    assert unavailable(status, {}, "heron").retryable is is_retried
