"""OpenAI `POST /v1/chat/completions`. https://platform.openai.com/docs/api-reference/chat"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given, Lenient
from websearch_gateway.entrypoints.http.compatible.openai_api.common import (
    MODEL,
    ModelName,
    answered,
    cited_places,
    new_id,
    openai_error,
    pieces,
    question,
)
from websearch_gateway.entrypoints.http.compatible.openai_api.streaming import event_stream
from websearch_gateway.models import Caller
from websearch_gateway.results.answer import SearchResponse
from websearch_gateway.results.base import ErrorInfo

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


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
        return {"object": "chat.completion", **self._head, "choices": [choice], "usage": _usage(answer)}

    def opening(self) -> Iterator[Any]:
        yield self._chunk({"role": "assistant", "content": ""})

    def closing(self, answer: SearchResponse) -> Iterator[Any]:
        for piece in pieces(answer.text):
            yield self._chunk({"content": piece})
        yield self._chunk({"annotations": _nested(answer)})
        yield self._chunk({}, finish_reason="stop")
        options = self._wanted.stream_options
        if isinstance(options, Mapping) and options.get("include_usage"):
            yield {"object": "chat.completion.chunk", **self._head, "choices": [], "usage": _usage(answer)}
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


def _usage(answer: SearchResponse) -> dict[str, int]:
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
