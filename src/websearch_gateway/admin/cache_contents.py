"""The cache entries in the shared state: six kinds, and the facts that each entry records about itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from websearch_gateway.cache.pages import KEEP_SECONDS
from websearch_gateway.cache.result_store import Stamp
from websearch_gateway.models import StateEntry
from websearch_gateway.ports import State

Kind = Literal["answers", "questions", "web", "raw", "pages", "vectors"]

PREFIXES: dict[Kind, str] = {
    "answers": "cache/exact/",  # of search_web
    "questions": "cache/near/",  # for finding answers to other wordings
    "web": "cache/web/",  # results of web_search and search_news
    "raw": "cache/raw/",  # results of single queries of web_search_raw
    "pages": "page/",
    "vectors": "page-passages/",  # of the passages of pages
}
"""The beginning of an entry's key, by its kind."""

ABOUT_QUESTIONS: tuple[Kind, ...] = ("answers", "questions", "web", "raw")

_CLOCK_SKEW_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Content:
    """An entry: bytes of its value, seconds since it was stored, `result_store.question_name`. None if unknown."""

    key: str
    size: int
    age_seconds: float | None
    question: str | None = None


async def contents(state: State, kind: Kind, now: float) -> AsyncIterator[Content]:
    """All entries of a kind, in the order of their keys. `now` is seconds since the epoch.

    Raises:
        StateUnavailable: the state cannot be read.
    """
    async for entry in state.entries(PREFIXES[kind]):
        yield _stamped(entry, now) if kind in ABOUT_QUESTIONS else _kept(entry)


def _stamped(entry: StateEntry, now: float) -> Content:
    try:
        stamp = Stamp.model_validate_json(entry.value)
    except ValidationError:
        stamp = Stamp()
    age = None if stamp.stored is None else now - stamp.stored
    if age is not None:
        age = max(age, 0.0) if age > -_CLOCK_SKEW_SECONDS else None
    return Content(entry.key, len(entry.value), age, stamp.question)


def _kept(entry: StateEntry) -> Content:
    """Pages and their vectors share one lifetime, so the remaining lifetime gives their age."""
    age = None if entry.ttl is None else max(KEEP_SECONDS - entry.ttl, 0.0)
    return Content(entry.key, len(entry.value), age)
