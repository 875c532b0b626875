"""Checks sentences against pages: `check_claims` finds pages for each claim and says what they say about it, and
verification reads the cited pages of an answer and shows the words in which they say it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from websearch_gateway.base import host, is_web_address, quote_url, with_scheme
from websearch_gateway.errors import SearchError, SearchValidationError, Unavailable
from websearch_gateway.evidence import snippets
from websearch_gateway.models import (
    LOCAL,
    LONGEST_CLAIM,
    MOST_CLAIM_URLS,
    MOST_CLAIMS,
    Call,
    Caller,
    Claim,
    Deadline,
    Page,
    Progress,
    WebSearchRequest,
    no_progress,
)
from websearch_gateway.pipeline.guard import Guard, one_deadline
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.web_search import Outcome, WebSearch, read_pages
from websearch_gateway.ports import Reader, Workers
from websearch_gateway.results import CheckedClaim, CheckedClaims, Citation, SearchResponse

FOUND_PAGES = 3
"""The pages that are read for a claim without addresses."""
AT_ONCE = 8

SEARCH_SHARE = 1 / 2
"""The share of a call's time that its searches may take."""
CHECK_RESERVE_SECONDS = 1.0
"""Reserved at the end of the deadline (seconds, or a tenth of it if less), for looking through the pages."""
REPLY_RESERVE_SECONDS = 0.2
"""Reserved for the reply (seconds): pages that take long to look through must not cost the verdicts of the others."""


@dataclass(frozen=True, slots=True)
class ClaimChecking:
    """Checks claims against pages. One per process; safe for concurrent calls."""

    guard: Guard
    web: WebSearch
    reading: PageReading

    async def check(
        self, claims: Sequence[Claim], caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> CheckedClaims:
        """A verdict for each claim, with the words of the page that it rests on. See `results.CheckedClaim`.

        A search or page that fails becomes a warning.

        Raises:
            SearchValidationError: there are no claims or too many, or one is unacceptable or carries a credential.
            SearchError: the first error of a search, if every claim needs one and none succeeds.
        """
        with self.web.telemetry.call("\n".join(one.claim for one in claims), tool="check_claims") as event:
            asked = [self._checked(number, one) for number, one in enumerate(claims, start=1)]
            if not 1 <= len(asked) <= MOST_CLAIMS:
                raise _invalid(f"`claims` must be 1 to {MOST_CLAIMS} claims.", f"1-{MOST_CLAIMS}")
            async with one_deadline(self.web.deadline_seconds, caller, progress) as begun:
                call = _Call(begun.at, begun.clock, progress=progress, caller=caller)
                urls = await self._urls(asked, call)
                pages = await self._pages(asked, urls, call)
                found = await self._judged(asked, urls, pages, call)
            event.served("page", sum(map(len, found)))
            for number, of_claim in enumerate(found, start=1):
                by_verdict = {verdict: url for url, (verdict, _) in of_claim.items()}
                if {"supported", "contradicted"} <= by_verdict.keys():
                    call.warnings.append(f"Claim {number}: {host(by_verdict['contradicted'])} contradicts it.")
        checked = tuple(_verdict(one.claim, of_claim) for one, of_claim in zip(asked, found, strict=True))
        return CheckedClaims(
            claims=checked, cost_usd=round(call.bill.usd, 6), warnings=tuple(dict.fromkeys(call.warnings))
        )

    def _checked(self, number: int, given: Claim) -> Claim:
        text = self.guard.clean("claims", given.claim)
        if not 1 <= len(text) <= LONGEST_CLAIM:
            raise _invalid(f"Claim {number} must be 1 to {LONGEST_CLAIM} characters long.", f"1-{LONGEST_CLAIM}")
        if len(given.urls) > MOST_CLAIM_URLS:
            raise _invalid(f"Claim {number} has more than {MOST_CLAIM_URLS} `urls`.", f"0-{MOST_CLAIM_URLS}")
        urls = [with_scheme(url) or "" for url in given.urls]
        if not all(map(is_web_address, urls)):
            raise _invalid(f"The `urls` of claim {number} must be absolute http or https URLs.", "http, https")
        return Claim(text, tuple(dict.fromkeys(urls)))

    async def _urls(self, claims: Sequence[Claim], call: _Call) -> list[tuple[str, ...]]:
        """The addresses of each claim: its own, or those that a search finds."""
        searched = [number for number, one in enumerate(claims) if not one.urls]
        if searched:
            await call.progress(f"Searching for {len(searched)} claims")
        gate, until = asyncio.Semaphore(AT_ONCE), call.within(call.remaining() * SEARCH_SHARE)
        found = await asyncio.gather(*(self._searched(claims[number].claim, call, gate, until) for number in searched))
        urls = [one.urls for one in claims]
        errors = [one for one in found if isinstance(one, SearchError)]
        if errors and len(errors) == len(claims):
            raise errors[0]
        for number, outcome in zip(searched, found, strict=True):
            if isinstance(outcome, SearchError):
                call.warnings.append(f"Claim {number + 1} was not searched: {outcome.code}: {outcome.message}")
            else:
                urls[number] = outcome
        return urls

    async def _searched(
        self, claim: str, call: _Call, gate: asyncio.Semaphore, until: Deadline
    ) -> tuple[str, ...] | SearchError:
        request = WebSearchRequest(claim, num_results=FOUND_PAGES, read_pages=False)
        bill = call.bill.part()  # a search that fails may have been billed
        try:
            async with gate:
                response = await self.web.search(request, call.caller, most_seconds=until.remaining(), bill=bill)
        except SearchError as error:
            return error
        # Only what was found: a caller must not make an address known by claiming it.
        await self.reading.provenance.remember(response, call.caller)
        call.warnings.extend(response.warnings)
        return tuple(one.link for one in response.results)

    async def _pages(self, claims: Sequence[Claim], urls: Sequence[Sequence[str]], call: _Call) -> Mapping[str, Page]:
        """The pages that could be read. Those that the caller names count as reads; those of a search do not."""
        named = {url for one in claims for url in one.urls}
        found = {url for of_claim in urls for url in of_claim} - named
        await call.progress(f"Reading {len(named) + len(found)} pages")
        seconds = call.remaining()
        earlier = call.within(seconds - min(CHECK_RESERVE_SECONDS, seconds / 10))
        given = _Given(self.reading, call)
        outcomes: dict[str, Outcome] = {}
        for some in await asyncio.gather(
            # Reading a given page waits for the gate itself.
            read_pages(given.read, sorted(named), earlier, gate=asyncio.Semaphore(AT_ONCE), per_page_seconds=seconds),
            read_pages(
                self.web.page_cache.read,
                sorted(found),
                earlier,
                gate=self.web.gate,
                per_page_seconds=self.web.page_seconds,
            ),
        ):
            outcomes |= some
        for url, outcome in outcomes.items():
            if isinstance(outcome, SearchError):
                call.warnings.append(f"{host(url)} was not read: {outcome.code}: {outcome.message}")
        return {url: page for url, page in outcomes.items() if isinstance(page, Page)}

    async def _judged(
        self, claims: Sequence[Claim], urls: Sequence[Sequence[str]], pages: Mapping[str, Page], call: _Call
    ) -> list[dict[str, tuple[str, str]]]:
        """For each claim the verdict and quote of each page that it may be about, by address."""
        asked = {url: [one.claim for one, of in zip(claims, urls, strict=True) if url in of] for url in pages}
        judging = (_judge(self.web.workers, asked[url], page, call) for url, page in pages.items())
        found = dict(zip(pages, await asyncio.gather(*judging), strict=True))
        late = (url for url in pages if not found[url])
        call.warnings.extend(f"{host(url)} was read, but not looked through in time." for url in late)
        return [
            {url: _of_claim(one.claim, *found[url][one.claim]) for url in of if one.claim in found.get(url, {})}
            for one, of in zip(claims, urls, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Call(Call):
    """One call, with what went wrong so far."""

    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Given:
    """Pages that the caller names, as a Reader: their addresses are checked and count as reads."""

    reading: PageReading
    call: _Call
    name: str = "given"

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        page, unknown = await self.reading.read(url, self.call.caller, deadline)
        self.call.warnings.extend(unknown)
        return page


async def _judge(
    workers: Workers, sentences: Sequence[str], page: Page, deadline: Deadline
) -> dict[str, tuple[str, str]]:
    """What `judged` finds for each sentence; empty if the page could not be looked through in time."""
    from websearch_gateway.evidence import judged  # it runs in workers; most servers never need it

    earlier = deadline.within(max(0.0, deadline.remaining() - REPLY_RESERVE_SECONDS))
    try:
        found = await workers.run(
            judged, sentences, page.markdown, page.title, deadline=earlier, size=len(page.markdown)
        )
    except Unavailable:
        return {}
    return {sentence: (how, quote) for sentence, (how, quote) in zip(sentences, found, strict=True)}


def _of_claim(claim: str, how: str, quote: str) -> tuple[str, str]:
    from websearch_gateway.evidence import is_claim

    if how in ("verbatim", "paraphrase"):
        return ("supported", quote) if is_claim(claim) else ("not_found", "")
    return how, quote


def _verdict(claim: str, found: Mapping[str, tuple[str, str]]) -> CheckedClaim:
    """The best verdict of the pages: `supported` before `contradicted` before `not_found`."""
    for wanted in ("supported", "contradicted"):
        for url, (verdict, quote) in found.items():
            if verdict == wanted:
                return CheckedClaim(claim=claim, verdict=wanted, quote=quote, url=url, quote_url=quote_url(url, quote))
    return CheckedClaim(claim=claim, verdict="not_found" if found else "unread")


def _invalid(message: str, allowed: str) -> SearchValidationError:
    return SearchValidationError(message, details={"field": "claims", "allowed": allowed})


MOST_PAGES = 8
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
        asked = {cited.url: _sentences(response.text, cited) for cited in response.citations if cited.support is None}
        urls = list(asked)[:MOST_PAGES]
        pages = await read_pages(
            self.reader.read,
            urls,
            deadline.within(max(0.0, deadline.remaining() - VERIFY_RESERVE_SECONDS)),
            gate=self.gate,
            per_page_seconds=self.page_seconds,
        )
        read = {url: page for url, page in pages.items() if isinstance(page, Page)}
        checks = (_judge(self.workers, asked[url], page, deadline) for url, page in read.items())
        found = dict(zip(read, await asyncio.gather(*checks), strict=True))
        citations = tuple(
            _verified(cited, asked[cited.url], found.get(cited.url, {})) if cited.url in asked else cited
            for cited in response.citations
        )
        return response.model_copy(
            update={"citations": citations, "warnings": (*response.warnings, *_warnings(citations))}
        )


def _sentences(text: str, cited: Citation) -> list[str]:
    """The sentence of each place, or the one of the citation if there is no text."""
    if not text:
        return [cited.text_snippet]
    return snippets(text, [(span.start_index, span.end_index) for span in cited.spans])


def _verified(cited: Citation, sentences: Sequence[str], found: Mapping[str, tuple[str, str]]) -> Citation:
    proofs: list[dict[str, str | None]] = []
    for sentence in sentences:
        how, quote = found.get(sentence, ("unread", ""))
        if how == "contradicted":  # the page does not say it
            how, quote = "not_found", ""
        url = quote_url(cited.url, quote) if quote else None
        proofs.append({"support": how, "quote": quote or None, "quote_url": url})
    spans = tuple(span.model_copy(update=proof) for span, proof in zip(cited.spans, proofs, strict=False))
    return cited.model_copy(update={**proofs[0], "spans": spans})


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
