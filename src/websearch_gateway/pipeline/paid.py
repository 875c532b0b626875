"""Upstreams that cost money, behind the ledger: asked only while the budget has room, and always booked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from websearch_gateway.models import Answer, Deadline, SearchQuery, SearchResults
from websearch_gateway.pipeline.ledger import Ledger
from websearch_gateway.ports import HostedEngine, Progress, Searcher


@dataclass(frozen=True, slots=True)
class PaidSearcher:
    """A Searcher on the ledger. `most_usd` tells the most that a query may cost."""

    searcher: Searcher
    ledger: Ledger
    most_usd: Callable[[SearchQuery], float]

    @property
    def name(self) -> str:
        """The searcher's name."""
        return self.searcher.name

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        """Search and pay.

        Raises:
            SearchBudgetError: the day's budget has no room for it.
            SearchError: as the searcher raises.
        """
        async with self.ledger.payment(query.user, self.name, self.most_usd(query)) as payment:
            results = await self.searcher.search(query, deadline)
            payment.usd = results.cost_usd
        return results


@dataclass(frozen=True, slots=True)
class PaidEngine:
    """A HostedEngine on the ledger. `most_usd` is the most that an answer may cost."""

    engine: HostedEngine
    ledger: Ledger
    most_usd: float

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Answer and pay.

        Raises:
            SearchBudgetError: the day's budget has no room for it.
            SearchError: as the engine raises.
        """
        async with self.ledger.payment(query.user, self.name, self.most_usd) as payment:
            answer = await self.engine.answer(query, deadline, progress)
            payment.usd = answer.cost_usd
        return answer

    async def warm_up(self) -> None:
        """See `HostedEngine.warm_up`."""
        await self.engine.warm_up()

    async def check(self, deadline: Deadline) -> Sequence[str]:
        """See `HostedEngine.check`. Free of charge."""
        return await self.engine.check(deadline)
