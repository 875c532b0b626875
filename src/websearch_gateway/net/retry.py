"""The only place that repeats requests.

It makes at most two attempts, and retries only if the error is `retryable`: 429, 500, 502, 503 and broken connections,
never a timeout, an unreadable reply or an exhausted quota. Retries in other places would multiply with these.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TypeVar

from websearch_gateway.errors import Unavailable
from websearch_gateway.models import Deadline
from websearch_gateway.net.span_attributes import note_retry

MAX_ATTEMPTS = 2
PASSING_STATUSES = (429, 500, 502, 503)
"""HTTP statuses that a retry may avoid."""
JITTER_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 86_400.0

T = TypeVar("T")


class RetryBudget:
    """Tokens that keep retries from multiplying the load on an upstream that is down.

    A retry takes a whole token, a success returns a tenth: in the long run at most one retry for ten successes.
    This is gRPC's retry throttling (https://github.com/grpc/proposal/blob/master/A6-client-retries.md).
    """

    def __init__(self, capacity: float = 10.0, refund: float = 0.1) -> None:
        self.capacity = capacity
        self.refund = refund
        self.tokens = capacity

    def take(self) -> bool:
        """Take the token for one retry; False if none is left."""
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True

    def succeeded(self) -> None:
        """Return a part of a token after a success."""
        self.tokens = min(self.capacity, self.tokens + self.refund)


@dataclass(frozen=True, slots=True)
class Retry:
    """Calls once, and retries once if the error is retryable. One instance with one budget serves the whole process.

    `jitter(low, high)` picks the random part of the wait, so that callers that failed together do not retry together.
    """

    budget: RetryBudget = field(default_factory=RetryBudget)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[float, float], float] = random.uniform

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`.

        Before the retry it waits `retry_after`, if the error has it, plus up to a tenth of a second at random. If the
        deadline or the budget does not allow the retry, it raises the first error unchanged.

        Raises:
            SearchError: the last error that `call` raised.
        """
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

        def give_up(state: RetryCallState) -> bool:
            too_late = state.upcoming_sleep >= deadline.remaining()
            return state.attempt_number >= MAX_ATTEMPTS or too_late or not self.budget.take()

        async def attempt() -> T:
            # tenacity awaits only coroutine functions; it does not recognise a lambda or a partial as one.
            return await call()

        attempts = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, Unavailable) and error.retryable),
            wait=lambda state: self._wait(state.outcome.exception() if state.outcome else None),
            stop=give_up,
            sleep=self.sleep,
            before_sleep=lambda state: note_retry(state.attempt_number),
            reraise=True,
        )
        result: T = await attempts(attempt)
        self.budget.succeeded()
        return result

    def _wait(self, error: BaseException | None) -> float:
        retry_after = error.retry_after if isinstance(error, Unavailable) else None
        return (retry_after or 0.0) + self.jitter(0.0, JITTER_SECONDS)


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait according to `retry-after-ms` (OpenAI's) or `Retry-After` (RFC 9110, 10.2.3), at most a day.

    None if neither is present and valid (negative, NaN, infinite or prose is invalid). A past date gives zero.

    Args:
        headers: keys in lower case, or a case-insensitive mapping.
        now: seconds since the epoch, subtracted from a date.
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""), now)
    seconds = milliseconds / 1000 if milliseconds is not None else _seconds(headers.get("retry-after", ""), now)
    return None if seconds is None else min(seconds, LONGEST_PAUSE_SECONDS)


def _seconds(value: str, now: float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return _until(value, now)
    return number if math.isfinite(number) and number >= 0 else None


def _until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - now)
