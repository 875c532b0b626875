"""Shared parts of the Tavily endpoints. https://docs.tavily.com/documentation/api-reference/introduction"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from websearch_gateway.models import Freshness
from websearch_gateway.results.base import ErrorInfo

BUCKETS: dict[str, Freshness] = {
    "day": "day",
    "d": "day",
    "week": "week",
    "w": "week",
    "month": "month",
    "m": "month",
    "year": "year",
    "y": "year",
}


def tavily_error(error: ErrorInfo, _: int) -> Any:
    """`{"detail": {"error": text}}`. No `error.code`: @tavily/core reads any as the limit of callers without a key."""
    return {"detail": {"error": error.message}}


def request_id() -> str:
    """A new id for a request."""
    return str(uuid4())


def within_days(days: int) -> Freshness:
    """The narrowest period that covers this many days."""
    return next((name for most, name in _BUCKET_DAYS if days <= most), "year")


_BUCKET_DAYS: tuple[tuple[int, Freshness], ...] = ((1, "day"), (7, "week"), (31, "month"))
