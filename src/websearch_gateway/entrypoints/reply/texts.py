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
from websearch_gateway.results import (
    CachedAnswer,
    CheckedClaim,
    CheckedClaims,
    Citation,
    Content,
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

TOLD_BY_MESSAGES = frozenset({"attempts", "faults", "field", "allowed"})
"""Details of an error that its message has in words."""


def error_text(error: ErrorInfo, *more: str) -> str:
    """A failed call: the code and the message, when to try again, and `more` of it."""
    lines = [f"Error {error.code}: {error.message}"]
    if error.retry_after_seconds is not None:
        lines.append(f"retryAfterSeconds: {error.retry_after_seconds:g}")
    details = dict(error.details or {})
    for name in TOLD_BY_MESSAGES:
        details.pop(name, None)
    if details:
        written = json.dumps(details, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"details: {written}")
    return _paragraphs("\n".join(lines), *more)


def answer_text(response: SearchResponse) -> str:
    """The answer with marks such as `[1]`, and a numbered list of what it cites."""
    warnings = list(response.warnings)
    fallback = response.fallback
    if fallback is not None:
        instead = f"{response.provider} answered instead of {fallback.from_} ({fallback.reason})"
        warnings.insert(0, instead)
    answer = untrusted(_answer(Content(response)))
    return _reply(warnings, answer or "No answer.")


@functools.lru_cache(maxsize=10)  # stored answers repeat
def _answer(parts: Content) -> str:
    response: SearchResponse = parts.result
    text = numbered(response.text, tuple(places_of(response))).strip()
    if not response.citations:
        return _paragraphs(text, _uncited(response))
    titles = _titles(response, len(text))
    lines: list[str] = []
    for citation, title in zip(response.citations, titles, strict=True):
        lines.append(f"[{citation.rank}] {title} - {_about(citation)}")
        if not text:
            lines.append(citation.text_snippet)
        lines += _proofs(citation)
    return _paragraphs(text, "\n".join(lines))


def places_of(response: SearchResponse) -> list[Cited]:
    """Every place in the text that a citation of `response` has."""
    return [
        Cited(span.start_index, span.end_index, citation.rank, citation.url)
        for citation in response.citations
        for span in citation.spans
    ]


MOST_UNCITED = 5
"""The sources to list for an answer that cites none."""


def _uncited(response: SearchResponse) -> str:
    """The pages that an answer without citations was found with."""
    if not response.sources:
        return ""
    rows = [f"- {source.title} - {source.url}" for source in response.sources[:MOST_UNCITED]]
    return "\n".join(["Found, not cited:", *rows])


def _about(citation: Citation) -> str:
    """The address of a citation, and what comparing the page with the answer gave."""
    facts = [citation.url]
    for span in citation.spans or (citation,):
        if span.support and span.support not in facts:
            facts.append(span.support)
    return " · ".join(facts)


OTHER_WORDS = ("quoted", "differs")
"""What `support` says of a sentence that is not the page's own."""


def _proofs(citation: Citation) -> list[str]:
    """The page's own words where the answer has others."""
    lines: list[str] = []
    for span in citation.spans or (citation,):
        line = f'    "{span.quote}"'
        if span.quote and span.support in OTHER_WORDS and line not in lines:
            lines.append(line)
    return lines


ANSWER_SHARE = 1.3
"""The most characters of an answer with its list, as a share of the answer and its links: long titles are cut."""

SHORTEST_TITLE = 12
"""Titles are cut to no fewer characters: less tells nobody what the page is."""


def _titles(response: SearchResponse, written: int) -> list[str]:
    """The titles of the citations, cut equally if the list would be too long for so short an answer.

    `written` characters are the answer with its numbers.
    """
    titles = [citation.title for citation in response.citations]
    if not response.text:
        return titles
    links = rest = 0
    for citation in response.citations:
        links += len(citation.url)
        rest += len(f"[{citation.rank}]  - {_about(citation)}\n")
    most = int(ANSWER_SHARE * (len(response.text) + links))
    room = most - written - rest - 1
    if sum(map(len, titles)) <= room:
        return titles
    longest = max(SHORTEST_TITLE, room // len(titles))
    return [shortened(title, longest) for title in titles]


def cached_text(response: CachedAnswer) -> str:
    """A stored answer as `answer_text`, or stored results."""
    if not response.found:
        return _reply(response.warnings, "Nothing is stored for this question.")
    if not response.results:
        return answer_text(response)
    return _reply(response.warnings, untrusted(_stored_pages(response.results)))


def similar_text(response: SimilarAnswers) -> str:
    """The stored answers, each under its question."""
    answers = [untrusted(_similar(answer)) for answer in response.results]
    return _reply(response.warnings, *(answers or ["Nothing similar is stored."]))


def _similar(answer: SimilarAnswer) -> str:
    age = f"{in_words(answer.age_seconds)} old"
    heading = f"# {answer.query} ({answer.tool}, {age}, similarity {answer.similarity:.2f})"
    if answer.results:
        return f"{heading}\n{_stored_pages(answer.results)}"
    response = SearchResponse(text=answer.text, citations=answer.citations, sources=answer.sources)
    return f"{heading}\n{_answer(Content(response))}"


def _stored_pages(pages: Sequence[FoundPage]) -> str:
    return "\n".join(f"- {page.title} - {page.link}\n  {page.snippet}" for page in pages)


def claims_text(response: CheckedClaims) -> str:
    """Each claim with its verdict and what differs, and under it the words of the pages to judge it by."""
    claims = "\n".join(map(_claim, response.claims))
    return _reply(response.warnings, claims or "No claims.")


def _claim(checked: CheckedClaim) -> str:
    judge = " by a model" if checked.judge == "model" else ""
    verdict = f"[{checked.verdict}{judge}] {checked.claim}"
    if not checked.quotes:  # none was found, or they did not fit
        return f"{verdict}\n{checked.url}" if checked.url else verdict
    lines = []
    for difference in checked.differences:
        words = f"the claim has {difference.claim}, the page {difference.page}"
        lines.append(f"{difference.kind}: {words}")
    lines += [f'"{quote.text}" - {quote.url}' for quote in checked.quotes]
    proof = untrusted("\n".join(lines))
    return f"{verdict}\n{proof}"


def found_text(response: WebSearchResponse) -> str:
    """A list of the results, and then the page of each under its number."""
    rows = []
    pages = []
    for number, result in enumerate(response.results, start=1):
        rows.append(f"[{number}] {_row(result)}")
        pages.append(f"[{number}]\n{result.page_content}")
    listed = untrusted("\n".join(rows))
    return _reply(response.warnings, listed or "No results.", *pages)


def _row(result: WebResult) -> str:
    """Title, link and snippet, each on one line: providers' texts are cleaned so. The page may say the same."""
    facts = filter(None, (result.link, result.published_date, result.provider))
    lines = [result.title, " · ".join(facts)]
    if result.snippet and result.snippet not in result.page_content:
        lines.append(result.snippet)
    return "\n".join(lines)


def raw_text(response: RawSearchResponse) -> str:
    """The items of each query, one under another."""
    queries = map(_raw_query, response.queries)
    return _reply(response.warnings, *queries) or "No queries."


def _raw_query(query: RawQuery) -> str:
    origin = query.provider
    if origin and query.cache != "miss":
        origin += f", cache: {query.cache}, {in_words(query.age_seconds)} old"
    heading = f"# {query.query} ({origin})" if origin else f"# {query.query}"
    error = query.result.get("error")
    if error:
        return f"{heading}\n{_failed_query(error)}"
    rows = []
    for item in query.result.get("items", []):
        rows.append(f"- {_of(item, 'title')}")
        rows.append(f"  {_of(item, 'link')}")
        rows.append(f"  {_of(item, 'snippet')}")
    items = untrusted("\n".join(rows))
    return f"{heading}\n{items or 'No results.'}"


def _failed_query(error: Any) -> str:
    text = f"error: {_of(error, 'code')}: {_of(error, 'message')}"
    wait = _of(error, "retryAfterSeconds")
    return f"{text} (retryAfterSeconds: {wait})" if wait else text


def _of(item: Any, field: str) -> str:
    """A field of what a vendor sent, as text."""
    value = item.get(field) if isinstance(item, dict) else None
    return "" if value is None else str(value)


def page_text(page: PageContent) -> str:
    """The text of a page, or of several, after a line that says how to read on."""
    windows = map(_window, page.pages or (page,))
    return _reply(page.warnings, *windows)


def _window(page: PageContent | PageWindow) -> str:
    if page.error is not None:
        return "\n".join((page.url, error_text(page.error), page.page_content))
    extent = f"totalChars: {page.total_chars}"
    if page.next_offset is not None:
        extent += f", nextOffset: {page.next_offset}"
    lines = [f"{page.url} ({extent})"]
    if page.title and page.title not in page.page_content:
        lines.append(untrusted(page.title))
    if page.page_content:
        lines.append(page.page_content)
    return "\n".join(lines)


def passages_text(page: PagePassages) -> str:
    """The passages of each query with their scores, else the nearest, and the note."""
    parts = [page.title]
    for query in page.queries:
        parts.append(f"# {query.query}")
        passages = query.results
        if not passages and query.nearest:
            passages = (query.nearest,)
        parts += [_passage(passage, page.title) for passage in passages]
    note = f"Note: {page.note}" if page.note else ""
    about = f"{page.url} · as of {page.last_crawled}"
    passages_of_page = untrusted(_paragraphs(*parts))
    metadata = ""
    if page.metadata is not None:
        metadata = untrusted("\n".join(facts_of(page.metadata)))
    return _reply(page.warnings, note, about, passages_of_page, metadata)


def _passage(passage: PagePassage, title: str) -> str:
    """A passage under its score, its page in a PDF, and its headings unless it begins with the last of them."""
    text = unmarked(passage.text)
    first_line = text.partition("\n")[0]
    path = [heading for heading in passage.section_path if heading != title]
    about = f"[{passage.score:.2f}]"
    if passage.page:
        about += f" page {passage.page}"
    if path and path[-1] not in first_line:
        about += f" {' > '.join(path)}"
    return f"{about}\n{text}"


def sections_text(response: DocsSearchResponse) -> str:
    """The sections, each under one line about it, and a line for each that follows."""
    versions = {(section.site_name, section.site_version) for section in response.results}
    names_site = len(versions) > 1
    parts = [_section(section, names_site=names_site) for section in response.results]
    if response.more:
        rows = ["More, by section id:"]
        rows += [f"- {section.title} ({section.section_id})" for section in response.more]
        parts.append("\n".join(rows))
    sections = untrusted(_paragraphs(*parts))
    return _reply(response.warnings, sections or "No results.")


HEADING_CHARS = 200
"""The characters at the start of a section in which its heading stands, if it begins with it."""


def _section(section: DocsHit, *, names_site: bool) -> str:
    """A section after its title, section id and address. The text mostly begins with its heading."""
    title = section.page_title
    heading = section.heading_path[-1] if section.heading_path else ""
    if heading != title and heading not in section.content[:HEADING_CHARS]:
        title += f" > {heading}"
    if names_site:
        title += f" ({section.site_name} {section.site_version})"
    about = f"section {section.section_id}, {_day(section.fetched_at)}"
    lines = [f"[{title}, {about}]({section.url})"]
    if section.also_in:
        others = [f"{other.site_version} ({other.section_id})" for other in section.also_in]
        lines.append(f"Also in {', '.join(others)}")
    lines.append(section.content)
    return "\n".join(lines)


def section_text(section: DocsReadResponse) -> str:
    """A section, or the outline of a page, after its ids and address."""
    facts = [section.url]
    facts.append(f"{section.site_name} {section.site_version}")
    facts.append(f"section_id: {section.section_id}")
    if section.next_section_id is not None:
        facts.append(f"next_section_id: {section.next_section_id}")
    if section.truncated:
        facts.append("truncated")
    facts.append(f"as of {_day(section.fetched_at)}")
    about = " · ".join(facts)
    outline = []
    for entry in section.outline:
        path = " > ".join(entry.heading_path)
        outline.append(f"- {path} ({entry.section_id}, {entry.tokens} tokens)")
    text = _paragraphs(section.page_title, unmarked(section.content), "\n".join(outline))
    return _reply(section.warnings, about, untrusted(text))


def _day(time: str) -> str:
    """The date of an ISO 8601 time."""
    return time.partition("T")[0]


def sites_text(response: DocsSites) -> str:
    """A line for each indexed site."""
    rows = untrusted("\n".join(map(_site, response.sites)))
    return _reply(response.warnings, rows or "No documentation is indexed.")


def _site(site: DocsSite) -> str:
    facts = [site.status, f"{site.page_count} pages"]
    if site.age:
        facts.append(f"{site.age} old")
    if site.left_out:
        facts.append(site.left_out)
    name = f"{site.name} {site.version} (id {site.id})"
    return f"- {name}: {', '.join(facts)}, {site.url}"


def status_text(status: DocsStatus) -> str:
    """What happened, and the state of each site with what failed or was left out, and why."""
    rows = "\n".join(map(_site_status, status.sites))
    return _paragraphs(status.message, untrusted(rows)) or "No documentation is indexed."


def _site_status(site: DocsSiteStatus) -> str:
    lines = [_site(site)]
    if site.reason:
        lines.append(f"  reason: {site.reason}")
    counts = f"known: {site.known}, failed: {site.failed}, without vectors: {site.unembedded}"
    lines.append(f"  {counts}")
    if site.owner is not None:
        lines.append(f"  crawled by {site.owner}")
    for failure in site.failures:
        why = f"{failure.reason}, {failure.attempts} attempts"
        lines.append(f"  failed: {failure.url} ({why})")
    for skipped in site.skipped:
        examples = ", ".join(skipped.urls)
        lines.append(f"  left out: {skipped.count} ({skipped.reason}), such as {examples}")
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
    error = status.last_error
    if error is not None:
        facts.append(f"last error at {error.at}: {error.code}: {error.message}")
    return f"{status.name}: {'; '.join(facts)}"


def facts_text(result: WireModel) -> str:
    """Figures of the gateway itself, a line each, without anything from the web."""
    warnings = getattr(result, "warnings", ())
    return _reply(warnings, "\n".join(facts_of(result)))


def facts_of(result: WireModel) -> list[str]:
    """`name: value` of each field that has a value, with its name on the wire; parts are indented."""
    lines = []
    for name, field in type(result).model_fields.items():
        value = getattr(result, name)
        if name in ("warnings", "error") or value in (None, "", (), {}):
            continue
        key = field.serialization_alias or field.alias or name
        if isinstance(value, tuple):
            lines.append(f"{key}:")
            lines += [f"- {', '.join(facts_of(part))}" for part in value]
        else:
            lines.append(f"{key}: {_on_one_line(value)}")
    return lines


def _on_one_line(value: Any) -> str:
    """A value as JSON writes it, but texts without quotes, and parts without brackets."""
    if isinstance(value, str):
        return value
    if isinstance(value, WireModel):
        return ", ".join(facts_of(value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {amount}" for name, amount in value.items())
    return json.dumps(value)


def _reply(warnings: Iterable[str], *parts: str) -> str:
    """The parts, a paragraph each, below the warnings."""
    lines = [f"Warning: {warning}" for warning in dict.fromkeys(warnings)]
    return _paragraphs("\n".join(lines), *parts)


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))
