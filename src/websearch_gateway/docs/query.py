"""Reads a query of `search_docs`, and makes one ranking of pages out of what three searches found. Pure."""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from math import log
from urllib.parse import unquote

from websearch_gateway.base import (
    LINK,
    STOP_WORDS,
    fold,
    query_terms,
    split_cjk,
    stems,
    tokens,
    words,
)
from websearch_gateway.docs.models import PageFacts, ScoredChunk, SiteVersion, SymbolMatch
from websearch_gateway.evidence import fuse

MOST_WORDS = 32
"""The most words of a query to search for; more only slow the search."""

WHOLE_WORDS = 5
"""A query with more words is not a name."""

_DEFINING = re.compile(
    r"(?:what(?:['’]s|\s+is|\s+are)|define|(?:meaning|definition)\s+of|what\s+does(?=.*\smeans?\W*$))\s+(?:(?:an?|the)\s+)?"
    r"(.{1,200}?)(?:\s+means?)?[\s?!.]*",
    re.IGNORECASE,
)
"""A question for what a name means."""
_LABEL = re.compile(
    r"^\s*(?:(?:fatal|error|warning|exception|panic)\w*:\s+)+(?=\S+\s+\S)", re.IGNORECASE
)
"""What comes before the text of a message: every page about errors has it."""
_QUOTED = re.compile(r"[\"“”]([^\"“”]{1,200}+)[\"“”]|`([^`]{1,200}+)`")
_OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z0-9][\w-]*+)")
_QUALIFIED = re.compile(r"@?([A-Za-z_$][\w$]*+(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*+)++)")
_SPECIAL_NAME = re.compile(
    r"(?<![\w.])(?:[A-Za-z]\+\+|[A-Za-z]#|\.[A-Za-z]{2,10}|operator(?:\(\)|\[\]|[-+*/%^&|~!=<>]{1,3}))(?![\w])"
)
_CALL = re.compile(r"([A-Za-z_$][\w$]*+)\(|(?<![\w.:/])([a-z]\w*+:[a-z]\w*+)(?![\w:]|/\D)")
"""A name before a bracket, or a function of a module in Erlang: `lists:foldl`."""
_WORD = re.compile(r"[^\W_][\w'’-]*+|_\w++")
_COMPOUND = re.compile(r"_|[a-z\d][A-Z]|^[A-Z][A-Z\d]+$")
_BRAND = re.compile(r"[A-Z\d]+|[A-Z][a-z]+[A-Z][A-Za-z]*(?<!Error)(?<!Exception)")
"""Acronyms, and names such as PostgreSQL: queries often contain them without asking for their definition, unlike the
names of errors and exceptions."""
_LANGUAGE = re.compile(r"[A-Za-z](?:\+\+|#)|\.NET", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.])[vV]?(\d+(?:\.\d+)*[\w.-]*+)")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    The text index looks up the `phrases`, which are distinct and in order: quoted phrases, names, and words other than
    stop words. `symbols` are the names that a page may define, `certain` those that are no acronym, brand or language.
    `whole` is the query itself if it is short enough to be a name. `version` is the label that the query names.
    `is_names`: the query has no other words than symbols. `weights` say how rare its words are, by their stems.
    """

    text: str
    phrases: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    version: str | None = None
    is_names: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)


def parse(
    text: str, labels: Collection[str] = (), weights: Mapping[str, float] | None = None
) -> Query:
    """Parse a query.

    Args:
        labels: the labels of the existing versions; only these are recognised as a version.
        weights: see `Query`.
    """
    version, rest = _version(_LABEL.sub("", text), labels)
    quoted = [(one[0] or one[1]).strip() for one in _QUOTED.findall(rest)]
    symbols: dict[str, None] = {}
    bare = _QUOTED.sub(" ", rest)
    for pattern in (_SPECIAL_NAME, _OPTION, _QUALIFIED):
        symbols.update((match[match.lastindex or 0], None) for match in pattern.finditer(bare))
        bare = pattern.sub(" ", bare)
    symbols.update(dict.fromkeys(match[match.lastindex or 0] for match in _CALL.finditer(bare)))
    bare = _CALL.sub(" ", bare)  # the module of `gen_server:call` is no name of its own
    words = _WORD.findall(bare)[:MOST_WORDS]
    symbols.update(dict.fromkeys(word for word in words if _COMPOUND.search(word)))
    content = [word for word in words if word.lower() not in STOP_WORDS] or (
        [] if symbols else words
    )
    defined = _DEFINING.fullmatch(rest.strip())
    name = (defined[1] if defined else rest).strip(' "`()')
    phrases = dict.fromkeys(
        (*quoted, *symbols, *(part for word in content for part in split_cjk(word).split()))
    )
    return Query(
        text=rest.strip(),
        phrases=tuple(phrases),
        symbols=tuple(symbols),
        certain=tuple(
            name for name in symbols if not (_BRAND.fullmatch(name) or _LANGUAGE.fullmatch(name))
        ),
        whole=(name,) if len(name.split()) <= WHOLE_WORDS else (),
        version=version,
        is_names=bool(symbols) and not quoted and all(word in symbols for word in content),
        weights=weights or {},
    )


def _version(text: str, labels: Collection[str]) -> tuple[str | None, str]:
    """The version that a query names, and the query without it."""
    for match in _VERSION.finditer(text):
        for label in (match[0], match[1]):
            if label in labels and ("." in label or match[0] != label):
                return (
                    label,
                    f"{text[: match.start()].rstrip()} {text[match.end() :].lstrip()}".strip(),
                )
    return None, text


SHORTEST = 5
"""A shorter word is near to too many others."""
LONGEST = 25
MOST_UNKNOWN = 3
"""The most words of a query to replace; each has some hundreds of near ones, and a query with more is in another
language."""

_NAME = re.compile(r"[^\W_]+")
_LETTERS = re.compile(rf"[a-z]{{{SHORTEST},{LONGEST}}}")


def words_of(text: str) -> list[str]:
    """The distinct words of a query that may be misspelt, folded."""
    found = dict.fromkeys(map(fold, _NAME.findall(text)))
    return [word for word in found if _LETTERS.fullmatch(word) and word not in STOP_WORDS]


def spellings_near(word: str) -> list[str]:
    """The words that differ by one letter: missing, added, wrong, or two of them swapped."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = [a + b[1:] for a, b in parts if b] + [
        a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1
    ]
    for letter in string.ascii_lowercase:
        found += [a + letter + b for a, b in parts]
        found += [a + letter + b[1:] for a, b in parts if b]
    return list(dict.fromkeys(found))


def counted(
    text: str, count: Callable[[Sequence[str]], Mapping[str, int]], chunks: int
) -> tuple[dict[str, str], dict[str, float]]:
    """The nearest known word for each of a query that no page has; and how rare each of its words is, by its stem.

    Args:
        count: says in how many of the `chunks` each word is; see `Database.count_words`.
    """
    asked = [word for word in words(text)[:MOST_WORDS] if word not in STOP_WORDS]
    may_be_wrong = words_of(text)
    counts = dict(count(list(dict.fromkeys((*asked, *may_be_wrong)))))
    instead = {}
    unknown = [word for word in may_be_wrong if word not in counts][:MOST_UNKNOWN]
    for word in unknown:
        near, start = spellings_near(word), word[:3]
        # Most mistakes come later in a word, and words that begin alike are looked up faster.
        known = count([one for one in near if one.startswith(start)])
        if not known and len(unknown) < MOST_UNKNOWN:
            known = count([one for one in near if not one.startswith(start)])
        if known:
            instead[word] = max(known, key=lambda one: (one[0] == word[0], known[one]))
            counts |= known
    asked = [instead.get(word, word) for word in asked]
    weights = (log(1 + chunks / (counts.get(word, 0) + 0.5)) for word in asked)
    return instead, dict(zip(stems(asked), weights, strict=True))


def replaced(text: str, instead: Mapping[str, str]) -> str:
    """The text with other words in place of some."""
    return _NAME.sub(lambda match: instead.get(fold(match[0]), match[0]), text)


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


UNASKED_SHARE = 0.4
"""The score of an announcement or a source file for a query that does not ask for one, as a share of its own."""

_PATH = re.compile(
    r"(?:^|/)(?:blog|news|announcements?|(?:[^/]*-)?release-?(?:s|log|notes)?|relnotes|(?:[^/]*-)?change-?(?:s|logs?)"
    r"|whats-?new)(?:[-_.]?v?\d[^/]*|\.html?)?(?:/|$)",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"\b(?:release notes|change ?log|what[’']s new|release history)\b", re.IGNORECASE
)
_ASKED = re.compile(
    r"\b(?:releas|changed|changes|change ?log|new\b|news\b|blog|since\b|version|migrat|upgrad|deprecat|announc|remov"
    r"|v?\d+\.\d)",
    re.IGNORECASE,
)


def is_news(path: str, title: str) -> bool:
    """Whether a page announces what has changed, by its address and title."""
    return bool(_PATH.search(path) or _TITLE.search(title))


def asks_for_news(query: str) -> bool:
    """Whether a query may ask for what has changed."""
    return bool(_ASKED.search(query))


_SOURCE_TITLE = re.compile(r"(?: Source File|\.\w{1,3} - source|^src/\S+\.hs)$")
"""The titles of doxygen, rustdoc and haddock for a page with a whole file of code."""
_SOURCE_ASKED = re.compile(r"\b(?:source|implement|defined in)|\.(?:h|hpp|hs|rs)\b", re.IGNORECASE)


def unasked_pages(query: str, facts: Mapping[int, PageFacts]) -> set[int]:
    """The pages that announce or are source files, unless a query may ask for such a page."""
    asks = asks_for_news(query), bool(_SOURCE_ASKED.search(query))
    return {
        id_
        for id_, page in facts.items()
        if (not asks[0] and is_news(page.path, page.title))
        or (not asks[1] and _SOURCE_TITLE.search(page.title))
    }


LINK_SHARE = 0.7
"""A section with at least this share of its letters in links is navigation."""

LEAST_LETTERS = 100
MOST_CHARS_PER_LINK = 400
"""A text with more characters for each of its links is not navigation."""


MOST_JUDGED = 8_000
"""The characters from which a section is judged: an index of names may have 200,000."""


def is_navigation(section: str) -> bool:
    """Whether a section is navigation rather than text."""
    markdown = section[:MOST_JUDGED]
    if MOST_CHARS_PER_LINK * markdown.count("](") < len(markdown):
        return False
    texts: list[str] = []
    rest = LINK.sub(lambda link: texts.append(link[1]) or "", markdown)  # type: ignore[func-returns-value]
    linked = _letters("".join(texts))
    return linked >= LEAST_LETTERS and linked > LINK_SHARE * (linked + _letters(rest))


def _letters(text: str) -> int:
    return sum(map(len, _NAME.findall(text)))


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
"""How many times as much a page scores in a top folder or on a site that the query names: `sqlite/` for "a SQLite
table"."""

GUIDE_GAIN = 1.5
"""How many times as much a guide scores for a question with a word of its title: a reference says what there is, not
how it is used, but a guide to something else says neither."""

_GUIDE = re.compile(
    r"(?:^|/)(?:how-?to|(?:user-?)?guides?|tutorials?|topics|patterns|faq|book|cookbook|recipes|examples?|learn|"
    r"getting-started|quickstart|[a-z-]+-by-example)(?:/|\.|$)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\b(?:how|why|when|what|which|can i|should)\b", re.IGNORECASE)

_PARTS = re.compile(r"\w(?:\.|::)\w")
_JOINTS = re.compile(r"::|[.:#]")
_SEPARATORS = ".:>#/"
"""The characters that may stand before the last part of a name."""


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page with its candidate chunks, best first.

    `relevance` is in 0..1: 1 where every ranking puts it first, at most .44 without a word of the query.
    `defined` are the symbols of the query that the page defines, with the chunk and anchor of the first; without those
    that may be plain words, such as the module `csv` for "read a CSV file".
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

    Announcements and source files come later than their texts say, unless the query asks for one; pages with words of
    the query in their titles, in a folder or on a site that it names, and for a question the guides among them, come
    earlier. A query of names alone finds only pages that have one of them.

    Args:
        text, near: chunks found by words and by vectors, best first.
        matches: definitions of the query's symbols, best first.
        facts: those of each page.
    """
    definitions = [match for match in matches if is_asked_for(query, match)]
    every: tuple[ScoredChunk | SymbolMatch, ...] = (*text, *near, *definitions)
    places = {one.chunk_id: (one.page_id, one.version_id) for one in every}
    named = {one.page_id for one in text} | {one.page_id for one in definitions}
    if query.is_names and named:
        near = [one for one in near if one.page_id in named]
    fused, best = _fused(text, near, definitions)
    chunks: dict[tuple[int, int], list[int]] = defaultdict(list)
    scores: dict[tuple[int, int], float] = defaultdict(float)
    for rank, chunk_id in enumerate(fused):
        chunks[places[chunk_id]].append(chunk_id)
        scores[places[chunk_id]] += 1 / (rank + PAGE_OFFSET)
    unasked = unasked_pages(query.text, facts)
    gains = {} if query.is_names else _gains(query, facts)
    pages = [
        RankedPage(
            page_id=place[0],
            version_id=place[1],
            chunk_ids=tuple(found),
            score=scores[place]
            / (facts[place[0]].chunks if place[0] in facts else 1) ** SIZE_EXPONENT
            * gains.get(place[0], 1)
            * (UNASKED_SHARE if place[0] in unasked else 1),
            relevance=min(1.0, fused[found[0]] / best),
            defined=tuple(
                one
                for one in definitions
                if (one.page_id, one.version_id) == place and _is_sure(query, one)
            ),
        )
        for place, found in chunks.items()
    ]
    return sorted(
        pages,
        key=lambda page: (
            0 if page.page_id in unasked else -_names_defined(query, page),
            -page.score,
        ),
    )


def _gains(query: Query, facts: Mapping[int, PageFacts]) -> Mapping[int, float]:
    """How many times as much each page scores for its title and its folder."""
    titles = {id_: tokens_in(page.title) for id_, page in facts.items()}
    held = Counter(chain.from_iterable(titles.values()))
    weights = {term: log((len(facts) + 1) / (held[term] + 0.5)) for term in query_terms(query.text)}
    total = sum(weights.values()) or 1
    asked = set(words(query.text)) - STOP_WORDS
    folders = {
        id_: fold(unquote(page.path.partition("/")[0])) if "/" in page.path else ""
        for id_, page in facts.items()
    }
    sites = {
        name: asked.intersection(_words_of_site(name))
        for name in {page.site for page in facts.values()}
    }
    named = asked.intersection(folders.values())
    subject = weights.keys() - set(chain.from_iterable(map(tokens_in, named)))
    guided = not query.symbols and bool(_QUESTION.search(query.text))

    def gain(page_id: int, page: PageFacts) -> float:
        folder, title = folders[page_id], titles[page_id]
        is_guide = (
            guided
            and _GUIDE.search(page.path)
            and (folder in asked or not named)
            and subject & title
        )
        return (
            (1 + TITLE_GAIN * sum(weights[term] for term in weights.keys() & title) / total)
            * (FOLDER_GAIN if folder in asked or sites[page.site] else 1)
            * (GUIDE_GAIN if is_guide else 1)
        )

    return {page_id: gain(page_id, page) for page_id, page in facts.items()}


@lru_cache(maxsize=512)
def tokens_in(text: str) -> frozenset[str]:
    """The distinct tokens of a title or a path; the same ones are asked for in every search."""
    return frozenset(tokens(text))


def _words_of_site(name: str) -> set[str]:
    """What a query may call a site: `jinja2` and `jinja`; `aiohttp`, for docs.aiohttp.org."""
    *parts, last = fold(name).split(".")
    found = {word for part in parts or [last] for word in words(part)}
    return found | {word.rstrip(string.digits) for word in found}


def _fused(
    text: Sequence[ScoredChunk], near: Sequence[ScoredChunk], definitions: Sequence[SymbolMatch]
) -> tuple[Mapping[int, float], float]:
    """The score of each chunk, best first, and that of a perfect hit."""
    rankings = [[one.chunk_id for one in text], [one.chunk_id for one in near]]
    rankings.append(list(dict.fromkeys(one.chunk_id for one in definitions)))
    weights = (TEXT_WEIGHT, VECTOR_WEIGHT, SYMBOL_WEIGHT)
    # A page without a word of the query is never a perfect hit.
    counted = (
        True,
        bool(near),
        bool(definitions),
    )
    best = sum(weight for weight, counts in zip(weights, counted, strict=True) if counts) / (
        RRF_K + 1
    )
    return fuse(rankings, RRF_K, weights), best


def is_asked_for(query: Query, match: SymbolMatch) -> bool:
    """Whether the query contains the defined name, or its last parts: `Popen.wait` for `subprocess.Popen.wait`."""
    folded = match.name.casefold()
    return any(
        match.name == name
        or (len(name) > 1 and not name.startswith("-") and _ends_with(folded, name.casefold()))
        for name in (*query.symbols, *query.whole)
    )


def _is_sure(query: Query, match: SymbolMatch) -> bool:
    """Whether the name in the query is more than a plain word."""
    names = (*query.certain, *query.whole)
    return query.is_names or match.exact or any(_is_in(name, (match.name,)) for name in names)


def _ends_with(name: str, ending: str) -> bool:
    return name == ending or (name.endswith(ending) and name[-len(ending) - 1] in _SEPARATORS)


def best_definition(query: Query, page: RankedPage) -> SymbolMatch | None:
    """The first of the definitions on a page that is surely the one of a name in the query."""
    surely = (
        one
        for one in page.defined
        if any(_is_in(name, (one.name,)) for name in (*query.certain, *query.whole))
    )
    return next(surely, None) or next((one for one in page.defined if one.exact), None)


def _names_defined(query: Query, page: RankedPage) -> int:
    """How many unambiguous names of the query a page defines, in the same spelling; a heading counts half, and so does
    the class of a member."""
    strong = {match.name for match in page.defined if match.kind != "heading"}
    defined = {match.name for match in page.defined}
    owners = {part for name in defined for part in _JOINTS.split(name)[:-1]}
    named = sum(
        _is_in(name, defined) + _is_in(name, strong) for name in (*query.certain, *query.whole)
    )
    return named + len(owners.intersection(query.symbols))


def _is_in(name: str, defined: Collection[str]) -> bool:
    """Whether a name is defined: in the same spelling, or with more before a name of several parts or words
    (`Vec::drain`, `or_insert`)."""
    is_special = _PARTS.search(name) or _COMPOUND.search(name.strip("_"))
    return name in defined or (bool(is_special) and any(_ends_with(one, name) for one in defined))
