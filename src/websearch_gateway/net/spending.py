"""What a call spends on upstreams: USD, tokens that servers report, and requests that were sent.

A cancelled call can neither return nor raise its price. So the code that sends a paid request records the price here,
in the context of the task, where the code that cancelled the task can read it. The number of requests is known however
the call ends, as a search can end without sending any: every circuit breaker is open, or the budget is spent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass

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


@dataclass(slots=True)
class SentRequests:
    """The number of requests of one call so far."""

    count: int = 0


_CURRENT: ContextVar[SentRequests | None] = ContextVar("sent_requests", default=None)


@contextmanager
def counting_requests() -> Iterator[SentRequests]:
    """Count the requests that this block and the tasks it starts send."""
    sent = SentRequests()
    token = _CURRENT.set(sent)
    try:
        yield sent
    finally:
        _CURRENT.reset(token)


def note_request() -> None:
    """Count one request, if a counter is active."""
    if (sent := _CURRENT.get()) is not None:
        sent.count += 1
