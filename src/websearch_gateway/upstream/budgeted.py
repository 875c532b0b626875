"""Paid upstreams behind the ledger: called only while the budget has room, and every call is booked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from websearch_gateway.errors import SearchError, SearchTimeoutError
from websearch_gateway.models import Answer, Deadline, SearchQuery, SearchResults
from websearch_gateway.net.spending import counted_tokens, payer, spend, spent
from websearch_gateway.ports import AnswerEngine, Embedder, Progress, Searcher
from websearch_gateway.upstream.ledger import Ledger

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


@dataclass(frozen=True, slots=True)
class BudgetedSearcher:
    """A Searcher on the ledger. `most_usd` gives the most that a query may cost."""

    searcher: Searcher
    ledger: Ledger
    most_usd: Callable[[SearchQuery], float]

    @property
    def name(self) -> str:
        """The searcher's name."""
        return self.searcher.name

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        """Search, and book the cost of every request sent, even if the call is cancelled.

        Raises:
            SearchBudgetError: the day's budget has no room for it.
            SearchError: as the searcher raises.
        """
        async with self.ledger.payment(query.user, self.name, self.most_usd(query)) as payment:
            spent_before = spent()
            try:
                return await self.searcher.search(query, deadline)
            finally:
                payment.usd = spent() - spent_before


@dataclass(frozen=True, slots=True)
class BudgetedEngine:
    """An AnswerEngine on the ledger.

    `most_usd` is the most that an answer may cost. `likely_usd` is booked for a call without a bill, because it was
    cancelled or timed out. While a call runs, its context holds that cost, for code that abandons the call.
    """

    engine: AnswerEngine
    ledger: Ledger
    most_usd: float
    likely_usd: float

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
            payment.usd = self.likely_usd
            spend(self.likely_usd)
            try:
                answer = await self.engine.answer(query, deadline, progress)
            except SearchTimeoutError as error:
                error.cost_usd = self.likely_usd
                raise
            except SearchError as error:
                spend(error.cost_usd - self.likely_usd)
                raise
            # The searchers have booked the cost of its searches.
            payment.usd = answer.cost_usd - answer.searched_usd
            spend(payment.usd - self.likely_usd)
        return answer


UPSTREAM = "embedding"
BYTES_PER_TOKEN = 3
"""English has four or five bytes per token, other scripts about three: the estimate is on the high side."""


@dataclass(frozen=True, slots=True)
class BudgetedEmbedder:
    """An Embedder on the ledger. Texts cost the tokens that the server counts, or an estimate by their length."""

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

    async def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Embed and book the cost for the user of the current task.

        Raises:
            SearchBudgetError: the day's budget has no room for it.
            SearchError: as the embedder raises.
        """
        tokens = sum(math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) for text in texts)
        with counted_tokens() as counts:
            async with self.ledger.payment(payer(), UPSTREAM, self._usd(tokens)) as payment:
                try:
                    vectors = await self.embedder.embed(texts, kind)
                except SearchError as error:
                    error.cost_usd = self._usd(sum(filter(None, counts)))
                    raise
                if counts and None not in counts:
                    payment.usd = self._usd(sum(filter(None, counts)))
                return vectors

    def _usd(self, tokens: int) -> float:
        return tokens * self.usd_per_million_tokens / 1_000_000

    def knows(self, text: str) -> bool:
        """Whether the vector of this text is meaningful."""
        return self.embedder.knows(text)
