"""Threads apart from the default executor, where a slow parse would delay name lookups and shutdown.

Here a slow parse delays only other parses of its kind. Pages are read in worker processes.
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
    """Run `function` like `asyncio.to_thread`, in a thread for parsing upstream replies."""
    return await _in_thread("upstream", functools.partial(function, *arguments, **options))


async def in_cache_thread(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Run `function` in a thread for the caches: packing, unpacking and comparing."""
    return await _in_thread("cache", functools.partial(function, *arguments, **options))


async def _in_thread(name: str, call: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(_threads(name), copy_context().run, call)


@functools.cache
def _threads(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix=name)
