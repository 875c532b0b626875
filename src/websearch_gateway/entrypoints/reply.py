"""What entrypoints send: pages and results within the size of a reply (MAX_REPLY_TOKENS), however much providers and
pages have sent, and their text for clients that do not show structured content.

The `fit_` functions are pure: the same result within a number of tokens, with a warning that says what was cut. A new
kind of result needs one, which its tool calls before it marks text as untrusted. Sizes are bytes of minified JSON in
UTF-8. In the texts warnings come first, and everything from the web stands between the marks for untrusted text:
answers, titles, links, snippets and pages. Each page has its own marks, so that none can pretend to be another.
"""

from __future__ import annotations

import asyncio
import functools
import json
import re
import secrets
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from websearch_gateway.entrypoints.lifecycle import describe
from websearch_gateway.errors import SearchError, shown
from websearch_gateway.models import Caller, ContentRequest, Parts, Progress, no_progress
from websearch_gateway.results import (
    CachedAnswer,
    CheckedClaims,
    DocsHit,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSites,
    DocsSiteStatus,
    DocsStatus,
    FoundPage,
    PageContent,
    PagePassage,
    PagePassages,
    PageWindow,
    RawQuery,
    RawSearchResponse,
    SearchResponse,
    SimilarAnswer,
    SimilarAnswers,
    SourceInfo,
    WebResult,
    WebSearchResponse,
    WireModel,
)
from websearch_gateway.text.chunk import window
from websearch_gateway.text.citations import Cited, numbered
from websearch_gateway.text.dates import in_words
from websearch_gateway.text.notes import unreadable_note
from websearch_gateway.text.sanitise import wrap_untrusted
from websearch_gateway.text.urls import host

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


A = TypeVar("A", bound=SearchResponse)
T = TypeVar("T")

MARKS = 150
"""The size of the marks around each page text (bytes), see `text.sanitise.wrap_untrusted`."""

AGE = 10
"""The most bytes by which one age is longer than another."""

OWN_WARNING = 300
"""Bytes reserved for the warning that says what was cut."""

_CUT = "\n\n*(Cut to fit the reply: `get_content` with `offset` {offset} reads on.)*"
_LEFT_OUT = "*(Left out to fit the reply: `get_content` reads this page.)*"


def fit_web(response: WebSearchResponse, tokens: int) -> WebSearchResponse:
    """Pages share the room by rank. A page that does not fit keeps its title, link and snippet."""
    results = [
        result.model_copy(update={"title": shortened(result.title, LONGEST_TITLE)}) for result in response.results
    ]
    fields: dict[str, Any] = {"results": tuple(results), "warnings": limited_warnings(response.warnings)}
    whole = response.model_copy(update=fields)
    room = tokens * BYTES_PER_TOKEN - MARKS * len(results)
    if size_of(whole) <= room:
        return whole
    bare = [result.model_copy(update={"page_content": _LEFT_OUT}) for result in results]
    room -= OWN_WARNING + size_of(whole.model_copy(update={"results": tuple(bare)}))
    notes = len(_CUT)
    given = shares([size_of(result.page_content) + notes for result in results], room)
    fitted = [_shortened_page(result, share - notes) for result, share in zip(results, given, strict=True)]
    cut = sum(a is not b for a, b in zip(fitted, results, strict=True))
    warning = (
        f"{cut} of {len(results)} pages are cut or left out to fit the reply: `get_content` reads one in full, "
        "and fewer results leave more room for each."
    )
    used = size_of(whole.model_copy(update={"results": ()})) + OWN_WARNING
    fitted = first_fitting(tokens * BYTES_PER_TOKEN - used, fitted, around=MARKS)
    if missing := len(results) - len(fitted):
        warning += f" {missing} results do not fit at all."
    return response.model_copy(update=with_warning({"results": tuple(fitted)}, response.warnings, warning))


def fit_claims(response: CheckedClaims, tokens: int) -> CheckedClaims:
    """Leaves out the quotes that do not fit; their addresses stay."""
    whole = response.model_copy(update={"warnings": limited_warnings(response.warnings)})
    bare = [one.model_copy(update={"quote": None, "quote_url": None}) for one in whole.claims]
    left = tokens * BYTES_PER_TOKEN - OWN_WARNING - size_of(whole.model_copy(update={"claims": tuple(bare)}))
    kept = []
    for one, less in zip(whole.claims, bare, strict=True):
        size = size_of(one) - size_of(less)
        kept.append(one if size <= left else less)
        left -= size if size <= left else 0
    cut = sum(one is not before for one, before in zip(kept, whole.claims, strict=True))
    if not cut:
        return whole
    warning = f"{cut} quotes are left out to fit the reply: check fewer claims per call."
    return whole.model_copy(update=with_warning({"claims": tuple(kept)}, response.warnings, warning))


def fit_content(content: PageContent, offset: int, tokens: int) -> PageContent:
    """A shorter window. `offset` is the start of this window; `next_offset` of the result is the start of the next."""
    fields: dict[str, Any] = {
        "title": shortened(content.title, LONGEST_TITLE),
        "warnings": limited_warnings(content.warnings),
    }
    room = (
        tokens * BYTES_PER_TOKEN
        - MARKS
        - OWN_WARNING
        - size_of(content.model_copy(update={**fields, "page_content": ""}))
    )
    text, cut = opening(content.page_content, max(room, LEAST_SHARE))
    if cut is None:
        return content.model_copy(update=fields)
    warning = f"The window is cut to fit the reply: read on with `offset` {offset + cut}."
    fields |= {"page_content": text, "next_offset": offset + cut}
    return content.model_copy(update=with_warning(fields, content.warnings, warning))


def fit_passages(found: PagePassages, tokens: int) -> PagePassages:
    """Keeps passages by rank: first the best of every query, then the second best. The rest is left out."""
    whole = found.model_copy(
        update={"title": shortened(found.title, LONGEST_TITLE), "warnings": limited_warnings(found.warnings)}
    )
    empty = tuple(query.model_copy(update={"results": (), "nearest": None}) for query in found.queries)
    left = tokens * BYTES_PER_TOKEN - OWN_WARNING - size_of(whole.model_copy(update={"queries": empty}))
    offered = [query.results or tuple(filter(None, (query.nearest,))) for query in found.queries]
    kept: list[list[PagePassage]] = [[] for _ in offered]
    for rank in range(max(map(len, offered), default=0)):
        for some, passages in zip(offered, kept, strict=True):
            if rank < len(some) and (size := size_of(some[rank]) + MARKS) <= left:
                passages.append(some[rank])
                left -= size
    cut = sum(map(len, offered)) - sum(map(len, kept))
    if not cut:
        return whole
    warning = (
        f"{cut} passages are left out to fit the reply: ask fewer queries per call, or for fewer with `maxResults`."
    )
    queries = tuple(
        query.model_copy(
            update={"results": tuple(passages)} if query.results else {"nearest": next(iter(passages), None)}
        )
        for query, passages in zip(found.queries, kept, strict=True)
    )
    return whole.model_copy(update=with_warning({"queries": queries}, found.warnings, warning))


def fit_raw(response: RawSearchResponse, tokens: int) -> RawSearchResponse:
    """Queries share the room equally. One that is too large keeps its first items, without their `pagemap`."""
    whole = response.model_copy(update={"warnings": limited_warnings(response.warnings)})
    room = tokens * BYTES_PER_TOKEN
    if size_of(whole) <= room:
        return whole
    room -= OWN_WARNING + size_of(whole.model_copy(update={"queries": ()}))
    left, lost = room, 0
    by_size = sorted(range(len(response.queries)), key=lambda place: size_of(response.queries[place]))
    fitted: dict[int, RawQuery] = {}
    for done, place in enumerate(by_size):  # the room that a short query leaves goes to the longer ones
        fitted[place], missing = _fit_query(response.queries[place], left // (len(by_size) - done))
        left -= size_of(fitted[place])
        lost += missing
    queries = [fitted[place] for place in range(len(by_size))]
    warning = (
        f"{lost} items, and the `pagemap` of others, are left out to fit the reply: ask fewer queries per call, or for "
        "fewer results."
    )
    return whole.model_copy(update=with_warning({"queries": tuple(queries)}, response.warnings, warning))


def fit_answer(response: A, tokens: int) -> A:
    """The text gets at most two thirds of the room. Pages cited in the cut text become the first sources."""
    warnings = limited_warnings(response.warnings)
    whole = response if warnings == response.warnings else response.model_copy(update={"warnings": warnings})
    room = tokens * BYTES_PER_TOKEN
    if _size_of_answer(Parts(whole)) + AGE <= room:
        return whole
    text, _ = opening(response.text, room * 2 // 3)
    fields: dict[str, Any] = {"text": text, "citations": (), "sources": ()}
    left = room - OWN_WARNING - size_of(whole.model_copy(update=fields))
    cited = [
        one.model_copy(update={"spans": tuple(span for span in one.spans if span.end_index <= len(text))})
        for one in response.citations
        if one.end_index <= len(text)
    ]
    citations = first_fitting(left, cited)
    left -= size_of([one.model_dump(mode="json", by_alias=True) for one in citations])
    placed = {one.url for one in citations}
    unplaced = [
        SourceInfo(url=one.url, title=one.title, published_at=one.published_at)
        for one in response.citations
        if one.url not in placed
    ]
    sources = first_fitting(left, (*unplaced, *response.sources))
    fields |= {"citations": tuple(citations), "sources": tuple(sources)}
    warning = "The answer is cut to fit the reply: ask a narrower question, or read its sources."
    return response.model_copy(update=with_warning(fields, response.warnings, warning))


@functools.lru_cache(maxsize=64)  # stored answers repeat
def _size_of_answer(response: Parts) -> int:
    return size_of(response.result)


def fit_similar(found: SimilarAnswers, tokens: int) -> SimilarAnswers:
    """The nearest answers that fit."""
    warning = "{} answers are left out to fit the reply: ask for fewer with `limit`, or one of the questions itself."
    return _first_of(found, "results", tokens, warning)


def _first_of(response: R, field: str, tokens: int, warning: str) -> R:
    """`response` with the first items of its list that fit; `warning` tells how many are missing."""
    items = getattr(response, field)
    kept = first_fitting(tokens * BYTES_PER_TOKEN - OWN_WARNING, items)
    if not (cut := len(items) - len(kept)):
        return response
    warnings = getattr(response, "warnings", ())
    return response.model_copy(update=with_warning({field: tuple(kept)}, warnings, warning.format(cut)))


def first_fitting(room: int, parts: Sequence[T], *, around: int = 1) -> list[T]:
    """The first parts that fit into `room` bytes together, each with `around` bytes of marks and commas."""
    kept = []
    for part in parts:
        room -= size_of(part) + around
        if room < 0:
            break
        kept.append(part)
    return kept


def _shortened_page(result: WebResult, room: int) -> WebResult:
    """`result` with the part of its page that fits into `room`."""
    text, cut = opening(result.page_content, room) if room > 0 else ("", 0)
    if cut is None:
        return result
    content = text.rstrip() + _CUT.format(offset=cut) if text.strip() else _LEFT_OUT
    return result.model_copy(update={"page_content": content})


def _fit_query(query: RawQuery, room: int) -> tuple[RawQuery, int]:
    """A query cut to `room`, and the number of items dropped."""
    if size_of(query) <= room:
        return query, 0
    items = query.result.get("items", [])
    bare = [{name: value for name, value in item.items() if name != "pagemap"} for item in items]
    frame = {name: value for name, value in query.result.items() if name != "items"}
    if size_of(query.model_copy(update={"result": frame})) > room // 2:
        frame = {name: frame[name] for name in ("kind", "error") if name in frame}
    left = room - size_of(query.model_copy(update={"result": {**frame, "items": []}}))
    kept = first_fitting(left, bare)
    result = {**frame, "items": kept} if kept else frame
    return query.model_copy(update={"result": result}), len(items) - len(kept)


def fit_docs(response: DocsSearchResponse, tokens: int) -> DocsSearchResponse:
    """Sections share the room by rank. One that has no room for its text is left out, and so are further titles."""
    whole = response.model_copy(update={"warnings": limited_warnings(response.warnings)})
    room = tokens * BYTES_PER_TOKEN
    if size_of(whole) <= room:
        return whole
    whole = whole.model_copy(update={"more": ()})
    room -= OWN_WARNING + size_of(whole.model_copy(update={"results": ()}))
    bare = first_fitting(room // 2, [hit.model_copy(update={"content": ""}) for hit in response.results])
    hits = response.results[: len(bare)]
    given = shares([size_of(hit.content) for hit in hits], room - sum(size_of(hit) + 1 for hit in bare))
    texts = (opening(hit.content, share)[0] if share else "" for hit, share in zip(hits, given, strict=True))
    fitted = [
        hit if text == hit.content else hit.model_copy(update={"content": text})
        for hit, text in zip(hits, texts, strict=True)
        if text
    ]
    cut = sum(a is not b for a, b in zip(fitted, response.results, strict=False))
    warning = (
        f"{cut} of {len(fitted)} sections are cut and {len(response.results) - len(fitted)} left out to fit the reply: "
        "read_docs reads one, and a smaller `limit` leaves more room for each."
    )
    return whole.model_copy(update=with_warning({"results": tuple(fitted)}, response.warnings, warning))


def fit_outline(response: DocsReadResponse, tokens: int) -> DocsReadResponse:
    """The first entries that fit; `truncated`, and `next_section_id` is the first that is missing."""
    if not response.outline or size_of(response) <= (room := tokens * BYTES_PER_TOKEN):
        return response
    room -= OWN_WARNING + size_of(response.model_copy(update={"outline": ()}))
    kept = first_fitting(room, response.outline)
    following = response.outline[len(kept)].section_id
    return response.model_copy(update={"outline": tuple(kept), "truncated": True, "next_section_id": following})


def fit_sites(response: DocsSites, tokens: int) -> DocsSites:
    """The first sites that fit."""
    warning = "{} more are left out to fit the reply; search_docs searches these too."
    return _first_of(response, "sites", tokens, warning)


def fit_docs_status(response: DocsStatus, tokens: int) -> DocsStatus:
    """The first sites that fit, each with its first failures that have room."""
    if size_of(response) <= (room := tokens * BYTES_PER_TOKEN):
        return response
    room -= OWN_WARNING + size_of(response.model_copy(update={"sites": ()}))
    bare = first_fitting(room, [site.model_copy(update={"failures": (), "skipped": ()}) for site in response.sites])
    room -= sum(size_of(site) + 1 for site in bare)
    shown: list[DocsSiteStatus] = []
    for left, site in zip(range(len(bare), 0, -1), response.sites, strict=False):
        failures = first_fitting(room // left, site.failures)
        room -= sum(size_of(failure) + 1 for failure in failures)
        skipped = first_fitting(room // left, site.skipped)
        room -= sum(size_of(one) + 1 for one in skipped)
        shown.append(site.model_copy(update={"failures": tuple(failures), "skipped": tuple(skipped)}))
    warning = f"{len(response.sites) - len(shown)} sites and some addresses are left out to fit: name one in `site`."
    return response.model_copy(update={"sites": tuple(shown), "message": f"{response.message} {warning}".strip()})


BYTES_PER_TOKEN = 3
"""English has four to five bytes per token; code, addresses and most other scripts have about three."""

LEAST_SHARE = 300
"""A text that would be cut to fewer bytes is left out: so short a beginning is useless."""

MOST_WARNINGS = 30
LONGEST_WARNING = 400
LONGEST_TITLE = 300


def size_of(value: Any) -> int:
    """The size of a text, a result or JSON-ready data."""
    if isinstance(value, WireModel):
        value = value.model_dump(mode="json", by_alias=True)
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace"))


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """The room for each of several texts, in the order of rank.

    The share of the n-th text is proportional to 1/n. Room that short texts do not need goes to the others, best first.
    A share below both the size of its text and LEAST_SHARE becomes 0.
    """
    weights = [1 / rank for rank in range(1, len(sizes) + 1)]
    total = sum(weights)
    given = [min(size, int(max(0, room) * weight / total)) for size, weight in zip(sizes, weights, strict=True)]
    given = [share if share >= min(size, LEAST_SHARE) else 0 for size, share in zip(sizes, given, strict=True)]
    left = max(0, room) - sum(given)
    for place, size in enumerate(sizes):
        more = min(size - given[place], left)
        if given[place] + more >= min(size, LEAST_SHARE):
            given[place] += more
            left -= more
    return given


def opening(text: str, most: int) -> tuple[str, int | None]:
    """The beginning of `text`, of at most `most` bytes, and the offset of the rest (None if the whole text fits).

    The beginning ends at a natural break, see `text.chunk`.
    """
    if size_of(text) <= most:
        return text, None
    fitting = bisect_right(range(len(text)), most, key=lambda length: size_of(text[:length])) - 1
    return window(text, 0, fitting) if fitting > 0 else ("", 0)


def limited_warnings(warnings: Sequence[str]) -> tuple[str, ...]:
    """At most MOST_WARNINGS of them, each cut to LONGEST_WARNING characters."""
    kept = [shortened(warning, LONGEST_WARNING) for warning in warnings[:MOST_WARNINGS]]
    if left := len(warnings) - len(kept):
        kept.append(f"{left} more warnings are left out.")
    return tuple(kept)


def shortened(text: str, most: int) -> str:
    """`text`, cut to `most` characters with an ellipsis."""
    return text if len(text) <= most else text[: most - 1] + "…"


def with_warning(fields: Mapping[str, Any], warnings: Sequence[str], warning: str) -> dict[str, Any]:
    """`fields` with the limited `warnings` and one more `warning`."""
    return {**fields, "warnings": (*limited_warnings(warnings), warning)}


AT_ONCE = 8
MOST_OF_URL = 200


def windows(pages: Iterable[PageContent]) -> tuple[PageWindow, ...]:
    """Several pages in one result."""
    return tuple(PageWindow(**{name: getattr(page, name) for name in PageWindow.model_fields}) for page in pages)


async def read_fitting(gateway: Gateway, urls: Sequence[str], caller: Caller, max_chars: int) -> list[PageContent]:
    """As `read_each`, each page with an equal share of the reply."""
    pages = await read_each(gateway, urls, caller, max_chars)
    return [page if page.error else fit_content(page, 0, gateway.max_reply_tokens // len(pages)) for page in pages]


async def read_each(
    gateway: Gateway, urls: Sequence[str], caller: Caller, max_chars: int, progress: Progress = no_progress
) -> list[PageContent]:
    """The beginning of each page, in the order of `urls`. One that fails has its `error`, a note as its text, and the
    first MOST_OF_URL characters of its URL."""
    turn = asyncio.Semaphore(AT_ONCE)
    await progress(f"Reading {len(urls)} pages")

    async def read(url: str) -> PageContent:
        async with turn:
            try:
                return await gateway.reading.content(ContentRequest(url, max_chars=max_chars), caller)
            except SearchError as error:
                info = describe(error)
                note = unreadable_note(info.code, info.details, host(url), info.message)
                return PageContent(url=shown(url, MOST_OF_URL), page_content=note, error=info)

    return list(await asyncio.gather(*map(read, urls)))


R = TypeVar("R", bound=WireModel)

ANSWER_SHARE = 1.3
"""The most characters of an answer with its list, as a share of the answer and its links: long titles are cut."""

SHORTEST_TITLE = 12
MOST_UNCITED = 5
"""The sources to list for an answer that cites none."""


def answer_text(response: SearchResponse) -> str:
    """The answer with marks such as `[1]`, and a numbered list of what it cites."""
    one = response.fallback
    instead = [f"{response.provider} answered instead of {one.from_} ({one.reason})"] if one else []
    return _joined(_warned((*instead, *response.warnings)), _untrusted(_answer(Parts(response))) or "No answer.")


def cached_text(response: CachedAnswer) -> str:
    """A stored answer as `answer_text`, or stored results."""
    if not response.found:
        return _joined(_warned(response.warnings), "Nothing is stored for this question.")
    if not response.results:
        return answer_text(response)
    return _joined(_warned(response.warnings), _untrusted(_found_pages(response.results)))


def similar_text(found: SimilarAnswers) -> str:
    """The stored answers, each under its question."""
    parts = [_untrusted(_similar(one)) for one in found.results]
    return _joined(_warned(found.warnings), *(parts or ["Nothing similar is stored."]))


def claims_text(response: CheckedClaims) -> str:
    """Each claim with its verdict, and the words of the page under it."""
    lines = []
    for one in response.claims:
        lines.append(f"[{one.verdict}] {one.claim}")
        if one.quote:
            lines.append(_untrusted(f"{one.quote} - {one.url}"))
    return _joined(_warned(response.warnings), "\n".join(lines))


def found_text(response: WebSearchResponse) -> str:
    """A list of the results, and then the page of each under its number."""
    rows = "\n".join(f"[{number}] {_row(one)}" for number, one in enumerate(response.results, start=1))
    pages = [f"[{number}]\n{one.page_content}" for number, one in enumerate(response.results, start=1)]
    cost = f"(cache: {response.cache}, costUsd: {response.cost_usd:g})" if response.results else "No results."
    return _joined(_warned(response.warnings), _untrusted(rows), *pages, cost)


def raw_text(response: RawSearchResponse) -> str:
    """The items of each query, one under another."""
    return _joined(_warned(response.warnings), *map(_raw_query, response.queries))


def page_text(page: PageContent) -> str:
    """The text of a page, or of several, and how to read on."""
    return _joined(_warned(page.warnings), *map(_window, page.pages or (page,)))


def passages_text(found: PagePassages) -> str:
    """The passages of each query with their scores, else the nearest, and the note."""
    parts = [found.title]
    for query in found.queries:
        parts.append(f"# {query.query}")
        for one in query.results or filter(None, (query.nearest,)):
            text = unmarked(one.text)
            path = [part for part in one.section_path if part != found.title]
            is_told = not path or path[-1] in text.partition("\n")[0]
            place = f" page {one.page}" if one.page else ""
            parts.append(f"[{one.score:.2f}]{place}{'' if is_told else ' ' + ' > '.join(path)}\n{text}")
    note = [f"Note: {found.note}"] if found.note else []
    metadata = [_untrusted(found.metadata.model_dump_json(by_alias=True))] if found.metadata is not None else []
    about = f"{found.url} · as of {found.last_crawled}"
    return _joined(_warned(found.warnings), *note, about, _untrusted("\n\n".join(filter(None, parts))), *metadata)


def sections_text(found: DocsSearchResponse) -> str:
    """The sections, each under one line about it, and a line for each that follows."""
    versions = {(one.site_name, one.site_version) for one in found.results}
    sections = [_section(one, names_site=len(versions) > 1) for one in found.results]
    more = "\n".join(f"- {one.title} ({one.section_id})" for one in found.more)
    parts = [*sections, f"More, by section id:\n{more}" if more else ""]
    return _joined(_warned(found.warnings), _untrusted("\n\n".join(filter(None, parts))) or "No results.")


def _section(one: DocsHit, *, names_site: bool) -> str:
    """A section after its title, section id and address. The text mostly begins with its heading."""
    titles = [one.page_title, *(heading for heading in one.heading_path[-1:] if heading not in one.content[:200])]
    site = f" ({one.site_name} {one.site_version})" if names_site else ""
    about = f"section {one.section_id}, {one.fetched_at.partition('T')[0]}"
    return f"[{' > '.join(dict.fromkeys(titles))}{site}, {about}]({one.url})\n{one.content}"


@functools.lru_cache(maxsize=64)  # stored answers repeat
def _answer(parts: Parts) -> str:
    response: SearchResponse = parts.result
    text = numbered(response.text, tuple(places_of(response))).strip()
    if not response.citations:
        found = "\n".join(f"- {one.title} - {one.url}" for one in response.sources[:MOST_UNCITED])
        return _joined(text, found and f"Found, not cited:\n{found}")
    titles = _titles(response, len(text))
    lines = [
        f"[{one.rank}] {title} - {one.url}" + ("" if text else f"\n{one.text_snippet}")
        for one, title in zip(response.citations, titles, strict=True)
    ]
    return _joined(text, "\n".join(lines))


def places_of(response: SearchResponse) -> list[Cited]:
    """Every place in the text that a citation of `response` has."""
    return [
        Cited(span.start_index, span.end_index, citation.rank, citation.url)
        for citation in response.citations
        for span in citation.spans
    ]


def _titles(response: SearchResponse, written: int) -> list[str]:
    """The titles of the citations, cut equally if the list would be too long for so short an answer."""
    links = sum(len(one.url) for one in response.citations)
    around = sum(len(f"[{one.rank}]  - \n") for one in response.citations)
    room = int(ANSWER_SHARE * (len(response.text) + links)) - written - links - around - 1
    titles = [one.title for one in response.citations]
    if not response.text or sum(map(len, titles)) <= room:
        return titles
    return [shortened(title, max(SHORTEST_TITLE, room // len(titles))) for title in titles]


def _similar(one: SimilarAnswer) -> str:
    heading = f"# {one.query} ({one.tool}, {in_words(one.age_seconds)} old, similarity {one.similarity:.2f})"
    if one.results:
        return f"{heading}\n{_found_pages(one.results)}"
    return f"{heading}\n{_answer(Parts(SearchResponse(text=one.text, citations=one.citations, sources=one.sources)))}"


def _found_pages(pages: Sequence[FoundPage]) -> str:
    return "\n".join(f"- {one.title} - {one.link}\n  {one.snippet}" for one in pages)


def _row(one: WebResult) -> str:
    """Title, link and snippet, each on one line: providers' texts are cleaned so. The page may say the same."""
    about = " · ".join(filter(None, (one.link, one.published_date, one.provider)))
    return "\n".join((one.title, about, *_unless_in(one.page_content, one.snippet)))


def _raw_query(query: RawQuery) -> str:
    age = "" if query.cache == "miss" else f", cache: {query.cache}, {in_words(query.age_seconds)} old"
    heading = f"# {query.query} ({query.provider}{age})" if query.provider else f"# {query.query}"
    if error := query.result.get("error"):
        return f"{heading}\nerror: {_of(error, 'code')}: {_of(error, 'message')}"
    items = query.result.get("items", [])
    rows = [f"- {_of(item, 'title')}\n  {_of(item, 'link')}\n  {_of(item, 'snippet')}" for item in items]
    return f"{heading}\n{_untrusted(chr(10).join(rows)) or 'No results.'}"


def _window(page: PageContent | PageWindow) -> str:
    if page.error is not None:
        return f"{page.url}\n{page.page_content}\n(error: {page.error.code})"
    more = f", nextOffset: {page.next_offset}" if page.next_offset is not None else ""
    title = "".join(map(_untrusted, _unless_in(page.page_content, page.title)))
    return "\n".join(filter(None, (page.url, title, page.page_content, f"(totalChars: {page.total_chars}{more})")))


def _unless_in(content: str, words: str) -> list[str]:
    """A title or snippet, if the page does not say the same."""
    return [words] if words and words not in content else []


def _untrusted(text: str) -> str:
    return wrap_untrusted(text, fresh_nonce()) if text else ""


def _warned(warnings: Iterable[str]) -> str:
    return "\n".join(f"Warning: {warning}" for warning in dict.fromkeys(warnings))


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _of(item: Any, field: str) -> str:
    value = item.get(field) if isinstance(item, dict) else None
    return str(value) if value is not None else ""


_MARKED = re.compile(r'<untrusted-web-text id="([0-9a-f]{32})">\n(.*)\n</untrusted-web-text id="\1">', re.DOTALL)


def fresh_nonce() -> str:
    """The id in the marks of one call: 128 unguessable bits."""
    return secrets.token_hex(16)


def marked(result: R, field: str, nonce: str) -> R:
    """`result` with the text of `field` between marks."""
    return result.model_copy(update={field: wrap_untrusted(getattr(result, field), nonce)})


def unmarked(text: str) -> str:
    """The text between the marks of `marked`, to be marked again with more; any other text as it is."""
    found = _MARKED.fullmatch(text)
    return found[2] if found else text
