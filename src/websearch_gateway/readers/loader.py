"""Runs any source: asks its API, reads the replies in a worker, and takes the plain page when that does not serve."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from websearch_gateway.errors import SearchFetchError, SearchTimeoutError, Unavailable
from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.fetch import Fetcher
from websearch_gateway.ports import Reader
from websearch_gateway.readers.source import ApiRequest, Document, Source
from websearch_gateway.readers.workers import Workers

REST_SECONDS = 60.0
"""How long to leave an API alone that does not say for how long."""
LONGEST_REST_SECONDS = 86_400.0
# Wikimedia allows three (https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits); more would be rude anywhere.
_AT_ONCE = 3
_API_SHARE = 0.5  # of the time, so that the plain page still can be read


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
        self._source = source
        self._fetcher = fetcher
        self._workers = workers
        self._pages = pages
        self._clock = clock
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._rests_until = 0.0
        self._begun: deque[float] = deque()

    def accepts(self, url: str) -> bool:
        """Whether `url` is one of this source's."""
        return self._source.accepts(url)

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """Read a page through the API, or as a plain page with a warning that says why. Always anew.

        Raises:
            ForbiddenUrlError: the address guard said no.
            SearchFetchError: neither the API nor the page could be read.
            SearchTimeoutError: out of time.
        """
        try:
            document = await self._load(url, deadline.within(deadline.remaining() * _API_SHARE))
        except Unavailable as error:
            page = await self._pages.read(url, deadline)
            return replace(page, warnings=(*page.warnings, f"Read from the plain page of {self.name}: {error.message}"))
        text, warnings = await self._full_text(document, deadline)
        return Page(url, url, document.title, text, published=document.published, warnings=warnings)

    async def _load(self, url: str, deadline: Deadline) -> Document:
        await self._workers.warm()
        try:
            async with asyncio.timeout(deadline.remaining()), self._slots:
                bodies = await self._replies(url, deadline)
        except TimeoutError:
            raise SearchTimeoutError("Its API is asked for too much else.") from None
        document = Document(**await self._workers.run(self._source.parse, url, bodies, deadline=deadline))
        self._rest(document.rest_seconds)
        if not document.markdown.strip():
            raise SearchFetchError("Its API has no text for this page.")
        return document

    async def _replies(self, url: str, deadline: Deadline) -> list[bytes | None]:
        if (left := self._rests_until - self._clock()) > 0:
            raise _left_alone(left)
        self._keep_pace()
        return [await self._ask(request, deadline) for request in self._source.requests(url)]

    def _keep_pace(self) -> None:
        if (pace := self._source.pace) is None:
            return
        while self._begun and self._begun[0] <= self._clock() - pace.seconds:
            self._begun.popleft()
        if len(self._begun) >= pace.documents:
            raise _left_alone(self._begun[0] + pace.seconds - self._clock())
        self._begun.append(self._clock())

    async def _ask(self, request: ApiRequest, deadline: Deadline) -> bytes | None:
        try:
            reply = await self._fetcher.fetch(
                request.url, deadline, accept="application/json", headers=request.headers, json=request.json
            )
        except SearchFetchError as error:
            status = error.details.get("status")
            if status in self._source.busy:
                self._rest(error.retry_after or REST_SECONDS)
            if request.may_be_missing and status == 404:
                return None
            raise
        self._rest(_spent(reply.headers, self._clock()))
        return reply.body

    def _rest(self, seconds: float) -> None:
        self._rests_until = max(self._rests_until, self._clock() + min(seconds, LONGEST_REST_SECONDS))

    async def _full_text(self, document: Document, deadline: Deadline) -> tuple[str, tuple[str, ...]]:
        """The document's own text with the first of its further texts that can be read, and warnings."""
        for place in document.more:
            try:
                page = await self._pages.read(place, deadline)
            except Unavailable:
                continue
            return f"{document.markdown}\n\n{page.markdown}", page.warnings
        return document.markdown, ("The full text could not be read.",) if document.more else ()


def _left_alone(seconds: float) -> SearchFetchError:
    return SearchFetchError(f"Its API wants to be left alone for {seconds:.0f} seconds.", retry_after=seconds)


def _spent(headers: Mapping[str, str], now: float) -> float:
    """Seconds until a quota that this reply used up is there again, else 0.

    GitHub tells the moment (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api), Reddit the
    seconds.
    """
    try:
        remaining = float(headers["x-ratelimit-remaining"])
        reset = float(headers["x-ratelimit-reset"])
    except (KeyError, ValueError):
        return 0.0
    if not (remaining < 1 and math.isfinite(reset)):
        return 0.0
    return max(reset - now if reset > LONGEST_REST_SECONDS else reset, 0.0)
