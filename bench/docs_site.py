"""A documentation site on loopback that records its requests: `python -m bench.docs_site FOLDER`, or a number of
generated pages. Prints its port. `/__log` has the requests since the last call, `/__change?/PATH` alters a page.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
import zlib
from pathlib import Path

WORDS = [
    f"{a}{b}{c}"
    for a in ("re", "un", "trans", "co")
    for b in ("con", "lay", "form")
    for c in ("ing", "er", "s")
]
KINDS = {".html": "text/html", ".txt": "text/plain", ".inv": "application/octet-stream"}
LINKS = 10
# Addresses that differ in digits only look like a trap.
_LETTERS, _DIGITS = (
    str.maketrans("0123456789", "abcdefghij"),
    str.maketrans("abcdefghij", "0123456789"),
)


class Site:
    """The pages by path; those of a generated site are made on request."""

    def __init__(self, source: str) -> None:
        self._generated = int(source) if source.isdigit() else 0
        self._changed: set[str] = set()
        self._log: list[tuple[float, str, bool]] = []
        self._under_way = self._most_under_way = 0
        root = Path(source)
        files = (
            [] if self._generated else [path for path in root.rglob("*") if path.suffix in KINDS]
        )
        self._pages = {f"/{path.relative_to(root).as_posix()}": path.read_bytes() for path in files}
        self._pages |= {path.removesuffix("index.html"): body for path, body in self._pages.items()}
        if "/" not in self._pages and files:
            folders = [path.name for path in sorted(root.iterdir()) if path.is_dir()]
            linked = [path for path in self._pages if path.endswith(".html")]
            self._pages["/"] = _page(
                "Site", "Documentation.", [*(f"/{name}/index.html" for name in folders), *linked]
            )

    async def serve(self) -> None:
        """Serve until the process ends."""
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await server.serve_forever()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = head.split(" ", 2)[1]
                validator = head.lower().partition("if-none-match: ")[2].partition("\r\n")[0]
                self._under_way += 1
                self._most_under_way = max(self._most_under_way, self._under_way)
                writer.write(self._reply(path, validator))
                await writer.drain()
                self._under_way -= 1
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _reply(self, path: str, validator: str) -> bytes:
        if path == "/__log":
            log, self._log = self._log, []
            return _http(200, json.dumps(log).encode(), "application/json", "")
        if path.startswith("/__change?"):
            self._changed.add(path.partition("?")[2])
            return _http(200, b"", "text/plain", "")
        self._log.append((time.time(), path, bool(validator)))
        body = self._generated_page(path) if self._generated else self._pages.get(path)
        if body is None:
            return _http(404, b"", "text/plain", "")
        if path in self._changed:
            body = body.replace(
                b"</body>", b"<p>A sentence was added to this page, and nothing else.</p></body>"
            )
        etag = f'"{zlib.crc32(body):x}"'
        known = validator == etag
        kind = KINDS.get(Path(path).suffix, "text/html")
        return _http(304 if known else 200, b"" if known else body, kind, etag)

    def _generated_page(self, path: str) -> bytes | None:
        name = (path.strip("/").removesuffix(".html") or "a").translate(_DIGITS)
        if not name.isdigit() or (number := int(name)) >= self._generated:
            return None
        chance = random.Random(number)
        text = "</p><p>".join(
            " ".join(chance.choices(WORDS, k=120)) + f" number {number}." for _ in range(8)
        )
        linked = range(number * LINKS + 1, min(number * LINKS + LINKS + 1, self._generated))
        below = [f"/{str(one).translate(_LETTERS)}.html" for one in linked]
        return _page(f"Page {number}", text, below)


def _page(title: str, text: str, links: list[str]) -> bytes:
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1><p>{text}</p><ul>{items}</ul></main>"
        "</body></html>"
    ).encode()


def _http(status: int, body: bytes, kind: str, etag: str) -> bytes:
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\netag: {etag}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


if __name__ == "__main__":
    asyncio.run(Site(sys.argv[1]).serve())
