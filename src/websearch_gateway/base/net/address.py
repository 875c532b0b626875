"""Which addresses may be fetched, and how connections leave: names resolved once and checked, proxies, certificates.

`AddressPolicy.check_url` resolves nothing: it turns a URL into a `Target`, rebuilt from its checked parts, so that no
later parser can read another host out of it. `AddressPolicy.check_address` checks what a name resolves to when it is
dialled. If the client resolved the name again after the check, it could get another address (DNS rebinding). TLS still
verifies the certificate for the name.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

import httpcore2

from websearch_gateway.base.net.bodies import in_own_thread
from websearch_gateway.base.net.public_addresses import (
    FAKE_IPV4,
    Network,
    is_public,
    leads_to_public,
)
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchFetchError,
    SearchNotConfiguredError,
    shown,
)
from websearch_gateway.models import LONGEST_URL

DEFAULT_PORTS = {"http": 80, "https": 443}

_LOCAL_SUFFIXES = (
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "svc",  # Kubernetes
    "metadata.goog",
    "onion",
    "invalid",
)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# The characters that a path or query may contain unescaped: printable ASCII without the space and "<>`{}#.
_SAFE = "!$%&'()*+,-./:;=?@[\\]^_|~"


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that passed the policy. `host` is an ASCII name or a bare IP address; `path` includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def netloc(self) -> str:
        """The value of the Host header: with the port only if it is not the scheme's default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The normalised URL, without a fragment."""
        return f"{self.scheme}://{self.netloc}{self.path}"


class AddressPolicy:
    """Allows the public web and nothing else, except the given pairs.

    Args:
        allow_private: `host:port` pairs (IPv6 in brackets) that may be fetched although they are private or use
            another port. The host must match as written in the URL, not by the address it resolves to.
        allowed: the only domains, with their subdomains, whose pages may be fetched or shown; empty means all.
        blocked: domains that are never fetched or shown. Both lists hold lower-case ASCII names, and also apply to the
            hosts in `allow_private`.

    Raises:
        SearchNotConfiguredError: a pair is not `host:port`.
    """

    def __init__(
        self,
        allow_private: Iterable[str] = (),
        *,
        allowed: Sequence[str] = (),
        blocked: Sequence[str] = (),
        fake: Sequence[Network] = (),
        nat64: Sequence[ipaddress.IPv6Network] = (),
    ) -> None:
        self._allowed = frozenset(_pair(text) for text in allow_private)
        self._fake, self._nat64 = fake, nat64
        self._allowed_domains, self._blocked_domains = allowed, blocked

    def check_url(self, url: str) -> Target:
        """The checked parts of `url`. Applies every rule that does not need to resolve the host.

        Raises:
            ForbiddenUrlError: the URL breaks a rule, which the message names.
        """
        parts = _split(url)
        if parts.scheme not in DEFAULT_PORTS:
            raise _forbidden("only http and https are allowed")
        if "@" in parts.netloc:
            raise _forbidden("it holds a user name or password")
        host = normal_host(parts.hostname or "")
        port = parts.port if parts.port is not None else DEFAULT_PORTS[parts.scheme]
        self.check_host(host, port)
        query = f"?{parts.query}" if parts.query else ""
        return Target(parts.scheme, host, port, quote((parts.path or "/") + query, safe=_SAFE))

    def is_public_link(self, url: str) -> bool:
        """Whether a link may be shown: its host is public, or its `host:port` pair is allowed; and the operator's
        domain lists allow it.

        Other ports are fine, since the link is only shown; a login is cut before. Resolves no name.
        """
        try:
            parts = _split(url)
            host = normal_host(parts.hostname or "")
        except ForbiddenUrlError:
            return False
        port = parts.port if parts.port is not None else DEFAULT_PORTS.get(parts.scheme, 0)
        if parts.scheme not in DEFAULT_PORTS or not self._is_open(host):
            return False
        return (host, port) in self._allowed or _fault_of(host) is None

    def check_host(self, host: str, port: int) -> None:
        """Check a normalised host by its name or literal address, and the port.

        Raises:
            ForbiddenUrlError: the operator blocks the domain, the name is local, the address is not public, or the port
                is not 80 or 443.
        """
        if not self._is_open(host):
            raise _forbidden(f"the operator of this gateway does not allow {host}")
        if (host, port) in self._allowed:
            return
        if port not in DEFAULT_PORTS.values():
            raise _forbidden(f"port {port} is not 80 or 443")
        if fault := _fault_of(host):
            raise _forbidden(fault)

    def _is_open(self, host: str) -> bool:
        """Whether the operator's lists of domains allow a normalised host."""
        return not _within(host, self._blocked_domains) and (
            not self._allowed_domains or _within(host, self._allowed_domains)
        )

    def check_address(self, host: str, port: int, address: str) -> None:
        """Check an address that `host` resolved to. The error does not name it: it could reveal an internal network.

        Raises:
            ForbiddenUrlError: the address does not lead to a public one, and `host:port` is no allowed pair.
        """
        found = ipaddress.ip_address(address)
        if (host, port) in self._allowed or leads_to_public(found, self._nat64):
            return
        if any(found in network for network in self._fake):
            return
        # No internal network has these addresses, so the hint reveals nothing.
        hint = (
            ". If a local proxy gives out such addresses, set FAKE_IP_NETWORKS"
            if found in FAKE_IPV4
            else ""
        )
        raise _forbidden(f"{host} resolves to an address that is not public{hint}")


def _within(host: str, domains: Iterable[str]) -> bool:
    """Whether the host is one of the domains or below one."""
    return any(host == name or host.endswith(f".{name}") for name in domains)


def normal_host(host: str) -> str:
    """The normalised host: lower-case ASCII, no trailing dot, IP addresses as `ipaddress` writes them.

    Rejects shortened, octal, hexadecimal and zero-padded IPv4 addresses: only attackers write them, and resolvers
    disagree on what they mean.

    Raises:
        ForbiddenUrlError: not a host name or address.
    """
    if (address := _literal(host)) is not None:
        return str(address)
    if not host.isascii():
        import idna

        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            raise _forbidden("its host is not a valid name") from None
    name = host.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _forbidden("its host is not a valid name")
    if _NUMERIC_LABEL.fullmatch(labels[-1]):
        # A name cannot end in a number (https://url.spec.whatwg.org/#ends-in-a-number-checker).
        if (address := _literal(name)) is None:
            raise _forbidden("an IPv4 address must be written as four decimal numbers")
        return str(address)
    return name


def _split(url: str) -> SplitResult:
    url = url.strip(" \r\n\t")
    if len(url) > LONGEST_URL:
        raise _forbidden(f"it is longer than {LONGEST_URL:,} characters")
    if _CONTROL.search(url):
        raise _forbidden("it holds control characters")
    try:
        parts = urlsplit(url)
        _ = parts.port  # parsed on access
    except ValueError:
        raise _forbidden("it is malformed") from None
    if "\\" in parts.netloc or "%" in parts.netloc:
        raise _forbidden("its host holds a backslash or a percent sign")
    return parts


def _pair(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    try:
        if not (port.isascii() and port.isdigit()):
            raise _forbidden("no port")
        return normal_host(host.removeprefix("[").removesuffix("]")), int(port)
    except ForbiddenUrlError:
        raise SearchNotConfiguredError(
            f"FETCH_ALLOW_PRIVATE_HOSTS: {text!r} is not host:port."
        ) from None


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _fault_of(host: str) -> str | None:
    """Why a normalised host is not public, without resolving it; None if it is public."""
    if (address := _literal(host)) is not None:
        return None if is_public(address) else f"{address} is not a public address"
    if "." not in host or _within(host, _LOCAL_SUFFIXES):
        return f"{host} is a local name"
    return None


def _forbidden(rule: str) -> ForbiddenUrlError:
    return ForbiddenUrlError(f"This URL may not be fetched: {rule}.")


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
