"""Cuts a page into passages without repetitions, and ranks them for a query by words and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from websearch_gateway.cache.pages import content_hash, page_key
from websearch_gateway.cache.similarity import UNKNOWN_SCRIPT, Similarity, Subject
from websearch_gateway.models import Deadline, Page, Passage
from websearch_gateway.ports import Workers
from websearch_gateway.text.chunk import PDF
from websearch_gateway.text.retrieval.passages import MOST_PASSAGES, cut, ranked
from websearch_gateway.text.retrieval.relevance import ANSWERS, shown

RANKING_RESERVE_SECONDS = 0.5
"""The time kept back for ranking (seconds, or a tenth of the deadline if less). Late vectors do not count."""

MEMORY_CHARACTERS = 4_000_000
"""The size of the cache of prepared pages (characters in total)."""

SAMPLE_CHARACTERS = 2_000
"""The characters of a page that decide its script."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The passages for each query, best first, and the `nearest` for each query without any.

    `passages` counts those of the page, `notes` are for the caller.
    """

    answers: tuple[tuple[Passage, ...], ...]
    nearest: tuple[Passage | None, ...]
    notes: tuple[str, ...]
    passages: int


@dataclass(frozen=True, slots=True)
class _PreparedPage:
    """A page in passages. `more` says that it has further passages, which were not cut."""

    passages: tuple[Passage, ...]
    subject: Subject
    is_known_script: bool
    more: bool
    characters: int


class PassageFinder:
    """Finds passages. One per process; safe for concurrent calls.

    Args:
        size: the approximate number of tokens in a passage, see `text.chunk`.
        threshold: the least score of a passage that is shown, 0 to 1; 0 shows all.
    """

    def __init__(self, similarity: Similarity, workers: Workers, *, size: int, threshold: float) -> None:
        from cachetools import LRUCache

        self._similarity = similarity
        self._workers = workers
        self._size = size
        self._threshold = threshold
        self._pages: LRUCache[tuple[str, str], _PreparedPage] = LRUCache(
            MEMORY_CHARACTERS, getsizeof=lambda page: page.characters
        )

    async def find(self, page: Page, queries: Sequence[str], most: int, deadline: Deadline) -> Findings:
        """At most `most` passages for each query. If the embedder fails, words alone rank them, and a note says so.

        Raises:
            SearchFetchError, SearchTimeoutError: a worker cannot process the page, or not in time.
        """
        prepared = await self._prepared(page, deadline)
        asked = queries if prepared.is_known_script else ()
        seconds = deadline.remaining()
        earlier = deadline.within(seconds - min(RANKING_RESERVE_SECONDS, seconds / 10))
        compared = await self._similarity.compare(prepared.subject, asked, earlier)
        found = await self._workers.run(
            ranked,
            queries,
            ["\n".join((*passage.section_path, passage.text)) for passage in prepared.passages],
            [_similarities(prepared, compared.similarities.get(query, {})) for query in queries],
            self._similarity.weight,
            most,
            deadline=deadline,
            size=prepared.characters,
        )
        answers = tuple(
            tuple(
                replace(prepared.passages[place], score=score)
                for place, score in places[: shown([score for _, score in places], self._threshold)]
            )
            for places in found
        )
        nearest = tuple(
            None if answer or not places else replace(prepared.passages[places[0][0]], score=places[0][1])
            for answer, places in zip(answers, found, strict=True)
        )
        notes = _notes(answers, nearest, prepared.more, compared.fault)
        if compared.fault not in (None, UNKNOWN_SCRIPT) and not all(answers):
            # Without vectors a passage in other words goes unnoticed, so a query without a match still gets passages.
            longest = _longest(prepared, most)
            answers, nearest = tuple(answer or longest for answer in answers), (None,) * len(answers)
            notes = (*notes, "Where no word matches, the longest passages are shown.")
        return Findings(answers, nearest, notes, len(prepared.passages))

    def warm_up(self) -> None:
        """Load everything that the first query would wait for. Slow: do not run it on the event loop."""
        self._similarity.knows("warm up")

    def in_memory(self) -> Mapping[str, int]:
        """The number of prepared pages in memory."""
        return {"pages": len(self._pages)}

    def forget(self) -> None:
        """Drop the pages in memory."""
        self._pages.clear()

    async def _prepared(self, page: Page, deadline: Deadline) -> _PreparedPage:
        key = page_key(page.url), content_hash(page)
        if (prepared := self._pages.get(key)) is None:
            size = len(page.markdown)
            found = await self._workers.run(cut, page.markdown, self._size, deadline=deadline, size=size)
            prepared = self._with_subject(page, found)
            if prepared.characters <= MEMORY_CHARACTERS:
                prepared = self._pages.setdefault(key, prepared)  # another call may have been faster
        return prepared

    def _with_subject(self, page: Page, found: Mapping[str, Any]) -> _PreparedPage:
        """The page with its passages; `found` has the fields of a `Cut`."""
        passages = tuple(
            Passage(
                one["text"],
                tuple(one["section_path"]),
                id=one["id"],
                page=one["page"] if page.content_type == PDF else None,
            )
            for one in found["passages"]
        )
        embedded = {passage.id: text for passage, text in zip(passages, found["embedded"], strict=True)}
        return _PreparedPage(
            passages=passages,
            subject=Subject(page_key(page.url), embedded),
            is_known_script=self._similarity.knows(" ".join(embedded.values())[:SAMPLE_CHARACTERS]),
            more=found["more"],
            characters=len(page.markdown),
        )


def _similarities(page: _PreparedPage, by_id: Mapping[str, float]) -> list[float | None]:
    return [by_id.get(passage.id) for passage in page.passages]


def _longest(page: _PreparedPage, most: int) -> tuple[Passage, ...]:
    return tuple(sorted(page.passages, key=lambda passage: -len(passage.text))[:most])


def _notes(
    answers: Sequence[Sequence[Passage]], nearest: Sequence[Passage | None], more: bool, fault: str | None
) -> tuple[str, ...]:
    """Sentences that help the caller to judge the passages."""
    notes = []
    unanswered = [number for number, found in enumerate(answers, 1) if not found or found[0].score < ANSWERS]
    if unanswered:
        which = "the query" if len(answers) == 1 else f"query {', '.join(map(str, unanswered))}"
        shown = any(answers[number - 1] or nearest[number - 1] for number in unanswered)
        notes.append(f"Nothing on this page seems to answer {which}{'; the nearest is shown' if shown else ''}.")
    if more:
        notes.append(f"The page is very long: only its first {MOST_PASSAGES:,} passages were searched.")
    if fault:
        notes.append(f"Ranked by words alone, at least in part: {fault}.")
    return tuple(notes)
