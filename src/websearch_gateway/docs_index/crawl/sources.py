"""The sources of documents: a web server, or a folder, into which an archive is unpacked too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import quote, unquote, urlsplit

from websearch_gateway.docs_index.crawl import seeds
from websearch_gateway.docs_index.crawl.politeness import HostPace, RobotsTxt
from websearch_gateway.docs_index.crawl.scope import Scope, canonical, without_copies
from websearch_gateway.docs_index.models import UrlTask
from websearch_gateway.docs_index.ports import Fetch, Run
from websearch_gateway.errors import SearchError, SearchFetchError
from websearch_gateway.models import Deadline
from websearch_gateway.net.fetch import Fetched

T = TypeVar("T")

PAGE_SECONDS = 30.0
MAX_PAGE_BYTES = 5_000_000
MAX_SITEMAPS = 50
NOT_MODIFIED = 304
ACCEPT = "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
_SEARCH_INDEXES = ("searchindex.js", "search/search_index.json")
SUFFIXES: Mapping[str, str] = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".rst": "text/plain",
    ".txt": "text/plain",
}
"""The file types that are documents, with their media types."""

Defined = dict[str, list[tuple[str, str]]]
"""The definitions of an inventory: names and anchors by the address of their page."""

_log = logging.getLogger(__name__)


class Source(Protocol):
    """A source of documents for a crawl."""

    @property
    def waiting(self) -> str:
        """The reason why it waits, for people; "" if it does not wait."""
        ...

    async def seeds(self) -> tuple[list[str], Defined]:
        """The addresses to start with, and an inventory's definitions for them.

        Raises:
            SearchError: the source cannot be used at all.
        """
        ...

    async def inventory(self, folder: str) -> Defined:
        """The definitions in the inventory of a folder of the site; empty if there is none."""
        ...

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        """Whether each address may be fetched."""
        ...

    async def fetch(self, task: UrlTask) -> Fetched:
        """The document; with status 304 and no body if it has not changed since the task's last fetch.

        Raises:
            SearchFetchError, SearchTimeoutError: no document; `details` holds the `status` or the `location`.
        """
        ...


class WebSource:
    """A web server, with polite requests.

    Args:
        headers: sent with every request: all addresses in scope are of one origin.
    """

    def __init__(
        self,
        start: str,
        scope: Scope,
        fetcher: Fetch,
        workers: Run,
        pace: HostPace,
        robots: RobotsTxt,
        headers: Mapping[str, str],
    ) -> None:
        self._start = start
        self._scope = scope
        self._fetcher = fetcher
        self._workers = workers
        self._pace = pace
        self._robots = robots
        self._headers = headers

    @property
    def waiting(self) -> str:
        return self._pace.waiting

    async def seeds(self) -> tuple[list[str], Defined]:
        """The start URL and the pages in llms.txt, objects.inv and the sitemaps, or else in a search index."""
        await self._robots.open()
        found = [canonical(self._start)]
        root = f"{self._scope.origin}{self._scope.folder}"
        if listed := await self._published(f"{root}llms.txt"):
            text = listed.body.decode("utf-8", "replace")
            found += await self._parse(seeds.llms_urls, text, root)
        defined = await self.inventory(root)
        found += defined
        found += await self._sitemaps(seeds.robots_sitemaps(self._robots.text), root)
        if len(found) == 1:
            found += await self._search_index(root)
        inside = dict.fromkeys(url for seed in found if (url := self._scope.link(root, seed)))
        return without_copies({canonical(self._start): None, **inside}), defined

    async def inventory(self, folder: str) -> Defined:
        listed = await self._published(f"{folder}objects.inv")
        return _by_page(await self._parse(seeds.inventory, listed.body, folder)) if listed else {}

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        return await self._robots.allowed(urls)

    async def fetch(self, task: UrlTask) -> Fetched:
        conditions = {"if-none-match": task.etag, "if-modified-since": task.last_modified}
        known = {name: value for name, value in conditions.items() if value}
        return await self._get(task.url, known)

    async def _get(self, url: str, headers: Mapping[str, str], max_bytes: int = MAX_PAGE_BYTES) -> Fetched:
        try:
            async with self._pace.turn() as turn:
                fetched = await self._fetcher.fetch(
                    url,
                    Deadline.after(PAGE_SECONDS),
                    accept=ACCEPT,
                    headers={**self._headers, **headers},
                    max_bytes=max_bytes,
                    follow=False,
                    sending=turn,
                )
        except SearchFetchError as error:
            if (status := error.details.get("status")) in (429, 503):
                await self._pace.pushed_back(f"{status}", error.retry_after)
            raise
        self._pace.succeeded()
        return fetched

    async def _search_index(self, root: str) -> list[str]:
        for name in _SEARCH_INDEXES:
            if listed := await self._published(root + name):
                return await self._parse(seeds.search_index_urls, listed.body, root)
        return []

    async def _sitemaps(self, named: list[str], root: str) -> list[str]:
        places = dict.fromkeys([*named, f"{self._scope.origin}/sitemap.xml", f"{root}sitemap.xml"])
        waiting, fetched = list(places), 0
        pages: list[str] = []
        while waiting and fetched < MAX_SITEMAPS and len(pages) < seeds.MOST_URLS:
            place = waiting.pop(0)
            fetched += 1
            if _origin(place) == self._scope.origin and (listed := await self._published(place)):
                for url, is_sitemap in await self._parse(seeds.sitemap_urls, listed.body):
                    (waiting if is_sitemap else pages).append(url)
        return pages

    async def _published(self, url: str) -> Fetched | None:
        """A file that a site may publish; None if there is none, or it cannot be fetched."""
        try:
            if not all(await self._robots.allowed([url])):
                return None
            fetched = await self._get(url, {}, max_bytes=seeds.MAX_INFLATED // 2)
        except SearchError:
            return None
        return None if fetched.content_type == "text/html" else fetched  # a "not found" page with status 200

    async def _parse(self, function: Callable[..., list[T]], *arguments: object) -> list[Any]:
        """Parse a list that the site publishes, in a worker process. Empty if it cannot be parsed."""
        try:
            found: list[Any] = await self._workers.run(function, *arguments, deadline=Deadline.after(PAGE_SECONDS))
        except SearchError as error:
            _log.info("A list of pages cannot be read: %s", error.message)
            return []
        return found


class FolderSource:
    """The documents below a folder. The address of a file is `base` and its path."""

    waiting = ""

    def __init__(self, root: Path, base: str, scope: Scope) -> None:
        self._root = root.resolve()
        self._base = base
        self._scope = scope

    async def seeds(self) -> tuple[list[str], Defined]:
        """Every document but Markdown and text copies of others; each crawl lists the files again."""
        if not self._root.is_dir():
            raise SearchFetchError(f"The folder {self._root} does not exist.", details={"reason": "missing"})
        urls = [canonical(self._base + quote(place)) for place in _documents(self._root)]
        inside = [url for url in urls if self._scope.contains(url)]
        return without_copies(inside), await self.inventory(self._base)

    async def inventory(self, folder: str) -> Defined:
        listed = (self._root / unquote(folder.removeprefix(self._base)) / "objects.inv").resolve()
        if listed.is_relative_to(self._root) and listed.is_file() and listed.stat().st_size < MAX_PAGE_BYTES:
            return _by_page(seeds.inventory(listed.read_bytes(), folder))
        return {}

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        return [True] * len(urls)

    async def fetch(self, task: UrlTask) -> Fetched:
        path = self._root / unquote(task.url.removeprefix(self._base))
        if task.url.endswith("/"):
            path = next((path / name for name in ("index.html", "index.htm") if (path / name).is_file()), path)
        try:
            path = path.resolve(strict=True)
            if not path.is_relative_to(self._root) or not path.is_file():
                raise FileNotFoundError
            stat = path.stat()
            etag = f"{stat.st_mtime_ns}-{stat.st_size}"
            if stat.st_size > MAX_PAGE_BYTES:
                raise SearchFetchError(f"The file is larger than {MAX_PAGE_BYTES:,} bytes.")
            body = b"" if task.etag == etag else path.read_bytes()
        except OSError as error:
            raise SearchFetchError("The file does not exist.", details={"status": 404}) from error
        kind = SUFFIXES.get(path.suffix.lower(), "application/octet-stream")
        status = NOT_MODIFIED if task.etag == etag else 200
        return Fetched(task.url, task.url, status, {"etag": etag}, body, kind, "utf-8")


def _by_page(names: Iterable[tuple[str, str, str]]) -> Defined:
    """The definitions of an inventory by the canonical address of their page; a page has hundreds of them."""
    pages: dict[str, list[tuple[str, str]]] = {}
    for name, url, anchor in names:
        pages.setdefault(url, []).append((name, anchor))
    defined: Defined = {}
    for url, found in pages.items():
        defined.setdefault(canonical(url), []).extend(found)
    return defined


def body_hash(body: bytes) -> str:
    """A hash of the body, to recognise an unchanged or duplicate page."""
    return sha256(body).hexdigest()[:32]


def _documents(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            yield path.relative_to(root).as_posix()


def _origin(url: str) -> str:
    parts = urlsplit(canonical(url))
    return f"{parts.scheme}://{parts.netloc}"
