"""The results of a search with as much of their texts as fits into the reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING
from urllib.parse import quote

from websearch_gateway.base import estimate_tokens, query_terms
from websearch_gateway.docs.search.excerpt import excerpt, without_links
from websearch_gateway.docs.search.sections import (
    MOST_JUDGED,
    definition_start,
    headings_at,
    link_share,
)
from websearch_gateway.docs.store.pages import page_chunks
from websearch_gateway.results import DocsHit, DocsMore, DocsOtherVersion

if TYPE_CHECKING:
    from websearch_gateway.docs.models import Chunk, SymbolMatch
    from websearch_gateway.docs.search.query import Query
    from websearch_gateway.docs.search.ranker import PageVersion
    from websearch_gateway.docs.search.sections import Section
    from websearch_gateway.docs.store.database import Database

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
LIST_OF_LINKS = 0.7
"""A text with a larger share of links is no text to read."""
_FRAGMENT = "!$&'()*+,;=:@/?-._~"  # RFC 3986, section 3.5


@dataclass(frozen=True, slots=True)
class Result:
    """A result before its text is cut. `names` are the names that its chunk defines. `start` is where in the chunk the
    section begins that is shown; `defines` says whether a definition begins there.
    """

    hit: DocsHit
    chunk: Chunk
    names: tuple[str, ...]
    start: int
    defines: bool

    @property
    def own_text(self) -> str:
        """The text of the chunk from its section on."""
        return self.chunk.content[self.start :]

    @property
    def read_by_reranker(self) -> str:
        """The title, the last heading and the text, as a reranker reads them."""
        headings = self.hit.heading_path[-1:]
        return "\n".join((self.hit.page_title, *headings, without_links(self.chunk.content)))


def result_of(versions: Sequence[PageVersion], section: Section | None, relevance: float) -> Result:
    """The section of a page, or the chunk that was found; with links to the other versions of the page."""
    newest = versions[0]
    chunk = section.chunk if section else newest.chunk
    start = section.start if section else 0
    defined = [match for match in newest.ranked.candidate.defined if match.chunk_id == chunk.id]
    anchor = _anchor_of(chunk, start, defined)
    address = chunk.url.partition("#")[0]
    also_in = [
        DocsOtherVersion(
            site_version=other.site.label, url=other.chunk.url, section_id=other.chunk.section_id
        )
        for other in versions[1:]
        if other.site.id != newest.site.id
    ]
    hit = DocsHit(
        content=chunk.content,
        url=f"{address}#{quote(anchor, safe=_FRAGMENT)}" if anchor else chunk.url,
        page_title=chunk.page_title,
        heading_path=headings_at(chunk, start),
        site_name=newest.site.name,
        site_version=newest.site.label,
        relevance_score=round(relevance, 3),
        section_id=chunk.section_id,
        also_in=tuple(also_in),
        fetched_at=datetime.fromtimestamp(chunk.fetched_at, UTC).isoformat(timespec="seconds"),
    )
    names = [form for match in defined for form in (match.name, match.name.rpartition(".")[2])]
    return Result(hit, chunk, tuple(names), start, definition_start(chunk, defined) == start)


def _anchor_of(chunk: Chunk, start: int, defined: Sequence[SymbolMatch]) -> str:
    """The anchor of a definition in the chunk, else the last one before its section; empty for that of the chunk."""
    for match in defined:
        if match.anchor:
            return match.anchor
    for offset, anchor in reversed(chunk.inner):
        if offset <= start:
            return anchor
    return ""


@dataclass(frozen=True, slots=True)
class _Title:
    """A result that is only named, and its tokens as JSON."""

    named: DocsMore
    tokens: int

    @classmethod
    def of(cls, result: Result) -> _Title:
        hit = result.hit
        title = " > ".join(dict.fromkeys((hit.page_title, *hit.heading_path[-1:])))
        named = DocsMore(title=title, section_id=hit.section_id, url=hit.url)
        return cls(named, _json_tokens(named.model_dump()))


def fit(
    db: Database, results: Sequence[Result], query: Query, most: int
) -> tuple[list[DocsHit], list[DocsMore]]:
    """The first results with their texts, cut where they are long, and the titles of the others."""
    count = most_shown(most)
    extended = [
        _extended(db, result, ENOUGH_TEXT if place else ENOUGH_FIRST)
        for place, result in enumerate(results[:count])
    ]
    shown, short = _parted(extended)
    titles = [_Title.of(result) for result in (*short, *results[count:])]
    tokens_of_titles = sum(title.tokens for title in titles)
    room_for_texts = most - min(tokens_of_titles, int(MOST_TITLES * most))

    overheads = [_json_tokens(result.hit.model_dump() | {"content": ""}) for result in shown]
    wants = [_json_tokens(result.hit.content) for result in shown]
    shares = share_out(overheads, wants, room_for_texts)
    terms = query_terms(query.text)
    hits: list[DocsHit] = []
    used = 0
    for result, overhead, want, share in zip(shown, overheads, wants, shares, strict=False):
        text = result.hit.content
        if want > share:
            text = _cut_to_share(result, terms, share, want)
            want = _json_tokens(text)
        used += overhead + want
        hits.append(_with_text(result.hit, text))
    without_room = [_Title.of(result) for result in shown[len(hits) :]]
    return hits, _fitting([*without_room, *titles], most - used)


def _parted(results: Sequence[Result]) -> tuple[Sequence[Result], Sequence[Result]]:
    """The results that say something, and those that are only named. If too few say something, all are shown."""
    telling: list[Result] = []
    short: list[Result] = []
    for result in results:
        is_telling = result.names or estimate_tokens(result.hit.content) >= LEAST_TEXT
        (telling if is_telling else short).append(result)
    return (telling, short) if len(telling) >= LEAST_SHOWN else (results, ())


def _fitting(titles: Sequence[_Title], room: int) -> list[DocsMore]:
    """The first titles that fit."""
    fitting = []
    for title in titles:
        room -= title.tokens
        if room < 0:
            break
        fitting.append(title.named)
    return fitting


def _with_text(hit: DocsHit, text: str) -> DocsHit:
    return hit.model_copy(update={"content": text})


def _extended(db: Database, result: Result, enough: int) -> Result:
    """A result without link addresses, from its section on. A short one is given the next text of its page, the last
    of a page the text before it.
    """
    text = without_links(result.own_text)
    if estimate_tokens(text) < enough:
        page_id, place = result.chunk.page_id, result.chunk.ordinal
        if after := page_chunks(db, page_id, place + 1, place + 2):
            text = "\n\n".join([text, *_texts(after)])
        elif place and not result.names:
            text = "\n\n".join([*_texts(page_chunks(db, page_id, place - 1, place)), text])
    return replace(result, hit=_with_text(result.hit, text))


def _texts(chunks: Sequence[Chunk]) -> list[str]:
    texts = [chunk.content for chunk in chunks]
    return [
        without_links(text) for text in texts if link_share(text[:MOST_JUDGED]) <= LIST_OF_LINKS
    ]


def _cut_to_share(result: Result, terms: Sequence[str], share: int, want: int) -> str:
    """The text of a result, which costs `want` tokens as JSON, cut to its share of them. A definition is shown from its
    beginning."""
    text = result.hit.content
    room = share * estimate_tokens(text) // want - 1
    own = without_links(result.own_text)
    if not text.startswith(own):  # it was given the text before it
        text = own
    is_mostly_whole = estimate_tokens(own) <= MOSTLY * room
    if is_mostly_whole or result.defines:
        return excerpt(text, (), room)
    return excerpt(text, terms, room, result.names)


def most_shown(most: int) -> int:
    """The most results with text in a reply of `most` tokens."""
    return max(LEAST_SHOWN, most // TOKENS_A_SECTION)


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
    weights = [1 / place if place > 1 else FIRST_WEIGHT for place in range(1, count + 1)]
    room = most - sum(overheads[:count])
    shares = []
    for place in range(count):
        own_part = int(room * weights[place] / sum(weights[place:]))
        for_later = sum(least[place + 1 : count])
        fair = max(least[place], min(own_part, room - for_later))
        share = min(wants[place], fair)
        shares.append(share)
        room -= share
    return shares
