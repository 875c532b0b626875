from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.clock import Clock
from tests.stored_answer import AGAIN, ANSWER, ASKED, ME, OTHER_PARAMETERS, YOU
from websearch_gateway.cache.kinds import ANSWERS
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.results import Scope, is_stopgap
from websearch_gateway.cache.semantic import (
    PREFIX,
    AskedQuestions,
    SemanticCache,
)
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.results import CacheMatch, ErrorInfo, FallbackInfo, SearchResponse, Usage
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.sqlite import SqliteState

START = datetime(2026, 11, 21, 10, tzinfo=UTC).timestamp()


class Cache(SemanticCache[SearchResponse]):
    """The cache of answers as a process has it, with its questions."""

    def __init__(self, questions: AskedQuestions, *about: Any, **options: Any) -> None:
        super().__init__(questions, *about, **options)
        self.questions = questions


Make = Callable[..., Cache]


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def make(state: MemoryState, clock: Clock) -> Make:
    """A function that makes caches, each as a process of its own over one state."""

    def new(*, ttl_seconds: float = 300.0, scope: Scope = "shared", over: Any = None) -> Cache:
        backend = state if over is None else over
        lifetimes = Lifetimes(ttl_seconds, ttl_seconds, 0)
        questions = AskedQuestions(backend, longest_seconds=ttl_seconds, clock=clock)
        return Cache(questions, backend, ANSWERS, lifetimes, scope=scope, clock=clock)

    return new


@pytest.fixture
def cache(make: Make) -> Cache:
    return make()


async def test_another_wording_gets_the_answer_free_of_charge_and_marked(
    cache: Cache, clock: Clock
) -> None:
    await cache.put(ASKED, ME, ANSWER)
    clock.now += 40
    served = await cache.get(AGAIN, YOU)
    assert served is not None
    response = served.response
    assert response.cache == "semantic"
    assert response.cache_match is not None
    assert response.cache_match.age_seconds == 40
    assert (response.cost_usd, response.usage) == (0, Usage())
    assert (response.text, response.citations) == (ANSWER.text, ANSWER.citations)
    assert served.saved_usd == ANSWER.cost_usd


async def test_the_same_wording_is_an_exact_hit(cache: Cache) -> None:
    await cache.put(ASKED, ME, ANSWER)
    served = await cache.get(ASKED, ME)
    assert served is not None
    assert (served.response.cache, served.response.cache_match) == ("exact", None)
    assert cache.recent(ASKED, ME) == served
    assert cache.recent(AGAIN, ME) is None, "what takes longer than a moment is left to get"


@pytest.mark.parametrize(
    "near_miss",
    [
        "how old is the eiffel tower",
        "height of the tokyo tower",
        "how tall was the eiffel tower",
        "eiffel",
    ],
)
async def test_a_question_that_only_looks_similar_is_a_miss(cache: Cache, near_miss: str) -> None:
    await cache.put(ASKED, ME, ANSWER)
    assert await cache.get(SearchQuery(near_miss), ME) is None


async def test_every_other_parameter_must_be_the_same(cache: Cache) -> None:
    compared = {field.name for field in dataclasses.fields(SearchQuery) if field.compare}
    assert OTHER_PARAMETERS.keys() | {"text"} == compared, (
        "a new field needs a line in tests/stored_answer.py"
    )
    await cache.put(ASKED, ME, ANSWER)
    for name, value in OTHER_PARAMETERS.items():
        assert await cache.get(dataclasses.replace(AGAIN, **{name: value}), ME) is None, name
        await cache.put(dataclasses.replace(ASKED, **{name: value}), ME, ANSWER)
        assert await cache.get(dataclasses.replace(AGAIN, **{name: value}), ME), name


async def test_users_do_not_share_answers_when_the_scope_is_user(make: Make) -> None:
    private = make(scope="user")
    await private.put(ASKED, ME, ANSWER)
    assert await private.get(AGAIN, YOU) is None
    assert await private.get(AGAIN, ME)
    restarted = make(scope="user")
    assert await restarted.get(AGAIN, YOU) is None
    assert await restarted.get(AGAIN, ME)
    assert await make().get(AGAIN, ME) is None, "nor does a shared cache see what was private"


async def test_a_user_is_kept_in_the_state_as_a_digest(make: Make, state: MemoryState) -> None:
    await make(scope="user").put(ASKED, Caller("alice@example.com"), ANSWER)
    assert all(b"alice" not in value for _, value in [entry async for entry in state.scan("")])


async def test_questions_in_other_languages_match_exactly_or_not_at_all(
    cache: Cache, state: MemoryState
) -> None:
    asked = SearchQuery("wie hoch ist der eiffelturm")
    await cache.put(asked, ME, ANSWER)
    assert await cache.get(SearchQuery("wie hoch ist der eiffelturm in paris"), ME) is None
    assert await cache.get(SearchQuery("wie hoch der eiffelturm ist"), ME) is None
    assert await cache.get(asked, ME)
    assert [key async for key, _ in state.scan(PREFIX)] == []


class TestAge:
    async def test_an_answer_expires_with_its_ttl(self, cache: Cache, clock: Clock) -> None:
        await cache.put(ASKED, ME, ANSWER)
        clock.now += 299
        assert await cache.get(AGAIN, ME)
        clock.now += 1
        assert await cache.get(AGAIN, ME) is None

    async def test_a_timely_answer_is_served_for_a_short_time(
        self, cache: Cache, clock: Clock
    ) -> None:
        await cache.put(SearchQuery("weather in oslo"), ME, ANSWER)
        clock.now += 60
        assert await cache.get(SearchQuery("oslo weather"), ME)
        clock.now += 1
        assert await cache.get(SearchQuery("oslo weather"), ME) is None
        assert await cache.get(SearchQuery("weather in oslo"), ME), (
            "the same words are the exact cache's affair"
        )

    async def test_this_year_is_that_of_the_clock(self, cache: Cache, clock: Clock) -> None:
        await cache.put(SearchQuery("museum fees in oslo in 2026"), ME, ANSWER)
        await cache.put(SearchQuery("museum fees in oslo in 2025"), ME, ANSWER)
        clock.now += 61
        assert await cache.get(SearchQuery("oslo museum fees 2026"), ME) is None
        assert await cache.get(SearchQuery("oslo museum fees 2025"), ME)

    async def test_a_stopgap_answer_is_kept_for_a_minute_only(
        self, cache: Cache, clock: Clock
    ) -> None:
        stopgap = ANSWER.model_copy(
            update={"fallback": FallbackInfo(from_="openai", reason="TIMEOUT: slow")}
        )
        await cache.put(ASKED, ME, stopgap, stopgap=is_stopgap(stopgap))
        clock.now += 61
        assert await cache.get(AGAIN, ME) is None


async def test_a_question_answered_by_another_process_is_found_at_once_by_one_read(
    make: Make, state: MemoryState, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = make(), make()
    assert await here.get(AGAIN, ME) is None
    await there.put(ASKED, ME, ANSWER)
    await there.get(ASKED, ME)
    read: list[str] = []
    get = state.get

    async def counted(key: str) -> bytes | None:
        read.append(key)
        return await get(key)

    monkeypatch.setattr(state, "get", counted)
    assert await here.get(AGAIN, ME)
    assert [key for key in read if key.startswith(PREFIX)] == read[1:2], (
        "between the exact key and that of the answer"
    )


async def test_the_last_wording_stands_for_its_meaning(
    cache: Cache, clock: Clock, state: MemoryState
) -> None:
    await cache.put(ASKED, ME, ANSWER)
    clock.now += 200
    await cache.put(AGAIN, ME, ANSWER)
    clock.now += 200
    assert [key async for key, _ in state.scan(PREFIX)] == [
        key async for key, _ in state.scan(PREFIX)
    ][:1]
    served = await cache.get(SearchQuery("eiffel tower height"), ME)
    assert served is not None
    assert served.age_seconds == 200, "the answer to the first wording has expired"


class TestState:
    async def test_questions_survive_a_restart(self, make: Make) -> None:
        await make().put(ASKED, ME, ANSWER)
        served = await make().get(AGAIN, ME)
        assert served is not None
        assert served.response.cache == "semantic"

    async def test_they_survive_it_in_a_file(
        self, make: Make, tmp_path: Path, clock: Clock
    ) -> None:
        before = SqliteState(tmp_path / "state.db", clock=clock)
        await make(over=before).put(ASKED, ME, ANSWER)
        await before.close()
        after = SqliteState(tmp_path / "state.db", clock=clock)
        assert await make(over=after).get(AGAIN, ME)
        await after.close()

    async def test_a_question_whose_answer_is_gone_is_a_miss(
        self, make: Make, state: MemoryState
    ) -> None:
        cache = make()
        await cache.put(ASKED, ME, ANSWER)
        await state.delete(cache.key(ASKED, ME))
        assert await make().get(AGAIN, ME) is None

    @pytest.mark.parametrize(
        "worthless",
        [
            SearchResponse(error=ErrorInfo(code="PROVIDER", message="down")),
            ANSWER.model_copy(update={"citations": ()}),
        ],
    )
    async def test_a_result_not_worth_keeping_leaves_no_question(
        self, cache: Cache, state: MemoryState, worthless: SearchResponse
    ) -> None:
        await cache.put(ASKED, ME, worthless)
        assert [entry async for entry in state.scan("")] == []
        assert await cache.get(AGAIN, ME) is None

    async def test_without_its_state_it_continues_in_memory_and_logs_so_once(
        self, make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").touch()
        broken = SqliteState(tmp_path / "file" / "state.db")
        cache = make(over=broken)
        await cache.put(ASKED, ME, ANSWER)
        await cache.put(SearchQuery("capital of peru"), ME, ANSWER)
        assert await cache.get(AGAIN, ME)
        told = [
            record.getMessage() for record in caplog.records if "Questions" in record.getMessage()
        ]
        assert len(told) == 1
        await broken.close()


class TestTrust:
    @pytest.mark.parametrize(
        "change",
        [
            lambda row: b"",
            lambda row: b"\xff\xfe",
            lambda row: b"17",
            lambda row: b"[" * 100_000,
            lambda row: json.dumps({**row, "more": 1}).encode(),
            lambda row: json.dumps({**row, "expires": "soon"}).encode(),
            lambda row: json.dumps({**row, "expires": START - 1}).encode(),
            lambda row: json.dumps({**row, "expires": START + 301}).encode(),
            lambda row: json.dumps({**row, "expires": float("inf")}).encode(),
            lambda row: json.dumps({**row, "owner": "somebody"}).encode(),
            lambda row: json.dumps({**row, "query": {**row["query"], "text": None}}).encode(),
            lambda row: json.dumps({**row, "query": {**row["query"], "max_results": "5"}}).encode(),
            lambda row: json.dumps({**row, "query": {**row["query"], "max_results": 6}}).encode(),
            lambda row: json.dumps({**row, "query": {"text": 5}}).encode(),
            lambda row: json.dumps(
                {**row, "query": {**row["query"], "text": "eiffel " * 60}}
            ).encode(),
            lambda row: json.dumps({**row, "stored": START + 3_600}).encode(),
            lambda row: json.dumps({**row, "meaning": "another"}).encode(),
        ],
    )
    async def test_a_row_that_is_not_ours_is_ignored(
        self, make: Make, state: MemoryState, change: Callable[[dict[str, Any]], bytes]
    ) -> None:
        await make().put(ASKED, ME, ANSWER)
        ((key, value),) = [entry async for entry in state.scan(PREFIX)]
        changed = change(json.loads(value))
        assert changed != value
        await state.put(key, changed)
        restarted = make()
        assert await restarted.questions.in_the_state(10) == []
        assert await restarted.get(AGAIN, ME) is None

    async def test_a_forged_question_brings_no_answer_of_another_owner(
        self, make: Make, state: MemoryState
    ) -> None:
        """The answer is fetched under the key of the asker's own parameters, so a row alone is worth nothing."""
        private = make(scope="user")
        await private.put(ASKED, ME, ANSWER)
        shared = make()
        await shared.questions.add("answers", ASKED, "", 100)
        assert await make().get(AGAIN, YOU) is None

    async def test_a_forged_question_of_another_meaning_is_not_served(
        self, make: Make, state: MemoryState
    ) -> None:
        cache = make()
        await cache.put(ASKED, ME, ANSWER)
        await cache.put(SearchQuery("capital of peru"), ME, ANSWER)
        rows = {row.query.text: row for row in await cache.questions.in_the_state(10)}
        forged = rows[ASKED.text].model_copy(update={"query": SearchQuery("capital of peru")})
        await state.put(forged.key(), forged.model_dump_json().encode())
        assert await make().get(AGAIN, ME) is None

    async def test_a_forged_answer_is_ignored_too(self, make: Make, state: MemoryState) -> None:
        cache = make()
        await cache.put(ASKED, ME, ANSWER)
        key = cache.key(ASKED, ME)
        row = json.loads(await state.get(key) or b"")
        row["response"]["citations"][0]["url"] = "javascript:alert(1)"
        await state.put(key, json.dumps(row).encode())
        assert await make().get(AGAIN, ME) is None

    async def test_a_row_cannot_claim_a_match(self, make: Make, state: MemoryState) -> None:
        cache = make()
        await cache.put(
            ASKED, ME, ANSWER.model_copy(update={"cache_match": CacheMatch(age_seconds=1)})
        )
        served = await make().get(ASKED, ME)
        assert served is not None
        assert served.response.cache_match is None


def test_another_wording_is_found_without_a_model() -> None:
    """In a child, since other tests load it."""
    script = """
import asyncio, sys
from tests.stored_answer import AGAIN, ANSWER, ASKED, ME
from websearch_gateway.cache.kinds import ANSWERS
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.semantic import AskedQuestions, SemanticCache
from websearch_gateway.state.memory import MemoryState

async def main():
    state = MemoryState()
    questions = AskedQuestions(state, longest_seconds=600)
    cache = SemanticCache(questions, state, ANSWERS, Lifetimes(300, 600, 0))
    await cache.put(ASKED, ME, ANSWER)
    print((await cache.get(AGAIN, ME)).response.cache, "numpy" in sys.modules)

asyncio.run(main())
"""
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert told.split() == ["semantic", "False"]


async def test_a_process_forgets_its_questions_when_the_cache_is_cleared(
    state: MemoryState,
) -> None:
    questions = AskedQuestions(state, longest_seconds=300)
    for number in range(5):
        await questions.add("answers", SearchQuery(f"weather in city {number}"), "", 100)
    assert questions.in_memory() == {"questions": 5}
    questions.forget()
    assert len(questions) == 0
