"""OpenAI's Responses, Chat Completions and Models, with `search_web` as the one model.

https://platform.openai.com/docs/api-reference. An early failure of a stream is an HTTP error, a late one an event.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import time
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from websearch_gateway.entrypoints.arguments import ABSENT, Stays, kind_of, meaning
from websearch_gateway.entrypoints.http.compatible.endpoint import (
    Compatible,
    Given,
    Lenient,
    always,
)
from websearch_gateway.entrypoints.lifecycle import describe
from websearch_gateway.entrypoints.reply.fitting import fit_answer
from websearch_gateway.entrypoints.reply.texts import places_of
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.evidence import linked
from websearch_gateway.models import LONGEST_QUERY, SHORTEST_QUERY, Caller, SearchRequest
from websearch_gateway.pipeline.argument_values import code, invalid
from websearch_gateway.results import CitedSpan, ErrorInfo, SearchResponse

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway


MODEL = "search_web"
"""The only listed model. Clients may name any other; the reply repeats the name."""

ModelName = Annotated[str, Field(max_length=200)]


class ResponsesRequest(Lenient):
    """The fields that mean something here; instructions and earlier messages do not reach a search."""

    model: ModelName = MODEL
    input: Annotated[Any, Stays] = ""
    tools: Any = ()
    stream: bool = False
    instructions: Any = None
    metadata: Any = None


async def respond(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The answer of `search_web` as a response with one search and one message; as events with `stream`."""
    wanted = ResponsesRequest.of(given)
    asked = question(wanted.input, wanted.tools)
    reply = _Response(wanted, asked.query)
    if not wanted.stream:
        return reply.completed(await answered(gateway, asked, caller))
    return await event_stream(
        answered(gateway, asked, caller), reply.opening(), reply.closing, reply.failing
    )


Event = dict[str, Any]


class _Response:
    """The response to one request in each of its states, and its events, which are numbered from 0."""

    def __init__(self, wanted: ResponsesRequest, query: str) -> None:
        self._query = query
        self._head = {"id": _new_id("resp"), "object": "response", "created_at": int(time.time())}
        self._same = {
            "model": wanted.model,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": _echoed(wanted.tools, []),
            "incomplete_details": None,
            "instructions": _echoed(wanted.instructions, None),
            "metadata": _echoed(wanted.metadata, {}),
            "temperature": None,
            "top_p": None,
        }
        self._search_id, self._message_id = _new_id("ws"), _new_id("msg")
        self._numbers = itertools.count()

    def completed(self, answer: SearchResponse) -> Event:
        """The response with the answer."""
        given, made = answer.usage.prompt_tokens, answer.usage.response_tokens
        usage = {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + made,
        }
        return self._in_state(
            "completed", output=[self._search(answer), self._message(answer)], usage=usage
        )

    def opening(self) -> Iterator[Event]:
        """The events before there is an answer."""
        for state in ("created", "in_progress"):
            yield self._event(state, response=self._in_state("in_progress"))
        yield self._event("output_item.added", output_index=0, item=self._search())
        for state in ("in_progress", "searching"):
            yield self._event(f"web_search_call.{state}", output_index=0, item_id=self._search_id)

    def closing(self, answer: SearchResponse) -> Iterator[Event]:
        """The end of the search, and all pieces of the message."""
        yield self._event("web_search_call.completed", output_index=0, item_id=self._search_id)
        yield self._event("output_item.done", output_index=0, item=self._search(answer))
        message = self._message(answer)
        begun = {**message, "status": "in_progress", "content": []}
        yield self._event("output_item.added", output_index=1, item=begun)
        part = message["content"][0]
        place = {"item_id": self._message_id, "output_index": 1, "content_index": 0}
        yield self._event(
            "content_part.added", **place, part={**part, "text": "", "annotations": []}
        )
        for piece in _pieces(part["text"]):
            yield self._event("output_text.delta", **place, delta=piece, logprobs=[])
        for index, note in enumerate(part["annotations"]):
            yield self._event(
                "output_text.annotation.added", **place, annotation_index=index, annotation=note
            )
        yield self._event("output_text.done", **place, text=part["text"], logprobs=[])
        yield self._event("content_part.done", **place, part=part)
        yield self._event("output_item.done", output_index=1, item=message)
        yield self._event("completed", response=self.completed(answer))

    def failing(self, error: ErrorInfo) -> Iterator[Event]:
        """The end without an answer. openai-python raises its APIError for an event with a key `error` alone."""
        body = openai_error(error, 500)["error"]
        told = {name: body[name] for name in ("code", "message")}
        yield self._event("failed", response=self._in_state("failed", error=told))
        yield {
            "type": "error",
            "sequence_number": next(self._numbers),
            **told,
            "param": None,
            "error": body,
        }

    def _search(self, answer: SearchResponse | None = None) -> Event:
        """The search: in progress or, with its answer, completed."""
        action: dict[str, Any] = {"type": "search", "query": self._query, "queries": [self._query]}
        if answer is not None:
            urls = dict.fromkeys(
                [*(one.url for one in answer.citations), *(one.url for one in answer.sources)]
            )
            action["sources"] = [{"type": "url", "url": url} for url in urls]
        status = "in_progress" if answer is None else "completed"
        return {
            "type": "web_search_call",
            "id": self._search_id,
            "status": status,
            "action": action,
        }

    def _message(self, answer: SearchResponse) -> Event:
        """The message with its text and the places of its citations."""
        part = {
            "type": "output_text",
            "text": answer.text,
            "annotations": cited_places(answer),
            "logprobs": [],
        }
        about = {
            "type": "message",
            "id": self._message_id,
            "role": "assistant",
            "status": "completed",
        }
        return {**about, "content": [part]}

    def _in_state(self, status: str, **fields: Any) -> Event:
        """The response with this status and what is known of its output, error and usage."""
        return {
            **self._head,
            "status": status,
            "output": [],
            "error": None,
            "usage": None,
            **self._same,
            **fields,
        }

    def _event(self, kind: str, **fields: Any) -> Event:
        return {"type": f"response.{kind}", "sequence_number": next(self._numbers), **fields}


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


MOST_ECHOED = 2_000
"""Characters, as JSON, of a part of the request that the reply repeats."""

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_PIECE = 200
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


async def answered(gateway: Gateway, asked: SearchRequest, caller: Caller) -> SearchResponse:
    """The answer of `search_web` with its citations as links, as OpenAI's models write them.

    It takes half of a reply: each link is listed twice, as a source and as a citation.
    """
    return fit_answer(_linked(await gateway.search(asked, caller)), gateway.max_reply_tokens // 2)


def _linked(answer: SearchResponse) -> SearchResponse:
    text, places = linked(answer.text, places_of(answer))
    spans: dict[int, list[CitedSpan]] = defaultdict(list)
    for place in places:
        spans[place.number].append(CitedSpan(start_index=place.start, end_index=place.end))
    citations = tuple(
        one.model_copy(
            update={
                "spans": tuple(found),
                "start_index": found[0].start_index if found else 0,
                "end_index": found[0].end_index if found else 0,
            }
        )
        for one in answer.citations
        for found in (spans[one.rank],)
    )
    return answer.model_copy(update={"text": text, "citations": citations})


def _new_id(prefix: str) -> str:
    return f"{prefix}_{uuid4().hex}"


def _echoed(value: Any, otherwise: Any) -> Any:
    """A part of the request for the reply to repeat, as OpenAI does; `otherwise` if it is absent or long."""
    return value if value and len(json.dumps(value)) <= MOST_ECHOED else otherwise


def _pieces(text: str) -> list[str]:
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
    questions = [
        one
        for one in _SENTENCE_END.split(text)
        if one.endswith(("?", "？", "؟")) and len(one) >= _SHORTEST
    ]
    asked = questions[-1] if questions else text
    return (
        asked
        if len(asked) <= LONGEST_QUERY
        else asked[:LONGEST_QUERY].rpartition(" ")[0] or asked[:LONGEST_QUERY]
    )


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
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


class ChatRequest(Lenient):
    """The fields that mean something here; only the last message of the user reaches the search."""

    model: ModelName = MODEL
    messages: Annotated[Any, Stays] = ()
    stream: bool = False
    stream_options: Any = None
    web_search_options: Any = None


async def complete(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The answer of `search_web` as a completion with annotations; as chunks with `stream`."""
    wanted = ChatRequest.of(given)
    asked = question(wanted.messages, [], wanted.web_search_options)
    chat = _Chat(wanted)
    if not wanted.stream:
        return chat.completion(await answered(gateway, asked, caller))
    return await event_stream(
        answered(gateway, asked, caller), chat.opening(), chat.closing, chat.failing
    )


class _Chat:
    def __init__(self, wanted: ChatRequest) -> None:
        self._wanted = wanted
        self._head = {"id": _new_id("chatcmpl"), "created": int(time.time()), "model": wanted.model}

    def completion(self, answer: SearchResponse) -> dict[str, Any]:
        message = {
            "role": "assistant",
            "content": answer.text,
            "refusal": None,
            "annotations": _nested(answer),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {
            "object": "chat.completion",
            **self._head,
            "choices": [choice],
            "usage": _chat_usage(answer),
        }

    def opening(self) -> Iterator[Any]:
        yield self._chunk({"role": "assistant", "content": ""})

    def closing(self, answer: SearchResponse) -> Iterator[Any]:
        for piece in _pieces(answer.text):
            yield self._chunk({"content": piece})
        yield self._chunk({"annotations": _nested(answer)})
        yield self._chunk({}, finish_reason="stop")
        options = self._wanted.stream_options
        if isinstance(options, Mapping) and options.get("include_usage"):
            yield {
                "object": "chat.completion.chunk",
                **self._head,
                "choices": [],
                "usage": _chat_usage(answer),
            }
        yield "[DONE]"

    def failing(self, error: ErrorInfo) -> Iterator[Any]:
        yield openai_error(error, 500)

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {"object": "chat.completion.chunk", **self._head, "choices": [choice]}


def _nested(answer: SearchResponse) -> list[dict[str, Any]]:
    """Annotations as chat completions nest them."""
    return [
        {"type": kind, kind: {name: value for name, value in one.items() if name != "type"}}
        for one in cited_places(answer)
        for kind in (one["type"],)
    ]


def _chat_usage(answer: SearchResponse) -> dict[str, int]:
    given, made = answer.usage.prompt_tokens, answer.usage.response_tokens
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


CREATED = 1_764_547_200
"""2025-12-01: clients require a number, and use it only for sorting."""


MODELS = {
    "object": "list",
    "data": [
        {
            "id": MODEL,
            "name": MODEL,
            "object": "model",
            "created": CREATED,
            "owned_by": "websearch-gateway",
        }
    ],
}
"""One model, which answers as the tool of the same name."""


OPENAI_APIS = (
    Compatible(("/v1/responses",), ("POST",), "search", openai_error, respond),
    Compatible(("/v1/chat/completions",), ("POST",), "search", openai_error, complete),
    Compatible(("/v1/models",), ("GET",), "search", openai_error, always(MODELS)),
)
