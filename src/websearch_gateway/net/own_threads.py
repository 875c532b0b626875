"""Threads apart from the default executor, where a slow parse would delay name lookups and shutdown.

Here a slow parse delays only other parses of its kind. Worker processes read pages, and also the replies of search and
answer vendors that are longer than 64 kB: a shorter reply takes under 5 ms to parse, but a hostile vendor could make a
longer one expensive.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from websearch_gateway.errors import (
    SearchFetchError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import Deadline
from websearch_gateway.ports import Workers

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SMALL_BYTES = 65_536
MAX_REPLY_BYTES = 2_000_000
"""The longest reply of a vendor that is read; the longest real ones have some hundred kilobytes."""

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
    import asyncio  # a worker embeds texts without it

    return await asyncio.get_running_loop().run_in_executor(_threads(name), copy_context().run, call)


@functools.cache
def _threads(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix=name)


@dataclass(frozen=True, slots=True)
class ReplyParser:
    """Runs pure functions over replies. Without `workers` everything runs in a thread."""

    workers: Workers | None = field(default=None, repr=False)

    async def read(self, kind: Any, function: Callable[..., T], *bodies: bytes, vendor: str, deadline: Deadline) -> T:
        """The result of `function(*bodies)`, whose type is `kind`: a dataclass or a list of dataclasses.

        Raises:
            SearchProviderParseError: the reply made its worker fail, or `function` raised it.
            SearchTimeoutError: the reply could not be read by the deadline.
            SearchError: `function` raised it.
        """
        if self.workers is None or sum(map(len, bodies)) <= SMALL_BYTES:
            return await in_own_thread(function, *bodies)
        try:
            value, refusal = await self.workers.run(_read, function, *bodies, deadline=deadline)
        except SearchTimeoutError:
            raise SearchTimeoutError(f"The reply of {vendor} could not be read in time.") from None
        except SearchFetchError as error:
            raise SearchProviderParseError(f"The reply of {vendor} could not be read.") from error
        if refusal is not None:
            raise SearchValidationError(refusal)
        read: T = _adapter(kind).validate_python(value)
        return read


def without_key(adapter: T) -> T:
    """A copy of a vendor's adapter without its key, which no worker may get."""
    key = getattr(adapter, "key", None)
    return adapter if key is None else replace(adapter, key=type(key)(""))  # type: ignore[type-var]


def _read(function: Callable[..., object], *bodies: bytes) -> tuple[object, str | None]:
    """The result, or the message of a refusal: a worker passes on no other error that stops a search."""
    try:
        return function(*bodies), None
    except SearchValidationError as error:
        return None, error.message


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
