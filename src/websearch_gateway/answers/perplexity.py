"""Perplexity's Agent API with web search: https://docs.perplexity.ai/docs/agent-api.

Its text cites with marks such as `[2]`, whose number is the `id` of a search result and not its place in the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from websearch_gateway.answers.common import (
    CUT_OFF,
    FILTERED,
    MARK_RULE,
    Billed,
    EngineApi,
    Limits,
    Model,
    applying,
    are_counts,
    citation_notes,
    declined,
    filtered,
    instructions,
    not_searched,
    not_written,
    parsed_or_empty,
    shown_code,
    unnamed_citations,
)
from websearch_gateway.answers.reference_marks import Marked, resolve_marks
from websearch_gateway.base import is_web_address, iso_date
from websearch_gateway.errors import SearchProviderError
from websearch_gateway.evidence import in_code_points
from websearch_gateway.foreign_json import Json, count, objects, reply_object, typed
from websearch_gateway.models import Answer, HttpRequest, SearchQuery, Source, Span

MAX_TOKENS = 2048
"""Of a reply: an answer of 800 characters in any script, with its marks."""

MOST_DOMAINS = 20
"""The longest `search_domain_filter`, which allows domains or, with a minus before them, blocks them."""

LIMITS = Limits(
    most=Billed(prompt=60_000, response=MAX_TOKENS, searches=5),
    usual=Billed(prompt=6_000, response=500, searches=1),
)

MODELS = (Model("perplexity/sonar", 0.25, 2.50),)


class Perplexity(EngineApi):
    """Perplexity's Agent API."""

    name = "perplexity"
    vendor = "Perplexity"
    search_usd = 0.0025
    price_source = "https://docs.perplexity.ai/docs/getting-started/pricing, 2026-11-22"
    most_domains = MOST_DOMAINS
    limits = LIMITS
    known_models = MODELS

    def request(self, query: SearchQuery, model: str, now: datetime) -> HttpRequest:
        """See EngineApi. Without `tool_choice` the model searches only if it wants to."""
        tool: dict[str, Any] = {"type": "web_search"}
        if query.region:
            tool["user_location"] = {"country": query.region}
        domains = list(query.include_domains)
        if not domains:
            domains = [f"-{name}" for name in query.exclude_domains[:MOST_DOMAINS]]
        if domains:
            tool["filters"] = {"search_domain_filter": domains}
        body = {
            "model": model,
            "instructions": instructions(query, now, MARK_RULE),
            "input": query.text,
            "tools": [tool],
            "tool_choice": "required",
            "max_output_tokens": MAX_TOKENS,
            "store": False,
        }
        return HttpRequest("POST", f"{self.base_url}/v1/agent", json=body)

    def parse(self, *bodies: bytes) -> Answer:
        """See EngineApi."""
        reply = reply_object(bodies[-1], self.vendor)
        if reply.get("status") == "failed" or reply.get("error"):
            error = typed(dict, reply.get("error"))
            code = error.get("code") or error.get("type")
            raise SearchProviderError(f"Perplexity failed ({shown_code(code)}).")
        items = objects(reply.get("output"))
        parts: list[Json] = []
        for item in items:
            if item.get("type") == "message":
                parts += objects(item.get("content"))
        reason = typed(str, typed(dict, reply.get("incomplete_details")).get("reason"))
        is_filtered = reason == "content_filter"
        if any(part.get("type") == "refusal" for part in parts):
            raise declined()
        numbered = list(_numbered_sources(items))
        texts = [part for part in parts if part.get("type") == "output_text"]
        written = _written(texts, dict(numbered))
        if not written.text.strip():
            if is_filtered:
                raise filtered(self.vendor)
            raise not_written(self.vendor, reason or None)
        if not any(item.get("type") == "search_results" for item in items):
            raise not_searched(self.vendor)
        warnings = {
            FILTERED: is_filtered,
            CUT_OFF: reply.get("status") == "incomplete" and not is_filtered,
            unnamed_citations(written.unknown): written.unknown,
        }
        return Answer(
            text=written.text,
            spans=written.spans,
            provider=self.name,
            sources=tuple(source for _, source in numbered),
            warnings=applying(warnings),
        )

    def billed(self, body: bytes) -> Billed:
        """See EngineApi."""
        reply = parsed_or_empty(body)
        output = objects(reply.get("output"))
        usage = typed(dict, reply.get("usage"))
        search_items = sum(item.get("type") == "search_results" for item in output)
        searches = typed(dict, typed(dict, usage.get("tool_calls_details")).get("web_search"))
        return Billed(
            prompt=count(usage.get("input_tokens")),
            response=count(usage.get("output_tokens")),
            searches=count(searches.get("invocation"), search_items),
            is_reported=not output or are_counts(usage, "input_tokens", "output_tokens"),
        )


API = Perplexity


def _numbered_sources(items: Sequence[Json]) -> Iterator[tuple[int, Source]]:
    """The results of all searches, each with the number by which marks name it; -1 if it has none."""
    for item in items:
        if item.get("type") != "search_results":
            continue
        for result in objects(item.get("results")):
            published = iso_date(result.get("date")) or iso_date(result.get("last_updated"))
            url, title = typed(str, result.get("url")), typed(str, result.get("title"))
            number = result.get("id")
            if isinstance(number, str) and number.isdecimal():
                number = int(number)
            yield count(number, -1), Source(url, title, published)


def _written(parts: Sequence[Json], numbered: Mapping[int, Source]) -> Marked:
    """The text with its spans: from its marks or, if it has none, from annotations."""
    text = "\n\n".join(typed(str, part.get("text")) for part in parts)
    pages = {number: source for number, source in numbered.items() if is_web_address(source.url)}
    marked = resolve_marks(text, pages)
    # Offsets of annotations count within one part.
    if marked.spans or len(parts) != 1:
        return marked
    spans = []
    for note in citation_notes(parts[0]):
        url, title = typed(str, note.get("url")), typed(str, note.get("title"))
        start, end = count(note.get("start_index"), -1), count(note.get("end_index"))
        if note.get("url") and start >= 0:
            spans.append(Span(url, title, start, end))
    if not spans:
        return marked
    return Marked(text, tuple(in_code_points(text, spans)), unknown=0)
