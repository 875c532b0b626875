from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import format_datetime

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.net.requests import (
    Retry,
    RetryBudget,
    parse_retry_after,
)
from websearch_gateway.errors import (
    SearchAuthError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    Unavailable,
)
from websearch_gateway.models import Deadline

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp()


class Upstream:
    """Raises the given errors in turn, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


def recorded_sleep(waits: list[float]) -> Callable[[float], Awaitable[None]]:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return sleep


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def retry(waits: list[float]) -> Retry:
    return Retry(sleep=recorded_sleep(waits), jitter=lambda low, high: high)


def busy(retry_after: float | None = None) -> Unavailable:
    return SearchProviderError("busy", retryable=True, retry_after=retry_after)


async def test_a_temporary_failure_is_retried_once(retry: Retry, waits: list[float]) -> None:
    upstream = Upstream(busy())
    assert await retry(upstream, Deadline.after(15)) == "answer"
    assert upstream.calls == 2
    assert waits == [0.1]


async def test_any_callable_that_returns_an_awaitable_can_be_retried(retry: Retry) -> None:
    upstream = Upstream(busy())
    assert await retry(lambda: upstream(), Deadline.after(15)) == "answer"
    assert upstream.calls == 2


async def test_a_permanent_failure_is_raised_unchanged_after_two_calls(retry: Retry) -> None:
    first, second = busy(), busy()
    upstream = Upstream(first, second, busy())
    with pytest.raises(SearchProviderError) as raised:
        await retry(upstream, Deadline.after(15))
    assert upstream.calls == 2
    assert raised.value is second


@pytest.mark.parametrize(
    "error",
    [
        SearchTimeoutError("slow"),
        SearchProviderParseError("odd"),
        SearchProviderError("quota"),
        SearchAuthError("key"),
        ValueError("bug"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_error_that_is_not_retryable_is_not_retried(
    retry: Retry, error: Exception
) -> None:
    upstream = Upstream(error)
    with pytest.raises(type(error)):
        await retry(upstream, Deadline.after(15))
    assert upstream.calls == 1


async def test_the_wait_is_retry_after_plus_jitter(retry: Retry, waits: list[float]) -> None:
    await retry(Upstream(busy(retry_after=2.0)), Deadline.after(15))
    assert waits == [2.1]


async def test_a_wait_beyond_the_deadline_is_not_started(retry: Retry, waits: list[float]) -> None:
    upstream = Upstream(busy(retry_after=3600))
    with pytest.raises(SearchProviderError) as raised:
        await retry(upstream, Deadline.after(15))
    assert (upstream.calls, waits, raised.value.retry_after) == (1, [], 3600)
    assert retry.budget.tokens == retry.budget.capacity


async def test_five_hundred_requests_against_a_dead_upstream_make_at_most_550_calls(
    retry: Retry,
) -> None:
    upstream = Upstream(*[busy() for _ in range(2_000)])
    outcomes = await asyncio.gather(
        *(retry(upstream, Deadline.after(15)) for _ in range(500)), return_exceptions=True
    )
    assert all(isinstance(outcome, SearchProviderError) for outcome in outcomes)
    assert 500 < upstream.calls <= 550


async def test_successes_refill_the_budget(retry: Retry) -> None:
    while retry.budget.take():
        pass
    for _ in range(11):
        await retry(Upstream(), Deadline.after(15))
    assert await retry(Upstream(busy()), Deadline.after(15)) == "answer"


@given(st.lists(st.booleans(), max_size=400))
def test_retries_never_exceed_the_budget(successes: list[bool]) -> None:
    budget = RetryBudget()
    retries = 0
    for success in successes:
        if success:
            budget.succeeded()
        else:
            retries += budget.take()
    assert retries <= 10 + 0.1 * sum(successes) + 1e-9
    assert 0 <= budget.tokens <= budget.capacity


async def test_cancelling_the_caller_ends_the_wait() -> None:
    asleep = asyncio.Event()

    async def sleep(_: float) -> None:
        asleep.set()
        await asyncio.Event().wait()

    upstream = Upstream(busy())
    task = asyncio.create_task(Retry(sleep=sleep)(upstream, Deadline.after(15)))
    await asleep.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert upstream.calls == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.598", 0.598),
        ("0", 0.0),
        ("3600", 3600.0),
        ("1e300", 86_400.0),
        (format_datetime(datetime(2026, 11, 21, 12, 0, 30, tzinfo=UTC), usegmt=True), 30.0),
        ("Sat, 21 Nov 2026 12:00:30 -0000", 30.0),
        (format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True), 0.0),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_parsed_as_the_rfc_says(value: str, seconds: float | None) -> None:
    assert parse_retry_after(httpx2.Headers({"Retry-After": value}), NOW) == seconds


def test_openais_milliseconds_take_precedence_and_a_missing_header_gives_none() -> None:
    assert parse_retry_after({"retry-after-ms": "1500", "retry-after": "9"}, NOW) == 1.5
    assert parse_retry_after({"retry-after-ms": "soon", "retry-after": "9"}, NOW) == 9.0
    assert parse_retry_after({}, NOW) is None


@given(
    st.one_of(
        st.text(), st.floats().map(str), st.integers().map(str), st.datetimes().map(format_datetime)
    )
)
def test_any_header_gives_a_wait_of_at_most_a_day_or_none(value: str) -> None:
    seconds = parse_retry_after({"retry-after": value}, NOW)
    assert seconds is None or (math.isfinite(seconds) and 0 <= seconds <= 86_400)
