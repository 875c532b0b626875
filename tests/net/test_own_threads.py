"""Replies of upstreams are parsed apart from the event loop and from the threads that everybody shares."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from websearch_gateway.net.own_threads import THREADS, in_own_thread

WORD: ContextVar[str] = ContextVar("word")


async def test_a_call_runs_in_one_of_few_threads_with_the_context_of_its_caller() -> None:
    WORD.set("said")
    names = {await in_own_thread(lambda: threading.current_thread().name) for _ in range(3 * THREADS)}
    assert names <= {f"upstream_{number}" for number in range(THREADS)}
    assert await in_own_thread(WORD.get) == "said"


async def test_what_it_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_own_thread(divmod, 1, 0)
