"""What OpenAI's APIs share: a message as a question, the answer with its citations as links, errors, and streams.

An early failure of a stream is an HTTP error, a late one an event.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from websearch_gateway.entrypoints.arguments import ABSENT, kind_of, meaning
from websearch_gateway.entrypoints.lifecycle import describe
from websearch_gateway.entrypoints.reply.fitting import fit_answer
from websearch_gateway.entrypoints.reply.texts import places_of
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.evidence import linked
from websearch_gateway.models import LONGEST_QUERY, SHORTEST_QUERY, Caller, SearchRequest
from websearch_gateway.pipeline.argument_values import code, invalid
from websearch_gateway.results import Citation, CitedSpan, ErrorInfo, SearchResponse

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway


MODEL = "search_web"
"""The only listed model. Clients may name any other; the reply repeats the name."""

ModelName = Annotated[str, Field(max_length=200)]


EARLY_SECONDS = 0.25
"""A refusal by the guard or a rate limit comes earlier (seconds), and gets its own HTTP status."""

Events = Iterable[Any]


async def event_stream(
    answering: Awaitable[SearchResponse],
    opening: Events,
    closing: Callable[[SearchResponse], Events],
    failing: Callable[[ErrorInfo], Events],
) -> Response:
    """A reply that streams `opening` at once, then `closing(answer)` or `failing(error)` when the search ends.

    An event is JSON content; a text is sent unchanged.

    Raises:
        SearchError: any error within `EARLY_SECONDS`.
    """
    task = asyncio.ensure_future(answering)
    try:
        await asyncio.wait({task}, timeout=EARLY_SECONDS)
        if task.done():
            task.result()
    except BaseException:
        task.cancel()
        raise

    async def body() -> AsyncIterator[bytes]:
        try:
            for event in opening:
                yield _encoded(event)
            try:
                events = closing(await task)
            # The entrypoint: the reply has begun, so the error becomes its last event.
            except Exception as error:
                events = failing(describe(error))
            for event in events:
                yield _encoded(event)
        finally:
            task.cancel()

    return StreamingResponse(
        body(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


def _encoded(event: Any) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event, separators=(',', ':'))}\n\n".encode()


_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_PIECE = 200
"""Characters of one event of a stream: about a line."""
# Never within a word, or the half of a key would remain, which the guard cannot recognise.
_SENTENCE_END = re.compile(r"(?<=[.!?:;؟]) (?=\S)|(?<=[。！？]) ?(?=\S)")
_SHORTEST = 10
"""The fewest characters of a question that names its subject; "OK?" is shorter."""


def openai_error(error: ErrorInfo, status: int) -> Any:
    """`{"error": {message, type, param, code}}`."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {
        "error": {"message": error.message, "type": kind, "param": None, "code": error.code.lower()}
    }


async def answered(gateway: Gateway, search: SearchRequest, caller: Caller) -> SearchResponse:
    """The answer of `search_web` with its citations as links, as OpenAI's models write them.

    It takes half of a reply: each link is listed twice, as a source and as a citation.
    """
    answer = await gateway.search(search, caller)
    return fit_answer(_linked(answer), gateway.max_reply_tokens // 2)


def _linked(answer: SearchResponse) -> SearchResponse:
    text, places = linked(answer.text, places_of(answer))
    spans: dict[int, list[CitedSpan]] = defaultdict(list)
    for place in places:
        spans[place.number].append(CitedSpan(start_index=place.start, end_index=place.end))
    citations = tuple(_placed(citation, spans[citation.rank]) for citation in answer.citations)
    return answer.model_copy(update={"text": text, "citations": citations})


def _placed(citation: Citation, spans: Sequence[CitedSpan]) -> Citation:
    """The citation at other places, of which the first one is its own."""
    first = spans[0] if spans else CitedSpan(start_index=0, end_index=0)
    return citation.model_copy(
        update={
            "spans": tuple(spans),
            "start_index": first.start_index,
            "end_index": first.end_index,
        }
    )


def new_id(prefix: str) -> str:
    """A new id, as OpenAI's look."""
    return f"{prefix}_{uuid4().hex}"


def pieces_of(text: str) -> list[str]:
    """The text in parts small enough to stream smoothly."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def question(items: Any, tools: Any, options: Any = None) -> SearchRequest:
    """The last message of the user as a question, in the country and the domains that the search tool or option names.

    If a message is too long for a search, the question in it is used.

    Args:
        items: a text, or messages whose content is a text or a list of parts.

    Raises:
        SearchValidationError: no user message contains text, or a country or a domain does not exist.
    """
    text = items if isinstance(items, str) else _last_of_user(items)
    if not text.strip():
        raise SearchValidationError("No user message has text.")
    named = [*_mappings(tools), *_mappings([options])]
    return SearchRequest(
        _in_short(text),
        region=_region(named),
        include_domains=_domains(named, "allowed_domains"),
        exclude_domains=_domains(named, "blocked_domains"),
        shortest=SHORTEST_QUERY,
    )


def cited_places(answer: SearchResponse) -> list[dict[str, Any]]:
    """A flat `url_citation` for each place where a page is cited, in reading order."""
    places = [
        {
            "type": "url_citation",
            "start_index": span.start_index,
            "end_index": span.end_index,
            "url": citation.url,
            "title": citation.title or citation.url,
        }
        for citation in answer.citations
        for span in citation.spans
    ]
    return sorted(places, key=lambda place: (place["start_index"], place["end_index"]))


def _last_of_user(items: Any) -> str:
    for item in reversed(_mappings(items)):
        if item.get("role") == "user":
            return _text(item.get("content"))
    return ""


def _in_short(message: str) -> str:
    """The question in a message that is too long for a search: the last one, else the beginning."""
    if len(message) <= LONGEST_QUERY:
        return message
    text = " ".join(message.split())
    if len(text) <= LONGEST_QUERY:
        return text
    # Text without sentence marks is one piece, which is cut.
    sentences = _SENTENCE_END.split(text)
    questions = [sentence for sentence in sentences if _is_question(sentence)]
    question = questions[-1] if questions else text
    if len(question) <= LONGEST_QUERY:
        return question
    beginning = question[:LONGEST_QUERY]
    return beginning.rpartition(" ")[0] or beginning


def _is_question(sentence: str) -> bool:
    return len(sentence) >= _SHORTEST and sentence.endswith(("?", "？", "؟"))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in _mappings(content))
    return "\n".join(part for part in parts if isinstance(part, str))


def _region(tools: Sequence[Mapping[str, Any]]) -> str | None:
    """The country of the first tool that has one.

    Raises:
        SearchValidationError: it is no country.
    """
    for tool in tools:
        place = tool.get("user_location")
        place = place.get("approximate", place) if isinstance(place, Mapping) else None
        country = place.get("country") if isinstance(place, Mapping) else None
        country = meaning(country, _COUNTRY)
        if country is not ABSENT:
            return code("region", country, "user_location.country")
    return None


_COUNTRY = kind_of(str, is_optional=True)
_DOMAINS = kind_of(tuple[str, ...], is_optional=True)


def _domains(tools: Sequence[Mapping[str, Any]], name: str) -> tuple[str, ...]:
    """The domains under this name in the filters of all tools.

    Raises:
        SearchValidationError: one is no text.
    """
    domains: list[str] = []
    for tool in tools:
        filters = tool.get("filters")
        listed = meaning(filters.get(name), _DOMAINS) if isinstance(filters, Mapping) else ABSENT
        if listed is ABSENT:
            continue
        if not all(isinstance(domain, str) for domain in listed):
            raise invalid(f"filters.{name}", "a list of domains such as example.org", "domains")
        domains += listed
    return tuple(domains)


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, Mapping)]
