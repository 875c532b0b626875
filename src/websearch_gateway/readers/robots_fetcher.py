"""A fetcher with manners: it reads the robots.txt of a site first (RFC 9309), where the operator wants that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from cachetools import TTLCache

from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.net.charset import decode
from websearch_gateway.net.decode import MAX_BYTES
from websearch_gateway.net.fetch import ACCEPT_PAGE, PRODUCT, Fetched, Fetcher
from websearch_gateway.ports import Workers
from websearch_gateway.text.robots_txt import may_read

KEPT_SECONDS = 3600.0
"""How long a robots.txt is believed; the RFC allows a day."""
FAILURE_KEPT_SECONDS = 60.0
MAX_RULES = 512_000
"""As many bytes as count, which is what the RFC asks for at least."""
_KEPT_CHARS = 4_000_000
_KEPT_FAILURES = 1_000
_LEAST_WEIGHT = 400
_EVERYTHING = ""


class RobotsFetcher:
    """Fetches what the robots.txt of its site leaves open to us; a `net.fetch.Fetching`.

    Not there (any status 4xx) means that all is open; not to be had means that all is closed, for now.

    Args:
        workers: apply the rules, which anybody may have written.
        clock: seconds on a monotonic clock.
    """

    def __init__(self, fetcher: Fetcher, workers: Workers, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher = fetcher
        self._workers = workers
        self._rules: TTLCache[str, str] = TTLCache(_KEPT_CHARS, KEPT_SECONDS, clock, getsizeof=_weight)
        self._failures: TTLCache[str, str] = TTLCache(_KEPT_FAILURES, FAILURE_KEPT_SECONDS, clock)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def fetch(
        self,
        url: str,
        deadline: Deadline,
        *,
        accept: str = ACCEPT_PAGE,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Fetched:
        """See `Fetcher.fetch`. Where a page redirects to must be open as well.

        Raises:
            SearchFetchError: closed to programs, or robots.txt cannot be had; `details["reason"]` is "robots".
        """
        await self._check(url, deadline)
        fetched = await self._fetcher.fetch(url, deadline, accept=accept, headers=headers, max_bytes=max_bytes)
        if fetched.final_url != url:
            await self._check(fetched.final_url, deadline)
        return fetched

    async def _check(self, url: str, deadline: Deadline) -> None:
        try:
            parts = urlsplit(url.strip())
        except ValueError:
            return  # the fetcher refuses it
        rules = await self._rules_of(f"{parts.scheme}://{parts.netloc}/robots.txt", parts.hostname or "", deadline)
        if rules and not await self._workers.run(may_read, rules, url, PRODUCT, deadline=deadline):
            raise _closed(f"{parts.hostname} closes this page to programs.")

    async def _rules_of(self, url: str, host: str, deadline: Deadline) -> str:
        lock = self._locks.setdefault(url, asyncio.Lock())
        async with lock:
            if (rules := self._rules.get(url)) is not None:
                return rules
            if failure := self._failures.get(url):
                raise _closed(failure)
            try:
                rules = await self._asked(url, deadline)
            except SearchTimeoutError:
                raise  # which may have been for want of time on our side
            except SearchFetchError as error:
                failure = f"The robots.txt of {host} cannot be had: {error.message}"
                self._failures[url] = failure
                raise _closed(failure) from error
            self._rules[url] = rules
            return rules

    async def _asked(self, url: str, deadline: Deadline) -> str:
        try:
            fetched = await self._fetcher.fetch(url, deadline, accept="text/plain,*/*;q=0.5")
        except SearchFetchError as error:
            if 400 <= error.details.get("status", 0) < 500:
                return _EVERYTHING
            raise
        return decode(fetched.body[:MAX_RULES], fetched.charset)


def _weight(rules: str) -> int:
    return _LEAST_WEIGHT + len(rules)


def _closed(message: str) -> SearchFetchError:
    return SearchFetchError(message, details={"reason": "robots"})
