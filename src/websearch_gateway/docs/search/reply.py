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
    from websearch_gateway.docs.models import Chunk
    from websearch_gateway.docs.search.query import Query
    from websearch_gateway.docs.search.ranker import Version
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
    def told(self) -> str:
        """The title, the last heading and the text, as a reranker reads them."""
        headings = self.hit.heading_path[-1:]
        return "\n".join((self.hit.page_title, *headings, without_links(self.chunk.content)))


def result_of(versions: Sequence[Version], section: Section | None, relevance: float) -> Result:
    """The section of a page, or the chunk that was found; with links to the other versions of the page."""
    newest = versions[0]
    chunk = section.chunk if section else newest.chunk
    start = section.start if section else 0
    defined = [match for match in newest.ranked.page.defined if match.chunk_id == chunk.id]
    before = (anchor for offset, anchor in reversed(chunk.inner) if offset <= start)
    anchor = next((match.anchor for match in defined if match.anchor), "") or next(before, "")
    address = chunk.url.partition("#")[0]
    hit = DocsHit(
        content=chunk.content,
        url=f"{address}#{quote(anchor, safe=_FRAGMENT)}" if anchor else chunk.url,
        page_title=chunk.page_title,
        heading_path=headings_at(chunk, start),
        site_name=newest.site.name,
        site_version=newest.site.label,
        relevance_score=round(relevance, 3),
        section_id=chunk.section_id,
        also_in=tuple(
            DocsOtherVersion(
                site_version=other.site.label,
                url=other.chunk.url,
                section_id=other.chunk.section_id,
            )
            for other in versions[1:]
            if other.site.id != newest.site.id
        ),
        fetched_at=datetime.fromtimestamp(chunk.fetched_at, UTC).isoformat(timespec="seconds"),
    )
    forms = [form for match in defined for form in (match.name, match.name.rpartition(".")[2])]
    return Result(hit, chunk, tuple(forms), start, definition_start(chunk, defined) == start)


def fit(
    db: Database, results: Sequence[Result], query: Query, most: int
) -> tuple[list[DocsHit], list[DocsMore]]:
    """The first results with their texts, cut where they are long, and the titles of the others."""
    count = most_shown(most)
    first = [
        _extended(db, result, ENOUGH_TEXT if place else ENOUGH_FIRST)
        for place, result in enumerate(results[:count])
    ]
    told = _with_enough_text(first)
    named = [result for result in (*first, *results[count:]) if result not in told]
    titles = [_more(result.hit) for result in named]
    overheads = [_json_tokens(_without_text(result.hit).model_dump()) for result in told]
    wants = [_json_tokens(result.hit.content) for result in told]
    for_titles = min(sum(map(_size, titles)), int(MOST_TITLES * most))
    terms = query_terms(query.text)
    hits = [
        _with_text(result.hit, _cut_to_share(result, terms, share))
        for result, share in zip(told, share_out(overheads, wants, most - for_titles), strict=False)
    ]
    titles = [*(_more(result.hit) for result in told[len(hits) :]), *titles]
    used = sum(overheads[: len(hits)]) + sum(_json_tokens(hit.content) for hit in hits)
    costs = accumulate(map(_size, titles))
    return hits, titles[: sum(used + cost <= most for cost in costs)]


def _with_enough_text(results: Sequence[Result]) -> Sequence[Result]:
    """The results that say something, if they are enough; else all."""
    long = [
        result
        for result in results
        if result.names or estimate_tokens(result.hit.content) >= LEAST_TEXT
    ]
    return long if len(long) >= LEAST_SHOWN else results


def _with_text(hit: DocsHit, text: str) -> DocsHit:
    return hit.model_copy(update={"content": text})


def _without_text(hit: DocsHit) -> DocsHit:
    return _with_text(hit, "")


def _size(title: DocsMore) -> int:
    return _json_tokens(title.model_dump())


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


def _cut_to_share(result: Result, terms: Sequence[str], share: int) -> str:
    """The text of a result, cut to its share of the JSON. A definition is shown from its beginning."""
    text = result.hit.content
    cost = _json_tokens(text)
    if cost <= share:
        return text
    room = share * estimate_tokens(text) // cost - 1
    own = without_links(result.own_text)
    if not text.startswith(own):  # it was given the text before it
        text = own
    is_mostly_whole = estimate_tokens(own) <= MOSTLY * room
    if is_mostly_whole or result.defines:
        return excerpt(text, (), room)
    return excerpt(text, terms, room, result.names)


def _more(hit: DocsHit) -> DocsMore:
    title = " > ".join(dict.fromkeys((hit.page_title, *hit.heading_path[-1:])))
    return DocsMore(title=title, section_id=hit.section_id, url=hit.url)


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
