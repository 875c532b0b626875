"""An embedder that costs money, behind the ledger."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from websearch_gateway.budget.ledger import Ledger
from websearch_gateway.errors import SearchError
from websearch_gateway.net.cost_context import counted_tokens, payer
from websearch_gateway.ports import Embedder

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

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
