"""Searches the index in three ways at once and returns sections within a token budget."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote, urldefrag

from websearch_gateway.docs_index.models import Chunk, ScoredChunk, SiteVersion, TextQuery
from websearch_gateway.docs_index.ports import ChunkIndex
from websearch_gateway.docs_index.rank.budget import share_out
from websearch_gateway.docs_index.rank.excerpt import excerpt
from websearch_gateway.docs_index.rank.fusion import RankedPage, rank_pages
from websearch_gateway.docs_index.rank.navigation import is_navigation
from websearch_gateway.docs_index.rank.query import Query, parse
from websearch_gateway.docs_index.rank.versions import newest_first
from websearch_gateway.results.docs import DocsHit, DocsOtherVersion
from websearch_gateway.text.retrieval.tokens import estimate_tokens, query_terms

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

CANDIDATES = 60
"""The number of chunks from each way of searching, times the versions of a site, which are much alike."""

LEAST_NEARNESS = 0.6
"""A chunk with less than this share of the nearest one's similarity is no candidate: in a small index every chunk is
among the nearest, and a page with many of them would come before the only one with the words of the query."""

MOST_VERSIONS = 4
ENOUGH = 10
"""If fewer chunks have all words of the query, chunks with some of them follow."""

MOST_EXTENDED = 3
"""How many of the first results may be extended with the next text of their pages."""

LEAST_NEIGHBOUR = 150
"""The fewest free tokens of the reply for which a result is extended."""

SPARE = 5
"""This many more pages than results are considered, since some are only lists of links."""

MOST_SYMBOLS = 100
"""The most definitions that a search takes from the index."""

DENSITY = 0.8
"""Code and addresses have about five tokens for every four that `estimate_tokens` counts."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A result before its text is cut. `names` are the names that its chunk defines."""

    hit: DocsHit
    chunk: Chunk
    names: tuple[str, ...]


class Ranker:
    """Answers queries from an index, with pages whose addresses are open."""

    def __init__(self, index: ChunkIndex, is_open: Callable[[str], bool] = lambda _: True) -> None:
        self._index = index
        self._is_open = is_open

    async def search(
        self,
        text: str,
        vector: Vectors | None,
        versions: Sequence[SiteVersion],
        *,
        limit: int = 10,
        max_tokens: int = 2_000,
    ) -> list[DocsHit]:
        """The sections that answer a query, one of each page, best first.

        Args:
            vector: the query's, of shape (1, dimensions); None to compare only words.
            versions: where to search; a label in the query narrows them down.
            max_tokens: the limit for all results together, as JSON.
        """
        query = parse(text, {version.label for version in versions})
        searched = [version for version in versions if query.version in (None, version.label)]
        pages = await self._pages(query, vector, searched)
        found = await self._sections(query, pages, searched, limit)
        return await self._fit(found, query, int(max_tokens * DENSITY))

    async def _pages(self, query: Query, vector: Vectors | None, versions: Sequence[SiteVersion]) -> list[RankedPage]:
        ids = [version.id for version in versions]
        most = CANDIDATES * _most_alike(versions)
        (
            near,
            matched,
            defined,
        ) = await asyncio.gather(  # vectors first, so that their scan runs beside the other searches
            self._by_vector(vector, ids, most),
            self._by_text(query, ids, most),
            self._index.find_symbols((*query.symbols, *query.whole), ids, MOST_SYMBOLS),
        )
        found = {one.page_id for one in (*matched, *near)} | {one.page_id for one in defined}
        return rank_pages(query, matched, near, defined, await self._index.page_sizes(sorted(found)))

    async def _by_text(self, query: Query, versions: Sequence[int], most: int) -> list[ScoredChunk]:
        with_all = await self._index.search_text(TextQuery(query.phrases), versions, most)
        if len(with_all) >= ENOUGH or len(query.phrases) < 2:
            return with_all
        with_some = await self._index.search_text(TextQuery(query.phrases, any=True), versions, most)
        known = {one.chunk_id for one in with_all}
        return [*with_all, *(one for one in with_some if one.chunk_id not in known)]

    async def _by_vector(self, vector: Vectors | None, versions: Sequence[int], most: int) -> list[ScoredChunk]:
        if vector is None:
            return []
        found = await self._index.search_vectors(vector, versions, most)
        return [one for one in found if one.score >= LEAST_NEARNESS * found[0].score]

    async def _sections(
        self, query: Query, pages: Sequence[RankedPage], versions: Sequence[SiteVersion], limit: int
    ) -> list[_Candidate]:
        """The best section of each of the first pages. Versions of a page, and its copies in other formats, are one."""
        by_id = {version.id: version for version in versions}
        place = {version.id: rank for rank, version in enumerate(newest_first(versions))}
        alike = _most_alike(versions)
        first = pages[: (limit + SPARE) * alike]
        chunks = {chunk.id: chunk for chunk in await self._index.chunks([_best_chunk(page) for page in first])}
        groups: dict[tuple[str, str], list[tuple[RankedPage, Chunk]]] = {}
        for page in first:
            if (chunk := chunks.get(_best_chunk(page))) and self._is_open(chunk.url):
                key = by_id[page.version_id].name, _FORMAT.sub("", chunk.path)
                groups.setdefault(key, []).append((page, chunk))
        for group in groups.values():
            group.sort(key=lambda one: place[one[0].version_id])
        ordered = sorted(groups.values(), key=lambda group: is_navigation(group[0][1].content))[:limit]
        found = []
        relevance = 1.0
        for group in ordered:
            relevance = min(relevance, max(page.relevance for page, _ in group))
            found.append(_candidate(group, [by_id[page.version_id] for page, _ in group], relevance))
        return found

    async def _fit(self, found: Sequence[_Candidate], query: Query, most: int) -> list[DocsHit]:
        """The results with their texts cut, and extended with the next text of their pages if it fits."""
        overheads = [_hit_tokens(one.hit.model_copy(update={"content": ""})) for one in found]
        wants = [_json_tokens(one.hit.content) for one in found]
        terms = query_terms(query.text)
        results = [
            one.hit.model_copy(update={"content": _cut(one, terms, share)})
            for one, share in zip(found, share_out(overheads, wants, most), strict=False)
        ]
        left = most - sum(map(_hit_tokens, results))
        for place, (result, one) in enumerate(zip(results[:MOST_EXTENDED], found, strict=False)):
            if left < LEAST_NEIGHBOUR or result.content != one.hit.content:
                continue
            after = one.chunk.ordinal + 1
            for neighbour in await self._index.page_chunks(one.chunk.page_id, after, after + 1):
                if (cost := _json_tokens(neighbour.content) + 1) <= left:
                    results[place] = result.model_copy(update={"content": f"{result.content}\n\n{neighbour.content}"})
                    left -= cost
        return results


def _cut(one: _Candidate, terms: Sequence[str], share: int) -> str:
    """The text of a result, cut to its share of the JSON."""
    text = one.hit.content
    cost = _json_tokens(text)
    return text if cost <= share else excerpt(text, terms, share * estimate_tokens(text) // cost - 1, one.names)


def _most_alike(versions: Sequence[SiteVersion]) -> int:
    """The largest number of versions of one site."""
    return min(MOST_VERSIONS, max(Counter(version.name for version in versions).values(), default=1))


def _best_chunk(page: RankedPage) -> int:
    """The id of the chunk that defines a name in the query, else of the best chunk."""
    return next((match.chunk_id for match in page.defined if match.exact), page.chunk_ids[0])


def _candidate(
    group: Sequence[tuple[RankedPage, Chunk]], versions: Sequence[SiteVersion], relevance: float
) -> _Candidate:
    """The first of several versions of a page, and the links to the others."""
    page, chunk = group[0]
    defined = [match for match in page.defined if match.chunk_id == chunk.id]
    anchor = next((match.anchor for match in defined if match.anchor), "")
    hit = DocsHit(
        content=chunk.content,
        url=f"{urldefrag(chunk.url).url}#{quote(anchor, safe=_FRAGMENT)}" if anchor else chunk.url,
        page_title=chunk.page_title,
        heading_path=chunk.heading_path,
        site_name=versions[0].name,
        site_version=versions[0].label,
        relevance_score=round(relevance, 3),
        section_id=chunk.section_id,
        also_in=tuple(
            DocsOtherVersion(site_version=version.label, url=other.url, section_id=other.section_id)
            for (_, other), version in zip(group[1:], versions[1:], strict=True)
            if version.id != page.version_id
        ),
        fetched_at=datetime.fromtimestamp(chunk.fetched_at, UTC).isoformat(timespec="seconds"),
    )
    forms = [form for match in defined for form in (match.name, match.name.rpartition(".")[2])]
    return _Candidate(hit, chunk, tuple(forms))


_FORMAT = re.compile(r"(?:(?:^|(?<=/))index)?(?:\.(?:html?|md|mdx|rst|txt))*$")
_FRAGMENT = "!$&'()*+,;=:@/?-._~"  # RFC 3986, section 3.5


def _json_tokens(text: str) -> int:
    return estimate_tokens(json.dumps(text, ensure_ascii=False))


def _hit_tokens(hit: DocsHit) -> int:
    return estimate_tokens(hit.model_dump_json())
