"""Cleans titles, snippets, links and texts from providers and answer engines, which are as untrusted as pages.

Only clean text is cached, ranked or shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from websearch_gateway.errors import UNRELATED, SearchProviderError
from websearch_gateway.models import Answer, Call, Hit, SearchQuery, SearchResults, Source, Span
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.own_threads import in_own_thread
from websearch_gateway.text.citations import cut, moved
from websearch_gateway.text.sanitise import clean_markdown, invisible_pieces, shown_url, unshown_pieces
from websearch_gateway.text.unrelated import is_unrelated
from websearch_gateway.text.urls import admitted, find_urls

LONGEST_TEXT = 64_000
"""Longer answers are cut (characters); this bounds the work of cleaning."""

LONGEST_QUOTE = 1_000
MOST_LINKS = 200
"""The most spans, and the most sources, of an answer that are kept; a reply shows far fewer."""


async def cleaned_answer(addresses: AddressPolicy, ask: Callable[[], Awaitable[Answer]], call: Call) -> Answer:
    """The layer that cleans the text, titles and URLs of an answer as pages are cleaned.

    Links to non-public addresses are removed from the text, the citations and the sources, with a warning.
    """
    return await in_own_thread(clean_answer, _within(await ask(), call.query), addresses)


def clean_answer(answer: Answer, addresses: AddressPolicy) -> Answer:
    """The cleaned answer. Spans keep their places where the text is unchanged."""
    answer, size_warnings = _bounded(answer)
    text, move = cut(answer.text[:LONGEST_TEXT], invisible_pieces(answer.text[:LONGEST_TEXT]))
    spans = moved(answer.spans, move)
    text, move = cut(text, _pieces_of_links(text, addresses))
    spans = moved(spans, move)
    # This changes only active content, such as an image whose URL carries data out. The spans after it are then off
    # by some characters; verification corrects or drops them.
    text, warnings = clean_markdown(text)
    cited = [_clean_span(span) for span in spans if link_to_show(span.url, addresses)]
    sources = [_clean_source(source) for source in answer.sources if link_to_show(source.url, addresses)]
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
    warnings = (f"Citations left out because they are outside the wanted domains: {lost}.",) if lost else ()
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


def _clean_span(span: Span) -> Span:
    return replace(
        span,
        url=shown_url(span.url),
        title=clean_line(span.title, LONGEST_TITLE, span.url)[0],
        quote=clean_line(span.quote, LONGEST_QUOTE, span.url)[0] if span.quote else None,
    )


def _clean_source(source: Source) -> Source:
    return replace(source, url=shown_url(source.url), title=clean_line(source.title, LONGEST_TITLE, source.url)[0])


_LINK = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{0,20}:|//)", re.IGNORECASE)

LONGEST_TITLE = 300
LONGEST_SNIPPET = 2_000
LONGEST_URL = 2_000
"""No result page needs a longer URL, and fifty longer ones would fill a reply."""


async def cleaned_hits(
    addresses: AddressPolicy, ask: Callable[[], Awaitable[SearchResults]], call: Call
) -> SearchResults:
    """The layer that cleans titles, snippets and links of hits as pages are cleaned.

    Drops hits whose link is too long or not public, with a warning, and hits that the query's lists of domains exclude,
    without one. A warning also reports text that reads like orders to a model. Hits that have nothing to do with the
    query are a failure: some engines send such pages to callers that they take for bots.

    Raises:
        SearchProviderError: the hits have nothing to do with the query.
        SearchError: as `ask` raises.
    """
    found, query = await ask(), call.query
    include, exclude = query.include_domains, query.exclude_domains
    if include or exclude:
        kept = tuple(hit for hit in found.hits if admitted(hit.url, include, exclude))
        applied = replace(found.applied, domains=found.applied.domains or "local")
        found = replace(found, hits=kept, applied=applied)
    hits, warnings = await in_own_thread(clean_hits, found.hits, addresses)
    if await in_own_thread(is_unrelated, query.text, hits, query.language):
        raise SearchProviderError(
            f"The results of {found.provider} have nothing to do with the query.", details={"reason": UNRELATED}
        )
    return replace(found, hits=hits, warnings=(*found.warnings, *warnings))


def clean_hits(hits: Sequence[Hit], addresses: AddressPolicy) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The cleaned hits that may be shown, and warnings."""
    kept: list[Hit] = []
    suspicious: Counter[str] = Counter()
    for hit in hits:
        if not (url := link_to_show(hit.url, addresses)):
            continue
        title, title_warnings = clean_line(hit.title, LONGEST_TITLE, url)
        snippet, snippet_warnings = clean_line(hit.snippet, LONGEST_SNIPPET, url)
        suspicious.update({*title_warnings, *snippet_warnings})
        kept.append(replace(hit, url=url, title=title or url, snippet=snippet))
    return tuple(kept), _warnings(suspicious, len(hits) - len(kept))


def clean_items(reply: Mapping[str, Any], addresses: AddressPolicy) -> tuple[dict[str, Any], tuple[str, ...]]:
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
    warnings = _warnings(suspicious, len(items) - len(kept))
    return ({**reply, "items": kept} if items else dict(reply)), warnings


def _clean_pagemap(value: Any, addresses: AddressPolicy) -> Any:
    """The cleaned metadata of a page: by kind, lists of objects with texts. Drops everything else, and bad links."""
    if not isinstance(value, Mapping):
        return {}
    return {
        str(kind)[:LONGEST_TITLE]: [_clean_object(one, addresses) for one in objects if isinstance(one, Mapping)]
        for kind, objects in value.items()
        if isinstance(objects, Sequence) and not isinstance(objects, str)
    }


def _clean_object(value: Mapping[str, Any], addresses: AddressPolicy) -> dict[str, str]:
    cleaned = {}
    for name, text in value.items():
        if not isinstance(text, str):
            continue
        is_link = bool(_LINK.match(text))
        if shown := link_to_show(text, addresses) if is_link else clean_line(text, LONGEST_SNIPPET, "")[0]:
            cleaned[str(name)[:LONGEST_TITLE]] = shown
    return cleaned


def link_to_show(url: str, addresses: AddressPolicy) -> str:
    """The link as a result shows it; empty if it is not allowed."""
    if len(url) > LONGEST_URL:
        return ""
    shown = shown_url(url)
    return shown if addresses.is_public_link(shown) else ""


def clean_line(text: str, most: int, page_url: str) -> tuple[str, tuple[str, ...]]:
    """A cleaned short text on one line, cut to `most` characters; and warnings."""
    cleaned, warnings = clean_markdown(text[:most], page_url)
    return " ".join(cleaned.split()), warnings


def dropped_links_warning(count: int) -> str:
    """The warning about links that are left out."""
    return f"Links left out because they are too long or point to an address that is not public: {count}."


def _warnings(suspicious: Mapping[str, int], dropped: int) -> tuple[str, ...]:
    warnings = [f"In {count} of the results: {warning}" for warning, count in suspicious.items()]
    return (*warnings, dropped_links_warning(dropped)) if dropped else tuple(warnings)
