"""A fetcher that obeys robots.txt (RFC 9309), if the operator enables it."""

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
from websearch_gateway.models import LONGEST_URL, Deadline
from websearch_gateway.net.bodies import MAX_BYTES, decode
from websearch_gateway.net.fetch import ACCEPT_PAGE, PRODUCT, Fetched, Fetcher
from websearch_gateway.ports import Workers
from websearch_gateway.text.urls import may_read, parse, rules_for

if TYPE_CHECKING:
    from protego import Protego

KEPT_SECONDS = 3600.0
"""Seconds for which a robots.txt is cached; the RFC allows a day."""
FAILURE_KEPT_SECONDS = 60.0
MAX_RULES = 512_000
"""The bytes of a robots.txt that are parsed: the minimum in the RFC."""
MOST_HERE = 6_000
"""The most characters of rules that this process parses and applies. So many take 5 ms to parse, and the worst of them
another 5 ms to apply to the longest URL. A worker applies longer rules."""
_KEPT_BYTES = 10_000_000
_KEPT_FAILURES = 1_000
_LEAST_BYTES = 4_000
_BYTES_PER_CHAR = 100
"""The most memory that parsed rules take."""
_NO_RULES = ""


@dataclass(frozen=True, slots=True)
class SiteRules:
    """The rules of one site for our crawler: `text`, and `parsed` if they are short."""

    text: str
    parsed: Protego | None

    @classmethod
    def of(cls, text: str) -> SiteRules:
        """The rules in the text that `rules_for` returns."""
        return cls(text, parse(text) if 0 < len(text) <= MOST_HERE else None)

    @property
    def bytes(self) -> int:
        """The most memory that the rules take, in bytes."""
        return _LEAST_BYTES + sys.getsizeof(self.text) + (_BYTES_PER_CHAR * len(self.text) if self.parsed else 0)


class RobotsFetcher:
    """Fetches the pages that robots.txt allows us to fetch; a `net.fetch.Fetching`.

    If robots.txt does not exist (any status 4xx), every page is allowed. If it cannot be fetched, no page is allowed
    for FAILURE_KEPT_SECONDS.

    Args:
        workers: extract our rules from the text, which is untrusted, and apply them if they are long.
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
        """See `Fetcher.fetch`. The target of a redirect must be allowed too.

        Raises:
            SearchFetchError: robots.txt forbids the page or cannot be fetched; `details["reason"]` is "robots".
        """
        await self._check(url, deadline)
        fetched = await self._fetcher.fetch(url, deadline, accept=accept, headers=headers, max_bytes=max_bytes)
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
        rules = await self._rules_of(f"{parts.scheme}://{parts.netloc}/robots.txt", parts.hostname or "", deadline)
        if not await self._allows(rules, url, deadline):
            raise _forbidden(f"The robots.txt of {parts.hostname} does not allow programs to read this page.")

    async def _allows(self, rules: SiteRules, url: str, deadline: Deadline) -> bool:
        if rules.parsed is not None:
            return rules.parsed.can_fetch(url, PRODUCT)
        return not rules.text or await self._workers.run(may_read, rules.text, url, PRODUCT, deadline=deadline)

    async def _rules_of(self, url: str, host: str, deadline: Deadline) -> SiteRules:
        lock = self._locks.setdefault(url, asyncio.Lock())
        async with lock:
            if (rules := self._rules.get(url)) is not None:
                return rules
            if failure := self._failures.get(url):
                raise _forbidden(failure)
            try:
                rules = SiteRules.of(await self._fetch_rules(url, deadline))
            except SearchTimeoutError:
                raise  # not cached: perhaps only our own deadline was short
            except SearchFetchError as error:
                failure = f"The robots.txt of {host} cannot be fetched: {error.message}"
                self._failures[url] = failure
                raise _forbidden(failure) from error
            self._rules[url] = rules
            return rules

    async def _fetch_rules(self, url: str, deadline: Deadline) -> str:
        try:
            fetched = await self._fetcher.fetch(url, deadline, accept="text/plain,*/*;q=0.5")
        except SearchFetchError as error:
            if 400 <= error.details.get("status", 0) < 500:
                return _NO_RULES
            raise
        text = decode(fetched.body[:MAX_RULES], fetched.charset)
        rules: str = await self._workers.run(rules_for, text, PRODUCT, deadline=deadline)
        return rules


def _forbidden(message: str) -> SearchFetchError:
    return SearchFetchError(message, details={"reason": "robots"})
