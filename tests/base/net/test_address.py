"""The address policy decides which URLs may be fetched, so each of its rules is tested from both sides."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.net.address import AddressPolicy, normal_host
from websearch_gateway.errors import ForbiddenUrlError, SearchNotConfiguredError

PUBLIC = AddressPolicy()


def refusal(url: str, policy: AddressPolicy = PUBLIC) -> str:
    with pytest.raises(ForbiddenUrlError) as caught:
        policy.check_url(url)
    return caught.value.message


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://example.com", "http://example.com/"),
        ("  HTTPS://Example.COM./a?b=c#d\n", "https://example.com/a?b=c"),
        ("http://example.com:80/", "http://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("http://bücher.example/ü x?q=ä b", "http://xn--bcher-kva.example/%C3%BC%20x?q=%C3%A4%20b"),
        ("http://example.com/%20%zz/[x]|y", "http://example.com/%20%zz/[x]|y"),
        ("http://my_site.example.com/", "http://my_site.example.com/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://8.8.8.8./", "http://8.8.8.8/"),
        ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
        ("http://172.32.0.1/", "http://172.32.0.1/"),
        ("http://100.128.0.1/", "http://100.128.0.1/"),
        ("http://localhost.example.com/", "http://localhost.example.com/"),
    ],
)
def test_a_public_url_is_normalised(url: str, normal: str) -> None:
    target = PUBLIC.check_url(url)
    assert target.url == normal
    assert PUBLIC.check_url(target.url) == target


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("ftp://example.com/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("example.com", "only http and https"),
        ("", "only http and https"),
        ("http://", "not a valid name"),
        ("http://user:secret@example.com/", "user name or password"),
        ("http://:@example.com/", "user name or password"),
        ("http://127.0.0.1\\@example.com/", "user name or password|backslash"),
        ("http://127.0.0.1\\.example.com/", "backslash"),
        ("http://127%2e0.0.1/", "percent"),
        ("http://[fe80::1%25eth0]/", "percent"),
        ("http://exa\tmple.com/", "control characters"),
        ("http://example.com/\x00", "control characters"),
        ("http://example.com:99999/", "malformed"),
        ("http://example.com:８０/", "malformed"),
        ("http://[::1/", "malformed"),
        ("http://a..example.com/", "not a valid name"),
        ("http://-a.example.com/", "not a valid name"),
        ("http://exa mple.com/", "not a valid name"),
        ("http://" + "a" * 64 + ".com/", "not a valid name"),
        ("http://" + "abc." * 64 + "com/", "not a valid name"),
        ("http://☃\u2028.com/", "not a valid name"),
        ("http://example.com/" + "a" * 8000, "longer than"),
        ("http://example.com:8080/", "port 8080"),
        ("http://example.com:0/", "port 0"),
        ("http://2130706433/", "four decimal numbers"),
        ("http://0x7f.1/", "four decimal numbers"),
        ("http://0177.0.0.1/", "four decimal numbers"),
        ("http://127.1/", "four decimal numbers"),
        ("http://1.2.3.4.5/", "four decimal numbers"),
        ("http://example.0x/", "four decimal numbers"),
        ("http://①②⑦.⓪.⓪.①/", "not a public address"),
        ("http://127。0。0。1/", "not a public address"),
        ("http://ｌｏｃａｌｈｏｓｔ/", "local name"),
        ("http://LOCALHOST./", "local name"),
        ("http://a.localhost/", "local name"),
        ("http://intranet/", "local name"),
        ("http://printer.local/", "local name"),
        ("http://metadata.google.internal/computeMetadata/v1/", "local name"),
        ("http://metadata.goog/", "local name"),
    ],
)
def test_the_error_names_the_broken_rule(url: str, rule: str) -> None:
    assert any(part in refusal(url) for part in rule.split("|"))


@pytest.mark.parametrize(
    "address",
    [
        *(
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
        ),
        *(
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
        ),
        *(
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.88.99.1",
        ),
        *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1"),
        *(
            "2002:7f00:1::",
            "2001:0:4136:e378:8000:63bf:80ff:fffe",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
        ),
        *("ff02::1", "2001:db8::1", "3fff::1", "5f00::1", "100::1", "2001:20::1", "4000::1"),
    ],
)
def test_an_address_that_is_not_public_is_refused_as_a_host_and_as_a_resolved_address(
    address: str,
) -> None:
    host = f"[{address}]" if ":" in address else address
    assert "not a public address" in refusal(f"http://{host}/")
    with pytest.raises(ForbiddenUrlError) as caught:
        PUBLIC.check_address("example.com", 80, address)
    assert address not in caught.value.message, (
        "an answer may map an internal network, so it is not told"
    )


def test_a_resolved_link_local_address_with_a_zone_is_refused() -> None:
    with pytest.raises(ForbiddenUrlError):
        PUBLIC.check_address("example.com", 80, "fe80::1%eth0")


def test_a_refusal_contains_neither_the_query_nor_credentials() -> None:
    message = refusal("http://user:hunter2@10.0.0.1/?token=hunter2")
    assert "hunter2" not in message


def test_only_an_allowed_pair_may_be_private() -> None:
    policy = AddressPolicy(["127.0.0.1:8080", "[::1]:9", "Intranet.Corp:443"])
    assert policy.check_url("http://127.0.0.1:8080/x").url == "http://127.0.0.1:8080/x"
    assert policy.check_url("http://[::1]:9/").netloc == "[::1]:9"
    assert policy.check_url("https://intranet.corp/").port == 443
    policy.check_address("intranet.corp", 443, "10.0.0.5")
    for url in (
        "http://127.0.0.1:8081/",
        "http://127.0.0.1/",
        "http://127.0.0.2:8080/",
        "http://localhost:8080/",
    ):
        refusal(url, policy)
    with pytest.raises(ForbiddenUrlError):
        policy.check_address("intranet.corp", 80, "10.0.0.5")


@pytest.mark.parametrize(
    "pair", ["localhost", "localhost:", ":80", "localhost:http", "a b:80", "127.1:80", ""]
)
def test_a_pair_that_is_not_host_and_port_is_a_configuration_error(pair: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match="FETCH_ALLOW_PRIVATE_HOSTS"):
        AddressPolicy([pair])


@given(st.ip_addresses(v=4))
def test_a_forbidden_ipv4_address_is_refused_in_every_ipv6_form(
    address: ipaddress.IPv4Address,
) -> None:
    """Our own rule: every IPv6 address that embeds an IPv4 address is refused, public or not."""
    packed = int(address)
    teredo = (0x2001 << 112) | (packed ^ 0xFFFFFFFF)
    for number in (
        packed,
        (0xFFFF << 32) | packed,
        (0x64FF9B << 96) | packed,
        (0x2002 << 112) | (packed << 80),
        teredo,
    ):
        refusal(f"http://[{ipaddress.IPv6Address(number)}]/")


@given(st.text(max_size=60))
def test_any_text_is_refused_or_normalised_to_a_stable_url(text: str) -> None:
    try:
        target = PUBLIC.check_url("http://" + text)
    except ForbiddenUrlError:
        return
    assert target.url.isascii()
    assert PUBLIC.check_url(target.url) == target
    assert normal_host(target.host) == target.host


@pytest.mark.parametrize(
    ("url", "is_open"),
    [
        ("https://example.org/", True),
        ("https://www.example.org./a", True),
        ("https://EXAMPLE.org/", True),
        ("https://ads.example.org/", False),
        ("https://x.ads.example.org/", False),
        ("https://bücher.example/", True),
        ("https://xn--bcher-kva.example/", True),
        ("https://notexample.org/", False),
        ("https://example.org.evil.com/", False),
        ("http://127.0.0.1:8080/", False),
    ],
)
def test_the_operators_domain_lists_apply_to_reading_and_to_showing(
    url: str, is_open: bool
) -> None:
    policy = AddressPolicy(
        ["127.0.0.1:8080"],
        allowed=("example.org", "xn--bcher-kva.example"),
        blocked=("ads.example.org",),
    )
    assert policy.is_public_link(url) is is_open
    if is_open:
        policy.check_url(url)
    else:
        with pytest.raises(ForbiddenUrlError, match="the operator of this gateway does not allow"):
            policy.check_url(url)
