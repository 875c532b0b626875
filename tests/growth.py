"""How the time of a function grows with its text.

The measure is a ratio, not a time: a function reads a text and one four times as long, and the ratio of the CPU times
of this thread must stay near four. That of a quadratic function comes near sixteen.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

Text = str | Callable[[int], str]
"""A function that makes a text of about so many characters, or a string to repeat."""

LARGEST_RATIO = 8.0
"""Halfway, as a factor, between four and sixteen: on a busy machine linear functions come near seven."""
SIZES = (4_000, 16_000, 64_000, 256_000)
MEASURABLE_SECONDS = 0.0015
NEGLIGIBLE_SECONDS = 0.01
"""Below this time for the largest size the growth does not matter, and memory effects disturb its measurement."""
ATTEMPTS = 12


def growth(function: Callable[[str], object], text: Text, sizes: Sequence[int] = SIZES) -> float:
    """The ratio of the times for a text and a quarter of it, at the smallest size at which it can be measured.

    If that ratio is too large, larger sizes decide: a single step between two sizes is not growth.
    """
    function(text_of(text, 100))  # exclude the costs of the first call
    ratio = 1.0
    for shorter, longer in pairwise(sizes):
        seconds = _seconds(function, text_of(text, longer))
        if seconds >= (NEGLIGIBLE_SECONDS if longer == sizes[-1] else MEASURABLE_SECONDS):
            ratio = _ratio(function, text, (shorter, longer), seconds)
            if ratio <= LARGEST_RATIO:
                return ratio
    return ratio


def text_of(text: Text, size: int) -> str:
    """A text of about `size` characters."""
    return text(size) if callable(text) else (text * (size // len(text) + 1))[:size]


@contextmanager
def without_collector() -> Iterator[None]:
    """A block without garbage collection, whose time would depend on objects of other tests."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _ratio(function: Callable[[str], object], text: Text, sizes: tuple[int, int], many: float) -> float:
    """The ratio of the best times of several attempts, until it is small. `many` is a first time for `sizes[1]`."""
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
