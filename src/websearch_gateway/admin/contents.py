"""The entries of the caches in the state, by kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from websearch_gateway.cache.clearing import Stamp
from websearch_gateway.cache.judgements import JUDGED
from websearch_gateway.cache.pages import KEEP_SECONDS
from websearch_gateway.ports import State

Kind = Literal["answers", "questions", "web", "raw", "judgements", "pages"]

PREFIXES: dict[Kind, str] = {
    "answers": "cache/exact/",  # of search_web
    "questions": "cache/near/",  # for finding answers to other wordings
    "web": "cache/web/",  # results of web_search and search_news
    "raw": "cache/raw/",  # results of single queries of web_search_raw
    "judgements": JUDGED,  # of claims, by a model
    "pages": "page/",
}
"""The beginning of an entry's key, by its kind."""

ABOUT_QUESTIONS: tuple[Kind, ...] = ("answers", "questions", "web", "raw")

_CLOCK_SKEW_SECONDS = 60.0
"""An entry that is stored so far in the future (seconds) is of a wrong clock, not of another machine's."""


@dataclass(frozen=True, slots=True)
class Content:
    """An entry: bytes of its value, seconds since it was stored, `results.question_name`. None if unknown."""

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
        stamp = Stamp()
        if kind in ABOUT_QUESTIONS:
            with suppress(ValidationError):
                stamp = Stamp.model_validate_json(entry.value)
        age = _age(stamp, now)
        if kind == "pages" and entry.ttl is not None:
            # All pages have one lifetime, so the rest of it gives their age.
            age = max(0.0, KEEP_SECONDS - entry.ttl)
        yield Content(entry.key, len(entry.value), age, stamp.question)


def _age(stamp: Stamp, now: float) -> float | None:
    """Seconds; None without a moment, or with one that is too far in the future."""
    if stamp.stored is None or stamp.stored - now >= _CLOCK_SKEW_SECONDS:
        return None
    return max(0.0, now - stamp.stored)
