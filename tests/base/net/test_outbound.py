"""Proxies and certificates."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.base.net.conftest import RawServer, Serve, issue, page
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.base.net import outbound as outbound_module
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.client import billed, create_client, send
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.base.net.outbound import Outbound, http_proxy
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchFetchError,
    SearchNotConfiguredError,
    SearchProviderError,
)
from websearch_gateway.models import Bill, ContentRequest, Deadline, HttpRequest, WebSearchRequest
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings

LOGIN = "user:pass%20word"
RUN_PROXY = """
import sys, proxy
with proxy.Proxy(sys.argv[1:]) as running:
    print(running.flags.port, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    """The URL of a proxy process that requires a login."""
    options = [
        "--hostname",
        "127.0.0.1",
        "--port",
        "0",
        "--num-workers",
        "1",
        "--num-acceptors",
        "1",
    ]
    options += [
        "--basic-auth",
        "user:pass word",
        "--plugins",
        "tests.base.net.proxy_names.Names",
        "--log-level",
        "CRITICAL",
    ]
    command = [sys.executable, "-c", RUN_PROXY, *options]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://{LOGIN}@127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()


async def unknown(host: str) -> Sequence[str]:
    raise OSError


def away(server: RawServer, scheme: str = "http") -> tuple[AddressPolicy, str]:
    """A policy that allows a server under a name that only the proxy can resolve, and the address of that name."""
    pair = f"site.example:{server.port}"
    return AddressPolicy([pair]), f"{scheme}://{pair}/"


async def test_a_page_is_fetched_through_the_proxy(serve: Serve, proxy: str) -> None:
    server = await serve(page(b"hello"))
    guard, url = away(server)
    async with Fetcher(guard, resolve=unknown, outbound=Outbound(proxy)) as fetcher:
        assert (await fetcher.fetch(url, Deadline.after(60))).body == b"hello"
    assert b"pass" not in server.requests[0]


async def test_a_page_over_tls_is_fetched_through_a_tunnel_if_its_authority_is_trusted(
    serve: Serve, proxy: str, tmp_path: Path
) -> None:
    bundle, context = issue(tmp_path, "site.example")
    server = await serve(page(b"sealed"), context)
    guard, url = away(server, "https")
    trusting = Outbound(proxy, ca_bundle=bundle)
    async with Fetcher(guard, resolve=unknown, outbound=trusting) as fetcher:
        assert (await fetcher.fetch(url, Deadline.after(60))).body == b"sealed"
    async with Fetcher(guard, resolve=unknown, outbound=Outbound(proxy)) as fetcher:
        with pytest.raises(SearchFetchError, match="no valid certificate"):
            await fetcher.fetch(url, Deadline.after(60))


async def test_an_upstream_is_reached_through_the_proxy_if_its_authority_is_trusted(
    serve: Serve, proxy: str, tmp_path: Path
) -> None:
    bundle, context = issue(tmp_path, "api.example")
    server = await serve(page(b"{}"), context)
    request = HttpRequest("GET", f"https://api.example:{server.port}/")
    async with create_client(outbound=Outbound(proxy, ca_bundle=bundle)) as client:
        assert (await send(client, request, Deadline.after(60), "api")).body == b"{}"


async def test_the_request_that_opens_a_tunnel_is_not_billed(
    serve: Serve, proxy: str, tmp_path: Path
) -> None:
    bundle, context = issue(tmp_path, "api.example")
    server, bill = await serve(page(b"{}"), context), Bill()
    request = HttpRequest("GET", f"https://api.example:{server.port}/")
    async with create_client(outbound=Outbound(proxy, ca_bundle=bundle)) as client:
        with billed(bill, 0.5):
            await send(client, request, Deadline.after(60), "api")
    assert bill.usd == 0.5


async def test_a_name_that_resolves_here_to_a_private_address_is_not_sent_to_the_proxy(
    serve: Serve, proxy: str
) -> None:
    async def private(host: str) -> Sequence[str]:
        return ["10.0.0.1"]

    async with Fetcher(AddressPolicy(), resolve=private, outbound=Outbound(proxy)) as fetcher:
        with pytest.raises(ForbiddenUrlError, match="not public"):
            await fetcher.fetch("http://site.example/", Deadline.after(60))
        with pytest.raises(ForbiddenUrlError, match="not a public address"):
            await fetcher.fetch("http://169.254.169.254/", Deadline.after(60))


async def test_the_error_of_a_wrong_login_does_not_contain_the_login(
    serve: Serve, proxy: str
) -> None:
    server = await serve(page(b"hello"))
    outbound = Outbound(proxy.replace("pass%20word", "hunter2"))
    request = HttpRequest("GET", f"https://api.example:{server.port}/")
    guard, url = away(server, "https")
    async with create_client(outbound=outbound) as client:
        with pytest.raises(SearchProviderError, match="The proxy refuses to connect") as api:
            await send(client, request, Deadline.after(60), "api")
    async with Fetcher(guard, resolve=unknown, outbound=outbound) as fetcher:
        with pytest.raises(SearchFetchError, match="The proxy refuses to connect") as fetched:
            await fetcher.fetch(url, Deadline.after(60))
    assert "hunter2" not in f"{api.value} {fetched.value} {outbound!r}"
    assert server.requests == []


@pytest.mark.parametrize(
    ("setting", "scheme"),
    [
        ("OUTBOUND_PROXY", "https"),
        ("OUTBOUND_PROXY", "http"),
        ("HTTPS_PROXY", "https"),
        ("HTTP_PROXY", "http"),
        ("ALL_PROXY", "https"),
        ("ALL_PROXY", "http"),
    ],
)
@pytest.mark.parametrize(
    "place", ["http://login:hunter2@127.0.0.1:{port}", "http://hunter2@no-proxy.invalid:{port}"]
)
async def test_a_proxy_that_nobody_serves_is_told_by_its_variable(
    setting: str, scheme: str, place: str, unused_tcp_port: int
) -> None:
    url = place.format(port=unused_tcp_port)
    environment = {setting.removesuffix("_PROXY").lower(): url}
    outbound = Outbound(url) if setting == "OUTBOUND_PROXY" else Outbound(environment=environment)
    told = f"The proxy in {setting} cannot be reached. Start it, or correct or unset {setting}."
    async with create_client(outbound=outbound) as client:
        with pytest.raises(SearchProviderError) as api:
            await send(
                client, HttpRequest("GET", f"{scheme}://api.example/"), Deadline.after(60), "api"
            )
    async with Fetcher(AddressPolicy(), resolve=unknown, outbound=outbound) as fetcher:
        with pytest.raises(SearchFetchError) as fetched:
            await fetcher.fetch(f"{scheme}://site.example/", Deadline.after(60))
    assert api.value.message == f"api: {told}"
    assert fetched.value.message == told
    assert "hunter2" not in f"{api.value} {fetched.value}"


def test_connections_to_loopback_and_to_exempt_names_are_direct() -> None:
    fixed = Outbound("http://proxy.example:3128")
    assert fixed.proxy_for("https", "site.example", 443) == "http://proxy.example:3128"
    assert [fixed.proxy_for("http", host, 80) for host in ("127.0.0.1", "::1", "localhost")] == [
        None
    ] * 3
    environment = {"http": "http://a:1", "all": "http://b:2", "no": "exempt.example,.lan"}
    told = Outbound(environment=environment)
    assert told.proxy_for("http", "site.example", 80) == "http://a:1"
    assert told.proxy_for("https", "site.example", 443) == "http://b:2"
    assert told.proxy_for("https", "www.exempt.example", 443) is None
    assert replace(fixed, environment=environment).proxy_for("http", "host.lan", 80) is None


@pytest.mark.parametrize(
    "url", ["socks5://proxy.example", "http://", "http://[", "http://proxy.example:x"]
)
def test_an_address_that_is_not_an_http_proxy_is_refused(url: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match="must be an HTTP proxy's address"):
        http_proxy(url)


@pytest.mark.parametrize(
    "name", ["none.pem", "empty.pem", "x" * 5_000, "a\0b", "\ud800", "\x1b[31m"]
)
def test_a_bundle_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty.pem").write_text("no certificate")
    with pytest.raises(SearchNotConfiguredError, match="CA_BUNDLE") as refused:
        create_client(outbound=Outbound(ca_bundle=tmp_path / name))
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("trust_env", [False, True])
async def test_a_whole_search_goes_through_the_proxy(
    sandbox: Sandbox, proxy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trust_env: bool
) -> None:
    away = sandbox.url.replace("127.0.0.1", "sandbox.example")
    monkeypatch.setenv("HTTP_PROXY", proxy if trust_env else "http://unused.example:1")
    settings = Settings(
        outbound_proxy=None if trust_env else proxy,
        trust_env=trust_env,
        searxng_base_url=f"{away}/searxng",
        search_providers=("searxng",),
        fetch_allow_private_hosts=(away.removeprefix("http://"),),
        search_deadline_seconds=60.0,
        data_dir=tmp_path,
        state_url="memory://",
    )
    async with open_gateway(settings) as gateway:
        found = await gateway.web_search(
            WebSearchRequest("descale an espresso machine", 1, read_pages=False)
        )
        page = await gateway.reading.content(ContentRequest(found.results[0].link))
    assert found.results[0].link.startswith(away)
    assert "vinegar" in page.page_content


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_certificates_that_the_environment_names_and_that_are_not_there_are_told_by_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "certificates.pem"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    outbound_module._ssl_context.cache_clear()
    with pytest.raises(
        SearchNotConfiguredError, match=r"SSL_CERT_FILE .* Unset it, or .* CA_BUNDLE"
    ):
        create_client()
    outbound_module._ssl_context.cache_clear()


def test_a_proxy_of_the_environment_that_is_none_is_told_by_its_variables() -> None:
    for url in ("socks5://127.0.0.1:1", "http://host:port", "::::"):
        with pytest.raises(SearchNotConfiguredError, match="HTTPS_PROXY"):
            http_proxy(url)
