"""Answers a query from the documentation index: which versions it means, its vector, its order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs.models import named, select
from websearch_gateway.docs.reports import NO_SITE
from websearch_gateway.docs.search.ranker import Ranker, reorder_with
from websearch_gateway.errors import Unavailable
from websearch_gateway.models import Call, DocsSearchRequest
from websearch_gateway.results import DocsSearchResponse

if TYPE_CHECKING:
    from websearch_gateway.docs.library import DocsLibrary
    from websearch_gateway.ports import Embedder, Vectors


async def search_docs(
    library: DocsLibrary, request: DocsSearchRequest, call: Call
) -> DocsSearchResponse:
    """See `ports.DocsIndex.search`."""
    indexed = await library.searchable()
    versions = await select(
        indexed, request.site_id, request.sites_filter, request.label, library.runner.workers
    )
    if not versions:
        warning = f"No site matches. Indexed: {named(indexed)}." if indexed else NO_SITE
        return DocsSearchResponse(warnings=(warning,))
    ranker = Ranker(library.store, library.is_open)
    query, guesses = await ranker.understood(request.query, versions)
    vector, without_vector = await _vector(library.runner.embedder, query.text, call)
    not_reordered: list[str] = []
    reorder = reorder_with(library.reranker, call, not_reordered) if library.reranker else None
    hits, more = await ranker.search(
        query,
        vector,
        versions,
        limit=request.max_results,
        max_tokens=request.max_tokens,
        reorder=reorder,
    )
    guessed = [f"No page has {word!r}: searched for {near!r}." for word, near in guesses.items()]
    return DocsSearchResponse(
        results=tuple(hits),
        more=tuple(more),
        warnings=(*guessed, *without_vector, *not_reordered),
    )


async def _vector(
    embedder: Embedder, text: str, call: Call
) -> tuple[Vectors | None, Sequence[str]]:
    """The vector of a query, within half of the time that is left: the words need the other half. Or None, and why."""
    try:
        async with asyncio.timeout(call.remaining() / 2):
            return await embedder.embed([text], "query", call), ()
    except Unavailable as error:
        fault = error.message
    except TimeoutError:
        fault = "the embedder did not answer in time."
    return None, (f"Searched by words alone: {fault}",)
