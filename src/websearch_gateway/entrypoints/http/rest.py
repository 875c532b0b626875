"""The tools as HTTP endpoints, for clients without MCP, and their description at `/openapi.json`, made from the models
that parse and render (https://spec.openapis.org/oas/v3.1.1).
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from websearch_gateway import __version__
from websearch_gateway.entrypoints.http.authentication import caller_of, require_scope
from websearch_gateway.entrypoints.http.middleware import json_object
from websearch_gateway.entrypoints.http.replies import failure, json_reply, refusal
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.entrypoints.tools import Tool, listed, toolsets_of
from websearch_gateway.models import no_progress
from websearch_gateway.results import ErrorInfo
from websearch_gateway.settings import Settings

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


REFUSALS = {
    400: "The request is invalid; the message says what to change.",
    401: "There is no token, or it is not accepted.",
    403: "The token lacks the scope, or the address may not be fetched.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    429: "A rate limit or budget is exhausted; see Retry-After.",
    502: "Every upstream failed.",
    503: "Temporarily unavailable; see Retry-After.",
    504: "No upstream answered in time.",
}


def openapi(tools: Iterable[Tool], *, with_token: bool) -> dict[str, Any]:
    """The document for these tools. `with_token`: callers need one."""
    schemas: dict[str, Any] = {}
    paths = {path: {"post": operation} for tool in tools for path, operation in _operations(tool, schemas, with_token)}
    schemas["Error"] = {
        "type": "object",
        "required": ["error"],
        "properties": {"error": _schema(ErrorInfo, schemas)},
    }
    keys = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "websearch-gateway",
            "version": __version__,
            "summary": "Short answers from the web whose every claim is cited.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": schemas, **({"securitySchemes": keys} if with_token else {})},
    }


def _operations(tool: Tool, schemas: dict[str, Any], with_token: bool) -> Iterable[tuple[str, dict[str, Any]]]:
    """The operation at each path of the tool: the same except for its id."""
    replies = {"200": ("The result.", _schema(tool.result, schemas))}
    replies |= {str(status): (text, {"$ref": "#/components/schemas/Error"}) for status, text in REFUSALS.items()}
    scope, body = tool.needed_scope, {"application/json": {"schema": _schema(tool.arguments, schemas)}}
    operation = {
        "tags": [tool.toolset],
        "summary": tool.title,
        "description": tool.description,
        "requestBody": {"required": True, "content": body},
        "responses": {
            status: {"description": text, "content": {"application/json": {"schema": schema}}}
            for status, (text, schema) in replies.items()
        },
        **({"security": [{"bearer": [scope]}, {"key": [scope]}]} if with_token else {}),
    }
    *short, full = paths_of(tool)
    for path in short:
        yield path, {"operationId": f"{tool.name}_short", **operation}
    yield full, {"operationId": tool.name, **operation}


def _schema(model: type[BaseModel], schemas: dict[str, Any]) -> dict[str, str]:
    """A reference to `model`, whose schema and those it needs are put into `schemas`."""
    schema = model.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    schemas.update(schema.pop("$defs", {}))
    schemas[model.__name__] = schema
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def description_route(settings: Settings) -> Route:
    """The document for the toolsets in force."""

    @functools.cache  # strangers may ask for it
    def encoded(toolsets: tuple[str, ...]) -> bytes:
        return bytes(json_reply(openapi(listed(toolsets), with_token=settings.auth_mode != "none")).body)

    async def described(_: Request) -> Response:
        return Response(encoded(toolsets_of(settings)), media_type="application/json")

    return Route("/openapi.json", described)
