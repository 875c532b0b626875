"""Lays sentences beside pages: `check_claims` finds pages for each claim and shows what they say about it, and
verification reads the cited pages of an answer and shows their words beside its sentences.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from websearch_gateway.base import adapter, host, is_web_address, quote_url, with_scheme
from websearch_gateway.errors import SearchError, SearchValidationError, Unavailable, shown
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
    Exhibit,
    Judgement,
    Page,
    Progress,
    Support,
    WebSearchRequest,
    no_progress,
)
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.page_reads import Outcome, read_pages
from websearch_gateway.pipeline.read_page import PageReading
from websearch_gateway.pipeline.web_search import WebSearch
from websearch_gateway.ports import ClaimReader, Reader, Workers
from websearch_gateway.results import (
    CheckedClaim,
    CheckedClaims,
    Citation,
    ClaimQuote,
    FactDifference,
    SearchResponse,
)

if TYPE_CHECKING:
    from websearch_gateway.evidence import Finding

FOUND_PAGES = 3
"""The pages that are read for a claim without addresses."""
AT_ONCE = 8
JUDGE_SHARE = 1 / 3
"""The share of the time after the searches that is reserved for a reader."""
MOST_SHOWN = 3
"""The most sentences that are shown for a claim, of all its pages."""

SEARCH_SHARE = 1 / 2
"""The share of a call's time that its searches may take."""
CHECK_RESERVE_SECONDS = 1.0
"""Reserved at the end of the deadline (seconds, or a tenth of it if less), for looking through the pages."""
REPLY_RESERVE_SECONDS = 0.2
"""Reserved for the reply (seconds): pages that take long to look through must not cost the verdicts of the others."""


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
        with self.web.telemetry.call(
            "\n".join(one.claim for one in claims), tool="check_claims"
        ) as event:
            if not 1 <= len(claims) <= MOST_CLAIMS:
                raise _invalid(f"`claims` must be 1 to {MOST_CLAIMS} claims.", f"1-{MOST_CLAIMS}")
            asked, refused = self._accepted(claims)
            async with one_deadline(self.web.deadline_seconds, caller, progress) as begun:
                call = _Call(
                    begun.at, begun.clock, progress=progress, caller=caller, warnings=refused
                )
                urls = await self._urls(asked, call)
                pages = await self._pages(asked, urls, call)
                found = await self._found(asked, urls, pages, call)
                checked = [
                    CheckedClaim(claim=shown(claim.claim, LONGEST_CLAIM)) for claim in claims
                ]
                for claim, of_claim in zip(asked, found, strict=True):
                    checked[claim.number - 1] = one = _checked_claim(claim.text, of_claim)
                    call.warnings.extend(
                        f"Claim {claim.number}: {note}" for note in _other_pages(one, of_claim)
                    )
                if self.reader is not None:
                    checked = await self._judged(checked, found, self.reader, call)
            event.served("page", sum(map(len, found)))
        return CheckedClaims(
            claims=tuple(checked),
            cost_usd=round(call.bill.usd, 6),
            warnings=tuple(dict.fromkeys(call.warnings)),
        )

    def _accepted(self, claims: Sequence[Claim]) -> tuple[list[_Asked], list[str]]:
        """The claims to check, and a warning for each other one. Raises the first error if none is left."""
        accepted: list[_Asked] = []
        errors: dict[int, SearchValidationError] = {}
        for number, claim in enumerate(claims, start=1):
            try:
                accepted.append(self._checked(number, claim))
            except SearchValidationError as error:
                errors[number] = error
        if not accepted:
            raise errors[1]
        warnings = [
            f"Claim {number} was not checked: {one.code}: {one.message}"
            for number, one in errors.items()
        ]
        return accepted, warnings

    def _checked(self, number: int, given: Claim) -> _Asked:
        text = self.guard.clean("claims", given.claim)
        if not 1 <= len(text) <= LONGEST_CLAIM:
            raise _invalid(
                f"Claim {number} must be 1 to {LONGEST_CLAIM} characters long.",
                f"1-{LONGEST_CLAIM}",
            )
        if len(given.urls) > MOST_CLAIM_URLS:
            raise _invalid(
                f"Claim {number} has more than {MOST_CLAIM_URLS} `urls`.", f"0-{MOST_CLAIM_URLS}"
            )
        urls = [with_scheme(url) or "" for url in given.urls]
        if not all(map(is_web_address, urls)):
            raise _invalid(
                f"The `urls` of claim {number} must be absolute http or https URLs.", "http, https"
            )
        return _Asked(number, text, tuple(dict.fromkeys(urls)))

    async def _urls(self, claims: Sequence[_Asked], call: _Call) -> list[tuple[str, ...]]:
        """The addresses of each claim: its own, or those that a search finds."""
        searched = [place for place, claim in enumerate(claims) if not claim.urls]
        if searched:
            await call.progress(f"Searching for {len(searched)} claims")
        gate, until = asyncio.Semaphore(AT_ONCE), call.within(call.remaining() * SEARCH_SHARE)
        found = await asyncio.gather(
            *(self._searched(claims[place].text, call, gate, until) for place in searched)
        )
        urls = [claim.urls for claim in claims]
        errors = [outcome for outcome in found if isinstance(outcome, SearchError)]
        if errors and len(errors) == len(claims):
            raise errors[0]
        for place, outcome in zip(searched, found, strict=True):
            if isinstance(outcome, SearchError):
                call.warnings.append(
                    f"Claim {claims[place].number} was not searched: {outcome.code}: {outcome.message}"
                )
            else:
                urls[place] = outcome
        return urls

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
        return tuple(one.link for one in response.results)

    async def _pages(
        self, claims: Sequence[_Asked], urls: Sequence[Sequence[str]], call: _Call
    ) -> Mapping[str, Page]:
        """The pages that could be read. Those that the caller names count as reads; those of a search do not."""
        named = {url for claim in claims for url in claim.urls}
        found = {url for of_claim in urls for url in of_claim} - named
        await call.progress(f"Reading {len(named) + len(found)} pages")
        seconds = call.remaining()
        reserve = min(CHECK_RESERVE_SECONDS, seconds / 10) + (
            seconds * JUDGE_SHARE if self.reader else 0.0
        )
        earlier = call.within(seconds - reserve)
        given = _Given(self.reading, call)
        outcomes: dict[str, Outcome] = {}
        for some in await asyncio.gather(
            # Reading a given page waits for the gate itself.
            read_pages(
                given.read,
                sorted(named),
                earlier,
                gate=asyncio.Semaphore(AT_ONCE),
                per_page_seconds=seconds,
            ),
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

    async def _found(
        self,
        claims: Sequence[_Asked],
        urls: Sequence[Sequence[str]],
        pages: Mapping[str, Page],
        call: _Call,
    ) -> list[dict[str, Finding]]:
        """For each claim what each page that it may be about shows, by address."""
        asked = {
            url: [claim.text for claim, own in zip(claims, urls, strict=True) if url in own]
            for url in pages
        }
        looking = (
            _look_through(self.web.workers, asked[url], page, call) for url, page in pages.items()
        )
        found = dict(zip(pages, await asyncio.gather(*looking), strict=True))
        late = (url for url in pages if not found[url])
        call.warnings.extend(
            f"{host(url)} was read, but not looked through in time." for url in late
        )
        return [
            {url: found[url][claim.text] for url in own if claim.text in found.get(url, {})}
            for claim, own in zip(claims, urls, strict=True)
        ]

    async def _judged(
        self,
        checked: Sequence[CheckedClaim],
        found: Sequence[Mapping[str, Finding]],
        reader: ClaimReader,
        call: _Call,
    ) -> list[CheckedClaim]:
        """The claims, those with sentences to judge them by with the verdict of the reader.

        A judgement counts only if the words on which it relies stand in one of the sentences; `supported` only if no
        hard fact differs. Else it is `unclear`. A claim that is not judged keeps its verdict, and a warning says so.
        """
        judged = list(checked)
        open_claims = [
            place for place, one in enumerate(checked) if one.verdict in ("found", "differs")
        ]
        if not open_claims:
            return judged
        contexts = _contexts(found)
        exhibits = [
            Exhibit(
                checked[place].claim,
                tuple(quote.text for quote in checked[place].quotes),
                tuple(contexts.get((quote.url, quote.text), "") for quote in checked[place].quotes),
            )
            for place in open_claims
        ]
        await call.progress(f"Judging {len(exhibits)} claims with {reader.name}")
        within = call.within(max(0.0, call.remaining() - REPLY_RESERVE_SECONDS))
        try:
            answer = await reader.judge(exhibits, replace(within, bill=call.bill.part()))
        except SearchError as error:
            call.warnings.append(f"The claims were not judged: {error.code}: {error.message}")
            return judged
        unjudged = []
        for place, exhibit, judgement in zip(open_claims, exhibits, answer.judgements, strict=True):
            if judgement is None:
                unjudged.append(str(place + 1))
            else:
                judged[place] = _by_model(checked[place], exhibit, judgement)
        if unjudged:
            call.warnings.append(f"{answer.reader} did not judge: claim {', '.join(unjudged)}.")
        call.warnings.extend(answer.warnings)
        return judged


def _contexts(found: Sequence[Mapping[str, Finding]]) -> dict[tuple[str, str], str]:
    """The sentences around each quote, by the address of its page and its text."""
    return {
        (url, text): context
        for of_claim in found
        for url, finding in of_claim.items()
        for text, context in zip(finding.quotes, finding.contexts, strict=False)
    }


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
class _Asked:
    """An accepted claim. `number` counts from 1 as the caller does."""

    number: int
    text: str
    urls: tuple[str, ...]


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


async def _look_through(
    workers: Workers, sentences: Sequence[str], page: Page, deadline: Deadline
) -> dict[str, Finding]:
    """What the page shows of each sentence; empty if it could not be looked through in time."""
    # It runs in workers; most servers never need it.
    from websearch_gateway.evidence import (
        Finding,
        findings,
    )

    earlier = deadline.within(max(0.0, deadline.remaining() - REPLY_RESERVE_SECONDS))
    try:
        result = await workers.run(
            findings,
            sentences,
            page.markdown,
            page.title,
            deadline=earlier,
            size=len(page.markdown),
        )
    except Unavailable:
        return {}
    found: list[Finding] = adapter(list[Finding]).validate_python(result)
    return dict(zip(sentences, found, strict=True))


def _checked_claim(claim: str, found: Mapping[str, Finding]) -> CheckedClaim:
    """What the page shows that speaks most of the claim, and then the nearest sentences of the others."""
    pages = sorted(found, key=lambda url: (found[url].verdict != "verbatim", -found[url].share))
    if not pages:
        return CheckedClaim(claim=claim, verdict="unread")
    best = found[pages[0]]
    ranked = sorted(
        (place, number, url)
        for number, url in enumerate(pages)
        for place in range(len(found[url].quotes))
    )
    texts = [(found[url].quotes[place], url) for place, _, url in ranked]
    most = 1 if best.verdict == "verbatim" else MOST_SHOWN
    quotes = tuple(
        ClaimQuote(text=text, url=url, quote_url=quote_url(url, text)) for text, url in texts[:most]
    )
    first = quotes[0] if quotes else None
    return CheckedClaim(
        claim=claim,
        verdict=best.verdict,
        differences=tuple(
            FactDifference(kind=one.kind, claim=one.claim, page=one.page)
            for one in best.differences
        ),
        quotes=quotes,
        quote=first and first.text,
        url=first and first.url,
        quote_url=first and first.quote_url,
    )


def _other_pages(checked: CheckedClaim, found: Mapping[str, Finding]) -> Iterator[str]:
    """What pages differ in that did not decide the verdict."""
    if checked.verdict in ("verbatim", "found"):
        for url, finding in found.items():
            for one in finding.differences[:1]:
                yield f"{host(url)} differs: {one.page}, where the claim has {one.claim}."


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
        asked = {
            cited.url: _sentences(response.text, cited)
            for cited in response.citations
            if cited.support is None
        }
        urls = list(asked)[:MOST_PAGES]
        pages = await read_pages(
            self.reader.read,
            urls,
            deadline.within(max(0.0, deadline.remaining() - VERIFY_RESERVE_SECONDS)),
            gate=self.gate,
            per_page_seconds=self.page_seconds,
        )
        read = {url: page for url, page in pages.items() if isinstance(page, Page)}
        looking = (
            _look_through(self.workers, asked[url], page, deadline) for url, page in read.items()
        )
        found = dict(zip(read, await asyncio.gather(*looking), strict=True))
        citations = tuple(
            _verified(cited, asked[cited.url], found.get(cited.url, {}))
            if cited.url in asked
            else cited
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


_SUPPORT: Mapping[str, Support] = {"verbatim": "verbatim", "found": "quoted", "differs": "differs"}


def _verified(cited: Citation, sentences: Sequence[str], found: Mapping[str, Finding]) -> Citation:
    proofs: list[dict[str, str | None]] = []
    for sentence in sentences:
        finding = found.get(sentence)
        quote = finding.quotes[0] if finding and finding.quotes else None
        support = _SUPPORT.get(finding.verdict, "not_found") if finding else "unread"
        proofs.append(
            {"support": support, "quote": quote, "quote_url": quote and quote_url(cited.url, quote)}
        )
    spans = tuple(
        span.model_copy(update=proof) for span, proof in zip(cited.spans, proofs, strict=False)
    )
    return cited.model_copy(update={**proofs[0], "spans": spans})


def _warnings(citations: Sequence[Citation]) -> list[str]:
    """The hosts of pages that lack a sentence or differ from it, and of those that were not read."""
    notes = {
        "not_found": "Cited pages without a sentence about what they are cited for",
        "differs": "Cited pages that have another number, date, unit or name than the answer, see `quote`",
        "unread": "Cited pages that could not be read in time to verify them",
    }
    found: list[str] = []
    for how, note in notes.items():
        hosts = [
            host(one.url)
            for one in citations
            if how in (one.support, *(span.support for span in one.spans))
        ]
        found += [f"{note}: {', '.join(dict.fromkeys(hosts))}."] if hosts else []
    return found
