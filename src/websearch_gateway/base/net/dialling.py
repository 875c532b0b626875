"""Names are resolved once, checked, and dialled at the checked address.

If the client resolved a name again after the check, it could get another address (DNS rebinding). TLS still verifies
the certificate for the name. What a connection may send before a reply's body is metered.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpcore2

from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.errors import (
    SearchFetchError,
)

CONNECT_SECONDS = 5.0
"""For one address of a host (seconds): a healthy one takes a few tenths, over a satellite one."""
MAX_ADDRESSES = 4
"""Of a host that are tried: with a fifth, unreachable ones would cost the whole deadline."""
HEADER_BYTES = 128 * 1024
"""Of a reply before its body: many times what real servers send."""
READ_BYTES = 16 * 1024
"""In one read: no more than a few times a network's packets, so that the cap on headers is exact enough."""

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Turns a host name into IP addresses; raises OSError if it has none."""


class SystemResolver:
    """The operating system's resolver, in threads of its own.

    A lookup cannot be interrupted, so hanging lookups must not use up the shared threads.
    """

    def __init__(self, threads: int = 8) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="resolve")

    async def __call__(self, host: str) -> Sequence[str]:
        # As bytes: Python would encode a string with an older IDNA, which rejects some names.
        look_up = partial(socket.getaddrinfo, host.encode("ascii"), None, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

    def close(self) -> None:
        """Release the threads without waiting for running lookups."""
        self._threads.shutdown(wait=False, cancel_futures=True)


async def checked_addresses(
    policy: AddressPolicy, resolve: Resolve, host: str, port: int
) -> Sequence[str]:
    """All addresses of a host. If one of them is forbidden, the whole name is forbidden.

    Raises:
        ForbiddenUrlError: the policy forbids an address.
        OSError: the name has none.
    """
    addresses = await resolve(host)
    for address in addresses:
        policy.check_address(host, port, address)
    return addresses


async def pinned_addresses(
    policy: AddressPolicy, resolve: Resolve, host: str, port: int
) -> Sequence[str]:
    """The checked addresses to dial.

    Raises:
        ForbiddenUrlError: the policy forbids the host or an address that it resolves to.
        SearchFetchError: the name does not exist.
    """
    policy.check_host(host, port)
    try:
        addresses = await checked_addresses(policy, resolve, host, port)
    except OSError:
        raise SearchFetchError(f"The host {host} cannot be found.") from None
    # IPv4 first: without IPv6 connectivity, trying IPv6 first would cost a whole timeout.
    return sorted(addresses, key=lambda a: ipaddress.ip_address(a).version)[:MAX_ADDRESSES]


def unreachable_proxy(setting: str) -> str:
    """What to tell of a proxy, by the setting that names it, which nobody serves."""
    return f"The proxy in {setting} cannot be reached. Start it, or correct or unset {setting}."


class MeteredBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the `addresses` of a host and port, or without them to the proxy that the operator has set in
    `proxy_setting`. All reads are metered.
    """

    def __init__(
        self,
        addresses: Callable[[str, int], Awaitable[Sequence[str]]] | None,
        proxy_setting: str | None = None,
    ) -> None:
        self._proxy_setting = proxy_setting
        self._sockets = httpcore2.AnyIOBackend()
        self._addresses = addresses

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Dial the addresses of `host:port` until one accepts.

        Raises:
            ForbiddenUrlError, SearchFetchError: as `pinned_addresses`; or the proxy accepts no connection.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: no address accepted the connection.
        """
        failure: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        seconds = min(timeout or CONNECT_SECONDS, CONNECT_SECONDS)
        for address in await self._addresses(host, port) if self._addresses else [host]:
            try:
                stream = await self._sockets.connect_tcp(
                    address, port, seconds, local_address, socket_options
                )
                return MeteredStream(stream)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        if self._proxy_setting:
            raise SearchFetchError(unreachable_proxy(self._proxy_setting)) from failure
        raise failure or httpcore2.ConnectError("no address")


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
            raise SearchFetchError(
                "The server sends more bytes than a page may have.", details={"reason": "too_large"}
            )
        data = await self._stream.read(min(max_bytes, READ_BYTES), timeout)
        self.allowance -= len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.allowance = HEADER_BYTES  # a new request begins, perhaps on a kept-alive connection
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        return MeteredStream(
            await self._stream.start_tls(ssl_context, server_hostname, timeout), self.allowance
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
