"""Perplexity's Agent API with web search: https://docs.perplexity.ai/docs/agent-api.

Its text cites with marks such as `[2]`, whose number is the `id` of a search result and not its place in the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

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
from websearch_gateway.answers.reference_marks import resolve_marks
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
        location = {"user_location": {"country": query.region}} if query.region else {}
        listed = query.include_domains or tuple(
            f"-{name}" for name in query.exclude_domains[:MOST_DOMAINS]
        )
        filters = {"filters": {"search_domain_filter": list(listed)}} if listed else {}
        body = {
            "model": model,
            "instructions": instructions(query, now, MARK_RULE),
            "input": query.text,
            "tools": [{"type": "web_search", **location, **filters}],
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
            raise SearchProviderError(
                f"Perplexity failed ({shown_code(error.get('code') or error.get('type'))})."
            )
        items = objects(reply.get("output"))
        parts = [
            part
            for item in items
            if item.get("type") == "message"
            for part in objects(item.get("content"))
        ]
        reason = typed(str, typed(dict, reply.get("incomplete_details")).get("reason"))
        is_filtered = reason == "content_filter"
        if any(part.get("type") == "refusal" for part in parts):
            raise declined()
        text, spans, unknown = _written(
            [part for part in parts if part.get("type") == "output_text"], dict(_found(items))
        )
        if not text.strip():
            raise filtered(self.vendor) if is_filtered else not_written(self.vendor, reason or None)
        searches = [item for item in items if item.get("type") == "search_results"]
        if not searches:
            raise not_searched(self.vendor)
        warnings = {
            FILTERED: is_filtered,
            CUT_OFF: reply.get("status") == "incomplete" and not is_filtered,
            unnamed_citations(unknown): unknown,
        }
        return Answer(
            text=text,
            spans=spans,
            provider=self.name,
            sources=tuple(source for _, source in _found(items)),
            warnings=applying(warnings),
        )

    def billed(self, body: bytes) -> Billed:
        """See EngineApi."""
        reply = parsed_or_empty(body)
        usage = typed(dict, reply.get("usage"))
        searched = sum(
            item.get("type") == "search_results" for item in objects(reply.get("output"))
        )
        counted = typed(dict, typed(dict, usage.get("tool_calls_details")).get("web_search")).get(
            "invocation"
        )
        return Billed(
            prompt=count(usage.get("input_tokens")),
            response=count(usage.get("output_tokens")),
            searches=count(counted, searched),
            is_reported=not objects(reply.get("output"))
            or are_counts(usage, "input_tokens", "output_tokens"),
        )


API = Perplexity


def _found(items: Sequence[Json]) -> Iterator[tuple[int, Source]]:
    for item in items:
        if item.get("type") == "search_results":
            for result in objects(item.get("results")):
                published = iso_date(result.get("date")) or iso_date(result.get("last_updated"))
                source = Source(
                    typed(str, result.get("url")), typed(str, result.get("title")), published
                )
                number = result.get("id")
                yield (
                    int(number)
                    if isinstance(number, str) and number.isdecimal()
                    else count(number, -1),
                    source,
                )


def _written(
    parts: Sequence[Json], found: Mapping[int, Source]
) -> tuple[str, tuple[Span, ...], int]:
    """The text, its spans (from marks, or without marks from annotations), and the number of unknown marks."""
    text = "\n\n".join(typed(str, part.get("text")) for part in parts)
    marked = resolve_marks(
        text, {number: source for number, source in found.items() if is_web_address(source.url)}
    )
    if marked.spans or len(parts) != 1:
        return marked.text, marked.spans, marked.unknown
    notes = [note for note in citation_notes(parts[0]) if note.get("url")]
    spans = [
        Span(
            typed(str, note.get("url")),
            typed(str, note.get("title")),
            start,
            count(note.get("end_index")),
        )
        for note in notes
        if (start := count(note.get("start_index"), -1)) >= 0
    ]
    return (
        (text, tuple(in_code_points(text, spans)), 0)
        if spans
        else (marked.text, (), marked.unknown)
    )
