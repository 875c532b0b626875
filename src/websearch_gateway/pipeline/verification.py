"""Verifies the citations of an answer on request: reads the cited pages, and shows the words in which they say it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from websearch_gateway.errors import Unavailable
from websearch_gateway.models import Deadline, Page
from websearch_gateway.pipeline.web_search import read_pages
from websearch_gateway.ports import Reader, Workers
from websearch_gateway.results import Citation, SearchResponse
from websearch_gateway.text.citations import snippets
from websearch_gateway.text.quotes import quote_url
from websearch_gateway.text.support import verdicts
from websearch_gateway.text.urls import host

MOST_PAGES = 8
CHECK_RESERVE_SECONDS = 0.5
"""Reserved at the end of the deadline (seconds), for looking through the pages."""


@dataclass(frozen=True, slots=True)
class Verification:
    """Fills `quote`, `quoteUrl` and `support` of citations that have none."""

    reader: Reader
    workers: Workers
    gate: asyncio.Semaphore
    page_seconds: float

    async def __call__(self, response: SearchResponse, deadline: Deadline) -> SearchResponse:
        """The response with its citations verified, and warnings about those that their pages do not hold.

        `support` is `unread` where the page could not be read in time. Never raises a `SearchError`.
        """
        asked = {cited.url: _sentences(response.text, cited) for cited in response.citations if cited.support is None}
        urls = list(asked)[:MOST_PAGES]
        pages = await read_pages(
            self.reader,
            urls,
            deadline.within(max(0.0, deadline.remaining() - CHECK_RESERVE_SECONDS)),
            gate=self.gate,
            per_page_seconds=self.page_seconds,
        )
        checks = [self._check(asked[url], page, deadline) for url, page in pages.items() if isinstance(page, Page)]
        read = [url for url, page in pages.items() if isinstance(page, Page)]
        found = dict(zip(read, await asyncio.gather(*checks), strict=True))
        citations = tuple(
            _verified(cited, asked[cited.url], found.get(cited.url, {})) if cited.url in asked else cited
            for cited in response.citations
        )
        return response.model_copy(
            update={"citations": citations, "warnings": (*response.warnings, *_warnings(citations))}
        )

    async def _check(self, sentences: Sequence[str], page: Page, deadline: Deadline) -> Mapping[str, tuple[str, str]]:
        try:
            found = await self.workers.run(
                verdicts, sentences, page.markdown, page.title, deadline=deadline, size=len(page.markdown)
            )
        except Unavailable:
            return {}
        return {sentence: (how, quote) for sentence, (how, quote) in zip(sentences, found, strict=True)}


def _sentences(text: str, cited: Citation) -> list[str]:
    """The sentence of each place, or the one of the citation if there is no text."""
    if not text:
        return [cited.text_snippet]
    return snippets(text, [(span.start_index, span.end_index) for span in cited.spans])


def _verified(cited: Citation, sentences: Sequence[str], found: Mapping[str, tuple[str, str]]) -> Citation:
    proofs = [_proof(cited.url, *found.get(sentence, ("unread", ""))) for sentence in sentences]
    spans = tuple(span.model_copy(update=proof) for span, proof in zip(cited.spans, proofs, strict=False))
    return cited.model_copy(update={**proofs[0], "spans": spans})


def _proof(url: str, how: str, quote: str) -> dict[str, str | None]:
    return {"support": how, "quote": quote or None, "quote_url": quote_url(url, quote) if quote else None}


def _warnings(citations: Sequence[Citation]) -> list[str]:
    """The hosts of pages that lack a sentence, and of those that were not read."""
    notes = {
        "not_found": "Cited pages that do not say what they are cited for, as far as can be seen without a reader",
        "unread": "Cited pages that could not be read in time to verify them",
    }
    found: list[str] = []
    for how, note in notes.items():
        hosts = [host(one.url) for one in citations if how in (one.support, *(span.support for span in one.spans))]
        found += [f"{note}: {', '.join(dict.fromkeys(hosts))}."] if hosts else []
    return found
