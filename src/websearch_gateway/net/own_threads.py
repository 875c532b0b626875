"""Threads of their own for what upstreams send: a slow parse holds up other parses, and nothing else.

The default executor also looks up names, compresses records and closes the process; pages are read in worker processes.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

THREADS = 2

P = ParamSpec("P")
T = TypeVar("T")


async def in_own_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """What `function` returns or raises, as `asyncio.to_thread` does it, in one of these threads."""
    call = functools.partial(copy_context().run, function, *arguments, **options)
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="upstream")
