"""Searches the index in three ways at once, and returns sections within a token budget."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, chain, pairwise, takewhile
from math import inf
from operator import add
from typing import TYPE_CHECKING
from urllib.parse import quote

from websearch_gateway.base import (
    LINK,
    UNSPACED,
    Block,
    blocks,
    code_blocks,
    estimate_tokens,
    lines,
    plain,
    query_terms,
    sentences_of,
    tokens_of_each,
)
from websearch_gateway.docs.models import Chunk, ScoredChunk, SiteVersion, SymbolMatch, TextQuery
from websearch_gateway.docs.query import (
    MOST_JUDGED,
    Query,
    RankedPage,
    best_definition,
    counted,
    is_navigation,
    newest_first,
    parse,
    rank_pages,
    replaced,
    tokens_in,
)
from websearch_gateway.docs.section_model import Features, HeldWord, Section, features, score
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.docs.store.pages import (
    find_symbols,
    load_chunks,
    load_with_starts,
    most_chunks,
    page_chunks,
    page_facts,
)
from websearch_gateway.evidence import window
from websearch_gateway.ports import MOST_RERANKED, NOT_RERANKED
from websearch_gateway.results import DocsHit, DocsMore, DocsOtherVersion

if TYPE_CHECKING:
    from websearch_gateway.docs.store.database import Database
    from websearch_gateway.models import Call
    from websearch_gateway.ports import Reranker, Vectors


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

LEAST_SHOWN, TOKENS_A_SECTION = 3, 400
"""The fewest results with text if there are as many, and the tokens for which one more is shown."""

MOST_TITLES = 0.15
"""The most of a reply that is for the titles of further results."""

LEAST_TEXT, ENOUGH_TEXT, ENOUGH_FIRST = 40, 150, 450
"""A result with fewer tokens of text is named only. One with fewer than enough, which is more for the first one, gets
the next text of its page."""

MOSTLY = 1.5
"""A section at most this many times as long as the room for it is shown from its beginning."""

MOST_COMPARED = 3
"""The most chunks found of a page that are considered for showing."""

CODE_GAIN, BEST_GAIN, PAIR_GAIN, MIDDLE_LOSS = 0.3, 0.3, 0.3, 0.5
"""What a section scores for code, for a chunk that ranks high and for two words that follow each other in the query and
in its heading, and what it loses if it begins in the middle of another one. All words of the query score 1, in its
heading 2, and so does a name in its heading."""

MOST_REORDERED = 6
"""So many of the first pages are ordered by the sections that they would show."""
UNCOUNTED = 3.0
"""The weight of a word that was not counted."""
SEEN_CHARS = 1_400
"""The length of a section that may be shown: what comes later in it does not make it a better answer."""

SPARE = 5
"""This many more pages than results are considered, since some are only lists of links."""

MOST_SYMBOLS = 100
"""The most definitions that a search takes from the index."""


Reorder = Callable[[str, Sequence[str]], Awaitable[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A result before its text is cut. `names` are the names that its chunk defines. `start` is where in the chunk the
    section begins that is shown; None if a definition was not found in it.
    """

    hit: DocsHit
    chunk: Chunk
    names: tuple[str, ...]
    start: int | None


class Ranker:
    """Answers queries from an index, with pages whose addresses are open."""

    def __init__(self, index: SqlDocs, is_open: Callable[[str], bool] = lambda _: True) -> None:
        self._index = index
        self._is_open = is_open

    async def understood(
        self, text: str, versions: Sequence[SiteVersion]
    ) -> tuple[Query, dict[str, str]]:
        """The parsed query, and the words that were put in place of those that no page has."""
        instead, weights = await self._index.searching(
            lambda db: counted(text, db.count_words, most_chunks(db))
        )
        return parse(
            replaced(text, instead), {version.label for version in versions}, weights
        ), instead

    async def search(
        self,
        query: Query,
        vector: Vectors | None,
        versions: Sequence[SiteVersion],
        *,
        limit: int = 10,
        max_tokens: int = MAX_TOKENS,
        reorder: Reorder | None = None,
    ) -> tuple[list[DocsHit], list[DocsMore]]:
        """The sections that answer a query, one of each page, best first; those without room for text by their titles.

        Args:
            vector: the query's, of shape (1, dimensions); None to compare only words.
            versions: where to search; a label in the query narrows them down.
            limit: the most sections of both kinds.
            max_tokens: the limit for all results together, as JSON.
            reorder: gives the places of texts for a query, best first.
        """
        searched = [version for version in versions if query.version in (None, version.label)]
        near = await self._near(vector, searched)
        if reorder is None:
            shown = min(limit, _most_shown(max_tokens))
            return await self._index.searching(
                lambda db: _fit(
                    db, self._sections(db, query, near, searched, limit, shown), query, max_tokens
                )
            )
        most = max(limit, MOST_RERANKED)
        found = await self._index.searching(
            lambda db: self._sections(db, query, near, searched, most, most)
        )
        found = (await _reordered(reorder, query, found))[:limit]
        return await self._index.searching(lambda db: _fit(db, found, query, max_tokens))

    async def judged(
        self, query: Query, vector: Vectors, versions: Sequence[SiteVersion]
    ) -> list[JudgedSection]:
        """The sections of the first pages before their features order them, to fit the weights."""
        near = await self._near(vector, versions)
        placed, _ = await self._index.searching(
            lambda db: self._placed(db, query, near, versions, MOST_REORDERED, MOST_REORDERED)
        )
        by_id = {version.id: version for version in versions}
        judged = []
        for one in placed:
            pages = [by_id[page.version_id] for page, *_ in one.group]
            judged.append(JudgedSection(_candidate(one.group, pages, 1.0).hit.url, one.features))
        return judged

    async def _near(
        self, vector: Vectors | None, versions: Sequence[SiteVersion]
    ) -> list[ScoredChunk]:
        if vector is None:
            return []
        ids = [version.id for version in versions]
        near = await self._index.search_vectors(vector, ids, CANDIDATES * _most_alike(versions))
        return [chunk for chunk in near if chunk.score >= LEAST_NEARNESS * near[0].score]

    def _sections(
        self,
        db: Database,
        query: Query,
        near: Sequence[ScoredChunk],
        versions: Sequence[SiteVersion],
        limit: int,
        shown: int,
    ) -> list[_Candidate]:
        """The best section of each of the first pages, the first `shown` with their texts. Versions of a page, and its
        copies in other formats, are one. Lists of links come last.
        """
        by_id = {version.id: version for version in versions}
        placed, last = self._placed(db, query, near, versions, limit, shown)
        best_first = sorted(placed[:MOST_REORDERED], key=lambda one: -one.score)
        groups = [one.group for one in (*best_first, *placed[MOST_REORDERED:], *last)]
        found = []
        relevance = 1.0
        for group in groups[:limit]:
            relevance = min(relevance, max(page.relevance for page, *_ in group))
            found.append(
                _candidate(group, [by_id[page.version_id] for page, *_ in group], relevance)
            )
        return found

    def _placed(
        self,
        db: Database,
        query: Query,
        near: Sequence[ScoredChunk],
        versions: Sequence[SiteVersion],
        limit: int,
        shown: int,
    ) -> tuple[list[_Placed], list[_Placed]]:
        """The first pages in the order of their scores, each with its section; and those that are lists of links."""
        by_id = {version.id: version for version in versions}
        place = {version.id: rank for rank, version in enumerate(newest_first(versions))}
        alike = _most_alike(versions)
        first = _pages(db, query, near, list(by_id), CANDIDATES * alike)[: (limit + SPARE) * alike]
        best = [
            match.chunk_id if (match := best_definition(query, page)) else page.chunk_ids[0]
            for page in first
        ]
        chunks = {chunk.id: chunk for chunk in load_chunks(db, best, with_text=False)}
        groups = self._grouped(zip(first, map(chunks.get, best), strict=True), by_id)
        terms = query_terms(query.text)
        placed: list[_Placed] = []
        last: list[_Placed] = []
        for group in groups:
            if len(placed) == max(limit, MOST_REORDERED):
                break
            group.sort(key=lambda one: place[one[0].version_id])
            page, chunk, _ = group[0]
            section = ShownSection(chunk, 0)
            is_judged = len(placed) < max(shown, MOST_REORDERED)
            if is_judged:  # reading a text costs more than finding it
                site = by_id[page.version_id].name
                section = _section_to_show(db, query, terms, page, chunk, site)
                group[0] = (page, section.chunk, section.start)
            kind = last if is_navigation(section.chunk.content) else placed
            kind.append(_Placed(group, section.features))
        return placed, last

    def _grouped(
        self, found: Iterable[tuple[RankedPage, Chunk | None]], by_id: Mapping[int, SiteVersion]
    ) -> list[list[_Shown]]:
        """Each page with its versions and its copies in other formats. If a site begins below another and both have the
        page, it is the deeper one's. A chunk is None if it was removed in the meantime."""
        known = [(page, chunk) for page, chunk in found if chunk and self._is_open(chunk.url)]
        depth: dict[str, int] = {}
        for _, chunk in known:
            address = chunk.url.partition("#")[0]
            depth[address] = min(len(chunk.path), depth.get(address, len(chunk.path)))
        groups: defaultdict[tuple[str, str], list[_Shown]] = defaultdict(list)
        for page, chunk in known:
            if len(chunk.path) == depth[chunk.url.partition("#")[0]]:
                groups[by_id[page.version_id].name, _FORMAT.sub("", chunk.path)].append(
                    (page, chunk, 0)
                )
        return list(groups.values())


def reorder_with(reranker: Reranker, call: Call, faults: list[str]) -> Reorder:
    """What `Ranker.search` takes. A warning is added to `faults` if the reranker fails."""

    async def reorder(text: str, sections: Sequence[str]) -> Sequence[int]:
        order, fault = await reranker.order(text, sections, call)
        faults.extend([f"{NOT_RERANKED}{fault}"] if fault else [])
        return order

    return reorder


async def _reordered(reorder: Reorder, query: Query, found: list[_Candidate]) -> list[_Candidate]:
    """The candidates as `reorder` has them; the best place has the best score all the same.

    Definitions of a name in the query stay first.
    """
    first = [one for one in found if one.names]
    rest = [one for one in found if not one.names]
    if not rest:
        return found
    texts = [
        "\n".join((o.hit.page_title, *o.hit.heading_path[-1:], without_links(o.chunk.content)))
        for o in rest
    ]
    order = await reorder(query.text, texts)
    scores = [one.hit.relevance_score for one in found]
    return [
        replace(one, hit=one.hit.model_copy(update={"relevance_score": score}))
        for one, score in zip([*first, *(rest[at] for at in order)], scores, strict=True)
    ]


def _pages(
    db: Database, query: Query, near: Sequence[ScoredChunk], versions: Sequence[int], most: int
) -> list[RankedPage]:
    matched = db.search_text(TextQuery(query.phrases), versions, most)
    if len(matched) < ENOUGH and len(query.phrases) > 1:
        known = {one.chunk_id for one in matched}
        with_some = db.search_text(TextQuery(query.phrases, any=True), versions, most)
        matched += [one for one in with_some if one.chunk_id not in known]
    defined = find_symbols(db, (*query.symbols, *query.whole), versions, MOST_SYMBOLS)
    found = {one.page_id for one in (*matched, *near)} | {one.page_id for one in defined}
    return rank_pages(query, matched, near, defined, page_facts(db, sorted(found)))


_Shown = tuple[RankedPage, Chunk, int | None]
"""A page, the chunk of it to show, and where in it to begin."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """The versions of a page, and the features of the section to show. Without any, it has the definition of a name in
    the query, and comes first."""

    group: list[_Shown]
    features: Features | None

    @property
    def score(self) -> float:
        """How well it answers the query."""
        return inf if self.features is None else score(self.features)


@dataclass(frozen=True, slots=True)
class JudgedSection:
    """The address of a section, and its features, see `ShownSection`."""

    url: str
    features: Features | None


@dataclass(frozen=True, slots=True)
class ShownSection:
    """The section of a page to show: its chunk, and where in it to begin. The definition of a name in the query has no
    features: it comes first in any case."""

    chunk: Chunk
    start: int | None
    features: Features | None = None


def _section_to_show(
    db: Database, query: Query, every: Sequence[str], page: RankedPage, best: Chunk, site: str
) -> ShownSection:
    """The section that answers the query best. Words of the site's name and of the page's folders do not count.

    A definition of a name in the query, unless another chunk has more words of the query; else, of the chunks found
    and those in which the sections around the best one begin, the section with the most words of the query in its
    heading and its text, rather one with code.
    """
    told = tokens_in(f"{site} {best.path.rpartition('/')[0]}")
    terms = [term for term in every if term not in told] or every
    ids = list(dict.fromkeys((best.id, *page.chunk_ids)))
    if page.defined:
        return _definition_to_show(db, query, terms, page, ids)
    rarity = {_STEM_END.sub("", term): query.weights.get(term, UNCOUNTED) for term in terms}
    total = sum(rarity.values()) or 1  # 0 if the words were counted in an empty index
    weights = {stem: weight / total for stem, weight in rarity.items()}
    sections = _ranked_sections(
        weights, query.certain, load_with_starts(db, ids[:MOST_COMPARED], best)
    )
    texts = (section for section in sections if not is_navigation(section.chunk.content))
    best_section = next(texts, sections[0])
    chunk, start = best_section.chunk, best_section.start
    text = chunk.content[start : start + SEEN_CHARS]
    begins_inside = not start and chunk.ordinal > 0
    section = Section(
        text=text,
        heading_length=len(text.partition("\n")[0]),
        held=tuple(HeldWord(word.offset - start, word.stem) for word in best_section.held),
        begins_inside=begins_inside,
    )
    return ShownSection(chunk, start, features(page.score, query.text, weights, section))


def _definition_to_show(
    db: Database, query: Query, terms: Sequence[str], page: RankedPage, ids: Sequence[int]
) -> ShownSection:
    # An operator such as `->` is no phrase.
    both = load_chunks(db, ids[: max(1, min(2, len(query.phrases)))])
    texts = (" ".join((*chunk.heading_path, chunk.content)) for chunk in both)
    counts = [len(set(terms).intersection(found)) for found in tokens_of_each(texts)]
    chunk = both[counts.index(max(counts))]
    defined = [match for match in page.defined if match.chunk_id == chunk.id]
    return ShownSection(chunk, _definition_start(chunk, defined))


def _definition_start(chunk: Chunk, defined: Sequence[SymbolMatch]) -> int | None:
    """Where the part of a chunk begins that has the anchor of a definition, or its name in the heading."""
    starts = {start: text for start, text, _ in _parts(chunk)}
    anchors = {one.anchor for one in defined if one.anchor}
    any_name = re.compile(
        rf"(?<![\w-])(?:{'|'.join(re.escape(one.name) for one in defined) or '(?!)'})(?![\w-])"
    )
    found = (
        start
        for start, anchor in ((0, chunk.anchor), *chunk.inner)
        if anchor in anchors and start in starts
    )
    named = (start for start, text in starts.items() if any_name.search(chunk.content, start, text))
    return next(chain(found, named), None)


@dataclass(frozen=True, slots=True)
class _RankedSection:
    """A section of a chunk, and the words of the query in what would be seen of it, by their offsets in the chunk."""

    score: float
    chunk: Chunk
    start: int
    held: tuple[HeldWord, ...]


def _ranked_sections(
    weights: Mapping[str, float], names: Sequence[str], chunks: Sequence[Chunk]
) -> list[_RankedSection]:
    """The sections of chunks, those with the most words first, which count by their weights. Words that follow each
    other in the query and in the heading count more, and so does one of the names in it."""
    found: list[_RankedSection] = []
    pairs = set(pairwise(weights))
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names)) or '(?!)'})(?!\w)")
    for rank, chunk in enumerate(chunks):
        text = chunk.content[:MOST_JUDGED]
        held = [HeldWord(offset, stem) for offset, stem in _places(text, weights)]
        for start, end, stop in takewhile(lambda part: part[0] < MOST_JUDGED, _parts(chunk)):
            seen = max(end, min(stop, start + SEEN_CHARS))
            inside = tuple(word for word in held if start <= word.offset < seen)
            in_heading = [word.stem for word in inside if word.offset < end]
            begins_inside = not end and chunk.ordinal > 0
            points = BEST_GAIN / (rank + 1)
            points += CODE_GAIN * ("```" in text[start:seen])
            points -= MIDDLE_LOSS * begins_inside
            points += bool(named.search(text, start, end))
            points += PAIR_GAIN * len(pairs.intersection(pairwise(in_heading)))
            points += sum(weights[stem] for stem in {word.stem for word in inside})
            points += sum(weights[stem] for stem in set(in_heading))
            found.append(_RankedSection(points, chunk, start, inside))
    return sorted(found, key=lambda section: -section.score)


def _parts(chunk: Chunk) -> list[tuple[int, int, int]]:
    """The sections in a chunk, by their headings or the lines of definitions: where each begins, where its text begins
    (0 if the chunk begins inside it), and where it ends, which is after the sections below it.
    """
    text = chunk.content
    code = [(0, 0), *code_blocks(text)]
    begins = [begin for begin, _ in code]
    heads = {
        start: _DEFINITION_LEVEL for start, _ in chunk.inner if not text.startswith("|", start)
    }
    if text.startswith("**"):
        heads[0] = _DEFINITION_LEVEL
    heads |= {match.start(): len(match[1]) for match in _HEADING.finditer(text)}
    starts = [
        start for start in sorted(heads) if start >= code[max(0, bisect_left(begins, start) - 1)][1]
    ]
    found = [] if 0 in heads else [(0, 0, starts[0] if starts else len(text))]
    for place, start in enumerate(starts):
        after = (other for other in starts[place + 1 :] if heads[other] <= heads[start])
        end = text.find("\n", start)
        found.append((start, len(text) if end < 0 else end, next(after, len(text))))
    return found


def _fit(
    db: Database, found: Sequence[_Candidate], query: Query, most: int
) -> tuple[list[DocsHit], list[DocsMore]]:
    """The first results with their texts, cut where they are long, and the titles of the others."""
    count = _most_shown(most)
    shown = [
        _extended(db, one, ENOUGH_TEXT if rank else ENOUGH_FIRST)
        for rank, one in enumerate(found[:count])
    ]
    long = [one for one in shown if one.names or estimate_tokens(one.hit.content) >= LEAST_TEXT]
    told = long if len(long) >= LEAST_SHOWN else shown
    rest = [_more(one.hit) for one in (*shown, *found[count:]) if one not in told]
    overheads = [
        _json_tokens(one.hit.model_copy(update={"content": ""}).model_dump()) for one in told
    ]
    wants = [_json_tokens(one.hit.content) for one in told]
    terms = query_terms(query.text)
    titles = sum(_json_tokens(one.model_dump()) for one in rest)
    shares = share_out(overheads, wants, most - min(titles, int(MOST_TITLES * most)))
    results = [
        one.hit.model_copy(update={"content": _cut_to_share(one, terms, share)})
        for one, share in zip(told, shares, strict=False)
    ]
    rest = [*(_more(one.hit) for one in told[len(results) :]), *rest]
    left = most - sum(map(add, overheads, (_json_tokens(one.content) for one in results)))
    costs = accumulate(_json_tokens(one.model_dump()) for one in rest)
    return results, rest[: sum(cost <= left for cost in costs)]


def _extended(db: Database, one: _Candidate, enough: int) -> _Candidate:
    """A candidate without link addresses, from its section on. A short one is given the next text of its page, the last
    of a page the text before it.
    """
    text = without_links(one.chunk.content[one.start or 0 :])
    if estimate_tokens(text) < enough:
        page_id, place = one.chunk.page_id, one.chunk.ordinal
        if after := page_chunks(db, page_id, place + 1, place + 2):
            text = "\n\n".join([text, *_texts(after)])
        elif place and not one.names:
            text = "\n\n".join([*_texts(page_chunks(db, page_id, place - 1, place)), text])
    return replace(one, hit=one.hit.model_copy(update={"content": text}))


def _texts(chunks: Sequence[Chunk]) -> list[str]:
    return [without_links(one.content) for one in chunks if not is_navigation(one.content)]


def _cut_to_share(one: _Candidate, terms: Sequence[str], share: int) -> str:
    """The text of a result, cut to its share of the JSON. A definition is shown from its beginning."""
    text = one.hit.content
    cost = _json_tokens(text)
    if cost <= share:
        return text
    room = share * estimate_tokens(text) // cost - 1
    own = without_links(one.chunk.content[one.start or 0 :])
    if not text.startswith(own):  # it was given the text before it
        text = own
    is_mostly_whole = estimate_tokens(own) <= MOSTLY * room
    return (
        excerpt(text, (), room)
        if is_mostly_whole or (one.names and one.start is not None)
        else excerpt(text, terms, room, one.names)
    )


def _more(hit: DocsHit) -> DocsMore:
    title = " > ".join(dict.fromkeys((hit.page_title, *hit.heading_path[-1:])))
    return DocsMore(title=title, section_id=hit.section_id, url=hit.url)


def _most_shown(most: int) -> int:
    """The most results with text in a reply of `most` tokens."""
    return max(LEAST_SHOWN, most // TOKENS_A_SECTION)


def _most_alike(versions: Sequence[SiteVersion]) -> int:
    """The largest number of versions of one site."""
    return min(
        MOST_VERSIONS, max(Counter(version.name for version in versions).values(), default=1)
    )


def _candidate(
    group: Sequence[_Shown], versions: Sequence[SiteVersion], relevance: float
) -> _Candidate:
    """The first of several versions of a page, and the links to the others."""
    page, chunk, start = group[0]
    defined = [match for match in page.defined if match.chunk_id == chunk.id]
    before = (anchor for offset, anchor in reversed(chunk.inner) if offset <= (start or 0))
    anchor = next((match.anchor for match in defined if match.anchor), "") or next(before, "")
    hit = DocsHit(
        content=chunk.content,
        url=f"{chunk.url.partition('#')[0]}#{quote(anchor, safe=_FRAGMENT)}"
        if anchor
        else chunk.url,
        page_title=chunk.page_title,
        heading_path=_headings_at(chunk, start or 0),
        site_name=versions[0].name,
        site_version=versions[0].label,
        relevance_score=round(relevance, 3),
        section_id=chunk.section_id,
        also_in=tuple(
            DocsOtherVersion(site_version=version.label, url=other.url, section_id=other.section_id)
            for (_, other, _), version in zip(group[1:], versions[1:], strict=True)
            if version.id != page.version_id
        ),
        fetched_at=datetime.fromtimestamp(chunk.fetched_at, UTC).isoformat(timespec="seconds"),
    )
    forms = [form for match in defined for form in (match.name, match.name.rpartition(".")[2])]
    return _Candidate(hit, chunk, tuple(forms), start)


def _headings_at(chunk: Chunk, start: int) -> tuple[str, ...]:
    """The heading path of a section in a chunk, whose own path is that of its first section or of all."""
    heading = _HEADING.match(chunk.content, start) if start else None
    if heading is None:
        return chunk.heading_path
    title = plain(chunk.content[start : chunk.content.find("\n", start)])
    first = _HEADING.match(chunk.content)
    is_of_first = first and plain(chunk.content.partition("\n")[0]) == "".join(
        chunk.heading_path[-1:]
    )
    above = (
        chunk.heading_path[:-1]
        if first and is_of_first and len(heading[1]) <= len(first[1])
        else chunk.heading_path
    )
    return (*above, title)


_HEADING = re.compile(r"^ {0,3}(#{1,6}) ", re.MULTILINE)
_DEFINITION_LEVEL = 7
"""Below every heading."""
_FORMAT = re.compile(r"(?:(?:^|(?<=/))index)?(?:\.(?:html?|md|mdx|rst|txt))*$")
_FRAGMENT = "!$&'()*+,;=:@/?-._~"  # RFC 3986, section 3.5


def _json_tokens(value: object) -> int:
    return estimate_tokens(json.dumps(value, ensure_ascii=False))


LEAST_CONTENT = 60
"""The fewest tokens of text for a useful result."""

FIRST_SHARE, FIRST_WEIGHT = 0.15, 1.5
"""The text of the first result gets at least this part of the reply, and the more of the rest by its weight: it should
answer, not only point to an answer."""


def share_out(overheads: Sequence[int], wants: Sequence[int], most: int) -> list[int]:
    """The tokens of text for each result that fits, best first.

    Earlier results get more, in the proportion 1.5 : 1/2 : 1/3 ... Later results get the tokens that one does not need.
    The last results are left out if the first would get too little.

    Args:
        overheads: the tokens of each result besides its text.
        wants: the tokens of each whole text.
        most: the limit for the whole reply.
    """
    least = [
        min(want, max(LEAST_CONTENT, int(most * FIRST_SHARE / place)))
        for place, want in enumerate(wants, 1)
    ]
    needs = accumulate(map(add, overheads, least))
    count = sum(need <= most for need in needs)
    left = most - sum(overheads[:count])
    shares = []
    for place in range(count):
        weights = [1 / (later + 1) if later else FIRST_WEIGHT for later in range(place, count)]
        reserved = sum(least[place + 1 : count])
        share = min(
            wants[place],
            max(least[place], min(int(left * weights[0] / sum(weights)), left - reserved)),
        )
        shares.append(share)
        left -= share
    return shares


LEAST_CODE = 80
"""With fewer tokens left, a code block that does not fit is left out."""

NOTE = "[Cut: read_docs with the section_id gives all of it.]"

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")


def excerpt(
    markdown: str, terms: Collection[str], most_tokens: int, names: Collection[str] = ()
) -> str:
    """The text, or the run of its sentences and code around the one that has most of `terms`, with a note.

    It begins with the text if that has as many of them; else with the heading of that section if half of the room holds
    all until then; and never inside code.

    Args:
        terms: tokens of the query, see `tokenization`.
        most_tokens: the limit, as `estimate_tokens` counts. A longer sentence is cut between words, code between lines.
        names: names in the query that the text defines; a line that begins with one matters most.
    """
    if estimate_tokens(markdown) <= most_tokens:
        return markdown
    found = list(blocks(markdown))
    size = _size_in(markdown)
    room = most_tokens - estimate_tokens(f"\n\n{NOTE}")
    if not found or room <= 0:
        return _cut(markdown, 0, room)
    held = _places(markdown, {_STEM_END.sub("", term) for term in terms})
    best = _best(markdown, [(block.start, block.end) for block in found], held, names)
    if (
        best
        and not names
        and _reached(markdown, 0, room, held) >= _reached(markdown, found[best].start, room, held)
    ):
        best, held = 0, []  # what introduces a section explains the rest of it
    own = _units(markdown, found[best])
    fitting = [unit for unit in own if size(*unit) <= room]
    if not fitting:
        return _cut(markdown, own[0][0], room, names)
    first = own.index(fitting[_best(markdown, fitting, held, names)])
    start, end = own[first]
    heading = next(
        (block.start for block in reversed(found[: best + 1]) if block.kind == "heading"), start
    )
    if size(heading, end) <= room // 2:
        start = heading
    # Split lazily, only as many blocks as fit: finding sentences takes most of the time.
    after = chain(
        own[first + 1 :], (unit for block in found[best + 1 :] for unit in _units(markdown, block))
    )
    before_last = end
    for begin, stop in after:  # text after the best sentence is more useful than text before it
        if size(start, stop) > room:
            left = most_tokens - size(start, begin)
            if left >= LEAST_CODE and _FENCE.match(markdown, begin):
                return markdown[start:begin] + _cut(
                    markdown, begin, left - estimate_tokens(f"\n\n{NOTE}")
                )
            if markdown.endswith(":", start, end):  # without the code or list that it announces
                end = before_last
            break
        before_last, end = end, stop
    before = (
        unit for block in reversed(found[: best + 1]) for unit in reversed(_units(markdown, block))
    )
    for begin, _ in before:
        if size(begin, end) > room:
            break
        start = min(start, begin)
    return f"{markdown[start:end]}\n\n{NOTE}"


_UNSPACED = re.compile(rf"[{UNSPACED}]")


def _size_in(text: str) -> Callable[[int, int], int]:
    """`estimate_tokens` of parts of a text; it reads them only if the text has characters that are a token each."""
    if text.isascii() or not _UNSPACED.search(text):
        return lambda start, end: (end - start + 3) // 4
    return lambda start, end: estimate_tokens(text[start:end])


def without_links(markdown: str) -> str:
    """The text of links without their addresses. Code stays as it is."""
    if "](" not in markdown:
        return markdown
    parts, at = [], 0
    for start, end in code_blocks(markdown):
        parts += [LINK.sub(r"\1", markdown[at:start]), markdown[start:end]]
        at = end
    return "".join([*parts, LINK.sub(r"\1", markdown[at:])])


def _cut(markdown: str, start: int, room: int, names: Collection[str] = ()) -> str:
    """The lines of a code block from the one that defines or names one of `names` on, else from its start; or the first
    words of a text; with a note.
    """
    if fence := _FENCE.match(markdown, start):
        opening = markdown[start : markdown.find("\n", start) + 1]
        rest = markdown[start + len(opening) :]
        closing = re.search(rf"^[ \t]*{re.escape(fence[1])}", rest, re.MULTILINE)
        body = rest[: closing.start()] if closing else rest
        first = _line_of(body, names) if names else 0
        room -= estimate_tokens(f"{opening}\n{fence[1]}")
        while (
            first
            and estimate_tokens(body[(earlier := body.rfind("\n", 0, first - 1) + 1) :]) <= room
        ):
            first = earlier  # the end of the code leaves room for lines before the name
        shown = _window(body, first, room).strip("\n") if room > 0 and opening else ""
        if first + len(shown) < len(body.rstrip()):  # without a part of a line
            shown = shown.rpartition("\n")[0] or shown
        return f"{opening}{shown.rstrip()}\n{fence[1]}\n\n{NOTE}" if shown else ""
    piece = _window(markdown, start, room).strip() if room > 0 else ""
    return f"{piece}\n\n{NOTE}" if piece else ""


_IN_USE = "await|case|elif|else|if|in|new|not|or|and|raise|return|throw|while|yield"


def _line_of(code: str, names: Collection[str]) -> int:
    """Where the line begins that defines one of the names: after words such as `def` or `static int`, before a bracket,
    a colon or `=`. Else that of the first use; 0 without any.
    """
    any_name = "|".join(map(re.escape, names))
    declared = rf"^[ \t]*+(?!(?:{_IN_USE})\b)(?:[\w*&:<>\[\],.@]++[ \t]++){{1,6}}?[*&]*(?:{any_name})[ \t]*[({{<:=]"
    found = re.search(declared, code, re.MULTILINE) or re.search(
        rf"(?<!\w)(?:{any_name})(?!\w)", code
    )
    return code.rfind("\n", 0, found.end()) + 1 if found else 0


def _reached(markdown: str, start: int, room: int, held: Sequence[tuple[int, str]]) -> int:
    """How many of the terms stand in the text that fits from `start` on."""
    end = start + len(_window(markdown, start, room))
    return len({term for at, term in held if start <= at < end})


def _window(text: str, start: int, room: int) -> str:
    """As much text as fits: a token has four characters, in some scripts one."""
    piece = window(text, start, 4 * room)[0]
    return piece if estimate_tokens(piece) <= room else window(text, start, room)[0]


def _units(markdown: str, block: Block) -> list[tuple[int, int]]:
    """The sentences or rows of a block; code is one unit."""
    return (
        [(block.start, block.end)] if block.kind == "code" else list(sentences_of(markdown, block))
    )


def _best(
    markdown: str,
    spans: Sequence[tuple[int, int]],
    held: Sequence[tuple[int, str]],
    names: Collection[str],
) -> int:
    """The place of the first span with the most terms; a definition counts more than all terms."""
    starts = [start for start, _ in spans]
    found: list[set[str]] = [set() for _ in spans]
    for at, term in held:
        place = max(0, bisect_right(starts, at) - 1)
        if starts[0] <= at < spans[place][1]:
            found[place].add(term)
    score = [len(terms) for terms in found]
    if names:
        defines = re.compile(
            rf"(?:[*`@|\s]|\*[a-z ]+\*)*(?:{'|'.join(map(re.escape, names))})(?![\w-])"
        )
        for place, (start, end) in enumerate(spans):
            if not _FENCE.match(markdown, start):  # code assigns to names and calls them
                score[place] += (len(held) + 1) * any(
                    defines.match(markdown, *line) for line in lines(markdown, start, end)
                )
    return max(range(len(score)), key=lambda place: (score[place], -place))


def _places(text: str, stems: Iterable[str]) -> list[tuple[int, str]]:
    """Where words begin with these stems, and the longest such stem. In a script without spaces, also inside words."""
    lowered = text.lower()
    found: dict[int, str] = {}
    for stem in sorted(filter(None, stems), key=len):
        at = lowered.find(stem)
        while at >= 0:
            if not at or not stem.isascii() or not lowered[at - 1].isalnum():
                found[at] = stem
            at = lowered.find(stem, at + len(stem))
    return sorted(found.items())


_STEM_END = re.compile(r"(?<=..)i$|(?<=....)e$")
"""The last letter of a stem, which may differ in a word: `query`, `queri`; `writing`."""
