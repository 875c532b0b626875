"""The kinds of results that are cached, and when one of them is worth keeping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from websearch_gateway.base import is_web_address
from websearch_gateway.results import (
    CacheMatch,
    CacheState,
    SearchResponse,
    Usage,
    WebResult,
    WebSearchResponse,
    WireModel,
)

R = TypeVar("R", bound=WireModel)


class RawResult(WireModel):
    """The result of one query. `provider` and `result` are as in `RawQuery`, without errors."""

    provider: str = ""
    result: dict[str, Any] = Field(default_factory=dict)
    cache: CacheState = "miss"
    cache_match: CacheMatch | None = None
    age_seconds: float = 0.0
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()


KindName = Literal["answers", "web", "raw"]


@dataclass(frozen=True, slots=True)
class ResultKind(Generic[R]):
    """The parts of a cache that depend on the kind of its results.

    Attributes:
        name: the kind in statistics and in `cache_clear`.
        prefix: the beginning of its state keys.
        model: the type of the results.
        is_valid: whether a result is worth keeping. It checks all that readers rely on, since the state is untrusted.
        unbilled: the fields without a price, for all callers but the first, who paid for the result.
    """

    name: KindName
    prefix: str
    model: type[R]
    is_valid: Callable[[R], bool]
    unbilled: Mapping[str, object] = field(default_factory=lambda: {"cost_usd": 0.0})

    def recalled(self, response: R) -> R | None:
        """`response` as the cache serves it, or None if it is not worth keeping."""
        if not self.is_valid(response):
            return None
        return self.free(response).model_copy(update={"cache": "exact", "cache_match": None})

    def free(self, response: R) -> R:
        """`response` without its price."""
        return response.model_copy(update=self.unbilled)


def _is_valid_answer(response: SearchResponse) -> bool:
    pages = [citation.url for citation in response.citations]
    pages += [source.url for source in response.sources]
    if response.error is not None or not pages or not all(map(is_web_address, pages)):
        return False
    for citation in response.citations:
        places = [(citation.start_index, citation.end_index)]
        places += [(span.start_index, span.end_index) for span in citation.spans]
        if not all(0 <= start <= end <= len(response.text) for start, end in places):
            return False
    return True


ANSWERS: ResultKind[SearchResponse] = ResultKind(
    name="answers",
    prefix="cache/exact/",
    model=SearchResponse,
    is_valid=_is_valid_answer,
    unbilled={"cost_usd": 0.0, "usage": Usage()},
)


def _are_valid_results(response: WebSearchResponse) -> bool:
    if response.error is not None or not response.results:
        return False
    return all(map(_is_valid_result, response.results))


def _is_valid_result(result: WebResult) -> bool:
    has_content = bool(result.page_content)
    return is_web_address(result.link) and has_content and 0 <= result.relevance_score <= 1


WEB_RESULTS: ResultKind[WebSearchResponse] = ResultKind(
    name="web",
    prefix="cache/web/",
    model=WebSearchResponse,
    is_valid=_are_valid_results,
)


def _is_valid_raw(raw: RawResult) -> bool:
    items = raw.result.get("items")
    if not isinstance(items, list) or not items:
        return False
    return all(isinstance(item, dict) and is_web_address(str(item.get("link"))) for item in items)


RAW_RESULTS: ResultKind[RawResult] = ResultKind(
    name="raw",
    prefix="cache/raw/",
    model=RawResult,
    is_valid=_is_valid_raw,
)
