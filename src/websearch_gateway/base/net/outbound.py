"""How connections leave: directly or through a proxy, with which trusted certificates, and from which pool."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpcore2

from websearch_gateway.base.net.address import DEFAULT_PORTS, AddressPolicy, Target
from websearch_gateway.base.net.bodies import in_own_thread
from websearch_gateway.base.net.dialling import (
    MeteredBackend,
    Resolve,
    checked_addresses,
    pinned_addresses,
)
from websearch_gateway.errors import (
    SearchNotConfiguredError,
    shown,
)

MAX_CONNECTIONS = 64
"""Of one client: as many as calls run at once (CONCURRENCY)."""
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
        ca_bundle: a PEM file of additional trusted authorities.
        environment: proxies by scheme (`http`, `https`, `all`), and under `no` the hosts that bypass all proxies, as
            `urllib.request.getproxies_environment` returns them.
    """

    proxy: str | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    def proxy_for(self, scheme: str, host: str, port: int) -> str | None:
        """The URL of the proxy to use; None for a direct connection."""
        if _is_loopback(host):
            return None
        if self.environment:
            # Not in typeshed; `proxy_bypass` would read the system's settings too.
            from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

            if proxy_bypass_environment(f"{host}:{port}", dict(self.environment)):
                return None
        return self.proxy or self.environment.get(scheme) or self.environment.get("all")

    def proxy_setting(self, scheme: str) -> str:
        """The name of the variable from which `proxy_for` takes the proxy of a scheme."""
        if self.proxy:
            return "OUTBOUND_PROXY"
        return f"{scheme.upper()}_PROXY" if self.environment.get(scheme) else "ALL_PROXY"

    def ssl_context(self) -> ssl.SSLContext:
        """The TLS context that verifies certificates, the same for all connections. The first call takes 20 to 50 ms.

        Raises:
            SearchNotConfiguredError: CA_BUNDLE cannot be read, or contains no certificate.
        """
        return _ssl_context(self.ca_bundle)


@lru_cache(maxsize=4)
def _ssl_context(ca_bundle: Path | None) -> ssl.SSLContext:
    try:
        context = httpcore2.default_ssl_context()
    # The library reads SSL_CERT_FILE, which may be left from a folder that is gone.
    except (
        OSError,
        ValueError,
    ):
        raise SearchNotConfiguredError(
            "SSL_CERT_FILE does not name a readable PEM file with certificates. Unset it, or give your own authorities "
            "with CA_BUNDLE."
        ) from None
    if ca_bundle is not None:
        try:
            context.load_verify_locations(cafile=ca_bundle)
        except (OSError, ValueError):  # ValueError: a path that no file can have
            name = shown(str(ca_bundle))
            raise SearchNotConfiguredError(
                f"CA_BUNDLE: {name} is not a readable PEM file with certificates."
            ) from None
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
        self,
        policy: AddressPolicy,
        resolve: Resolve,
        outbound: Outbound,
        *,
        kept_connections: int = 0,
    ) -> None:
        self._policy, self._resolve, self._outbound = policy, resolve, outbound
        self._kept_connections = kept_connections
        self._ssl_context: ssl.SSLContext | None = None
        self._pools: dict[str | None, httpcore2.AsyncConnectionPool] = {}
        """By the setting that names the proxy; None for direct connections."""

    async def pool_for(self, target: Target) -> httpcore2.AsyncConnectionPool:
        """The connection pool for a target.

        Raises:
            ForbiddenUrlError: the target needs a proxy, and its name resolves here to a forbidden address.
        """
        proxy = self._outbound.proxy_for(target.scheme, target.host, target.port)
        if proxy is not None:
            with suppress(OSError, TimeoutError):  # then only the proxy can resolve it
                async with asyncio.timeout(LOOKUP_SECONDS):
                    await checked_addresses(self._policy, self._resolve, target.host, target.port)
        # In a thread, and only on the first fetch: loading the certificates would block the event loop.
        context = self._ssl_context = self._ssl_context or await in_own_thread(
            self._outbound.ssl_context
        )
        setting = self._outbound.proxy_setting(target.scheme) if proxy else None
        if setting not in self._pools:
            self._pools[setting] = httpcore2.AsyncConnectionPool(
                ssl_context=context,
                proxy=http_proxy(proxy) if proxy else None,
                max_connections=MAX_CONNECTIONS,
                max_keepalive_connections=self._kept_connections,
                keepalive_expiry=KEPT_SECONDS,
                network_backend=MeteredBackend(
                    None if proxy else partial(pinned_addresses, self._policy, self._resolve),
                    setting,
                ),
            )
        return self._pools[setting]

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


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
        raise SearchNotConfiguredError(
            "The proxy in OUTBOUND_PROXY, or with TRUST_ENV in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, must be an HTTP "
            "proxy's address such as http://proxy.example.org:3128."
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return httpcore2.Proxy(
        f"{parts.scheme}://{host}:{port or DEFAULT_PORTS[parts.scheme]}", auth=login
    )
