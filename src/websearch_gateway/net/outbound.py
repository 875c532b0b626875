"""How connections leave: names resolved once and checked, proxies, trusted certificates.

If the client resolved a name again after the check, the name could return another address the second time (DNS
rebinding). TLS still verifies the certificate for the name.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore2

from websearch_gateway.errors import SearchFetchError, SearchNotConfiguredError, shown
from websearch_gateway.net.address import DEFAULT_PORTS, AddressPolicy, Target
from websearch_gateway.net.own_threads import in_own_thread

MAX_CONNECTIONS = 64
KEPT_SECONDS = 4.0
"""Servers close connections that are idle for five seconds (Apache's default)."""

LOOKUP_SECONDS = 1.0
"""Seconds to look up a name before a proxy resolves it again. Behind a firewall there may be no DNS."""


@dataclass(frozen=True, slots=True)
class Outbound:
    """The proxies and trusted certificates of outgoing connections; by default direct ones and those of `certifi`.

    Loopback addresses never go through a proxy: the proxy would connect to itself.

    Attributes:
        proxy: the URL of an HTTP proxy for everything; may hold a login.
        environment: proxies by scheme (`http`, `https`, `all`), and under `no` the hosts that bypass them, as
            `urllib.request.getproxies_environment` returns them.
        ca_bundle: a PEM file of additional trusted authorities.
    """

    proxy: str | None = field(default=None, repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_bundle: Path | None = None

    def proxy_for(self, scheme: str, host: str, port: int) -> str | None:
        """The URL of the proxy to use; None for a direct connection."""
        if (self.proxy is None and not self.environment) or _is_loopback(host):
            return None
        if self.environment:
            # Not in typeshed; `proxy_bypass` would read the system's settings too.
            from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

            if proxy_bypass_environment(f"{host}:{port}", dict(self.environment)):
                return None
        return self.proxy or self.environment.get(scheme) or self.environment.get("all")

    def ssl_context(self) -> ssl.SSLContext:
        """The TLS context that verifies certificates, the same for all connections. The first call takes 20 to 50 ms.

        Raises:
            SearchNotConfiguredError: CA_BUNDLE cannot be read, or contains no certificate.
        """
        return _ssl_context(self.ca_bundle)


@lru_cache(maxsize=4)
def _ssl_context(ca_bundle: Path | None) -> ssl.SSLContext:
    context = httpcore2.default_ssl_context()
    if ca_bundle is not None:
        try:
            context.load_verify_locations(cafile=ca_bundle)
        except (OSError, ValueError):  # ValueError: a path that no file can have
            name = shown(str(ca_bundle))
            raise SearchNotConfiguredError(f"CA_BUNDLE: {name} is not a readable PEM file with certificates.") from None
    return context


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


DIRECT = Outbound()
"""No proxy, and the default certificate authorities."""


class ConnectionPools:
    """Connections to pages: direct ones to checked addresses, and those through proxies.

    A proxy resolves names itself and connects as it likes. We resolve and check a name before the proxy gets it; a name
    that only the proxy can resolve is left to the proxy.
    """

    def __init__(
        self, policy: AddressPolicy, resolve: Resolve, outbound: Outbound, *, kept_connections: int = 0
    ) -> None:
        self._policy, self._resolve, self._outbound = policy, resolve, outbound
        self._kept_connections = kept_connections
        self._ssl_context: ssl.SSLContext | None = None
        self._pools: dict[str | None, httpcore2.AsyncConnectionPool] = {}

    async def pool_for(self, target: Target) -> httpcore2.AsyncConnectionPool:
        """The connection pool for a target.

        Raises:
            ForbiddenUrlError: the target needs a proxy, and its name resolves here to a forbidden address.
        """
        proxy = self._outbound.proxy_for(target.scheme, target.host, target.port)
        if proxy is not None:
            await self._check_addresses(target)
        if proxy not in self._pools:
            # In a thread, and only on the first fetch: loading the certificates would block the event loop.
            context = self._ssl_context or await in_own_thread(self._outbound.ssl_context)
            self._ssl_context = context
        if proxy not in self._pools:
            self._pools[proxy] = httpcore2.AsyncConnectionPool(
                ssl_context=context,
                proxy=http_proxy(proxy) if proxy else None,
                max_connections=MAX_CONNECTIONS,
                max_keepalive_connections=self._kept_connections,
                keepalive_expiry=KEPT_SECONDS,
                network_backend=MeteredBackend() if proxy else PinnedBackend(self._policy, self._resolve),
            )
        return self._pools[proxy]

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            await pool.aclose()

    async def _check_addresses(self, target: Target) -> None:
        """Check the addresses that the target's name resolves to here, if it resolves in time."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                addresses = await self._resolve(target.host)
        except (OSError, TimeoutError):
            return
        for address in addresses:
            self._policy.check_address(target.host, target.port, address)


def http_proxy(url: str) -> httpcore2.Proxy:
    """The proxy at a URL, with its login if there is one.

    Raises:
        SearchNotConfiguredError: not the URL of an HTTP proxy.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SearchNotConfiguredError("The proxy must be an address such as http://proxy.example.org:3128.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return httpcore2.Proxy(f"{parts.scheme}://{host}:{port or DEFAULT_PORTS[parts.scheme]}", auth=login)


CONNECT_SECONDS = 5.0
MAX_ADDRESSES = 4
HEADER_BYTES = 128 * 1024
READ_BYTES = 16 * 1024

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Turns a host name into IP addresses; raises OSError if it has none."""


class SystemResolver:
    """The operating system's resolver, in threads of its own.

    A lookup cannot be interrupted, so hanging lookups must not use up the shared threads.
    """

    def __init__(self, threads: int = 8) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="resolve")

    async def __call__(self, host: str) -> Sequence[str]:
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

    def close(self) -> None:
        """Release the threads without waiting for running lookups."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str) -> list[Any]:
    # As bytes: Python would encode a string with an older IDNA, which rejects some names.
    return socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to checked addresses only. If one address of a name is forbidden, the whole name is forbidden."""

    def __init__(self, policy: AddressPolicy, resolve: Resolve) -> None:
        self._policy = policy
        self._resolve = resolve
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Dial `host:port`.

        Raises:
            ForbiddenUrlError: the policy forbids the host or an address that it resolves to.
            SearchFetchError: the name does not exist.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: no address accepted the connection.
        """
        self._policy.check_host(host, port)
        failure: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        for address in await self._addresses(host, port):
            try:
                stream = await self._sockets.connect_tcp(
                    address, port, min(timeout or CONNECT_SECONDS, CONNECT_SECONDS), local_address, socket_options
                )
                return MeteredStream(stream)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore2.ConnectError("no address")

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            addresses = await self._resolve(host)
        except OSError:
            raise SearchFetchError(f"The host {host} cannot be found.") from None
        for address in addresses:
            self._policy.check_address(host, port, address)
        # IPv4 first: without IPv6 connectivity, trying IPv6 first would cost a whole timeout.
        return sorted(addresses, key=lambda a: ipaddress.ip_address(a).version)[:MAX_ADDRESSES]


class MeteredBackend(httpcore2.AsyncNetworkBackend):
    """Connects to a proxy that the operator has set. Reads through it are metered too."""

    def __init__(self) -> None:
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Dial the proxy."""
        return MeteredStream(
            await self._sockets.connect_tcp(host, port, timeout or CONNECT_SECONDS, local_address, socket_options)
        )


class MeteredStream(httpcore2.AsyncNetworkStream):
    """A connection that reads at most `allowance` bytes.

    The HTTP parser limits the size of a header block, but neither the number of blocks before the answer (status 1xx)
    nor the framing of a body in tiny chunks. Reads are small, so that parsing one does not block the event loop.
    """

    def __init__(self, stream: httpcore2.AsyncNetworkStream, allowance: int = HEADER_BYTES) -> None:
        self._stream = stream
        self.allowance = allowance

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self.allowance <= 0:
            raise SearchFetchError("The server sends more bytes than a page may have.", details={"reason": "too_large"})
        data = await self._stream.read(min(max_bytes, READ_BYTES), timeout)
        self.allowance -= len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.allowance = HEADER_BYTES  # a new request begins, perhaps on a kept-alive connection
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        return MeteredStream(await self._stream.start_tls(ssl_context, server_hostname, timeout), self.allowance)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
