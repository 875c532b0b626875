"""The tools of the cache call no upstream, obey the guard, and show only results that their caller may see."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from websearch_gateway.app.gateway import Caches, open_caches
from websearch_gateway.base import CacheMemory
from websearch_gateway.errors import (
    SearchNotConfiguredError,
    SearchRateLimitError,
    SearchValidationError,
)
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import LOCAL, Caller, SearchQuery, Topic
from websearch_gateway.pipeline.cached_answers import CachedAnswers
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.results import (
    CachedAnswer,
    Citation,
    SearchResponse,
    WebResult,
    WebSearchResponse,
)
from websearch_gateway.settings.loading import load_settings
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream.telemetry import CallRecord, Telemetry

QUESTION = "how tall is the eiffel tower"
ANSWER = SearchResponse(
    text="It is 330 m tall.",
    citations=(
        Citation(
            url="https://toureiffel.paris/", title="T", text_snippet="It is.", end_index=17, rank=1
        ),
    ),
    provider="openai",
    responded_at=datetime.now(UTC).isoformat(),
)


@pytest.fixture
def records() -> list[CallRecord]:
    return []


def opened(*, semantic: bool = True) -> Caches:
    return open_caches(
        load_settings(None, semantic_cache=semantic),
        MemoryState(),
        StaticEmbedder(),
        None,
        CacheMemory(),
    )


def over(caches: Caches, records: list[CallRecord]) -> CachedAnswers:
    telemetry, limits = (
        Telemetry([records.append]),
        RateLimits(MemoryState(), MemoryState(), "1000/minute"),
    )
    return CachedAnswers(Guard({}, ()), caches.answers, caches.similar, limits, telemetry, 5.0)


@pytest.fixture
def caches() -> Caches:
    return opened()


@pytest.fixture
async def answers(caches: Caches, records: list[CallRecord]) -> CachedAnswers:
    await caches.answers.put(SearchQuery(QUESTION), LOCAL, ANSWER)
    return over(caches, records)


async def test_a_known_question_is_found_in_the_same_words_and_in_others(
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


async def test_an_unknown_question_is_a_miss_without_an_error(answers: CachedAnswers) -> None:
    assert await answers.search("how tall is the tokyo tower", LOCAL) == CachedAnswer()


async def test_similar_questions_come_with_their_answers_for_any_parameters(
    answers: CachedAnswers,
) -> None:
    await answers.answers.put(
        SearchQuery("how old is the eiffel tower", max_results=2, region="FR"), LOCAL, ANSWER
    )
    found = (await answers.similar("height of the eiffel tower", LOCAL)).results
    assert [one.query for one in found] == [QUESTION, "how old is the eiffel tower"]
    assert found[0].similarity > found[1].similarity >= 0.72
    assert (found[0].text, found[0].citations) == (ANSWER.text, ANSWER.citations)
    assert (
        len((await answers.similar("height of the eiffel tower", LOCAL, max_results=1)).results)
        == 1
    )
    assert (
        await answers.similar("height of the eiffel tower", LOCAL, threshold=0.999)
    ).results == ()
    assert (await answers.similar("banana bread recipe", LOCAL)).results == ()


@pytest.mark.parametrize(
    "call",
    [
        {"text": "hi"},
        {"text": "my key is sk-proj-" + "a1B2c3D4e5F6g7H8" * 3},
        {"text": QUESTION, "threshold": 1.1},
        {"text": QUESTION, "threshold": float("nan")},
        {"text": QUESTION, "max_results": 0},
    ],
)
async def test_the_guard_refuses_bad_questions_here_too(answers: CachedAnswers, call: dict) -> None:
    with pytest.raises(SearchValidationError):
        await answers.similar(caller=LOCAL, **call)
    if set(call) == {"text"}:
        with pytest.raises(SearchValidationError):
            await answers.search(call["text"], LOCAL)


async def test_without_the_semantic_cache_only_the_same_words_are_found(
    records: list[CallRecord],
) -> None:
    plain = over(opened(semantic=False), records)
    await plain.answers.put(SearchQuery(QUESTION), LOCAL, ANSWER)
    assert (await plain.search(QUESTION, LOCAL)).found
    assert not (await plain.search("height of the eiffel tower", LOCAL)).found
    with pytest.raises(SearchNotConfiguredError, match="SEMANTIC_CACHE"):
        await plain.similar(QUESTION, LOCAL)
    plain.telemetry.flush()
    assert records[-1].outcome.outcome == "NOT_CONFIGURED"


async def test_a_call_to_the_cache_counts_as_a_cached_call(answers: CachedAnswers) -> None:
    limited = replace(
        answers,
        rate_limits=RateLimits(
            MemoryState(), MemoryState(), "2/minute", setting="CACHED_RATE_LIMIT"
        ),
    )
    await limited.search(QUESTION, Caller("me"))
    await limited.similar(QUESTION, Caller("me"))
    for ask in (limited.search, limited.similar):
        with pytest.raises(SearchRateLimitError, match="CACHED_RATE_LIMIT"):
            await ask(QUESTION, Caller("me"))
    await limited.search(QUESTION, Caller("you"))


PAGES = WebSearchResponse(
    results=(
        WebResult(
            title="Tower",
            link="https://a.example/",
            snippet="330 m",
            page_content="text",
            provider="brave",
        ),
    )
)


@pytest.mark.parametrize(("topic", "tool"), [("general", "web_search"), ("news", "search_news")])
async def test_results_of_web_searches_are_found_for_any_parameters(
    caches: Caches, records: list[CallRecord], topic: Topic, tool: str
) -> None:
    await caches.web.put(SearchQuery(QUESTION, max_results=7, topic=topic), LOCAL, PAGES)
    cached = over(caches, records)
    for text in (QUESTION, "height of the Eiffel Tower"):
        found = await cached.search(text, LOCAL)
        assert (found.found, found.tool, found.provider, found.text) == (True, tool, "brave", "")
        assert [page.link for page in found.results] == ["https://a.example/"]
    (similar,) = (await cached.similar("height of the eiffel tower", LOCAL)).results
    assert (similar.tool, similar.results[0].title, similar.provider) == (tool, "Tower", "brave")
    assert not (await cached.search("how old is the eiffel tower", LOCAL)).found
