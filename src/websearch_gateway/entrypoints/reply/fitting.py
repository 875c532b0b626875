"""Each kind of result within the size of a reply (MAX_REPLY_TOKENS), however much providers and pages have sent.

The `fit_` functions are pure: the same result within a number of tokens, with a warning that says what was cut. A new
kind of result needs one, which its tool calls before it marks text as untrusted.
"""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from websearch_gateway.entrypoints.reply.sizes import (
    BYTES_PER_TOKEN,
    LEAST_SHARE,
    LONGEST_TITLE,
    first_fitting,
    limited_warnings,
    opening,
    shares,
    shortened,
    size_of,
    with_warning,
)
from websearch_gateway.models import Parts
from websearch_gateway.results import (
    CheckedClaims,
    Citation,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSites,
    DocsSiteStatus,
    DocsStatus,
    PageContent,
    PagePassage,
    PagePassages,
    PageWindow,
    QueryPassages,
    RawQuery,
    RawSearchResponse,
    SearchResponse,
    SimilarAnswers,
    SourceInfo,
    WebResult,
    WebSearchResponse,
    WireModel,
)

A = TypeVar("A", bound=SearchResponse)
R = TypeVar("R", bound=WireModel)

MARKS = 150
"""The size of the marks around each page text (bytes), see `wrap_untrusted`."""

AGE = 10
"""The most bytes by which one age is longer than another."""

OWN_WARNING = 300
"""Bytes reserved for the warning that says what was cut."""

_CUT = "\n\n*(Cut to fit the reply: `get_content` with `offset` {offset} reads on.)*"
_LEFT_OUT = "*(Left out to fit the reply: `get_content` reads this page.)*"


def fit_web(response: WebSearchResponse, tokens: int) -> WebSearchResponse:
    """Pages share the room by rank. A page that does not fit keeps its title, link and snippet."""
    results = [
        result.model_copy(update={"title": shortened(result.title, LONGEST_TITLE)})
        for result in response.results
    ]
    fields: dict[str, Any] = {
        "results": tuple(results),
        "warnings": limited_warnings(response.warnings),
    }
    whole = response.model_copy(update=fields)
    room = tokens * BYTES_PER_TOKEN - MARKS * len(results)
    if size_of(whole) <= room:
        return whole
    bare = [result.model_copy(update={"page_content": _LEFT_OUT}) for result in results]
    room -= OWN_WARNING + size_of(whole.model_copy(update={"results": tuple(bare)}))
    notes = len(_CUT)
    given = shares([size_of(result.page_content) + notes for result in results], room)
    fitted = [
        _shortened_page(result, share - notes) for result, share in zip(results, given, strict=True)
    ]
    cut = sum(a is not b for a, b in zip(fitted, results, strict=True))
    warning = (
        f"{cut} of {len(results)} pages are cut or left out to fit the reply: `get_content` reads one in full, "
        "and fewer results leave more room for each."
    )
    used = size_of(whole.model_copy(update={"results": ()})) + OWN_WARNING
    fitted = first_fitting(tokens * BYTES_PER_TOKEN - used, fitted, around=MARKS)
    if missing := len(results) - len(fitted):
        warning += f" {missing} results do not fit at all."
    return response.model_copy(
        update=with_warning({"results": tuple(fitted)}, response.warnings, warning)
    )


def fit_claims(response: CheckedClaims, tokens: int) -> CheckedClaims:
    """Leaves out the quotes that do not fit, of each claim the last first; their addresses stay."""
    whole = response.model_copy(update={"warnings": limited_warnings(response.warnings)})
    left_out = {"quotes": (), "quote": None, "quote_url": None}
    forms = [
        [
            claim,
            claim.model_copy(update={"quotes": claim.quotes[:1]}),
            claim.model_copy(update=left_out),
        ]
        for claim in whole.claims
    ]
    bare = tuple(form[-1] for form in forms)
    left = (
        tokens * BYTES_PER_TOKEN - OWN_WARNING - size_of(whole.model_copy(update={"claims": bare}))
    )
    chosen = list(bare)
    for level in (1, 0):  # every claim its first quote, before any has more
        for place, form in enumerate(forms):
            size = size_of(form[level]) - size_of(chosen[place]) + MARKS
            if size <= left:
                chosen[place] = form[level]
                left -= size
    cut = sum(
        len(claim.quotes) - len(kept.quotes)
        for claim, kept in zip(whole.claims, chosen, strict=True)
    )
    if not cut:
        return whole
    warning = f"{cut} quotes are left out to fit the reply: check fewer claims per call."
    return whole.model_copy(
        update=with_warning({"claims": tuple(chosen)}, response.warnings, warning)
    )


def fit_content(content: PageContent, tokens: int) -> PageContent:
    """A shorter window, whose `next_offset` is the start of the next; several pages get equal shares."""
    if content.pages:
        return _fit_pages(content, tokens)
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
    end = content.total_chars if content.next_offset is None else content.next_offset
    next_offset = end - len(content.page_content) + cut
    warning = f"The window is cut to fit the reply: read on with `offset` {next_offset}."
    fields |= {"page_content": text, "next_offset": next_offset}
    return content.model_copy(update=with_warning(fields, content.warnings, warning))


def _fit_pages(content: PageContent, tokens: int) -> PageContent:
    fields: dict[str, Any] = {"pages": (), "warnings": limited_warnings(content.warnings)}
    room = tokens * BYTES_PER_TOKEN - OWN_WARNING - size_of(content.model_copy(update=fields))
    fields["pages"] = tuple(
        _fit_page(page, room // len(content.pages) - MARKS) for page in content.pages
    )
    cut = sum(
        fitted is not page for fitted, page in zip(fields["pages"], content.pages, strict=True)
    )
    if not cut:
        return content.model_copy(update=fields)
    warning = f"{cut} of {len(content.pages)} pages are cut to fit the reply: read on with `url` and its `nextOffset`."
    return content.model_copy(update=with_warning(fields, content.warnings, warning))


def _fit_page(page: PageWindow, room: int) -> PageWindow:
    if page.error is not None or size_of(page) <= room:
        return page
    title = shortened(page.title, LONGEST_TITLE)
    frame = page.model_copy(update={"page_content": "", "title": title})
    text, cut = opening(page.page_content, max(room - size_of(frame), LEAST_SHARE))
    return frame.model_copy(
        update={"page_content": text, "next_offset": page.next_offset if cut is None else cut}
    )


def fit_passages(page: PagePassages, tokens: int) -> PagePassages:
    """Keeps passages by rank: first the best of every query, then the second best. The rest is left out."""
    whole = page.model_copy(
        update={
            "title": shortened(page.title, LONGEST_TITLE),
            "warnings": limited_warnings(page.warnings),
        }
    )
    empty = tuple(
        query.model_copy(update={"results": (), "nearest": None}) for query in page.queries
    )
    left = (
        tokens * BYTES_PER_TOKEN
        - OWN_WARNING
        - size_of(whole.model_copy(update={"queries": empty}))
    )
    offered = [query.results or tuple(filter(None, (query.nearest,))) for query in page.queries]
    kept: list[list[PagePassage]] = [[] for _ in offered]
    for rank in range(max(map(len, offered), default=0)):
        for candidates, passages in zip(offered, kept, strict=True):
            if rank >= len(candidates):
                continue
            size = size_of(candidates[rank]) + MARKS
            if size <= left:
                passages.append(candidates[rank])
                left -= size
    cut = sum(map(len, offered)) - sum(map(len, kept))
    if not cut:
        return whole
    warning = f"{cut} passages are left out to fit the reply: ask fewer queries per call, or for fewer with `maxResults`."
    queries = tuple(
        _with_passages(query, passages) for query, passages in zip(page.queries, kept, strict=True)
    )
    return whole.model_copy(update=with_warning({"queries": queries}, page.warnings, warning))


def _with_passages(query: QueryPassages, passages: list[PagePassage]) -> QueryPassages:
    """`query` with the passages that fit, in the field where it had them."""
    if query.results:
        return query.model_copy(update={"results": tuple(passages)})
    return query.model_copy(update={"nearest": passages[0] if passages else None})


def fit_raw(response: RawSearchResponse, tokens: int) -> RawSearchResponse:
    """Queries share the room equally. One that is too large keeps its first items, without their `pagemap`."""
    whole = response.model_copy(update={"warnings": limited_warnings(response.warnings)})
    room = tokens * BYTES_PER_TOKEN
    if size_of(whole) <= room:
        return whole
    room -= OWN_WARNING + size_of(whole.model_copy(update={"queries": ()}))
    left, lost = room, 0
    by_size = sorted(
        range(len(response.queries)), key=lambda place: size_of(response.queries[place])
    )
    fitted: dict[int, RawQuery] = {}
    for done, place in enumerate(
        by_size
    ):  # the room that a short query leaves goes to the longer ones
        fitted[place], missing = _fit_query(response.queries[place], left // (len(by_size) - done))
        left -= size_of(fitted[place])
        lost += missing
    queries = [fitted[place] for place in range(len(by_size))]
    warning = (
        f"{lost} items, and the `pagemap` of others, are left out to fit the reply: ask fewer queries per call, or for "
        "fewer results."
    )
    return whole.model_copy(
        update=with_warning({"queries": tuple(queries)}, response.warnings, warning)
    )


def fit_answer(response: A, tokens: int) -> A:
    """The text gets at most two thirds of the room. Pages cited in the cut text become the first sources."""
    warnings = limited_warnings(response.warnings)
    whole = (
        response
        if warnings == response.warnings
        else response.model_copy(update={"warnings": warnings})
    )
    room = tokens * BYTES_PER_TOKEN
    if _size_of_answer(Parts(whole)) + AGE <= room:
        return whole
    text, _ = opening(response.text, room * 2 // 3)
    fields: dict[str, Any] = {"text": text, "citations": (), "sources": ()}
    left = room - OWN_WARNING - size_of(whole.model_copy(update=fields))
    cited = [
        _within(citation, len(text))
        for citation in response.citations
        if citation.end_index <= len(text)
    ]
    citations = first_fitting(left, cited)
    left -= size_of([citation.model_dump(mode="json", by_alias=True) for citation in citations])
    placed = {citation.url for citation in citations}
    unplaced = [
        _as_source(citation) for citation in response.citations if citation.url not in placed
    ]
    sources = first_fitting(left, (*unplaced, *response.sources))
    fields |= {"citations": tuple(citations), "sources": tuple(sources)}
    warning = "The answer is cut to fit the reply: ask a narrower question, or read its sources."
    return response.model_copy(update=with_warning(fields, response.warnings, warning))


def _within(citation: Citation, length: int) -> Citation:
    """The citation of a text that is cut to `length`."""
    spans = tuple(span for span in citation.spans if span.end_index <= length)
    return citation.model_copy(update={"spans": spans})


def _as_source(citation: Citation) -> SourceInfo:
    return SourceInfo(url=citation.url, title=citation.title, published_at=citation.published_at)


@functools.lru_cache(maxsize=64)  # stored answers repeat
def _size_of_answer(response: Parts) -> int:
    return size_of(response.result)


def fit_similar(found: SimilarAnswers, tokens: int) -> SimilarAnswers:
    """The nearest answers that fit."""
    warning = "{} answers are left out to fit the reply: ask for fewer with `maxResults`, or one of the questions itself."
    return _first_of(found, "results", tokens, warning)


def _first_of(response: R, field: str, tokens: int, warning: str) -> R:
    """`response` with the first items of its list that fit; `warning` tells how many are missing."""
    items = getattr(response, field)
    kept = first_fitting(tokens * BYTES_PER_TOKEN - OWN_WARNING, items)
    if not (cut := len(items) - len(kept)):
        return response
    warnings = getattr(response, "warnings", ())
    return response.model_copy(
        update=with_warning({field: tuple(kept)}, warnings, warning.format(cut))
    )


def _shortened_page(result: WebResult, room: int) -> WebResult:
    """`result` with the part of its page that fits into `room`."""
    text, cut = opening(result.page_content, room) if room > 0 else ("", 0)
    if cut is None:
        return result
    if not text.strip():
        return result.model_copy(update={"page_content": _LEFT_OUT, "note_chars": len(_LEFT_OUT)})
    kept = text.rstrip()
    note_chars = result.note_chars and min(result.note_chars, len(kept))
    content = kept + _CUT.format(offset=cut)
    return result.model_copy(update={"page_content": content, "note_chars": note_chars})


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
    bare = first_fitting(
        room // 2, [hit.model_copy(update={"content": ""}) for hit in response.results]
    )
    hits = response.results[: len(bare)]
    given = shares(
        [size_of(hit.content) for hit in hits], room - sum(size_of(hit) + 1 for hit in bare)
    )
    texts = (
        opening(hit.content, share)[0] if share else ""
        for hit, share in zip(hits, given, strict=True)
    )
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
    return whole.model_copy(
        update=with_warning({"results": tuple(fitted)}, response.warnings, warning)
    )


def fit_outline(response: DocsReadResponse, tokens: int) -> DocsReadResponse:
    """The first entries that fit; `truncated`, and `next_section_id` is the first that is missing."""
    if not response.outline or size_of(response) <= (room := tokens * BYTES_PER_TOKEN):
        return response
    room -= OWN_WARNING + size_of(response.model_copy(update={"outline": ()}))
    kept = first_fitting(room, response.outline)
    following = response.outline[len(kept)].section_id
    return response.model_copy(
        update={"outline": tuple(kept), "truncated": True, "next_section_id": following}
    )


def fit_sites(response: DocsSites, tokens: int) -> DocsSites:
    """The first sites that fit."""
    warning = "{} more are left out to fit the reply; search_docs searches these too."
    return _first_of(response, "sites", tokens, warning)


def fit_docs_status(response: DocsStatus, tokens: int) -> DocsStatus:
    """The first sites that fit, each with its first failures that have room."""
    if size_of(response) <= (room := tokens * BYTES_PER_TOKEN):
        return response
    room -= OWN_WARNING + size_of(response.model_copy(update={"sites": ()}))
    bare = first_fitting(
        room, [site.model_copy(update={"failures": (), "skipped": ()}) for site in response.sites]
    )
    room -= sum(size_of(site) + 1 for site in bare)
    shown: list[DocsSiteStatus] = []
    for left, site in zip(range(len(bare), 0, -1), response.sites, strict=False):
        failures = first_fitting(room // left, site.failures)
        room -= sum(size_of(failure) + 1 for failure in failures)
        skipped = first_fitting(room // left, site.skipped)
        room -= sum(size_of(reason) + 1 for reason in skipped)
        shown.append(
            site.model_copy(update={"failures": tuple(failures), "skipped": tuple(skipped)})
        )
    warning = f"{len(response.sites) - len(shown)} sites and some addresses are left out to fit: name one in `site`."
    return response.model_copy(
        update={"sites": tuple(shown), "message": f"{response.message} {warning}".strip()}
    )
