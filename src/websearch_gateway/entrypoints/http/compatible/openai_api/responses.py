"""OpenAI `POST /v1/responses`. https://platform.openai.com/docs/api-reference/responses/create"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given, Lenient
from websearch_gateway.entrypoints.http.compatible.openai_api.common import (
    MODEL,
    ModelName,
    answered,
    cited_places,
    echoed,
    new_id,
    openai_error,
    question,
    sources,
)
from websearch_gateway.entrypoints.http.compatible.openai_api.events import ResponseEvents
from websearch_gateway.entrypoints.http.compatible.openai_api.streaming import event_stream
from websearch_gateway.models import Caller
from websearch_gateway.results.answer import SearchResponse

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


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


RESPONSES = Compatible(
    name="openai responses",
    paths=("/v1/responses",),
    methods=("POST",),
    scope="search",
    error_shape=openai_error,
    answer=respond,
)
