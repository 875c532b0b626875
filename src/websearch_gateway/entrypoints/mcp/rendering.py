"""Results and errors as replies to a call: one text, and the same as data for the clients that get it."""

from __future__ import annotations

from typing import Any

from websearch_gateway.entrypoints.lifecycle import describe
from websearch_gateway.entrypoints.mcp.clients import View
from websearch_gateway.entrypoints.reply.sizes import opening
from websearch_gateway.entrypoints.reply.structured import lean
from websearch_gateway.entrypoints.reply.texts import error_text
from websearch_gateway.entrypoints.tools.table import Arguments, Tool
from websearch_gateway.results import WireModel, size_of

CUT = "\n\n(Cut to fit the reply.)"


def result_reply(tool: Tool, result: WireModel, view: View) -> dict[str, Any]:
    """The reply of a call that succeeded."""
    text = tool.text(result)
    if not tool.has_data:
        return _reply(text, None, is_error=False)
    data = lean(result) if view.has_data else None
    return _reply(_within(text, view.room), data, is_error=False)


def failure_reply(
    tool: Tool, error: Exception, arguments: Arguments | None, view: View
) -> dict[str, Any]:
    """The reply of a call that failed: the error, and the fields that the tool sets despite it; no other fields."""
    info = describe(error)
    fields = dict(tool.on_error(arguments, info)) if tool.on_error and arguments else {}
    text = error_text(info, fields.get("page_content", ""))
    result = tool.result.model_construct({*fields, "error"}, **fields, error=info)
    data = lean(result, only_set=True) if view.has_data and tool.has_data else None
    return _reply(_within(text, view.room), data, is_error=True)


def _reply(text: str, data: dict[str, Any] | None, *, is_error: bool) -> dict[str, Any]:
    block = {"type": "text", "text": text}
    reply: dict[str, Any] = {"resultType": "complete", "content": [block], "isError": is_error}
    if data is not None:
        reply["structuredContent"] = data
    return reply


def _within(text: str, room: int) -> str:
    """`text` within the room of a reply. Results were fitted to it before; what holds no list to shorten is cut."""
    if size_of(text) <= room:
        return text
    return opening(text, room - size_of(CUT))[0] + CUT
