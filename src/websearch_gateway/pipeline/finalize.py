"""The last stage: verify and rank the citations, clean the text, price the call. And the cleaning of titles, snippets,
links and texts from providers and answer engines, which are as untrusted as pages: only clean text is cached, ranked
or shown.

It guarantees for every answer: `text[startIndex:endIndex]` is the cited span, for any text that an engine wrote
and any offsets that it claimed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from websearch_gateway.base import (
    admitted,
    clean_markdown,
    find_urls,
    host,
    in_own_thread_if_large,
    invisible_pieces,
    is_advertisement,
    is_unrelated,
    is_web_address,
    nothing_found,
    page_in,
    page_key,
    quote_url,
    shown_url,
    strip_trackers,
    target_of,
    unshown_pieces,
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
from websearch_gateway.models import (
    Answer,
    AppliedFilters,
    Hit,
    SearchQuery,
    SearchResults,
    Source,
    Span,
)
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
from websearch_gateway.upstream.telemetry import stage

if TYPE_CHECKING:
    from websearch_gateway.base import AddressPolicy

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
    text, spans = _clean(answer)
    verified = repair(text, spans)
    pages = by_page(verified)
    known = _pages_by_url(answer, spans)
    shown, cited = _citations(text, pages, known, query)
    taken = {page_key(citation.url) for citation in cited}
    others = islice((page for url, page in known.items() if url not in taken), MAX_SOURCES)
    sources = tuple(
        SourceInfo(url=one.url, title=one.title or host(one.url), published_at=one.published)
        for one in others
    )
    warnings = _warnings(
        text, lost=len(answer.spans) - len(verified), cited=bool(cited), sources=bool(sources)
    )
    is_filtered = (
        query.freshness_hours is not None or query.include_domains or query.exclude_domains
    )
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
        responded_at=responded_at.astimezone(UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z"),
        usage=Usage(prompt_tokens=answer.usage.prompt, response_tokens=answer.usage.response),
        fallback=answer.fallback
        and FallbackInfo(from_=answer.fallback.given_up, reason=answer.fallback.reason),
        filters=filters_of(query, answer.applied),
        cost_usd=round(cost_usd, 6),
        search_suggestions=answer.search_suggestions,
        warnings=tuple(
            dict.fromkeys(
                (*answer.warnings, *unmet(query, answer.applied, answer.provider), *warnings)
            )
        ),
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
    told = {
        "has no filter by freshness: results may be older": applied.freshness is None
        and query.freshness_hours,
        f"has no filter by region {query.region}: results may be for others": applied.region is None
        and query.region,
        f"has no filter by language {query.language}: results may be in others": (
            applied.language is None and query.language
        ),
        f"has no filter by safeSearch {query.safe_search}: it does as it is set up": (
            applied.safe_search is None and query.safe_search
        ),
        "has no search for news: these are results from the whole web": query.topic == "news"
        and not applied.news,
        f"gives at most {applied.max_results} results for a query, on all pages together": (
            applied.max_results is not None and applied.max_results < wanted
        ),
    }
    return [f"{provider} {what}." for what, is_unmet in told.items() if is_unmet]


def _clean(answer: Answer) -> tuple[str, list[Span]]:
    """The cleaned text, and the spans on web addresses at their places in it, with clean titles."""
    text, move = without_pieces(
        answer.text, [match.span() for match in _CONTROLS.finditer(answer.text)]
    )
    spans = [
        replace(span, title=_printable(span.title), quote=_printable(span.quote or "") or None)
        for span in moved(answer.spans, move)
        if is_web_address(span.url)
    ]
    return without_trackers(_LONE_SURROGATES.sub("\ufffd", text), spans)


def _warnings(text: str, *, lost: int, cited: bool, sources: bool) -> list[str]:
    warnings = (
        [f"Citations left out because their place in the text is wrong: {lost}."] if lost else []
    )
    if sources and not cited:
        warnings.append(
            "No sentence is tied to a source: `sources` lists the pages that were found."
        )
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
        known = pages.setdefault(page_key(page.url), page)
        pages[page_key(page.url)] = replace(
            known, title=known.title or page.title, published=known.published or page.published
        )
    return pages


def _printable(title: str) -> str:
    return _UNPRINTABLE.sub(" ", title).strip()


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
        url = quote_url(span.url, span.quote) if span.quote else None
        cited = CitedSpan(
            start_index=place.start,
            end_index=place.end,
            quote=span.quote,
            quote_url=url,
            support=span.support,
        )
        by_rank[place.number].append(cited)
    citations = tuple(
        _citation(
            page[0],
            snippet,
            known[page_key(page[0].url)],
            rank,
            by_rank[rank],
            query.include_answers,
        )
        for rank, (page, snippet) in enumerate(zip(listed, cited_texts, strict=True), start=1)
    )
    return text if query.include_answers else "", citations


def _places(pages: Sequence[Sequence[Span]]) -> list[Cited]:
    """The places of each page; the first page has number 1."""
    return [
        Cited(span.start, span.end, rank, page[0].url)
        for rank, page in enumerate(pages, start=1)
        for span in page
    ]


def _citation(
    first: Span,
    snippet: str,
    known: Source,
    rank: int,
    spans: Sequence[CitedSpan],
    has_places: bool,
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


LONGEST_TEXT = 64_000
"""Longer answers are cut (characters); this bounds the work of cleaning."""

LONGEST_QUOTE = 1_000
MOST_LINKS = 200
"""The most spans, and the most sources, of an answer that are kept; a reply shows far fewer."""


async def cleaned_answer(answer: Answer, query: SearchQuery, addresses: AddressPolicy) -> Answer:
    """The answer with its text, titles and URLs cleaned as pages are cleaned.

    Links to non-public addresses are removed from the text, the citations and the sources, with a warning.
    """
    wanted = _within(answer, query)
    size = len(answer.text)
    size += sum(len(span.title) + len(span.url) for span in answer.spans)
    size += sum(len(source.title) + len(source.url) for source in answer.sources)
    return await in_own_thread_if_large(size, clean_answer, wanted, addresses)


def clean_answer(answer: Answer, addresses: AddressPolicy) -> Answer:
    """The cleaned answer. Spans keep their places where the text is unchanged."""
    answer, size_warnings = _bounded(answer)
    text, move = without_pieces(
        answer.text[:LONGEST_TEXT], invisible_pieces(answer.text[:LONGEST_TEXT])
    )
    spans = moved(answer.spans, move)
    text, move = without_pieces(text, _pieces_of_links(text, addresses))
    spans = moved(spans, move)
    # This changes only active content, such as an image whose URL carries data out. The spans after it are then off
    # by some characters; verification corrects or drops them.
    text, warnings = clean_markdown(text)
    cited = [
        replace(
            span,
            url=url,
            title=clean_line(span.title, LONGEST_TITLE, span.url)[0],
            quote=clean_line(span.quote, LONGEST_QUOTE, span.url)[0] if span.quote else None,
        )
        for span in spans
        if (url := link_to_show(span.url, addresses))
    ]
    sources = [
        replace(source, url=url, title=clean_line(source.title, LONGEST_TITLE, source.url)[0])
        for source in answer.sources
        if (url := link_to_show(source.url, addresses))
    ]
    if dropped := len(spans) - len(cited) + len(answer.sources) - len(sources):
        warnings = (*warnings, dropped_links_warning(dropped))
    return replace(
        answer,
        text=text,
        spans=tuple(cited),
        sources=tuple(sources),
        warnings=(*answer.warnings, *size_warnings, *warnings),
    )


def _bounded(answer: Answer) -> tuple[Answer, tuple[str, ...]]:
    """The answer with its first MOST_LINKS spans and sources, and a warning if there are more spans."""
    spans = sorted(answer.spans, key=lambda span: span.start)
    lost = len(spans) - MOST_LINKS
    warnings = (f"Citations left out because there are too many: {lost}.",) if lost > 0 else ()
    bounded = replace(answer, spans=tuple(spans[:MOST_LINKS]), sources=answer.sources[:MOST_LINKS])
    return (bounded if lost > 0 else replace(bounded, spans=answer.spans)), warnings


def _within(answer: Answer, query: SearchQuery) -> Answer:
    """The answer without spans and sources that the query's lists of domains exclude."""
    include, exclude = query.include_domains, query.exclude_domains
    if not include and not exclude:
        return answer
    spans = tuple(span for span in answer.spans if admitted(span.url, include, exclude))
    sources = tuple(source for source in answer.sources if admitted(source.url, include, exclude))
    lost = len(answer.spans) - len(spans)
    warnings = (
        (f"Citations left out because they are outside the wanted domains: {lost}.",)
        if lost
        else ()
    )
    return replace(answer, spans=spans, sources=sources, warnings=(*answer.warnings, *warnings))


def _pieces_of_links(text: str, addresses: AddressPolicy) -> Sequence[tuple[int, int]]:
    """The pieces to cut from the links in a text: non-public addresses whole, and invisible characters in others."""
    pieces: list[tuple[int, int]] = []
    for start, end in find_urls(text):
        url = text[start:end]
        if link_to_show(url, addresses):
            pieces += [(start + first, start + last) for first, last in unshown_pieces(url)]
        elif text[max(0, start - 2) : start] == "](" and text[end : end + 1] == ")":
            pieces.append((start - 1, end + 1))
        else:
            pieces.append((start, end))
    return pieces


_LINK = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{0,20}:|//)", re.IGNORECASE)

LONGEST_TITLE = 300
LONGEST_SNIPPET = 2_000
LONGEST_URL = 2_000
"""No result page needs a longer URL, and fifty longer ones would fill a reply."""


async def cleaned_hits(
    addresses: AddressPolicy, results: SearchResults, query: SearchQuery
) -> SearchResults:
    """The results with the titles, snippets and links of their hits cleaned as pages are cleaned.

    Drops hits whose link is too long or not public, with a warning, and hits that the query's lists of domains exclude,
    without one. A warning also reports text that reads like orders to a model. Says whether the hits share no word with
    the query.
    """
    include, exclude = query.include_domains, query.exclude_domains
    if include or exclude:
        kept = tuple(hit for hit in results.hits if admitted(hit.url, include, exclude))
        applied = replace(results.applied, domains=results.applied.domains or "local")
        results = replace(results, hits=kept, applied=applied)
    size = sum(len(hit.title) + len(hit.snippet) + len(hit.url) for hit in results.hits)
    hits, warnings = await in_own_thread_if_large(size, clean_hits, results.hits, addresses)
    unrelated = await in_own_thread_if_large(size, is_unrelated, query.text, hits, query.language)
    return replace(
        results, hits=hits, warnings=(*results.warnings, *warnings), is_unrelated=unrelated
    )


def clean_hits(
    hits: Sequence[Hit], addresses: AddressPolicy
) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The cleaned hits that may be shown, without advertisements, and warnings."""
    kept: list[Hit] = []
    suspicious: Counter[str] = Counter()
    hits = [hit for hit in hits if not is_advertisement(hit.url)]
    for hit in hits:
        if not (url := link_to_show(hit.url, addresses)):
            continue
        title, title_warnings = clean_line(hit.title, LONGEST_TITLE, url)
        snippet, snippet_warnings = clean_line(hit.snippet, LONGEST_SNIPPET, url)
        suspicious.update({*title_warnings, *snippet_warnings})
        kept.append(replace(hit, url=url, title=title or url, snippet=snippet))
    return tuple(kept), _noted(suspicious, len(hits) - len(kept))


def clean_items(
    reply: Mapping[str, Any], addresses: AddressPolicy
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A reply of Google's Custom Search with its items cleaned in the same way, and warnings."""
    kept: list[dict[str, Any]] = []
    suspicious: Counter[str] = Counter()
    items = reply.get("items", ())
    for item in items:
        if not (link := link_to_show(str(item.get("link", "")), addresses)):
            continue
        cleaned = {**item, "link": link}
        found: set[str] = set()
        for name, most in (("title", LONGEST_TITLE), ("snippet", LONGEST_SNIPPET)):
            if isinstance(text := item.get(name), str):
                cleaned[name], warnings = clean_line(text, most, link)
                found.update(warnings)
        if isinstance(url := item.get("formattedUrl"), str):
            cleaned["formattedUrl"] = shown_url(url)
        if "pagemap" in item:
            cleaned["pagemap"] = _clean_pagemap(item["pagemap"], addresses)
        suspicious.update(found)
        kept.append(cleaned)
    warnings = _noted(suspicious, len(items) - len(kept))
    return ({**reply, "items": kept} if items else dict(reply)), warnings


def _clean_pagemap(value: Any, addresses: AddressPolicy) -> Any:
    """The cleaned metadata of a page: by kind, lists of objects with texts. Drops everything else, and bad links."""
    if not isinstance(value, Mapping):
        return {}
    return {
        str(kind)[:LONGEST_TITLE]: [
            _clean_object(one, addresses) for one in objects if isinstance(one, Mapping)
        ]
        for kind, objects in value.items()
        if isinstance(objects, Sequence) and not isinstance(objects, str)
    }


def _clean_object(value: Mapping[str, Any], addresses: AddressPolicy) -> dict[str, str]:
    cleaned = {}
    for name, text in value.items():
        if not isinstance(text, str):
            continue
        is_link = bool(_LINK.match(text))
        if (
            shown := link_to_show(text, addresses)
            if is_link
            else clean_line(text, LONGEST_SNIPPET, "")[0]
        ):
            cleaned[str(name)[:LONGEST_TITLE]] = shown
    return cleaned


def link_to_show(url: str, addresses: AddressPolicy) -> str:
    """The link as a result shows it, past the redirect of a search engine; empty if it is not allowed."""
    if len(url) > LONGEST_URL:
        return ""
    shown = shown_url(target_of(url))
    return shown if addresses.is_public_link(shown) else ""


def clean_line(text: str, most: int, page_url: str) -> tuple[str, tuple[str, ...]]:
    """A cleaned short text on one line, cut to `most` characters; and warnings."""
    cleaned, warnings = clean_markdown(text[:most], page_url)
    return " ".join(cleaned.split()), warnings


def dropped_links_warning(count: int) -> str:
    """The warning about links that are left out."""
    return f"Links left out because they are too long or point to an address that is not public: {count}."


def _noted(suspicious: Mapping[str, int], dropped: int) -> tuple[str, ...]:
    warnings = [f"In {count} of the results: {warning}" for warning, count in suspicious.items()]
    return (*warnings, dropped_links_warning(dropped)) if dropped else tuple(warnings)
