"""A server that says how well each of some texts answers a query: `POST .../rerank`.

Infinity, llama.cpp, vLLM, Jina and Cohere take `documents` and answer with `results`, Voyage with `data`. TEI (Hugging
Face) takes `texts`, refuses a request without them (422) and answers with a bare list.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from websearch_gateway.embedders.remote import bearer
from websearch_gateway.errors import SearchProviderError, SearchProviderParseError, Unavailable
from websearch_gateway.models import Deadline, HttpRequest
from websearch_gateway.net.client import Reply, send
from websearch_gateway.ports import MOST_RERANKED

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
    """See `ports.Reranker`. `url` is used as it is if it ends in `/rerank`."""

    url: str
    client: httpx2.AsyncClient = field(repr=False)
    model: str | None = None
    key: str | None = field(default=None, repr=False)
    _takes_texts: bool = field(default=False, init=False)

    async def order(self, query: str, texts: Sequence[str], deadline: Deadline) -> tuple[list[int], str]:
        """See `ports.Reranker.order`."""
        every = list(range(len(texts)))
        if len(texts) < 2:
            return every, ""
        try:
            scores = await self._scores(
                query,
                [text[:LONGEST_TEXT] for text in texts[:MOST_RERANKED]],
                deadline.within(min(SECONDS, deadline.remaining() / 2)),
            )
        except Unavailable as error:
            return every, error.message
        return sorted(every, key=lambda place: -scores.get(place, -math.inf)), ""

    async def _scores(self, query: str, texts: Sequence[str], deadline: Deadline) -> Mapping[int, float]:
        reply = await self._ask(query, texts, deadline)
        if not self._takes_texts and reply.status in (400, 422) and b"texts" in reply.body:
            self._takes_texts = True
            reply = await self._ask(query, texts, deadline)
        if not 200 <= reply.status < 300:  # its own message may quote a text
            hint = _HINTS.get(reply.status, "")
            raise SearchProviderError(f"The reranker answered with HTTP {reply.status}{hint}.")
        return parsed(reply.body, len(texts))

    async def _ask(self, query: str, texts: Sequence[str], deadline: Deadline) -> Reply:
        url = self.url if self.url.endswith("/rerank") else f"{self.url}/rerank"
        named: dict[str, Any] = {"model": self.model} if self.model else {}
        shape = {"texts": texts, "truncate": True} if self._takes_texts else {"documents": texts}
        request = HttpRequest("POST", url, headers=bearer(self.key), json={**named, "query": query, **shape})
        return await send(self.client, request, deadline, "the reranker")


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
