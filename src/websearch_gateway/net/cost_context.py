"""What the running task has spent on upstream calls so far, in USD.

A cancelled call can neither return nor raise its price. So the code that sends a paid request records it here, in the
context of the task, where the code that cancelled the task can read it.
"""

from __future__ import annotations

from contextvars import Context, ContextVar

_SPENT: ContextVar[float] = ContextVar("spent_usd", default=0.0)


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
