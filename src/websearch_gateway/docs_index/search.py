"""Answers calls of `search_docs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from websearch_gateway.docs_index.library import DocsLibrary
from websearch_gateway.docs_index.rank.search import MAX_TOKENS, Ranker
from websearch_gateway.docs_index.selection import named, select
from websearch_gateway.docs_index.status import NO_SITE
from websearch_gateway.errors import SearchValidationError, Unavailable
from websearch_gateway.ports import Embedder
from websearch_gateway.results import DocsSearchResponse
from websearch_gateway.text.normalise import normalise

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

MOST_QUERY_CHARS = 1_000
MOST_SECTIONS = 50
MOST_TOKENS = 50_000


async def search_docs(
    library: DocsLibrary,
    embedder: Embedder,
    query: str,
    *,
    site_id: str | None = None,
    sites_filter: str | None = None,
    label: str | None = None,
    limit: int = 10,
    max_tokens: int = MAX_TOKENS,
) -> DocsSearchResponse:
    """Find the sections that answer a query, best first, with text within `max_tokens`.

    Raises:
        SearchValidationError: a value is out of range, or no indexed site has that id, name or label.
    """
    text = normalise(query) if len(query) <= 10 * MOST_QUERY_CHARS else query
    if not 1 <= len(text) <= MOST_QUERY_CHARS:
        raise SearchValidationError(f"query must have 1 to {MOST_QUERY_CHARS} characters.")
    if not (1 <= limit <= MOST_SECTIONS and 100 <= max_tokens <= MOST_TOKENS):
        raise SearchValidationError(f"limit must be 1 to {MOST_SECTIONS}, maxTokens 100 to {MOST_TOKENS}.")
    indexed = await library.searchable()
    versions = await select(indexed, site_id, sites_filter, label, library.runner.workers)
    if not versions:
        warning = f"No site matches. Indexed: {named(indexed)}." if indexed else NO_SITE
        return DocsSearchResponse(warnings=(warning,))
    ranker = Ranker(library.index, library.is_open)
    asked, instead = await ranker.understood(text, versions)
    vector, warnings = await _vector(embedder, asked.text)
    hits, more = await ranker.search(asked, vector, versions, limit=limit, max_tokens=max_tokens)
    guessed = tuple(f"No page has {word!r}: searched for {near!r}." for word, near in instead.items())
    return DocsSearchResponse(results=tuple(hits), more=tuple(more), warnings=(*guessed, *warnings))


async def _vector(embedder: Embedder, text: str) -> tuple[Vectors | None, tuple[str, ...]]:
    try:
        return await embedder.embed([text], "query"), ()
    except Unavailable as error:
        return None, (f"Searched by words alone: {error.message}",)
