"""Dialling: resolves a name once, checks all its addresses, and connects to one of these checked addresses.

If the client resolved the name again after the check, the name could return another address the second time (DNS
rebinding). TLS still verifies the certificate against the name.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpcore2

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.net.address import AddressPolicy

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
