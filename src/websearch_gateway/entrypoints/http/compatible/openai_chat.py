"""OpenAI's Chat Completions: the answer of `search_web` as a message with annotations, or as chunks
(https://platform.openai.com/docs/api-reference/chat).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
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


class ChatRequest(Lenient):
    """The fields that mean something here; only the last message of the user reaches the search."""

    model: ModelName = MODEL
    messages: Annotated[Any, Stays] = ()
    stream: bool = False
    stream_options: Any = None
    web_search_options: Any = None


async def complete(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The answer of `search_web` as a completion with annotations; as chunks with `stream`."""
    request = ChatRequest.of(given)
    search = question(request.messages, [], request.web_search_options)
    chat = _Chat(request)
    answer = answered(gateway, search, caller)
    if not request.stream:
        return chat.completion(await answer)
    return await event_stream(answer, chat.opening(), chat.closing, chat.failing)


class _Chat:
    """The completion of one request, whole or in chunks."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._head = {"id": new_id("chatcmpl"), "created": int(time.time()), "model": request.model}

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
        for piece in pieces_of(answer.text):
            yield self._chunk({"content": piece})
        yield self._chunk({"annotations": _nested(answer)})
        yield self._chunk({}, finish_reason="stop")
        options = self._request.stream_options
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
    annotations = []
    for citation in cited_places(answer):
        kind = citation.pop("type")
        annotations.append({"type": kind, kind: citation})
    return annotations


def _chat_usage(answer: SearchResponse) -> dict[str, int]:
    read, written = answer.usage.prompt_tokens, answer.usage.response_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
