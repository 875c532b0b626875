"""The sources of documents: a web server, or a folder, into which an archive is unpacked too."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from websearch_gateway.docs_index.crawl import seeds
from websearch_gateway.docs_index.crawl.files import MAX_PAGE_BYTES, folder_pages, media_type, most_bytes
from websearch_gateway.docs_index.crawl.politeness import HostPace, RobotsTxt
from websearch_gateway.docs_index.crawl.scope import Scope, canonical, without_copies
from websearch_gateway.docs_index.crawl.seeds import Defined
from websearch_gateway.docs_index.models import UrlTask
from websearch_gateway.docs_index.ports import Fetch, Run
from websearch_gateway.errors import SearchError, SearchFetchError
from websearch_gateway.models import Deadline
from websearch_gateway.net.fetch import Fetched

PAGE_SECONDS = 30.0
MAX_SITEMAPS = 50
NOT_MODIFIED = 304
ACCEPT = "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
_SEARCH_INDEXES = ("searchindex.js", "search/search_index.json")

Note = Callable[[str], Awaitable[None]]
"""Notes the list that is read now, which may end this process; "" at the end. See `SqlDocs.note_reading`."""

_log = logging.getLogger(__name__)


class Source(Protocol):
    """A source of documents for a crawl."""

    @property
    def waiting(self) -> str:
        """The reason why it waits, for people; "" if it does not wait."""
        ...

    @property
    def follows(self) -> bool:
        """Whether links of its documents lead to further ones of it."""
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
        note: Note,
    ) -> None:
        self._start = start
        self._scope = scope
        self._fetcher = fetcher
        self._workers = workers
        self._pace = pace
        self._robots = robots
        self._headers = headers
        self._note = note
        self._texts: dict[str, bytes] = {}
        self.follows = not urlsplit(start).path.endswith(f"/{seeds.FULL_TEXT}")

    @property
    def waiting(self) -> str:
        return self._pace.waiting

    async def seeds(self) -> tuple[list[str], Defined]:
        """The start URL and the pages in llms.txt, objects.inv and the sitemaps, or else in a search index or in
        llms-full.txt, whose text is theirs. If llms-full.txt is the start URL, its pages alone."""
        await self._note(f"{self._scope.origin}/robots.txt")
        await self._robots.open()
        if not self.follows:
            await self._read_full_text(canonical(self._start))
            await self._note("")
            return list(self._texts) or [canonical(self._start)], {}
        start, root = canonical(self._start), f"{self._scope.origin}{self._scope.folder}"
        found: list[str] = []
        if listed := await self._published(f"{root}llms.txt"):
            found += await self._pages(root, seeds.llms_urls, listed.body, root)
        defined = await self.inventory(root)
        found += defined
        found += await self._sitemaps(root)
        if not found:
            found = await self._search_index(root)
        if not found:
            await self._read_full_text(f"{root}{seeds.FULL_TEXT}")
            self._texts = {url: text for url, text in self._texts.items() if f"{seeds.FULL_TEXT}!/" not in url}
            found = list(self._texts)
        await self._note("")
        return await asyncio.to_thread(without_copies, dict.fromkeys((start, *found))), defined

    async def inventory(self, folder: str) -> Defined:
        listed = await self._published(f"{folder}objects.inv")
        defined = await _definitions(self._workers, self._scope, listed.body, folder) if listed else {}
        await self._note("")
        return defined

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        return await self._robots.allowed(urls)

    async def fetch(self, task: UrlTask) -> Fetched:
        if (text := self._texts.get(task.url)) is not None:
            return Fetched(task.url, task.url, 200, {}, text, "text/markdown", "utf-8")
        if f"{seeds.FULL_TEXT}!/" in task.url:
            raise SearchFetchError("The file has no such page any more.", details={"status": 404})
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

    async def _read_full_text(self, url: str) -> None:
        """Note the pages in a llms-full.txt by their addresses."""
        if listed := await self._published(url):
            places = await _parsed(self._workers, seeds.full_text_in, self._scope, listed.body, url) or []
            text = listed.body.decode("utf-8-sig", "replace")
            self._texts = {address: text[start:stop].encode() for address, start, stop in places}

    async def _search_index(self, root: str) -> list[str]:
        for name in _SEARCH_INDEXES:
            if listed := await self._published(root + name):
                return await self._pages(root, seeds.search_index_urls, listed.body, root)
        return []

    async def _sitemaps(self, root: str) -> list[str]:
        named = await _parsed(self._workers, seeds.robots_sitemaps, self._robots.text) or ()
        places = dict.fromkeys([*named, f"{self._scope.origin}/sitemap.xml", f"{root}sitemap.xml"])
        waiting, fetched = list(places), 0
        pages: list[str] = []
        while waiting and fetched < MAX_SITEMAPS and len(pages) < seeds.MOST_URLS:
            place = waiting.pop(0)
            fetched += 1
            if seeds.origin(place) == self._scope.origin and (listed := await self._published(place)):
                more, further = await _parsed(self._workers, seeds.sitemap_in, self._scope, listed.body) or ((), ())
                pages += more
                waiting += further
        return pages

    async def _pages(self, root: str, *parse: object) -> list[str]:
        return await _parsed(self._workers, seeds.pages_in, self._scope, root, *parse) or []

    async def _published(self, url: str) -> Fetched | None:
        """A file that a site may publish; None if there is none, or it cannot be fetched."""
        await self._note(url)
        try:
            if not all(await self._robots.allowed([url])):
                return None
            fetched = await self._get(url, {}, max_bytes=seeds.MAX_INFLATED // 2)
        except SearchError:
            return None
        return None if fetched.content_type == "text/html" else fetched  # a "not found" page with status 200


class FolderSource:
    """The documents below a folder. The address of a file is `base` and its path."""

    waiting = ""
    follows = True

    def __init__(self, root: Path, base: str, scope: Scope, workers: Run, note: Note) -> None:
        self._root = root
        self._base = canonical(base)
        self._scope = scope
        self._workers = workers
        self._note = note

    async def seeds(self) -> tuple[list[str], Defined]:
        """Every document but Markdown and text copies of others; each crawl lists the files again."""
        await self._note(self._base)
        urls: list[str] = []
        after: str | None = None
        while after != "":
            place = (str(self._root), self._base, self._scope, after or "")
            listed, after = await self._workers.run(folder_pages, *place, deadline=Deadline.after(PAGE_SECONDS))
            urls += listed
        defined = await self.inventory(self._base)
        return await asyncio.to_thread(without_copies, urls), defined

    async def inventory(self, folder: str) -> Defined:
        url = f"{folder}objects.inv"
        await self._note(url)
        defined: Defined = {}
        with suppress(SearchFetchError):
            listed = await self.fetch(UrlTask(0, 0, url))
            defined = await _definitions(self._workers, self._scope, listed.body, folder)
        await self._note("")
        return defined

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        return [True] * len(urls)

    async def fetch(self, task: UrlTask) -> Fetched:
        return await asyncio.to_thread(self._read, task)

    def _read(self, task: UrlTask) -> Fetched:
        try:
            path = self._path(task.url)
            stat = path.stat()
            etag = f"{stat.st_mtime_ns}-{stat.st_size}"
            if stat.st_size > (most := most_bytes(path.name)):
                message = f"The file is larger than {most:,} bytes."
                raise SearchFetchError(message, details={"reason": "too_large"})
            body = b"" if task.etag == etag else path.read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a path with a null character
            raise SearchFetchError("The file does not exist.", details={"status": 404}) from error
        kind = media_type(path.name) or "application/octet-stream"
        status = NOT_MODIFIED if task.etag == etag else 200
        return Fetched(task.url, task.url, status, {"etag": etag}, body, kind, "utf-8")

    def _path(self, url: str) -> Path:
        """The file with this address.

        Raises:
            OSError, ValueError: there is none, or it lies outside the folder.
        """
        root = self._root.resolve()
        path = root / unquote(url.removeprefix(self._base), errors="surrogateescape")
        if url.endswith("/"):
            path = next((path / name for name in ("index.html", "index.htm") if (path / name).is_file()), path)
        path = path.resolve(strict=True)
        if not path.is_relative_to(root) or not path.is_file():
            raise FileNotFoundError
        return path


def body_hash(body: bytes) -> str:
    """A hash of the body, to recognise an unchanged or duplicate page."""
    return sha256(body).hexdigest()[:32]


async def _definitions(workers: Run, scope: Scope, inventory: bytes, folder: str) -> Defined:
    listed = await _parsed(workers, seeds.definitions_in, scope, inventory, folder) or {}
    return {page: [(name, anchor) for name, anchor in names] for page, names in listed.items()}


async def _parsed(workers: Run, function: Callable[..., object], *arguments: object) -> Any:
    """What a function finds in a list that the site publishes, in a worker process; None if it cannot be parsed."""
    try:
        return await workers.run(function, *arguments, deadline=Deadline.after(PAGE_SECONDS))
    except SearchError as error:
        _log.info("A list of pages cannot be read: %s", error.message)
        return None
