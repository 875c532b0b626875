"""Results as a model reads them, one text per kind, which holds all that a next call needs: offsets, ids, when to try
again.

Warnings come first, and everything from the web stands between the marks for untrusted text: answers, titles, links,
snippets and pages. Each page has its own marks, so that none can pretend to be another.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from websearch_gateway.base import in_words
from websearch_gateway.entrypoints.reply.marks import unmarked, untrusted
from websearch_gateway.entrypoints.reply.sizes import shortened
from websearch_gateway.evidence import Cited, numbered
from websearch_gateway.models import Parts
from websearch_gateway.results import (
    CachedAnswer,
    CheckedClaim,
    CheckedClaims,
    Citation,
    DocsHit,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSite,
    DocsSites,
    DocsSiteStatus,
    DocsStatus,
    ErrorInfo,
    FoundPage,
    PageContent,
    PagePassage,
    PagePassages,
    PageWindow,
    ProviderStatus,
    ProviderStatuses,
    RawQuery,
    RawSearchResponse,
    SearchResponse,
    SimilarAnswer,
    SimilarAnswers,
    WebResult,
    WebSearchResponse,
    WireModel,
)

ANSWER_SHARE = 1.3
"""The most characters of an answer with its list, as a share of the answer and its links: long titles are cut."""

SHORTEST_TITLE = 12
MOST_UNCITED = 5
"""The sources to list for an answer that cites none."""


TOLD_BY_MESSAGES = frozenset({"attempts", "faults", "field", "allowed"})
"""Details of an error that its message has in words."""


def error_text(error: ErrorInfo, *more: str) -> str:
    """A failed call: the code and the message, when to try again, and `more` of it."""
    wait = (
        ""
        if error.retry_after_seconds is None
        else f"retryAfterSeconds: {error.retry_after_seconds:g}"
    )
    details = {
        name: value for name, value in (error.details or {}).items() if name not in TOLD_BY_MESSAGES
    }
    facts = (
        f"details: {json.dumps(details, ensure_ascii=False, separators=(',', ':'))}"
        if details
        else ""
    )
    return _joined(
        "\n".join(filter(None, (f"Error {error.code}: {error.message}", wait, facts))), *more
    )


def answer_text(response: SearchResponse) -> str:
    """The answer with marks such as `[1]`, and a numbered list of what it cites."""
    warnings = list(response.warnings)
    if response.fallback is not None:
        failed, reason = response.fallback.from_, response.fallback.reason
        warnings.insert(0, f"{response.provider} answered instead of {failed} ({reason})")
    return _joined(_warned(warnings), untrusted(_answer(Parts(response))) or "No answer.")


def cached_text(response: CachedAnswer) -> str:
    """A stored answer as `answer_text`, or stored results."""
    if not response.found:
        return _joined(_warned(response.warnings), "Nothing is stored for this question.")
    if not response.results:
        return answer_text(response)
    return _joined(_warned(response.warnings), untrusted(_found_pages(response.results)))


def similar_text(response: SimilarAnswers) -> str:
    """The stored answers, each under its question."""
    answers = [untrusted(_similar(answer)) for answer in response.results]
    return _joined(_warned(response.warnings), *(answers or ["Nothing similar is stored."]))


def claims_text(response: CheckedClaims) -> str:
    """Each claim with its verdict and what differs, and under it the words of the pages to judge it by."""
    return _joined(
        _warned(response.warnings), "\n".join(map(_claim, response.claims)) or "No claims."
    )


def _claim(checked: CheckedClaim) -> str:
    judge = " by a model" if checked.judge == "model" else ""
    lines = [f"[{checked.verdict}{judge}] {checked.claim}"]
    facts = [
        f"{difference.kind}: the claim has {difference.claim}, the page {difference.page}"
        for difference in checked.differences
    ]
    quotes = [f'"{quote.text}" - {quote.url}' for quote in checked.quotes]
    if quotes:
        lines.append(untrusted("\n".join([*facts, *quotes])))
    elif checked.url:  # its quotes did not fit
        lines.append(checked.url)
    return "\n".join(lines)


def found_text(response: WebSearchResponse) -> str:
    """A list of the results, and then the page of each under its number."""
    rows = "\n".join(
        f"[{number}] {_row(result)}" for number, result in enumerate(response.results, start=1)
    )
    pages = [
        f"[{number}]\n{result.page_content}"
        for number, result in enumerate(response.results, start=1)
    ]
    return _joined(_warned(response.warnings), untrusted(rows) or "No results.", *pages)


def raw_text(response: RawSearchResponse) -> str:
    """The items of each query, one under another."""
    return _joined(_warned(response.warnings), *map(_raw_query, response.queries)) or "No queries."


def page_text(page: PageContent) -> str:
    """The text of a page, or of several, after a line that says how to read on."""
    return _joined(_warned(page.warnings), *map(_window, page.pages or (page,)))


def passages_text(page: PagePassages) -> str:
    """The passages of each query with their scores, else the nearest, and the note."""
    parts = [page.title]
    for query in page.queries:
        parts.append(f"# {query.query}")
        passages = query.results or tuple(filter(None, (query.nearest,)))
        parts += [_passage(passage, page.title) for passage in passages]
    note = f"Note: {page.note}" if page.note else ""
    about = f"{page.url} · as of {page.last_crawled}"
    metadata = "" if page.metadata is None else untrusted("\n".join(facts_of(page.metadata)))
    return _joined(_warned(page.warnings), note, about, untrusted(_joined(*parts)), metadata)


def _passage(passage: PagePassage, title: str) -> str:
    """A passage under its score, its page in a PDF, and its headings unless it begins with the last of them."""
    text = unmarked(passage.text)
    path = [heading for heading in passage.section_path if heading != title]
    has_heading = not path or path[-1] in text.partition("\n")[0]
    page = f" page {passage.page}" if passage.page else ""
    headings = "" if has_heading else f" {' > '.join(path)}"
    return f"[{passage.score:.2f}]{page}{headings}\n{text}"


def sections_text(response: DocsSearchResponse) -> str:
    """The sections, each under one line about it, and a line for each that follows."""
    versions = {(section.site_name, section.site_version) for section in response.results}
    sections = [_section(section, names_site=len(versions) > 1) for section in response.results]
    rows = [f"- {section.title} ({section.section_id})" for section in response.more]
    more = "\n".join(["More, by section id:", *rows]) if rows else ""
    return _joined(_warned(response.warnings), untrusted(_joined(*sections, more)) or "No results.")


def _section(section: DocsHit, *, names_site: bool) -> str:
    """A section after its title, section id and address. The text mostly begins with its heading."""
    titles = [section.page_title]
    last = section.heading_path[-1] if section.heading_path else ""
    if last != section.page_title and last not in section.content[:200]:
        titles.append(last)
    site = f" ({section.site_name} {section.site_version})" if names_site else ""
    about = f"section {section.section_id}, {_day(section.fetched_at)}"
    lines = [f"[{' > '.join(titles)}{site}, {about}]({section.url})"]
    if section.also_in:
        others = [f"{other.site_version} ({other.section_id})" for other in section.also_in]
        lines.append(f"Also in {', '.join(others)}")
    return "\n".join([*lines, section.content])


def section_text(section: DocsReadResponse) -> str:
    """A section, or the outline of a page, after its ids and address."""
    facts = [
        section.url,
        f"{section.site_name} {section.site_version}",
        f"section_id: {section.section_id}",
    ]
    if section.next_section_id is not None:
        facts.append(f"next_section_id: {section.next_section_id}")
    if section.truncated:
        facts.append("truncated")
    facts.append(f"as of {_day(section.fetched_at)}")
    outline = [
        f"- {' > '.join(entry.heading_path)} ({entry.section_id}, {entry.tokens} tokens)"
        for entry in section.outline
    ]
    text = _joined(section.page_title, unmarked(section.content), "\n".join(outline))
    return _joined(_warned(section.warnings), " · ".join(facts), untrusted(text))


def sites_text(response: DocsSites) -> str:
    """A line for each indexed site."""
    rows = "\n".join(map(_site, response.sites))
    return _joined(_warned(response.warnings), untrusted(rows) or "No documentation is indexed.")


def _site(site: DocsSite) -> str:
    facts = [site.status, f"{site.page_count} pages", site.age and f"{site.age} old", site.left_out]
    return (
        f"- {site.name} {site.version} (id {site.id}): {', '.join(filter(None, facts))}, {site.url}"
    )


def status_text(status: DocsStatus) -> str:
    """What happened, and the state of each site with what failed or was left out, and why."""
    rows = "\n".join(map(_site_status, status.sites))
    return _joined(status.message, untrusted(rows)) or "No documentation is indexed."


def _site_status(site: DocsSiteStatus) -> str:
    lines = [_site(site)]
    if site.reason:
        lines.append(f"  reason: {site.reason}")
    lines.append(
        f"  known: {site.known}, failed: {site.failed}, without vectors: {site.unembedded}"
    )
    if site.owner is not None:
        lines.append(f"  crawled by {site.owner}")
    lines += [
        f"  failed: {failure.url} ({failure.reason}, {failure.attempts} attempts)"
        for failure in site.failures
    ]
    lines += [
        f"  left out: {skipped.count} ({skipped.reason}), such as {', '.join(skipped.urls)}"
        for skipped in site.skipped
    ]
    return "\n".join(lines)


def providers_text(statuses: ProviderStatuses) -> str:
    """A line for each upstream."""
    return "\n".join(map(_provider, statuses.providers)) or "No upstream is configured."


def _provider(status: ProviderStatus) -> str:
    breaker = f"breaker {status.breaker}"
    if status.open_for_seconds is not None:
        breaker += f" for {status.open_for_seconds:g} s"
    facts = [breaker, f"{status.calls} calls", f"{status.failures} failed"]
    if status.p50_ms is not None and status.p95_ms is not None:
        facts.append(f"p50 {status.p50_ms:g} ms, p95 {status.p95_ms:g} ms")
    if status.last_success_at is not None:
        facts.append(f"last success {status.last_success_at}")
    if status.last_error is not None:
        facts.append(
            f"last error at {status.last_error.at}: {status.last_error.code}: {status.last_error.message}"
        )
    return f"{status.name}: {'; '.join(facts)}"


def facts_text(result: WireModel) -> str:
    """Figures of the gateway itself, a line each, without anything from the web."""
    warnings = getattr(result, "warnings", ())
    return _joined(_warned(warnings), "\n".join(facts_of(result)))


def facts_of(result: WireModel) -> list[str]:
    """`name: value` of each field that has a value, with its name on the wire; parts are indented."""
    lines = []
    for name, field in type(result).model_fields.items():
        value = getattr(result, name)
        key = field.serialization_alias or field.alias or name
        if name in ("warnings", "error") or value in (None, "", (), {}):
            continue
        if isinstance(value, WireModel):
            lines.append(f"{key}: {', '.join(facts_of(value))}")
        elif isinstance(value, Mapping):
            lines.append(
                f"{key}: {', '.join(f'{part} {amount}' for part, amount in value.items())}"
            )
        elif isinstance(value, tuple):
            lines += [f"{key}:", *(f"- {', '.join(facts_of(part))}" for part in value)]
        else:
            lines.append(f"{key}: {_plain(value)}")
    return lines


def _plain(value: Any) -> str:
    """A value as JSON writes it, but texts without quotes."""
    return value if isinstance(value, str) else json.dumps(value)


@functools.lru_cache(maxsize=64)  # stored answers repeat
def _answer(parts: Parts) -> str:
    response: SearchResponse = parts.result
    text = numbered(response.text, tuple(places_of(response))).strip()
    if not response.citations:
        sources = [f"- {source.title} - {source.url}" for source in response.sources[:MOST_UNCITED]]
        return _joined(text, "\n".join(["Found, not cited:", *sources]) if sources else "")
    titles = _titles(response, len(text))
    lines: list[str] = []
    for citation, title in zip(response.citations, titles, strict=True):
        lines.append(f"[{citation.rank}] {title} - {_about(citation)}")
        if not text:
            lines.append(citation.text_snippet)
        lines += _proofs(citation)
    return _joined(text, "\n".join(lines))


def _about(citation: Citation) -> str:
    """The address of a citation, and what comparing the page with the answer gave."""
    supports = dict.fromkeys(span.support for span in citation.spans or (citation,))
    return " · ".join(filter(None, (citation.url, *supports)))


OTHER_WORDS = ("quoted", "differs")
"""What `support` says of a sentence that is not the page's own."""


def _proofs(citation: Citation) -> list[str]:
    """The page's own words where the answer has others."""
    quotes = [
        span.quote
        for span in citation.spans or (citation,)
        if span.support in OTHER_WORDS and span.quote
    ]
    return [f'    "{quote}"' for quote in dict.fromkeys(quotes)]


def places_of(response: SearchResponse) -> list[Cited]:
    """Every place in the text that a citation of `response` has."""
    return [
        Cited(span.start_index, span.end_index, citation.rank, citation.url)
        for citation in response.citations
        for span in citation.spans
    ]


def _titles(response: SearchResponse, written: int) -> list[str]:
    """The titles of the citations, cut equally if the list would be too long for so short an answer."""
    links = sum(len(citation.url) for citation in response.citations)
    rest = sum(len(f"[{citation.rank}]  - {_about(citation)}\n") for citation in response.citations)
    room = int(ANSWER_SHARE * (len(response.text) + links)) - written - rest - 1
    titles = [citation.title for citation in response.citations]
    if not response.text or sum(map(len, titles)) <= room:
        return titles
    return [shortened(title, max(SHORTEST_TITLE, room // len(titles))) for title in titles]


def _similar(answer: SimilarAnswer) -> str:
    age = f"{in_words(answer.age_seconds)} old"
    heading = f"# {answer.query} ({answer.tool}, {age}, similarity {answer.similarity:.2f})"
    if answer.results:
        return f"{heading}\n{_found_pages(answer.results)}"
    response = SearchResponse(text=answer.text, citations=answer.citations, sources=answer.sources)
    return f"{heading}\n{_answer(Parts(response))}"


def _found_pages(pages: Sequence[FoundPage]) -> str:
    return "\n".join(f"- {page.title} - {page.link}\n  {page.snippet}" for page in pages)


def _row(result: WebResult) -> str:
    """Title, link and snippet, each on one line: providers' texts are cleaned so. The page may say the same."""
    about = " · ".join(filter(None, (result.link, result.published_date, result.provider)))
    return "\n".join((result.title, about, *_unless_in(result.page_content, result.snippet)))


def _raw_query(query: RawQuery) -> str:
    age = (
        ""
        if query.cache == "miss"
        else f", cache: {query.cache}, {in_words(query.age_seconds)} old"
    )
    heading = f"# {query.query} ({query.provider}{age})" if query.provider else f"# {query.query}"
    if error := query.result.get("error"):
        wait = _of(error, "retryAfterSeconds")
        again = f" (retryAfterSeconds: {wait})" if wait else ""
        return f"{heading}\nerror: {_of(error, 'code')}: {_of(error, 'message')}{again}"
    items = query.result.get("items", [])
    rows = [
        f"- {_of(item, 'title')}\n  {_of(item, 'link')}\n  {_of(item, 'snippet')}" for item in items
    ]
    return f"{heading}\n{untrusted(chr(10).join(rows)) or 'No results.'}"


def _window(page: PageContent | PageWindow) -> str:
    if page.error is not None:
        return "\n".join((page.url, error_text(page.error), page.page_content))
    more = f", nextOffset: {page.next_offset}" if page.next_offset is not None else ""
    about = f"{page.url} (totalChars: {page.total_chars}{more})"
    title = "".join(map(untrusted, _unless_in(page.page_content, page.title)))
    return "\n".join(filter(None, (about, title, page.page_content)))


def _unless_in(content: str, words: str) -> list[str]:
    """A title or snippet, if the page does not say the same."""
    return [words] if words and words not in content else []


def _warned(warnings: Iterable[str]) -> str:
    return "\n".join(f"Warning: {warning}" for warning in dict.fromkeys(warnings))


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _day(time: str) -> str:
    """The date of an ISO 8601 time."""
    return time.partition("T")[0]


def _of(item: Any, field: str) -> str:
    """A field of what a vendor sent, as text."""
    value = item.get(field) if isinstance(item, dict) else None
    return str(value) if value is not None else ""
