from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.clock import Clock
from tests.stored_answer import AGAIN, ANSWER, ASKED, ME, YOU
from websearch_gateway.cache.kinds import ANSWERS
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.results import Scope
from websearch_gateway.cache.semantic import AskedQuestions, QuestionRow, SemanticCache
from websearch_gateway.cache.similar import SimilarQuestions
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import SearchQuery
from websearch_gateway.results import SearchResponse
from websearch_gateway.state.memory import MemoryState

EMBEDDER = StaticEmbedder()


class Process:
    """What a process of the gateway has: its cache of answers and its search for similar questions."""

    def __init__(self, state: MemoryState, clock: Clock, scope: Scope = "shared") -> None:
        self.questions = AskedQuestions(state, longest_seconds=3_600, clock=clock)
        lifetimes = Lifetimes(3_600, 3_600, 0)
        self.cache: SemanticCache[SearchResponse] = SemanticCache(
            self.questions, state, ANSWERS, lifetimes, scope=scope, clock=clock
        )
        self.similar = SimilarQuestions(EMBEDDER, self.questions, (self.cache,), clock=clock)


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 11, 21, 10, tzinfo=UTC).timestamp())


@pytest.fixture
def process(state: MemoryState, clock: Clock) -> Process:
    return Process(state, clock)


async def test_the_nearest_questions_come_first_with_their_cosines_and_results(
    process: Process,
) -> None:
    for text in ("height of the eiffel tower", "height of the tokyo tower", "how to bake bread"):
        await process.cache.put(SearchQuery(text), ME, ANSWER)
    found = await process.similar.find(AGAIN, YOU, least=0.5, most=5)
    assert [similar.query.text for similar in found] == [
        "height of the eiffel tower",
        "height of the tokyo tower",
    ]
    assert 1 >= found[0].similarity > found[1].similarity >= 0.5
    assert found[0].served.response.text == ANSWER.text
    assert len(await process.similar.find(AGAIN, YOU, least=0, most=1)) == 1


async def test_a_question_is_as_similar_to_itself_as_can_be(process: Process) -> None:
    await process.cache.put(ASKED, ME, ANSWER)
    (similar,) = await process.similar.find(ASKED, ME, least=0.99, most=5)
    assert 0.99 < similar.similarity <= 1


async def test_a_question_of_this_process_is_found_at_once_and_another_ones_after_the_refresh(
    process: Process, state: MemoryState, clock: Clock
) -> None:
    assert await process.similar.find(ASKED, ME, least=0.5, most=5) == []
    await Process(state, clock).cache.put(ASKED, ME, ANSWER)
    clock.now += 59
    assert await process.similar.find(ASKED, ME, least=0.5, most=5) == []
    clock.now += 1
    assert len(await process.similar.find(ASKED, ME, least=0.5, most=5)) == 1
    await process.cache.put(SearchQuery("capital of peru"), ME, ANSWER)
    assert (
        len(await process.similar.find(SearchQuery("capital of peru"), ME, least=0.5, most=5)) == 1
    )


async def test_users_see_their_own_questions_only_when_the_scope_is_user(
    state: MemoryState, clock: Clock
) -> None:
    private = Process(state, clock, "user")
    await private.cache.put(ASKED, ME, ANSWER)
    assert await private.similar.find(AGAIN, YOU, least=0, most=20) == []
    assert await private.similar.same(AGAIN, YOU) is None
    assert len(await private.similar.find(AGAIN, ME, least=0, most=20)) == 1


async def test_a_question_whose_answer_has_expired_is_not_found(
    process: Process, clock: Clock
) -> None:
    await process.cache.put(ASKED, ME, ANSWER)
    clock.now += 3_600
    assert await process.similar.find(ASKED, ME, least=0, most=5) == []
    assert await process.similar.same(ASKED, ME) is None


async def test_the_same_question_is_found_with_any_parameters_in_its_own_words_first(
    process: Process,
) -> None:
    await process.cache.put(SearchQuery("eiffel tower height", region="fr"), ME, ANSWER)
    await process.cache.put(SearchQuery(AGAIN.text, region="de"), ME, ANSWER)
    await process.cache.put(SearchQuery("height of the tokyo tower"), ME, ANSWER)
    similar = await process.similar.same(AGAIN, ME)
    assert similar is not None
    assert similar.query.text == AGAIN.text
    assert await process.similar.same(SearchQuery("height of the eiffel"), ME) is None
    assert await process.similar.same(SearchQuery("wie hoch ist der turm"), ME) is None


async def test_the_first_ten_thousand_questions_of_the_state_are_compared(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: list[int] = []

    async def none_of(most: int) -> list[QuestionRow]:
        asked_for.append(most)
        return []

    monkeypatch.setattr(process.questions, "in_the_state", none_of)
    await process.similar.find(ASKED, ME, least=0.5, most=5)
    assert asked_for == [10_000]
