"""What is known of a page and of a section for a query, as numbers. Pure.

Most are shares in 0..1. Words of the query count by how rare they are, all of them together 1.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from websearch_gateway.base import STOP_WORDS, fold, query_terms, tokens, words
from websearch_gateway.docs.search.sections import HeldWord, Section, beginnings_of, link_share

if TYPE_CHECKING:
    from websearch_gateway.docs.models import PageFacts
    from websearch_gateway.docs.search.candidates import Candidate
    from websearch_gateway.docs.search.query import Query

WITHIN = 200
"""Words with at most so many characters between them stand close to each other."""
RICH = 12
"""A section with so many words of the query has many."""


class PageFeatures(NamedTuple):
    """What is known of a page before it is read.

    Args:
        found: how early the searches find its chunks, as a logarithm.
        near: the cosine of its chunk that is nearest to the query.
        size: the logarithm of the number of its chunks: some of many fit any query.
        title: the words of the query in its title. They count by how few of the candidates' titles have them: the name
            of the product tells nothing.
        named: whether the query names its site or its top folder: `sqlite/` for "a SQLite table".
        guide: whether the query is a question, and this a guide to one of its words. A reference says what there is,
            not how it is used.
        unasked: whether it announces something or is a source file, and the query asks for no such page.
        defines: how early it is among the definitions of names in the query.
    """

    found: float
    near: float
    size: float
    title: float
    named: float
    guide: float
    unasked: float
    defines: float


class SectionFeatures(NamedTuple):
    """What is known of a section, as far as it would be seen.

    Args:
        words: the words of the query that it holds.
        close: those that stand close to each other.
        heading: those in its heading.
        path: those in the headings above its chunk.
        pairs: the pairs of words that follow each other, in the query and here.
        run: the longest run of words of the query, an error's message for example.
        rich: how many words of the query it holds, each time that it does.
        code: whether it has a code block.
        inside: whether it begins in the middle of another section.
        links: the share of links in its text.
    """

    words: float
    close: float
    heading: float
    path: float
    pairs: float
    run: float
    rich: float
    code: float
    inside: float
    links: float


@dataclass(frozen=True, slots=True)
class WeighedQuery:
    """A query as the features compare pages and sections with it.

    `shares` are the weights of its words by their stems, `in_titles` their weights in a title; each 1 together.
    """

    parsed: Query
    shares: Mapping[str, float]
    in_titles: Mapping[str, float]
    beginnings: Mapping[str, str]
    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    is_question: bool
    wants_news: bool
    wants_source: bool

    @classmethod
    def among(cls, query: Query, pages: Collection[Candidate]) -> WeighedQuery:
        """A query that has these candidates. The names of their sites do not choose among the pages of a site."""
        content_words = frozenset(words(query.text)) - STOP_WORDS
        sites = {page.facts.site for page in pages}
        site_names = frozenset().union(*map(_names_of, sites))
        name_tokens = tokens_in(" ".join(sorted(site_names & content_words)))
        every_term = query_terms(query.text)
        terms = [term for term in every_term if term not in name_tokens] or every_term
        return cls(
            parsed=query,
            shares=_shares({term: query.weights.get(term, 1.0) for term in terms}),
            in_titles={} if query.is_names else _shares(_rarity_in_titles(terms, pages)),
            beginnings=beginnings_of(terms),
            words=content_words,
            pairs=frozenset(pairwise(terms)),
            is_question=not query.symbols and bool(_QUESTION.search(query.text)),
            wants_news=bool(_NEWS_WANTED.search(query.text)),
            wants_source=bool(_SOURCE_WANTED.search(query.text)),
        )

    def names_site(self, site: str) -> bool:
        """Whether a name of the site is among its words."""
        return not self.words.isdisjoint(_names_of(site))


def _rarity_in_titles(terms: Sequence[str], pages: Collection[Candidate]) -> dict[str, float]:
    rarity = {}
    for term in terms:
        having = sum(term in page.title_tokens for page in pages)
        rarity[term] = log((len(pages) + 1) / (having + 0.5))
    return rarity


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values()) or 1  # 0 in an empty index
    return {term: weight / total for term, weight in weights.items()}


def page_features(query: WeighedQuery, page: Candidate) -> PageFeatures:
    """The features of a page."""
    ranks = page.chunks.values()
    return PageFeatures(
        found=log(sum([rank.total for rank in ranks])),
        near=max([rank.nearness for rank in ranks]),
        size=log(max(1, page.facts.chunks)),
        title=_weight_of(page.title_tokens, query.in_titles),
        named=float(_is_named(query, page.facts)),
        guide=float(query.is_question and _is_guide(query, page)),
        unasked=float(_is_unasked(query, page.facts)),
        defines=max([rank.names for rank in ranks]),
    )


def section_features(query: WeighedQuery, section: Section) -> SectionFeatures:
    """The features of a section."""
    text = section.text
    shares = query.shares
    stems = [word.stem for word in section.held]
    in_heading = {word.stem for word in section.held if word.offset < section.body}
    above = tokens_in(" ".join(section.chunk.heading_path))
    following = list(pairwise(stems))
    pair_count = max(1, len(query.pairs))
    return SectionFeatures(
        words=_weight_of(set(stems), shares),
        close=_closest(section.held, shares),
        heading=_weight_of(in_heading, shares),
        path=_weight_of(above, shares),
        pairs=len(query.pairs.intersection(following)) / pair_count,
        run=_longest_run(following, query.pairs) / pair_count,
        rich=min(len(stems), RICH) / RICH,
        code=float("```" in text),
        inside=float(section.begins_inside),
        links=link_share(text),
    )


def _weight_of(stems: Collection[str], shares: Mapping[str, float]) -> float:
    """The weight of the words of the query that are among these."""
    return sum([share for stem, share in shares.items() if stem in stems])


def _is_named(query: WeighedQuery, facts: PageFacts) -> bool:
    folder, slash, _ = facts.path.partition("/")
    is_in_folder = bool(slash) and fold(unquote(folder)) in query.words
    return is_in_folder or query.names_site(facts.site)


@lru_cache(maxsize=64)
def _names_of(site: str) -> frozenset[str]:
    """What a query may call a site: `jinja2` and `jinja`; `aiohttp`, for docs.aiohttp.org."""
    *parts, last = fold(site).split(".")
    names = {word for part in parts or [last] for word in words(part)}
    return frozenset(names | {word.rstrip(string.digits) for word in names})


def _is_guide(query: WeighedQuery, page: Candidate) -> bool:
    is_about_a_word = not query.shares.keys().isdisjoint(page.title_tokens)
    return is_about_a_word and bool(_GUIDE.search(page.facts.path))


def _is_unasked(query: WeighedQuery, facts: PageFacts) -> bool:
    if not query.wants_news and (_NEWS_PATH.search(facts.path) or _NEWS_TITLE.search(facts.title)):
        return True
    return not query.wants_source and bool(_SOURCE_TITLE.search(facts.title))


_NEWS_PATH = re.compile(
    r"(?:^|/)(?:blog|news|announcements?|(?:[^/]*-)?release-?(?:s|log|notes)?|relnotes|(?:[^/]*-)?change-?(?:s|logs?)"
    r"|whats-?new)(?:[-_.]?v?\d[^/]*|\.html?)?(?:/|$)",
    re.IGNORECASE,
)
_NEWS_TITLE = re.compile(
    r"\b(?:release notes|change ?log|what[’']s new|release history)\b", re.IGNORECASE
)
_NEWS_WANTED = re.compile(
    r"\b(?:releas|changed|changes|change ?log|new\b|news\b|blog|since\b|version|migrat|upgrad|deprecat|announc|remov"
    r"|v?\d+\.\d)",
    re.IGNORECASE,
)
_SOURCE_TITLE = re.compile(r"(?: Source File|\.\w{1,3} - source|^src/\S+\.hs)$")
"""The titles of doxygen, rustdoc and haddock for a page with a whole file of code."""
_SOURCE_WANTED = re.compile(r"\b(?:source|implement|defined in)|\.(?:h|hpp|hs|rs)\b", re.IGNORECASE)
_GUIDE = re.compile(
    r"(?:^|/)(?:how-?to|(?:user-?)?guides?|tutorials?|topics|patterns|faq|book|cookbook|recipes|examples?|learn|"
    r"getting-started|quickstart|[a-z-]+-by-example)(?:/|\.|$)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\b(?:how|why|when|what|which|can i|should)\b", re.IGNORECASE)


@lru_cache(maxsize=512)
def tokens_in(text: str) -> frozenset[str]:
    """The distinct tokens of headings."""
    return frozenset(tokens(text))


def _closest(held: Sequence[HeldWord], shares: Mapping[str, float]) -> float:
    """The largest weight of different words that stand close to each other."""
    most = weight = 0.0
    first = 0
    counts = dict.fromkeys(shares, 0)
    for word in held:
        if not counts[word.stem]:
            weight += shares[word.stem]
        counts[word.stem] += 1
        while held[first].offset < word.offset - WITHIN:
            passed = held[first].stem
            counts[passed] -= 1
            if not counts[passed]:
                weight -= shares[passed]
            first += 1
        most = max(most, weight)
    return most


def _longest_run(following: Sequence[tuple[str, str]], pairs: Collection[tuple[str, str]]) -> int:
    """The most pairs in a row that are pairs of the query."""
    longest = run = 0
    for pair in following:
        run = run + 1 if pair in pairs else 0
        longest = max(longest, run)
    return longest
