"""Raw search as an answer engine: quotes from pages that it gathers once for all engines that use them."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import TypeAdapter

from websearch_gateway.errors import Unavailable
from websearch_gateway.models import Answer, Call, Deadline, Gathered, Hit, Page
from websearch_gateway.pipeline.web_results import MOST_SENT, cleaned_texts, hits_to_ask_for, read_pages
from websearch_gateway.ports import NOT_RERANKED, Composer, Gather, Reader, Reranker, Searcher, Shortlist, Workers

PAGE_SECONDS = 5.0
"""The most time for one page (seconds): an answer from four pages now is worth more than one from five later."""

ENOUGH_PAGES = 3
"""After this many pages, the others get only GRACE_SECONDS more."""

COMPOSE_RESERVE_SECONDS = 0.5
"""The time kept back at the end of the deadline (seconds), so that slow pages cannot cost the answer."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """Searches, and reads the best pages concurrently, once for all engines of a call.

    A page whose text the provider sent is not fetched again. Its text serves this call only: it goes into no page
    cache, since vendors' terms allow no more than that.
    """

    searcher: Searcher
    reader: Reader
    workers: Workers
    gate: asyncio.Semaphore
    page_seconds: float

    async def __call__(self, call: Call) -> Gathered:
        """The search results, and each page that could be read, by the URL of its hit.

        Raises:
            Refused: a key is wrong, or no provider is configured.
            Exhausted: every provider failed.
        """
        return await (call.gathering.run(partial(self._gather, call)) if call.gathering else self._gather(call))

    async def _gather(self, call: Call) -> Gathered:
        query = call.query
        await call.progress("Searching the web")
        asked = replace(query, max_results=hits_to_ask_for(query.max_results, query))
        results = await self.searcher.ask(replace(call, query=asked))
        best = results.hits[: query.max_results]
        sent = await self._sent(best, call)
        if urls := [hit.url for hit in best if hit.url not in sent]:
            await call.progress(f"Reading {len(urls)} pages")
        pages = sent | await self._read(urls, call, enough=max(1, ENOUGH_PAGES - len(sent)))
        hits = tuple(replace(hit, content=None) if hit.url in sent else hit for hit in results.hits)
        return Gathered(replace(results, hits=hits), pages)

    async def _sent(self, hits: Sequence[Hit], deadline: Deadline) -> dict[str, Page]:
        """The texts that the provider sent, cleaned as pages are; none if they cannot be cleaned in time."""
        texts = [(hit.url, hit.content[:MOST_SENT]) for hit in hits if hit.content]
        size = sum(len(text) for _, text in texts)
        try:
            cleaned = await self.workers.run(cleaned_texts, texts, deadline=deadline, size=size) if texts else []
        except Unavailable:
            return {}
        found = {url: clean for (url, _), clean in zip(texts, cleaned, strict=True)}
        return {
            hit.url: Page(hit.url, hit.url, hit.title, text, "text/markdown", hit.published, warnings=warnings)
            for hit in hits
            for text, warnings in [found.get(hit.url, ("", ()))]
            if text
        }

    async def _read(self, urls: list[str], deadline: Deadline, enough: int) -> dict[str, Page]:
        outcomes = await read_pages(
            self.reader,
            urls,
            deadline.within(max(0.0, deadline.remaining() - COMPOSE_RESERVE_SECONDS)),
            gate=self.gate,
            per_page_seconds=min(self.page_seconds, PAGE_SECONDS),
            enough=enough,
        )
        return {url: outcome for url, outcome in outcomes.items() if isinstance(outcome, Page)}


@dataclass(frozen=True, slots=True)
class RawEngine:
    """Quotes the sentences that answer the question from the pages that raw search finds."""

    gather: Gather
    composer: Composer
    workers: Workers
    reranker: Reranker | None = None
    shortlist: Shortlist | None = None
    name: str = "raw-search"

    async def ask(self, call: Call) -> Answer:
        """Answer from pages, or from snippets where pages cannot be read.

        Raises:
            Refused: a key is wrong, or no provider is configured.
            Exhausted: every provider failed.
        """
        gathered = await self.gather(call)
        await call.progress("Composing the answer")
        hits, pages = gathered.results.hits, gathered.pages
        size = sum(len(page.markdown) for page in pages.values()) + sum(map(_size, hits))
        preferred, warnings = await self._preferred(call, gathered, size)
        composed = await self.workers.run(self.composer, call.query, hits, pages, preferred, deadline=call, size=size)
        answer = _answer_type().validate_python(composed)
        return replace(
            answer,
            provider=f"{gathered.results.provider}-raw-search",
            applied=gathered.results.applied,
            warnings=(*gathered.results.warnings, *answer.warnings, *warnings),
            fallback=gathered.results.fallback,
        )

    async def _preferred(self, call: Call, gathered: Gathered, size: int) -> tuple[list[int], tuple[str, ...]]:
        """The numbers of the best sentences in the reranker's order, and a warning if it fails."""
        if self.reranker is None or self.shortlist is None:
            return [], ()
        hits, pages = gathered.results.hits, gathered.pages
        found = await self.workers.run(self.shortlist, call.query, hits, pages, deadline=call, size=size)
        order, fault = await self.reranker.order(call.query.text, [text for _, text in found], call)
        return [found[at][0] for at in order], (f"{NOT_RERANKED}{fault}",) if fault else ()


@functools.cache
def _answer_type() -> TypeAdapter[Answer]:
    return TypeAdapter(Answer)


def _size(hit: Hit) -> int:
    return len(hit.title) + len(hit.snippet) + len(hit.content or "")
