"""A page in the browser tries every way to reach a server that it must not reach.

The same page in a browser of the same program that is not locked in shows which of these ways are ways at all.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.loopback import serving
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetched, Fetcher
from websearch_gateway.models import Deadline
from websearch_gateway.pages import browser as readers_browser
from websearch_gateway.pages.browser import Browser

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium"), reason="Chromium is missing; `make test` installs it"
)

# Each way has its own path at the forbidden server, which is at INSIDE; a name that resolves to it is at REBOUND.
HEAD = """
<link rel="prefetch" href="INSIDE/prefetch"><link rel="preload" as="fetch" href="INSIDE/preload">
<link rel="modulepreload" href="INSIDE/modulepreload"><link rel="preconnect" href="INSIDE">
<link rel="dns-prefetch" href="REBOUND"><link rel="icon" href="INSIDE/icon"><link rel="manifest" href="INSIDE/manifest">
<link rel="stylesheet" href="INSIDE/stylesheet"><link rel="stylesheet" href="/moved/stylesheet-redirect">
<style>@import "INSIDE/import"; @font-face { font-family: f; src: url(INSIDE/font) } p { font-family: f;
  background: url(INSIDE/background) }</style>
<script type="speculationrules">{"prefetch": [{"urls": ["INSIDE/speculation"], "eagerness": "immediate"}],
  "prerender": [{"urls": ["/prerendered"], "eagerness": "immediate"}]}</script>
<script src="INSIDE/script"></script><script type="module" src="INSIDE/module"></script>
"""
BODY = """
<p>Text.</p><img src="INSIDE/image"><img src="/moved/image-redirect" srcset="INSIDE/srcset 2x">
<picture><source srcset="INSIDE/picture"><img></picture>
<iframe src="INSIDE/frame"></iframe><iframe srcdoc="<img src='INSIDE/srcdoc'>"></iframe>
<iframe src="data:text/html,<img src='INSIDE/dataframe'>"></iframe><iframe name="target"></iframe>
<object data="INSIDE/object"></object><embed src="INSIDE/embed">
<video src="INSIDE/video" poster="INSIDE/poster" preload="auto"></video>
<audio src="INSIDE/audio" preload="auto"></audio>
<svg><image href="INSIDE/svg"/><use href="INSIDE/use#a"/></svg>
<form id="form" method="post" action="INSIDE/form" target="target"><input name="a"></form>
<a id="ping" href="#x" ping="INSIDE/ping">x</a>
"""
SCRIPT = """
const quietly = action => { try { Promise.resolve(action()).catch(() => 0) } catch {} };
const inWorker = code => URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
for (const action of [
  () => fetch("INSIDE/fetch"), () => fetch("INSIDE/no-cors", {mode: "no-cors"}),
  () => fetch("INSIDE/post", {method: "POST", body: "x", mode: "no-cors"}),
  () => fetch("INSIDE/keepalive", {mode: "no-cors", keepalive: true}), () => fetch("/moved/fetch-redirect"),
  () => fetch("REBOUND/rebound"), () => fetch("MAPPED/mapped"), () => fetch("INSIDE/head", {method: "HEAD"}),
  () => { const x = new XMLHttpRequest(); x.open("GET", "INSIDE/xhr"); x.send() },
  () => navigator.sendBeacon("INSIDE/beacon", "x"), () => new EventSource("INSIDE/events"),
  () => new WebSocket("INSIDE/socket".replace("http", "ws")), () => import("INSIDE/dynamic"),
  () => new Image().src = "INSIDE/new-image", () => document.getElementById("form").submit(),
  () => document.getElementById("ping").click(), () => open("INSIDE/window"),
  () => { const w = open(""); w.fetch("INSIDE/popup"); w.location = "INSIDE/popup-location" },
  () => new Worker(inWorker("fetch('INSIDE/worker', {mode: 'no-cors'}); importScripts('INSIDE/worker-import')")),
  () => new Worker(inWorker("new WebSocket('INSIDE/worker-socket'.replace('http', 'ws'))")),
  () => new SharedWorker(inWorker("fetch('INSIDE/shared-worker', {mode: 'no-cors'})")),
  () => navigator.serviceWorker.register("/worker.js"), () => new Worker("INSIDE/worker-file"),
  () => { const p = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:UDP"},
      {urls: "turn:127.0.0.1:TCP?transport=tcp", username: "a", credential: "b"},
      {urls: "turn:127.0.0.1:UDP?transport=udp", username: "a", credential: "b"}]});
    p.createDataChannel("x"); return p.createOffer().then(o => p.setLocalDescription(o)) },
  () => new WebTransport("https://127.0.0.1:UDP/transport").ready,
  () => { const f = document.createElement("iframe"); f.src = "javascript:fetch('INSIDE/javascript')";
    document.body.append(f) },
  () => { const f = document.createElement("iframe"); document.body.append(f);
    f.contentWindow.fetch("INSIDE/blank-frame", {mode: "no-cors"}) },
]) quietly(action);
setTimeout(() => { location.href = "INSIDE/location" }, 800);
"""


@dataclass
class Inside:
    """The server that must not be reached: what it received by TCP (paths, or bytes that are no request) and by UDP."""

    port: int = 0
    udp_port: int = 0
    asked: set[str] = field(default_factory=set)
    connections: int = 0
    datagrams: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        first = (await reader.read(4096)).decode("latin-1")
        path = re.match(r"[A-Z]+ /([\w-]*)", first)
        self.asked.add(path[1] if path else "tcp")
        writer.write(
            b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 0\r\n\r\n"
        )


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, inside: Inside) -> None:
        self.inside = inside

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.inside.datagrams += 1


@pytest.fixture
async def inside() -> AsyncIterator[Inside]:
    inside = Inside()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: Datagrams(inside), local_addr=("127.0.0.1", 0)
    )
    inside.udp_port = transport.get_extra_info("sockname")[1]
    async with serving(inside.serve) as inside.port:
        yield inside
    transport.close()


def prepare(api: Any, inside: Inside) -> str:
    """Put the page on its own server; its address."""
    base = f"http://127.0.0.1:{inside.port}"
    html = f"<!doctype html><head>{HEAD}</head><body>{BODY}<script>{SCRIPT}</script></body>"
    for word, value in {
        "INSIDE": base,
        "REBOUND": f"http://rebound.example:{inside.port}",
        "MAPPED": f"http://[::ffff:127.0.0.1]:{inside.port}",
        "UDP": str(inside.udp_port),
        "TCP": str(inside.port),
    }.items():
        html = html.replace(word, value)
    api.says("/page", html.encode(), content_type="text/html")
    for name in ("stylesheet-redirect", "image-redirect", "fetch-redirect"):
        api.says(f"/moved/{name}", b"", status=302, location=f"{base}/{name}")
    api.says("/prerendered", f"<img src='{base}/prerendered'>".encode(), content_type="text/html")
    api.says(
        "/worker.js", f"fetch('{base}/service-worker')".encode(), content_type="text/javascript"
    )
    return f"{api.url}/page"


async def to_loopback(host: str) -> Sequence[str]:
    return ["127.0.0.1"]


async def rendered(url: str, *allowed: str) -> Fetched:
    async with Fetcher(AddressPolicy(allowed), resolve=to_loopback) as fetcher:
        browser = Browser(fetcher)
        try:
            return await browser.render(
                await fetcher.fetch(url, Deadline.after(120)), Deadline.after(120)
            )
        finally:
            await browser.aclose()


async def test_the_page_reaches_no_forbidden_server_in_any_way(api: Any, inside: Inside) -> None:
    page = await rendered(prepare(api, inside), api.pair)
    assert b"Text." in page.body, "the page itself was read"
    assert (inside.connections, inside.datagrams, inside.asked) == (0, 0, set())


async def test_the_page_can_fetch_from_a_server_that_the_fetcher_may_reach(
    api: Any, inside: Inside
) -> None:
    """Shows that only the address policy blocks the other servers."""
    await rendered(
        prepare(api, inside), api.pair, f"127.0.0.1:{inside.port}", f"rebound.example:{inside.port}"
    )
    assert inside.asked >= {"fetch", "xhr", "stylesheet", "script", "fetch-redirect", "rebound"}
    assert not inside.asked & {
        "image",
        "frame",
        "post",
        "socket",
        "beacon",
        "worker-socket",
        "ping",
        "events",
        "tcp",
    }
    assert inside.datagrams == 0


async def test_the_browser_has_no_network_access_even_if_its_requests_are_not_intercepted(
    api: Any, inside: Inside
) -> None:
    """The second lock alone: only the page itself is handed over, everything else may go where it can."""
    url = prepare(api, inside)
    running = await readers_browser.launch(str(readers_browser.chromium_program(None)))
    try:
        page = await running.browser.new_page()
        await page.route(
            url, lambda route: route.fulfill(content_type="text/html", body=api.replies["/page"][2])
        )
        await page.goto(url, wait_until="commit")
        await page.wait_for_event(
            "framenavigated", lambda frame: frame == page.main_frame and "#" not in frame.url
        )
    finally:
        await running.driver.stop()
    assert (inside.connections, inside.datagrams, inside.asked, api.seen) == (0, 0, set(), [])


async def test_each_way_reaches_the_server_in_a_browser_with_network_access(
    api: Any, inside: Inside
) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as driver:
        rebound = "--host-resolver-rules=MAP rebound.example 127.0.0.1"
        browser = await driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=[rebound]
        )
        page = await browser.new_page()
        await page.goto(prepare(api, inside), wait_until="commit")
        await page.wait_for_url("**/location")
        await page.wait_for_load_state("networkidle")
        await browser.close()
    assert len(inside.asked) > 40
    assert inside.asked >= {
        "rebound",
        "mapped",
        "prefetch",
        "speculation",
        "socket",
        "shared-worker",
        "popup",
        "beacon",
    }
    assert inside.datagrams
