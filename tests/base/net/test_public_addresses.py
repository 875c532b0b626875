"""An IPv6 address that a name resolves to is judged by the IPv4 address inside it; in a URL it is never public."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.public_addresses import (
    fake_networks,
    is_public,
    leads_to_public,
    nat64_prefixes,
)
from websearch_gateway.errors import ForbiddenUrlError, SearchNotConfiguredError

WEB = IPv4Address("93.184.216.34")
OWN_PREFIX = "2a00:1098:2c::/96"


def _with_high(bits: int, prefix: int) -> Callable[[IPv4Address], IPv6Address]:
    return lambda inside: IPv6Address(prefix << 112 | int(inside) << bits)


def _low(prefix: str) -> Callable[[IPv4Address], IPv6Address]:
    return lambda inside: IPv6Address(int(IPv6Address(prefix)) | int(inside))


def _teredo(inside: IPv4Address) -> IPv6Address:
    return IPv6Address(0x2001_0000 << 96 | int(WEB) << 64 | int(inside) ^ 0xFFFF_FFFF)


FORMS = {
    "mapped": _low("::ffff:0:0"),
    "translated": _low("::ffff:0:0:0"),
    "NAT64": _low("64:ff9b::"),
    "local NAT64": _low("64:ff9b:1:2:3::"),
    "NAT64 of the operator": _low("2a00:1098:2c::"),
    "6to4": _with_high(80, 0x2002),
    "Teredo": _teredo,
    "ISATAP": _low("2600:1f18:1::5efe:0:0"),
    "ISATAP of a public address": _low("2600:1f18:1:0:200:5efe:0:0"),
}
POLICY = AddressPolicy(nat64=nat64_prefixes([OWN_PREFIX]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "inside",
    [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "192.168.1.1",
        "0.0.0.0",
        "198.18.0.5",
    ],
)
def test_a_private_ipv4_address_is_never_reached_through_an_ipv6_one(
    form: str, inside: str
) -> None:
    with pytest.raises(ForbiddenUrlError):
        POLICY.check_address("example.com", 443, str(FORMS[form](IPv4Address(inside))))


@pytest.mark.parametrize("form", FORMS)
def test_a_name_may_resolve_to_an_ipv6_address_that_carries_a_public_ipv4_one(form: str) -> None:
    POLICY.check_address("example.com", 443, str(FORMS[form](WEB)))


@pytest.mark.parametrize("form", [form for form in FORMS if form != "NAT64 of the operator"])
def test_in_a_url_such_an_address_is_refused_whatever_is_inside(form: str) -> None:
    with pytest.raises(ForbiddenUrlError):
        POLICY.check_url(f"http://[{FORMS[form](WEB)}]/")


@given(st.ip_addresses(v=4))
def test_each_form_leads_where_the_ipv4_address_inside_leads(inside: IPv4Address) -> None:
    prefixes = nat64_prefixes([OWN_PREFIX])
    for form in FORMS.values():
        assert leads_to_public(form(inside), prefixes) is is_public(inside)


@pytest.mark.parametrize(
    ("prefix", "address"),
    [
        ("2a00:1098::/32", "2a00:1098:5db8:d822::"),
        ("2a00:1098:100::/40", "2a00:1098:15d:b8d8:22::"),
        ("2a00:1098:122::/48", "2a00:1098:122:5db8:d8:2200::"),
        ("2a00:1098:122:300::/56", "2a00:1098:122:35d:b8:d822::"),
        ("2a00:1098:122:344::/64", "2a00:1098:122:344:5d:b8d8:2200::"),
        ("2a00:1098:122:344::/96", "2a00:1098:122:344::5db8:d822"),
    ],
)
def test_each_length_of_a_prefix_has_its_place_for_the_ipv4_address(
    prefix: str, address: str
) -> None:
    """The examples of RFC 6052, section 2.4, with 93.184.216.34 inside; and with 10.184.216.34 in its place."""
    policy = AddressPolicy(nat64=nat64_prefixes([prefix]))
    policy.check_address("example.com", 443, address)
    number = int(IPv6Address(address))
    length = ipaddress.ip_network(prefix).prefixlen
    private = number ^ (93 ^ 10) << (120 - (length if length < 64 else 72 if length == 64 else 96))
    with pytest.raises(ForbiddenUrlError):
        policy.check_address("example.com", 443, str(IPv6Address(private)))


def test_an_address_of_a_local_proxy_is_reached_by_name_if_the_operator_says_so() -> None:
    policy = AddressPolicy(fake=fake_networks(["198.18.0.0/16", "fc00::/18"]))
    policy.check_address("example.com", 443, "198.18.0.5")
    policy.check_address("example.com", 443, "fc00::5")
    for address in ("198.19.0.5", "10.0.0.1", "127.0.0.1", "fd00::1"):
        with pytest.raises(ForbiddenUrlError):
            policy.check_address("example.com", 443, address)
    for url in ("http://198.18.0.5/", "http://[fc00::5]/"):
        with pytest.raises(ForbiddenUrlError):
            policy.check_url(url)


def test_a_refusal_of_such_an_address_names_the_setting() -> None:
    with pytest.raises(ForbiddenUrlError, match="FAKE_IP_NETWORKS"):
        AddressPolicy().check_address("example.com", 443, "198.18.0.5")


@pytest.mark.parametrize(
    "network", ["10.0.0.0/8", "198.0.0.0/8", "fc00::/7", "198.18.0.5/15", "nonsense", ""]
)
def test_no_other_network_may_be_fake(network: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match="FAKE_IP_NETWORKS"):
        fake_networks([network])


@pytest.mark.parametrize("prefix", ["64:ff9b::/95", "10.0.0.0/8", "2a00:1098:2c::1/96", "nonsense"])
def test_no_other_prefix_is_one_of_a_translator(prefix: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match="NAT64_PREFIXES"):
        nat64_prefixes([prefix])
