"""The table of compatible endpoints, and the lookup in it."""

from __future__ import annotations

from starlette.types import Scope

from websearch_gateway.entrypoints.http.compatible.base import Compatible
from websearch_gateway.entrypoints.http.compatible.openai_api.chat import CHAT
from websearch_gateway.entrypoints.http.compatible.openai_api.models import MODELS
from websearch_gateway.entrypoints.http.compatible.openai_api.responses import RESPONSES
from websearch_gateway.entrypoints.http.compatible.openwebui import OPENWEBUI
from websearch_gateway.entrypoints.http.compatible.searxng import SEARXNG
from websearch_gateway.entrypoints.http.compatible.searxng_config import SEARXNG_CONFIG
from websearch_gateway.entrypoints.http.compatible.tavily_extract import EXTRACT
from websearch_gateway.entrypoints.http.compatible.tavily_other import OTHERS
from websearch_gateway.entrypoints.http.compatible.tavily_search import SEARCH

COMPATIBLE: tuple[Compatible, ...] = (
    SEARCH,  # before SearXNG: a JSON body at /search is Tavily's
    EXTRACT,
    *OTHERS,
    SEARXNG,
    *SEARXNG_CONFIG,
    *OPENWEBUI,
    RESPONSES,
    CHAT,
    MODELS,
)

BY_PATH: dict[str, tuple[Compatible, ...]] = {
    path: tuple(row for row in COMPATIBLE if path in row.paths)
    for path in dict.fromkeys(path for row in COMPATIBLE for path in row.paths)
}


def compatible_endpoint(scope: Scope) -> Compatible | None:
    """The first row that serves the request, if any does."""
    for row in BY_PATH.get(scope["path"], ()):
        if scope["method"] in row.methods and row.serves(scope):
            return row
    return None
