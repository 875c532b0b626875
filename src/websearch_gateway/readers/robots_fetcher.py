"""A fetcher with manners: it reads the robots.txt of a site first (RFC 9309), where the operator wants that."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from cachetools import TTLCache

from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.net.address import MAX_URL_LENGTH
from websearch_gateway.net.charset import decode
from websearch_gateway.net.decode import MAX_BYTES
from websearch_gateway.net.fetch import ACCEPT_PAGE, PRODUCT, Fetched, Fetcher
from websearch_gateway.ports import Workers
from websearch_gateway.text.robots_txt import may_read, parse, rules_for

if TYPE_CHECKING:
    from protego import Protego

KEPT_SECONDS = 3600.0
"""How long a robots.txt is believed; the RFC allows a day."""
FAILURE_KEPT_SECONDS = 60.0
MAX_RULES = 512_000
"""As many bytes as count, which is what the RFC asks for at least."""
MOST_HERE = 6_000
"""So many characters of rules are read in 5 ms, and the worst of them applied to the longest address in as many. Longer
ones stay text, and a worker applies them."""
_KEPT_BYTES = 10_000_000
_KEPT_FAILURES = 1_000
_LEAST_BYTES = 4_000
_BYTES_PER_CHAR = 100
"""Of memory that parsed rules take."""
_EVERYTHING = ""


@dataclass(frozen=True, slots=True)
class SiteRules:
    """The rules of one site for us: `text`, and `parsed` where they are few."""

    text: str
    parsed: Protego | None

    @classmethod
    def of(cls, text: str) -> SiteRules:
        """The rules that `rules_for` has picked out."""
        return cls(text, parse(text) if 0 < len(text) <= MOST_HERE else None)

    @property
    def bytes(self) -> int:
        """The most memory that they take."""
        return _LEAST_BYTES + sys.getsizeof(self.text) + (_BYTES_PER_CHAR * len(self.text) if self.parsed else 0)


class RobotsFetcher:
    """Fetches what the robots.txt of its site leaves open to us; a `net.fetch.Fetching`.

    Not there (any status 4xx) means that all is open; not to be had means that all is closed, for now.

    Args:
        workers: pick the rules for us out of the text, which anybody may have written, and apply them if they are many.
        clock: seconds on a monotonic clock.
    """

    def __init__(self, fetcher: Fetcher, workers: Workers, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher = fetcher
        self._workers = workers
        self._rules: TTLCache[str, SiteRules] = TTLCache(
            _KEPT_BYTES, KEPT_SECONDS, clock, getsizeof=lambda rules: rules.bytes
        )
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
        if len(url) > MAX_URL_LENGTH:
            return  # likewise
        rules = await self._rules_of(f"{parts.scheme}://{parts.netloc}/robots.txt", parts.hostname or "", deadline)
        if not await self._open(rules, url, deadline):
            raise _closed(f"{parts.hostname} closes this page to programs.")

    async def _open(self, rules: SiteRules, url: str, deadline: Deadline) -> bool:
        if rules.parsed is not None:
            return rules.parsed.can_fetch(url, PRODUCT)
        return not rules.text or await self._workers.run(may_read, rules.text, url, PRODUCT, deadline=deadline)

    async def _rules_of(self, url: str, host: str, deadline: Deadline) -> SiteRules:
        lock = self._locks.setdefault(url, asyncio.Lock())
        async with lock:
            if (rules := self._rules.get(url)) is not None:
                return rules
            if failure := self._failures.get(url):
                raise _closed(failure)
            try:
                rules = SiteRules.of(await self._asked(url, deadline))
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
        text = decode(fetched.body[:MAX_RULES], fetched.charset)
        rules: str = await self._workers.run(rules_for, text, PRODUCT, deadline=deadline)
        return rules


def _closed(message: str) -> SearchFetchError:
    return SearchFetchError(message, details={"reason": "robots"})
