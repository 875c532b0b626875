from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock
from tests.stored_answer import AGAIN, ANSWER, ASKED, ME, OTHER_PARAMETERS, YOU
from websearch_gateway.cache.results import ANSWERS, Lifetimes, Scope, is_stopgap
from websearch_gateway.cache.semantic import (
    OVERLAP_SECONDS,
    PREFIX,
    REFRESH_SECONDS,
    TIMELY_SECONDS,
    QuestionIndex,
    SemanticCache,
    SimilarQuestions,
    VectorIndex,
    question_row,
)
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import Caller, SearchQuery, StateEntry
from websearch_gateway.results import CacheMatch, ErrorInfo, FallbackInfo, SearchResponse, Usage
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.sqlite import SqliteState

START = datetime(2026, 11, 21, 10, tzinfo=UTC).timestamp()
EMBEDDER = StaticEmbedder()


class Cache(SemanticCache[SearchResponse]):
    """The cache of answers as a process has it, with its index of questions."""

    def __init__(self, questions: QuestionIndex, *about: Any, **options: Any) -> None:
        super().__init__(questions, *about, **options)
        self.questions = questions
        self.similar = SimilarQuestions(questions, (self,)).find

    def __len__(self) -> int:
        return len(self.questions)

    async def warm_up(self) -> None:
        await self.questions.warm_up()

    async def close(self) -> None:
        await self.questions.close()


Make = Callable[..., Cache]


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
async def make(state: MemoryState, clock: Clock) -> AsyncIterator[Make]:
    """A function that makes caches, each as a process of its own over one state."""
    made: list[Cache] = []

    def one(*, ttl_seconds: float = 300.0, scope: Scope = "shared", over: Any = None) -> Cache:
        backend = state if over is None else over
        lifetimes = Lifetimes(ttl_seconds, ttl_seconds, 0)
        questions = QuestionIndex(EMBEDDER, backend, longest_seconds=ttl_seconds, clock=clock)
        made.append(Cache(questions, backend, ANSWERS, lifetimes, scope=scope, clock=clock))
        return made[-1]

    yield one
    for cache in made:
        await cache.close()


@pytest.fixture
def cache(make: Make) -> Cache:
    return make()


async def settled(cache: Cache) -> Cache:
    """The cache after it has read the state."""
    await cache.warm_up()
    await cache.questions.settled()
    return cache


async def test_another_wording_gets_the_answer_free_of_charge_and_marked(cache: Cache, clock: Clock) -> None:
    await cache.put(ASKED, ME, ANSWER)
    clock.now += 40
    served = await cache.get(AGAIN, YOU)
    assert served is not None
    response = served.response
    assert response.cache == "semantic"
    assert response.cache_match is not None
    assert 0.7 < response.cache_match.similarity <= 1
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
    "near_miss", ["how old is the eiffel tower", "height of the tokyo tower", "how tall was the eiffel tower", "eiffel"]
)
async def test_a_question_that_only_looks_similar_is_a_miss(cache: Cache, near_miss: str) -> None:
    await cache.put(ASKED, ME, ANSWER)
    assert await cache.get(SearchQuery(near_miss), ME) is None


async def test_every_other_parameter_must_be_the_same(cache: Cache) -> None:
    compared = {field.name for field in dataclasses.fields(SearchQuery) if field.compare}
    assert OTHER_PARAMETERS.keys() | {"text"} == compared, "a new field needs a line in tests/stored_answer.py"
    await cache.put(ASKED, ME, ANSWER)
    for name, value in OTHER_PARAMETERS.items():
        assert await cache.get(dataclasses.replace(AGAIN, **{name: value}), ME) is None, name
        await cache.put(dataclasses.replace(ASKED, **{name: value}), ME, ANSWER)
        assert await cache.get(dataclasses.replace(AGAIN, **{name: value}), ME), name


async def test_users_do_not_share_answers_when_the_scope_is_user(make: Make) -> None:
    private = make(scope="user")
    await private.put(ASKED, ME, ANSWER)
    assert await private.get(AGAIN, YOU) is None
    assert await private.similar(AGAIN, YOU, least=0, most=20) == []
    assert await private.get(AGAIN, ME)
    restarted = await settled(make(scope="user"))
    assert await restarted.get(AGAIN, YOU) is None
    assert await restarted.get(AGAIN, ME)
    assert await (await settled(make())).get(AGAIN, ME) is None, "nor does a shared cache see what was private"


async def test_a_user_is_kept_in_the_state_as_a_digest(make: Make, state: MemoryState) -> None:
    await make(scope="user").put(ASKED, Caller("alice@example.com"), ANSWER)
    assert all(b"alice" not in value for _, value in [entry async for entry in state.scan("")])


async def test_questions_in_other_languages_match_exactly_or_not_at_all(cache: Cache, state: MemoryState) -> None:
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

    async def test_a_timely_answer_is_served_for_a_short_time(self, cache: Cache, clock: Clock) -> None:
        await cache.put(SearchQuery("weather in oslo"), ME, ANSWER)
        clock.now += TIMELY_SECONDS
        assert await cache.get(SearchQuery("oslo weather"), ME)
        clock.now += 1
        assert await cache.get(SearchQuery("oslo weather"), ME) is None
        assert await cache.get(SearchQuery("weather in oslo"), ME), "the same words are the exact cache's affair"

    async def test_this_year_is_that_of_the_clock(self, cache: Cache, clock: Clock) -> None:
        await cache.put(SearchQuery("museum fees in oslo in 2026"), ME, ANSWER)
        await cache.put(SearchQuery("museum fees in oslo in 2025"), ME, ANSWER)
        clock.now += TIMELY_SECONDS + 1
        assert await cache.get(SearchQuery("oslo museum fees 2026"), ME) is None
        assert await cache.get(SearchQuery("oslo museum fees 2025"), ME)

    async def test_a_stopgap_answer_is_kept_for_a_minute_only(self, cache: Cache, clock: Clock) -> None:
        stopgap = ANSWER.model_copy(update={"fallback": FallbackInfo(from_="openai", reason="TIMEOUT: slow")})
        await cache.put(ASKED, ME, stopgap, stopgap=is_stopgap(stopgap))
        clock.now += 61
        assert await cache.get(AGAIN, ME) is None


class TestOtherProcesses:
    async def test_a_question_answered_by_another_process_is_found_within_the_refresh(
        self, make: Make, clock: Clock
    ) -> None:
        here, there = make(), make()
        assert await here.get(AGAIN, ME) is None
        await there.put(ASKED, ME, ANSWER)
        clock.now += REFRESH_SECONDS
        assert await here.get(AGAIN, ME)

    async def test_questions_that_are_known_are_not_read_again(
        self, make: Make, clock: Clock, state: MemoryState, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A read of the state costs only its new rows, however many it holds."""
        here, there = make(), make()
        for number in range(40):
            await there.put(SearchQuery(f"weather in city {number}"), ME, ANSWER)
        await settled(here)
        read: list[str] = []
        entries = state.entries

        async def counted(prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
            async for entry in entries(prefix, after):
                read.append(entry.key)
                yield entry

        monkeypatch.setattr(state, "entries", counted)
        clock.now += OVERLAP_SECONDS + 1
        await settled(here)
        clock.now += OVERLAP_SECONDS + 1
        await there.put(ASKED, ME, ANSWER)
        read.clear()
        assert await here.get(AGAIN, ME)
        assert len(read) == 1

    async def test_a_row_that_arrives_late_is_still_found(self, make: Make, clock: Clock, state: MemoryState) -> None:
        """The clock of its process is behind, or writing it took long."""
        here = await settled(make())
        await make().put(ASKED, ME, ANSWER)
        ((key, value),) = [entry async for entry in state.scan(PREFIX)]
        await state.delete(key)
        clock.now += REFRESH_SECONDS
        await settled(here)
        await state.put(key, value)
        clock.now += REFRESH_SECONDS
        assert await here.get(AGAIN, ME)


class TestState:
    async def test_questions_survive_a_restart(self, make: Make) -> None:
        await make().put(ASKED, ME, ANSWER)
        restarted = await settled(make())
        served = await restarted.get(AGAIN, ME)
        assert served is not None
        assert served.response.cache == "semantic"

    async def test_they_survive_it_in_a_file(self, make: Make, tmp_path: Path, clock: Clock) -> None:
        before = SqliteState(tmp_path / "state.db", clock=clock)
        await make(over=before).put(ASKED, ME, ANSWER)
        await before.close()
        after = SqliteState(tmp_path / "state.db", clock=clock)
        assert await (await settled(make(over=after))).get(AGAIN, ME)
        await after.close()

    async def test_a_question_whose_answer_is_gone_is_forgotten(self, make: Make, state: MemoryState) -> None:
        cache = make()
        await cache.put(ASKED, ME, ANSWER)
        restarted = await settled(make())
        await state.delete(cache.key(ASKED, ME))
        assert await restarted.get(AGAIN, ME) is None
        assert len(restarted) == 0

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
        cache = await settled(make(over=broken))
        await cache.put(ASKED, ME, ANSWER)
        await cache.put(SearchQuery("capital of peru"), ME, ANSWER)
        assert await cache.get(AGAIN, ME)
        told = [record.getMessage() for record in caplog.records if "Questions" in record.getMessage()]
        assert len(told) == 1
        await broken.close()

    async def test_a_state_that_failed_is_read_later(
        self, state: MemoryState, make: Make, clock: Clock, tmp_path: Path
    ) -> None:
        (tmp_path / "dir").touch()
        await make().put(ASKED, ME, ANSWER)
        broken = SqliteState(tmp_path / "dir" / "state.db")
        cache = await settled(make(over=broken))
        cache.questions._state = cache._state = state  # the state works again
        clock.now += REFRESH_SECONDS - 1
        assert await (await settled(cache)).get(AGAIN, ME) is None
        clock.now += 1
        assert await (await settled(cache)).get(AGAIN, ME)
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
            lambda row: json.dumps({**row, "query": {**row["query"], "text": AGAIN.text}}).encode(),
            lambda row: json.dumps({**row, "query": {**row["query"], "text": None}}).encode(),
            lambda row: json.dumps({**row, "query": {**row["query"], "max_results": "5"}}).encode(),
            lambda row: json.dumps({**row, "query": {**row["query"], "max_results": 6}}).encode(),
            lambda row: json.dumps({**row, "query": {"text": 5}}).encode(),
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
        restarted = await settled(make())
        assert len(restarted) == 0
        assert await restarted.get(AGAIN, ME) is None

    async def test_a_question_too_long_to_be_asked_is_ignored(self, make: Make, state: MemoryState) -> None:
        await state.put(*question_row(SearchQuery("weather " * 60), "", START + 100, START))
        assert len(await settled(make())) == 0

    async def test_a_forged_question_brings_no_answer_of_another_question(self, make: Make, state: MemoryState) -> None:
        """The answer is fetched under the key of the asker's own question, so a row alone is worth nothing."""
        private = make(scope="user")
        await private.put(ASKED, ME, ANSWER)
        key, value = question_row(ASKED, "", START + 100, START)
        await state.put(key, value)
        shared = await settled(make())
        assert len(shared) == 2
        assert await shared.get(AGAIN, YOU) is None

    async def test_a_forged_answer_is_ignored_too(self, make: Make, state: MemoryState) -> None:
        cache = make()
        await cache.put(ASKED, ME, ANSWER)
        key = cache.key(ASKED, ME)
        row = json.loads(await state.get(key) or b"")
        row["response"]["citations"][0]["url"] = "javascript:alert(1)"
        await state.put(key, json.dumps(row).encode())
        assert await (await settled(make())).get(AGAIN, ME) is None

    async def test_a_row_cannot_claim_a_match(self, make: Make, state: MemoryState) -> None:
        cache = make()
        await cache.put(ASKED, ME, ANSWER.model_copy(update={"cache_match": CacheMatch(similarity=1)}))
        served = await make().get(ASKED, ME)
        assert served is not None
        assert served.response.cache_match is None


def test_no_model_is_loaded_before_there_is_a_question() -> None:
    """A first answer does not wait for it. In a child, since other tests load it."""
    script = """
import asyncio, sys
from websearch_gateway.cache.semantic import QuestionIndex
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import SearchQuery
from websearch_gateway.state.memory import MemoryState

async def main():
    questions = QuestionIndex(StaticEmbedder(), MemoryState(), longest_seconds=600)
    await questions.warm_up()
    assert not await questions.nearest("How tall is the tower?", 0, least=0, most=5)
    await questions.add("answers", SearchQuery("How tall is the tower?"), "", 600)
    print(len(questions), "numpy" in sys.modules)
    await questions.close()

asyncio.run(main())
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["1", "False"]


async def test_at_most_as_many_questions_are_read_as_there_is_room_for(state: MemoryState, clock: Clock) -> None:
    for number in range(50):
        await state.put(*question_row(SearchQuery(f"weather in city {number}"), "", START + 100, START))
    asked = QuestionIndex(EMBEDDER, state, longest_seconds=300, clock=clock, most=20)
    await asked.warm_up()
    await asked.settled()
    assert len(asked) == 20
    await asked.close()


MINE, YOURS, OTHERS = 1, -2, 2**62
FOREVER = 1e12


def unit(seed: int, dimensions: int = 256) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
    return vector / np.linalg.norm(vector)


def key(number: int) -> bytes:
    return number.to_bytes(4, "big")


def filled(count: int, most: int = 5_000) -> VectorIndex[int]:
    index: VectorIndex[int] = VectorIndex(256, most)
    for number in range(count):
        index.put(key(number), unit(number), (MINE, OTHERS), FOREVER, number, now=0)
    return index


def found(
    index: VectorIndex[int], vector: np.ndarray, *, least: float = -1.0, most: int = 5, now: float = 1
) -> list[int]:
    return [one.item for one in index.nearest(vector, MINE, least=least, most=most, now=now)]


@pytest.mark.parametrize("count", [0, 1, 50, 3_000])
def test_the_nearest_come_first_with_their_cosines(count: int) -> None:
    index = filled(count)
    asked = unit(7) + 0.5 * unit(8)
    asked /= np.linalg.norm(asked)
    cosines = {number: float(unit(number) @ asked) for number in range(count)}
    best = sorted(cosines, key=lambda number: -cosines[number])[:2]
    neighbours = index.nearest(asked, MINE, least=0.3, most=2, now=1)
    assert [one.item for one in neighbours] == [number for number in best if cosines[number] >= 0.3]
    for one in neighbours:
        assert one.similarity == pytest.approx(cosines[one.item], abs=0.01)


def test_a_vector_is_nearest_to_itself_with_a_similarity_of_at_most_one() -> None:
    (best, *_) = filled(1_000).nearest(unit(500), MINE, least=0.9, most=5, now=1)
    assert best.item == 500
    assert 0.99 < best.similarity <= 1


def test_a_search_sees_only_its_label() -> None:
    index: VectorIndex[str] = VectorIndex(256, 10)
    index.put(b"mine", unit(1), (MINE, OTHERS), FOREVER, "mine", now=0)
    index.put(b"yours", unit(1), (YOURS, OTHERS), FOREVER, "yours", now=0)
    assert [one.item for one in index.nearest(unit(1), MINE, least=0, most=5, now=1)] == ["mine"]
    assert {one.item for one in index.nearest(unit(1), OTHERS, least=0, most=5, now=1)} == {"mine", "yours"}
    assert index.nearest(unit(1), 12345, least=0, most=5, now=1) == []


def test_expired_items_are_not_found_and_are_removed() -> None:
    index: VectorIndex[int] = VectorIndex(256, 10)
    for number in range(4):
        index.put(key(number), unit(1), (MINE, OTHERS), 10.0 + number, number, now=0)
    assert found(index, unit(1), now=11.5) == [2, 3]
    index.put(key(9), unit(1), (MINE, OTHERS), FOREVER, 9, now=12.5)
    assert len(index) == 2
    assert set(found(index, unit(1), now=12.5)) == {3, 9}


def test_an_item_with_the_same_key_replaces_the_old_one() -> None:
    index = filled(3)
    index.put(key(1), unit(77), (MINE, OTHERS), FOREVER, 42, now=1)
    assert len(index) == 3
    assert found(index, unit(77), least=0.9) == [42]
    assert found(index, unit(1), least=0.9) == []


def test_discarded_items_are_gone() -> None:
    index = filled(3)
    index.discard(key(1))
    index.discard(b"never there")
    assert sorted(found(index, unit(1))) == [0, 2]


def test_the_oldest_item_makes_room() -> None:
    index = filled(25, most=10)
    assert len(index) == 10
    assert sorted(found(index, unit(3), most=50)) == list(range(15, 25))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 30), st.booleans()), max_size=60))
def test_it_holds_the_same_items_as_a_dictionary(steps: list[tuple[int, int, bool]]) -> None:
    """Items are put, replaced, discarded and expire in any order; with seven places the ring wraps around."""
    index: VectorIndex[int] = VectorIndex(64, 7)
    expected: dict[int, float] = {}
    for now, (number, lifetime, discard) in enumerate(steps):
        if discard:
            index.discard(key(number))
            expected.pop(number, None)
        else:
            index.put(key(number), unit(number, 64), (MINE, OTHERS), now + lifetime, number, now=now)
            expected[number] = now + lifetime
        seen = set(found(index, unit(3, 64), most=99, now=now))
        assert seen <= {one for one, expires in expected.items() if expires > now}
        assert len(index) <= 7
        if number in expected and expected[number] > now and not discard:
            assert number in seen, "what was just put is there"
