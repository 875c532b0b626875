"""Passages: the right one first, embedded once, and an honest note when something is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import pytest

from websearch_gateway.cache.pages import BlobCache, page_key
from websearch_gateway.cache.similarity import SLICE, TOO_SLOW, UNKNOWN_SCRIPT, UNRELATED, Similarity, vectors_key
from websearch_gateway.embedders.static import StaticEmbedder
from websearch_gateway.errors import SearchProviderError
from websearch_gateway.models import Deadline, Page, Passage
from websearch_gateway.pipeline.passages import Findings, PassageFinder
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.text.retrieval.relevance import ANSWERS, RELEVANT
from websearch_gateway.workers.pool import Workers

URL = "https://example.com/tides"
TIDES = """# Tides

There are two high tides a day because the Moon pulls on the near side of the Earth more than on the far side.

## Spring tides

At new moon and full moon the Sun pulls along the same line, and the range is largest.

## Measuring

The gauge writes the level of the sea every six minutes. Tickets for the museum are sold at the gate.
"""


def page(markdown: str = TIDES, url: str = URL) -> Page:
    return Page(url, url, "Tides", markdown)


def soon() -> Deadline:
    return Deadline.after(300)


class Counting(StaticEmbedder):
    """The built-in model, which records its calls and can be made to fail."""

    def __init__(self) -> None:
        self.documents: list[str] = []
        self.failure: Exception | None = None
        self.hangs_after: int | None = None
        self.width = self.dimensions

    async def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Any:
        if self.failure:
            raise self.failure
        if kind == "document" and tuple(texts) != UNRELATED:
            if self.hangs_after is not None and len(self.documents) >= self.hangs_after:
                await asyncio.Event().wait()
            self.documents += texts
            await asyncio.sleep(0)  # other tasks run meanwhile, as during a call to a server
        return self.encode(texts)[:, : self.width]


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture
def state() -> MemoryState:
    return MemoryState()


def finder(
    embedder: Counting, state: MemoryState, workers: Workers, size: int = 60, threshold: float = RELEVANT
) -> PassageFinder:
    return PassageFinder(Similarity(embedder, BlobCache(state)), workers, size=size, threshold=threshold)


async def find(
    embedder: Counting, state: MemoryState, *queries: str, markdown: str = TIDES, most: int = 8, **size: int
) -> Findings:
    async with Workers() as workers:
        return await finder(embedder, state, workers, **size).find(page(markdown), queries, most, soon())


async def test_the_passage_that_answers_comes_first_with_a_score_near_one(
    embedder: Counting, state: MemoryState
) -> None:
    found = await find(embedder, state, "Why are there two high tides a day?", "When is the range largest?")
    first, second = found.answers
    assert "two high tides a day" in first[0].text
    assert first[0].score > 0.9
    assert second[0].section_path == ("Tides", "Spring tides")
    assert found.notes == ()
    assert found.passages == 3


async def test_the_note_names_the_queries_without_an_answer(embedder: Counting, state: MemoryState) -> None:
    found = await find(embedder, state, "Why are there two high tides a day?", "Who discovered penicillin?")
    assert found.notes == ("Nothing on this page seems to answer query 2; the nearest is shown.",)
    assert found.answers[0]
    assert not found.answers[1]
    (note,) = (await find(embedder, state, "Who discovered penicillin?")).notes
    assert "answer the query" in note


async def test_the_nearest_passage_is_told_where_none_answers(embedder: Counting, state: MemoryState) -> None:
    text = "# Bridge\n\nIt was built by the company of Ada Moor.\n\n## Tolls\n\nA crossing costs two coins for a cart."
    found = await find(embedder, state, "who designed it", "What does a crossing cost?", markdown=text)
    assert found.answers[0] == ()
    assert found.nearest[0] is not None
    assert "built by the company of" in found.nearest[0].text
    assert 0 < found.nearest[0].score < 0.25
    assert found.answers[1]
    assert found.nearest[1] is None


async def test_at_most_the_wanted_number_of_passages_comes(embedder: Counting, state: MemoryState) -> None:
    found = await find(embedder, state, "tides", most=2)
    assert len(found.answers[0]) == 2


async def test_a_repetition_of_an_earlier_passage_is_dropped(embedder: Counting, state: MemoryState) -> None:
    again = TIDES + "\n## Once more\n\n" + TIDES.split("\n\n")[1]
    long = (
        "The keeper lights the lamp at dusk and writes into the book how the wind stood, how the sea ran and who came. "
    )
    twice = f"# One\n\n{long}{long.upper()}\n\n# Two\n\n{long}{long.upper()}"
    assert (await find(embedder, state, "tides", markdown=twice, size=80)).passages == 1
    assert (await find(embedder, state, "tides", markdown=again)).passages == 4  # short ones depend on their section


async def test_only_changed_passages_are_embedded_again(embedder: Counting, state: MemoryState) -> None:
    await find(embedder, state, "tides")
    assert len(embedder.documents) == 3
    await find(embedder, state, "tides")  # another process
    assert len(embedder.documents) == 3
    changed = TIDES.replace("every six minutes", "every hour")
    found = await find(embedder, state, "How often does the gauge write the level?", markdown=changed)
    assert len(embedder.documents) == 4
    assert "every hour" in embedder.documents[-1]
    assert "every hour" in found.answers[0][0].text


async def test_concurrent_calls_embed_a_page_once(embedder: Counting, state: MemoryState, workers: Workers) -> None:
    one = finder(embedder, state, workers)
    both = await asyncio.gather(*(one.find(page(), [query], 8, soon()) for query in ("two tides", "the gauge")))
    assert [found.notes for found in both] == [(), ()]
    assert len(embedder.documents) == 3


@pytest.mark.parametrize("change", [{"name": "static/2"}, {"width": 64}])
async def test_another_embedder_embeds_the_page_again(
    embedder: Counting, state: MemoryState, change: dict[str, Any]
) -> None:
    await find(embedder, state, "tides")
    for name, value in change.items():
        setattr(embedder, name, value)
    await find(embedder, state, "tides")
    assert len(embedder.documents) == 6


async def test_a_running_process_notices_a_change_of_dimensions(
    embedder: Counting, state: MemoryState, workers: Workers
) -> None:
    one = finder(embedder, state, workers)
    await one.find(page(), ["tides"], 8, soon())
    embedder.width = 64
    found = await one.find(page(), ["tides"], 8, soon())
    assert "changed in the middle" in found.notes[-1]
    found = await one.find(page(), ["Why two tides a day?"], 8, soon())
    assert found.notes == ()
    assert len(embedder.documents) == 6


async def test_a_failing_embedder_adds_a_note_and_the_call_succeeds(embedder: Counting, state: MemoryState) -> None:
    embedder.failure = SearchProviderError("ollama/x answered with HTTP 500.")
    found = await find(embedder, state, "Why are there two high tides a day?")
    assert "two high tides a day" in found.answers[0][0].text
    assert found.answers[0][0].score > ANSWERS
    assert found.notes == ("Ranked by words alone, at least in part: ollama/x answered with HTTP 500.",)
    embedder.failure = None
    assert (await find(embedder, state, "Why are there two high tides a day?")).notes == ()


async def test_without_embedder_and_common_words_the_longest_passages_are_shown(
    embedder: Counting, state: MemoryState
) -> None:
    embedder.failure = SearchProviderError("Down.")
    found = await find(embedder, state, "penicillin")
    lengths = [len(passage.text) for passage in found.answers[0]]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths
    assert {passage.score for passage in found.answers[0]} == {0}
    assert found.notes[0] == "Nothing on this page seems to answer the query."
    assert found.notes[-1] == "Where no word matches, the longest passages are shown."


async def test_vectors_from_before_the_timeout_are_kept(
    embedder: Counting, state: MemoryState, workers: Workers
) -> None:
    sections = "\n\n".join(f"# Part {n}\n\nThe tide of day {n} was {n} metres high." for n in range(SLICE + 5))
    embedder.hangs_after = SLICE
    found = await finder(embedder, state, workers).find(page(sections), ["tide of day 7"], 3, Deadline.after(6))
    assert found.notes == (f"Ranked by words alone, at least in part: {TOO_SLOW}.",)
    assert "day 7 was" in found.answers[0][0].text
    embedder.hangs_after = None
    assert (await find(embedder, state, "tide of day 7", markdown=sections)).notes == ()
    assert len(embedder.documents) == SLICE + 5


async def test_passages_in_an_unknown_script_are_ranked_by_words_with_a_note(
    embedder: Counting, state: MemoryState
) -> None:
    japanese = "# 東京タワー\n\n東京タワーの高さは333メートルです。\n\n# 大阪城\n\n大阪城は有名な城です。"
    found = await find(embedder, state, "東京タワーの高さ", markdown=japanese)
    assert "333" in found.answers[0][0].text
    assert found.notes == (f"Ranked by words alone, at least in part: {UNKNOWN_SCRIPT}.",)
    assert embedder.documents == []
    mixed = await find(embedder, state, "two tides", "潮")
    assert UNKNOWN_SCRIPT in mixed.notes[-1]
    assert mixed.answers[0][0].score > ANSWERS


@pytest.mark.parametrize("stored", [b"", b"x", b"{}\n", b'{"embedder":"static/1","dimensions":256,"ids":["a"]}\nxx'])
async def test_damaged_vectors_count_as_absent(embedder: Counting, state: MemoryState, stored: bytes) -> None:
    await BlobCache(state).save(vectors_key(page_key(URL), embedder.name), stored, 60)
    assert (await find(embedder, state, "Why are there two tides a day?")).notes == ()
    assert len(embedder.documents) == 3


async def test_unrelated_passages_are_left_out(embedder: Counting, state: MemoryState) -> None:
    """A query gets fewer than the wanted number if fewer are related."""
    filler = "\n\n".join(
        f"## Part {n}\n\nTicket office {n} opens at {n} and sells maps of the town." for n in range(20)
    )
    found = await find(embedder, state, "Why are there two high tides a day?", markdown=f"{TIDES}\n{filler}")
    assert found.answers[0][0].section_path == ("Tides",)
    assert len(found.answers[0]) < 8
    assert all(passage.score >= RELEVANT for passage in found.answers[0])


async def test_a_passage_has_the_same_id_for_every_query(embedder: Counting, state: MemoryState) -> None:
    question = "Why are there two high tides a day, says the Moon?"
    one, two = (await find(embedder, state, question, f"{question} And where?")).answers
    assert {passage.id for passage in one} == {passage.id for passage in two}
    assert all(isinstance(passage, Passage) and len(passage.id) == 16 for passage in one)
