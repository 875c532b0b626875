"""Refuses requests over stdio that are not readable JSON: the SDK drops such a line, and its client waits for ever.

A line may be broken, or nested deeper than pydantic reads (about 200 levels).
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]+|[\]}]+')
_MEMBER = re.compile(r'"(id|method)"\s*+:\s*+(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")(?=\s*[,}])')

_MESSAGE = "The message is not JSON, or is nested too deeply to be read."


def refusal_of(line: str) -> SessionMessage | None:
    """The reply to an unreadable line that is a request: JSON-RPC's "Parse error"; None for any other line."""
    if (name := _request_id(line)) is None:
        return None
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=name, error=ErrorData(code=PARSE_ERROR, message=_MESSAGE)))


def _request_id(line: str) -> int | str | None:
    """The `id` of a request, found without parsing nested values."""
    depth = 0
    members: dict[str, Any] = {}
    for token in _TOKEN.finditer(line):
        mark = token[0][0]
        if mark == '"':
            if depth == 1 and (member := _MEMBER.match(line, token.start())):
                members[member[1]] = _value(member[2])
        else:
            depth += len(token[0]) if mark in "[{" else -len(token[0])
    return members.get("id") if "method" in members else None


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
        str(value).encode()  # a lone surrogate cannot be sent back
    except ValueError:
        return None
    return value
