"""One call inside a layer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

T = TypeVar("T")


async def inside(
    layer: Callable[[Any], AbstractAsyncContextManager[None]],
    ask: Callable[[], Awaitable[T]],
    call: Any,
) -> T:
    """The result of `ask()` inside the layer."""
    async with layer(call):
        return await ask()
