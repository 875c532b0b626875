"""The pages that may answer a query: those with its words, those near to it, and those that define its names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from websearch_gateway.base import tokens_of_each
from websearch_gateway.docs.models import PageFacts, ScoredChunk, SymbolMatch, TextQuery
from websearch_gateway.docs.search.names import is_asked_for, is_certain
from websearch_gateway.docs.store.pages import find_symbols, page_facts

if TYPE_CHECKING:
    from websearch_gateway.docs.search.query import Query
    from websearch_gateway.docs.store.database import Database

CANDIDATES = 40
"""The number of chunks from each way of searching, times the versions of a site, which are much alike."""
ENOUGH = 10
"""If fewer chunks have all words of the query, chunks with some of them follow."""
MOST_SYMBOLS = 100
"""The most definitions that a search takes from the index."""


@dataclass(slots=True)
class ChunkRanks:
    """What the three searches say of a chunk: for each 1 / its place, 0 if it is not found. `nearness` is its cosine."""

    words: float = 0.0
    vectors: float = 0.0
    names: float = 0.0
    nearness: float = 0.0

    @property
    def total(self) -> float:
        """High for a chunk that several searches find early."""
        return self.words + self.vectors + self.names


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may answer.

    `chunks` are those found, best first, that of a definition before all others. `defined` are the definitions of names
    that the query surely means. `title_tokens` are the distinct tokens of the page's title.
    """

    page_id: int
    version_id: int
    facts: PageFacts
    chunks: Mapping[int, ChunkRanks]
    defined: Sequence[SymbolMatch]
    title_tokens: frozenset[str]


def candidates(
    db: Database, query: Query, near: Sequence[ScoredChunk], versions: Sequence[int], most: int
) -> list[Candidate]:
    """The pages found. A query of names alone finds only pages that have one of them."""
    with_words = _with_words(db, query, versions, most)
    names = (*query.symbols, *query.whole)
    similar = find_symbols(db, names, versions, MOST_SYMBOLS)
    definitions = [match for match in similar if is_asked_for(query, match)]
    pages = {chunk.page_id for chunk in with_words}
    pages.update(match.page_id for match in definitions)
    if query.is_names and pages:
        near = [chunk for chunk in near if chunk.page_id in pages]
    pages.update(chunk.page_id for chunk in near)
    return gathered(query, with_words, near, definitions, page_facts(db, sorted(pages)))


def _with_words(
    db: Database, query: Query, versions: Sequence[int], most: int
) -> list[ScoredChunk]:
    with_all = db.search_text(TextQuery(query.phrases), versions, most)
    if len(with_all) >= ENOUGH or len(query.phrases) < 2:
        return with_all
    ids = {chunk.chunk_id for chunk in with_all}
    with_some = db.search_text(TextQuery(query.phrases, any=True), versions, most)
    return with_all + [chunk for chunk in with_some if chunk.chunk_id not in ids]


def gathered(
    query: Query,
    with_words: Sequence[ScoredChunk],
    near: Sequence[ScoredChunk],
    definitions: Sequence[SymbolMatch],
    facts: Mapping[int, PageFacts],
) -> list[Candidate]:
    """The chunks found, by their pages."""
    chunks_of: defaultdict[tuple[int, int], dict[int, ChunkRanks]] = defaultdict(dict)
    defined_on: defaultdict[tuple[int, int], list[SymbolMatch]] = defaultdict(list)

    def ranks_of(hit: ScoredChunk | SymbolMatch) -> ChunkRanks:
        chunks = chunks_of[hit.page_id, hit.version_id]
        return chunks.get(hit.chunk_id) or chunks.setdefault(hit.chunk_id, ChunkRanks())

    for place, chunk in enumerate(with_words, 1):
        ranks_of(chunk).words = 1 / place
    for place, chunk in enumerate(near, 1):
        ranks = ranks_of(chunk)
        ranks.vectors = 1 / place
        ranks.nearness = max(0.0, chunk.score)
    for place, match in enumerate(definitions, 1):
        ranks = ranks_of(match)
        ranks.names = max(ranks.names, 1 / place)
        if is_certain(query, match):
            defined_on[match.page_id, match.version_id].append(match)
    # A page without facts was removed in the meantime.
    pages = [page for page in chunks_of if page[0] in facts]
    titles = tokens_of_each(facts[page_id].title for page_id, _ in pages)
    return [
        Candidate(
            page_id=page[0],
            version_id=page[1],
            facts=facts[page[0]],
            chunks=_best_first(chunks_of[page], defined_on[page]),
            defined=defined_on[page],
            title_tokens=frozenset(title),
        )
        for page, title in zip(pages, titles, strict=True)
    ]


def _best_first(
    chunks: Mapping[int, ChunkRanks], defined: Sequence[SymbolMatch]
) -> Mapping[int, ChunkRanks]:
    if len(chunks) == 1:
        return chunks
    ids = sorted(chunks, key=lambda id_: -chunks[id_].total)
    if defined:
        ids.sort(key=lambda id_: id_ != defined[0].chunk_id)
    return {id_: chunks[id_] for id_ in ids}
