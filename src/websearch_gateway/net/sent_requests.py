"""How many requests a call has sent to search providers.

A search can end without having asked anybody: every breaker is open, or the budget is spent. The tasks of one call
share a counter through their context, so that the caller learns it however the call ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class SentRequests:
    """The requests of one call, so far."""

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
    """Count one request, if anybody counts."""
    if (sent := _CURRENT.get()) is not None:
        sent.count += 1
