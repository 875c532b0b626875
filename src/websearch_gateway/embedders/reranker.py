"""A server that says how well each of some texts answers a query: `POST .../rerank`.

Infinity, llama.cpp, vLLM, Jina and Cohere take `documents` and answer with `results`, Voyage with `data`. TEI (Hugging
Face) takes `texts`, refuses a request without them (422) and answers with a bare list.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import httpx2

from websearch_gateway.embedders.remote import bearer
from websearch_gateway.errors import (
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    Unavailable,
)
from websearch_gateway.models import Call, HttpRequest
from websearch_gateway.net.client import Reply, send
from websearch_gateway.ports import MOST_RERANKED, Layer, through

LONGEST_TEXT = 2_000
"""The most characters of a text that are sent: most models read 512 tokens."""

SECONDS = 5.0
"""The most time for a call, and half of what is left of the deadline at most."""

_HINTS = {
    401: "; check RERANKER_API_KEY",
    403: "; check RERANKER_API_KEY",
    404: "; check RERANKER_URL and RERANKER_MODEL",
}


@dataclass(slots=True)
class HttpReranker:
    """See `ports.Reranker`. `url` is used as it is if it ends in `/rerank`. A request costs `price_usd`."""

    url: str
    client: httpx2.AsyncClient = field(repr=False)
    model: str | None = None
    key: str | None = field(default=None, repr=False)
    layers: Sequence[Layer[Mapping[int, float]]] = field(default=(), repr=False)
    price_usd: float = 0.0
    _takes_texts: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """See `ports.Reranker.name`."""
        return f"{self.model or ''}@{self.url}"

    async def order(self, query: str, texts: Sequence[str], call: Call) -> tuple[list[int], str]:
        """See `ports.Reranker.order`."""
        every = list(range(len(texts)))
        if len(texts) < 2:
            return every, ""
        sent = [text[:LONGEST_TEXT] for text in texts[:MOST_RERANKED]]
        own = replace(call.within(min(SECONDS, call.remaining() / 2)), bill=call.bill.part())
        try:
            scores = await through(self.layers, partial(self._scores, query, sent, own), own)
        except Unavailable as error:
            return every, error.message
        return sorted(every, key=lambda place: -scores.get(place, -math.inf)), ""

    async def _scores(self, query: str, texts: Sequence[str], call: Call) -> Mapping[int, float]:
        reply = await self._ask(query, texts, call)
        if not self._takes_texts and reply.status in (400, 422) and b"texts" in reply.body:
            self._takes_texts = True
            reply = await self._ask(query, texts, call)
        if not 200 <= reply.status < 300:  # its own message may quote a text
            hint = _HINTS.get(reply.status, "")
            raise SearchProviderError(f"The reranker answered with HTTP {reply.status}{hint}.")
        return parsed(reply.body, len(texts))

    async def _ask(self, query: str, texts: Sequence[str], call: Call) -> Reply:
        """The reply. A request counts as billed once sent, unless the server reports a failure or is not reached."""
        url = self.url if self.url.endswith("/rerank") else f"{self.url}/rerank"
        named: dict[str, Any] = {"model": self.model} if self.model else {}
        shape = {"texts": texts, "truncate": True} if self._takes_texts else {"documents": texts}
        request = HttpRequest("POST", url, headers=bearer(self.key), json={**named, "query": query, **shape})
        call.bill.book(self.price_usd)
        try:
            reply = await send(self.client, request, call, "the reranker")
        except SearchTimeoutError:
            raise
        except SearchError:
            call.bill.book(-self.price_usd)
            raise
        if not 200 <= reply.status < 300:
            call.bill.book(-self.price_usd)
        return reply


def parsed(body: bytes, count: int) -> dict[int, float]:
    """The score of each of `count` texts, by its index; some may be missing.

    Raises:
        SearchProviderParseError: the reply is anything else.
    """
    try:
        reply = json.loads(body)
        rows = reply if isinstance(reply, list) else reply["results"] if "results" in reply else reply["data"]
        scores = {
            row["index"]: float(row["relevance_score"] if "relevance_score" in row else row["score"]) for row in rows
        }
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError):
        scores = {}
    if (
        not scores
        or not all(type(at) is int and 0 <= at < count for at in scores)
        or not all(map(math.isfinite, scores.values()))
    ):
        raise SearchProviderParseError("The reply of the reranker is not a list of scores by index.")
    return scores
