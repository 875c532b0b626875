"""Repairs messages that contain lone surrogates, and refuses requests over stdio that stay unreadable.

A client in JavaScript that cuts a text in the middle of an emoji sends a lone surrogate (`"\\ud83d"`). The SDK cannot
read that message: over stdio it drops it and never replies, over HTTP it refuses it without its id. Here the surrogate
becomes U+FFFD, like broken UTF-8, and the call is served.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

from websearch_gateway.entrypoints.mcp.unreadable import refusal_of, refusal_of_request, refusal_of_value

ESCAPED_HALF = re.compile(rb"\\u[dD][89A-Fa-f]")
"""An escape that may be a lone surrogate; most are halves of a pair."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Item = SessionMessage | Exception


class SurrogateFixStream:
    """The SDK's stream of messages, which yields an exception for an unreadable line.

    Args:
        stream: the messages of the client.
        replies: the SDK's stream to the client.
    """

    def __init__(self, stream: Any, replies: Any) -> None:
        self._stream = stream
        self._replies = replies

    async def receive(self) -> Item:
        """The next message."""
        return await self._next(self._stream.receive)

    async def aclose(self) -> None:
        """Close the underlying stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self._next(self._stream.__anext__)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _next(self, receive: Callable[[], Awaitable[Item]]) -> Item:
        while True:
            item = _repaired(await receive())
            if isinstance(item, SessionMessage):
                if (refusal := refusal_of_request(vars(item.message))) is None:
                    return item
                await self._replies.send(refusal)
                continue
            if isinstance(item, ValidationError) and (refusal := _refusal(item)):
                await self._replies.send(refusal)
            return item


def repaired(message: str | bytes) -> str:
    """A message of JSON in which every lone surrogate is U+FFFD.

    Raises:
        ValueError, RecursionError: it is not JSON, or nested too deeply.
    """
    # Python parses what Pydantic refuses, and joins surrogate pairs into characters.
    return _LONE_SURROGATE.sub("\ufffd", json.dumps(json.loads(message), ensure_ascii=False))


def _refusal(error: ValidationError) -> SessionMessage | None:
    faults = error.errors(include_url=False, include_context=False)
    if faults[0]["type"] == "json_invalid":
        return refusal_of(faults[0]["input"])
    # The whole message is the input of a fault of its own; a fault of a member has that member.
    whole = [
        fault["input"] for fault in faults if fault["type"] in ("missing", "model_type") and len(fault["loc"]) <= 2
    ]
    return refusal_of_value(whole[0]) if whole else None


def _repaired(item: Item) -> Item:
    if not isinstance(item, ValidationError):
        return item
    try:
        line = repaired(item.errors()[0]["input"])
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, TypeError, RecursionError):
        return item
