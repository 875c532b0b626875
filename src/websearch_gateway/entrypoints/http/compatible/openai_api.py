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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given, Lenient
from websearch_gateway.entrypoints.lifecycle import describe
from websearch_gateway.entrypoints.reply import fit_answer, places_of
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Caller, SearchRequest
from websearch_gateway.results import CitedSpan, ErrorInfo, SearchResponse
from websearch_gateway.text.citations import linked
from websearch_gateway.text.query import LONGEST_QUERY, country_code

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


MODEL = "search_web"
"""The only listed model. Clients may name any other; the reply repeats the name."""

ModelName = Annotated[str, Field(max_length=200)]


class ResponsesRequest(Lenient):
    """The fields that mean something here; instructions and earlier messages do not reach a search."""

    model: ModelName = MODEL
    input: Any = ""
    tools: Any = ()
    stream: bool = False
    instructions: Any = None
    metadata: Any = None


async def respond(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The answer of `search_web` as a response with one search and one message; as events with `stream`."""
    wanted = ResponsesRequest.of(given)
    asked = question(wanted.input, wanted.tools)
    reply = ResponseObject(wanted, asked.query)
    if not wanted.stream:
        return reply.completed(await answered(gateway, asked, caller))
    events = ResponseEvents(reply)
    return await event_stream(answered(gateway, asked, caller), events.opening(), events.closing, events.failing)


class ResponseObject:
    """The response to one request, in each of its states."""

    def __init__(self, wanted: ResponsesRequest, query: str) -> None:
        self._wanted = wanted
        self._query = query
        self._id = new_id("resp")
        self._created_at = int(time.time())
        self.search_id, self.message_id = new_id("ws"), new_id("msg")

    def in_progress(self) -> dict[str, Any]:
        """The response before the answer."""
        return self._in_state("in_progress", [], None)

    def failed(self, code: str, message: str) -> dict[str, Any]:
        """The response without an answer."""
        return {**self._in_state("failed", [], None), "error": {"code": code, "message": message}}

    def completed(self, answer: SearchResponse) -> dict[str, Any]:
        """The response with the answer."""
        return self._in_state("completed", [self.search_item(answer), self.message_item(answer)], answer)

    def search_item(self, answer: SearchResponse | None = None) -> dict[str, Any]:
        """The search: in progress or, with its answer, completed."""
        action: dict[str, Any] = {"type": "search", "query": self._query, "queries": [self._query]}
        if answer is not None:
            action["sources"] = sources(answer)
        status = "in_progress" if answer is None else "completed"
        return {"type": "web_search_call", "id": self.search_id, "status": status, "action": action}

    def message_item(self, answer: SearchResponse) -> dict[str, Any]:
        """The message with its text and the places of its citations."""
        return {
            "type": "message",
            "id": self.message_id,
            "role": "assistant",
            "status": "completed",
            "content": [self.text_part(answer)],
        }

    def text_part(self, answer: SearchResponse) -> dict[str, Any]:
        """The one part of the message."""
        return {"type": "output_text", "text": answer.text, "annotations": cited_places(answer), "logprobs": []}

    def _in_state(self, status: str, output: list[Any], answer: SearchResponse | None) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created_at,
            "status": status,
            "model": self._wanted.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": echoed(self._wanted.tools, []),
            "error": None,
            "incomplete_details": None,
            "instructions": echoed(self._wanted.instructions, None),
            "metadata": echoed(self._wanted.metadata, {}),
            "temperature": None,
            "top_p": None,
            "usage": None if answer is None else _usage(answer),
        }


def _usage(answer: SearchResponse) -> dict[str, Any]:
    given, made = answer.usage.prompt_tokens, answer.usage.response_tokens
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + made,
    }


Event = dict[str, Any]


class ResponseEvents:
    """Numbers the events of one response from 0."""

    def __init__(self, reply: ResponseObject) -> None:
        self._reply = reply
        self._numbers = itertools.count()

    def opening(self) -> Iterator[Event]:
        """The events before there is an answer."""
        yield self._event("created", response=self._reply.in_progress())
        yield self._event("in_progress", response=self._reply.in_progress())
        yield self._event("output_item.added", output_index=0, item=self._reply.search_item())
        yield self._search("in_progress")
        yield self._search("searching")

    def closing(self, answer: SearchResponse) -> Iterator[Event]:
        """The end of the search, and all pieces of the message."""
        reply = self._reply
        yield self._search("completed")
        yield self._event("output_item.done", output_index=0, item=reply.search_item(answer))
        message = reply.message_item(answer)
        begun = {**message, "status": "in_progress", "content": []}
        yield self._event("output_item.added", output_index=1, item=begun)
        yield from self._text(reply.text_part(answer))
        yield self._event("output_item.done", output_index=1, item=message)
        yield self._event("completed", response=reply.completed(answer))

    def failing(self, error: ErrorInfo) -> Iterator[Event]:
        """The end without an answer. openai-python raises its APIError for an event with a key `error` alone."""
        yield self._event("failed", response=self._reply.failed(error.code.lower(), error.message))
        body = openai_error(error, 500)["error"]
        named = {name: body[name] for name in ("code", "message", "param")}
        yield {"type": "error", "sequence_number": next(self._numbers), **named, "error": body}

    def _text(self, part: Event) -> Iterator[Event]:
        empty = {**part, "text": "", "annotations": []}
        yield self._part("content_part.added", part=empty)
        for piece in pieces(part["text"]):
            yield self._part("output_text.delta", delta=piece, logprobs=[])
        for index, annotation in enumerate(part["annotations"]):
            yield self._part("output_text.annotation.added", annotation_index=index, annotation=annotation)
        yield self._part("output_text.done", text=part["text"], logprobs=[])
        yield self._part("content_part.done", part=part)

    def _search(self, state: str) -> Event:
        return self._event(f"web_search_call.{state}", output_index=0, item_id=self._reply.search_id)

    def _part(self, kind: str, **fields: Any) -> Event:
        return self._event(kind, item_id=self._reply.message_id, output_index=1, content_index=0, **fields)

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
            except Exception as error:  # the entrypoint: the reply has begun, so the error becomes its last event
                events = failing(describe(error))
            for event in events:
                yield _encoded(event)
        finally:
            task.cancel()

    return StreamingResponse(body(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def _encoded(event: Any) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event, separators=(',', ':'))}\n\n".encode()


MOST_ECHOED = 2_000
"""Characters, as JSON, of a part of the request that the reply repeats."""

_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_PIECE = 200
# Never within a word, or the half of a key would remain, which the guard cannot recognise.
_SENTENCE_END = re.compile(r"(?<=[.!?:;؟]) (?=\S)|(?<=[。！？]) ?(?=\S)")
_SHORTEST = 10
"""The fewest characters of a question that names its subject; "OK?" is shorter."""


def openai_error(error: ErrorInfo, status: int) -> Any:
    """`{"error": {message, type, param, code}}`."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": error.message, "type": kind, "param": None, "code": error.code.lower()}}


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


def new_id(prefix: str) -> str:
    """An id in OpenAI's form."""
    return f"{prefix}_{uuid4().hex}"


def echoed(value: Any, otherwise: Any) -> Any:
    """A part of the request for the reply to repeat, as OpenAI does; `otherwise` if it is absent or long."""
    return value if value and len(json.dumps(value)) <= MOST_ECHOED else otherwise


def question(items: Any, tools: Any, options: Any = None) -> SearchRequest:
    """The last message of the user as a question, in the country and the domains that the search tool or option names.

    If a message is too long for a search, the question in it is used.

    Args:
        items: a text, or messages whose content is a text or a list of parts.

    Raises:
        SearchValidationError: no user message contains text.
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


def sources(answer: SearchResponse) -> list[dict[str, str]]:
    """Every cited or found page."""
    urls = dict.fromkeys([*(one.url for one in answer.citations), *(one.url for one in answer.sources)])
    return [{"type": "url", "url": url} for url in urls]


def pieces(text: str) -> list[str]:
    """The text in parts small enough to stream smoothly."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


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
    questions = [one for one in _SENTENCE_END.split(text) if one.endswith(("?", "？", "؟")) and len(one) >= _SHORTEST]
    asked = questions[-1] if questions else text
    return asked if len(asked) <= LONGEST_QUERY else asked[:LONGEST_QUERY].rpartition(" ")[0] or asked[:LONGEST_QUERY]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in _mappings(content))
    return "\n".join(part for part in parts if isinstance(part, str))


def _region(tools: Sequence[Mapping[str, Any]]) -> str | None:
    for tool in tools:
        place = tool.get("user_location")
        place = place.get("approximate", place) if isinstance(place, Mapping) else None
        country = place.get("country") if isinstance(place, Mapping) else None
        if isinstance(country, str):
            return country_code(country)
    return None


def _domains(tools: Sequence[Mapping[str, Any]], name: str) -> tuple[str, ...]:
    lists = (filters.get(name) for tool in tools if isinstance(filters := tool.get("filters"), Mapping))
    return tuple(one for listed in lists if isinstance(listed, list) for one in listed if isinstance(one, str))


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


RESPONSES = Compatible(
    name="openai responses",
    paths=("/v1/responses",),
    methods=("POST",),
    scope="search",
    error_shape=openai_error,
    answer=respond,
)


class ChatRequest(Lenient):
    """The fields that mean something here; only the last message of the user reaches the search."""

    model: ModelName = MODEL
    messages: Any = ()
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
    return await event_stream(answered(gateway, asked, caller), chat.opening(), chat.closing, chat.failing)


class _Chat:
    def __init__(self, wanted: ChatRequest) -> None:
        self._wanted = wanted
        self._head = {"id": new_id("chatcmpl"), "created": int(time.time()), "model": wanted.model}

    def completion(self, answer: SearchResponse) -> dict[str, Any]:
        message = {"role": "assistant", "content": answer.text, "refusal": None, "annotations": _nested(answer)}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {"object": "chat.completion", **self._head, "choices": [choice], "usage": _chat_usage(answer)}

    def opening(self) -> Iterator[Any]:
        yield self._chunk({"role": "assistant", "content": ""})

    def closing(self, answer: SearchResponse) -> Iterator[Any]:
        for piece in pieces(answer.text):
            yield self._chunk({"content": piece})
        yield self._chunk({"annotations": _nested(answer)})
        yield self._chunk({}, finish_reason="stop")
        options = self._wanted.stream_options
        if isinstance(options, Mapping) and options.get("include_usage"):
            yield {"object": "chat.completion.chunk", **self._head, "choices": [], "usage": _chat_usage(answer)}
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


CHAT = Compatible(
    name="openai chat completions",
    paths=("/v1/chat/completions",),
    methods=("POST",),
    scope="search",
    error_shape=openai_error,
    answer=complete,
)

CREATED = 1_764_547_200
"""2025-12-01: clients require a number, and use it only for sorting."""


async def models(_: Gateway, __: Given, ___: Caller) -> Any:
    """One model, which answers as the tool of the same name."""
    return {
        "object": "list",
        "data": [{"id": MODEL, "name": MODEL, "object": "model", "created": CREATED, "owned_by": "websearch-gateway"}],
    }


MODELS = Compatible(
    name="openai models",
    paths=("/v1/models",),
    methods=("GET",),
    scope="search",
    error_shape=openai_error,
    answer=models,
)
