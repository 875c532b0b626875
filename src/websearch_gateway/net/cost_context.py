"""What the running task has spent on upstream calls so far, in USD.

A call that is cancelled returns nothing and raises nothing that could tell its price. So whoever sends a paid request
notes it here, in the context of the task, where the one who cancelled that task finds it.
"""

from __future__ import annotations

from contextvars import Context, ContextVar

_SPENT: ContextVar[float] = ContextVar("spent_usd", default=0.0)


_PAYER: ContextVar[str] = ContextVar("payer", default="local")


def pay_as(user: str) -> None:
    """Note whose budget pays for what this task and those it starts buy on the side, such as vectors."""
    _PAYER.set(user)


def payer() -> str:
    """The user whose budget pays."""
    return _PAYER.get()


def spend(usd: float) -> None:
    """Note a request that is billed; a negative amount takes it back."""
    _SPENT.set(_SPENT.get() + usd)


def spent(context: Context | None = None) -> float:
    """What was spent in a task's context, by default in this one. Only the difference of two moments means anything."""
    return _SPENT.get() if context is None else context.get(_SPENT, 0.0)
