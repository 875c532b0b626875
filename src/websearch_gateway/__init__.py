"""One gateway between programs and the web: short answers whose every claim is cited. Importing it does no work.

`Gateway` and `SyncGateway` are the way in for Python programs (docs/python.md). Rooms and layers: docs/architecture.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from websearch_gateway.entrypoints.python import Gateway, SyncGateway
    from websearch_gateway.errors import SearchError
    from websearch_gateway.models import Claim

__all__ = ["Claim", "Gateway", "SearchError", "SyncGateway", "__version__"]

__version__ = "0.1.0"

_HOMES = {
    "Gateway": "websearch_gateway.entrypoints.python",
    "SyncGateway": "websearch_gateway.entrypoints.python",
    "SearchError": "websearch_gateway.errors",
    "Claim": "websearch_gateway.models",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
