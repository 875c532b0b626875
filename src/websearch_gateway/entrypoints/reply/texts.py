"""Results as a model reads them. Warnings come first, and everything from the web stands between the marks for
untrusted text: answers, titles, links, snippets and pages. Each page has its own marks, so that none can pretend to be
another.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from websearch_gateway.base import in_words
from websearch_gateway.entrypoints.reply.marks import unmarked, untrusted
from websearch_gateway.entrypoints.reply.sizes import shortened
from websearch_gateway.evidence import Cited, numbered
from websearch_gateway.models import Parts
from websearch_gateway.results import (
    CachedAnswer,
    CheckedClaims,
    DocsHit,
    DocsSearchResponse,
    FoundPage,
    PageContent,
    PagePassages,
    PageWindow,
    RawQuery,
    RawSearchResponse,
    SearchResponse,
    SimilarAnswer,
    SimilarAnswers,
    WebResult,
    WebSearchResponse,
)

ANSWER_SHARE = 1.3
"""The most characters of an answer with its list, as a share of the answer and its links: long titles are cut."""

SHORTEST_TITLE = 12
MOST_UNCITED = 5
"""The sources to list for an answer that cites none."""


def answer_text(response: SearchResponse) -> str:
    """The answer with marks such as `[1]`, and a numbered list of what it cites."""
    one = response.fallback
    instead = [f"{response.provider} answered instead of {one.from_} ({one.reason})"] if one else []
    return _joined(_warned((*instead, *response.warnings)), untrusted(_answer(Parts(response))) or "No answer.")


def cached_text(response: CachedAnswer) -> str:
    """A stored answer as `answer_text`, or stored results."""
    if not response.found:
        return _joined(_warned(response.warnings), "Nothing is stored for this question.")
    if not response.results:
        return answer_text(response)
    return _joined(_warned(response.warnings), untrusted(_found_pages(response.results)))


def similar_text(found: SimilarAnswers) -> str:
    """The stored answers, each under its question."""
    parts = [untrusted(_similar(one)) for one in found.results]
    return _joined(_warned(found.warnings), *(parts or ["Nothing similar is stored."]))


def claims_text(response: CheckedClaims) -> str:
    """Each claim with its verdict, and the words of the page under it."""
    lines = []
    for one in response.claims:
        lines.append(f"[{one.verdict}] {one.claim}")
        if one.quote:
            lines.append(untrusted(f"{one.quote} - {one.url}"))
    return _joined(_warned(response.warnings), "\n".join(lines))


def found_text(response: WebSearchResponse) -> str:
    """A list of the results, and then the page of each under its number."""
    rows = "\n".join(f"[{number}] {_row(one)}" for number, one in enumerate(response.results, start=1))
    pages = [f"[{number}]\n{one.page_content}" for number, one in enumerate(response.results, start=1)]
    cost = f"(cache: {response.cache}, costUsd: {response.cost_usd:g})" if response.results else "No results."
    return _joined(_warned(response.warnings), untrusted(rows), *pages, cost)


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
    metadata = [untrusted(found.metadata.model_dump_json(by_alias=True))] if found.metadata is not None else []
    about = f"{found.url} · as of {found.last_crawled}"
    return _joined(_warned(found.warnings), *note, about, untrusted("\n\n".join(filter(None, parts))), *metadata)


def sections_text(found: DocsSearchResponse) -> str:
    """The sections, each under one line about it, and a line for each that follows."""
    versions = {(one.site_name, one.site_version) for one in found.results}
    sections = [_section(one, names_site=len(versions) > 1) for one in found.results]
    more = "\n".join(f"- {one.title} ({one.section_id})" for one in found.more)
    parts = [*sections, f"More, by section id:\n{more}" if more else ""]
    return _joined(_warned(found.warnings), untrusted("\n\n".join(filter(None, parts))) or "No results.")


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
    return f"{heading}\n{untrusted(chr(10).join(rows)) or 'No results.'}"


def _window(page: PageContent | PageWindow) -> str:
    if page.error is not None:
        return f"{page.url}\n{page.page_content}\n(error: {page.error.code})"
    more = f", nextOffset: {page.next_offset}" if page.next_offset is not None else ""
    title = "".join(map(untrusted, _unless_in(page.page_content, page.title)))
    return "\n".join(filter(None, (page.url, title, page.page_content, f"(totalChars: {page.total_chars}{more})")))


def _unless_in(content: str, words: str) -> list[str]:
    """A title or snippet, if the page does not say the same."""
    return [words] if words and words not in content else []


def _warned(warnings: Iterable[str]) -> str:
    return "\n".join(f"Warning: {warning}" for warning in dict.fromkeys(warnings))


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _of(item: Any, field: str) -> str:
    value = item.get(field) if isinstance(item, dict) else None
    return str(value) if value is not None else ""
