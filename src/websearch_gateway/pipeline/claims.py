"""The path of `check_claims`: finds pages for each claim, shows what they say about it, and lets a reader judge."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from websearch_gateway.base import host, is_web_address, quote_url, with_scheme
from websearch_gateway.errors import SearchError, SearchValidationError, shown
from websearch_gateway.models import (
    LOCAL,
    LONGEST_CLAIM,
    MOST_CLAIM_URLS,
    MOST_CLAIMS,
    Call,
    Caller,
    Claim,
    Deadline,
    Exhibit,
    Judgement,
    Page,
    Progress,
    WebSearchRequest,
    no_progress,
)
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.looking import REPLY_RESERVE_SECONDS, look_through
from websearch_gateway.pipeline.page_reads import read_pages
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.web_search import WebSearch
from websearch_gateway.ports import ClaimReader
from websearch_gateway.results import CheckedClaim, CheckedClaims, ClaimQuote, FactDifference

if TYPE_CHECKING:
    from websearch_gateway.evidence import Finding

FOUND_PAGES = 3
"""The pages that are read for a claim without addresses."""
AT_ONCE = 8
"""Searches, and pages that the caller names, at once: a call of twenty claims leaves room for others."""
SEARCH_SHARE = 1 / 2
"""The share of a call's time that its searches may take."""
JUDGE_SHARE = 1 / 3
"""The share of the time after the searches that is reserved for a reader."""
CHECK_RESERVE_SECONDS = 1.0
"""Reserved at the end of the deadline (seconds, or a tenth of it if less), for looking through the pages."""
MOST_SHOWN = 3
"""The most sentences that are shown for a claim, of all its pages."""

Findings = Mapping[str, "Finding"]
"""What pages show of a claim, by their address."""


@dataclass(frozen=True, slots=True)
class ClaimChecking:
    """Shows what pages say of claims. One per process; safe for concurrent calls."""

    guard: Guard
    web: WebSearch
    reading: PageReading
    reader: ClaimReader | None = None

    async def check(
        self, claims: Sequence[Claim], caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> CheckedClaims:
        """What pages show of each claim, in the order given. See `results.CheckedClaim`.

        A search or page that fails becomes a warning; so does a claim that is refused, if another one is accepted.

        Raises:
            SearchValidationError: there are no claims or too many, or each is unacceptable or carries a credential.
            SearchError: the first error of a search, if every claim needs one and none succeeds.
        """
        texts = "\n".join(claim.claim for claim in claims)
        with self.web.telemetry.call(texts, tool="check_claims") as event:
            if not 1 <= len(claims) <= MOST_CLAIMS:
                raise _invalid(f"`claims` must be 1 to {MOST_CLAIMS} claims.", f"1-{MOST_CLAIMS}")
            accepted, warnings = self._accepted(claims)
            async with one_deadline(self.web.deadline_seconds, caller, progress) as begun:
                call = _Call(
                    begun.at, begun.clock, progress=progress, caller=caller, warnings=warnings
                )
                urls = await self._urls(accepted, call)
                pages = await self._pages(accepted, urls, call)
                findings = await self._findings(accepted, urls, pages, call)
                checked = [
                    CheckedClaim(claim=shown(claim.claim, LONGEST_CLAIM)) for claim in claims
                ]
                for claim, of_claim in zip(accepted, findings, strict=True):
                    result = _checked_claim(claim.text, of_claim)
                    checked[claim.number - 1] = result
                    for note in _other_pages(result, of_claim):
                        call.warnings.append(f"Claim {claim.number}: {note}")
                if self.reader is not None:
                    checked = await self._judged(checked, findings, self.reader, call)
            event.served("page", sum(map(len, findings)))
        return CheckedClaims(
            claims=tuple(checked),
            cost_usd=round(call.bill.usd, 6),
            warnings=tuple(dict.fromkeys(call.warnings)),
        )

    def _accepted(self, claims: Sequence[Claim]) -> tuple[list[_Accepted], list[str]]:
        """The claims to check, and a warning for each other one. Raises the first error if none is accepted."""
        accepted = []
        errors: list[SearchValidationError] = []
        warnings = []
        for number, claim in enumerate(claims, start=1):
            try:
                accepted.append(self._cleaned(number, claim))
            except SearchValidationError as error:
                errors.append(error)
                warnings.append(f"Claim {number} was not checked: {error.code}: {error.message}")
        if not accepted:
            raise errors[0]
        return accepted, warnings

    def _cleaned(self, number: int, claim: Claim) -> _Accepted:
        text = self.guard.clean("claims", claim.claim)
        if not 1 <= len(text) <= LONGEST_CLAIM:
            allowed = f"1-{LONGEST_CLAIM}"
            raise _invalid(f"Claim {number} must be 1 to {LONGEST_CLAIM} characters long.", allowed)
        if len(claim.urls) > MOST_CLAIM_URLS:
            allowed = f"0-{MOST_CLAIM_URLS}"
            raise _invalid(f"Claim {number} has more than {MOST_CLAIM_URLS} `urls`.", allowed)
        urls = [with_scheme(url) or "" for url in claim.urls]
        if not all(map(is_web_address, urls)):
            raise _invalid(
                f"The `urls` of claim {number} must be absolute http or https URLs.", "http, https"
            )
        return _Accepted(number, text, tuple(dict.fromkeys(urls)))

    async def _urls(self, claims: Sequence[_Accepted], call: _Call) -> list[tuple[str, ...]]:
        """The addresses of each claim: its own, or those that a search finds."""
        searched = [claim for claim in claims if not claim.urls]
        if searched:
            await call.progress(f"Searching for {len(searched)} claims")
        gate = asyncio.Semaphore(AT_ONCE)
        until = call.within(call.remaining() * SEARCH_SHARE)
        outcomes = await asyncio.gather(
            *(self._searched(claim.text, call, gate, until) for claim in searched)
        )
        errors = [outcome for outcome in outcomes if isinstance(outcome, SearchError)]
        if errors and len(errors) == len(claims):
            raise errors[0]
        urls = {claim.number: claim.urls for claim in claims}
        for claim, outcome in zip(searched, outcomes, strict=True):
            if isinstance(outcome, SearchError):
                reason = f"{outcome.code}: {outcome.message}"
                call.warnings.append(f"Claim {claim.number} was not searched: {reason}")
            else:
                urls[claim.number] = outcome
        return list(urls.values())

    async def _searched(
        self, claim: str, call: _Call, gate: asyncio.Semaphore, until: Deadline
    ) -> tuple[str, ...] | SearchError:
        request = WebSearchRequest(claim, max_results=FOUND_PAGES, read_pages=False)
        bill = call.bill.part()  # a search that fails may have been billed
        try:
            async with gate:
                response = await self.web.search(
                    request, call.caller, most_seconds=until.remaining(), bill=bill
                )
        except SearchError as error:
            return error
        # Only what was found: a caller must not make an address known by claiming it.
        await self.reading.provenance.remember(response, call.caller)
        call.warnings.extend(response.warnings)
        return tuple(result.link for result in response.results)

    async def _pages(
        self, claims: Sequence[_Accepted], urls: Sequence[Sequence[str]], call: _Call
    ) -> Mapping[str, Page]:
        """The pages that could be read. Those that the caller names count as reads; those of a search do not."""
        named = {url for claim in claims for url in claim.urls}
        found = {url for of_claim in urls for url in of_claim} - named
        await call.progress(f"Reading {len(named) + len(found)} pages")
        seconds = call.remaining()
        reserve = min(CHECK_RESERVE_SECONDS, seconds / 10)
        if self.reader is not None:
            reserve += seconds * JUDGE_SHARE
        until = call.within(seconds - reserve)
        reads_of_named = read_pages(
            _NamedPages(self.reading, call).read,
            sorted(named),
            until,
            # Reading a named page waits for the gate of the process itself.
            gate=asyncio.Semaphore(AT_ONCE),
            per_page_seconds=seconds,
        )
        reads_of_found = read_pages(
            self.web.page_cache.read,
            sorted(found),
            until,
            gate=self.web.gate,
            per_page_seconds=self.web.page_seconds,
        )
        of_named, of_found = await asyncio.gather(reads_of_named, reads_of_found)
        pages = {}
        for url, outcome in (of_named | of_found).items():
            if isinstance(outcome, Page):
                pages[url] = outcome
            else:
                call.warnings.append(f"{host(url)} was not read: {outcome.code}: {outcome.message}")
        return pages

    async def _findings(
        self,
        claims: Sequence[_Accepted],
        urls: Sequence[Sequence[str]],
        pages: Mapping[str, Page],
        call: _Call,
    ) -> list[Findings]:
        """For each claim what each page that it may be about shows."""
        sentences: dict[str, list[str]] = {url: [] for url in pages}
        for claim, of_claim in zip(claims, urls, strict=True):
            for url in of_claim:
                if url in pages:
                    sentences[url].append(claim.text)
        results = await asyncio.gather(
            *(
                look_through(self.web.workers, sentences[url], page, call)
                for url, page in pages.items()
            )
        )
        by_page = dict(zip(pages, results, strict=True))
        for url, of_page in by_page.items():
            if not of_page:
                call.warnings.append(f"{host(url)} was read, but not looked through in time.")
        findings: list[Findings] = []
        for claim, of_claim in zip(claims, urls, strict=True):
            findings.append(
                {
                    url: by_page[url][claim.text]
                    for url in of_claim
                    if claim.text in by_page.get(url, {})
                }
            )
        return findings

    async def _judged(
        self,
        checked: Sequence[CheckedClaim],
        findings: Sequence[Findings],
        reader: ClaimReader,
        call: _Call,
    ) -> list[CheckedClaim]:
        """The claims, those with sentences to judge them by with the verdict of the reader.

        A judgement counts only if the words on which it relies stand in one of the sentences; `supported` only if no
        hard fact differs. Else it is `unclear`. A claim that is not judged keeps its verdict, and a warning says so.
        """
        judged = list(checked)
        contexts = _contexts(findings)
        exhibits = {
            place: _exhibit(claim, contexts)
            for place, claim in enumerate(checked)
            if claim.verdict in ("found", "differs")
        }
        if not exhibits:
            return judged
        await call.progress(f"Judging {len(exhibits)} claims with {reader.name}")
        seconds = max(0.0, call.remaining() - REPLY_RESERVE_SECONDS)
        own = replace(call.within(seconds), bill=call.bill.part())
        try:
            answer = await reader.judge(list(exhibits.values()), own)
        except SearchError as error:
            call.warnings.append(f"The claims were not judged: {error.code}: {error.message}")
            return judged
        unjudged = []
        for place, judgement in zip(exhibits, answer.judgements, strict=True):
            if judgement is None:
                unjudged.append(str(place + 1))
            else:
                judged[place] = _by_model(checked[place], exhibits[place], judgement)
        if unjudged:
            call.warnings.append(f"{answer.reader} did not judge: claim {', '.join(unjudged)}.")
        call.warnings.extend(answer.warnings)
        return judged


_Contexts = Mapping[tuple[str, str], str]
"""The sentences around each quote, by the address of its page and its text."""


def _contexts(findings: Sequence[Findings]) -> _Contexts:
    contexts = {}
    for of_claim in findings:
        for url, finding in of_claim.items():
            for quote, context in zip(finding.quotes, finding.contexts, strict=False):
                contexts[url, quote] = context
    return contexts


def _exhibit(checked: CheckedClaim, contexts: _Contexts) -> Exhibit:
    return Exhibit(
        checked.claim,
        tuple(quote.text for quote in checked.quotes),
        tuple(contexts.get((quote.url, quote.text), "") for quote in checked.quotes),
    )


def _by_model(checked: CheckedClaim, exhibit: Exhibit, judgement: Judgement) -> CheckedClaim:
    """The claim with the judgement of a model, and the sentence on which it relies before the others."""
    from websearch_gateway.evidence import relied_on

    is_support = judgement.verdict == "supported"
    place = relied_on(exhibit.claim, exhibit.sentences, judgement.quote, is_support=is_support)
    if judgement.verdict == "unclear" or place is None:
        return checked.model_copy(update={"verdict": "unclear", "judge": "model"})
    first = checked.quotes[place]
    rest = tuple(quote for quote in checked.quotes if quote is not first)
    update = {"verdict": judgement.verdict, "judge": "model", "quotes": (first, *rest)}
    return checked.model_copy(
        update={**update, "quote": first.text, "url": first.url, "quote_url": first.quote_url}
    )


@dataclass(frozen=True, slots=True)
class _Accepted:
    """An accepted claim. `number` counts from 1 as the caller does."""

    number: int
    text: str
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Call(Call):
    """One call, with what went wrong so far."""

    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _NamedPages:
    """Pages that the caller names, as a Reader: their addresses are checked and count as reads."""

    reading: PageReading
    call: _Call
    name: str = "named"

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        page, unknown = await self.reading.read(url, self.call.caller, deadline)
        self.call.warnings.extend(unknown)
        return page


def _checked_claim(claim: str, findings: Findings) -> CheckedClaim:
    """What the page shows that speaks most of the claim, and then the nearest sentences of the others."""
    pages = sorted(
        findings, key=lambda url: (findings[url].verdict != "verbatim", -findings[url].share)
    )
    if not pages:
        return CheckedClaim(claim=claim, verdict="unread")
    best = findings[pages[0]]
    most = 1 if best.verdict == "verbatim" else MOST_SHOWN
    quotes = _nearest_quotes(findings, pages)[:most]
    first = quotes[0] if quotes else None
    differences = tuple(
        FactDifference(kind=difference.kind, claim=difference.claim, page=difference.page)
        for difference in best.differences
    )
    return CheckedClaim(
        claim=claim,
        verdict=best.verdict,
        differences=differences,
        quotes=tuple(quotes),
        quote=first and first.text,
        url=first and first.url,
        quote_url=first and first.quote_url,
    )


def _nearest_quotes(findings: Findings, pages: Sequence[str]) -> list[ClaimQuote]:
    """The nearest sentence of each page, then the second one of each."""
    quotes = []
    ranks = max(len(findings[url].quotes) for url in pages)
    for rank in range(ranks):
        for url in pages:
            of_page = findings[url].quotes
            if rank < len(of_page):
                text = of_page[rank]
                quotes.append(ClaimQuote(text=text, url=url, quote_url=quote_url(url, text)))
    return quotes


def _other_pages(checked: CheckedClaim, findings: Findings) -> Iterator[str]:
    """What pages differ in that did not decide the verdict."""
    if checked.verdict not in ("verbatim", "found"):
        return
    for url, finding in findings.items():
        for difference in finding.differences[:1]:
            words = f"{difference.page}, where the claim has {difference.claim}"
            yield f"{host(url)} differs: {words}."


def _invalid(message: str, allowed: str) -> SearchValidationError:
    return SearchValidationError(message, details={"field": "claims", "allowed": allowed})
