"""Reads a reply of the Responses API (https://platform.openai.com/docs/api-reference/responses/object).

It reads plain JSON, since real replies differ from the SDK's types: sources without a URL, open_page with a null
URL, new kinds of items. Unknown parts are skipped; missing parts are named in the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from websearch_gateway.answers.json_fields import Json, are_counts, count, objects, parsed, typed
from websearch_gateway.answers.models import Billed
from websearch_gateway.answers.openai.errors import from_failure
from websearch_gateway.answers.outcomes import declined, no_answer, not_searched
from websearch_gateway.errors import SearchProviderError, SearchProviderParseError
from websearch_gateway.models import Span
from websearch_gateway.text.citation.cite import in_code_points
from websearch_gateway.text.citation.markers import strip_markers
from websearch_gateway.text.urls import canonical, is_web_address

MAX_SPANS = 500
_BETWEEN_PARTS = "\n\n"


@dataclass(frozen=True, slots=True)
class Reply:
    """A cited answer as OpenAI gave it. Spans are in Python offsets; raw citation markers are gone.

    `lost` is the number of citations that have no place in the text.
    """

    text: str
    spans: tuple[Span, ...]
    sources: tuple[str, ...]
    billed: Billed
    cut_off: bool
    lost: int = 0


def read_reply(body: bytes) -> Reply:
    """The answer in a reply with HTTP 200.

    Raises:
        SearchValidationError: the model declined to answer.
        SearchProviderParseError: no search was made, there is no answer, or this is not a reply of that API.
        SearchProviderError: OpenAI failed, or stopped before the answer began.
    """
    reply = _parsed(body)
    if reply.get("status") == "failed" or typed(dict, reply.get("error")):
        raise from_failure(typed(dict, reply.get("error")))
    items = objects(reply.get("output"))
    parts = list(_parts(items))
    text, spans, cited, lost = _text(part for part in parts if part.get("type") == "output_text")
    calls = [item for item in items if item.get("type") == "web_search_call" and item.get("status") != "failed"]
    cut_off = reply.get("status") == "incomplete"
    if not text.strip():
        raise _no_text(reply, parts, cut_off=cut_off)
    if not calls:
        raise not_searched("OpenAI")
    actions = [typed(dict, call.get("action")) for call in calls]
    return Reply(
        text, tuple(spans), tuple(_distinct([*cited, *_sources(actions)])), _billed(reply, actions), cut_off, lost
    )


def read_bill(body: bytes) -> Billed:
    """The billed usage of a reply, even of an unusable one.

    Raises:
        SearchProviderParseError: this is not a reply of that API.
    """
    reply = _parsed(body)
    calls = [item for item in objects(reply.get("output")) if item.get("type") == "web_search_call"]
    return _billed(reply, [typed(dict, call.get("action")) for call in calls])


def _parsed(body: bytes) -> Json:
    reply = parsed(body, "OpenAI")
    if not isinstance(reply.get("output", []), list):
        raise SearchProviderParseError("The reply of OpenAI is not a response object.")
    return reply


def _no_text(reply: Json, parts: Sequence[Json], *, cut_off: bool) -> Exception:
    reason = typed(str, typed(dict, reply.get("incomplete_details")).get("reason"))
    if reason == "content_filter" or any(part.get("type") == "refusal" for part in parts):
        return declined()
    if cut_off:
        known = reason if reason.isidentifier() else "no reason given"
        return SearchProviderError(f"OpenAI stopped before it began its answer ({known[:60]}).")
    return no_answer("OpenAI")


def _parts(items: Sequence[Json]) -> Iterator[Json]:
    """The parts of the messages; only of the final one if the model marks it, since the others are thinking aloud."""
    messages = [item for item in items if item.get("type") == "message"]
    final = [message for message in messages if message.get("phase") == "final_answer"]
    for message in final or messages:
        yield from objects(message.get("content"))


def _text(parts: Iterable[Json]) -> tuple[str, list[Span], list[str], int]:
    """The whole text, its spans, all URLs that are cited, and how many citations have no place at all."""
    text, spans, cited, lost = "", [], [], 0
    for part in parts:
        words = typed(str, part.get("text"))
        notes = [note for note in objects(part.get("annotations")) if note.get("type") == "url_citation"]
        placed = [span for note in notes if (span := _span(note, words))][:MAX_SPANS]
        lost += sum(is_web_address(typed(str, note.get("url"))) for note in notes[:MAX_SPANS]) - len(placed)
        cited += [typed(str, note.get("url")) for note in notes]
        bare, placed = strip_markers(words, in_code_points(words, placed))
        offset = len(text) + len(_BETWEEN_PARTS) if text else 0
        text = text + _BETWEEN_PARTS + bare if text else bare
        spans += [Span(span.url, span.title, span.start + offset, span.end + offset) for span in placed]
    return text, spans, cited, lost


def _span(note: Json, words: str) -> Span | None:
    """The place that the annotation gives; without usable numbers, the place of its URL in the text."""
    start, end = count(note.get("start_index"), -1), count(note.get("end_index"), -1)
    url = typed(str, note.get("url"))
    if not is_web_address(url):
        return None
    if not 0 <= start <= end:
        start = words.find(url)
        end = start + len(url)
    return Span(url, typed(str, note.get("title")), start, end) if start >= 0 else None


def _sources(actions: Sequence[Json]) -> Iterator[str]:
    """The URLs behind the answer: first the pages that were opened, since they were read, then the search results."""
    for action in actions:
        yield typed(str, action.get("url"))
    for action in actions:
        for source in objects(action.get("sources")):
            yield typed(str, source.get("url"))


def _distinct(urls: Iterable[str]) -> Iterable[str]:
    first: dict[str, str] = {}
    for url in urls:
        if is_web_address(url):
            first.setdefault(canonical(url), url)
    return first.values()


def _billed(reply: Json, actions: Sequence[Json]) -> Billed:
    """Tokens and searches. If OpenAI gives a count of searches, it is right; otherwise the search items are counted."""
    usage = typed(dict, reply.get("usage"))
    details = typed(dict, usage.get("input_tokens_details"))
    tool_usage = typed(dict, typed(dict, reply.get("tool_usage")).get("web_search"))
    searched = sum(action.get("type") == "search" for action in actions) or int(bool(actions))
    return Billed(
        prompt=count(usage.get("input_tokens")),
        response=count(usage.get("output_tokens")),
        cached=count(details.get("cached_tokens")),
        cache_written=count(details.get("cache_write_tokens")),
        searches=count(tool_usage.get("num_requests"), searched),
        is_reported=not objects(reply.get("output")) or are_counts(usage, "input_tokens", "output_tokens"),
    )
