"""Merges three rankings of chunks into one ranking of pages. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

from websearch_gateway.docs_index.models import PageFacts, ScoredChunk, SymbolMatch
from websearch_gateway.docs_index.rank import query as rank_query
from websearch_gateway.docs_index.rank.query import Query
from websearch_gateway.text.passages import fuse
from websearch_gateway.text.tokens import query_terms, tokens_of_each, words

RRF_K = 5
TEXT_WEIGHT, VECTOR_WEIGHT, SYMBOL_WEIGHT = 1.0, 0.8, 1.0
PAGE_OFFSET = 2
"""A page's score is the sum of 1 / (rank + PAGE_OFFSET) over its chunks found, with ranks from 0, divided by
`size ** SIZE_EXPONENT`: a page of 60 chunks has a few that fit any query somewhat."""
SIZE_EXPONENT = 0.2
TITLE_GAIN = 4
"""A page with all words of the query in its title scores this much more, times its own score; others by their share. A
word counts by how few of the candidates have it in their titles: the name of the product tells nothing."""
FOLDER_GAIN = 2
"""How many times as much a page scores in a top folder that the query names: `sqlite/` for "a SQLite table"."""

_QUALIFIED = re.compile(r"\w(?:\.|::)\w")
_SEPARATORS = ".:>#/"
"""The characters that may stand before the last part of a name."""


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page with its candidate chunks, best first.

    `relevance` is in 0..1: 1 where every ranking puts it first, at most .44 without a word of the query.
    `defined` are the symbols of the query that the page defines, with the chunk and anchor of the first.
    """

    page_id: int
    version_id: int
    chunk_ids: tuple[int, ...]
    score: float
    relevance: float
    defined: tuple[SymbolMatch, ...] = ()


def rank_pages(
    query: Query,
    text: Sequence[ScoredChunk],
    near: Sequence[ScoredChunk],
    matches: Sequence[SymbolMatch],
    facts: Mapping[int, PageFacts],
) -> list[RankedPage]:
    """The pages of all candidates, best first; pages that define a name in the query come before all others.

    Announcements come later than their texts say, unless the query asks for one; pages with words of the query in their
    titles, or in a folder that it names, come earlier. A query of names alone finds only pages that have one of them.

    Args:
        text, near: chunks found by words and by vectors, best first.
        matches: definitions of the query's symbols, best first.
        facts: those of each page.
    """
    definitions = [match for match in matches if is_asked_for(query, match)]
    places = {one.chunk_id: (one.page_id, one.version_id) for one in (*text, *near)}
    places |= {one.chunk_id: (one.page_id, one.version_id) for one in definitions}
    named = {one.page_id for one in text} | {one.page_id for one in definitions}
    if query.is_names and named:
        near = [one for one in near if one.page_id in named]
    fused, best = _fused(text, near, definitions)
    chunks: dict[tuple[int, int], list[int]] = defaultdict(list)
    scores: dict[tuple[int, int], float] = defaultdict(float)
    for rank, chunk_id in enumerate(fused):
        chunks[places[chunk_id]].append(chunk_id)
        scores[places[chunk_id]] += 1 / (rank + PAGE_OFFSET)
    unasked = (
        set()
        if rank_query.asks_for_news(query.text)
        else {page_id for page_id, page in facts.items() if rank_query.is_news(page.path, page.title)}
    )
    sizes = {page_id: page.chunks for page_id, page in facts.items()}
    gains = {} if query.is_names else _gains(query, facts)
    pages = [
        RankedPage(
            page_id=place[0],
            version_id=place[1],
            chunk_ids=tuple(found),
            score=scores[place]
            / sizes.get(place[0], 1) ** SIZE_EXPONENT
            * gains.get(place[0], 1)
            * (rank_query.NEWS_SHARE if place[0] in unasked else 1),
            relevance=min(1.0, fused[found[0]] / best),
            defined=tuple(one for one in definitions if (one.page_id, one.version_id) == place),
        )
        for place, found in chunks.items()
    ]
    return sorted(pages, key=lambda page: (0 if page.page_id in unasked else -_names_defined(query, page), -page.score))


def _gains(query: Query, facts: Mapping[int, PageFacts]) -> Mapping[int, float]:
    """How many times as much each page scores for its title and its folder."""
    titles = dict(zip(facts, map(set, tokens_of_each(page.title for page in facts.values())), strict=True))
    held = Counter(chain.from_iterable(titles.values()))
    weights = {term: log((len(facts) + 1) / (held[term] + 0.5)) for term in query_terms(query.text)}
    total = sum(weights.values()) or 1
    asked = set(words(query.text))
    return {
        page_id: (1 + TITLE_GAIN * sum(weights[term] for term in weights.keys() & titles[page_id]) / total)
        * (FOLDER_GAIN if "/" in page.path and page.path.partition("/")[0].casefold() in asked else 1)
        for page_id, page in facts.items()
    }


def _fused(
    text: Sequence[ScoredChunk], near: Sequence[ScoredChunk], definitions: Sequence[SymbolMatch]
) -> tuple[Mapping[int, float], float]:
    """The score of each chunk, best first, and that of a perfect hit."""
    rankings = [[one.chunk_id for one in text], [one.chunk_id for one in near]]
    rankings.append(list(dict.fromkeys(one.chunk_id for one in definitions)))
    weights = (TEXT_WEIGHT, VECTOR_WEIGHT, SYMBOL_WEIGHT)
    counted = (True, bool(near), bool(definitions))  # a page without a word of the query is never a perfect hit
    best = sum(weight for weight, counts in zip(weights, counted, strict=True) if counts) / (RRF_K + 1)
    return fuse(rankings, RRF_K, weights), best


def is_asked_for(query: Query, match: SymbolMatch) -> bool:
    """Whether the query contains the defined name, or its last parts: `Popen.wait` for `subprocess.Popen.wait`."""
    folded = match.name.casefold()
    return any(
        match.name == name or (len(name) > 1 and not name.startswith("-") and _ends_with(folded, name.casefold()))
        for name in (*query.symbols, *query.whole)
    )


def _ends_with(name: str, ending: str) -> bool:
    return name == ending or (name.endswith(ending) and name[-len(ending) - 1] in _SEPARATORS)


def _names_defined(query: Query, page: RankedPage) -> int:
    """How many unambiguous names of the query a page defines, in the same spelling; a heading counts half."""
    strong = {match.name for match in page.defined if match.kind != "heading"}
    defined = {match.name for match in page.defined}
    return sum(_is_in(name, defined) + _is_in(name, strong) for name in (*query.certain, *query.whole))


def _is_in(name: str, defined: Collection[str]) -> bool:
    """Whether a name is defined: in the same spelling, or with more before a name of several parts (`Vec::drain`)."""
    return name in defined or (bool(_QUALIFIED.search(name)) and any(_ends_with(one, name) for one in defined))
