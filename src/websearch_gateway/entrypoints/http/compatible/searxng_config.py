"""SearXNG `/config`, `/healthz` and `/autocompleter`. https://docs.searxng.org/admin/api.html"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import PlainTextResponse

from websearch_gateway import __version__
from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given
from websearch_gateway.entrypoints.http.compatible.searxng import CATEGORIES, searxng_error
from websearch_gateway.models import Caller

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


async def config(gateway: Gateway, _: Given, __: Caller) -> Any:
    """The configured raw providers as engines."""
    names = list(gateway.web.selection.searchers)
    return {
        "instance_name": "websearch-gateway",
        "version": __version__,
        "categories": list(CATEGORIES),
        "engines": [_engine(name, list(CATEGORIES)) for name in names],
        "plugins": [],
        "locales": {"en": "English"},
        "safe_search": 1,
        "default_locale": "",
        "autocomplete": "",
    }


def _engine(name: str, categories: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "categories": categories,
        "shortcut": name[:3],
        "enabled": True,
        "paging": True,
        "languages": [],
        "language_support": True,
        "regions": [],
        "safesearch": True,
        "time_range_support": True,
        "timeout": 10.0,
    }


async def health(_: Gateway, __: Given, ___: Caller) -> Any:
    """The reply of SearXNG."""
    return PlainTextResponse("OK")


async def suggestions(_: Gateway, given: Given, __: Caller) -> Any:
    """No suggestions, in the form of OpenSearch."""
    return [str(given.get("q", "")), []]


def _row(name: str, paths: tuple[str, ...], answer: Any) -> Compatible:
    return Compatible(
        name=f"searxng {name}",
        paths=paths,
        methods=("GET",),
        scope="search",
        error_shape=searxng_error,
        answer=answer,
        basic=True,
    )


SEARXNG_CONFIG = (
    _row("config", ("/config", "/searxng/config"), config),
    _row("healthz", ("/searxng/healthz",), health),
    _row("autocompleter", ("/autocompleter", "/searxng/autocompleter"), suggestions),
)
