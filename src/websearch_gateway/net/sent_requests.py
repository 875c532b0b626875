"""Counts the requests that a call sends to search providers.

A search can end without sending any: every circuit breaker is open, or the budget is spent. The tasks of one call share
a counter through their context, so that the count is known however the call ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


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
