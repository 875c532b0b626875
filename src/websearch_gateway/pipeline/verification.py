"""Reads the cited pages of an answer and shows their words beside its sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from websearch_gateway.base import host, quote_url
from websearch_gateway.evidence import snippets
from websearch_gateway.models import Deadline, Page, Support
from websearch_gateway.pipeline.looking import look_through
from websearch_gateway.pipeline.page_reads import read_pages
from websearch_gateway.ports import Reader, Workers
from websearch_gateway.results import Citation, SearchResponse

if TYPE_CHECKING:
    from websearch_gateway.evidence import Finding

MOST_PAGES = 8
"""As many as an answer may cite (`maxResults`)."""
VERIFY_RESERVE_SECONDS = 0.5
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
        sentences = {
            citation.url: _sentences(response.text, citation)
            for citation in response.citations
            if citation.support is None
        }
        findings = await self._findings(sentences, deadline)
        citations = []
        for citation in response.citations:
            if citation.url in sentences:
                of_page = findings.get(citation.url, {})
                citation = _verified(citation, sentences[citation.url], of_page)
            citations.append(citation)
        warnings = (*response.warnings, *_warnings(citations))
        return response.model_copy(update={"citations": tuple(citations), "warnings": warnings})

    async def _findings(
        self, sentences: Mapping[str, Sequence[str]], deadline: Deadline
    ) -> Mapping[str, Mapping[str, Finding]]:
        """What each page that can be read in time shows of its sentences, by its address."""
        seconds = max(0.0, deadline.remaining() - VERIFY_RESERVE_SECONDS)
        outcomes = await read_pages(
            self.reader.read,
            list(sentences)[:MOST_PAGES],
            deadline.within(seconds),
            gate=self.gate,
            per_page_seconds=self.page_seconds,
        )
        pages = {url: page for url, page in outcomes.items() if isinstance(page, Page)}
        findings = await asyncio.gather(
            *(
                look_through(self.workers, sentences[url], page, deadline)
                for url, page in pages.items()
            )
        )
        return dict(zip(pages, findings, strict=True))


def _sentences(text: str, citation: Citation) -> list[str]:
    """The sentence of each place, or the one of the citation if there is no text."""
    if not text:
        return [citation.text_snippet]
    places = [(span.start_index, span.end_index) for span in citation.spans]
    return snippets(text, places)


_SUPPORT: Mapping[str, Support] = {"verbatim": "verbatim", "found": "quoted", "differs": "differs"}


def _verified(
    citation: Citation, sentences: Sequence[str], findings: Mapping[str, Finding]
) -> Citation:
    """The citation with the proof of each sentence, and that of the first one as its own."""
    proofs = [_proof(citation.url, findings.get(sentence)) for sentence in sentences]
    spans = tuple(
        span.model_copy(update=proof) for span, proof in zip(citation.spans, proofs, strict=False)
    )
    return citation.model_copy(update={**proofs[0], "spans": spans})


def _proof(url: str, finding: Finding | None) -> dict[str, str | None]:
    if finding is None:
        return {"support": "unread", "quote": None, "quote_url": None}
    quote = finding.quotes[0] if finding.quotes else None
    link = quote_url(url, quote) if quote else None
    support = _SUPPORT.get(finding.verdict, "not_found")
    return {"support": support, "quote": quote, "quote_url": link}


_NOTES = {
    "not_found": "Cited pages without a sentence about what they are cited for",
    "differs": "Cited pages that have another number, date, unit or name than the answer, see `quote`",
    "unread": "Cited pages that could not be read in time to verify them",
}


def _warnings(citations: Sequence[Citation]) -> list[str]:
    """The hosts of pages that lack a sentence or differ from it, and of those that were not read."""
    warnings = []
    for support, note in _NOTES.items():
        hosts = [host(citation.url) for citation in citations if support in _supports(citation)]
        if hosts:
            warnings.append(f"{note}: {', '.join(dict.fromkeys(hosts))}.")
    return warnings


def _supports(citation: Citation) -> set[str | None]:
    return {citation.support, *(span.support for span in citation.spans)}
