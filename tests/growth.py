"""How the work of a function grows with its text.

A function reads a text and one four times as long. Its work is counted: the lines of Python that it runs are the
same on every machine. What a single call into C does (a pattern, `in`, a parser) can't be counted, so its CPU time is
compared too, by a limit that noise does not reach.
"""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

Text = str | Callable[[int], str]
"""A function that makes a text of about so many characters, or a string to repeat."""

LONGER = 4
MOST_WORK = 8.0
"""Linear work grows by 4, `n log n` by 5, quadratic work by 16."""
MOST_TIME = 11.0
"""The time of linear work grows by 4 to 6, as large objects miss the caches; that of quadratic work by 16."""
COUNTED = (500, 4_200, 16_000)
TIMED = (4_200, 32_000)
"""Characters of the shorter text, some more than a limit that many functions have. The next number decides when one
shows too much: one step is not growth."""
NEGLIGIBLE_LINES = 5_000
NEGLIGIBLE_SECONDS = 0.005
"""Below this for the longer text the growth does not matter."""
ATTEMPTS = 40


def too_much(
    function: Callable[[str], object],
    text: Text,
    counted: Sequence[int] = COUNTED,
    timed: Sequence[int] = TIMED,
) -> str | None:
    """None for a linear function, else what grows too fast: `lines: 250 times`."""
    function(text_of(text, 100))  # exclude the costs of the first call
    timed_already: dict[int, float] = {}

    def lines(text: str) -> float:
        began = time.thread_time()
        count = _lines(function, text)
        if count < NEGLIGIBLE_LINES:  # so counting took no time
            timed_already[len(text)] = time.thread_time() - began
        return count

    def seconds(text: str) -> float:
        return timed_already.pop(len(text), 0.0) or _seconds(function, text)

    growth = _growth(lines, text, counted, (MOST_WORK, NEGLIGIBLE_LINES, 1))
    if growth > MOST_WORK:
        return f"lines: {growth:.0f} times"
    growth = _growth(seconds, text, timed, (MOST_TIME, NEGLIGIBLE_SECONDS, ATTEMPTS))
    return f"time: {growth:.0f} times" if growth > MOST_TIME else None


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


def _growth(
    measure: Callable[[str], float],
    text: Text,
    sizes: Sequence[int],
    limits: tuple[float, float, int],
) -> float:
    """The growth at the first size that does not show too much, else at the last one; 1 if even that is negligible.

    `limits`: the most growth, the negligible measure, how many attempts at the last size find the least of both.
    """
    most, negligible, last_attempts = limits
    growth, before = 1.0, -1.0
    for size in sizes:
        short, long = text_of(text, size), text_of(text, LONGER * size)
        many = measure(long)
        if many < negligible:
            growth = 1.0  # what a shorter text showed was noise
            # A text four times as long runs the same lines: all work is in single calls.
            if many == before:
                break
            before = many
            continue
        few, attempts = math.inf, last_attempts if size == sizes[-1] else 1
        for attempt in range(attempts):
            few = min(few, measure(short))
            if many <= most * few or attempt == attempts - 1:
                break
            many = min(many, measure(long))
        growth = many / few
        if growth <= most:
            return growth
    return growth


def _seconds(function: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    function(text)
    return time.thread_time() - began


def _lines(function: Callable[[str], object], text: str) -> float:
    """How many lines of Python the function runs in this thread. A tracer that is at work counts nothing meanwhile."""
    count = 0

    def each(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return each

    before = sys.gettrace()
    sys.settrace(each)
    try:
        function(text)
    finally:
        sys.settrace(before)
    return count
