"""OpenAI's Responses: the answer of `search_web` as one search and one message, or as events
(https://platform.openai.com/docs/api-reference/responses).
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from websearch_gateway.entrypoints.arguments import Stays
from websearch_gateway.entrypoints.http.compatible.endpoint import Given, Lenient
from websearch_gateway.entrypoints.http.compatible.openai_answers import (
    MODEL,
    ModelName,
    answered,
    cited_places,
    event_stream,
    new_id,
    openai_error,
    pieces_of,
    question,
)
from websearch_gateway.models import Caller
from websearch_gateway.results import ErrorInfo, SearchResponse

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway


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
    request = ResponsesRequest.of(given)
    search = question(request.input, request.tools)
    reply = _Response(request, search.query)
    answer = answered(gateway, search, caller)
    if not request.stream:
        return reply.completed(await answer)
    return await event_stream(answer, reply.opening(), reply.closing, reply.failing)


Event = dict[str, Any]


class _Response:
    """The response to one request in each of its states, and its events, which are numbered from 0."""

    def __init__(self, request: ResponsesRequest, query: str) -> None:
        self._query = query
        self._head = {"id": new_id("resp"), "object": "response", "created_at": int(time.time())}
        self._same = {
            "model": request.model,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": _echoed(request.tools, []),
            "incomplete_details": None,
            "instructions": _echoed(request.instructions, None),
            "metadata": _echoed(request.metadata, {}),
            "temperature": None,
            "top_p": None,
        }
        self._search_id, self._message_id = new_id("ws"), new_id("msg")
        self._numbers = itertools.count()

    def completed(self, answer: SearchResponse) -> Event:
        """The response with the answer."""
        read, written = answer.usage.prompt_tokens, answer.usage.response_tokens
        usage = {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        }
        output = [self._search(answer), self._message(answer)]
        return self._in_state("completed", output=output, usage=usage)

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
        empty = {**part, "text": "", "annotations": []}
        place = {"item_id": self._message_id, "output_index": 1, "content_index": 0}
        yield self._event("content_part.added", **place, part=empty)
        for piece in pieces_of(part["text"]):
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
        reason = {"code": body["code"], "message": body["message"]}
        yield self._event("failed", response=self._in_state("failed", error=reason))
        yield {
            "type": "error",
            "sequence_number": next(self._numbers),
            **reason,
            "param": None,
            "error": body,
        }

    def _search(self, answer: SearchResponse | None = None) -> Event:
        """The search: in progress or, with its answer, completed."""
        action: dict[str, Any] = {"type": "search", "query": self._query, "queries": [self._query]}
        if answer is not None:
            urls = dict.fromkeys(citation.url for citation in answer.citations)
            urls |= dict.fromkeys(source.url for source in answer.sources)
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


MOST_ECHOED = 2_000
"""Characters, as JSON, of a part of the request that the reply repeats."""


def _echoed(value: Any, otherwise: Any) -> Any:
    """A part of the request for the reply to repeat, as OpenAI does; `otherwise` if it is absent or long."""
    return value if value and len(json.dumps(value)) <= MOST_ECHOED else otherwise
