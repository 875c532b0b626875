"""The paths of `web_search`, `search_news` and `web_search_raw`: guard, cache, rate limit, search, (read), store.

The first two choose the hits of a provider, read their pages concurrently, and make the results; one slow page does not
cost the answer. The last one searches for each of its queries separately, all at once, and gives Google's own form.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from websearch_gateway.base import (
    UNSEEN_LEFT_OUT,
    AddressPolicy,
    clean_markdown,
    host,
    in_own_thread,
    iso_date,
    nothing_found,
    page_key,
    plain,
    query_terms,
    reads_like_orders,
    reason,
    records,
    strip_invisible_characters,
    strip_trackers,
    tokens_of_each,
    unreadable_note,
)
from websearch_gateway.cache.pages import PageCache
from websearch_gateway.cache.results import RawResult, Served, variant
from websearch_gateway.errors import (
    SearchError,
    SearchFetchError,
    SearchProviderParseError,
    SearchTimeoutError,
    Unavailable,
    shown,
)
from websearch_gateway.evidence import bm25, window
from websearch_gateway.foreign_json import reply_object
from websearch_gateway.models import (
    LAST_PAGE,
    LOCAL,
    LONGEST_QUERY,
    MOST_QUERIES,
    SHORTEST_QUERY,
    Bill,
    Call,
    Caller,
    Deadline,
    Freshness,
    Hit,
    Page,
    Progress,
    RawSearchRequest,
    SearchQuery,
    SearchResults,
    WebSearchRequest,
    no_progress,
)
from websearch_gateway.pipeline.argument_values import invalid, whole_number
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.finalize import clean_items, filters_of, unmet
from websearch_gateway.pipeline.guard import Guard, question
from websearch_gateway.pipeline.search import Recall
from websearch_gateway.ports import Searcher, Workers
from websearch_gateway.results import (
    ErrorInfo,
    RawQuery,
    RawSearchResponse,
    WebResult,
    WebSearchResponse,
)
from websearch_gateway.upstream.race import ProviderSelection
from websearch_gateway.upstream.telemetry import Telemetry, stage

SEARCH_SHARE = 2 / 3
"""The share of a call's time that searching may take, so that time for the pages remains after a slow provider."""

ASSEMBLY_RESERVE_SECONDS = 0.5
"""The time kept back at the end of the deadline (seconds), so that slow pages cannot cost the results."""

HOURS: dict[Freshness, int] = {"day": 24, "week": 168, "month": 720, "year": 8760}


@dataclass(frozen=True, slots=True)
class WebSearch:
    """Finds pages and reads them. One per process; safe for concurrent calls."""

    guard: Guard
    recall: Recall[WebSearchResponse]
    selection: ProviderSelection
    page_cache: PageCache
    workers: Workers
    telemetry: Telemetry
    gate: asyncio.Semaphore
    page_seconds: float
    deadline_seconds: float

    async def search(
        self,
        request: WebSearchRequest,
        caller: Caller = LOCAL,
        progress: Progress = no_progress,
        *,
        most_seconds: float = math.inf,
        bill: Bill | None = None,
    ) -> WebSearchResponse:
        """Results, each with its page or a note that says why there is none, in at most `most_seconds`.

        What it costs is on `bill`, even if it fails.

        Raises:
            SearchValidationError: the query or a parameter is unacceptable, or `providers` names an unknown provider.
            SearchNotConfiguredError: the named provider, or every provider, lacks a setting; the message names it.
            SearchRateLimitError: the caller, or all users together, asked too often.
            SearchAuthError: a key of the gateway was rejected upstream.
            SearchTimeoutError: nothing was found before the deadline.
            Exhausted: every provider failed.
        """
        with self.telemetry.call(
            request.query, "search_news" if request.topic == "news" else "web_search"
        ) as event:
            if request.freshness is not None and request.freshness not in HOURS:
                allowed = ", ".join(HOURS)
                raise invalid("freshness", f"one of {allowed}", allowed)
            hours = HOURS[request.freshness] if request.freshness else None
            asked = question(
                request, request.query, max_results=request.max_results, freshness_hours=hours
            )
            checked = self.guard.check(
                asked,
                WebSearchRequest,
                routed=caller.has_specialists,
                shortest=SHORTEST_QUERY,
            )
            page = whole_number("page", request.page, LAST_PAGE)
            chosen = slice((page - 1) * request.max_results, page * request.max_results)
            searcher = self.selection.choose(request.providers, request.topic)
            query = replace(
                checked.query,
                max_results=hits_to_ask_for(chosen.stop, checked.query),
                variant=variant(
                    [name.strip().lower() for name in request.providers], chosen, request.read_pages
                ),
            )
            reads = partial(self._read, request) if request.read_pages else None
            find = partial(self._find, chosen, searcher, reads)
            async with one_deadline(
                min(self.deadline_seconds, most_seconds), caller, progress, bill
            ) as call:
                served = await self.recall(
                    replace(checked, query=query), call, find, use_cache=request.use_cache
                )
            response = served.response
            event.served(
                response.results[0].provider if response.results else "",
                len(response.results),
                cost_usd=response.cost_usd,
                cache=response.cache,
                saved_usd=served.saved_usd,
                joined=served.joined,
            )
            return response

    @stage("answer")
    async def _find(
        self,
        chosen: slice,
        searcher: Searcher,
        reads: Callable[..., Awaitable[dict[str, Outcome]]] | None,
        call: Call,
    ) -> tuple[WebSearchResponse, bool]:
        """Search, read all pages concurrently, and combine the results. A stopgap if a page may soon be readable."""
        await call.progress("Searching the web")
        found = await searcher.ask(call.within(call.remaining() * SEARCH_SHARE))
        hits = distinct(found.hits, call.query.max_results)[chosen]
        if not hits and found.hits:
            empty = ["This `page` is beyond the last result: try a smaller one."]
        else:
            empty = (
                [] if hits else [nothing_found(call.query, longer='`freshness` "month" or "year"')]
            )
        outcomes: dict[str, Outcome] = {}
        if hits and reads is not None:
            await call.progress(f"Reading {len(hits)} pages")
            outcomes = await reads([hit.url for hit in hits], call)
        hits, text_warnings = await self._with_clean_texts(hits, outcomes, call)
        # Ranking fifty pages of 8,000 characters takes tens of milliseconds of CPU time, too long for the event loop.
        results = await in_own_thread(assemble, call.query.text, hits, outcomes)
        response = WebSearchResponse(
            results=results,
            filters=filters_of(call.query, found.applied),
            cost_usd=round(call.bill.usd, 6),
            warnings=(
                *found.warnings,
                *unmet(call.query, found.applied, found.provider, chosen.stop),
                *empty,
                *page_warnings(outcomes),
                *snippet_warnings(hits, outcomes, results),
                *text_warnings,
            ),
        )
        return response, may_be_read_soon(outcomes)

    async def _read(
        self, request: WebSearchRequest, urls: Sequence[str], call: Call
    ) -> dict[str, Outcome]:
        return await read_pages(
            partial(self.page_cache.read, fresh=not request.use_cache),
            urls,
            call.within(max(0.0, call.remaining() - ASSEMBLY_RESERVE_SECONDS)),
            gate=self.gate,
            per_page_seconds=min(self.page_seconds, PAGE_SECONDS),
        )

    async def _with_clean_texts(
        self, hits: list[Hit], outcomes: Mapping[str, Outcome], deadline: Deadline
    ) -> tuple[list[Hit], tuple[str, ...]]:
        """The hits, those of unread pages with the provider's cleaned text; and warnings."""
        unread = [hit for hit in hits if not isinstance(outcomes.get(hit.url), Page)]
        try:
            texts = await clean_sent(unread, self.workers, deadline)
        except Unavailable as error:
            warning = f"The texts that the provider sent are left out: {error.message}"
            return [replace(hit, content=None) for hit in hits], (warning,)
        cleaned = [replace(hit, content=texts.get(hit.url, (None, ()))[0]) for hit in hits]
        return cleaned, tuple(
            f"{url}: {warning}" for url, (_, warnings) in texts.items() for warning in warnings
        )


PAGE_CHARS = 8_000
"""The most characters of a page in its result: about 2,000 tokens, which holds many pages whole."""

MOST_SENT = 32_000
"""The most characters of a provider's page text that are cleaned; the result shows a quarter of them."""

PLACE_DAMPING = 10
"""How slowly the weight falls with a hit's place in the provider's list: the twelfth weighs half of the first."""

SNIPPET_CHARS = 200
SHORTEST_PROSE = 40
MOST_COMPARED = 200_000
"""The most characters of a page in which to look for a snippet."""

RUN = 3
UNSEEN_RUNS = 5
"""A snippet is compared in runs of RUN words. One other word makes RUN runs in a row unknown, and three make five."""

_PARTS = re.compile(r"\.{3}|…|\s[·|—–]\s")
"""What vendors put between the parts of a snippet."""
_WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)

_TEMPORARY = frozenset({"busy", "broken", "timeout"})
_MORE = "*({left:,} more characters: `get_content` with `offset` {offset}.)*"
_LEFT_OUT = "*({left:,} more characters of this text are left out.)*"


def distinct(hits: Sequence[Hit], most: int) -> list[Hit]:
    """At most `most` hits, one per page, without trackers in their URLs."""
    return list(_by_page((replace(hit, url=strip_trackers(hit.url)) for hit in hits), {}).values())[
        :most
    ]


async def clean_sent(
    hits: Iterable[Hit], workers: Workers, deadline: Deadline
) -> dict[str, tuple[str, Sequence[str]]]:
    """The page texts that a provider sent, cleaned as pages are, and warnings, by the URL of the hit.

    Raises:
        Unavailable: they cannot be cleaned in time.
    """
    sent = [(hit.url, hit.content[:MOST_SENT]) for hit in hits if hit.content]
    if not sent:
        return {}
    found = await workers.run(
        cleaned_texts, sent, deadline=deadline, size=sum(len(text) for _, text in sent)
    )
    return {url: (text, warnings) for (url, _), (text, warnings) in zip(sent, found, strict=True)}


def cleaned_texts(sent: Sequence[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    """The cleaned page texts from providers, with warnings. Runs in a worker process.

    Args:
        sent: pairs of a URL and its text.
    """
    return [clean_markdown(text, url) for url, text in sent]


def assemble(
    query: str, hits: Sequence[Hit], outcomes: Mapping[str, Outcome]
) -> tuple[WebResult, ...]:
    """The results, best first; hits whose redirects end at the same page become one.

    The relevance is the mean of two shares, each in 0..1: BM25 of the query over title, snippet and text that was read
    (see `text.passages`), and 11 / (10 + place), with the hit's place in the provider's list (from 1).

    Args:
        hits: with clean contents, see `cleaned_texts`.
        outcomes: the page or the error for each hit's URL; absent if it was not read.
    """
    found = list(_by_page(hits, outcomes).values())
    texts = [_text(hit, outcomes.get(hit.url)) for hit in found]
    documents = tokens_of_each(
        f"{hit.title}\n{hit.snippet}\n{text}" for hit, text in zip(found, texts, strict=True)
    )
    terms = query_terms(query)
    scores = bm25(terms, documents)
    results = []
    for place, (hit, text, score) in enumerate(zip(found, texts, scores, strict=True), start=1):
        relevance = (score + (PLACE_DAMPING + 1) / (PLACE_DAMPING + place)) / 2
        results.append(_result(hit, outcomes.get(hit.url), text, round(relevance, 4), terms))
    return tuple(sorted(results, key=lambda result: -result.relevance_score))


def snippet_warnings(
    hits: Sequence[Hit], outcomes: Mapping[str, Outcome], results: Sequence[WebResult]
) -> list[str]:
    """A warning for each snippet that was replaced."""
    sent = {hit.url: hit.snippet for hit in hits}
    return [
        f"{one.link}: its snippet repeated text that a reader cannot see; a visible part is shown."
        for one in results
        if isinstance(outcomes.get(one.link), Page) and one.snippet != _plain(sent[one.link])
    ]


def page_warnings(outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """The readers' warnings, each with its page."""
    return tuple(
        f"{url}: {warning}"
        for url, outcome in outcomes.items()
        if isinstance(outcome, Page)
        for warning in outcome.warnings
    )


def may_be_read_soon(outcomes: Mapping[str, Outcome]) -> bool:
    """Whether a page is missing for a temporary reason."""
    return any(
        isinstance(outcome, SearchError) and reason(outcome.code, outcome.details) in _TEMPORARY
        for outcome in outcomes.values()
    )


def _by_page(hits: Iterable[Hit], outcomes: Mapping[str, Outcome]) -> dict[str, Hit]:
    """The first hit of each page, by the canonical URL that its redirects lead to."""
    pages: dict[str, Hit] = {}
    for hit in hits:
        outcome = outcomes.get(hit.url)
        pages.setdefault(page_key(outcome.final_url if isinstance(outcome, Page) else hit.url), hit)
    return pages


def _text(hit: Hit, outcome: Outcome | None) -> str:
    """The beginning of the page, or else of the provider's text; empty if there is neither."""
    text, notice = (
        (outcome.markdown, _MORE) if isinstance(outcome, Page) else (hit.content or "", _LEFT_OUT)
    )
    opening, rest = window(text, 0, PAGE_CHARS)
    if rest is None:
        return text
    return f"{opening.rstrip()}\n\n{notice.format(left=len(text) - rest, offset=rest)}"


def _repeats_unseen(snippet: str, page: Page) -> bool:
    """Whether a part of the snippet is not visible on a page that hides text, or is not and the snippet has orders."""
    hides = any(warning.startswith(UNSEEN_LEFT_OUT) for warning in page.warnings)
    if not hides and reads_like_orders(snippet) is None:
        return False
    visible = f" {' '.join(_WORD.findall(plain(page.markdown[:MOST_COMPARED]).casefold()))} "
    return any(
        _is_unseen(_WORD.findall(part.casefold()), visible) for part in _PARTS.split(snippet)
    )


def _is_unseen(words: Sequence[str], visible: str) -> bool:
    """Whether words in a row, or all of them, are not on the page. A single one may be cut or written otherwise."""
    runs = [" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]
    missing = [f" {run} " not in visible for run in runs]
    most = max(
        (len(list(group)) for is_missing, group in groupby(missing) if is_missing), default=0
    )
    return most >= UNSEEN_RUNS or (bool(missing) and all(missing))


def _visible_snippet(page: Page, terms: Sequence[str]) -> str:
    """The paragraph of a page with the most terms of the query, cut to the length of a snippet."""
    paragraphs = [plain(part) for part in page.markdown[:MOST_COMPARED].split("\n\n")]
    prose = [part for part in paragraphs if len(part) >= SHORTEST_PROSE] or paragraphs
    wanted = frozenset(terms)
    found = [len(wanted.intersection(words)) for words in tokens_of_each(prose)]
    best = prose[found.index(max(found))]
    return best if len(best) <= SNIPPET_CHARS else f"{best[:SNIPPET_CHARS].rpartition(' ')[0]} …"


def _result(
    hit: Hit, outcome: Outcome | None, text: str, relevance: float, terms: Sequence[str]
) -> WebResult:
    page = outcome if isinstance(outcome, Page) else None
    # A hit without a title has its URL as title.
    title = page.title if page and hit.title == hit.url else hit.title
    snippet = _plain(hit.snippet)
    if page and _repeats_unseen(snippet, page):
        snippet = _visible_snippet(page, terms)
    note = ""
    if not (page and text.strip()):
        note = _note(hit, outcome, text)
        text = text or ("" if note else _plain(hit.snippet) or _plain(hit.title) or hit.url)
    return WebResult(
        title=_plain(title) or hit.url,
        link=hit.url,
        snippet=snippet,
        page_content=note + text,
        note_chars=len(note) or None,
        provider=hit.provider,
        published_date=iso_date(page.published if page and page.published else hit.published),
        relevance_score=relevance,
    )


def _note(hit: Hit, outcome: Outcome | None, text: str) -> str:
    """Why there is no page, before the provider's `text` of it; empty if the page was not to be read."""
    if outcome is None:
        return ""
    if isinstance(outcome, Page):
        outcome = SearchFetchError("The page has no readable text.", details={"reason": "empty"})
    note = unreadable_note(outcome.code, outcome.details, host(hit.url), outcome.message)
    return f"{note}\n\nThe search provider sent this text of it:\n\n" if text else note


def _plain(text: str) -> str:
    return strip_invisible_characters(text)[0]


MOST_HITS = 100
"""No call asks a provider for more hits than this, on any page."""
LEAST_FILTERED = 20
"""The least number of hits to ask for if domains are filtered here: the filter may drop most of them."""


def hits_to_ask_for(wanted: int, query: SearchQuery) -> int:
    """How many hits to ask a provider for, so that about `wanted` remain after domains are filtered here."""
    filtered = query.include_domains or query.exclude_domains
    return min(MOST_HITS, max(wanted * 2, LEAST_FILTERED) if filtered else wanted)


PAGE_SECONDS = 5.0
"""The most time for one page (seconds): an answer from four pages now is worth more than one from five later."""

GRACE_SECONDS = 0.75
"""How long the remaining pages may take once enough have been read (seconds)."""

Outcome = Page | SearchError


async def read_pages(
    read: Callable[[str, Deadline], Awaitable[Page]],
    urls: Sequence[str],
    deadline: Deadline,
    *,
    gate: asyncio.Semaphore,
    per_page_seconds: float,
    enough: int | None = None,
) -> dict[str, Outcome]:
    """Read `urls`, each as soon as `gate` has room; the keys are the distinct URLs, in the order given.

    The value of an unreadable page is its `SearchError`. The value is a `SearchTimeoutError` if the page took longer
    than `per_page_seconds`, or if it had not arrived by `deadline` or GRACE_SECONDS after `enough` others. No task
    outlives the call, even if the call raises or is cancelled.

    Raises:
        Exception: any error other than `SearchError` is a defect of a reader and is raised.
    """
    late = SearchTimeoutError("The page did not arrive in time.")

    async def outcome(url: str) -> Outcome:
        async with gate:
            own = deadline.within(per_page_seconds)
            timer = asyncio.timeout(own.remaining())
            try:
                async with timer:
                    return await read(url, own)
            except SearchError as error:
                return error
            except TimeoutError:
                if not timer.expired():
                    raise
                return late

    tasks = {url: asyncio.create_task(outcome(url)) for url in dict.fromkeys(urls)}
    left, until = len(tasks) if enough is None else enough, deadline
    try:
        pending = set(tasks.values())
        while pending and (seconds := until.remaining()):
            done, pending = await asyncio.wait(
                pending, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            left -= sum(isinstance(task.result(), Page) for task in done)
            if left <= 0:
                until = until.within(GRACE_SECONDS)
        return {url: task.result() if task.done() else late for url, task in tasks.items()}
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


GOOGLE = "google"
QUERIES_AT_ONCE = 5

_Reply = Served[RawResult] | SearchError
"""The outcome of one query."""


@dataclass(frozen=True, slots=True)
class RawSearch:
    """Searches with Google, or with the other providers if Google cannot serve. One per process."""

    guard: Guard
    recall: Recall[RawResult]
    selection: ProviderSelection
    addresses: AddressPolicy
    gate: asyncio.Semaphore
    telemetry: Telemetry
    deadline_seconds: float

    async def search(
        self, request: RawSearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> RawSearchResponse:
        """A result for each query, or its error if it failed.

        Raises:
            SearchError: every query failed; the error is that of the first query.
        """
        with self.telemetry.call("\n".join(request.queries), tool="web_search_raw") as event:
            if not 1 <= len(request.queries) <= MOST_QUERIES:
                raise invalid(
                    "query", f"one query, or 1 to {MOST_QUERIES} of them", f"1-{MOST_QUERIES}"
                )
            await progress("Searching the web")
            gate = asyncio.Semaphore(QUERIES_AT_ONCE)
            texts = list(dict.fromkeys(request.queries))  # a repeated query is searched once
            async with asyncio.TaskGroup() as group:
                tasks = {
                    text: group.create_task(self._ask(text, request, caller, gate))
                    for text in texts
                }
            replies = {text: task.result() for text, task in tasks.items()}
            served = [reply for reply in replies.values() if not isinstance(reply, SearchError)]
            if not served:
                raise next(reply for reply in replies.values() if isinstance(reply, SearchError))
            found = [one.response for one in served]
            states = {one.cache for one in found}
            cost = round(sum(one.cost_usd for one in found), 6)
            event.served(
                found[0].provider,
                sum(len(one.result.get("items", ())) for one in found),
                cost_usd=cost,
                cache=states.pop() if len(states) == 1 else "miss",
                saved_usd=sum(one.saved_usd for one in served),
                joined=all(one.joined for one in served),
            )
            return RawSearchResponse(
                queries=tuple(_entry(query, replies[query]) for query in request.queries),
                cost_usd=cost,
                warnings=tuple(dict.fromkeys(warning for one in found for warning in one.warnings)),
            )

    async def _ask(
        self, text: str, request: RawSearchRequest, caller: Caller, gate: asyncio.Semaphore
    ) -> _Reply:
        asked = question(request, text, max_results=request.max_results)
        try:
            async with one_deadline(self.deadline_seconds, caller) as call, gate:
                checked = self.guard.check(
                    asked,
                    RawSearchRequest,
                    routed=caller.has_specialists,
                    shortest=SHORTEST_QUERY,
                )
                return await self.recall(checked, call, self._find, use_cache=request.use_cache)
        except SearchError as error:
            return error

    async def _find(self, call: Call) -> tuple[RawResult, bool]:
        """Search, and put the hits into Google's form. Counts for the limit only if it calls a provider."""
        try:
            async with self.gate:
                found = await self.selection.preferring((GOOGLE,)).ask(call)
        finally:
            if not call.bill.requests:
                await self.recall.rate_limits.give_back(call.caller)
        google_failed = found.provider != GOOGLE and GOOGLE in self.selection.searchers
        return await self._in_googles_form(call, found), google_failed

    async def _in_googles_form(self, call: Call, found: SearchResults) -> RawResult:
        query = call.query
        warnings: tuple[str, ...]
        if found.provider == GOOGLE:
            # Parsing five pages of JSON takes too long for the event loop.
            whole = await in_own_thread(merged, found.bodies, query.max_results)
            result, warnings = await in_own_thread(clean_items, whole, self.addresses)
        else:
            result = imitated(query, found.hits)
            missing = self.selection.absent.get(GOOGLE)
            because = f": google cannot serve here: {missing}." if missing else "."
            warnings = (f"These are results of {found.provider} in the form of Google's{because}",)
        if not result.get("items"):
            warnings = (*warnings, f"{query.text}: {nothing_found(query)}")
        return RawResult(
            provider=found.provider,
            result=result,
            cost_usd=round(call.bill.usd, 9),
            warnings=(
                *warnings,
                *found.warnings,
                *unmet(query, found.applied, found.provider, query.max_results),
            ),
        )


def _entry(query: str, reply: _Reply) -> RawQuery:
    if isinstance(reply, SearchError):
        error = ErrorInfo.of(reply).model_dump(mode="json", by_alias=True, exclude_none=True)
        return RawQuery(query=shown(query, LONGEST_QUERY), result={"error": error})
    found = reply.response
    return RawQuery(
        query=query,
        provider=found.provider,
        cache=found.cache,
        age_seconds=found.age_seconds,
        result=found.result,
    )


def merged(bodies: Sequence[bytes], most: int) -> dict[str, Any]:
    """Merge Google's replies, one per page: the first reply with the items of all, at most `most`.

    Numbers that JSON does not allow become null, and invisible characters are removed.

    Raises:
        SearchProviderParseError: a reply is not JSON, or nested too deeply.
    """
    try:
        pages = [_without_invisible(reply_object(body, "google")) for body in bodies]
    except RecursionError:
        raise SearchProviderParseError("The reply of google is nested too deeply.") from None
    items = [item for page in pages for item in records(page, "items", "google", optional=True)]
    bare = {name: value for name, value in pages[0].items() if name != "items"}
    return {**bare, "items": items[:most]} if items else bare


def imitated(query: SearchQuery, hits: Sequence[Hit]) -> dict[str, Any]:
    """The hits of another provider in Google's format, with the fields that they have. `totalResults` counts them."""
    reply: dict[str, Any] = {
        "kind": "customsearch#search",
        "queries": {"request": [{"searchTerms": query.text, "count": len(hits), "startIndex": 1}]},
        "searchInformation": {"totalResults": str(len(hits))},
    }
    return {**reply, "items": [_item(hit) for hit in hits]} if hits else reply


def _item(hit: Hit) -> dict[str, Any]:
    item: dict[str, Any] = {
        "kind": "customsearch#result",
        "title": _without_invisible(hit.title),
        "link": hit.url,
        "displayLink": urlsplit(hit.url).hostname or "",
        "snippet": _without_invisible(hit.snippet),
        "formattedUrl": hit.url,
    }
    if hit.published:
        item["pagemap"] = {"metatags": [{"article:published_time": hit.published}]}
    return item


def _without_invisible(value: Any) -> Any:
    if isinstance(value, str):
        return strip_invisible_characters(value)[0]
    if isinstance(value, dict):
        return {_without_invisible(key): _without_invisible(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_invisible(item) for item in value]
    return None if isinstance(value, float) and value - value != 0 else value
