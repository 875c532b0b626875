"""`/openapi.json`, and `/docs`, which shows it to a person without scripts or external resources."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.entrypoints.http.pages.html import Html, joined, tag
from websearch_gateway.entrypoints.http.pages.page import document, page_reply
from websearch_gateway.entrypoints.http.replies import json_reply

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
    blocks = [_operation(*first, schemas, also=[path for path, _, _ in others]) for first, *others in places.values()]
    return document(f"{info['title']} HTTP API", header, tag("main", *blocks))


def _operation(
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
