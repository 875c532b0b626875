"""A small site on loopback that a test writes, and a library that may crawl it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from websearch_gateway.app.documentation import DocumentReading
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.docs.crawl.runner import CrawlRunner
from websearch_gateway.docs.library import DocsLibrary
from websearch_gateway.docs.models import CrawlOptions, Owner
from websearch_gateway.docs.packages import Registries
from websearch_gateway.docs.store.docs import this_process
from websearch_gateway.docs.store.postgres import PostgresDocs
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.ports import Embedder

EMBEDDER = StaticEmbedder()
FAST = CrawlOptions(delay=0, browser="never")
PROSE = (
    "This page tells at length how the thing works and when to use it, with all that one must know of it. "
    * 6
)


def html(title: str, body: str = "", links: tuple[str, ...] = (), head: str = "") -> str:
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    return (
        f"<html><head><title>{title}</title>{head}</head><body><main><h1 id='top'>{title}</h1><p>{body or PROSE}</p>"
        f"<p>{title} says more. {PROSE}</p></main><nav>{anchors}</nav></body></html>"
    )


@dataclass
class Site:
    """A web server whose replies a test writes: by path, a body, or a status with headers; `raw` are other files."""

    pages: dict[str, str | tuple[int, dict[str, str]]] = field(default_factory=dict)
    raw: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, bool]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/docs/"

    def fetched(self, path: str) -> int:
        return sum(asked == path for asked, _ in self.asked)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        path, headers = lines[0].split()[1], {}
        known = next(
            (line.partition(": ")[2] for line in lines if line.lower().startswith("if-none-match")),
            None,
        )
        self.asked.append((path, known is not None))
        page = self.pages.get(path, (404, {}))
        status, body = (200, page) if isinstance(page, str) else (page[0], "")
        kind = "markdown" if path.endswith(".md") else "html"
        headers = {"content-type": f"text/{kind}"} if isinstance(page, str) else page[1]
        if isinstance(page, str):
            headers["etag"] = f'"{hash(page)}"'
            if known == headers["etag"]:
                status, body = 304, ""
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        data = body.encode()
        if path in self.raw:
            status, head, data = 200, "content-type: application/octet-stream\r\n", self.raw[path]
        writer.write(
            f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\n{head}\r\n".encode() + data
        )
        await writer.drain()


@asynccontextmanager
async def library(
    store: SqliteDocs | PostgresDocs,
    port: int,
    workers: Workers,
    owner: Owner | None = None,
    embedder: Embedder = EMBEDDER,
) -> AsyncIterator[DocsLibrary]:
    """A library over a store, which is closed at the end."""
    read = DocumentReading(workers, None)  # type: ignore[arg-type]
    async with Fetcher(AddressPolicy([f"127.0.0.1:{port}"])) as fetcher:
        runner = CrawlRunner(
            store, fetcher, workers, workers, read, embedder, None, owner=owner or this_process()
        )
        registries = Registries(
            fetcher, workers, f"http://127.0.0.1:{port}/pypi", f"http://127.0.0.1:{port}/npm"
        )
        yield DocsLibrary(store, runner, registries=registries)
        await store.close()
