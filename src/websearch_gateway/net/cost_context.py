"""What the running task has spent on upstream calls so far, in USD, and the tokens that servers say they counted.

A cancelled call can neither return nor raise its price. So the code that sends a paid request records it here, in the
context of the task, where the code that cancelled the task can read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar

_SPENT: ContextVar[float] = ContextVar("spent_usd", default=0.0)
_COUNTED: ContextVar[list[int | None] | None] = ContextVar("counted_tokens", default=None)
_PAYER: ContextVar[str] = ContextVar("payer", default="local")


def pay_as(user: str) -> None:
    """Set whose budget pays for side costs of this task and the tasks it starts, such as vectors."""
    _PAYER.set(user)


def payer() -> str:
    """The user whose budget pays."""
    return _PAYER.get()


def spend(usd: float) -> None:
    """Record the cost of a billed request; a negative amount takes it back."""
    _SPENT.set(_SPENT.get() + usd)


def spent(context: Context | None = None) -> float:
    """What a task's context (default: the current) has spent. Only the difference of two readings is meaningful."""
    return _SPENT.get() if context is None else context.get(_SPENT, 0.0)


@contextmanager
def counted_tokens() -> Iterator[list[int | None]]:
    """The tokens of each reply that is paid for inside the block, as the server counts them; None where it does not."""
    counts: list[int | None] = []
    outer = _COUNTED.set(counts)
    try:
        yield counts
    finally:
        _COUNTED.reset(outer)


def note_tokens(count: int | None) -> None:
    """Note a reply that is billed by its tokens, and how many its server counted."""
    if (counts := _COUNTED.get()) is not None:
        counts.append(count)
