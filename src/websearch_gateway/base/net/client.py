"""HTTP client for APIs whose addresses the operator sets, and the runner of every raw search provider: request, reply,
status, hits, next page. Pages that users or sites name go through `net.fetch`.
"""

from __future__ import annotations

import asyncio
import http.cookiejar
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial

import httpcore2
import httpx2

from websearch_gateway.base.net.address import DEFAULT_PORTS
from websearch_gateway.base.net.bodies import (
    ACCEPT_ENCODING,
    MAX_BYTES,
    MAX_REPLY_BYTES,
    BodyTooLarge,
    ReplyParser,
    in_own_thread,
    in_own_thread_if_large,
    read_body,
    without_key,
)
from websearch_gateway.base.net.dialling import unreachable_proxy
from websearch_gateway.base.net.failures import (
    UnreachableProxyError,
    is_about_tls,
    mapped_errors,
    refusal_of,
)
from websearch_gateway.base.net.fetch import USER_AGENT
from websearch_gateway.base.net.outbound import DIRECT, Outbound, http_proxy
from websearch_gateway.base.net.requests import (
    Retry,
    note_host,
    note_status,
    parse_retry_after,
)
from websearch_gateway.errors import (
    SearchError,
    SearchProviderError,
    Unavailable,
)
from websearch_gateway.models import (
    Bill,
    Call,
    Deadline,
    Hit,
    HttpRequest,
    SearchQuery,
    SearchResults,
)
from websearch_gateway.ports import Layer, Provider, no_layer

CONNECT_SECONDS = 5.0
"""For connecting to a vendor or a proxy (seconds); a healthy one takes some tenths."""
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
        transport=_RoutedTransport(outbound, transport),
    )


_PRICE: ContextVar[tuple[Bill, float] | None] = ContextVar("price", default=None)


@contextmanager
def billed(bill: Bill, usd: float) -> Iterator[None]:
    """Book the price of each request of this block when it is about to be written to its connection.

    Take it back if the exchange breaks before a reply, or the status is not 2xx. A good reply costs its price even if
    it cannot be read, and so may one that came too late or that nobody waited for.
    """
    token = _PRICE.set((bill, usd))
    try:
        yield
    finally:
        _PRICE.reset(token)


class _RoutedTransport(httpx2.AsyncBaseTransport):
    """Sends each request directly or through its proxy, or over the transport `only` if that is given."""

    def __init__(self, outbound: Outbound, only: httpx2.AsyncBaseTransport | None) -> None:
        self._outbound, self._only = outbound, only
        self._verify = outbound.ssl_context()
        self._transports: dict[str | None, httpx2.AsyncHTTPTransport] = {}
        if outbound.proxy is not None:
            http_proxy(outbound.proxy)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        bill, usd = _PRICE.get() or (Bill(), 0.0)
        booked = 0.0

        async def trace(event: str, about: Mapping[str, httpcore2.Request]) -> None:
            nonlocal booked
            is_sent = event.endswith(".send_request_headers.started")
            # What opens a tunnel through a proxy reaches no vendor.
            if is_sent and about["request"].method != b"CONNECT":
                booked = usd
                bill.book(usd)

        if usd:
            request.extensions = {**request.extensions, "trace": trace}
        if self._only:
            booked = usd
            bill.book(usd)
        try:
            response = await self._transport(request.url).handle_async_request(request)
        except httpx2.TransportError as error:
            # After a timeout the vendor may still answer, and bill it.
            if not isinstance(error, httpx2.TimeoutException):
                bill.book(-booked)
            is_unreachable = isinstance(error, httpx2.ConnectError) and not is_about_tls(error)
            if is_unreachable and self._proxy_of(request.url):
                setting = self._outbound.proxy_setting(request.url.scheme)
                raise UnreachableProxyError(unreachable_proxy(setting), request=request) from error
            raise
        if not response.is_success:
            bill.book(-booked)
        return response

    def _transport(self, url: httpx2.URL) -> httpx2.AsyncBaseTransport:
        if self._only:
            return self._only
        proxy = self._proxy_of(url)
        if proxy not in self._transports:
            self._transports[proxy] = httpx2.AsyncHTTPTransport(
                verify=self._verify,
                trust_env=False,
                limits=LIMITS,
                proxy=_proxy(proxy) if proxy else None,
            )
        return self._transports[proxy]

    def _proxy_of(self, url: httpx2.URL) -> str | None:
        if self._only:
            return None
        return self._outbound.proxy_for(
            url.scheme, url.host, url.port or DEFAULT_PORTS.get(url.scheme, 0)
        )

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()
        if self._only:
            await self._only.aclose()


def _proxy(url: str) -> httpx2.Proxy:
    proxy = http_proxy(url)
    origin = f"{proxy.url.scheme.decode()}://{proxy.url.host.decode()}:{proxy.url.port}"
    if not proxy.auth:
        return httpx2.Proxy(origin)
    user, password = proxy.auth
    return httpx2.Proxy(origin, auth=(user.decode(), password.decode()))


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
            coding = response.headers.get("content-encoding", "")
            try:
                body = await read_body(response.aiter_raw(), coding, max_bytes=max_bytes)
            except BodyTooLarge:
                raise SearchProviderError(
                    f"The reply of {upstream} is larger than {max_bytes:,} bytes."
                ) from None
    return Reply(response.status_code, response.headers, body)


MAX_PAGES = 10
"""Requests for one query: MOST_HITS in pages of ten."""


@dataclass(frozen=True, slots=True)
class HttpSearcher:
    """Makes a Searcher from a Provider. `timeout_seconds` limits each request within the deadline of the call.

    Each attempt of a request waits for its turn in `pace` and is measured by `stopwatch`. `prices` are USD per request
    by provider name and override the provider's own. `on_headers` gets the headers of every reply.
    """

    provider: Provider
    client: httpx2.AsyncClient = field(repr=False)
    retry: Retry = field(repr=False)
    timeout_seconds: float = 20.0
    prices: Mapping[str, float] = field(default_factory=dict)
    parser: ReplyParser = field(default=ReplyParser(), repr=False)
    on_headers: Callable[[Mapping[str, str]], None] | None = field(default=None, repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False)
    pace: Layer = field(default=no_layer, repr=False)
    stopwatch: Layer = field(default=no_layer, repr=False)

    @property
    def name(self) -> str:
        return self.provider.name

    @property
    def price_usd(self) -> float:
        return self.prices.get(self.name, self.provider.capabilities.cost_per_call_usd)

    def most_usd(self, query: SearchQuery) -> float:
        """The most that a search may cost, in USD: the price of each page that it may request."""
        pages = math.ceil(query.max_results / self.provider.capabilities.page_size)
        return min(pages, MAX_PAGES) * self.price_usd

    async def ask(self, call: Call) -> SearchResults:
        """Up to `max_results` distinct hits, from as many full pages as needed.

        The search ends with a page that is not full: the next one would cost as much and most likely be empty. If a
        later page fails, the result has a warning.

        Raises:
            SearchAuthError: the vendor rejected the key.
            SearchValidationError: the vendor rejected the request as invalid.
            SearchProviderError: the vendor failed, refuses temporarily or cannot be reached.
            SearchProviderParseError: the reply is not what the vendor documents.
            SearchTimeoutError: the reply was not complete in time.
        """
        query = call.query
        capabilities = self.provider.capabilities
        full_page = min(query.max_results, capabilities.page_size)
        warnings = [capabilities.caveat] if capabilities.caveat else []
        body, hits = await self._page(self.provider.request(query), call)
        bodies = [body]
        hits_of_page = hits
        for number in range(2, MAX_PAGES + 1):
            if len(hits_of_page) < full_page or len(hits) >= query.max_results:
                break
            request = await in_own_thread(self.provider.next_page, query, body, number)
            if request is None:
                break
            try:
                body, hits_of_page = await self._page(request, call)
            except SearchError as error:
                reason = f"{error.code}: {error.message}"
                warnings.append(f"Page {number} of {self.name} is missing: {reason}")
                break
            if hits_of_page.keys() <= hits.keys():  # it has nothing new
                break
            hits = hits | hits_of_page
            bodies.append(body)
        return SearchResults(
            hits=tuple(hits.values())[: query.max_results],
            provider=self.name,
            applied=self.provider.applied(query),
            warnings=tuple(warnings),
            bodies=tuple(bodies),
        )

    async def _page(self, request: HttpRequest, call: Call) -> tuple[bytes, dict[str, Hit]]:
        body = await self.retry(partial(self._exchange, request, call), call)
        parse = without_key(self.provider).parse
        hits = await self.parser.read(list[Hit], parse, body, vendor=self.name, deadline=call)
        return body, {hit.url: hit for hit in hits}

    async def _exchange(self, request: HttpRequest, call: Call) -> bytes:
        """The body of a good reply."""
        async with self.pace(call), self.stopwatch(call):
            call.bill.note_request()
            note_host(request.url)
            within = call.within(self.timeout_seconds)
            with billed(call.bill, self.price_usd):
                reply = await send(
                    self.client, request, within, self.name, max_bytes=MAX_REPLY_BYTES
                )
            note_status(reply.status)
            if self.on_headers is not None:
                self.on_headers(reply.headers)
            refusal = await in_own_thread_if_large(len(reply.body), self._refusal, reply)
            error = refusal or self._failure(reply)
            if error:
                raise error
        if not 200 <= reply.status < 300:
            call.bill.book(self.price_usd)  # the vendor says with this status that it found nothing
        return reply.body

    def _refusal(self, reply: Reply) -> SearchError | None:
        """The provider's own error for the reply; a Retry-After header overrides the wait in it."""
        error = self.provider.refusal(reply.status, reply.headers, reply.body)
        if isinstance(error, Unavailable):
            seconds = parse_retry_after(reply.headers, self.clock())
            if seconds is not None:
                error.retry_after = seconds
        return error

    def _failure(self, reply: Reply) -> SearchError | None:
        """The error for a status that means the same for all vendors. It leaves out the vendor's message, which may
        quote the query.
        """
        if reply.status in self.provider.capabilities.empty_statuses:
            return None
        key_setting = self.provider.key_setting
        return refusal_of(reply.status, reply.headers, self.name, key_setting, self.clock)
