"""The pages that may answer a query: those with its words, those near to it, and those that define its names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    that the query surely means.
    """

    page_id: int
    version_id: int
    facts: PageFacts
    chunks: Mapping[int, ChunkRanks]
    defined: tuple[SymbolMatch, ...]


def candidates(
    db: Database, query: Query, near: Sequence[ScoredChunk], versions: Sequence[int], most: int
) -> list[Candidate]:
    """The pages found. A query of names alone finds only pages that have one of them."""
    matched = _with_words(db, query, versions, most)
    names = (*query.symbols, *query.whole)
    definitions = [
        match
        for match in find_symbols(db, names, versions, MOST_SYMBOLS)
        if is_asked_for(query, match)
    ]
    named = {chunk.page_id for chunk in matched} | {match.page_id for match in definitions}
    if query.is_names and named:
        near = [chunk for chunk in near if chunk.page_id in named]
    pages = named.union(chunk.page_id for chunk in near)
    return gathered(query, matched, near, definitions, page_facts(db, sorted(pages)))


def _with_words(
    db: Database, query: Query, versions: Sequence[int], most: int
) -> list[ScoredChunk]:
    matched = db.search_text(TextQuery(query.phrases), versions, most)
    if len(matched) < ENOUGH and len(query.phrases) > 1:
        with_all = {chunk.chunk_id for chunk in matched}
        with_some = db.search_text(TextQuery(query.phrases, any=True), versions, most)
        matched += [chunk for chunk in with_some if chunk.chunk_id not in with_all]
    return matched


def gathered(
    query: Query,
    matched: Sequence[ScoredChunk],
    near: Sequence[ScoredChunk],
    definitions: Sequence[SymbolMatch],
    facts: Mapping[int, PageFacts],
) -> list[Candidate]:
    """The chunks found, by their pages."""
    by_page: defaultdict[tuple[int, int], dict[int, ChunkRanks]] = defaultdict(dict)

    def ranks(found: ScoredChunk | SymbolMatch) -> ChunkRanks:
        return by_page[found.page_id, found.version_id].setdefault(found.chunk_id, ChunkRanks())

    for place, chunk in enumerate(matched, 1):
        ranks(chunk).words = 1 / place
    for place, chunk in enumerate(near, 1):
        ranks(chunk).vectors = 1 / place
        ranks(chunk).nearness = max(0.0, chunk.score)
    for place, match in enumerate(definitions, 1):
        ranks(match).names = max(ranks(match).names, 1 / place)
    defined: defaultdict[tuple[int, int], list[SymbolMatch]] = defaultdict(list)
    for match in definitions:
        if is_certain(query, match):
            defined[match.page_id, match.version_id].append(match)
    return [
        Candidate(*page, facts[page[0]], _best_first(chunks, defined[page]), tuple(defined[page]))
        for page, chunks in by_page.items()
        if page[0] in facts  # else it was removed in the meantime
    ]


def _best_first(
    chunks: Mapping[int, ChunkRanks], defined: Sequence[SymbolMatch]
) -> dict[int, ChunkRanks]:
    definition = defined[0].chunk_id if defined else None
    ids = sorted(chunks, key=lambda id_: (id_ != definition, -chunks[id_].total))
    return {id_: chunks[id_] for id_ in ids}
