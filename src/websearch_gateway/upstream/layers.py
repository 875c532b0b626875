"""The layers around searchers, engines and readers: burst gate, circuit breaker, budget, rate limiter, time limit."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from opentelemetry.trace import SpanKind

from websearch_gateway.errors import (
    BLOCKED,
    RATE_LIMITED,
    NotAsked,
    Refused,
    SearchError,
    SearchTimeoutError,
    SearchValidationError,
    Unavailable,
)
from websearch_gateway.models import Call, Deadline, Page, SearchQuery
from websearch_gateway.net.requests import Retry, child_span, note_host
from websearch_gateway.ports import EMBEDDED_AT_ONCE, Embedder, Layer, Reader, Upstream, through
from websearch_gateway.upstream.health import PROBE_SECONDS, UpstreamHealth
from websearch_gateway.upstream.ledger import Ledger

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layered(Generic[T]):
    """An upstream inside its `layers`, the outermost first. What it costs has a part of the call's bill."""

    upstream: Upstream[T]
    layers: Sequence[Layer[T]]

    @property
    def name(self) -> str:
        return self.upstream.name

    async def ask(self, call: Call) -> T:
        """Ask. Raises what the upstream or a layer raises."""
        own = replace(call, bill=call.bill.part())
        return await through(self.layers, partial(self.upstream.ask, own), own)


@dataclass(frozen=True, slots=True)
class Budget:
    """The layer that asks an upstream only while the day's budget has room, and puts what it costs on the ledger.

    Attributes:
        name: the upstream.
        most_usd: the most that a query may cost.
        likely_usd: what a call costs at least if it ends without a bill, because it was cancelled or timed out.
    """

    name: str
    ledger: Ledger
    most_usd: Callable[[SearchQuery], float]
    likely_usd: float = 0.0

    async def __call__(self, ask: Callable[[], Awaitable[T]], call: Call) -> T:
        """The result of `ask()`.

        Raises:
            SearchBudgetError: the day's budget has no room for it.
            SearchError: what `ask` raises.
        """
        async with self.ledger.payment(call, self.name, self.most_usd(call.query)):
            call.bill.expect(self.likely_usd)
            try:
                result = await ask()
            except SearchTimeoutError:
                raise
            except SearchError:
                call.bill.expect(0.0)
                raise
            call.bill.expect(0.0)
            return result


BYTES_PER_TOKEN = 3
"""English has four or five bytes per token, other scripts about three: the estimate is on the high side."""


@dataclass(frozen=True, slots=True)
class BudgetedEmbedder:
    """An Embedder on the ledger. Texts cost an estimate by their length."""

    embedder: Embedder
    ledger: Ledger
    usd_per_million_tokens: float

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions

    @property
    def weight(self) -> float:
        return self.embedder.weight

    def knows(self, text: str) -> bool:
        return self.embedder.knows(text)

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """Embed and book the cost on the bill of `call`.

        Raises:
            SearchBudgetError: the day's budget has no room for it.
            SearchError: as the embedder raises.
        """
        usd = self._usd(texts)
        call = call or Call(math.inf)
        own = replace(call, bill=call.bill.part())

        async def ask() -> Vectors:
            import numpy as np

            found = []
            for start in range(0, len(texts) or 1, EMBEDDED_AT_ONCE):  # if one fails, those before it are paid
                batch = texts[start : start + EMBEDDED_AT_ONCE]
                found.append(await self.embedder.embed(batch, kind, own))
                own.bill.book(self._usd(batch))
            width = found[-1].shape[1] or self.embedder.dimensions
            # Blank texts before the first reply have vectors of no dimensions.
            return np.concatenate(
                [rows if rows.shape[1] else np.zeros((len(rows), width), np.float32) for rows in found]
            )

        return await Budget("embedding", self.ledger, lambda _: usd, usd)(ask, own)

    def _usd(self, texts: Sequence[str]) -> float:
        tokens = sum(math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) for text in texts)
        return tokens * self.usd_per_million_tokens / 1_000_000


MOST_AHEAD = 50
"""Most bursts are smaller; even eight dead upstreams get only four hundred calls together."""


class BurstGate:
    """The layer that admits `most` calls until the upstream answers one of them. One per upstream and process.

    An answer releases all waiting calls, so a burst waits at most once for a healthy upstream: until its first answer.
    The gate belongs around the circuit breaker, which then judges the calls that waited.

    Args:
        name: the name of the upstream.
        most: how many calls may be in flight before the upstream answers one of them.
    """

    def __init__(self, name: str, most: int = MOST_AHEAD) -> None:
        self._name = name
        self._most = most
        self._generation = _Generation(most)

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`.

        Raises:
            NotAsked: the upstream answered no other call within half of this call's time.
            SearchError: what `call` raises.
        """
        generation = self._generation
        await self._enter(generation, deadline)
        try:
            result = await call()
        except Refused:
            self._release_all()
            raise
        else:
            self._release_all()
            return result
        finally:
            generation.places.release()

    async def _enter(self, generation: _Generation, deadline: Deadline) -> None:
        generation.waiting += 1
        try:
            async with asyncio.timeout(deadline.remaining() / 2):
                await generation.places.acquire()
        except TimeoutError:
            raise NotAsked(
                f"{self._name} has not answered any of the {self._most} calls under way.", retry_after=PROBE_SECONDS
            ) from None
        finally:
            generation.waiting -= 1

    def _release_all(self) -> None:
        ended, self._generation = self._generation, _Generation(self._most)
        for _ in range(ended.waiting):
            ended.places.release()


class _Generation:
    """The period between two answers: its free places, and the number of waiting calls."""

    __slots__ = ("places", "waiting")

    def __init__(self, most: int) -> None:
        self.places = asyncio.Semaphore(most)
        self.waiting = 0


LONGEST_OPEN_SECONDS = 3600.0
"""The longest time without a probe, even if the upstream asks for more: one probe an hour is cheap."""

_MOST_DOUBLINGS = 10
_EDGE_SECONDS = 0.1
"""Timers are not exact: a call that ends this shortly before the deadline was ended by it (seconds)."""


class CircuitBreaker:
    """The layer that stops calls to an upstream that keeps failing. One per upstream and process.

    Every `Unavailable` is a failure, but a timeout only if the upstream had `fair_seconds`, or exceeded its own limit
    before the caller's deadline. A `Refused` shows that the upstream works. Cancelled calls and calls that were not
    made (`NotAsked`) do not count. A single reply that blocks this address as a bot (`errors.BLOCKED`) opens the
    circuit, and the open time doubles with each such reply until the upstream serves again.

    Args:
        health: the record that this breaker writes, and whose clock it uses.
        failures: the number of consecutive failures that opens the circuit.
        open_seconds: how long it stays open; longer if the upstream asks for it, up to LONGEST_OPEN_SECONDS.
        fair_seconds: a timeout does not count if the caller's deadline left the upstream less time.
    """

    def __init__(
        self, health: UpstreamHealth, failures: int = 5, open_seconds: float = 30.0, fair_seconds: float = 1.5
    ) -> None:
        self.health = health
        self.failures = failures
        self.open_seconds = open_seconds
        self.fair_seconds = fair_seconds
        self._consecutive_failures = 0
        self._blocks = 0
        # Calls that began before the circuit opened or closed must not change its new state, so each call knows its
        # generation.
        self._generation = 0
        self._probing = False

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`.

        Raises:
            NotAsked: at once, if the circuit is open or another call's probe is in flight.
            SearchError: what `call` raises.
        """
        generation = self._enter()
        given_seconds = deadline.remaining()
        self.health.calls += 1
        try:
            result = await call()
        except NotAsked:
            self.health.calls -= 1
            raise
        except Refused as error:
            if not isinstance(error, SearchValidationError):  # that error is about one request, not about the upstream
                self.health.record_error(error)
            self._record_answer(generation)
            raise
        except Unavailable as error:
            deadline_passed = deadline.remaining() < _EDGE_SECONDS
            is_fair = given_seconds >= self.fair_seconds or not deadline_passed
            if is_fair or not isinstance(error, SearchTimeoutError):
                self._record_failure(error, generation)
            raise
        else:
            self._record_answer(generation)
            return result
        finally:
            if generation == self._generation:
                self._probing = False

    def overtaken(self) -> None:
        """Count a call that was cancelled because it was overdue and another upstream answered."""
        if not self.health.open_for:
            error = SearchTimeoutError(f"{self.health.name} had not answered when another upstream had.")
            self._record_failure(error, self._generation)

    def _enter(self) -> int:
        """Admit a call. Returns its generation."""
        if self.health.open_until is None:
            return self._generation
        if self.health.open_for or self._probing:
            raise self.health.circuit_open()
        self._probing = True
        self._generation += 1
        return self._generation

    def _record_answer(self, generation: int) -> None:
        if generation != self._generation:
            return
        self._consecutive_failures = self._blocks = 0
        if self._probing:
            self.health.open_until = None
            self._begin_generation()

    def _record_failure(self, error: Unavailable, generation: int) -> None:
        self.health.failures += 1
        self.health.record_error(error)
        if generation != self._generation:
            return
        self._consecutive_failures += 1
        is_blocked = error.details.get("reason") == BLOCKED
        if is_blocked or self._consecutive_failures >= self.failures or self.health.open_until is not None:
            asked_for = (error.retry_after or 0.0) * (2**self._blocks if is_blocked else 1)
            seconds = max(self.open_seconds, min(asked_for, LONGEST_OPEN_SECONDS))
            self.health.open_until = self.health.clock() + seconds
            self._consecutive_failures = 0
            self._blocks = min(self._blocks + is_blocked, _MOST_DOUBLINGS)
            self._begin_generation()

    def _begin_generation(self) -> None:
        self._generation += 1
        self._probing = False


SLACK = 1.05
"""A factor on the interval, since two requests may arrive closer together than they were sent."""

USUAL_SECONDS = 0.5
"""The assumed latency while none is known (seconds)."""


class RateLimiter:
    """The layer that sends requests one by one, evenly spaced. One per upstream and process.

    Args:
        health: the record of the upstream, whose clock it uses. When the circuit opens, all waiting calls fail.
        per_second: the requests per second that it allows; None for no limit. A rate in its replies replaces it.
    """

    def __init__(
        self,
        health: UpstreamHealth,
        per_second: float | None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.health = health
        self.per_second = per_second
        self._sleep = sleep
        self._next = -math.inf
        self._queue = asyncio.Lock()  # FIFO; a cancelled call leaves no gap.
        self._waiting = 0

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`, which runs at its turn.

        Raises:
            NotAsked: the turn would be too late for an answer before the deadline (raised at once, so that another
                upstream can serve), or the circuit opened during the wait.
            SearchError: what `call` raises.
        """
        wait = max(0.0, self._next - self.health.clock()) + self._waiting * self._interval
        if wait and wait + (self.health.quantile(0.5) or USUAL_SECONDS) >= deadline.remaining():
            raise NotAsked(
                f"{self.health.name} allows {self.per_second:g} requests a second, and other requests are waiting.",
                retry_after=wait,
                details={"reason": RATE_LIMITED},
            )
        self._waiting += 1
        try:
            async with self._queue:
                if not self.health.open_for and (wait := self._next - self.health.clock()) > 0:
                    await self._sleep(wait)
                if self.health.open_for:
                    raise self.health.circuit_open()
                self._next = self.health.clock() + self._interval
        finally:
            self._waiting -= 1
        return await call()

    def learn(self, headers: Mapping[str, str]) -> None:
        """Take the allowed rate from the headers of a reply."""
        if allowed := allowed_per_second(headers):
            self.per_second = allowed

    @property
    def _interval(self) -> float:
        return SLACK / self.per_second if self.per_second else 0.0


def allowed_per_second(headers: Mapping[str, str]) -> float | None:
    """The rate in `x-ratelimit-policy`, such as 50 for `50;w=1, 0;w=2678400`; None if absent.

    Windows of more than a second are quotas, which a burst may use up, so they do not limit the rate. Brave's format:
    https://api-dashboard.search.brave.com/documentation/guides/rate-limiting.
    """
    policies = re.findall(r"(\d{1,6})\s*;\s*w=1(?!\d)", headers.get("x-ratelimit-policy", ""))
    return min((float(limit) for limit in policies if int(limit)), default=None)


_PAGE_EDGE_SECONDS = 0.05  # timers are not exact


@dataclass(frozen=True, slots=True)
class BoundedReader:
    """`reader`, with a span and at most `seconds` for a page, including a second attempt.

    `retry` decides on the second attempt. It has its own budget, so failing sites do not use up that of the upstreams.
    """

    reader: Reader
    seconds: float
    retry: Retry = field(default_factory=Retry, repr=False)

    @property
    def name(self) -> str:
        return self.reader.name

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        own = deadline.within(self.seconds)
        try:
            with child_span("read page", SpanKind.CLIENT):
                note_host(url)
                return await self.retry(lambda: self.reader.read(url, own, known), own)
        except SearchTimeoutError as error:
            if own.remaining() > _PAGE_EDGE_SECONDS or deadline.remaining() <= _PAGE_EDGE_SECONDS:
                raise
            message = f"The page took more than {self.seconds:g} s. REQUEST_TIMEOUT_MS allows more."
            raise SearchTimeoutError(message) from error
