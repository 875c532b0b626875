"""HTTP client for APIs whose addresses the operator sets. Pages that users or sites name go through `net.fetch`."""

from __future__ import annotations

import asyncio
import http.cookiejar
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx2

from websearch_gateway.errors import SearchProviderError
from websearch_gateway.models import Deadline, HttpRequest
from websearch_gateway.net.address import DEFAULT_PORTS
from websearch_gateway.net.decode import ACCEPT_ENCODING, MAX_BYTES, BodyCutShort, BodyTooLarge, read_body
from websearch_gateway.net.errors import mapped_errors
from websearch_gateway.net.fetch import USER_AGENT
from websearch_gateway.net.outbound import DIRECT, Outbound, http_proxy

CONNECT_SECONDS = 5.0
# Enough for a hundred concurrent calls, each with a retry or a second page.
LIMITS = httpx2.Limits(max_connections=200, max_keepalive_connections=100, keepalive_expiry=30.0)


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply. `headers` are case-insensitive; `body` is decompressed."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


def create_client(
    transport: httpx2.AsyncBaseTransport | None = None, outbound: Outbound = DIRECT
) -> httpx2.AsyncClient:
    """The client for all API upstreams of a process. Close it with `aclose`.

    It follows no redirects (a key must not reach another host), keeps no cookies (which would link the calls of
    different users) and does not read the environment. It limits only the connect; `send` limits the whole exchange.

    Raises:
        SearchNotConfiguredError: the proxy or CA bundle of `outbound` is unusable.
    """
    # The library logs whole URLs at INFO, and Google's URL contains the key.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    return httpx2.AsyncClient(
        headers={"User-Agent": USER_AGENT, "Accept-Encoding": ACCEPT_ENCODING},
        cookies=http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=[])),
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        trust_env=False,
        transport=transport or _RoutedTransport(outbound),
    )


class _RoutedTransport(httpx2.AsyncBaseTransport):
    """Sends each request directly or through its proxy."""

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound
        self._verify = outbound.ssl_context()
        self._transports: dict[str | None, httpx2.AsyncHTTPTransport] = {}
        if outbound.proxy is not None:
            http_proxy(outbound.proxy)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        proxy = self._outbound.proxy_for(url.scheme, url.host, url.port or DEFAULT_PORTS.get(url.scheme, 0))
        if proxy not in self._transports:
            self._transports[proxy] = httpx2.AsyncHTTPTransport(
                verify=self._verify, trust_env=False, limits=LIMITS, proxy=_proxy(proxy) if proxy else None
            )
        return await self._transports[proxy].handle_async_request(request)

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()


def _proxy(url: str) -> httpx2.Proxy:
    proxy = http_proxy(url)
    origin = f"{proxy.url.scheme.decode()}://{proxy.url.host.decode()}:{proxy.url.port}"
    return httpx2.Proxy(origin, auth=tuple(part.decode() for part in proxy.auth) if proxy.auth else None)  # type: ignore[arg-type]


async def send(
    client: httpx2.AsyncClient,
    request: HttpRequest,
    deadline: Deadline,
    upstream: str,
    *,
    max_bytes: int = MAX_BYTES,
) -> Reply:
    """Send the request and read the whole reply, of any status.

    Raises:
        SearchTimeoutError: the reply was not complete by the deadline, even if bytes kept arriving.
        SearchProviderError: the connection failed, or the reply is larger than `max_bytes` once decompressed.
        SearchProviderParseError: the compression is broken, or is one that was not requested.
    """
    with mapped_errors(upstream):
        async with (
            asyncio.timeout(deadline.remaining()),
            client.stream(
                request.method,
                request.url,
                params=request.params or None,
                headers=request.headers,
                json=request.json,
                data=request.form,
            ) as response,
        ):
            body = await _read(response, upstream, max_bytes)
    return Reply(response.status_code, response.headers, body)


async def _read(response: httpx2.Response, upstream: str, max_bytes: int) -> bytes:
    coding = response.headers.get("content-encoding", "")
    try:
        return await read_body(response.aiter_raw(), coding, max_bytes=max_bytes)
    except BodyTooLarge:
        raise SearchProviderError(f"The reply of {upstream} is larger than {max_bytes:,} bytes.") from None
    except BodyCutShort:
        raise SearchProviderError(f"The reply of {upstream} ended too early.", retryable=True) from None
