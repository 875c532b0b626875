"""An event loop whose clock jumps to the next timer when it is idle: an hour of waiting takes moments.

Order and durations are as on a real clock, and computing takes no time. Not for sockets or threads: the clock would run
ahead of them.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class _Impatient(selectors.DefaultSelector):
    """Adds a waiting time to the clock instead of waiting."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout and 0)
        if timeout and not ready:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock starts at 0 seconds."""

    def __init__(self) -> None:
        self._selected = _Impatient()
        super().__init__(self._selected)

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._selected.now


def now() -> float:
    """The time of the running loop, as a clock."""
    return asyncio.get_running_loop().time()


def in_virtual_time(main: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Make a plain function of an asynchronous one, which runs it in a loop of its own."""

    @functools.wraps(main)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(main(*args, **kwargs))

    return run
