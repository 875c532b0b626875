"""Proxies and trusted certificates for outgoing connections."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpcore2

from websearch_gateway.errors import SearchNotConfiguredError, shown
from websearch_gateway.net.address import DEFAULT_PORTS, AddressPolicy, Target
from websearch_gateway.net.dial import MeteredBackend, PinnedBackend, Resolve
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


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
