"""Tavily's other endpoints: `GET /usage`, which clients use to check a key, and endpoints that the gateway lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given
from websearch_gateway.entrypoints.http.compatible.tavily import tavily_error
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Caller

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


async def usage(_: Gateway, __: Given, ___: Caller) -> Any:
    """No plan and no credits: limits and budgets are the gateway's own."""
    return {
        "key": {"usage": 0, "limit": None},
        "account": {"current_plan": "websearch-gateway", "plan_usage": 0, "plan_limit": None},
    }


async def not_offered(_: Gateway, __: Given, ___: Caller) -> Any:
    """Reply that it is not supported, in a form that the SDKs pass on."""
    raise SearchValidationError("This gateway searches and extracts; it does not crawl, map or research.")


OTHERS = (
    Compatible(
        name="tavily usage",
        paths=("/usage", "/tavily/usage"),
        methods=("GET",),
        scope="search",
        error_shape=tavily_error,
        answer=usage,
    ),
    Compatible(
        name="tavily crawl, map and research",
        paths=tuple(f"{prefix}/{name}" for prefix in ("", "/tavily") for name in ("crawl", "map", "research")),
        methods=("POST",),
        scope="search",
        error_shape=tavily_error,
        answer=not_offered,
        key_in_body=True,
    ),
)
