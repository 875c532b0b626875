"""How processes tell each other that entries are cleared.

An entry may live only in the memory of another process, so clearing leaves a mark in the state.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection

from pydantic import BaseModel, FiniteFloat

from websearch_gateway.ports import State


class Stamp(BaseModel):
    """The metadata of every entry: when it was stored (seconds since the epoch), and its `question_name`."""

    stored: FiniteFloat | None = None
    question: str | None = None


CLEARED = "cache/cleared/"
"""The beginning of the state keys of marks. Entries that are only in a process's memory go by these when the cache is
cleared: a mark is a moment (seconds since the epoch), and what was stored before it is gone."""

_EVERYTHING = "all"

_MARK_SECONDS = 30 * 86_400.0
"""Thirty times as long as an entry is usable by default: a process drops a cleared entry when it next looks at it."""


async def mark_cleared(state: State, before: float, questions: Collection[str] | None) -> None:
    """Tell all processes that the entries stored `before` a moment are cleared: all, or those of these questions.

    Args:
        questions: as from `question_name`; None for all.

    Raises:
        StateUnavailable: the state failed.
    """
    for name in (_EVERYTHING,) if questions is None else questions:
        prefix = f"{CLEARED}{name}/"
        # A key of its own, since another process may clear at this moment too: the later mark counts.
        await state.put(f"{prefix}{before!r}", repr(before).encode(), _MARK_SECONDS)
        for key in [key async for key, mark in state.scan(prefix) if _moment(mark) < before]:
            await state.delete(key)


async def is_cleared(state: State, stored: float, question: str | None) -> bool:
    """Whether a mark clears the entry about `question` that was stored at the moment `stored`.

    Raises:
        StateUnavailable: the state failed.
    """
    for name in (_EVERYTHING, question):
        async for _, mark in state.scan(f"{CLEARED}{name}/"):
            if stored <= _moment(mark):
                return True
    return False


def _moment(mark: bytes) -> float:
    """The moment of a mark; long ago if it is unreadable."""
    try:
        return float(mark)
    except ValueError:
        return -math.inf


def question_name(text: str) -> str:
    """The name shared by all entries about a question, with any parameters: a digest that ignores letter case."""
    return hashlib.blake2b(
        text.casefold().encode("utf-8", "surrogatepass"), digest_size=16
    ).hexdigest()
