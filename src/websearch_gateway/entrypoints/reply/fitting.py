"""Each kind of result within the size of a reply (MAX_REPLY_TOKENS), however much providers and pages have sent.

The `fit_` functions are pure: the same result within a number of tokens, with a warning that says what was cut. A new
kind of result needs one, which its tool calls before it marks text as untrusted.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
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
)
from websearch_gateway.results import (
    CheckedClaim,
    CheckedClaims,
    Citation,
    Content,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSites,
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
    size_of,
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
        _changed(result, title=shortened(result.title, LONGEST_TITLE))
        for result in response.results
    ]
    whole = _changed(_limited(response), results=tuple(results))
    marks = MARKS * len(results)
    if size_of(whole) + marks <= tokens * BYTES_PER_TOKEN:
        return whole
    bare = [_changed(result, page_content=_LEFT_OUT) for result in results]
    room = _room(tokens, _changed(whole, results=tuple(bare))) - marks
    note = len(_CUT)
    sizes = [size_of(result.page_content) + note for result in results]
    fitted = []
    cut = 0
    for result, share in zip(results, shares(sizes, room), strict=True):
        shorter = _shortened_page(result, share - note)
        fitted.append(shorter)
        cut += shorter is not result
    warning = (
        f"{cut} of {len(results)} pages are cut or left out to fit the reply: `get_content` reads one in full, "
        "and fewer results leave more room for each."
    )
    has_pages = any(result.page_content != _LEFT_OUT for result in fitted)
    room = _room(tokens, _changed(whole, results=()))
    fitted = first_fitting(room, fitted, around=MARKS if has_pages else 0)
    if missing := len(results) - len(fitted):
        warning += f" {missing} results do not fit at all."
    return _warned(whole, warning, results=tuple(fitted))


def _shortened_page(result: WebResult, room: int) -> WebResult:
    """`result` with the part of its page that fits into `room`."""
    text, cut = opening(result.page_content, room) if room > 0 else ("", 0)
    if cut is None:
        return result
    text = text.rstrip()
    if not text:
        return _changed(result, page_content=_LEFT_OUT, note_chars=len(_LEFT_OUT))
    note_chars = result.note_chars and min(result.note_chars, len(text))
    return _changed(result, page_content=text + _CUT.format(offset=cut), note_chars=note_chars)


def fit_claims(response: CheckedClaims, tokens: int) -> CheckedClaims:
    """Leaves out the quotes that do not fit, of each claim the last first; their addresses stay."""
    whole = _limited(response)
    fitted = [_with_quotes(claim, 0) for claim in whole.claims]
    room = _room(tokens, _changed(whole, claims=tuple(fitted)))
    for most in (1, None):  # every claim its first quote, before any has more
        for place, claim in enumerate(whole.claims):
            longer = _with_quotes(claim, most)
            size = size_of(longer) - size_of(fitted[place]) + MARKS
            if size <= room:
                fitted[place] = longer
                room -= size
    cut = _number_of_quotes(whole.claims) - _number_of_quotes(fitted)
    if not cut:
        return whole
    warning = f"{cut} quotes are left out to fit the reply: check fewer claims per call."
    return _warned(whole, warning, claims=tuple(fitted))


def _with_quotes(claim: CheckedClaim, most: int | None) -> CheckedClaim:
    """A claim with its first `most` quotes, or with all."""
    if most == 0:
        return _changed(claim, quotes=(), quote=None, quote_url=None)
    return _changed(claim, quotes=claim.quotes[:most])


def _number_of_quotes(claims: Iterable[CheckedClaim]) -> int:
    return sum(len(claim.quotes) for claim in claims)


def fit_content(content: PageContent, tokens: int) -> PageContent:
    """A shorter window, whose `next_offset` is the start of the next; several pages get equal shares."""
    if content.pages:
        return _fit_pages(content, tokens)
    whole = _changed(_limited(content), title=shortened(content.title, LONGEST_TITLE))
    room = _room(tokens, _changed(whole, page_content="")) - MARKS
    text, cut = opening(content.page_content, max(room, LEAST_SHARE))
    if cut is None:
        return whole
    end = content.next_offset
    if end is None:
        end = content.total_chars
    next_offset = end - len(content.page_content) + cut
    warning = f"The window is cut to fit the reply: read on with `offset` {next_offset}."
    return _warned(whole, warning, page_content=text, next_offset=next_offset)


def _fit_pages(content: PageContent, tokens: int) -> PageContent:
    limited = _limited(content)
    room = _room(tokens, _changed(limited, pages=()))
    share = room // len(content.pages) - MARKS
    pages = []
    cut = 0
    for page in content.pages:
        fitted = _fit_page(page, share)
        pages.append(fitted)
        cut += fitted is not page
    if not cut:
        return limited
    warning = f"{cut} of {len(pages)} pages are cut to fit the reply: read on with `url` and its `nextOffset`."
    return _warned(limited, warning, pages=tuple(pages))


def _fit_page(page: PageWindow, room: int) -> PageWindow:
    if page.error is not None or size_of(page) <= room:
        return page
    title = shortened(page.title, LONGEST_TITLE)
    frame = _changed(page, page_content="", title=title)
    room -= size_of(frame)
    text, cut = opening(page.page_content, max(room, LEAST_SHARE))
    next_offset = page.next_offset if cut is None else cut
    return _changed(frame, page_content=text, next_offset=next_offset)


def fit_passages(page: PagePassages, tokens: int) -> PagePassages:
    """Keeps passages by rank: first the best of every query, then the second best. The rest is left out."""
    whole = _changed(_limited(page), title=shortened(page.title, LONGEST_TITLE))
    empty = [_changed(query, results=(), nearest=None) for query in page.queries]
    room = _room(tokens, _changed(whole, queries=tuple(empty)))
    lists = [_PassageList(query) for query in page.queries]
    ranks = max((len(passages.offered) for passages in lists), default=0)
    for rank in range(ranks):
        for passages in lists:
            room -= passages.take(rank, room)
    cut = sum(len(passages.offered) - len(passages.fitting) for passages in lists)
    if not cut:
        return whole
    warning = f"{cut} passages are left out to fit the reply: ask fewer queries per call, or for fewer with `maxResults`."
    queries = [passages.fitted_query() for passages in lists]
    return _warned(whole, warning, queries=tuple(queries))


class _PassageList:
    """The passages of a query, else the nearest one, and those of them that fit so far."""

    def __init__(self, query: QueryPassages) -> None:
        self._query = query
        self.offered = query.results
        if not query.results and query.nearest:
            self.offered = (query.nearest,)
        self.fitting: list[PagePassage] = []

    def take(self, rank: int, room: int) -> int:
        """Keep the passage of this rank if there is one and it fits. Returns the size that is spent."""
        if rank >= len(self.offered):
            return 0
        passage = self.offered[rank]
        size = size_of(passage) + MARKS
        if size > room:
            return 0
        self.fitting.append(passage)
        return size

    def fitted_query(self) -> QueryPassages:
        """The query with the passages that fit, in the field where it had them."""
        if self._query.results:
            return _changed(self._query, results=tuple(self.fitting))
        nearest = self.fitting[0] if self.fitting else None
        return _changed(self._query, nearest=nearest)


def fit_raw(response: RawSearchResponse, tokens: int) -> RawSearchResponse:
    """Queries share the room equally. One that is too large keeps its first items, without their `pagemap`."""
    whole = _limited(response)
    if size_of(whole) <= tokens * BYTES_PER_TOKEN:
        return whole
    room = _room(tokens, _changed(whole, queries=()))
    queries = list(whole.queries)
    by_size = sorted(range(len(queries)), key=lambda place: size_of(queries[place]))
    for done, place in enumerate(by_size):
        # The room that a short query leaves goes to longer ones.
        share = room // (len(by_size) - done)
        queries[place] = _fit_query(queries[place], share)
        room -= size_of(queries[place])
    lost = _number_of_items(whole.queries) - _number_of_items(queries)
    warning = (
        f"{lost} items, and the `pagemap` of others, are left out to fit the reply: ask fewer queries per call, or for "
        "fewer results."
    )
    return _warned(whole, warning, queries=tuple(queries))


def _fit_query(query: RawQuery, room: int) -> RawQuery:
    if size_of(query) <= room:
        return query
    frame = _without(query.result, "items")
    if size_of(_changed(query, result=frame)) > room // 2:
        frame = {name: frame[name] for name in ("kind", "error") if name in frame}
    room -= size_of(_changed(query, result={**frame, "items": []}))
    bare = [_without(item, "pagemap") for item in query.result.get("items", [])]
    items = first_fitting(room, bare)
    if items:
        frame["items"] = items
    return _changed(query, result=frame)


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """A copy of `fields` without the one of this name."""
    rest = dict(fields)
    rest.pop(name, None)
    return rest


def _number_of_items(queries: Iterable[RawQuery]) -> int:
    return sum(len(query.result.get("items", [])) for query in queries)


def fit_answer(response: A, tokens: int) -> A:
    """The text gets at most two thirds of the room. Pages cited in the cut text become the first sources."""
    warnings = limited_warnings(response.warnings)
    whole = response  # the same object, whose size is known, as long as no warning is cut
    if warnings != response.warnings:
        whole = _changed(response, warnings=warnings)
    if _size_of_answer(Content(whole)) + AGE <= tokens * BYTES_PER_TOKEN:
        return whole
    text, _ = opening(response.text, tokens * BYTES_PER_TOKEN * 2 // 3)
    room = _room(tokens, _changed(whole, text=text, citations=(), sources=()))
    cited = [
        _within(citation, len(text))
        for citation in response.citations
        if citation.end_index <= len(text)
    ]
    citations = first_fitting(room, cited)
    room -= _size_of_parts(citations) + 1  # the brackets, less one comma
    placed = {citation.url for citation in citations}
    unplaced = [
        _as_source(citation) for citation in response.citations if citation.url not in placed
    ]
    sources = first_fitting(room, (*unplaced, *response.sources))
    warning = "The answer is cut to fit the reply: ask a narrower question, or read its sources."
    return _warned(whole, warning, text=text, citations=tuple(citations), sources=tuple(sources))


def _within(citation: Citation, length: int) -> Citation:
    """The citation of a text that is cut to `length`."""
    spans = tuple(span for span in citation.spans if span.end_index <= length)
    return _changed(citation, spans=spans)


def _as_source(citation: Citation) -> SourceInfo:
    return SourceInfo(url=citation.url, title=citation.title, published_at=citation.published_at)


@functools.lru_cache(maxsize=10)  # stored answers repeat
def _size_of_answer(response: Content) -> int:
    return size_of(response.result)


def fit_similar(response: SimilarAnswers, tokens: int) -> SimilarAnswers:
    """The nearest answers that fit."""
    answers = first_fitting(_room(tokens), response.results)
    cut = len(response.results) - len(answers)
    if not cut:
        return response
    warning = (
        f"{cut} answers are left out to fit the reply: ask for fewer with `maxResults`, "
        "or one of the questions itself."
    )
    return _warned(_limited(response), warning, results=tuple(answers))


def fit_docs(response: DocsSearchResponse, tokens: int) -> DocsSearchResponse:
    """Sections share the room by rank. One that has no room for its text is left out, and so are further titles."""
    whole = _limited(response)
    if size_of(whole) <= tokens * BYTES_PER_TOKEN:
        return whole
    room = _room(tokens, _changed(whole, results=(), more=()))
    bare = [_changed(hit, content="") for hit in response.results]
    frames = first_fitting(room // 2, bare)
    room -= _size_of_parts(frames)
    hits = response.results[: len(frames)]
    sizes = [size_of(hit.content) for hit in hits]
    fitted = []
    cut = 0
    for hit, share in zip(hits, shares(sizes, room), strict=True):
        text, rest = opening(hit.content, share) if share else ("", 0)
        if not text:
            continue
        fitted.append(hit if rest is None else _changed(hit, content=text))
        cut += rest is not None
    missing = len(response.results) - len(fitted)
    warning = (
        f"{cut} of {len(fitted)} sections are cut and {missing} left out to fit the reply: "
        "read_docs reads one, and a smaller `maxResults` leaves more room for each."
    )
    return _warned(whole, warning, results=tuple(fitted), more=())


def fit_outline(response: DocsReadResponse, tokens: int) -> DocsReadResponse:
    """The first entries that fit; `truncated`, and `next_section_id` is the first that is missing."""
    if not response.outline or size_of(response) <= tokens * BYTES_PER_TOKEN:
        return response
    room = _room(tokens, _changed(response, outline=()))
    entries = first_fitting(room, response.outline)
    following = response.outline[len(entries)].section_id
    return _changed(response, outline=tuple(entries), truncated=True, next_section_id=following)


def fit_sites(response: DocsSites, tokens: int) -> DocsSites:
    """The first sites that fit."""
    sites = first_fitting(_room(tokens), response.sites)
    cut = len(response.sites) - len(sites)
    if not cut:
        return response
    warning = f"{cut} more are left out to fit the reply; search_docs searches these too."
    return _warned(_limited(response), warning, sites=tuple(sites))


def fit_docs_status(response: DocsStatus, tokens: int) -> DocsStatus:
    """The first sites that fit, each with its first failures that have room."""
    if size_of(response) <= tokens * BYTES_PER_TOKEN:
        return response
    room = _room(tokens, _changed(response, sites=()))
    frames = [_changed(site, failures=(), skipped=()) for site in response.sites]
    sites = first_fitting(room, frames)
    room -= _size_of_parts(sites)
    for place, site in enumerate(response.sites[: len(sites)]):
        following = len(sites) - place
        failures = first_fitting(room // following, site.failures)
        room -= _size_of_parts(failures)
        skipped = first_fitting(room // following, site.skipped)
        room -= _size_of_parts(skipped)
        sites[place] = _changed(site, failures=tuple(failures), skipped=tuple(skipped))
    missing = len(response.sites) - len(sites)
    warning = f"{missing} sites and some addresses are left out to fit: name one in `site`."
    message = f"{response.message} {warning}".strip()
    return _changed(response, sites=tuple(sites), message=message)


def _room(tokens: int, frame: WireModel | None = None) -> int:
    """The bytes that a reply has beside `frame` and the warning that says what was cut."""
    room = tokens * BYTES_PER_TOKEN - OWN_WARNING
    return room if frame is None else room - size_of(frame)


def _size_of_parts(parts: Iterable[WireModel]) -> int:
    """The size of the parts of a list, each with its comma."""
    return sum(size_of(part) + 1 for part in parts)


def _limited(result: R) -> R:
    """`result` with no more and no longer warnings than a reply may have."""
    return _changed(result, warnings=limited_warnings(result.warnings))  # type: ignore[attr-defined]


def _warned(result: R, warning: str, /, **fields: Any) -> R:
    """`result` with other values of these fields, and one more warning."""
    return _changed(result, **fields, warnings=(*result.warnings, warning))  # type: ignore[attr-defined]


def _changed(result: R, /, **fields: Any) -> R:
    """`result` with other values of these fields."""
    return result.model_copy(update=fields)
