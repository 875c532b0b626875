"""One gateway between programs and the web: short answers whose every claim is cited. Importing it does no work.

`Gateway` and `SyncGateway` are the way in for Python programs (docs/python.md). Rooms and layers: docs/architecture.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from websearch_gateway.entrypoints.python import Gateway, SyncGateway
    from websearch_gateway.errors import SearchError
    from websearch_gateway.models import Claim
    from websearch_gateway.results import (
        CheckedClaims,
        DocsReadResponse,
        DocsSearchResponse,
        PageContent,
        PagePassages,
        RawSearchResponse,
        SearchResponse,
        WebSearchResponse,
    )

__all__ = [
    "CheckedClaims",
    "Claim",
    "DocsReadResponse",
    "DocsSearchResponse",
    "Gateway",
    "PageContent",
    "PagePassages",
    "RawSearchResponse",
    "SearchError",
    "SearchResponse",
    "SyncGateway",
    "WebSearchResponse",
    "__version__",
]

__version__ = "0.1.0"

_HOMES = {
    "Gateway": "websearch_gateway.entrypoints.python",
    "SyncGateway": "websearch_gateway.entrypoints.python",
    "SearchError": "websearch_gateway.errors",
    "Claim": "websearch_gateway.models",
    "CheckedClaims": "websearch_gateway.results",
    "DocsReadResponse": "websearch_gateway.results",
    "DocsSearchResponse": "websearch_gateway.results",
    "PageContent": "websearch_gateway.results",
    "PagePassages": "websearch_gateway.results",
    "RawSearchResponse": "websearch_gateway.results",
    "SearchResponse": "websearch_gateway.results",
    "WebSearchResponse": "websearch_gateway.results",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
