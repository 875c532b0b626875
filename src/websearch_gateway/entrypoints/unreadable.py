"""Repairs messages over stdio that contain lone surrogates, and refuses requests that stay unreadable.

The SDK drops a line that it cannot read, and its client waits for ever. A client in JavaScript that cuts a text in the
middle of an emoji sends a lone surrogate (`"\\ud83d"`); other lines are broken, nested deeper than pydantic reads
(about 200 levels), or break the rules of JSON-RPC.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

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


_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]+|[\]}]+')
_MEMBER = re.compile(r'"(id|method|result|error)"\s*+:\s*+(?:(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")(?=\s*[,}]))?')

_UNREADABLE = "The message is not JSON, or is nested too deeply to be read."
_INVALID = "The message is not a JSON-RPC 2.0 request."
_MOST_ID_CHARS = 200
"""Of an id, the name of a method or a progress token."""


def refusal_of(line: str) -> SessionMessage | None:
    """The reply to an unreadable line: JSON-RPC's "Parse error", under the id of the request if it has one, else null.

    None for an empty line, a notification and a response, which nobody may answer.
    """
    members = _members(line)
    is_notification = "method" in members and "id" not in members
    is_response = "method" not in members and not members.keys().isdisjoint(("result", "error"))
    if not line.strip() or is_notification or is_response:
        return None
    return _error_reply(members.get("id"), PARSE_ERROR, _UNREADABLE)


def refusal_of_value(message: Any) -> SessionMessage | None:
    """The reply to JSON that is no message of JSON-RPC: "Invalid Request" under its id, or under null if it has none.

    None for a response, which nobody may answer (https://www.jsonrpc.org/specification#response_object).
    """
    if not isinstance(message, dict):
        return _error_reply(None, INVALID_REQUEST, _INVALID)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    return _error_reply(_usable(message.get("id")), INVALID_REQUEST, _INVALID)


def refusal_of_request(message: Any) -> SessionMessage | None:
    """The reply to what is no message, and to a request with a longer id, method or progress token than a reply would
    repeat; None to others. The SDK would look at each item of a long list for each kind of message."""
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return refusal_of_value(message)
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    for place, value in (("id", message.get("id")), ("method", message.get("method")), ("progress token", token)):
        if len(value if isinstance(value, str) else "") > _MOST_ID_CHARS:
            fault = f"The {place} of a request may have {_MOST_ID_CHARS} characters at most."
            return _error_reply(_usable(message.get("id")), INVALID_REQUEST, fault)
    return None


def _error_reply(name: int | str | None, code: int, message: str) -> SessionMessage:
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=name, error=ErrorData(code=code, message=message)))


def _usable(name: Any) -> int | str | None:
    if isinstance(name, str):
        return name if len(name) <= _MOST_ID_CHARS else None
    return name if type(name) is int and abs(name) < 10**18 else None


def _members(line: str) -> dict[str, int | str | None]:
    """The members of a message that tell what it is, found without parsing nested values; None for other values."""
    depth = 0
    members: dict[str, int | str | None] = {}
    for token in _TOKEN.finditer(line):
        mark = token[0][0]
        if mark == '"':
            if depth == 1 and (member := _MEMBER.match(line, token.start())):
                members[member[1]] = _value(member[2]) if member[2] else None
        else:
            depth += len(token[0]) if mark in "[{" else -len(token[0])
    return members


def _value(text: str) -> int | str | None:
    try:
        value: int | str = json.loads(text)
        str(value).encode()  # a lone surrogate cannot be sent back
    except ValueError:
        return None
    return value
