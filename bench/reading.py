"""Reading a page of a hundred kilobytes: stored, and for the first time; and the speed of embedding its passages."""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.cached_call import _timed as timed_call
from bench.table import Row, milliseconds
from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.evidence.chunks import chunk
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import Deadline, PassagesRequest
from websearch_gateway.pages.formats.html import HtmlReader
from websearch_gateway.pages.formats.kinds import warm_up
from websearch_gateway.settings.loading import load_settings

CALLS = 100
FIRST_READS = 20
SECTIONS = 60
WORDS = (
    *(
        "tide",
        "moon",
        "harbour",
        "gauge",
        "coast",
        "wind",
        "level",
        "reef",
        "current",
        "keeper",
        "lamp",
        "signal",
    ),
    *(
        "chart",
        "depth",
        "anchor",
        "storm",
        "vessel",
        "channel",
        "measure",
        "range",
        "season",
        "record",
        "bottom",
    ),
    *("survey", "instrument", "shallow", "passage", "island"),
)


def measure() -> list[Row]:
    """Wall-clock times of one caller after another."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    async with _site() as site:
        with tempfile.TemporaryDirectory() as folder:
            settings = load_settings(
                data_dir=Path(folder),
                fetch_allow_private_hosts=(site,),
                log_level="ERROR",
                read_rate_limit="none",
            )
            async with open_gateway(settings) as gateway:
                await gateway.warm_up_reading()
                known = await _known(gateway, f"http://{site}/0")
                firsts = [
                    await _timed(gateway, f"http://{site}/{number}")
                    for number in range(1, FIRST_READS + 1)
                ]
        plain = await _plain(site)
        over_stdio = await _over_stdio(site)
    ratio = statistics.median(firsts) / statistics.median(plain)
    return [
        Row("known page, one query", milliseconds(known), "in process", "", "< 30 ms"),
        Row("known page, one query", milliseconds(over_stdio), "MCP over stdio", "", "< 30 ms"),
        Row(
            "new page, one query",
            milliseconds(firsts),
            f"fetch + extract {milliseconds(plain)}",
            f"{ratio:.2f}",
            "",
        ),
        _embedding(),
    ]


async def _known(gateway: Gateway, url: str) -> list[float]:
    return [await _timed(gateway, url) for _ in range(CALLS + 5)][5:]


async def _timed(gateway: Gateway, url: str) -> float:
    started = time.perf_counter()
    await gateway.reading.passages(PassagesRequest(url, (_question(),)))
    return time.perf_counter() - started


async def _plain(site: str) -> list[float]:
    """The reader alone, without cache and passages."""
    times = []
    async with Fetcher(AddressPolicy([site])) as fetcher, Workers(warm_up=warm_up) as workers:
        reader = HtmlReader(fetcher, workers)
        for number in range(FIRST_READS + 2):
            started = time.perf_counter()
            await reader.read(f"http://{site}/{number}", Deadline.after(20))
            times.append(time.perf_counter() - started)
    return times[2:]


async def _over_stdio(site: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w") as quiet:
        environment = {
            **os.environ,
            "DATA_DIR": folder,
            "FETCH_ALLOW_PRIVATE_HOSTS": site,
            "TOOLSETS": "read",
        }
        environment["READ_RATE_LIMIT"] = "none"
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "websearch_gateway", "serve"], env=environment
        )
        async with Client(stdio_client(server, quiet)) as client:
            calls = [
                await timed_call(
                    client, "read_from_page", {"url": f"http://{site}/0", "query": _question()}
                )
                for _ in range(CALLS + 5)
            ]
    return calls[5:]


def _embedding() -> Row:
    """CPU time, since other work may run on the machine."""
    texts = [passage.text for passage in chunk(_text(0))]
    embedder = StaticEmbedder()
    embedder.encode(texts)
    started = time.process_time()
    for _ in range(10):
        embedder.encode(texts)
    rate = 10 * len(texts) / (time.process_time() - started)
    size = statistics.fmean(map(len, texts))
    return Row("passages embedded", f"{rate:,.0f} /CPU s", f"of {size:,.0f} characters", "", "")


def _question() -> str:
    """A new question each time, so that only the page is stored."""
    return " ".join(random.choices(WORDS, k=6))


def _text(number: int) -> str:
    """About a hundred kilobytes of Markdown."""
    chance = random.Random(number)

    def sentence() -> str:
        return f"{' '.join(chance.choices(WORDS, k=14)).capitalize()} {chance.randint(1, 9999)}."

    return "\n\n".join(
        f"## Section {section}\n\n"
        + "\n\n".join(" ".join(sentence() for _ in range(4)) for _ in range(4))
        for section in range(SECTIONS)
    )


def _html(number: int) -> bytes:
    blocks = _text(number).split("\n\n")
    body = "".join(f"<h2>{b[3:]}</h2>" if b.startswith("## ") else f"<p>{b}</p>" for b in blocks)
    page = f"<!doctype html><title>Page {number}</title><body><main><article><h1>Page {number}</h1>{body}</article></main>"
    return page.encode()


@asynccontextmanager
async def _site() -> AsyncIterator[str]:
    """`host:port` of a site with one page per number."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        number = head.split(" ")[1].strip("/")
        body = _html(int(number)) if number.isdigit() else b""
        status = "200 OK" if body else "404 Not Found"
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
