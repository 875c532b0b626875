"""A tool as an HTTP endpoint, for clients without MCP."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.entrypoints.http.authentication import caller_of, require_scope
from websearch_gateway.entrypoints.http.replies import failure, json_reply, refusal
from websearch_gateway.entrypoints.lazy import LazyGateway
from websearch_gateway.entrypoints.mcp.unreadable import ESCAPED_HALF
from websearch_gateway.entrypoints.tools import Tool
from websearch_gateway.errors import SearchValidationError, shown
from websearch_gateway.ports import no_progress

Endpoint = Callable[[Request], Awaitable[Response]]

SHORT_PATHS = {
    "search_web": "/v1/search",
    "check_claims": "/v1/check",
    "web_search": "/v1/web",
    "search_news": "/v1/news",
    "web_search_raw": "/v1/raw",
    "get_content": "/v1/read",
    "read_from_page": "/v1/passages",
    "search_docs": "/v1/docs",
}
"""The tools that people call by hand have a second, shorter path."""


def paths_of(tool: Tool) -> tuple[str, ...]:
    """The paths of a tool, the shortest first."""
    full = f"/v1/tools/{tool.name}"
    return (SHORT_PATHS[tool.name], full) if tool.name in SHORT_PATHS else (full,)


def tool_routes(tools: tuple[Tool, ...], gateway: LazyGateway) -> list[BaseRoute]:
    """The routes of all tools."""
    return [Route(path, rest_endpoint(tool, gateway), methods=["POST"]) for tool in tools for path in paths_of(tool)]


def rest_endpoint(tool: Tool, gateway: LazyGateway) -> Endpoint:
    """`tool` as an HTTP endpoint: the body holds its arguments, the reply its result or `{"error": ...}`."""

    async def call(request: Request) -> Response:
        require_scope(request, tool.needed_scope)
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            return refusal(415, "VALIDATION", "Send JSON, with Content-Type: application/json.")
        try:
            arguments = tool.parse(json_object(await request.body()))
            caller = replace(caller_of(request), copies=1)
            result = await tool.call(await gateway.get(), arguments, caller, no_progress)
        except Exception as error:  # the entrypoint: on any failure the client gets a typed error
            return failure(error)
        return json_reply(result.model_dump(mode="json", by_alias=True))

    return call


def _refused(constant: str) -> None:
    """Python reads NaN and Infinity, which are not JSON: a reply that repeats them could not be read."""
    raise ValueError(constant)


def json_object(body: bytes) -> dict[str, Any]:
    """The JSON object that is the whole of a body.

    Raises:
        SearchValidationError: it is not one, or holds half of a surrogate pair, which no reply can repeat.
    """
    try:
        found = json.loads(body, parse_constant=_refused)
        if ESCAPED_HALF.search(body):  # most are pairs
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = shown(error.object[error.start])
        raise SearchValidationError(
            f"The body holds half of a character ({half}): cut texts between characters."
        ) from None
    except (ValueError, RecursionError):
        raise SearchValidationError("The body is not JSON.") from None
    if not isinstance(found, dict):
        raise SearchValidationError("The body must be a JSON object.")
    return found
