"""What the author of a page may make of work: styles beyond that are hostile, and only short texts are cached."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

LONGEST_CACHED = 300


class HostileStylesError(Exception):
    """The styles of a page are more work than those of any honest page, so what they hide is unknown."""


def cached_if_short(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Cache the results of the last `most` texts, but of no long ones: the author of a page chooses their lengths."""

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(text: str) -> T:
            return cached(text) if len(text) <= LONGEST_CACHED else function(text)

        return call

    return decorated
