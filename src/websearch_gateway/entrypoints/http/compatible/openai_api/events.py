"""The events of a streamed response, in the order that the SDKs of OpenAI and of its imitators need.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from websearch_gateway.entrypoints.http.compatible.openai_api.common import openai_error, pieces
from websearch_gateway.results.answer import SearchResponse
from websearch_gateway.results.base import ErrorInfo

if TYPE_CHECKING:
    from websearch_gateway.entrypoints.http.compatible.openai_api.responses import ResponseObject

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
