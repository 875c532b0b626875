"""Which addresses may be fetched.

`AddressPolicy.check_url` resolves nothing: it turns a URL into a `Target`, rebuilt from its checked parts, so that no
later parser can read another host out of it. `AddressPolicy.check_address` checks what a name resolves to when it is
dialled.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

from websearch_gateway.base.net.public_addresses import (
    FAKE_IPV4,
    Network,
    is_public,
    leads_to_public,
)
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchNotConfiguredError,
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
