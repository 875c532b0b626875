"""What providers and answer engines sent, cleaned as pages are cleaned: titles, snippets, links and texts. They are as
untrusted as pages: only clean text is cached, ranked or shown.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from websearch_gateway.base import (
    admitted,
    clean_markdown,
    find_urls,
    in_own_thread_if_large,
    invisible_pieces,
    is_advertisement,
    is_unrelated,
    shown_url,
    target_of,
    unshown_pieces,
)
from websearch_gateway.evidence import moved, without_pieces
from websearch_gateway.models import Answer, Hit, SearchQuery, SearchResults, Source, Span

if TYPE_CHECKING:
    from websearch_gateway.base import AddressPolicy

LONGEST_TEXT = 64_000
"""Longer answers are cut (characters); this bounds the work of cleaning."""

LONGEST_QUOTE = 1_000
"""Characters of what a page says: longer than any sentence worth quoting."""
LONGEST_TITLE = 300
"""Characters: longer than any title that a person would write."""
LONGEST_SNIPPET = 2_000
"""Characters: the longest that vendors send, with room."""
LONGEST_URL = 2_000
"""Characters: no result page needs a longer URL, and fifty longer ones would fill a reply."""
MOST_LINKS = 200
"""The most spans, and the most sources, of an answer that are kept; a reply shows far fewer."""

_LINK = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{0,20}:|//)", re.IGNORECASE)
"""The start of a text that is a link: a scheme, or the `//` before a host."""


async def cleaned_answer(answer: Answer, query: SearchQuery, addresses: AddressPolicy) -> Answer:
    """The answer with its text, titles and URLs cleaned as pages are cleaned.

    Links to non-public addresses are removed from the text, the citations and the sources, with a warning.
    """
    admitted_answer = _within(answer, query)
    size = len(answer.text)
    size += sum(len(span.title) + len(span.url) for span in answer.spans)
    size += sum(len(source.title) + len(source.url) for source in answer.sources)
    return await in_own_thread_if_large(size, clean_answer, admitted_answer, addresses)


def _within(answer: Answer, query: SearchQuery) -> Answer:
    """The answer without spans and sources that the query's lists of domains exclude."""
    include, exclude = query.include_domains, query.exclude_domains
    if not include and not exclude:
        return answer
    spans = tuple(span for span in answer.spans if admitted(span.url, include, exclude))
    sources = tuple(source for source in answer.sources if admitted(source.url, include, exclude))
    warnings = list(answer.warnings)
    lost = len(answer.spans) - len(spans)
    if lost:
        warnings.append(f"Citations left out because they are outside the wanted domains: {lost}.")
    return replace(answer, spans=spans, sources=sources, warnings=tuple(warnings))


def clean_answer(answer: Answer, addresses: AddressPolicy) -> Answer:
    """The cleaned answer. Spans keep their places where the text is unchanged."""
    answer = _bounded(answer)
    # Most links stand in the text, as the end of a span and among the sources.
    show = functools.cache(partial(link_to_show, addresses=addresses))
    text = answer.text[:LONGEST_TEXT]
    text, move = without_pieces(text, invisible_pieces(text))
    spans = moved(answer.spans, move)
    text, move = without_pieces(text, _pieces_of_links(text, show))
    spans = moved(spans, move)
    # This changes only active content, such as an image whose URL carries data out. The spans after it are then off
    # by some characters; verification corrects or drops them.
    text, warnings = clean_markdown(text)
    clean_spans = list(filter(None, (_clean_span(span, show) for span in spans)))
    clean_sources = list(filter(None, (_clean_source(source, show) for source in answer.sources)))
    dropped_spans = len(spans) - len(clean_spans)
    dropped_sources = len(answer.sources) - len(clean_sources)
    if dropped_spans or dropped_sources:
        warnings = (*warnings, dropped_links_warning(dropped_spans + dropped_sources))
    return replace(
        answer,
        text=text,
        spans=tuple(clean_spans),
        sources=tuple(clean_sources),
        warnings=(*answer.warnings, *warnings),
    )


def _bounded(answer: Answer) -> Answer:
    """The answer with its first MOST_LINKS spans and sources, and a warning if it has more spans."""
    answer = replace(answer, sources=answer.sources[:MOST_LINKS])
    lost = len(answer.spans) - MOST_LINKS
    if lost <= 0:
        return answer
    spans = sorted(answer.spans, key=lambda span: span.start)[:MOST_LINKS]
    warning = f"Citations left out because there are too many: {lost}."
    return replace(answer, spans=tuple(spans), warnings=(*answer.warnings, warning))


def _clean_span(span: Span, show: Callable[[str], str]) -> Span | None:
    """The span with a clean title and quote; None if its link is not to be shown."""
    url = show(span.url)
    if not url:
        return None
    title, _ = clean_line(span.title, LONGEST_TITLE, span.url)
    quote = None
    if span.quote:
        quote, _ = clean_line(span.quote, LONGEST_QUOTE, span.url)
    return replace(span, url=url, title=title, quote=quote)


def _clean_source(source: Source, show: Callable[[str], str]) -> Source | None:
    """The source with a clean title; None if its link is not to be shown."""
    url = show(source.url)
    if not url:
        return None
    title, _ = clean_line(source.title, LONGEST_TITLE, source.url)
    return replace(source, url=url, title=title)


def _pieces_of_links(text: str, show: Callable[[str], str]) -> Sequence[tuple[int, int]]:
    """The pieces to cut from the links in a text: non-public addresses whole, and invisible characters in others.

    Of a Markdown link to a non-public address, `[words](address)`, the words stay.
    """
    pieces: list[tuple[int, int]] = []
    for start, end in find_urls(text):
        url = text[start:end]
        is_target = text.endswith("](", 0, start) and text.startswith(")", end)
        if show(url):
            pieces += [(start + first, start + last) for first, last in unshown_pieces(url)]
        elif is_target:
            pieces.append((start - 1, end + 1))
        else:
            pieces.append((start, end))
    return pieces


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
        hits = tuple(hit for hit in results.hits if admitted(hit.url, include, exclude))
        applied = replace(results.applied, domains=results.applied.domains or "local")
        results = replace(results, hits=hits, applied=applied)
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
    clean: list[Hit] = []
    orders: Counter[str] = Counter()
    dropped = 0
    for hit in hits:
        if is_advertisement(hit.url):
            continue
        url = link_to_show(hit.url, addresses)
        if not url:
            dropped += 1
            continue
        title, title_warnings = clean_line(hit.title, LONGEST_TITLE, url)
        snippet, snippet_warnings = clean_line(hit.snippet, LONGEST_SNIPPET, url)
        orders.update({*title_warnings, *snippet_warnings})
        clean.append(replace(hit, url=url, title=title or url, snippet=snippet))
    return tuple(clean), _notes(orders, dropped)


def clean_items(
    reply: Mapping[str, Any], addresses: AddressPolicy
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A reply of Google's Custom Search with its items cleaned in the same way, and warnings."""
    items = reply.get("items", ())
    clean: list[dict[str, Any]] = []
    orders: Counter[str] = Counter()
    for item in items:
        link = link_to_show(str(item.get("link", "")), addresses)
        if link:
            clean_item, warnings = _clean_item(item, link, addresses)
            clean.append(clean_item)
            orders.update(warnings)
    notes = _notes(orders, len(items) - len(clean))
    clean_reply = dict(reply)
    if items:
        clean_reply["items"] = clean
    return clean_reply, notes


def _clean_item(
    item: Mapping[str, Any], link: str, addresses: AddressPolicy
) -> tuple[dict[str, Any], set[str]]:
    clean = {**item, "link": link}
    warnings: set[str] = set()
    for name, most in (("title", LONGEST_TITLE), ("snippet", LONGEST_SNIPPET)):
        text = item.get(name)
        if isinstance(text, str):
            clean[name], new_warnings = clean_line(text, most, link)
            warnings.update(new_warnings)
    url = item.get("formattedUrl")
    if isinstance(url, str):
        clean["formattedUrl"] = shown_url(url)
    if "pagemap" in item:
        clean["pagemap"] = _clean_pagemap(item["pagemap"], addresses)
    return clean, warnings


def _clean_pagemap(pagemap: Any, addresses: AddressPolicy) -> dict[str, list[dict[str, str]]]:
    """The cleaned metadata of a page: by kind, lists of objects with texts. Drops everything else, and bad links."""
    clean: dict[str, list[dict[str, str]]] = {}
    if not isinstance(pagemap, Mapping):
        return clean
    for kind, objects in pagemap.items():
        if isinstance(objects, Sequence) and not isinstance(objects, str):
            clean[str(kind)[:LONGEST_TITLE]] = _clean_objects(objects, addresses)
    return clean


def _clean_objects(objects: Iterable[Any], addresses: AddressPolicy) -> list[dict[str, str]]:
    return [_clean_object(value, addresses) for value in objects if isinstance(value, Mapping)]


def _clean_object(value: Mapping[str, Any], addresses: AddressPolicy) -> dict[str, str]:
    clean = {}
    for name, text in value.items():
        if not isinstance(text, str):
            continue
        if _LINK.match(text):
            text = link_to_show(text, addresses)
        else:
            text, _ = clean_line(text, LONGEST_SNIPPET, "")
        if text:
            clean[str(name)[:LONGEST_TITLE]] = text
    return clean


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


def _notes(orders: Mapping[str, int], dropped: int) -> tuple[str, ...]:
    """A warning for each kind of orders to a model, with the number of results that have it, and for dropped links."""
    warnings = [f"In {count} of the results: {warning}" for warning, count in orders.items()]
    if dropped:
        warnings.append(dropped_links_warning(dropped))
    return tuple(warnings)
