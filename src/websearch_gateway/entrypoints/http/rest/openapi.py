"""The OpenAPI 3.1 document, made from the models that parse and render. https://spec.openapis.org/oas/v3.1.1"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from websearch_gateway import __version__
from websearch_gateway.entrypoints.http.rest.compatible_paths import TAG, compatible_paths, scope_of
from websearch_gateway.entrypoints.http.rest.endpoint import paths_of
from websearch_gateway.entrypoints.http.rest.examples import REPLIES, REQUESTS
from websearch_gateway.entrypoints.tools import Tool
from websearch_gateway.results.base import ErrorInfo

REFUSALS = {
    400: "The request is unacceptable; the message says what to change.",
    401: "There is no token, or it is not accepted.",
    403: "The token lacks the scope, or the address may not be fetched.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    429: "A rate limit or budget is exhausted; see Retry-After.",
    502: "Every upstream failed.",
    503: "Not now; see Retry-After.",
    504: "No upstream answered in time.",
}


def openapi(tools: Iterable[Tool], *, with_token: bool) -> dict[str, Any]:
    """The document for these tools and the compatible endpoints. `with_token`: callers need one."""
    schemas: dict[str, Any] = {}
    paths = {path: {"post": operation} for tool in tools for path, operation in _operations(tool, schemas)}
    scopes = {path: tool.needed_scope for tool in tools for path in paths_of(tool)}
    others = compatible_paths()
    paths |= others
    scopes |= {path: scope_of(path) for path in others}
    schemas["Error"] = {
        "type": "object",
        "required": ["error"],
        "properties": {"error": _schema(ErrorInfo, schemas)},
    }
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "websearch-gateway",
            "version": __version__,
            "summary": "Short answers from the web whose every claim is cited.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in [*dict.fromkeys(tool.toolset for tool in tools), TAG]],
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if with_token:
        document["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
        for path, methods in paths.items():
            for operation in methods.values():
                operation["security"] = [{"bearer": [scopes[path]]}, {"key": [scopes[path]]}]
    return document


def _operations(tool: Tool, schemas: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    """The operation at each path of the tool: the same except for its id."""
    operation = {
        "tags": [tool.toolset],
        "summary": tool.title,
        "description": tool.description,
        "requestBody": {"required": True, "content": _json(_schema(tool.arguments, schemas), REQUESTS.get(tool.name))},
        "responses": {
            "200": {
                "description": "The result.",
                "content": _json(_schema(tool.result, schemas), REPLIES.get(tool.name)),
            },
            **{
                str(status): {"description": text, "content": _json({"$ref": "#/components/schemas/Error"})}
                for status, text in REFUSALS.items()
            },
        },
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


def _json(schema: dict[str, Any], example: Any = None) -> dict[str, Any]:
    shown = {} if example is None else {"examples": {"typical": {"value": example}}}
    return {"application/json": {"schema": schema, **shown}}
