"""Which IP addresses are public, by IANA's registries; and which IPv4 address an IPv6 address stands for.

An IPv6 address that carries an IPv4 one leads to it, through a translator or a tunnel. In a network with IPv6 only,
DNS64 gives every name such addresses. So what a name resolves to is judged by the IPv4 address inside. In a URL nobody
writes them but attackers, so there they are never public.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from websearch_gateway.errors import SearchNotConfiguredError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# The ranges that the IANA IPv4 special-purpose registry calls not globally reachable, multicast, and a cloud service.
# https://www.iana.org/assignments/iana-ipv4-special-registry
_FORBIDDEN_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; Alibaba's metadata service
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's platform service: public by the registry, but local to every Azure machine
        "169.254.0.0/16",  # link-local; most clouds' metadata service
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata service
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved; broadcast
    )
)
# Global unicast is only 2000::/3 (https://www.iana.org/assignments/ipv6-address-space). Addresses outside it
# embed IPv4 (mapped, compatible, NAT64), are local or unassigned. These ranges inside it are not public:
# https://www.iana.org/assignments/iana-ipv6-special-registry
_GLOBAL_V6 = IPv6Network("2000::/3")
_FORBIDDEN_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarking
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries an IPv4 address
        "3fff::/20",  # documentation
    )
)

_TRANSLATED = IPv6Network("::ffff:0:0:0/96")  # RFC 7915, between two translators
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")  # RFC 8215, for the translators of an operator
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # RFC 5214: the first half of the last 64 bits

_NAT64_LENGTHS = (32, 40, 48, 56, 64, 96)
"""The lengths that a prefix of NAT64 may have (RFC 6052, section 2.2)."""

FAKE_IPV4, FAKE_IPV6 = IPv4Network("198.18.0.0/15"), IPv6Network("fc00::/18")
"""From these, local proxies give out addresses for names that they resolve themselves (Clash, sing-box, Surge). No
private network has the first one (RFC 2544); the second one is part of the private ones."""


def is_public(address: Address) -> bool:
    """Whether an address is public as it is written. One that carries an IPv4 address is not."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _FORBIDDEN_V4)
    is_global = address in _GLOBAL_V6 and not any(address in network for network in _FORBIDDEN_V6)
    return is_global and not _isatap(address)


def leads_to_public(address: Address, nat64: Sequence[IPv6Network] = ()) -> bool:
    """Whether an address that a name resolved to is public: it, or each IPv4 address inside it.

    Args:
        nat64: prefixes of translators that only the operator knows, as from `nat64_prefixes`.
    """
    if isinstance(address, IPv4Address):
        return is_public(address)
    inside = list(_inside(address, nat64))
    return all(map(is_public, inside)) if inside else is_public(address)


def _inside(address: IPv6Address, nat64: Sequence[IPv6Network]) -> Iterator[IPv4Address]:
    """The IPv4 addresses that an IPv6 address carries."""
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo  # the server, through which the packets go, and the client
    if address in _TRANSLATED or address in _NAT64 or address in _LOCAL_NAT64 or _isatap(address):
        yield _part(address, 96)
    for prefix in nat64:
        if address in prefix:
            yield _part(address, prefix.prefixlen)


def _isatap(address: IPv6Address) -> bool:
    return int(address) >> 32 & 0xFFFF_FFFF in _ISATAP


def _part(address: IPv6Address, length: int) -> IPv4Address:
    """The IPv4 address behind a prefix of this length. Byte 8 is never part of it (RFC 6052, section 2.2)."""
    octets = [octet for place, octet in enumerate(address.packed) if place != 8 or length == 96]
    start = length // 8 if length <= 64 else 12
    return IPv4Address(bytes(octets[start : start + 4]))


def nat64_prefixes(given: Sequence[str]) -> tuple[IPv6Network, ...]:
    """The prefixes in a setting. Raises SearchNotConfiguredError for anything else."""
    prefixes: list[IPv6Network] = []
    for text in given:
        network = _network(text)
        if not isinstance(network, IPv6Network) or network.prefixlen not in _NAT64_LENGTHS:
            lengths = ", ".join(map(str, _NAT64_LENGTHS))
            raise SearchNotConfiguredError(
                f"NAT64_PREFIXES must hold IPv6 networks such as 2001:db8:64::/96, of a length of {lengths}."
            )
        prefixes.append(network)
    return tuple(prefixes)


def fake_networks(given: Sequence[str]) -> tuple[Network, ...]:
    """The networks in a setting, each within FAKE_IPV4 or FAKE_IPV6. Raises SearchNotConfiguredError for others."""
    networks: list[Network] = []
    for text in given:
        network = _network(text)
        if network is None or not _may_be_fake(network):
            raise SearchNotConfiguredError(
                f"FAKE_IP_NETWORKS must hold networks within {FAKE_IPV4} and {FAKE_IPV6}."
            )
        networks.append(network)
    return tuple(networks)


def _may_be_fake(network: Network) -> bool:
    return (
        network.subnet_of(FAKE_IPV4)
        if isinstance(network, IPv4Network)
        else network.subnet_of(FAKE_IPV6)
    )


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text.strip())
    except ValueError:
        return None
