"""JSON-RPC messages that the SDK cannot read: they are repaired, or refused under their id."""

from __future__ import annotations

import json
import re
from typing import Any

from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from websearch_gateway.entrypoints.arguments import HALF

ESCAPED_HALF = re.compile(rb"\\u[dD][89A-Fa-f]")
"""An escape that may be a lone surrogate; most are halves of a pair."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Item = SessionMessage | Exception
"""What the SDK makes of a line."""


def repaired(message: str | bytes) -> str:
    """A message of JSON in which every lone surrogate is `HALF`: the SDK reads it, and its argument is refused by name.

    Raises:
        ValueError, RecursionError: it is not JSON, or nested too deeply.
    """
    # Python parses what Pydantic refuses, and joins surrogate pairs into characters.
    return _LONE_SURROGATE.sub(HALF, json.dumps(json.loads(message), ensure_ascii=False))


def refusal_of_fault(error: ValidationError) -> SessionMessage | None:
    faults = error.errors(include_url=False, include_context=False)
    if faults[0]["type"] == "json_invalid":
        return refusal_of(faults[0]["input"])
    # The whole message is the input of a fault of its own; a fault of a member has that member.
    whole = [
        fault["input"]
        for fault in faults
        if fault["type"] in ("missing", "model_type") and len(fault["loc"]) <= 2
    ]
    return refusal_of_value(whole[0]) if whole else None


def repaired_item(item: Item) -> Item:
    if not isinstance(item, ValidationError):
        return item
    try:
        line = repaired(item.errors()[0]["input"])
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, TypeError, RecursionError):
        return item


_PART = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]|[^"\[{\]}]+', re.DOTALL)

_UNREADABLE = "The message is not JSON, or is nested too deeply to be read."
_INVALID = "The message is not a JSON-RPC 2.0 request."
_INVALID_ID = "The id of a request must be a text or a whole number."
_MOST_ID_CHARS = 200
"""The most characters of an id, the name of a method or a progress token."""


def refusal_of(line: str) -> SessionMessage | None:
    """The reply to an unreadable line: JSON-RPC's "Parse error", under the id of the request or null without one.

    None for an empty line, a notification and a response, which nobody may answer.
    """
    if not line.strip():
        return None
    try:
        message = json.loads(repaired(_shallow(line)))
    except ValueError:
        return _error_reply(None, PARSE_ERROR, _UNREADABLE)
    if isinstance(message, dict) and not {"id", "method"} <= message.keys():
        return None
    name = message.get("id") if isinstance(message, dict) else None
    return _error_reply(_usable(name), PARSE_ERROR, _UNREADABLE)


def _shallow(line: str) -> str:
    """The outermost object or list, with null for each that it contains, however deep."""
    kept, depth = [], 0
    for part in _PART.findall(line):
        opens, closes = part in "[{", part in "]}"
        depth -= closes
        if depth < 1 or (depth == 1 and not opens and not closes):
            kept.append(part)
        elif depth == 1 and opens:
            kept.append("null")
        depth += opens
    return "".join(kept)


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
    if not _has_usable_id(message):
        return _error_reply(message["id"], INVALID_REQUEST, _INVALID_ID)
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    for place, value in (
        ("id", message.get("id")),
        ("method", message.get("method")),
        ("progress token", token),
    ):
        if len(value if isinstance(value, str) else "") > _MOST_ID_CHARS:
            fault = f"The {place} of a request may have {_MOST_ID_CHARS} characters at most."
            return _error_reply(_usable(message.get("id")), INVALID_REQUEST, fault)
    return None


def refusal_of_id(line: str) -> SessionMessage | None:
    """The reply to a request whose id is neither a text nor a whole number; None to any other line.

    JSON-RPC advises against null and fractions, and MCP forbids null
    (https://modelcontextprotocol.io/specification/2025-11-25/basic#requests): the SDK reads such a request as a
    notification.
    """
    if not _ODD_ID.search(line):
        return None
    try:
        message = json.loads(repaired(line))
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(message, dict)
        or not isinstance(message.get("method"), str)
        or _has_usable_id(message)
    ):
        return None
    return _error_reply(message["id"], INVALID_REQUEST, _INVALID_ID)


_ODD_ID = re.compile(r'"id"\s*:\s*(?!["\s]|-?\d+\s*[,}])')
"""May begin an id that is neither; most lines are read once."""


def _has_usable_id(message: dict[str, Any]) -> bool:
    """Whether a message is a notification, or a request with an id that MCP allows."""
    return "id" not in message or isinstance(message["id"], str) or type(message["id"]) is int


class _Refusal(JSONRPCError):
    """A reply under an id that MCP does not allow, so that its client finds it."""

    id: int | float | str | None  # type: ignore[assignment]


def _error_reply(name: Any, code: int, message: str) -> SessionMessage:
    usable = name if type(name) in (int, float, str) else None
    return SessionMessage(
        _Refusal(jsonrpc="2.0", id=usable, error=ErrorData(code=code, message=message))
    )


def _usable(name: Any) -> int | str | None:
    if isinstance(name, str):
        return name if len(name) <= _MOST_ID_CHARS else None
    return name if type(name) is int and abs(name) < 10**18 else None
