"""Fetches pages only as their robots.txt allows (RFC 9309), if the operator wants it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from websearch_gateway.base import (
    ACCEPT_PAGE,
    MAX_BYTES,
    PRODUCT,
    CacheMemory,
    Fetched,
    Fetcher,
    SharedCache,
    decode,
    in_own_thread,
    may_read,
    rules_for,
)
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import LONGEST_URL, Deadline
from websearch_gateway.ports import Workers

KEPT_SECONDS = 3600.0
"""Seconds for which a robots.txt is cached; the RFC allows a day."""
FAILURE_KEPT_SECONDS = 60.0
MAX_RULES = 512_000
"""The bytes of a robots.txt that are parsed: the minimum in the RFC."""


class RobotsFetcher:
    """Fetches the pages that robots.txt allows us to fetch; a `net.fetch.Fetching`.

    If robots.txt does not exist (any status 4xx), every page is allowed. If it cannot be fetched, no page is allowed
    for FAILURE_KEPT_SECONDS.

    Args:
        workers: extract our rules from the text, which is untrusted, and apply them.
        memory: shared with the other caches of the process.
        clock: seconds on a monotonic clock.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        workers: Workers,
        *,
        memory: CacheMemory | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._workers = workers
        self._clock = clock
        self._rules: SharedCache[str, str] = SharedCache(memory, clock)
        self._failures: SharedCache[str, str] = SharedCache(self._rules.memory, clock)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def fetch(
        self,
        url: str,
        deadline: Deadline,
        *,
        accept: str = ACCEPT_PAGE,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
        in_part: bool = False,
    ) -> Fetched:
        """See `Fetcher.fetch`. The target of a redirect must be allowed too.

        Raises:
            SearchFetchError: robots.txt forbids the page or cannot be fetched; `details["reason"]` is "robots".
        """
        await self._check(url, deadline)
        fetched = await self._fetcher.fetch(
            url, deadline, accept=accept, headers=headers, max_bytes=max_bytes, in_part=in_part
        )
        if fetched.final_url != url:
            await self._check(fetched.final_url, deadline)
        return fetched

    async def _check(self, url: str, deadline: Deadline) -> None:
        if len(url) > LONGEST_URL:
            return  # the fetcher rejects it
        try:
            parts = urlsplit(url.strip())
        except ValueError:
            return  # likewise
        rules = await self._rules_of(
            f"{parts.scheme}://{parts.netloc}/robots.txt", parts.hostname or "", deadline
        )
        if rules and not await self._workers.run(
            may_read, rules, url, PRODUCT, deadline=deadline, size=len(rules)
        ):
            raise _forbidden(
                f"The robots.txt of {parts.hostname} does not allow programs to read this page."
            )

    async def _rules_of(self, url: str, host: str, deadline: Deadline) -> str:
        async with self._locks.setdefault(url, asyncio.Lock()):
            if (rules := self._rules.get(url)) is not None:
                return rules
            if failure := self._failures.get(url):
                raise _forbidden(failure)
            try:
                fetched = await self._fetcher.fetch(url, deadline, accept="text/plain,*/*;q=0.5")
                body = _whole_lines(fetched.body, MAX_RULES)
                text = await in_own_thread(decode, body, fetched.charset)
                rules = str(await self._workers.run(rules_for, text, PRODUCT, deadline=deadline))
            except SearchTimeoutError:
                raise  # not cached: perhaps only our own deadline was short
            except SearchFetchError as error:
                if not 400 <= error.details.get("status", 0) < 500:
                    failure = f"The robots.txt of {host} cannot be fetched: {error.message}"
                    self._failures.put(url, failure, expires=self._clock() + FAILURE_KEPT_SECONDS)
                    raise _forbidden(failure) from error
                rules = ""
            self._rules.put(url, rules, expires=self._clock() + KEPT_SECONDS)
            return rules


def _whole_lines(body: bytes, most: int) -> bytes:
    """The lines that fit into so many bytes: a part of `Allow: /public/` would allow everything."""
    if len(body) <= most:
        return body
    return body[: max(body.rfind(b"\n", 0, most), body.rfind(b"\r", 0, most), 0)]


def _forbidden(message: str) -> SearchFetchError:
    return SearchFetchError(message, details={"reason": "robots"})
