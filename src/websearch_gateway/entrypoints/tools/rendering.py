"""Renders results as text for models, for clients that do not show structured content: complete, but compact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from websearch_gateway.results.read import PageContent, PagePassages, PageWindow
from websearch_gateway.results.search import RawSearchResponse, WebSearchResponse


def found_text(response: WebSearchResponse) -> str:
    """Each result under its title, with its link and its page."""
    parts = []
    for number, one in enumerate(response.results, start=1):
        about = " · ".join(filter(None, (one.link, one.published_date, one.provider, f"{one.relevance_score:.2f}")))
        parts.append(f"[{number}] {one.title}\n{about}\n{one.snippet}\n{one.page_content}")
    details = [f"(cache: {response.cache}, costUsd: {response.cost_usd:g})"] if response.results else ["No results."]
    details += [f"(domains filtered: {domains})"] if (domains := response.filters.domains) else []
    return "\n\n".join([*parts, *details, *_warned(response.warnings)])


def raw_text(response: RawSearchResponse) -> str:
    """The items of each query, one under another."""
    parts = []
    for query in response.queries:
        age = "" if query.cache == "miss" else f", cache: {query.cache}, {query.age_seconds:.0f} s old"
        lines = [f"# {query.query} ({query.provider}{age})"]
        if error := query.result.get("error"):
            lines.append(f"error: {_of(error, 'code')}: {_of(error, 'message')}")
        items = query.result.get("items", [])
        lines += [f"- {_of(item, 'title')}\n  {_of(item, 'link')}\n  {_of(item, 'snippet')}" for item in items]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *_warned(response.warnings)])


def page_text(page: PageContent) -> str:
    """The text of a page, or of several, and how to read on."""
    if page.pages:
        return "\n\n".join([*map(_window_text, page.pages), *_warned(page.warnings)])
    return "\n\n".join([_window_text(page), *_warned(page.warnings)])


def passages_text(found: PagePassages) -> str:
    """The passages of each query with their scores, and the note."""
    parts = [f"{found.title}\n{found.url} · as of {found.last_crawled}"]
    for query in found.queries:
        parts.append(f"# {query.query}")
        parts += [
            f"[{one.score:.2f}] {' > '.join(one.section_path)} (id {one.id})\n{one.text}" for one in query.results
        ]
    if found.metadata is not None:
        parts.append(f"(metadata: {found.metadata.model_dump_json(by_alias=True)})")
    return "\n\n".join([*parts, *([f"Note: {found.note}"] if found.note else []), *_warned(found.warnings)])


def _window_text(page: PageContent | PageWindow) -> str:
    more = f", nextOffset: {page.next_offset}" if page.next_offset is not None else ""
    size = "" if page.error is not None else f"\n(totalChars: {page.total_chars}{more})"
    error = f"\n(error: {page.error.code})" if page.error is not None else ""
    return f"{page.title}\n{page.url}\n{page.page_content}{size}{error}"


def _warned(warnings: Iterable[str]) -> list[str]:
    listed = "\n".join(f"Warning: {warning}" for warning in warnings)
    return [listed] if listed else []


def _of(item: Any, field: str) -> str:
    value = item.get(field) if isinstance(item, dict) else None
    return str(value) if value is not None else ""
