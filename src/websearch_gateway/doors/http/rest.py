"""The REST twin of `search_web`, for those who speak no MCP, and its OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway import __version__
from websearch_gateway.doors.auth.scopes import scope_for
from websearch_gateway.doors.http.authentication import caller_of, require_scope
from websearch_gateway.doors.http.replies import failure, json_reply, refusal
from websearch_gateway.doors.lazy import LazyGateway
from websearch_gateway.doors.tools import Tool
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.ports import no_progress
from websearch_gateway.wire.base import ErrorInfo

Endpoint = Callable[[Request], Awaitable[Response]]

PATH = "/v1/search"
_REFUSALS = {
    400: "The request is unacceptable; the message says what to change.",
    401: "There is no token, or it is not accepted.",
    403: "The token lacks the scope `search`.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    429: "A rate limit or budget is exhausted; see Retry-After.",
    502: "Every upstream failed.",
    503: "Not now; see Retry-After.",
    504: "No upstream answered in time.",
}


def rest_endpoint(tool: Tool, gateway: LazyGateway) -> Endpoint:
    """`tool` as an HTTP endpoint: the body holds its arguments, the reply its result or `{"error": ...}`."""

    async def call(request: Request) -> Response:
        require_scope(request, scope_for(tool.toolset))
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            return refusal(415, "VALIDATION", "Send JSON, with Content-Type: application/json.")
        try:
            arguments = tool.parse(_json_object(await request.body()))
            result = await tool.run(await gateway.get(), arguments, caller_of(request), no_progress)
        except Exception as error:  # the door: whatever happens inside, the client gets a typed error
            return failure(error)
        return json_reply(result.model_dump(mode="json", by_alias=True))

    return call


def openapi_endpoint(tool: Tool, *, with_token: bool) -> Endpoint:
    """Serves the description of `rest_endpoint(tool)`."""
    described = openapi(tool, with_token=with_token)

    async def describe(_: Request) -> Response:
        return json_reply(described)

    return describe


def openapi(tool: Tool, *, with_token: bool) -> dict[str, Any]:
    """The OpenAPI 3.1 description, made of the very models that parse and render."""
    schemas: dict[str, Any] = {}
    error = {"type": "object", "required": ["error"], "properties": {"error": _schema(ErrorInfo, schemas)}}
    operation: dict[str, Any] = {
        "operationId": tool.name,
        "summary": tool.title,
        "description": tool.description,
        "requestBody": {"required": True, "content": _json(_schema(tool.arguments, schemas))},
        "responses": {
            "200": {"description": "The answer.", "content": _json(_schema(tool.result, schemas))},
            **{
                str(status): {"description": text, "content": _json({"$ref": "#/components/schemas/Error"})}
                for status, text in _REFUSALS.items()
            },
        },
    }
    schemas["Error"] = error
    components: dict[str, Any] = {"schemas": schemas}
    if with_token:
        components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
        operation["security"] = [{"bearer": [scope_for(tool.toolset)]}]
    return {
        "openapi": "3.1.0",
        "info": {"title": "websearch-gateway", "version": __version__},
        "paths": {PATH: {"post": operation}},
        "components": components,
    }


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise SearchValidationError("The body is not JSON.") from None
    if not isinstance(found, dict):
        raise SearchValidationError("The body must be a JSON object.")
    return found


def _schema(model: type[BaseModel], schemas: dict[str, Any]) -> dict[str, str]:
    """A reference to `model`, whose schema and those it needs are put into `schemas`."""
    schema = model.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    schemas.update(schema.pop("$defs", {}))
    schemas[model.__name__] = schema
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
