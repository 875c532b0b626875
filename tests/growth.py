"""How the time of a function grows with its text.

Growth is counted, not judged by the clock: a function reads a text and one four times as long, in CPU time of this
thread, and the ratio of the two must stay near four. A quadratic function comes near sixteen.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

Text = str | Callable[[int], str]
"""Makes a text of about so many characters; a string is repeated."""

LARGEST_RATIO = 6.0
SIZES = (4_000, 16_000, 64_000, 256_000)
MEASURABLE_SECONDS = 0.0015
NEGLIGIBLE_SECONDS = 0.01
"""A function that takes less for the largest size is too quick for its growth to matter: memory decides there."""
ATTEMPTS = 6


def growth(function: Callable[[str], object], text: Text, sizes: Sequence[int] = SIZES) -> float:
    """How much longer a text takes than a fourth of it, at the smallest size at which that can be measured.

    A step between two sizes, such as that from a text in one piece to one in many, is not growth: that goes on.
    """
    function(text_of(text, 100))  # what only the first call costs
    ratio = 1.0
    for shorter, longer in pairwise(sizes):
        seconds = _seconds(function, text_of(text, longer))
        if seconds >= (NEGLIGIBLE_SECONDS if longer == sizes[-1] else MEASURABLE_SECONDS):
            ratio = _ratio(function, text, (shorter, longer), seconds)
            if ratio <= LARGEST_RATIO:
                return ratio
    return ratio


def text_of(text: Text, size: int) -> str:
    """A text of `size` characters, or about so many."""
    return text(size) if callable(text) else (text * (size // len(text) + 1))[:size]


@contextmanager
def without_collector() -> Iterator[None]:
    """A block in which the garbage collector does not run, whose time depends on what other tests left."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _ratio(function: Callable[[str], object], text: Text, sizes: tuple[int, int], many: float) -> float:
    """The best of several, but only as many as it takes; `many` is what the larger size took once."""
    few = math.inf
    for _ in range(ATTEMPTS):
        few = min(few, _seconds(function, text_of(text, sizes[0])))
        if many <= LARGEST_RATIO * few:
            break
        many = min(many, _seconds(function, text_of(text, sizes[1])))
    return many / few


def _seconds(function: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    function(text)
    return time.thread_time() - began
