"""The tools as HTTP endpoints, for clients without MCP, and their description: `/openapi.json`, made from the models
that parse and render (https://spec.openapis.org/oas/v3.1.1), and `/docs`, which shows it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from websearch_gateway import __version__
from websearch_gateway.entrypoints.http.authentication import caller_of, require_scope
from websearch_gateway.entrypoints.http.compatible import BY_PATH
from websearch_gateway.entrypoints.http.compatible.base import Compatible
from websearch_gateway.entrypoints.http.compatible.tavily import not_offered
from websearch_gateway.entrypoints.http.middleware import json_object
from websearch_gateway.entrypoints.http.replies import (
    Html,
    document,
    failure,
    joined,
    json_reply,
    page_reply,
    refusal,
    tag,
)
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.entrypoints.tools import Tool
from websearch_gateway.ports import no_progress
from websearch_gateway.results import ErrorInfo

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


TAG = "compatible"
_QUESTION = "How tall is the Eiffel Tower?"
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"

COMPATIBLE_REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "tavily search": {"query": _QUESTION, "max_results": 3},
    "tavily extract": {"urls": ["https://en.wikipedia.org/wiki/Eiffel_Tower"]},
    "searxng search": {"q": _QUESTION, "format": "json"},
    "open webui search": {"query": _QUESTION, "count": 3},
    "open webui loader": {"urls": ["https://en.wikipedia.org/wiki/Eiffel_Tower"]},
    "openai responses": {"model": "search_web", "input": _QUESTION, "tools": [{"type": "web_search"}]},
    "openai chat completions": {"model": "search_web", "messages": [{"role": "user", "content": _QUESTION}]},
}
"""By name of endpoint; one without a row takes nothing that matters."""


def compatible_paths() -> dict[str, dict[str, Any]]:
    """The path items of the compatible endpoints, without `/`, which is the status page, and without refused ones."""
    return {
        path: {
            method.lower(): _compatible_operation(path, method, [row for row in rows if method in row.methods])
            for method in sorted({method for row in rows for method in row.methods})
        }
        for path, rows in BY_PATH.items()
        if path != "/" and rows[0].answer is not not_offered
    }


def scope_of(path: str) -> str:
    """The scope that a token needs at a compatible path."""
    return BY_PATH[path][0].scope


def _compatible_operation(path: str, method: str, rows: Iterable[Compatible]) -> dict[str, Any]:
    names = [row.name for row in rows]
    operation: dict[str, Any] = {
        "tags": [TAG],
        "operationId": re.sub(r"\W", "_", f"{method.lower()}{path}"),
        "summary": " or ".join(names),
        "description": "In the format of that API: docs/compatible-apis.md says what is mapped and what is ignored.",
        "responses": {
            "200": {"description": "A reply in the format of that API.", "content": {_JSON: {}}},
            "default": {"description": "An error in the shape of that API.", "content": {_JSON: {}}},
        },
    }
    examples = {_media_type(name): COMPATIBLE_REQUESTS[name] for name in names if name in COMPATIBLE_REQUESTS}
    if method == "GET":
        fields = next(iter(examples.values()), {})
        operation["parameters"] = [
            {"name": name, "in": "query", "required": True, "schema": {"type": "string"}, "example": value}
            for name, value in fields.items()
        ]
    elif examples:
        content = {
            kind: {"schema": {"type": "object"}, "examples": {"typical": {"value": value}}}
            for kind, value in examples.items()
        }
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _media_type(name: str) -> str:
    return _FORM if name.startswith("searxng") else _JSON


_TOWER = "https://en.wikipedia.org/wiki/Eiffel_Tower"
_CLAIM, _LINK = "The Eiffel Tower is 330 metres tall", f"([Eiffel Tower]({_TOWER}))"
_ANSWER = f"{_CLAIM} {_LINK}."
_PLACE = {"startIndex": _ANSWER.index(_LINK), "endIndex": _ANSWER.index(_LINK) + len(_LINK)}
_PROOF = {
    "quote": "The tower is 330 metres tall.",
    "quoteUrl": f"{_TOWER}#:~:text=The%20tower%20is%20330%20metres%20tall.",
    "support": "paraphrase",
}
_CITATION = {
    "url": _TOWER,
    "title": "Eiffel Tower",
    "textSnippet": f"{_CLAIM}.",
    **_PLACE,
    **_PROOF,
    "rank": 1,
    "spans": [_PLACE | _PROOF],
}
_CHECKED = {
    "claim": f"{_CLAIM}.",
    "verdict": "supported",
    "quote": _PROOF["quote"],
    "url": _TOWER,
    "quoteUrl": _PROOF["quoteUrl"],
}
_FOUND = {
    "title": "Eiffel Tower",
    "link": _TOWER,
    "snippet": "The Eiffel Tower is a wrought-iron tower in Paris.",
    "page_content": "# Eiffel Tower\n\nThe tower is 330 metres tall ...",
    "provider": "brave",
    "published_date": "2026-03-01",
    "relevance_score": 0.91,
}

REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "search_web": {"query": _QUESTION, "maxResults": 3},
    "check_claims": {"claims": [{"claim": f"{_CLAIM}.", "urls": [_TOWER]}]},
    "web_search": {"query": "sqlite write-ahead log checkpoint", "maxResults": 3},
    "search_news": {"query": "storm warnings north sea", "maxResults": 3},
    "web_search_raw": {"query": ["eiffel tower height", "tokyo tower height"], "resultsPerQuery": 5},
    "get_content": {"url": _TOWER, "maxChars": 4000},
    "read_from_page": {"url": _TOWER, "query": "How tall is it?", "maxResults": 2},
    "search_docs": {"query": "how to set a timeout", "limit": 3},
    "read_docs": {"url": "https://docs.example.org/guide/timeouts", "maxTokens": 1000},
    "add_docs": {"url": "https://docs.example.org/", "name": "example"},
    "update_docs": {"site": "example"},
    "delete_docs": {"site": "example"},
    "docs_status": {"site": "example"},
    "search_similar": {"query": _QUESTION, "limit": 3},
    "search_cached": {"query": _QUESTION},
    "cache_clear": {"olderThanHours": 24.0},
    "cache_migrate": {"target": "sqlite:///new.db"},
}
"""By name of tool; one without a row takes no arguments."""

REPLIES: Mapping[str, Mapping[str, Any]] = {
    "search_web": {"text": _ANSWER, "citations": [_CITATION], "cache": "miss", "costUsd": 0.0104},
    "check_claims": {"claims": [_CHECKED], "costUsd": 0.0},
    "web_search": {"results": [_FOUND], "cache": "miss", "costUsd": 0.005},
    "search_news": {"results": [_FOUND], "cache": "exact", "costUsd": 0.0},
    "get_content": {
        "url": _TOWER,
        "title": "Eiffel Tower",
        "page_content": "# Eiffel Tower\n\n...",
        "nextOffset": 3980,
    },
    "search_cached": {"found": False},
    "cache_clear": {"removed": 12, "removedByKind": {"answers": 12}},
}
"""By name of tool, for those whose result is worth a look."""

Toolsets = tuple[str, ...]


def description_routes(
    describe: Callable[[Toolsets], Mapping[str, Any]], toolsets: Callable[[], Toolsets]
) -> list[BaseRoute]:
    """The document for the toolsets in force, as JSON and as a page."""

    @functools.cache  # strangers may ask for it
    def encoded(toolsets: Toolsets) -> bytes:
        return bytes(json_reply(describe(toolsets)).body)

    @functools.cache
    def page(toolsets: Toolsets) -> str:
        return rendered(describe(toolsets))

    async def as_json(_: Request) -> Response:
        return Response(encoded(toolsets()), media_type="application/json")

    async def as_page(_: Request) -> Response:
        return page_reply(page(toolsets()))

    return [Route("/openapi.json", as_json), Route("/docs", as_page)]


def rendered(described: Mapping[str, Any]) -> str:
    """The document as a page: one block per operation, with its fields, an example, and a command to try it.

    A tool at two paths has one block, at the shorter path.
    """
    info = described["info"]
    header = tag(
        "header",
        tag("p", f"{info['title']} {info['version']}", class_="name"),
        tag("h1", "HTTP API"),
        tag("p", tag("a", "OpenAPI 3.1 document", href="/openapi.json"), class_="facts"),
    )
    schemas = described["components"]["schemas"]
    places: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            name = operation["operationId"].removesuffix("_short")
            places.setdefault(name, []).append((path, method, operation))
    blocks = [
        _shown_operation(*first, schemas, also=[path for path, _, _ in others]) for first, *others in places.values()
    ]
    return document(f"{info['title']} HTTP API", header, tag("main", *blocks))


def _shown_operation(
    path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any], also: Iterable[str]
) -> Html:
    about = [tag("p", operation["description"])]
    about += [tag("p", "Also at ", tag("code", f"{method.upper()} {other}"), ".", class_="note") for other in also]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is not None and "$ref" in content["schema"]:
        about += [tag("h2", "Body"), _fields(_resolved(content["schema"], schemas), schemas)]
    about += [tag("h2", "Try it"), tag("pre", _command(path, method, operation))]
    reply = operation["responses"]["200"]["content"].get("application/json", {})
    if shown := _example(reply):
        about += [tag("h2", "Reply, cut short"), tag("pre", json.dumps(shown, indent=2, ensure_ascii=False))]
    title = tag("summary", tag("code", f"{method.upper()} {path}"), joined(" ", operation["summary"]))
    return tag("section", tag("details", title, *about))


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Html:
    required = schema.get("required", ())
    rows = [
        tag(
            "tr",
            tag("th", tag("code", name)),
            tag("td", _kind(_resolved(field, schemas)) + (", required" if name in required else "")),
            tag("td", field.get("description", ""), class_="prose"),
        )
        for name, field in schema.get("properties", {}).items()
    ]
    return tag("table", tag("tbody", *rows)) if rows else tag("p", "An empty object.", class_="note")


def _kind(schema: Mapping[str, Any]) -> str:
    """The type of a field in a word or two."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_kind(option) for option in _present(schema["anyOf"]))
    return str(schema.get("type", "object"))


def _present(options: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [option for option in options if option.get("type") != "null"]


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schemas[schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema
    return found


def _example(content: Mapping[str, Any]) -> Any:
    return next((one["value"] for one in content.get("examples", {}).values()), None)


def _command(path: str, method: str, operation: Mapping[str, Any]) -> str:
    asked = urlencode({one["name"]: one["example"] for one in operation.get("parameters", ())})
    parts = [f"curl -sS 'http://127.0.0.1:8080{path}?{asked}'" if asked else f"curl -sS http://127.0.0.1:8080{path}"]
    if operation.get("security"):
        parts.append('-H "Authorization: Bearer $TOKEN"')
    if method == "post":
        parts += _body(operation.get("requestBody", {}).get("content", {}))
    return " \\\n    ".join(parts)


def _body(contents: Mapping[str, Any]) -> list[str]:
    """The options that send an example: JSON, unless a form alone is taken."""
    if contents and "application/json" not in contents:
        (form,) = contents.values()
        return [f"--data-urlencode {_quoted(f'{name}={value}')}" for name, value in _example(form).items()]
    example = _example(contents["application/json"]) if contents else None
    return ["-H 'Content-Type: application/json'", f"-d {_quoted(json.dumps(example or {}, ensure_ascii=False))}"]


def _quoted(text: str) -> str:
    """`text` as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
