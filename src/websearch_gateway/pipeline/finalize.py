"""The last stage: verify and rank the citations, clean the text, price the call. Pure.

It guarantees for every answer: `text[startIndex:endIndex]` is the cited span, for any text that an engine wrote
and any offsets that it claimed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, islice

from websearch_gateway.models import Answer, SearchQuery, Source, Span
from websearch_gateway.results import (
    Citation,
    CitedSpan,
    FallbackInfo,
    Filters,
    FilterState,
    SearchResponse,
    SourceInfo,
    Usage,
)
from websearch_gateway.text.citations import Cited, by_page, cut, moved, repair, snippets, with_marks, without_trackers
from websearch_gateway.text.notes import nothing_found
from websearch_gateway.text.quotes import quote_url
from websearch_gateway.text.urls import canonical, host, is_web_address, page_in, strip_trackers
from websearch_gateway.upstream.telemetry import stage

MAX_SOURCES = 20
"""The most uncited pages that an answer lists."""

_LONE_SURROGATES = re.compile(r"[\ud800-\udfff]")
# C0 and C1 without tab and line feed, since a terminal obeys them; and Bidi_Control of Unicode's PropList.txt.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\s]+")


@stage("finalize")
def finalize(query: SearchQuery, answer: Answer, *, responded_at: datetime, cost_usd: float = 0.0) -> SearchResponse:
    """The response for `answer`. Never raises.

    The text has no control characters except tab and line feed, and none that change the writing direction. Citations
    hold verified spans only: one entry per page with all its places, ranked by first use, at most `query.max_results`;
    each place is visible in the text, as a link or by a mark with the rank. The other pages that the answer names are
    in `sources`, at most MAX_SOURCES. Without `query.include_answers` the text is empty, every span is 0/0 and the
    snippets hold the cited text.

    Args:
        responded_at: the time of the answer, with a time zone.
        cost_usd: what the call has cost.
    """
    text, spans = _clean(answer)
    verified = repair(text, spans)
    pages = by_page(verified)
    known = _pages_by_url(answer, spans)
    shown, cited = _citations(text, pages, known, query)
    sources = tuple(islice(_sources(known, cited), MAX_SOURCES))
    warnings = _warnings(text, lost=len(answer.spans) - len(verified), cited=bool(cited), sources=bool(sources))
    is_filtered = query.freshness_hours is not None or query.include_domains or query.exclude_domains
    if text.strip() and not cited and not sources and is_filtered:
        warnings.append(nothing_found(query))
    if len(pages) > query.max_results:
        warnings.append(
            f"Cited pages beyond maxResults, listed in sources without their place: {len(pages) - query.max_results}."
        )
    return SearchResponse(
        text=shown,
        citations=cited,
        sources=sources,
        provider=answer.provider,
        model=answer.model,
        responded_at=responded_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        usage=Usage(prompt_tokens=answer.usage.prompt, response_tokens=answer.usage.response),
        fallback=answer.fallback and FallbackInfo(from_=answer.fallback.given_up, reason=answer.fallback.reason),
        filters=Filters(
            freshness=FilterState(requested=query.freshness_hours, applied=answer.applied.freshness),
            region=FilterState(requested=query.region, applied=answer.applied.region),
            domains=answer.applied.domains,
        ),
        cost_usd=round(cost_usd, 6),
        search_suggestions=answer.search_suggestions,
        warnings=tuple(dict.fromkeys((*answer.warnings, *warnings))),
    )


def _clean(answer: Answer) -> tuple[str, list[Span]]:
    """The cleaned text, and the spans on web addresses at their places in it, with clean titles."""
    text, move = cut(answer.text, [match.span() for match in _CONTROLS.finditer(answer.text)])
    spans = [
        replace(span, title=_printable(span.title), quote=_printable(span.quote or "") or None)
        for span in moved(answer.spans, move)
        if is_web_address(span.url)
    ]
    return without_trackers(_LONE_SURROGATES.sub("\ufffd", text), spans)


def _warnings(text: str, *, lost: int, cited: bool, sources: bool) -> list[str]:
    warnings = [f"Citations left out because their place in the text is wrong: {lost}."] if lost else []
    if sources and not cited:
        warnings.append("No sentence is tied to a source: `sources` lists the pages that were found.")
    elif text.strip() and not cited:
        warnings.append("The answer names no source.")
    return warnings


def _pages_by_url(answer: Answer, spans: Sequence[Span]) -> dict[str, Source]:
    """The pages that the answer names, by canonical URL, with their known metadata; those of its spans come first."""
    named = [Source(span.url, span.title) for span in spans]
    found = [
        Source(strip_trackers(source.url), _printable(source.title), source.published)
        for source in answer.sources
        if is_web_address(source.url)
    ]
    pages: dict[str, Source] = {}
    for page in (*named, *found):
        known = pages.setdefault(canonical(page.url), page)
        pages[canonical(page.url)] = replace(
            known, title=known.title or page.title, published=known.published or page.published
        )
    return pages


def _sources(known: Mapping[str, Source], cited: Sequence[Citation]) -> Iterator[SourceInfo]:
    """The pages that no citation names."""
    taken = {canonical(citation.url) for citation in cited}
    for url, page in known.items():
        if url not in taken:
            yield SourceInfo(url=page.url, title=page.title or host(page.url), published_at=page.published)


def _printable(title: str) -> str:
    return _UNPRINTABLE.sub(" ", title).strip()


def places_of(response: SearchResponse) -> list[Cited]:
    """Every place in the text that a citation of `response` has."""
    return [
        Cited(span.start_index, span.end_index, citation.rank, citation.url)
        for citation in response.citations
        for span in citation.spans
    ]


def _citations(
    text: str, pages: Sequence[Sequence[Span]], known: Mapping[str, Source], query: SearchQuery
) -> tuple[str, tuple[Citation, ...]]:
    """The text with visible citations, and the citations; without an answer both have no places."""
    listed = pages[: query.max_results]
    cited_texts = snippets(text, [(page[0].start, page[0].end) for page in listed])
    distinct = [list(dict.fromkeys(page)) for page in listed]
    places = _places(distinct)
    if query.include_answers:
        text, places = with_marks(text, places, _places(pages[query.max_results :]))
    by_rank: dict[int, list[CitedSpan]] = defaultdict(list)
    for place, span in zip(places, chain.from_iterable(distinct), strict=True):
        by_rank[place.number].append(_cited_span(place, span))
    citations = tuple(
        _citation(page[0], snippet, known[canonical(page[0].url)], rank, by_rank[rank], query.include_answers)
        for rank, (page, snippet) in enumerate(zip(listed, cited_texts, strict=True), start=1)
    )
    return text if query.include_answers else "", citations


def _places(pages: Sequence[Sequence[Span]]) -> list[Cited]:
    """The places of each page; the first page has number 1."""
    return [Cited(span.start, span.end, rank, page[0].url) for rank, page in enumerate(pages, start=1) for span in page]


def _cited_span(place: Cited, span: Span) -> CitedSpan:
    return CitedSpan(
        start_index=place.start,
        end_index=place.end,
        quote=span.quote,
        quote_url=quote_url(span.url, span.quote) if span.quote else None,
        support=span.support,
    )


def _citation(
    first: Span, snippet: str, known: Source, rank: int, spans: Sequence[CitedSpan], has_places: bool
) -> Citation:
    """The citation of a page; without an answer it has no places."""
    return Citation(
        url=first.url,
        title=first.title or known.title or host(known.url),
        text_snippet=snippet,
        start_index=spans[0].start_index if has_places else 0,
        end_index=spans[0].end_index if has_places else 0,
        rank=rank,
        spans=tuple(spans) if has_places else (),
        published_at=known.published,
        page=page_in(first.url),
        quote=spans[0].quote,
        quote_url=spans[0].quote_url,
        support=spans[0].support,
    )
