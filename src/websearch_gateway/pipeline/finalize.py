"""The last stage: verify and rank the citations, and make the response. `cleaning` has cleaned the answer before.

It guarantees for every answer: `text[startIndex:endIndex]` is the cited span, for any text that an engine wrote
and any offsets that it claimed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from websearch_gateway.base import (
    host,
    is_web_address,
    nothing_found,
    page_in,
    page_key,
    quote_url,
    strip_trackers,
)
from websearch_gateway.evidence import (
    Cited,
    by_page,
    moved,
    repair,
    snippets,
    with_marks,
    without_pieces,
    without_trackers,
)
from websearch_gateway.models import Answer, AppliedFilters, SearchQuery, Source, Span
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
from websearch_gateway.upstream.tracing import stage

MAX_SOURCES = 20
"""The most uncited pages that an answer lists."""

_LONE_SURROGATES = re.compile(r"[\ud800-\udfff]")
# C0 and C1 without tab and line feed, since a terminal obeys them; and Bidi_Control of Unicode's PropList.txt.
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+"
)
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\s]+"
)


@stage("finalize")
def finalize(
    query: SearchQuery, answer: Answer, *, responded_at: datetime, cost_usd: float = 0.0
) -> SearchResponse:
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
    text, spans = _printable_answer(answer)
    verified = repair(text, spans)
    cited_pages = by_page(verified)
    known_pages = _pages_by_url(answer, spans)
    shown_text, citations = _citations(text, cited_pages, known_pages, query)
    sources = _sources(citations, known_pages)
    warnings = [
        *answer.warnings,
        *unmet(query, answer.applied, answer.provider),
        *_warnings(text, len(answer.spans) - len(verified), citations, sources),
    ]
    is_filtered = query.freshness_hours or query.include_domains or query.exclude_domains
    names_no_page = not citations and not sources
    if text.strip() and names_no_page and is_filtered:
        warnings.append(nothing_found(query))
    beyond = len(cited_pages) - query.max_results
    if beyond > 0:
        warnings.append(
            f"Cited pages beyond maxResults, listed in sources without their place: {beyond}."
        )
    fallback = None
    if answer.fallback:
        fallback = FallbackInfo(from_=answer.fallback.given_up, reason=answer.fallback.reason)
    return SearchResponse(
        text=shown_text,
        citations=citations,
        sources=sources,
        provider=answer.provider,
        model=answer.model,
        responded_at=_in_utc(responded_at),
        usage=Usage(prompt_tokens=answer.usage.prompt, response_tokens=answer.usage.response),
        fallback=fallback,
        filters=filters_of(query, answer.applied),
        cost_usd=round(cost_usd, 6),
        search_suggestions=answer.search_suggestions,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _in_utc(moment: datetime) -> str:
    """ISO 8601 to the millisecond."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _sources(
    citations: Sequence[Citation], known_pages: Mapping[str, Source]
) -> tuple[SourceInfo, ...]:
    """The first MAX_SOURCES pages that the answer names without citing them."""
    cited = {page_key(citation.url) for citation in citations}
    uncited = [page for url, page in known_pages.items() if url not in cited]
    return tuple(
        SourceInfo(url=page.url, title=page.title or host(page.url), published_at=page.published)
        for page in uncited[:MAX_SOURCES]
    )


def filters_of(query: SearchQuery, applied: AppliedFilters) -> Filters:
    """What was asked for, and what was applied."""
    return Filters(
        freshness=FilterState(requested=query.freshness_hours, applied=applied.freshness),
        region=FilterState(requested=query.region, applied=applied.region),
        domains=applied.domains,
    )


def unmet(query: SearchQuery, applied: AppliedFilters, provider: str, wanted: int = 0) -> list[str]:
    """A warning for each filter that the provider could not apply, and if it gives less than the `wanted` results."""
    faults = []
    if query.freshness_hours and applied.freshness is None:
        faults.append("has no filter by freshness: results may be older")
    if query.region and applied.region is None:
        faults.append(f"has no filter by region {query.region}: results may be for others")
    if query.language and applied.language is None:
        faults.append(f"has no filter by language {query.language}: results may be in others")
    if query.safe_search and applied.safe_search is None:
        faults.append(f"has no filter by safeSearch {query.safe_search}: it does as it is set up")
    if query.topic == "news" and not applied.news:
        faults.append("has no search for news: these are results from the whole web")
    if applied.max_results is not None and applied.max_results < wanted:
        most = applied.max_results
        faults.append(f"gives at most {most} results for a query, on all pages together")
    return [f"{provider} {fault}." for fault in faults]


def _printable_answer(answer: Answer) -> tuple[str, list[Span]]:
    """The text without what a terminal obeys, and the spans on web addresses at their places in it, with clean titles."""
    controls = [match.span() for match in _CONTROLS.finditer(answer.text)]
    text, move = without_pieces(answer.text, controls)
    spans = []
    for span in moved(answer.spans, move):
        if is_web_address(span.url):
            quote = _printable(span.quote or "") or None
            spans.append(replace(span, title=_printable(span.title), quote=quote))
    return without_trackers(_LONE_SURROGATES.sub("\ufffd", text), spans)


def _warnings(
    text: str, lost: int, citations: Sequence[Citation], sources: Sequence[SourceInfo]
) -> list[str]:
    warnings = []
    if lost:
        warnings.append(f"Citations left out because their place in the text is wrong: {lost}.")
    if sources and not citations:
        warnings.append(
            "No sentence is tied to a source: `sources` lists the pages that were found."
        )
    elif text.strip() and not citations:
        warnings.append("The answer names no source.")
    return warnings


def _pages_by_url(answer: Answer, spans: Sequence[Span]) -> dict[str, Source]:
    """The pages that the answer names, by canonical URL, with their known metadata; those of its spans come first."""
    named = [Source(span.url, span.title) for span in spans]
    for source in answer.sources:
        if is_web_address(source.url):
            title = _printable(source.title)
            named.append(Source(strip_trackers(source.url), title, source.published))
    pages: dict[str, Source] = {}
    for page in named:
        key = page_key(page.url)
        first = pages.get(key, page)
        pages[key] = replace(
            first, title=first.title or page.title, published=first.published or page.published
        )
    return pages


def _printable(title: str) -> str:
    return _UNPRINTABLE.sub(" ", title).strip()


def _citations(
    text: str,
    pages: Sequence[Sequence[Span]],
    known_pages: Mapping[str, Source],
    query: SearchQuery,
) -> tuple[str, tuple[Citation, ...]]:
    """The text with visible citations, and the citations; without an answer both have no places.

    Args:
        pages: the spans of each cited page, ranked; those beyond `query.max_results` get no citation.
    """
    listed = pages[: query.max_results]
    first_places = [(page[0].start, page[0].end) for page in listed]
    cited_texts = snippets(text, first_places)
    distinct = [list(dict.fromkeys(page)) for page in listed]
    places = _places(distinct)
    if query.include_answers:
        unlisted = _places(pages[query.max_results :])
        text, places = with_marks(text, places, unlisted)
    by_rank: dict[int, list[CitedSpan]] = defaultdict(list)
    for place, span in zip(places, chain.from_iterable(distinct), strict=True):
        by_rank[place.number].append(_cited_span(place, span))
    citations = []
    for rank, (page, snippet) in enumerate(zip(listed, cited_texts, strict=True), start=1):
        first = page[0]
        known = known_pages[page_key(first.url)]
        citation = _citation(first, snippet, known, rank, by_rank[rank])
        citations.append(citation if query.include_answers else _without_places(citation))
    return text if query.include_answers else "", tuple(citations)


def _places(pages: Sequence[Sequence[Span]]) -> list[Cited]:
    """The places of each page; the first page has number 1."""
    return [
        Cited(span.start, span.end, rank, page[0].url)
        for rank, page in enumerate(pages, start=1)
        for span in page
    ]


def _cited_span(place: Cited, span: Span) -> CitedSpan:
    return CitedSpan(
        start_index=place.start,
        end_index=place.end,
        quote=span.quote,
        quote_url=quote_url(span.url, span.quote) if span.quote else None,
        support=span.support,
    )


def _citation(
    first: Span, snippet: str, known: Source, rank: int, spans: Sequence[CitedSpan]
) -> Citation:
    """The citation of a page, which begins as its first span."""
    return Citation(
        url=first.url,
        title=first.title or known.title or host(known.url),
        text_snippet=snippet,
        start_index=spans[0].start_index,
        end_index=spans[0].end_index,
        rank=rank,
        spans=tuple(spans),
        published_at=known.published,
        page=page_in(first.url),
        quote=spans[0].quote,
        quote_url=spans[0].quote_url,
        support=spans[0].support,
    )


def _without_places(citation: Citation) -> Citation:
    """The citation of an answer that is not shown."""
    return citation.model_copy(update={"start_index": 0, "end_index": 0, "spans": ()})
