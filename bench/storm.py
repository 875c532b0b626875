"""Hostile pages through a server over stdio: their effect on other calls, memory and CPU time."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.table import Row

TICK = os.sysconf("SC_CLK_TCK")
PING_SECONDS = 0.05
REST_SECONDS = 3


def _pdf_bomb() -> bytes:
    """A PDF of ten kilobytes that unpacks to a page of ten megabytes of letters."""
    stream = zlib.compress(b"BT /F1 1 Tf " + b"(aaaaaaaa) Tj " * 700_000 + b"ET", 9)
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    body = b"%PDF-1.4\n" + b"".join(
        b"%d 0 obj%s endobj\n" % (n, one) for n, one in enumerate(objects, 1)
    )
    return body + b"trailer<</Root 1 0 R>>"


def _html(text: str) -> bytes:
    return f"<title>t</title><body><article><p>{text}</p></article>".encode()


PAGES: dict[str, tuple[str, bytes]] = {
    "/images.txt": ("text/plain", b"![" * 1_000_000),
    "/images.html": ("text/html", _html("![" * 1_000_000)),
    "/escapes.md": ("text/markdown", b"\\[" * 1_000_000),
    "/cells.csv": ("text/csv", b"a," * 1_500_000),
    "/big.json": ("application/json", b"[" + b"1," * 2_000_000 + b"1]"),
    "/bomb1.pdf": ("application/pdf", _pdf_bomb()),
    "/bomb2.pdf": ("application/pdf", _pdf_bomb()),
    "/headings.md": ("text/markdown", b"# a\n" * 500_000),
    "/ticks.md": ("text/markdown", b"`" * 2_000_000),
    **{
        f"/tables{n}.html": ("text/html", _html("<table><tr><td>" * 20_000 + "x" + "y" * n))
        for n in range(12)
    },
}
TINY = ("text/html", _html("A tiny page of a few words about tides."))


def measure() -> list[Row]:
    """Wall-clock times during the storm, resident memory, and CPU time after it."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    async with _site() as site:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w") as quiet:
            environment = {
                **os.environ,
                "DATA_DIR": folder,
                "FETCH_ALLOW_PRIVATE_HOSTS": site,
                "TOOLSETS": "read",
                "READ_RATE_LIMIT": "none",
                "LOG_LEVEL": "ERROR",
            }
            server = StdioServerParameters(
                command=sys.executable, args=["-m", "websearch_gateway", "serve"], env=environment
            )
            # Later protocols have no ping.
            async with Client(stdio_client(server, quiet), mode="legacy") as client:
                return await _storm(client, site)


async def _storm(client: Client, site: str) -> list[Row]:
    await client.list_tools()
    await client.call_tool("read_from_page", {"url": f"http://{site}/warm", "query": "tides"})
    main = _server()
    warm = _resident(main)
    calm = [await _ping(client) for _ in range(20)]
    pings: list[float] = []
    peaks = [0.0, 0.0]
    watching = asyncio.create_task(_watch(client, main, pings, peaks))
    began = time.perf_counter()
    outcomes = await asyncio.gather(*(_read(client, f"http://{site}{path}") for path in PAGES))
    storm = time.perf_counter() - began
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    await asyncio.sleep(REST_SECONDS)
    before = _cpu(main)
    await asyncio.sleep(REST_SECONDS)
    after = (_cpu(main) - before) / REST_SECONDS
    pings.sort()
    answered = sum(outcomes)
    return [
        Row("storm: pages", f"{answered} read", f"{len(outcomes)} asked for", "", f"{storm:.0f} s"),
        Row(
            "storm: ping p99",
            f"{1000 * pings[len(pings) * 99 // 100]:.0f} ms",
            f"calm {1000 * max(calm):.0f} ms",
            "",
            "<= 250 ms",
        ),
        Row("storm: slowest ping", f"{1000 * pings[-1]:.0f} ms", f"{len(pings)} pings", "", ""),
        Row(
            "storm: main process",
            f"+{peaks[0] - warm:.0f} MB",
            f"warm {warm:.0f} MB",
            "",
            "<= +60 MB",
        ),
        Row("storm: all processes", f"{peaks[1]:.0f} MB at most", "", "", ""),
        Row(
            "after it: all processes",
            f"{_resident(main) + sum(map(_resident, _children(main))):.0f} MB",
            "",
            "",
            "",
        ),
        Row("after it: processor", f"{after:.1%}", f"{REST_SECONDS} s", "", "< 5%"),
    ]


async def _read(client: Client, url: str) -> bool:
    result = await client.call_tool(
        "read_from_page", {"url": url, "query": "tides", "maxResults": 1}
    )
    return not result.is_error


async def _ping(client: Client) -> float:
    began = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):  # it is deprecated
        await client.send_ping()
    return time.perf_counter() - began


async def _watch(client: Client, main: int, pings: list[float], peaks: list[float]) -> None:
    while True:
        pings.append(await _ping(client))
        own = _resident(main)
        peaks[0] = max(peaks[0], own)
        peaks[1] = max(peaks[1], own + sum(map(_resident, _children(main))))
        await asyncio.sleep(PING_SECONDS)


def _server() -> int:
    return next(
        pid
        for pid in _children(os.getpid())
        if b"websearch_gateway" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


def _children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError, IndexError):
            if folder.name.isdigit() and int(_stat(int(folder.name))[1]) == parent:
                found.append(int(folder.name))
    return found


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _resident(pid: int) -> float:
    """Megabytes."""
    try:
        return (
            int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            * os.sysconf("SC_PAGE_SIZE")
            / 1e6
        )
    except OSError:
        return 0.0


def _cpu(main: int) -> float:
    """Seconds of processor time of the server and its processes."""
    total = 0.0
    for pid in (main, *_children(main)):
        with suppress(OSError):
            total += sum(map(int, _stat(pid)[11:13])) / TICK
    return total


@asynccontextmanager
async def _site() -> AsyncIterator[str]:
    """`host:port` of a site with the hostile pages, and a tiny one at any other path."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).decode().split(" ")[1]
        kind, body = PAGES.get(path, TINY)
        writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
