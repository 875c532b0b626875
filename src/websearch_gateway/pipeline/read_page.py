"""The path of `get_content` and `read_from_page`: check, read through the page cache, which admits, cut or rank."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from websearch_gateway.base import CacheMemory, SharedCache, normalise, with_scheme
from websearch_gateway.cache.pages import (
    UNKNOWN_SCRIPT,
    PageCache,
    Similarity,
    Subject,
    content_hash,
    page_key,
)
from websearch_gateway.errors import SearchError
from websearch_gateway.evidence import (
    ANSWERS,
    MOST_PASSAGES,
    PDF,
    cut_passages,
    ranked,
    shown,
    window,
)
from websearch_gateway.models import (
    LOCAL,
    LONGEST_QUERY,
    MOST_QUERIES,
    MOST_RESULTS,
    Call,
    Caller,
    ContentRequest,
    Deadline,
    Page,
    Passage,
    PassagesRequest,
)
from websearch_gateway.pipeline.argument_values import invalid, up_to, whole_number
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.provenance import Provenance
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.ports import MOST_RERANKED, NOT_RERANKED, Reranker, State, Workers
from websearch_gateway.results import (
    PageContent,
    PageMetadata,
    PagePassage,
    PagePassages,
    QueryPassages,
)
from websearch_gateway.upstream.telemetry import Telemetry

MOST_CHARS = 100_000
"""Of a window: more than the size of a reply lets through."""
MOST_OFFSET = 100_000_000
"""Beyond the end of any page that can be read."""
NEAREST_CHARS = 600
"""The most characters to show of a passage that hardly answers."""

CUT_OFF = "Only the beginning of this long page was fetched; the rest is missing."


@dataclass(frozen=True, slots=True)
class PageReading:
    """Reads one page. One per process; safe for concurrent calls.

    Attributes:
        rate_limits: for calls that ask the page's site.
        cached_limits: for calls with a stored page, and for those that join a read in flight.
        state: its problem becomes a warning of every reply.
    """

    page_cache: PageCache
    finder: PassageFinder
    rate_limits: RateLimits
    cached_limits: RateLimits
    state: State
    gate: asyncio.Semaphore
    telemetry: Telemetry
    guard: Guard
    provenance: Provenance
    deadline_seconds: float
    clock: Callable[[], float] = time.time

    async def content(self, request: ContentRequest, caller: Caller = LOCAL) -> PageContent:
        """A window of a page.

        Raises:
            SearchValidationError: a parameter is out of range, or the offset is beyond the end.
            SearchRateLimitError: the caller has read too often.
            ForbiddenUrlError: the address may not be read, or nobody gave it (`details.reason` is "provenance").
            SearchFetchError, SearchTimeoutError: the page cannot be read.
        """
        with self.telemetry.call(request.url, tool="get_content") as event:
            whole_number("offset", request.offset, MOST_OFFSET, 0)
            most, warnings = up_to("maxChars", request.max_chars, MOST_CHARS)
            async with one_deadline(self.deadline_seconds) as deadline:
                page, unknown = await self.read(
                    request.url, caller, deadline, fresh=request.refresh
                )
            total = len(page.markdown)
            if request.offset > total:
                raise invalid("offset", f"at most {total}, the length of the page", f"0-{total}")
            text, next_offset = window(page.markdown, request.offset, most)
            event.served("page", 1, cache=page.cache)
        return PageContent(
            url=page.url,
            page_content=text,
            title=page.title,
            next_offset=next_offset,
            total_chars=total,
            cache=page.cache,
            age_seconds=self._age(page),
            warnings=(*unknown, *warnings, *self._warnings(page)),
        )

    async def passages(self, request: PassagesRequest, caller: Caller = LOCAL) -> PagePassages:
        """The passages of a page that answer each query.

        Raises:
            SearchValidationError: a query or parameter is unacceptable, or carries a credential.
            SearchRateLimitError: the caller has read too often.
            ForbiddenUrlError, SearchFetchError, SearchTimeoutError: the page cannot be read.
        """
        with self.telemetry.call(request.url, tool="read_from_page") as event:
            most, warnings = up_to("maxResults", request.max_results, MOST_RESULTS)
            queries = _checked(request.queries)
            self.guard.refuse_credentials("query", "\n".join(queries))  # they go to the embedder
            async with one_deadline(self.deadline_seconds, caller) as call:
                page, unknown = await self.read(
                    request.url, caller, call, fresh=request.force_refresh
                )
                findings = await self.finder.find(page, queries, most, call)
            event.served("page", sum(map(len, findings.answers)), cache=page.cache)
        rows = zip(request.queries, findings.answers, findings.nearest, strict=True)
        results = [
            QueryPassages(query=query, results=_shown(answer), nearest=_beginning(nearest))
            for query, answer, nearest in rows
        ]
        metadata = None
        if request.include_metadata:
            metadata = PageMetadata(
                final_url=page.final_url,
                content_type=page.content_type,
                published=page.published,
                content_hash=content_hash(page),
                total_chars=len(page.markdown),
                passages=findings.passages,
            )
        return PagePassages(
            url=page.url,
            title=page.title,
            cache=page.cache,
            age_seconds=self._age(page),
            last_crawled=datetime.fromtimestamp(page.fetched_at, UTC).isoformat(timespec="seconds"),
            queries=tuple(results),
            note=" ".join(findings.notes),
            metadata=metadata,
            warnings=(*unknown, *warnings, *findings.warnings, *self._warnings(page)),
        )

    async def warm_up(self) -> None:
        """Load everything that the first query would wait for and that needs no network."""
        await asyncio.to_thread(self.finder.warm_up)

    def _warnings(self, page: Page) -> tuple[str, ...]:
        warnings = list(page.warnings)
        if page.truncated:
            warnings.append(CUT_OFF)
        problem = self.state.problem
        if problem:
            warnings.append(str(problem))
        return tuple(warnings)

    def _age(self, page: Page) -> float:
        return round(max(0.0, self.clock() - page.fetched_at), 1)

    async def read(
        self, url: str, caller: Caller, deadline: Deadline, *, fresh: bool = False
    ) -> tuple[Page, tuple[str, ...]]:
        """The whole page, and warnings about its address. Raises what `content` raises."""
        address = with_scheme(url)
        if address is None:
            raise invalid("url", "an absolute http or https URL", "http, https")
        leaves_cache = False

        async def admit() -> None:
            nonlocal leaves_cache
            leaves_cache = True
            await self.rate_limits.admit(caller)

        unknown = await self.provenance.check(address, caller)
        try:
            async with self.gate:
                call = self.provenance.checking_redirects(deadline, address, caller)
                page = await self.page_cache.read(
                    address, call, fresh=fresh, user=caller.user, admit=admit
                )
        except SearchError as error:
            if unknown is None:
                raise
            # A site that has what it wanted may well answer with an error. Others may share this one.
            with_warning = copy(error)
            with_warning.message = f"{unknown} {error.message}"
            with_warning.args = (with_warning.message,)
            raise with_warning from None
        if not leaves_cache:
            await self.cached_limits.admit(caller)
        elif unknown is None and page.final_url != address:
            unknown = await self.provenance.check_final(page.final_url, address, caller)
        await self.provenance.remember_page(page.markdown, caller, deadline)
        return page, (unknown,) if unknown else ()


def _shown(passages: Sequence[Passage]) -> tuple[PagePassage, ...]:
    return tuple(map(_shown_passage, passages))


def _shown_passage(passage: Passage) -> PagePassage:
    return PagePassage(
        id=passage.id,
        text=passage.text,
        score=round(passage.score, 3),
        section_path=passage.section_path,
        page=passage.page,
    )


def _beginning(nearest: Passage | None) -> PagePassage | None:
    """The first NEAREST_CHARS of a passage that hardly answers."""
    if nearest is None:
        return None
    passage = _shown_passage(nearest)
    text, rest = window(nearest.text, 0, NEAREST_CHARS)
    if rest is None:
        return passage
    return passage.model_copy(update={"text": f"{text.rstrip()} …"})


_LONGEST_RAW = 10
"""How many times as long as LONGEST_QUERY a query may be before it is normalised."""


def _checked(queries: tuple[str, ...]) -> list[str]:
    """The normalised queries.

    Raises:
        SearchValidationError: there are none or too many, or one is empty or too long.
    """
    if not 1 <= len(queries) <= MOST_QUERIES:
        raise invalid(
            "query", f"a query or a list of 1 to {MOST_QUERIES} of them", f"1-{MOST_QUERIES}"
        )
    plain = []
    for query in queries:
        # Normalising shortens some texts, but takes too long for one that cannot become short enough.
        text = normalise(query) if len(query) <= _LONGEST_RAW * LONGEST_QUERY else query
        if not 1 <= len(text) <= LONGEST_QUERY:
            allowed = f"1-{LONGEST_QUERY} characters"
            raise invalid("query", f"1 to {LONGEST_QUERY} characters long", allowed)
        plain.append(text)
    return plain


RANKING_RESERVE_SECONDS = 0.5
"""The time kept back for ranking (seconds, or a tenth of the deadline if less). Late vectors do not count."""

SAMPLE_CHARACTERS = 2_000
"""The characters of a page that decide its script."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The passages for each query, best first, and the `nearest` for each query without any.

    `passages` counts those of the page, `notes` and `warnings` are for the caller.
    """

    answers: tuple[tuple[Passage, ...], ...]
    nearest: tuple[Passage | None, ...]
    notes: tuple[str, ...]
    passages: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _PreparedPage:
    """A page in passages. `more` says that it has further passages, which were not cut."""

    passages: tuple[Passage, ...]
    subject: Subject
    is_known_script: bool
    more: bool
    characters: int


Scored = tuple[int, float]
"""The place of a passage on its page, and its score."""


class PassageFinder:
    """Finds passages. One per process; safe for concurrent calls.

    Args:
        size: the approximate number of tokens in a passage, see `evidence.cut_passages`.
        threshold: the least score of a passage that is shown, 0 to 1; 0 shows all.
        reranker: chooses the order of the passages; the best place has the best score all the same.
        memory: shared with the other caches of the process.
    """

    def __init__(
        self,
        similarity: Similarity,
        workers: Workers,
        *,
        size: int,
        threshold: float,
        reranker: Reranker | None = None,
        memory: CacheMemory | None = None,
    ) -> None:
        self._similarity = similarity
        self._workers = workers
        self._size = size
        self._threshold = threshold
        self._reranker = reranker
        self._pages: SharedCache[tuple[str, str], _PreparedPage] = SharedCache(memory)

    async def find(self, page: Page, queries: Sequence[str], most: int, call: Call) -> Findings:
        """At most `most` passages for each query. If the embedder fails, words alone rank them, and a note says so.

        Raises:
            SearchFetchError, SearchTimeoutError: a worker cannot process the page, or not in time.
        """
        key = page_key(page.url), content_hash(page)
        prepared = self._pages.get(key)
        if prepared is None:
            new = await self._prepared(page, call)
            prepared = self._pages.get(key) or self._keep(key, new)  # another call may be faster
        vectors_before = len(prepared.subject.vectors)
        comparable = queries if prepared.is_known_script else ()
        seconds = call.remaining()
        earlier = call.within(seconds - min(RANKING_RESERVE_SECONDS, seconds / 10))
        compared = await self._similarity.compare(prepared.subject, comparable, earlier)
        if len(prepared.subject.vectors) != vectors_before:
            self._keep(key, prepared)
        similarities = []
        for query in queries:
            by_id = compared.similarities.get(query, {})
            similarities.append([by_id.get(passage.id) for passage in prepared.passages])
        by_query = await self._workers.run(
            ranked,
            queries,
            ["\n".join((*passage.section_path, passage.text)) for passage in prepared.passages],
            similarities,
            self._similarity.weight,
            max(most, MOST_RERANKED) if self._reranker else most,
            deadline=call,
            size=prepared.characters,
        )
        by_query, warnings = await self._reranked(prepared, queries, by_query, most, call)
        answers: list[tuple[Passage, ...]] = []
        nearest: list[Passage | None] = []
        for scored in by_query:
            passages = [replace(prepared.passages[place], score=score) for place, score in scored]
            answering = shown([passage.score for passage in passages], self._threshold)
            answers.append(tuple(passages[:answering]))
            nearest.append(passages[0] if passages and not answering else None)
        notes = _notes(answers, nearest, prepared.more, compared.fault)
        is_without_vectors = compared.fault not in (None, UNKNOWN_SCRIPT)
        if is_without_vectors and not all(answers):
            # A passage in other words goes unnoticed, so a query without a match still gets passages.
            by_length = sorted(prepared.passages, key=lambda passage: -len(passage.text))
            longest = tuple(by_length[:most])
            answers = [answer or longest for answer in answers]
            nearest = [None] * len(answers)
            notes = (*notes, "Where no word matches, the longest passages are shown.")
        return Findings(tuple(answers), tuple(nearest), notes, len(prepared.passages), warnings)

    async def _reranked(
        self,
        page: _PreparedPage,
        queries: Sequence[str],
        by_query: Sequence[Sequence[Scored]],
        most: int,
        call: Call,
    ) -> tuple[Sequence[Sequence[Scored]], tuple[str, ...]]:
        """The best passages for each query in the reranker's order, and a warning if it fails."""
        reranker = self._reranker
        if reranker is None:
            return by_query, ()

        async def reorder(query: str, scored: Sequence[Scored]) -> tuple[list[Scored], str]:
            texts = [page.subject.texts[page.passages[place].id] for place, _ in scored]
            order, fault = await reranker.order(query, texts, call)
            # The reranker decides the order alone: the best score stays with the first place.
            reordered = []
            for at, (_, score) in zip(order, scored, strict=True):
                place, _ = scored[at]
                reordered.append((place, score))
            return reordered[:most], fault

        outcomes = await asyncio.gather(*map(reorder, queries, by_query))
        faults = dict.fromkeys(fault for _, fault in outcomes if fault)
        warnings = tuple(f"{NOT_RERANKED}{fault}" for fault in faults)
        return [reordered for reordered, _ in outcomes], warnings

    def warm_up(self) -> None:
        """Load everything that the first query would wait for. Slow: do not run it on the event loop."""
        self._similarity.knows("warm up")

    def in_memory(self) -> Mapping[str, int]:
        return {"pages": len(self._pages)}

    def forget(self) -> None:
        self._pages.clear()

    def _keep(self, key: tuple[str, str], page: _PreparedPage) -> _PreparedPage:
        """Store a page, or weigh it again with the vectors that it has got."""
        subject = page.subject
        self._pages.put(key, page, contents=(page.passages, subject.texts, subject.vectors))
        return page

    async def _prepared(self, page: Page, deadline: Deadline) -> _PreparedPage:
        size = len(page.markdown)
        cut = await self._workers.run(
            cut_passages, page.markdown, self._size, deadline=deadline, size=size
        )
        has_pages = page.content_type == PDF
        passages = []
        for piece in cut["passages"]:
            page_number = piece["page"] if has_pages else None
            path = tuple(piece["section_path"])
            passages.append(Passage(piece["text"], path, id=piece["id"], page=page_number))
        ids = [passage.id for passage in passages]
        embedded = dict(zip(ids, cut["embedded"], strict=True))
        sample = " ".join(embedded.values())[:SAMPLE_CHARACTERS]
        return _PreparedPage(
            tuple(passages),
            Subject(embedded),
            is_known_script=self._similarity.knows(sample),
            more=cut["more"],
            characters=size,
        )


def _notes(
    answers: Sequence[Sequence[Passage]],
    nearest: Sequence[Passage | None],
    more: bool,
    fault: str | None,
) -> tuple[str, ...]:
    """Sentences that help the caller to judge the passages."""
    notes = []
    unanswered = []
    shows_nearest = False
    for number, (answer, near) in enumerate(zip(answers, nearest, strict=True), start=1):
        if not answer or answer[0].score < ANSWERS:
            unanswered.append(str(number))
            shows_nearest = shows_nearest or bool(answer or near)
    if unanswered:
        which = "the query" if len(answers) == 1 else f"query {', '.join(unanswered)}"
        but = "; the nearest is shown" if shows_nearest else ""
        notes.append(f"Nothing on this page seems to answer {which}{but}.")
    if more:
        notes.append(
            f"The page is very long: only its first {MOST_PASSAGES:,} passages were searched."
        )
    if fault:
        notes.append(f"Ranked by words alone, at least in part: {fault}.")
    return tuple(notes)
