"""Results with pages that are known already: the exact cache of `web_search` and `search_news`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.pipeline.recall import Scope, lifetime, query_key
from websearch_gateway.pipeline.remembered import Remembered, Served
from websearch_gateway.pipeline.tracing import stage
from websearch_gateway.ports import State
from websearch_gateway.text.urls import is_web_address
from websearch_gateway.wire.search import WebSearchResponse

_MOST_IN_MEMORY = 64  # each has the text of up to twenty pages
_STOPGAP_SECONDS = 60.0


class WebCache:
    """Serves results again for the same query, parameters and providers.

    Args:
        ttl_seconds: how long, see `recall.lifetime`; 0 turns the cache off.
        scope: `user` keeps each user's results apart.
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(
        self,
        state: State,
        *,
        ttl_seconds: float = 300.0,
        scope: Scope = "shared",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ttl_seconds = ttl_seconds
        self._scope = scope
        self._responses = Remembered(state, WebSearchResponse, _servable, most_in_memory=_MOST_IN_MEMORY, clock=clock)

    def key(self, query: SearchQuery, caller: Caller, providers: Sequence[str]) -> str:
        """The state key of the results. `providers` are the names that the call gave, in their order."""
        return query_key("web", query, caller, self._scope, tuple(providers))

    @stage("recall")
    async def get(self, key: str, query: SearchQuery) -> Served[WebSearchResponse] | None:
        """The results as they were, marked `cache="exact"`; None when there are none."""
        if self._ttl_seconds <= 0:
            return None
        return await self._responses.get(key, lifetime(query, self._ttl_seconds))

    async def put(self, key: str, query: SearchQuery, response: WebSearchResponse, *, stopgap: bool) -> None:
        """Remember `response` unless it is empty; a `stopgap`, which a better one may follow, for a minute at most."""
        ttl = lifetime(query, self._ttl_seconds)
        seconds = min(ttl, _STOPGAP_SECONDS) if stopgap else ttl
        if ttl > 0:
            await self._responses.put(key, response, seconds, question=query.text, cost_usd=response.cost_usd)

    def in_memory(self) -> Mapping[str, int]:
        """How many results are in memory."""
        return {"web": len(self._responses)}

    def forget(self) -> None:
        """Drop these."""
        self._responses.forget()


def unbilled(response: WebSearchResponse) -> WebSearchResponse:
    """`response` for everybody but the first: nobody is billed for it a second time."""
    return response.model_copy(update={"cost_usd": 0.0})


def _servable(response: WebSearchResponse) -> WebSearchResponse | None:
    """`response` as recalled, or None when it is none of ours or not worth it."""
    results = response.results
    sound = all(is_web_address(r.link) and r.page_content and 0 <= r.relevance_score <= 1 for r in results)
    if response.error is not None or not results or not sound:
        return None
    return unbilled(response).model_copy(update={"cache": "exact"})
