"""The cache's own tools ask nobody, obey the guard and tell only what their caller may see."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from websearch_gateway.embedders.static import StaticEmbedder
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import LOCAL, SearchQuery
from websearch_gateway.pipeline.cached import CachedAnswers
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.semantic import answer_cache
from websearch_gateway.pipeline.telemetry import CallRecord, Telemetry
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.wire.answer import Citation, SearchResponse
from websearch_gateway.wire.cache import CachedAnswer

QUESTION = "how tall is the eiffel tower"
ANSWER = SearchResponse(
    text="It is 330 m tall.",
    citations=(Citation(url="https://toureiffel.paris/", title="T", text_snippet="It is.", end_index=17, rank=1),),
    provider="openai",
    responded_at=datetime.now(UTC).isoformat(),
)


@pytest.fixture
def records() -> list[CallRecord]:
    return []


def cached(records: list[CallRecord], *, semantic: bool = True) -> CachedAnswers:
    cache = answer_cache(MemoryState(), StaticEmbedder(), ttl_seconds=300, scope="shared", semantic=semantic)
    return CachedAnswers(Guard({}, False, ()), cache, Telemetry([records.append]), 0.72, 5.0)


@pytest.fixture
async def answers(records: list[CallRecord]):
    made = cached(records)
    await made.cache.put(SearchQuery(QUESTION), LOCAL, ANSWER)
    yield made
    await made.cache.close()


async def test_a_known_question_is_found_in_these_and_in_other_words(
    answers: CachedAnswers, records: list[CallRecord]
) -> None:
    exact = await answers.search(QUESTION, LOCAL)
    assert (exact.found, exact.cache, exact.text) == (True, "exact", ANSWER.text)
    other = await answers.search("Height of the Eiffel Tower?", LOCAL)
    assert (other.found, other.cache, other.citations) == (True, "semantic", ANSWER.citations)
    answers.telemetry.flush()
    assert [(record.tool, record.outcome.cache) for record in records] == [
        ("search_cached", "exact"),
        ("search_cached", "semantic"),
    ]


async def test_an_unknown_question_is_not_found_and_is_no_error(answers: CachedAnswers) -> None:
    assert await answers.search("how tall is the tokyo tower", LOCAL) == CachedAnswer()


async def test_similar_questions_come_with_their_answers_whatever_their_parameters(answers: CachedAnswers) -> None:
    await answers.cache.put(SearchQuery("how old is the eiffel tower", max_results=2, region="FR"), LOCAL, ANSWER)
    found = (await answers.similar("height of the eiffel tower", LOCAL)).results
    assert [one.query for one in found] == [QUESTION, "how old is the eiffel tower"]
    assert found[0].similarity > found[1].similarity >= 0.72
    assert (found[0].text, found[0].citations) == (ANSWER.text, ANSWER.citations)
    assert len((await answers.similar("height of the eiffel tower", LOCAL, limit=1)).results) == 1
    assert (await answers.similar("height of the eiffel tower", LOCAL, threshold=0.999)).results == ()
    assert (await answers.similar("banana bread recipe", LOCAL)).results == ()


@pytest.mark.parametrize(
    "call",
    [
        {"text": "hi"},
        {"text": "my key is sk-proj-" + "a1B2c3D4e5F6g7H8" * 3},
        {"text": QUESTION, "threshold": 1.1},
        {"text": QUESTION, "threshold": float("nan")},
        {"text": QUESTION, "limit": 0},
        {"text": QUESTION, "limit": 21},
    ],
)
async def test_what_the_guard_would_refuse_is_refused(answers: CachedAnswers, call: dict) -> None:
    with pytest.raises(SearchValidationError):
        await answers.similar(caller=LOCAL, **call)
    if set(call) == {"text"}:
        with pytest.raises(SearchValidationError):
            await answers.search(call["text"], LOCAL)


async def test_without_the_semantic_cache_only_the_same_words_are_found(records: list[CallRecord]) -> None:
    plain = cached(records, semantic=False)
    await plain.cache.put(SearchQuery(QUESTION), LOCAL, ANSWER)
    assert (await plain.search(QUESTION, LOCAL)).found
    assert not (await plain.search("height of the eiffel tower", LOCAL)).found
    with pytest.raises(SearchNotConfiguredError, match="SEMANTIC_CACHE"):
        await plain.similar(QUESTION, LOCAL)
    plain.telemetry.flush()
    assert records[-1].outcome.outcome == "NOT_CONFIGURED"
