"""The passages of a page that answer a query: cut, without repetitions, ranked by words and vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.models import Deadline, Page, Passage
from websearch_gateway.pipeline.pages import content_hash, page_key
from websearch_gateway.pipeline.similarity import Similarity, Subject
from websearch_gateway.text.chunk import chunk
from websearch_gateway.text.duplicates import near_duplicates
from websearch_gateway.text.markdown import plain
from websearch_gateway.text.relevance import ANSWERS, select
from websearch_gateway.text.tokens import query_terms, tokens_of_each

RANKING_RESERVE_SECONDS = 0.5
"""Kept free at the end of the deadline (a tenth of a short one): what has no vector by then is ranked by words."""

MEMORY_CHARACTERS = 4_000_000
"""Pages that are kept ready for the next query, in characters of all together."""

SHORT_PASSAGE = 200
"""Characters below which the same words say something else in another section, such as `None.`"""

SAMPLE_CHARACTERS = 2_000
"""Of a page, to judge its script by."""

_HEADINGS = 2  # the nearest ones say what a passage is about; those above say it of every passage


@dataclass(frozen=True, slots=True)
class Findings:
    """The passages for each query, best first, out of how many; `notes` are whole sentences for the caller."""

    answers: tuple[tuple[Passage, ...], ...]
    notes: tuple[str, ...]
    passages: int


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A page, ready for queries."""

    passages: tuple[Passage, ...]
    tokens: Sequence[Sequence[str]]
    subject: Subject
    is_known_script: bool
    characters: int


class PassageFinder:
    """Finds passages. One per process; safe for any number of calls at once.

    Args:
        size: about how many tokens a passage has, see `text.chunk`.
    """

    def __init__(self, similarity: Similarity, *, size: int) -> None:
        from cachetools import LRUCache

        self._similarity = similarity
        self._size = size
        self._ready: LRUCache[tuple[str, str], _Prepared] = LRUCache(
            MEMORY_CHARACTERS, getsizeof=lambda page: page.characters
        )

    async def find(self, page: Page, queries: Sequence[str], most: int, deadline: Deadline) -> Findings:
        """At most `most` passages for each query. An embedder that fails costs a note and never the answer."""
        prepared = await self._prepared(page)
        asked = queries if prepared.is_known_script else ()
        seconds = deadline.remaining()
        earlier = deadline.within(seconds - min(RANKING_RESERVE_SECONDS, seconds / 10))
        compared = await self._similarity.compare(prepared.subject, asked, earlier)
        weight = self._similarity.weight
        answers = await asyncio.to_thread(
            lambda: tuple(
                _ranked(prepared, query, compared.similarities.get(query, {}), weight, most) for query in queries
            )
        )
        return Findings(answers, _notes(answers, compared.fault), len(prepared.passages))

    def warm_up(self) -> None:
        """Load what the first query would wait for. Takes a while: not for the event loop."""
        self._similarity.knows("warm up")

    def in_memory(self) -> Mapping[str, int]:
        """How many pages are in memory, cut into passages."""
        return {"pages": len(self._ready)}

    def forget(self) -> None:
        """Drop these."""
        self._ready.clear()

    async def _prepared(self, page: Page) -> _Prepared:
        key = page_key(page.url), content_hash(page)
        if (prepared := self._ready.get(key)) is None:
            prepared = await asyncio.to_thread(self._prepare, page)
            if prepared.characters <= MEMORY_CHARACTERS:
                prepared = self._ready.setdefault(key, prepared)  # another call may have been faster
        return prepared

    def _prepare(self, page: Page) -> _Prepared:
        cut = chunk(page.markdown, self._size)
        texts = [plain(passage.text) for passage in cut]
        repeated = frozenset(
            near_duplicates(
                [
                    text if len(text) > SHORT_PASSAGE else "\n".join((*passage.section_path, text))
                    for passage, text in zip(cut, texts, strict=True)
                ]
            )
        )
        kept = [place for place in range(len(cut)) if place not in repeated]
        passages = tuple(cut[place] for place in kept)
        embedded = {cut[place].id: "\n".join((*cut[place].section_path[-_HEADINGS:], texts[place])) for place in kept}
        return _Prepared(
            passages=passages,
            tokens=tokens_of_each("\n".join((*passage.section_path, passage.text)) for passage in passages),
            subject=Subject(page_key(page.url), embedded),
            is_known_script=self._similarity.knows(" ".join(texts)[:SAMPLE_CHARACTERS]),
            characters=len(page.markdown),
        )


def _ranked(
    page: _Prepared, query: str, similarities: Mapping[str, float], weight: float, most: int
) -> tuple[Passage, ...]:
    near = [similarities.get(passage.id) for passage in page.passages]
    found = select(query_terms(query), page.tokens, near, weight=weight, most=most)
    return tuple(replace(page.passages[place], score=score) for place, score in found)


def _notes(answers: Sequence[Sequence[Passage]], fault: str | None) -> tuple[str, ...]:
    """What a caller must know to judge the passages."""
    notes = []
    unanswered = [number for number, found in enumerate(answers, 1) if not found or found[0].score < ANSWERS]
    if unanswered:
        which = "the query" if len(answers) == 1 else f"query {', '.join(map(str, unanswered))}"
        nearest = "; the nearest is shown" if any(answers[number - 1] for number in unanswered) else ""
        notes.append(f"Nothing on this page seems to answer {which}{nearest}.")
    if fault:
        notes.append(f"Ranked by words alone, at least in part: {fault}.")
    return tuple(notes)
