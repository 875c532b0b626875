"""Raw search, page reading and an extractive answer, behind the interface of an answer engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from websearch_gateway.models import Answer, Deadline, Page, SearchQuery
from websearch_gateway.pipeline.read import read_pages
from websearch_gateway.ports import Composer, Progress, Reader, Searcher

PAGE_SECONDS = 5.0
"""What one page may take at most: an answer from four pages now is worth more than one from five later."""

ENOUGH_PAGES = 3
"""After so many pages the others are given only a moment more."""

COMPOSE_RESERVE_SECONDS = 0.5
"""Kept free at the end of the deadline, so that slow pages cannot cost the answer."""


@dataclass(frozen=True, slots=True)
class RawEngine:
    """Searches, reads the best pages at once and quotes the sentences that answer the question."""

    searcher: Searcher
    reader: Reader
    composer: Composer
    concurrency: int
    page_seconds: float
    name: str = "raw-search"

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Answer from pages, or from snippets where pages cannot be read.

        Raises:
            Refused: a key is wrong, or no provider is configured.
            Exhausted: every provider failed.
        """
        await progress("Searching the web")
        results = await self.searcher.search(query, deadline)
        urls = [hit.url for hit in results.hits[: query.max_results]]
        if urls:
            await progress(f"Reading {len(urls)} pages")
        pages = await self._read(urls, deadline)
        await progress("Composing the answer")
        # Ranking takes tens of milliseconds of CPU, hostile pages up to a second: not on the loop.
        answer = await asyncio.to_thread(self.composer, query, results.hits, pages)
        return replace(
            answer,
            provider=f"{results.provider}-raw-search",
            cost_usd=answer.cost_usd + results.cost_usd,
            applied=results.applied,
            warnings=(*results.warnings, *answer.warnings),
        )

    async def _read(self, urls: list[str], deadline: Deadline) -> dict[str, Page]:
        outcomes = await read_pages(
            self.reader,
            urls,
            deadline.within(max(0.0, deadline.remaining() - COMPOSE_RESERVE_SECONDS)),
            concurrency=self.concurrency,
            per_page_seconds=min(self.page_seconds, PAGE_SECONDS),
            enough=ENOUGH_PAGES,
        )
        return {url: outcome for url, outcome in outcomes.items() if isinstance(outcome, Page)}
