"""Readers of known sites through their APIs: what a source is, and the reader that runs any source.

A source is a class of pure functions; to add one, follow docs/adding-a-reader.md. If an API fails, the plain page is
read instead.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import SplitResult, quote, unquote, urlsplit

from websearch_gateway.base import Fetcher, seconds_until_reset
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchFetchError,
    SearchTimeoutError,
    Unavailable,
)
from websearch_gateway.foreign_json import BadJson, parse_json
from websearch_gateway.models import Deadline, Extracted, Page
from websearch_gateway.pages.formats.rendering import cleaned
from websearch_gateway.ports import Reader, Workers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A GET request, or a POST of `json`. `may_be_missing`: status 404 gives the body None instead of an error."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    may_be_missing: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """The result of parsing the replies.

    `published` is an ISO 8601 date; `more` lists addresses of the full text, of which the first readable one is
    appended; `pause_seconds` is the time for which the site asks us not to call it; `warnings` are for the reader.
    """

    title: str
    markdown: str
    published: str | None = None
    more: Sequence[str] = ()
    pause_seconds: float = 0.0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source(ABC):
    """A site whose API gives better content than its pages.

    Attributes:
        api: base URL of the API.
        name: its name in the table of readers.
        busy: HTTP statuses with which the API signals too many requests.
        pace: how many documents the API allows within how many seconds; None if there is no fixed limit.
    """

    api: str = ""
    name: str = ""
    busy: Sequence[int] = (403, 429, 503)
    pace: tuple[int, float] | None = None

    @staticmethod
    @abstractmethod
    def place(url: str) -> Any:
        """What the API needs to know of `url`; None if the URL does not belong to this source."""

    def accepts(self, url: str) -> bool:
        """Whether `url` belongs to this source."""
        return self.place(url) is not None

    @abstractmethod
    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The requests for the document at `url`, which this source accepts.

        Raises:
            SearchFetchError: the API needs a token, and none is set.
        """

    @staticmethod
    @abstractmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The document from the replies to `requests`, in the same order. Runs in a worker process.

        Any exception means that the reply is not what the vendor documents.
        """


def address(url: str) -> SplitResult | None:
    """The parts of a web address on the default port of its scheme; None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    is_web = parts.scheme in ("http", "https") and port in (None, 80, 443)
    has_user = "@" in parts.netloc
    return parts if is_web and not has_user and parts.hostname else None


def segments(url: str, *hosts: str) -> list[str] | None:
    """The unquoted path segments of `url`, without empty ones; None if its host is not in `hosts`."""
    parts = address(url)
    if parts is None or parts.hostname not in hosts:
        return None
    path = [unquote(part) for part in parts.path.split("/") if part]
    return None if "." in path or ".." in path else path


def of_source(place: T | None) -> T:
    """What `Source.place` knows of a URL that the source accepts."""
    if place is None:
        raise ValueError("The URL does not belong to this source.")
    return place


def quoted(*parts: str) -> str:
    """A path of these segments, each fully quoted."""
    return "/".join(quote(part, safe="") for part in parts)


def json_of(body: bytes | None) -> Any:
    """The JSON in a reply.

    Raises:
        SearchFetchError: the reply is not JSON.
    """
    try:
        return parse_json(body or b"")
    except BadJson:
        raise SearchFetchError("The reply is not JSON.") from None


def section(title: str, *blocks: str, level: int = 2) -> str:
    """A heading and the blocks under it."""
    heading = f"{'#' * level} {' '.join(title.split())}"
    return "\n\n".join([heading, *filter(None, blocks)])


PAUSE_SECONDS = 60.0
"""Seconds without calls to a busy API that does not say how long to wait."""
LONGEST_PAUSE_SECONDS = 86_400.0
# Wikimedia allows three (https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits); a polite limit for all sites.
_AT_ONCE = 3
_API_SHARE = 0.5  # share of the time, so that the plain page can still be read


class ApiReader:
    """Reads the pages of one source.

    Args:
        pages: reads the plain page.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        source: Source,
        fetcher: Fetcher,
        workers: Workers,
        pages: Reader,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name = source.name
        self.source = source
        self._fetcher = fetcher
        self._workers = workers
        self._pages = pages
        self._clock = clock
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._paused_until = 0.0
        self._starts: deque[float] = deque()

    def accepts(self, url: str) -> bool:
        """Whether `url` belongs to this source."""
        return self.source.accepts(url)

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """Read a page through the API, or as a plain page with a warning that says why. Never returns `known`.

        Raises:
            ForbiddenUrlError: the address policy forbids the URL.
            SearchFetchError: neither the API nor the page could be read.
            SearchTimeoutError: the deadline passed.
        """
        try:
            document = await self._load(url, deadline.within(deadline.remaining() * _API_SHARE))
        except (Unavailable, ForbiddenUrlError) as error:  # the lists may block only the API's host
            page = await self._pages.read(url, deadline)
            warning = f"Read from the plain page of {self.name}: {error.message}"
            return replace(page, warnings=(*page.warnings, warning))
        warnings = tuple(document.warnings)
        page = Page(
            url,
            url,
            document.title,
            document.markdown,
            published=document.published,
            warnings=warnings,
        )
        return await self._with_full_text(page, document.more, deadline)

    async def _load(self, url: str, deadline: Deadline) -> Document:
        await self._workers.warm()
        try:
            async with asyncio.timeout(deadline.remaining()), self._slots:
                pause = self._paused_until - self._clock()
                if pause > 0:
                    raise _paused(pause)
                self._keep_pace()
                bodies = [
                    await self._ask(request, deadline) for request in self.source.requests(url)
                ]
        except TimeoutError:
            raise SearchTimeoutError("Too many other requests to its API are running.") from None
        document = Document(
            **await self._workers.run(
                cleaned, self.source.parse, url, url, bodies, deadline=deadline
            )
        )
        self._pause(document.pause_seconds)
        if not document.markdown.strip():
            raise SearchFetchError("Its API has no text for this page.")
        return document

    def _keep_pace(self) -> None:
        """Count one more document, or raise if the source's limit does not allow it now."""
        if (pace := self.source.pace) is None:
            return
        documents, seconds = pace
        while self._starts and self._starts[0] <= self._clock() - seconds:
            self._starts.popleft()
        if len(self._starts) >= documents:
            raise _paused(self._starts[0] + seconds - self._clock())
        self._starts.append(self._clock())

    async def _ask(self, request: ApiRequest, deadline: Deadline) -> bytes | None:
        try:
            reply = await self._fetcher.fetch(
                request.url,
                deadline,
                accept="application/json",
                headers=request.headers,
                json=request.json,
            )
        except SearchFetchError as error:
            status = error.details.get("status")
            if status in self.source.busy:
                self._pause(error.retry_after or PAUSE_SECONDS)
            if request.may_be_missing and status == 404:
                return None
            raise
        self._pause(seconds_until_reset(reply.headers, self._clock()))
        return reply.body

    def _pause(self, seconds: float) -> None:
        self._paused_until = max(
            self._paused_until, self._clock() + min(seconds, LONGEST_PAUSE_SECONDS)
        )

    async def _with_full_text(
        self, page: Page, addresses: Sequence[str], deadline: Deadline
    ) -> Page:
        """The page followed by the text at the first of these addresses that can be read."""
        for address in addresses:
            try:
                full = await self._pages.read(address, deadline)
            except Unavailable:
                continue
            text = f"{page.markdown}\n\n{full.markdown}"
            # Clean the joined text again: a link name in one part may refer to an address in the other.
            whole = await self._workers.run(
                cleaned,
                Extracted,
                page.url,
                page.title,
                text,
                None,
                deadline=deadline,
                size=len(text),
            )
            warnings = tuple(dict.fromkeys((*page.warnings, *full.warnings, *whole["warnings"])))
            return replace(
                page, markdown=whole["markdown"], warnings=warnings, truncated=full.truncated
            )
        if not addresses:
            return page
        return replace(page, warnings=(*page.warnings, "The full text could not be read."))


def _paused(seconds: float) -> SearchFetchError:
    return SearchFetchError(
        f"Its API asks for a pause of {seconds:.0f} seconds.", retry_after=seconds
    )
