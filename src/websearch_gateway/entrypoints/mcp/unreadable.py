"""Refuses requests that are not JSON, or no request: over stdio the SDK drops them, and their client waits for ever.

A line may be broken, nested deeper than pydantic reads (about 200 levels), or break the rules of JSON-RPC. The parts of
a request that a reply repeats have a limit, over HTTP too.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

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
    return _refusal(members.get("id"), PARSE_ERROR, _UNREADABLE)


def refusal_of_value(message: Any) -> SessionMessage | None:
    """The reply to JSON that is no message of JSON-RPC: "Invalid Request" under its id, or under null if it has none.

    None for a response, which nobody may answer (https://www.jsonrpc.org/specification#response_object).
    """
    if not isinstance(message, dict):
        return _refusal(None, INVALID_REQUEST, _INVALID)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    return _refusal(_usable(message.get("id")), INVALID_REQUEST, _INVALID)


def refusal_of_request(message: Any) -> SessionMessage | None:
    """The reply to a request with a longer id, method or progress token than a reply would repeat; None to others."""
    if not isinstance(message, dict):
        return None
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    for place, value in (("id", message.get("id")), ("method", message.get("method")), ("progress token", token)):
        if len(value if isinstance(value, str) else "") > _MOST_ID_CHARS:
            fault = f"The {place} of a request may have {_MOST_ID_CHARS} characters at most."
            return _refusal(_usable(message.get("id")), INVALID_REQUEST, fault)
    return None


def _refusal(name: int | str | None, code: int, message: str) -> SessionMessage:
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
