"""Searches the index in three ways at once, makes one ranking of pages out of them, and returns sections within a token
budget.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, chain
from math import log
from operator import add
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urldefrag

from websearch_gateway.docs_index.models import Chunk, PageFacts, ScoredChunk, SiteVersion, SymbolMatch, TextQuery
from websearch_gateway.docs_index.rank import query
from websearch_gateway.docs_index.rank.excerpt import excerpt, place_of, without_links
from websearch_gateway.docs_index.rank.query import (
    NEWS_SHARE,
    Query,
    asks_for_news,
    is_navigation,
    is_news,
    newest_first,
    parse,
)
from websearch_gateway.docs_index.store.docs import SqlDocs
from websearch_gateway.ports import MOST_RERANKED
from websearch_gateway.results import DocsHit, DocsMore, DocsOtherVersion
from websearch_gateway.text.markdown import code_blocks
from websearch_gateway.text.passages import fuse
from websearch_gateway.text.tokens import STOP_WORDS, estimate_tokens, fold, query_terms, tokens_of_each, words

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


CANDIDATES = 40
"""The number of chunks from each way of searching, times the versions of a site, which are much alike."""

LEAST_NEARNESS = 0.6
"""A chunk with less than this share of the nearest one's similarity is no candidate: in a small index every chunk is
among the nearest, and a page with many of them would come before the only one with the words of the query."""

MOST_VERSIONS = 4
ENOUGH = 10
"""If fewer chunks have all words of the query, chunks with some of them follow."""

MAX_TOKENS = 1_600
"""The default limit of a reply."""

LEAST_SHOWN, TOKENS_A_SECTION = 3, 300
"""The fewest results with text if there are as many, and the tokens for which one more is shown."""

MOST_TITLES = 0.15
"""The most of a reply that is for the titles of further results."""

LEAST_TEXT, ENOUGH_TEXT = 40, 150
"""A result with fewer tokens of text is named only. One with fewer than enough gets the next text of its page."""

SPARE = 5
"""This many more pages than results are considered, since some are only lists of links."""

MOST_SYMBOLS = 100
"""The most definitions that a search takes from the index."""


Reorder = Callable[[str, Sequence[str]], Awaitable[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A result before its text is cut. `names` are the names that its chunk defines."""

    hit: DocsHit
    chunk: Chunk
    names: tuple[str, ...]


class Ranker:
    """Answers queries from an index, with pages whose addresses are open.

    `reorder` gives the places of texts for a query, best first.
    """

    def __init__(
        self, index: SqlDocs, is_open: Callable[[str], bool] = lambda _: True, reorder: Reorder | None = None
    ) -> None:
        self._index = index
        self._is_open = is_open
        self._reorder = reorder

    async def understood(self, text: str, versions: Sequence[SiteVersion]) -> tuple[Query, dict[str, str]]:
        """The parsed query, and the words that were put in place of those that no page has."""
        words = query.words_of(text)
        counts = await self._index.count_words(words)
        unknown = [word for word in words if word not in counts][: query.MOST_UNKNOWN]
        instead: dict[str, str] = {}
        if unknown:
            near = list(dict.fromkeys(one for word in unknown for one in query.near(word)))
            instead = query.nearest(unknown, await self._index.count_words(near))
        return parse(query.replaced(text, instead), {version.label for version in versions}), instead

    async def search(
        self,
        query: Query,
        vector: Vectors | None,
        versions: Sequence[SiteVersion],
        *,
        limit: int = 10,
        max_tokens: int = MAX_TOKENS,
    ) -> tuple[list[DocsHit], list[DocsMore]]:
        """The sections that answer a query, one of each page, best first; those without room for text by their titles.

        Args:
            vector: the query's, of shape (1, dimensions); None to compare only words.
            versions: where to search; a label in the query narrows them down.
            limit: the most sections of both kinds.
            max_tokens: the limit for all results together, as JSON.
        """
        searched = [version for version in versions if query.version in (None, version.label)]
        pages = await self._pages(query, vector, searched)
        found = await self._sections(query, pages, searched, max(limit, MOST_RERANKED) if self._reorder else limit)
        found = (await self._reordered(query, found))[:limit]
        return await self._fit(found, query, max_tokens)

    async def _pages(self, query: Query, vector: Vectors | None, versions: Sequence[SiteVersion]) -> list[RankedPage]:
        ids = [version.id for version in versions]
        most = CANDIDATES * _most_alike(versions)
        # Vectors first, so that their scan runs beside the other searches.
        near, matched, defined = await asyncio.gather(
            self._by_vector(vector, ids, most),
            self._by_text(query, ids, most),
            self._index.find_symbols((*query.symbols, *query.whole), ids, MOST_SYMBOLS),
        )
        found = {one.page_id for one in (*matched, *near)} | {one.page_id for one in defined}
        return rank_pages(query, matched, near, defined, await self._index.page_facts(sorted(found)))

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
        ordered: list[list[tuple[RankedPage, Chunk]]] = []
        last: list[list[tuple[RankedPage, Chunk]]] = []
        for group in groups.values():
            if len(ordered) < limit:
                (last if is_navigation(group[0][1].content) else ordered).append(group)
        ordered = [*ordered, *last][:limit]
        found = []
        relevance = 1.0
        for group in ordered:
            relevance = min(relevance, max(page.relevance for page, _ in group))
            found.append(_candidate(group, [by_id[page.version_id] for page, _ in group], relevance))
        return found

    async def _reordered(self, query: Query, found: list[_Candidate]) -> list[_Candidate]:
        """The candidates as `reorder` has them; the best place has the best score all the same.

        Definitions of a name in the query stay first.
        """
        first = [one for one in found if one.names]
        rest = [one for one in found if not one.names]
        if self._reorder is None or not rest:
            return found
        order = await self._reorder(query.text, [_read(one) for one in rest])
        scores = [one.hit.relevance_score for one in found]
        return [
            replace(one, hit=one.hit.model_copy(update={"relevance_score": score}))
            for one, score in zip([*first, *(rest[at] for at in order)], scores, strict=True)
        ]

    async def _fit(self, found: Sequence[_Candidate], query: Query, most: int) -> tuple[list[DocsHit], list[DocsMore]]:
        """The first results with their texts, cut where they are long, and the titles of the others."""
        count = max(LEAST_SHOWN, most // TOKENS_A_SECTION)
        shown = [await self._extended(one) for one in found[:count]]
        long = [one for one in shown if one.names or estimate_tokens(one.hit.content) >= LEAST_TEXT]
        told = long if len(long) >= LEAST_SHOWN else shown
        rest = [_more(one.hit) for one in (*shown, *found[count:]) if one not in told]
        overheads = [_json_tokens(one.hit.model_copy(update={"content": ""}).model_dump()) for one in told]
        wants = [_json_tokens(one.hit.content) for one in told]
        terms = query_terms(query.text)
        titles = sum(_json_tokens(one.model_dump()) for one in rest)
        shares = share_out(overheads, wants, most - min(titles, int(MOST_TITLES * most)))
        results = [
            one.hit.model_copy(update={"content": _cut(one, terms, share), "url": _url(one, terms)})
            for one, share in zip(told, shares, strict=False)
        ]
        rest = [*(_more(one.hit) for one in told[len(results) :]), *rest]
        left = most - sum(_json_tokens(one.model_dump()) for one in results)
        costs = accumulate(_json_tokens(one.model_dump()) for one in rest)
        return results, rest[: sum(cost <= left for cost in costs)]

    async def _extended(self, one: _Candidate) -> _Candidate:
        """A candidate without link addresses, a definition from its own line on. A short one is given the next text of
        its page, the last of a page the text before it.
        """
        text = without_links(one.chunk.content[_definition_start(one) :])
        if estimate_tokens(text) < ENOUGH_TEXT:
            page_id, place = one.chunk.page_id, one.chunk.ordinal
            if after := await self._index.page_chunks(page_id, place + 1, place + 2):
                text = f"{text}\n\n{without_links(after[0].content)}"
            elif place and not one.names:
                before = await self._index.page_chunks(page_id, place - 1, place)
                text = "\n\n".join([*(without_links(each.content) for each in before), text])
        return replace(one, hit=one.hit.model_copy(update={"content": text}))


def _definition_start(one: _Candidate) -> int:
    """Where the chunk defines the name that its result is for; 0 if that is not known, or inside code or a table."""
    content, anchor = one.chunk.content, unquote(urldefrag(one.hit.url).fragment)
    start = next((offset for offset, name in one.chunk.inner if name == anchor), 0) if one.names else 0
    inside = content.startswith("|", start) or any(begin < start < end for begin, end in code_blocks(content))
    return 0 if inside else start


def _read(one: _Candidate) -> str:
    """What a reranker reads of a result."""
    return "\n".join((one.hit.page_title, *one.hit.heading_path[-1:], without_links(one.chunk.content)))


def _cut(one: _Candidate, terms: Sequence[str], share: int) -> str:
    """The text of a result, cut to its share of the JSON."""
    text = one.hit.content
    cost = _json_tokens(text)
    return text if cost <= share else excerpt(text, terms, share * estimate_tokens(text) // cost - 1, one.names)


def _url(one: _Candidate, terms: Sequence[str]) -> str:
    """The address of the shown part: of the definition, or of the section with most words of the query."""
    if one.hit.url != one.chunk.url or not one.chunk.inner:
        return one.hit.url
    place = place_of(one.chunk.content, terms, one.names)
    anchor = next((anchor for offset, anchor in reversed(one.chunk.inner) if offset <= place), one.chunk.anchor)
    return _with_anchor(one.chunk.url, anchor)


def _more(hit: DocsHit) -> DocsMore:
    title = " > ".join(dict.fromkeys((hit.page_title, *hit.heading_path[-1:])))
    return DocsMore(title=title, section_id=hit.section_id, url=hit.url)


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
        url=_with_anchor(chunk.url, anchor) if anchor else chunk.url,
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


def _with_anchor(url: str, anchor: str) -> str:
    bare = urldefrag(url).url
    return f"{bare}#{quote(anchor, safe=_FRAGMENT)}" if anchor else bare


def _json_tokens(value: object) -> int:
    return estimate_tokens(json.dumps(value, ensure_ascii=False))


LEAST_CONTENT = 60
"""The fewest tokens of text for a useful result."""

FIRST_SHARE = 0.15
"""The text of the first result gets at least this part of the reply: it should answer, not only point to an answer."""


def share_out(overheads: Sequence[int], wants: Sequence[int], most: int) -> list[int]:
    """The tokens of text for each result that fits, best first.

    Earlier results get more, in the proportion 1 : 1/2 : 1/3 ... Later results get the tokens that one does not need.
    The last results are left out if the first would get too little.

    Args:
        overheads: the tokens of each result besides its text.
        wants: the tokens of each whole text.
        most: the limit for the whole reply.
    """
    least = [min(want, max(LEAST_CONTENT, int(most * FIRST_SHARE / place))) for place, want in enumerate(wants, 1)]
    needs = accumulate(map(add, overheads, least))
    count = sum(need <= most for need in needs)
    left = most - sum(overheads[:count])
    shares = []
    for place in range(count):
        weight = 1 / (place + 1) / sum(1 / (later + 1) for later in range(place, count))
        reserved = sum(least[place + 1 : count])
        share = min(wants[place], max(least[place], min(int(left * weight), left - reserved)))
        shares.append(share)
        left -= share
    return shares


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
    news = {id_ for id_, page in facts.items() if is_news(page.path, page.title)}
    unasked = set() if asks_for_news(query.text) else news
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
            * (NEWS_SHARE if place[0] in unasked else 1),
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
    asked = set(words(query.text)) - STOP_WORDS
    return {
        page_id: (1 + TITLE_GAIN * sum(weights[term] for term in weights.keys() & titles[page_id]) / total)
        * (FOLDER_GAIN if "/" in page.path and fold(unquote(page.path.partition("/")[0])) in asked else 1)
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
