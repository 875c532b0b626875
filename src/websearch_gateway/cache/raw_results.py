"""Results of single queries of `web_search_raw` as a kind of cached results."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from pydantic import Field

from websearch_gateway.cache.exact_cache import ResultKind
from websearch_gateway.results.answer import CacheMatch, CacheState
from websearch_gateway.results.base import WireModel
from websearch_gateway.text.urls import is_web_address


class RawResult(WireModel):
    """The result of one query. `provider` and `result` are as in `RawQuery`, without errors."""

    provider: str = ""
    result: dict[str, Any] = Field(default_factory=dict)
    cache: CacheState = "miss"
    cache_match: CacheMatch | None = None
    age_seconds: float = 0.0
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()


def unbilled(found: RawResult) -> RawResult:
    """`found` without its price: only the first caller is billed."""
    return found.model_copy(update={"cost_usd": 0.0})


def _is_valid(found: RawResult) -> bool:
    """Whether the result has items, each with a web URL."""
    items = found.result.get("items")
    if not isinstance(items, list) or not items:
        return False
    return all(isinstance(item, dict) and is_web_address(str(item.get("link"))) for item in items)


RAW_RESULTS: ResultKind[RawResult] = ResultKind(
    name="raw",
    prefix="cache/raw/",
    model=RawResult,
    is_valid=_is_valid,
    unbilled=unbilled,
    cost_usd=attrgetter("cost_usd"),
    most_in_memory=128,  # each has up to fifty items
)
