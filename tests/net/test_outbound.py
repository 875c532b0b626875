"""Connections through a real proxy, to names that only the proxy can resolve."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from websearch_gateway.app import open_gateway
from websearch_gateway.errors import ForbiddenUrlError, SearchFetchError, SearchNotConfiguredError, SearchProviderError
from websearch_gateway.models import ContentRequest, Deadline, HttpRequest, WebSearchRequest
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.client import create_client, send
from websearch_gateway.net.fetch import Fetcher
from websearch_gateway.net.outbound import Outbound, http_proxy
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings import Settings

from .conftest import RawServer, Serve, issue, page

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
    options = ["--hostname", "127.0.0.1", "--port", "0", "--num-workers", "1", "--num-acceptors", "1"]
    options += ["--basic-auth", "user:pass word", "--plugins", "tests.net.proxy_names.Names", "--log-level", "CRITICAL"]
    command = [sys.executable, "-c", RUN_PROXY, *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
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


async def test_the_error_of_a_wrong_login_does_not_contain_the_login(serve: Serve, proxy: str) -> None:
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


def test_connections_to_loopback_and_to_exempt_names_are_direct() -> None:
    fixed = Outbound("http://proxy.example:3128")
    assert fixed.proxy_for("https", "site.example", 443) == "http://proxy.example:3128"
    assert [fixed.proxy_for("http", host, 80) for host in ("127.0.0.1", "::1", "localhost")] == [None] * 3
    environment = {"http": "http://a:1", "all": "http://b:2", "no": "exempt.example,.lan"}
    told = Outbound(environment=environment)
    assert told.proxy_for("http", "site.example", 80) == "http://a:1"
    assert told.proxy_for("https", "site.example", 443) == "http://b:2"
    assert told.proxy_for("https", "www.exempt.example", 443) is None
    assert replace(fixed, environment=environment).proxy_for("http", "host.lan", 80) is None


@pytest.mark.parametrize("url", ["socks5://proxy.example", "http://", "http://[", "http://proxy.example:x"])
def test_an_address_that_is_not_an_http_proxy_is_refused(url: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match="The proxy must be an address"):
        http_proxy(url)


@pytest.mark.parametrize("name", ["none.pem", "empty.pem", "x" * 5_000, "a\0b", "\ud800", "\x1b[31m"])
def test_a_bundle_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty.pem").write_text("no certificate")
    with pytest.raises(SearchNotConfiguredError, match="CA_BUNDLE") as refused:
        create_client(outbound=Outbound(ca_bundle=tmp_path / name))
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 200


async def test_a_whole_search_goes_through_the_proxy(
    sandbox: Sandbox, proxy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    away = sandbox.url.replace("127.0.0.1", "sandbox.example")
    monkeypatch.setenv("HTTP_PROXY", proxy)
    settings = Settings(
        trust_env=True,
        searxng_base_url=f"{away}/searxng",
        search_providers=("searxng",),
        fetch_allow_private_hosts=(away.removeprefix("http://"),),
        search_deadline_seconds=60.0,
        data_dir=tmp_path,
        state_url="memory://",
    )
    async with open_gateway(settings) as gateway:
        found = await gateway.web_search(WebSearchRequest("descale an espresso machine", 1, read_pages=False))
        page = await gateway.reading.content(ContentRequest(found.results[0].link))
    assert found.results[0].link.startswith(away)
    assert "vinegar" in page.page_content
