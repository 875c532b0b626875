"""One guard around every call of an upstream, in one order for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from websearch_gateway.models import Call, SearchQuery
from websearch_gateway.ports import Layer, Upstream, no_layer
from websearch_gateway.upstream.burst_gate import BurstGate
from websearch_gateway.upstream.circuit_breaker import CircuitBreaker
from websearch_gateway.upstream.tracing import traced

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UpstreamGuard:
    """The Layer around all calls of the upstream `name`. One per upstream and process.

    The gate is the outermost, since the breaker judges the calls that waited at it. What neither of them admits is
    neither paid nor traced. `stopwatch` is the innermost, since no wait is latency; an upstream that measures its
    single requests itself needs none.
    """

    name: str
    gate: BurstGate
    breaker: CircuitBreaker
    budget: Layer = no_layer
    stopwatch: Layer = no_layer

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        """The block in which `call` asks the upstream.

        Raises:
            NotAsked: the upstream seems to be down.
            SearchBudgetError: the day's budget has no room for the call.
        """
        async with (
            self.gate(call),
            self.breaker(call),
            self.budget(call),
            traced(self.name, call),
            self.stopwatch(call),
        ):
            yield


@dataclass(frozen=True, slots=True)
class Guarded(Generic[T]):
    """An upstream behind its guard. What it costs has a part of the call's bill.

    `clean` gets each of its results and the query, and returns what may be shown of it.
    """

    upstream: Upstream[T]
    guard: Layer
    clean: Callable[[T, SearchQuery], Awaitable[T]] | None = None

    @property
    def name(self) -> str:
        return self.upstream.name

    async def ask(self, call: Call) -> T:
        """Ask. Raises what the upstream or the guard raises."""
        own = replace(call, bill=call.bill.part())
        async with self.guard(own):
            result = await self.upstream.ask(own)
        return await self.clean(result, call.query) if self.clean else result
