"""Each kind of result within the size of a reply (MAX_REPLY_TOKENS), however much providers and pages have sent.

The `fit_` functions are pure: the same result within a number of tokens, with a warning that says what was cut. A new
kind of result needs one, which its tool calls before it marks text as untrusted.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
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
from websearch_gateway.results import (
    CheckedClaim,
    CheckedClaims,
    Citation,
    Content,
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
    has_pages = any(result.page_content != _LEFT_OUT for result in fitted)
    around = MARKS if has_pages else 0
    fitted = first_fitting(tokens * BYTES_PER_TOKEN - used, fitted, around=around)
    if missing := len(results) - len(fitted):
        warning += f" {missing} results do not fit at all."
    return response.model_copy(
        update=with_warning({"results": tuple(fitted)}, response.warnings, warning)
    )


def fit_claims(response: CheckedClaims, tokens: int) -> CheckedClaims:
    """Leaves out the quotes that do not fit, of each claim the last first; their addresses stay."""
    whole = _changed(response, warnings=limited_warnings(response.warnings))
    forms = [_forms_of(claim) for claim in whole.claims]
    chosen = [form[-1] for form in forms]
    bare = _changed(whole, claims=tuple(chosen))
    left = tokens * BYTES_PER_TOKEN - OWN_WARNING - size_of(bare)
    for level in (1, 0):  # every claim its first quote, before any has more
        for place, form in enumerate(forms):
            size = size_of(form[level]) - size_of(chosen[place]) + MARKS
            if size <= left:
                chosen[place] = form[level]
                left -= size
    offered = sum(len(claim.quotes) for claim in whole.claims)
    cut = offered - sum(len(claim.quotes) for claim in chosen)
    if not cut:
        return whole
    warning = f"{cut} quotes are left out to fit the reply: check fewer claims per call."
    fields = with_warning({"claims": tuple(chosen)}, response.warnings, warning)
    return whole.model_copy(update=fields)


def _forms_of(claim: CheckedClaim) -> tuple[CheckedClaim, CheckedClaim, CheckedClaim]:
    """A claim with all its quotes, with the first one, and without any."""
    first = _changed(claim, quotes=claim.quotes[:1])
    bare = _changed(claim, quotes=(), quote=None, quote_url=None)
    return claim, first, bare


def _changed(result: R, **fields: Any) -> R:
    """`result` with other values of these fields."""
    return result.model_copy(update=fields)


def fit_content(content: PageContent, tokens: int) -> PageContent:
    """A shorter window, whose `next_offset` is the start of the next; several pages get equal shares."""
    if content.pages:
        return _fit_pages(content, tokens)
    fields: dict[str, Any] = {
        "title": shortened(content.title, LONGEST_TITLE),
        "warnings": limited_warnings(content.warnings),
    }
    frame = size_of(content.model_copy(update={**fields, "page_content": ""}))
    room = tokens * BYTES_PER_TOKEN - MARKS - OWN_WARNING - frame
    text, cut = opening(content.page_content, max(room, LEAST_SHARE))
    if cut is None:
        return content.model_copy(update=fields)
    end = content.next_offset
    if end is None:
        end = content.total_chars
    next_offset = end - len(content.page_content) + cut
    warning = f"The window is cut to fit the reply: read on with `offset` {next_offset}."
    fields["page_content"] = text
    fields["next_offset"] = next_offset
    fields = with_warning(fields, content.warnings, warning)
    return content.model_copy(update=fields)


def _fit_pages(content: PageContent, tokens: int) -> PageContent:
    frame = _changed(content, pages=(), warnings=limited_warnings(content.warnings))
    room = tokens * BYTES_PER_TOKEN - OWN_WARNING - size_of(frame)
    share = room // len(content.pages) - MARKS
    pages = []
    cut = 0
    for page in content.pages:
        fitted = _fit_page(page, share)
        pages.append(fitted)
        cut += fitted is not page
    if not cut:
        return _changed(frame, pages=tuple(pages))
    warning = f"{cut} of {len(pages)} pages are cut to fit the reply: read on with `url` and its `nextOffset`."
    fields = with_warning({"pages": tuple(pages)}, content.warnings, warning)
    return content.model_copy(update=fields)


def _fit_page(page: PageWindow, room: int) -> PageWindow:
    if page.error is not None or size_of(page) <= room:
        return page
    title = shortened(page.title, LONGEST_TITLE)
    frame = _changed(page, page_content="", title=title)
    left = max(room - size_of(frame), LEAST_SHARE)
    text, cut = opening(page.page_content, left)
    next_offset = page.next_offset if cut is None else cut
    return _changed(frame, page_content=text, next_offset=next_offset)


def fit_passages(page: PagePassages, tokens: int) -> PagePassages:
    """Keeps passages by rank: first the best of every query, then the second best. The rest is left out."""
    title = shortened(page.title, LONGEST_TITLE)
    whole = _changed(page, title=title, warnings=limited_warnings(page.warnings))
    empty = tuple(_changed(query, results=(), nearest=None) for query in page.queries)
    frame = size_of(_changed(whole, queries=empty))
    left = tokens * BYTES_PER_TOKEN - OWN_WARNING - frame
    offered = [_offered(query) for query in page.queries]
    kept: list[list[PagePassage]] = [[] for _ in offered]
    most = max(map(len, offered), default=0)
    for rank in range(most):
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
    pairs = zip(page.queries, kept, strict=True)
    queries = tuple(_with_passages(query, passages) for query, passages in pairs)
    fields = with_warning({"queries": queries}, page.warnings, warning)
    return whole.model_copy(update=fields)


def _offered(query: QueryPassages) -> Sequence[PagePassage]:
    """The passages of a query, else the nearest one, if there is one."""
    if query.results:
        return query.results
    return (query.nearest,) if query.nearest else ()


def _with_passages(query: QueryPassages, passages: list[PagePassage]) -> QueryPassages:
    """`query` with the passages that fit, in the field where it had them."""
    if query.results:
        return _changed(query, results=tuple(passages))
    return _changed(query, nearest=passages[0] if passages else None)


def fit_raw(response: RawSearchResponse, tokens: int) -> RawSearchResponse:
    """Queries share the room equally. One that is too large keeps its first items, without their `pagemap`."""
    whole = _changed(response, warnings=limited_warnings(response.warnings))
    room = tokens * BYTES_PER_TOKEN
    if size_of(whole) <= room:
        return whole
    left = room - OWN_WARNING - size_of(_changed(whole, queries=()))
    lost = 0
    queries = list(whole.queries)
    by_size = sorted(range(len(queries)), key=lambda place: size_of(queries[place]))
    for done, place in enumerate(by_size):
        # The room that a short query leaves goes to longer ones.
        share = left // (len(by_size) - done)
        queries[place], missing = _fit_query(queries[place], share)
        left -= size_of(queries[place])
        lost += missing
    warning = (
        f"{lost} items, and the `pagemap` of others, are left out to fit the reply: ask fewer queries per call, or for "
        "fewer results."
    )
    fields = with_warning({"queries": tuple(queries)}, response.warnings, warning)
    return whole.model_copy(update=fields)


def fit_answer(response: A, tokens: int) -> A:
    """The text gets at most two thirds of the room. Pages cited in the cut text become the first sources."""
    warnings = limited_warnings(response.warnings)
    whole = response  # the same object, whose size is known, as long as no warning is cut
    if warnings != response.warnings:
        whole = _changed(response, warnings=warnings)
    room = tokens * BYTES_PER_TOKEN
    if _size_of_answer(Content(whole)) + AGE <= room:
        return whole
    text, _ = opening(response.text, room * 2 // 3)
    frame = size_of(_changed(whole, text=text, citations=(), sources=()))
    left = room - OWN_WARNING - frame
    length = len(text)
    cited = [_within(place, length) for place in response.citations if place.end_index <= length]
    citations = first_fitting(left, cited)
    left -= size_of([citation.model_dump(mode="json", by_alias=True) for citation in citations])
    placed = {citation.url for citation in citations}
    unplaced = [_as_source(other) for other in response.citations if other.url not in placed]
    sources = first_fitting(left, (*unplaced, *response.sources))
    warning = "The answer is cut to fit the reply: ask a narrower question, or read its sources."
    fields = {"text": text, "citations": tuple(citations), "sources": tuple(sources)}
    return response.model_copy(update=with_warning(fields, response.warnings, warning))


def _within(citation: Citation, length: int) -> Citation:
    """The citation of a text that is cut to `length`."""
    spans = tuple(span for span in citation.spans if span.end_index <= length)
    return _changed(citation, spans=spans)


def _as_source(citation: Citation) -> SourceInfo:
    return SourceInfo(url=citation.url, title=citation.title, published_at=citation.published_at)


@functools.lru_cache(maxsize=64)  # stored answers repeat
def _size_of_answer(response: Content) -> int:
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
    whole = _changed(response, warnings=limited_warnings(response.warnings))
    room = tokens * BYTES_PER_TOKEN
    if size_of(whole) <= room:
        return whole
    whole = _changed(whole, more=())
    room -= OWN_WARNING + size_of(_changed(whole, results=()))
    bare = first_fitting(room // 2, [_changed(hit, content="") for hit in response.results])
    room -= sum(size_of(hit) + 1 for hit in bare)
    hits = response.results[: len(bare)]
    given = shares([size_of(hit.content) for hit in hits], room)
    fitted = []
    cut = 0
    for hit, share in zip(hits, given, strict=True):
        text = opening(hit.content, share)[0] if share else ""
        if not text:
            continue
        is_whole = text == hit.content
        fitted.append(hit if is_whole else _changed(hit, content=text))
        cut += not is_whole
    missing = len(response.results) - len(fitted)
    warning = (
        f"{cut} of {len(fitted)} sections are cut and {missing} left out to fit the reply: "
        "read_docs reads one, and a smaller `maxResults` leaves more room for each."
    )
    fields = with_warning({"results": tuple(fitted)}, response.warnings, warning)
    return whole.model_copy(update=fields)


def fit_outline(response: DocsReadResponse, tokens: int) -> DocsReadResponse:
    """The first entries that fit; `truncated`, and `next_section_id` is the first that is missing."""
    if not response.outline or size_of(response) <= (room := tokens * BYTES_PER_TOKEN):
        return response
    room -= OWN_WARNING + size_of(response.model_copy(update={"outline": ()}))
    kept = first_fitting(room, response.outline)
    following = response.outline[len(kept)].section_id
    return _changed(response, outline=tuple(kept), truncated=True, next_section_id=following)


def fit_sites(response: DocsSites, tokens: int) -> DocsSites:
    """The first sites that fit."""
    warning = "{} more are left out to fit the reply; search_docs searches these too."
    return _first_of(response, "sites", tokens, warning)


def fit_docs_status(response: DocsStatus, tokens: int) -> DocsStatus:
    """The first sites that fit, each with its first failures that have room."""
    if size_of(response) <= (room := tokens * BYTES_PER_TOKEN):
        return response
    room -= OWN_WARNING + size_of(_changed(response, sites=()))
    frames = [_changed(site, failures=(), skipped=()) for site in response.sites]
    bare = first_fitting(room, frames)
    room -= sum(size_of(site) + 1 for site in bare)
    shown: list[DocsSiteStatus] = []
    for place, site in enumerate(response.sites[: len(bare)]):
        share = room // (len(bare) - place)
        failures = first_fitting(share, site.failures)
        room -= sum(size_of(failure) + 1 for failure in failures)
        share = room // (len(bare) - place)
        skipped = first_fitting(share, site.skipped)
        room -= sum(size_of(reason) + 1 for reason in skipped)
        shown.append(_changed(site, failures=tuple(failures), skipped=tuple(skipped)))
    missing = len(response.sites) - len(shown)
    warning = f"{missing} sites and some addresses are left out to fit: name one in `site`."
    message = f"{response.message} {warning}".strip()
    return _changed(response, sites=tuple(shown), message=message)
