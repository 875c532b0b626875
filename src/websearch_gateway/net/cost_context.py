"""Records the spending of the running task on upstream calls, in USD, and the token counts that servers report.

A cancelled call can neither return nor raise its price. So the code that sends a paid request records the price here,
in the context of the task, where the code that cancelled the task can read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar

_SPENT: ContextVar[float] = ContextVar("spent_usd", default=0.0)
_COUNTED: ContextVar[list[int | None] | None] = ContextVar("counted_tokens", default=None)
_PAYER: ContextVar[str] = ContextVar("payer", default="local")


def pay_as(user: str) -> None:
    """Set the user whose budget pays for the side costs of this task and the tasks it starts, such as vectors."""
    _PAYER.set(user)


def payer() -> str:
    """The user whose budget pays."""
    return _PAYER.get()


def spend(usd: float) -> None:
    """Record the cost of a billed request; a negative amount reverses it."""
    _SPENT.set(_SPENT.get() + usd)


def spent(context: Context | None = None) -> float:
    """The USD spent in a task's context (default: the current). Only the difference of two readings is meaningful."""
    return _SPENT.get() if context is None else context.get(_SPENT, 0.0)


@contextmanager
def counted_tokens() -> Iterator[list[int | None]]:
    """The server's token count of each reply that is billed inside the block; None if the server reports no count."""
    counts: list[int | None] = []
    outer = _COUNTED.set(counts)
    try:
        yield counts
    finally:
        _COUNTED.reset(outer)


def note_tokens(count: int | None) -> None:
    """Record the server's token count of a reply that is billed by its tokens; None if the server reports no count."""
    if (counts := _COUNTED.get()) is not None:
        counts.append(count)
