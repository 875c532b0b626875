"""The compatible endpoints in the OpenAPI document: where they are and what a request looks like.

The API that an endpoint is compatible with tells what its fields mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from websearch_gateway.entrypoints.http.compatible.base import Compatible
from websearch_gateway.entrypoints.http.compatible.table import BY_PATH
from websearch_gateway.entrypoints.http.compatible.tavily_other import not_offered

TAG = "compatible"
_QUESTION = "How tall is the Eiffel Tower?"
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"

REQUESTS: Mapping[str, Mapping[str, Any]] = {
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
            method.lower(): _operation(path, method, [row for row in rows if method in row.methods])
            for method in sorted({method for row in rows for method in row.methods})
        }
        for path, rows in BY_PATH.items()
        if path != "/" and rows[0].answer is not not_offered
    }


def scope_of(path: str) -> str:
    """The scope that a token needs at a compatible path."""
    return BY_PATH[path][0].scope


def _operation(path: str, method: str, rows: Iterable[Compatible]) -> dict[str, Any]:
    names = [row.name for row in rows]
    operation: dict[str, Any] = {
        "tags": [TAG],
        "operationId": re.sub(r"\W", "_", f"{method.lower()}{path}"),
        "summary": " or ".join(names),
        "description": "In the format of that API: docs/compatible-apis.md says what is mapped and what is ignored.",
        "responses": {
            "200": {"description": "As that API replies.", "content": {_JSON: {}}},
            "default": {"description": "An error in the shape of that API.", "content": {_JSON: {}}},
        },
    }
    examples = {_media_type(name): REQUESTS[name] for name in names if name in REQUESTS}
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
