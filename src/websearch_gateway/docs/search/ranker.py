"""Puts the sections that answer a query in order: candidates, their features, one product."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from websearch_gateway.docs.models import ScoredChunk, SiteVersion
from websearch_gateway.docs.search.candidates import CANDIDATES, Candidate, candidates
from websearch_gateway.docs.search.features import (
    PageFeatures,
    SectionFeatures,
    WeighedQuery,
    page_features,
    section_features,
)
from websearch_gateway.docs.search.model import fitted_weights, score
from websearch_gateway.docs.search.names import best_definition, count_defined
from websearch_gateway.docs.search.query import Query, parse
from websearch_gateway.docs.search.reply import (
    LIST_OF_LINKS,
    MAX_TOKENS,
    Result,
    fit,
    most_shown,
    result_of,
)
from websearch_gateway.docs.search.sections import Section, sections_of
from websearch_gateway.docs.search.spelling import counted, replaced
from websearch_gateway.docs.store.pages import load_chunks, load_with_starts, most_chunks
from websearch_gateway.ports import NOT_RERANKED

if TYPE_CHECKING:
    from websearch_gateway.docs.models import Chunk
    from websearch_gateway.docs.store.database import Database
    from websearch_gateway.docs.store.docs import SqlDocs
    from websearch_gateway.models import Call
    from websearch_gateway.ports import Reranker, Vectors
    from websearch_gateway.results import DocsHit, DocsMore

LEAST_NEARNESS = 0.6
"""A chunk with less than this share of the nearest one's similarity is no candidate: in a small index every chunk is
among the nearest."""
MOST_VERSIONS = 4
"""The most versions of a site for which more candidates are taken."""
SPARE = 5
"""So many more pages than results are considered, since some are copies of others."""
MOST_READ = 6
"""So many of the first pages are read, and ordered by their sections."""
MOST_REORDERED = 20
"""So many of the first sections a reranker puts in order."""
MOST_COMPARED = 2
"""The most chunks found of a page of which the sections are compared."""

Reorder = Callable[[str, Sequence[str]], Awaitable[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page with its features and their product. `names` says how many names of the query it defines: it comes before
    all pages with fewer."""

    candidate: Candidate
    features: PageFeatures
    score: float
    names: int


@dataclass(frozen=True, slots=True)
class PageVersion:
    """A page in one version of its site, with the first of its chunks, whose text is not loaded."""

    ranked: RankedPage
    chunk: Chunk
    site: SiteVersion


@dataclass(frozen=True, slots=True)
class VersionedPage:
    """The versions of a page, the newest first. `best` is the one that ranks first."""

    best: RankedPage
    versions: Sequence[PageVersion]

    @property
    def newest(self) -> PageVersion:
        """The version that is read and shown."""
        return self.versions[0]


@dataclass(frozen=True, slots=True)
class RankedSection:
    """A section with its features and their product."""

    section: Section
    features: SectionFeatures
    score: float


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page with its sections, and the best of them, which is shown."""

    page: VersionedPage
    sections: Sequence[RankedSection]
    best: RankedSection

    @classmethod
    def of(cls, page: VersionedPage, sections: Sequence[RankedSection]) -> ReadPage:
        """The best section is the one with the highest product; on a page that defines a name of the query the
        definition, unless another section has more words of the query."""
        if page.newest.ranked.candidate.defined:
            best = max(
                sections,
                key=lambda ranked: (ranked.section.distinct, ranked.section.defines, ranked.score),
            )
        else:
            best = max(sections, key=lambda ranked: ranked.score)
        return cls(page, sections, best)

    @property
    def place(self) -> tuple[bool, int, float]:
        """What to sort pages by: definitions come first, lists of links last."""
        is_list = self.best.features.links > LIST_OF_LINKS
        return is_list, -self.page.best.names, -self.page.best.score - self.best.score

    @property
    def relevance(self) -> float:
        """1 for a section with all words of the query, half the page's similarity for one without any."""
        words = self.best.features.words
        return (words + max(words, self.page.best.features.near)) / 2

    def url(self, section: Section) -> str:
        """The address that a search would give for a section."""
        return result_of(self.page.versions, section, 0.0).hit.url


@dataclass(frozen=True, slots=True)
class Search:
    """What a search begins with: the query, the chunks whose vectors are near to it, and where to look."""

    query: Query
    near: Sequence[ScoredChunk]
    versions: Sequence[SiteVersion]


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
        labels = {version.label for version in versions}
        return parse(replaced(text, instead), labels, weights), instead

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
        search = Search(query, await self._near(vector, searched), searched)
        if reorder is None:
            shown = min(limit, most_shown(max_tokens))
            return await self._index.searching(
                lambda db: fit(db, self._results(db, search, limit, shown), query, max_tokens)
            )
        most = max(limit, MOST_REORDERED)
        results = await self._index.searching(
            lambda db: self._results(db, search, most, MOST_REORDERED)
        )
        first = await _reordered(reorder, query, results[:MOST_REORDERED])
        in_order = [*first, *results[MOST_REORDERED:]][:limit]
        return await self._index.searching(lambda db: fit(db, in_order, query, max_tokens))

    async def read_pages(
        self, query: Query, vector: Vectors, versions: Sequence[SiteVersion], most: int
    ) -> list[ReadPage]:
        """The first pages with all sections that were compared, to fit the weights."""
        search = Search(query, await self._near(vector, versions), versions)

        def read(db: Database) -> list[ReadPage]:
            weighed, pages = self._first_pages(db, search, most)
            return _read(db, weighed, pages[:most])

        return await self._index.searching(read)

    async def _near(
        self, vector: Vectors | None, versions: Sequence[SiteVersion]
    ) -> list[ScoredChunk]:
        if vector is None:
            return []
        ids = [version.id for version in versions]
        near = await self._index.search_vectors(vector, ids, CANDIDATES * _most_alike(versions))
        return [chunk for chunk in near if chunk.score >= LEAST_NEARNESS * near[0].score]

    def _results(self, db: Database, search: Search, limit: int, shown: int) -> list[Result]:
        """The best section of each of the first pages, best first; then the pages that are not read."""
        query, pages = self._first_pages(db, search, limit)
        read_count = max(shown, MOST_READ)
        read = _read(db, query, pages[:read_count])
        read.sort(key=lambda page: page.place)
        results: list[Result] = []
        relevance = 1.0
        for page in read[:limit]:
            relevance = min(relevance, page.relevance)  # never higher than that of an earlier page
            results.append(result_of(page.page.versions, page.best.section, relevance))
        unread = pages[read_count:limit]
        return results + [result_of(page.versions, None, 0.0) for page in unread]

    def _first_pages(
        self, db: Database, search: Search, limit: int
    ) -> tuple[WeighedQuery, list[VersionedPage]]:
        """The pages in the order of their own features, with their versions; and the query as they are compared."""
        by_id = {version.id: version for version in search.versions}
        alike = _most_alike(search.versions)
        found = candidates(db, search.query, search.near, list(by_id), CANDIDATES * alike)
        query = WeighedQuery.among(search.query, found)
        considered = (max(limit, MOST_READ) + SPARE) * alike
        first = ranked_pages(query, found)[:considered]
        chunk_ids = [_first_chunk(search.query, ranked.candidate) for ranked in first]
        chunks = {chunk.id: chunk for chunk in load_chunks(db, chunk_ids, with_text=False)}
        versions = []
        for ranked, chunk_id in zip(first, chunk_ids, strict=True):
            chunk = chunks.get(chunk_id)  # None: it was removed in the meantime
            if chunk and self._is_open(chunk.url):
                versions.append(PageVersion(ranked, chunk, by_id[ranked.candidate.version_id]))
        return query, _grouped(versions)


def ranked_pages(query: WeighedQuery, pages: Collection[Candidate]) -> list[RankedPage]:
    """The pages by what is known of them before they are read, best first.

    Pages that define names of the query come before all others, unless they announce something that nobody asks for, or
    stand on another site than the query names: with `doxygen -g` nobody asks for the `-g` of another program.
    """
    weights = fitted_weights().page
    named_sites = set()
    for page in pages:
        if page.defined and query.names_site(page.facts.site):
            named_sites.add(page.facts.site)
    ranked = []
    for page in pages:
        features = page_features(query, page)
        is_elsewhere = named_sites and page.facts.site not in named_sites
        defines = page.defined and not features.unasked and not is_elsewhere
        names = count_defined(query.parsed, page.defined) if defines else 0
        ranked.append(RankedPage(page, features, score(features, weights), names))
    return sorted(ranked, key=lambda page: (-page.names, -page.score))


def _first_chunk(query: Query, page: Candidate) -> int:
    match = best_definition(query, page.defined)
    return match.chunk_id if match else next(iter(page.chunks))


def _grouped(versions: Sequence[PageVersion]) -> list[VersionedPage]:
    """Each page with its versions and its copies in other formats. If a site begins below another and both have the
    page, it is the deeper one's."""
    shortest_path: dict[str, int] = {}
    for version in versions:
        address, path = _address(version), version.chunk.path
        shortest_path[address] = min(len(path), shortest_path.get(address, len(path)))
    groups: defaultdict[tuple[str, str], list[PageVersion]] = defaultdict(list)
    for version in versions:
        path = version.chunk.path
        if len(path) == shortest_path[_address(version)]:
            groups[version.site.name, _FORMAT.sub("", path)].append(version)
    sites = newest_first([version.site for version in versions])
    newness = {site.id: place for place, site in enumerate(sites)}
    return [
        VersionedPage(group[0].ranked, sorted(group, key=lambda version: newness[version.site.id]))
        for group in groups.values()
    ]


def _address(version: PageVersion) -> str:
    return version.chunk.url.partition("#")[0]


def _read(db: Database, query: WeighedQuery, pages: Sequence[VersionedPage]) -> list[ReadPage]:
    """For each page the sections of its best chunks, of the one in which the section around the first begins, and of the
    first of the page."""
    compared = []
    for page in pages:
        chunk = page.newest.chunk
        ids = dict.fromkeys((chunk.id, *page.newest.ranked.candidate.chunks))
        compared.append((chunk, list(ids)[:MOST_COMPARED]))
    loaded = load_with_starts(db, compared)
    return [
        ReadPage.of(page, _ranked_sections(query, page.newest, chunks))
        for page, chunks in zip(pages, loaded, strict=True)
    ]


def _ranked_sections(
    query: WeighedQuery, version: PageVersion, chunks: Sequence[Chunk]
) -> list[RankedSection]:
    weights = fitted_weights().section
    ranked = []
    for chunk in chunks:
        is_first = chunk.id == version.chunk.id  # other definitions of a name are worse ones
        defined = version.ranked.candidate.defined if is_first else ()
        for section in sections_of(chunk, query.beginnings, defined):
            features = section_features(query, section)
            ranked.append(RankedSection(section, features, score(features, weights)))
    return ranked


def reorder_with(reranker: Reranker, call: Call, faults: list[str]) -> Reorder:
    """What `Ranker.search` takes. A warning is added to `faults` if the reranker fails."""

    async def reorder(text: str, sections: Sequence[str]) -> Sequence[int]:
        order, fault = await reranker.order(text, sections, call)
        if fault:
            faults.append(f"{NOT_RERANKED}{fault}")
        return order

    return reorder


async def _reordered(reorder: Reorder, query: Query, results: list[Result]) -> list[Result]:
    """The results as `reorder` has them; the best place has the best score all the same.

    Definitions of a name in the query stay first.
    """
    definitions = [result for result in results if result.names]
    others = [result for result in results if not result.names]
    if not others:
        return results
    order = await reorder(query.text, [result.read_by_reranker for result in others])
    scores = [result.hit.relevance_score for result in results]
    in_order = [*definitions, *(others[place] for place in order)]
    return [
        replace(result, hit=result.hit.model_copy(update={"relevance_score": points}))
        for result, points in zip(in_order, scores, strict=True)
    ]


def _most_alike(versions: Sequence[SiteVersion]) -> int:
    """The largest number of versions of one site."""
    counts = Counter(version.name for version in versions)
    return min(MOST_VERSIONS, max(counts.values(), default=1))


_FORMAT = re.compile(r"(?:(?:^|(?<=/))index)?(?:\.(?:html?|md|mdx|rst|txt))*$")
_NUMBERS = re.compile(r"\d+")
_UNSTABLE = re.compile(
    r"(?<![a-z])(?:a|b|c|alpha|beta|rc|dev|devel|pre|preview|snapshot|nightly|canary|next|edge|main|master|trunk|head|"
    r"unstable)(?![a-z])",
    re.IGNORECASE,
)
_ROLLING = frozenset(("latest", "stable", "current", "lts", "release"))


def newest_first(versions: Sequence[SiteVersion]) -> list[SiteVersion]:
    """The versions, the newest stable one first.

    `latest` and similar labels come before every number, pre-releases after every release. Other labels are ordered by
    the time of indexing.
    """

    def order(version: SiteVersion) -> tuple[bool, bool, tuple[int, ...], float]:
        label = version.label.strip()
        numbers = tuple(int(number[:9]) for number in _NUMBERS.findall(label)[:6])
        return (
            not _UNSTABLE.search(label),
            label.lower() in _ROLLING,
            numbers,
            version.indexed_at or 0.0,
        )

    return sorted(versions, key=order, reverse=True)
