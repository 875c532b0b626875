"""Resolves the links of Gemini's sources: reads the target from Google's redirect without following it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace

from websearch_gateway.errors import SearchError, SearchFetchError
from websearch_gateway.models import Answer, Deadline
from websearch_gateway.net.fetch import Fetcher
from websearch_gateway.text.urls import is_web_address

MOST_LINKS = 20
SECONDS = 5.0
RESERVE_SECONDS = 0.5
"""Time left for the rest of the call (seconds): an unresolved link must not cost the answer."""

_PATH = "/grounding-api-redirect"
_MAX_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Redirects:
    """Replaces links through the redirect by their targets. `fetcher` checks every address."""

    fetcher: Fetcher

    async def __call__(self, answer: Answer, deadline: Deadline) -> Answer:
        """The answer with all targets that were resolved in time; other links stay. Never raises."""
        links = _links((*(span.url for span in answer.spans), *(source.url for source in answer.sources)))
        until = deadline.within(min(SECONDS, max(0.0, deadline.remaining() - RESERVE_SECONDS)))
        found = await asyncio.gather(*(self._target(link, until) for link in links))
        targets = dict(zip(links, found, strict=True))
        return replace(
            answer,
            spans=tuple(replace(span, url=targets.get(span.url, span.url)) for span in answer.spans),
            sources=tuple(replace(source, url=targets.get(source.url, source.url)) for source in answer.sources),
        )

    async def _target(self, link: str, deadline: Deadline) -> str:
        try:
            await self.fetcher.fetch(link, deadline, follow=False, max_bytes=_MAX_BYTES)
        except SearchFetchError as error:
            target = error.details.get("location")
            return target if isinstance(target, str) and is_web_address(target) else link
        except SearchError:
            pass
        return link


def _links(urls: Iterable[str]) -> list[str]:
    return [url for url in dict.fromkeys(urls) if is_web_address(url) and _PATH in url.partition("?")[0]][:MOST_LINKS]
