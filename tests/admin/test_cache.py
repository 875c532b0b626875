"""What is told of the cache is true, and what is cleared is gone: from the state and from every process's memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.clock import Clock
from websearch_gateway.admin import cache as cache_module
from websearch_gateway.admin.cache import CacheAdmin
from websearch_gateway.admin.contents import PREFIXES
from websearch_gateway.cache.clearing import CLEARED
from websearch_gateway.cache.kinds import ANSWERS, WEB_RESULTS
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.pages import KEEP_SECONDS
from websearch_gateway.cache.results import CHECK_SECONDS, ResultCache
from websearch_gateway.cache.semantic import AskedQuestions
from websearch_gateway.errors import SearchValidationError, StateUnavailable
from websearch_gateway.models import Caller, SearchQuery, StateEntry, StateProblem
from websearch_gateway.ports import State
from websearch_gateway.results import Citation, SearchResponse, WebResult, WebSearchResponse
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.opening import RETRY_SECONDS, SpareState
from websearch_gateway.state.sqlite import UNUSABLE_FILE, SqliteState
from websearch_gateway.upstream.ledger import Ledger
from websearch_gateway.upstream.statistics import Statistics
from websearch_gateway.upstream.telemetry import Telemetry

LIFETIMES = Lifetimes(86_400, 86_400, 0)
ME, YOU = Caller("me"), Caller("you")
TIDES, MOONS = SearchQuery("why are there tides"), SearchQuery("how many moons are there")
ANSWER = SearchResponse(
    text="So.", citations=(Citation(url="https://a.example/", end_index=3),), cost_usd=0.01
)
RESULTS = WebSearchResponse(
    results=(WebResult(link="https://a.example/", page_content="text", provider="brave"),)
)
UNTOUCHED = ("ledger/2026-11-21/total", "limit/user/1", "cache/epoch")


class Process:
    """What one process has of the cache, over a state that it shares with others."""

    def __init__(self, state: State, clock: Clock) -> None:
        self.answers = ResultCache(state, ANSWERS, LIFETIMES, scope="user", clock=clock)
        self.web = ResultCache(state, WEB_RESULTS, LIFETIMES, clock=clock)
        self.statistics = Statistics(clock=clock)
        self.telemetry = Telemetry([self.statistics.observe])
        self.care = CacheAdmin(
            state,
            (self.answers, self.web),
            self.statistics,
            self.telemetry,
            Ledger(state, clock=clock),
            clock,
        )

    async def knows(self, query: SearchQuery, caller: Caller = ME) -> bool:
        return await self.answers.get(query, caller) is not None

    async def has_results(self, query: SearchQuery) -> bool:
        return await self.web.get(query, ME) is not None

    async def fill(self, query: SearchQuery) -> None:
        """An answer for each of two users, one with another parameter, and results."""
        await self.answers.put(query, ME, ANSWER)
        await self.answers.put(query, YOU, ANSWER)
        await self.answers.put(SearchQuery(query.text.upper(), region="FR"), ME, ANSWER)
        await self.web.put(query, ME, RESULTS)


@pytest.fixture(params=["memory", "sqlite"])
async def state(
    request: pytest.FixtureRequest, clock: Clock, tmp_path: Path
) -> AsyncIterator[State]:
    one: State = MemoryState(clock=clock)
    if request.param == "sqlite":
        one = SqliteState(tmp_path / "state.db", clock=clock)
    yield one
    await one.close()


@pytest.fixture
def process(state: State, clock: Clock) -> Process:
    return Process(state, clock)


@pytest.fixture
def other(state: State, clock: Clock) -> Process:
    return Process(state, clock)


async def keys(state: State) -> list[str]:
    return [key async for key, _ in state.scan("")]


class TestClearing:
    async def test_everything_means_the_cache_and_nothing_else(
        self, process: Process, state: State
    ) -> None:
        await process.fill(TIDES)
        for prefix in PREFIXES.values():
            await state.put(f"{prefix}x", b"anything", 600)
        for key in UNTOUCHED:
            await state.add(key)
        result = await process.care.clear()
        assert result.removed_by_kind == {
            "answers": 4,
            "questions": 1,
            "web": 2,
            "raw": 1,
            "judgements": 1,
            "pages": 1,
        }
        assert result.removed == 10
        assert sorted(key for key in await keys(state) if not key.startswith(CLEARED)) == sorted(
            UNTOUCHED
        )
        assert not await process.knows(TIDES)
        assert not await process.has_results(TIDES)

    async def test_a_question_goes_with_all_its_parameters_and_users_and_others_stay(
        self, process: Process
    ) -> None:
        await process.fill(TIDES)
        await process.fill(MOONS)
        result = await process.care.clear(query="  Why are there\ttides ")
        assert result.removed_by_kind == {"answers": 3, "questions": 0, "web": 1, "raw": 0}
        assert not await process.knows(TIDES)
        assert not await process.knows(TIDES, YOU)
        assert not await process.has_results(TIDES)
        assert await process.knows(MOONS)
        assert await process.has_results(MOONS)

    @pytest.mark.parametrize(
        "asked", ["why are there tides?", "WHY ARE THERE TIDES", "Why are there tides."]
    )
    async def test_a_question_is_found_whatever_its_case_and_punctuation(
        self, process: Process, asked: str
    ) -> None:
        await process.fill(TIDES)
        await process.fill(SearchQuery("Why are there tides?"))
        assert (await process.care.clear(query=asked)).removed_by_kind["answers"] == 6
        assert not await process.knows(TIDES)

    async def test_a_question_is_found_in_other_words_if_the_cache_finds_it_so(
        self, process: Process, state: State, clock: Clock
    ) -> None:
        stored, other = (
            SearchQuery("How tall is the Eiffel Tower?"),
            SearchQuery("How old is the Eiffel Tower?"),
        )
        for query in (stored, other):
            await process.fill(query)
            await AskedQuestions(state, longest_seconds=600, clock=clock).add(
                "answers", query, "", 600
            )
        assert (await process.care.clear(query="eiffel tower height")).removed_by_kind[
            "questions"
        ] == 1
        assert not await process.knows(stored)
        assert await process.knows(other)

    async def test_only_what_is_older_goes(
        self, process: Process, state: State, clock: Clock
    ) -> None:
        await process.fill(TIDES)
        await state.put("page/old", b"", KEEP_SECONDS)
        clock.now += 3600
        await process.fill(MOONS)
        await state.put("page/new", b"", KEEP_SECONDS)
        result = await process.care.clear(older_than_hours=1)
        assert result.removed_by_kind == {
            "answers": 3,
            "questions": 0,
            "web": 1,
            "raw": 0,
            "judgements": 0,
            "pages": 1,
        }
        assert await process.knows(MOONS)
        assert not await process.knows(TIDES)
        assert await state.get("page/new") is not None

    async def test_both_conditions_must_hold(self, process: Process, clock: Clock) -> None:
        await process.fill(TIDES)
        clock.now += 7200
        await process.answers.put(SearchQuery(TIDES.text, region="DE"), ME, ANSWER)
        assert (await process.care.clear(query=TIDES.text, older_than_hours=1)).removed == 4
        assert (await process.care.clear(query=TIDES.text)).removed == 1

    async def test_what_does_not_tell_its_age_or_question_is_meant(
        self, process: Process, state: State
    ) -> None:
        """Entries of an earlier version, and those of a stranger."""
        await process.answers.put(TIDES, ME, ANSWER)
        row = json.loads(await state.get(process.answers.key(TIDES, ME)) or b"")
        del row["stored"], row["question"]
        await state.put("cache/exact/earlier", json.dumps(row).encode(), 600)
        await state.put("cache/exact/foreign", b"[" * 10_000, 600)
        assert (await process.care.clear(query=MOONS.text)).removed == 2
        await state.put("cache/exact/foreign", json.dumps({"stored": 1e12}).encode(), 600)
        assert (await process.care.clear(older_than_hours=1)).removed == 1

    async def test_other_processes_forget_too(
        self, process: Process, other: Process, clock: Clock
    ) -> None:
        await process.fill(TIDES)
        assert await other.knows(TIDES)
        assert await other.has_results(TIDES)
        await process.care.clear()
        clock.now += CHECK_SECONDS
        assert other.answers.recent(TIDES, ME) is None
        assert not await other.knows(TIDES)
        assert not await other.has_results(TIDES)

    @pytest.mark.parametrize(
        "only", [{}, {"query": "Why are there tides?"}, {"older_than_hours": 1}]
    )
    async def test_what_another_process_could_not_store_is_cleared_too(
        self,
        process: Process,
        other: Process,
        clock: Clock,
        monkeypatch: pytest.MonkeyPatch,
        only: dict[str, Any],
    ) -> None:
        with monkeypatch.context() as outage:
            outage.setattr(other.answers, "_state", Unreachable())
            await other.fill(TIDES)
            await other.answers.put(MOONS, ME, ANSWER)
        clock.now += 3_600
        assert await other.knows(TIDES)
        clock.now += CHECK_SECONDS
        await process.care.clear(**only)
        assert not await other.knows(TIDES)
        assert await other.knows(MOONS) == ("query" in only)

    async def test_a_clearing_of_older_entries_does_not_undo_one_of_all(
        self, process: Process, other: Process, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as outage:
            outage.setattr(other.answers, "_state", Unreachable())
            await other.fill(TIDES)
        await process.care.clear()
        await process.care.clear(older_than_hours=1)
        clock.now += CHECK_SECONDS
        assert not await other.knows(TIDES)

    async def test_two_that_clear_at_the_same_moment_clear_what_the_later_one_does(
        self, process: Process, other: Process, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as outage:
            outage.setattr(other.answers, "_state", Unreachable())
            await other.fill(TIDES)
        put, later = process.care.state.put, asyncio.Event()

        async def put_late(key: str, value: bytes, ttl: float | None = None) -> None:
            if key.startswith(CLEARED) and float(value) < clock.now:
                await later.wait()
            await put(key, value, ttl)

        monkeypatch.setattr(process.care.state, "put", put_late)
        clearing = asyncio.create_task(process.care.clear(older_than_hours=1))
        await asyncio.sleep(0)
        await process.care.clear()
        later.set()
        await clearing
        clock.now += CHECK_SECONDS
        assert not await other.knows(TIDES)

    async def test_a_clearing_leaves_no_earlier_mark(
        self, process: Process, state: State, clock: Clock
    ) -> None:
        for _ in range(3):
            await process.care.clear()
            clock.now += 1
        assert len([key async for key, _ in state.scan(CLEARED)]) == 1

    async def test_what_was_not_cleared_is_served_on_from_the_state(
        self, process: Process, other: Process, clock: Clock
    ) -> None:
        await process.fill(TIDES)
        assert await other.knows(TIDES)
        await process.care.clear(query=MOONS.text)
        clock.now += CHECK_SECONDS
        assert await other.knows(TIDES)

    async def test_an_interrupted_run_is_run_again(
        self, process: Process, state: State, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(100):
            await process.answers.put(SearchQuery(f"question {number}"), ME, ANSWER)
        verb, calls = type(state).delete, 0

        async def fails_later(self: State, key: str) -> bool:
            nonlocal calls
            calls += 1
            if calls > 40:
                raise StateUnavailable("gone")
            return await verb(self, key)

        monkeypatch.setattr(type(state), "delete", fails_later)
        with pytest.raises(StateUnavailable):
            await process.care.clear()
        assert process.answers.in_memory() == {"answers": 0}, "what is in memory goes in any case"
        monkeypatch.undo()
        assert (await process.care.clear()).removed == 60

    @pytest.mark.parametrize("hours", [0, -1, float("nan"), float("inf")])
    async def test_hours_that_are_none_are_refused(self, process: Process, hours: float) -> None:
        await process.fill(TIDES)
        with pytest.raises(SearchValidationError, match="olderThanHours"):
            await process.care.clear(older_than_hours=hours)
        assert await process.knows(TIDES)

    @pytest.mark.parametrize("query", ["", "a", "x" * 401])
    async def test_a_query_that_nobody_can_have_asked_is_refused(
        self, process: Process, query: str
    ) -> None:
        """An empty one must not mean everything."""
        with pytest.raises(SearchValidationError, match="query"):
            await process.care.clear(query=query)


class TestStats:
    async def test_the_use_is_that_of_this_process(self, process: Process) -> None:
        assert (await process.care.stats()).hit_rate is None
        for change in ({}, {"cache": "exact"}, {"cache": "exact"}, {"cache": "semantic"}):
            with process.telemetry.call("q") as event:
                event.answered(ANSWER.model_copy(update=change))
        with process.telemetry.call("q") as event:
            event.answered(ANSWER, joined=True)
        stats = await process.care.stats()
        assert (stats.exact_hits, stats.semantic_hits, stats.joined, stats.misses) == (2, 1, 1, 1)
        assert stats.hit_rate == 0.6

    async def test_size_and_age_are_those_of_all(
        self, process: Process, other: Process, state: State, clock: Clock
    ) -> None:
        await other.fill(TIDES)
        clock.now += 100
        await process.answers.put(MOONS, ME, ANSWER)
        await state.put("page/x", b"12345", KEEP_SECONDS)
        clock.now += 20
        stats = await process.care.stats()
        assert stats.entries_by_kind == {
            "answers": 4,
            "questions": 0,
            "web": 1,
            "raw": 0,
            "judgements": 0,
            "pages": 1,
        }
        assert stats.bytes_by_kind["pages"] == 5
        assert stats.bytes == sum(stats.bytes_by_kind.values())
        assert stats.entries == 6
        assert stats.in_memory == {"answers": 1, "web": 0}
        assert (stats.newest_seconds, stats.oldest_seconds) == (20, 120)
        assert stats.warnings == ()
        assert stats.saved_today_usd == 0

    async def test_the_work_is_bounded_and_says_so(
        self, process: Process, state: State, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cache_module, "MOST_COUNTED", 40)
        for number in range(41):
            await state.put(f"page/{number}", b"", 600)
        stats = await process.care.stats()
        assert stats.entries_by_kind["pages"] == 40
        assert stats.warnings == ("Only 40 of the pages are counted; there are more.",)


async def test_an_outage_of_the_state_is_a_warning_of_the_figures_and_an_error_of_clearing(
    tmp_path: Path, clock: Clock
) -> None:
    (tmp_path / "file").touch()
    broken = SqliteState(tmp_path / "file" / "state.db")
    process = Process(broken, clock)
    await process.answers.put(TIDES, ME, ANSWER)
    stats = await process.care.stats()
    assert [warning.partition(":")[0] for warning in stats.warnings] == [
        "The state cannot be read",
        "Today's savings cannot be read.",
    ]
    assert (stats.entries, stats.saved_today_usd, stats.in_memory["answers"]) == (0, None, 1)
    with pytest.raises(StateUnavailable):
        await process.care.clear()
    assert not await process.knows(TIDES)
    await broken.close()


class Unreachable(State):
    """A state that fails."""

    async def get(self, key: str) -> bytes | None:
        raise StateUnavailable("down")

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        raise StateUnavailable("down")


class Recovering(MemoryState):
    """A state that is in memory at first, and whose file can be used again from the first listing on."""

    problem: StateProblem | None = StateProblem("The state file cannot be used.", "Free its disk.")

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        self.problem = None
        async for entry in super().entries(prefix, after):
            yield entry


async def test_a_clearing_that_begins_in_an_outage_is_no_success_if_the_outage_ends_meanwhile(
    clock: Clock,
) -> None:
    state = Recovering(clock=clock)
    with pytest.raises(StateUnavailable, match="the file is not"):
        await Process(state, clock).care.clear()
    assert state.problem is None
    await Process(state, clock).care.clear()


class Flickering(SpareState):
    """A state whose file can be used again after the next listing."""

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        async for entry in super().entries(prefix, after):
            yield entry
        if self.problem:
            assert isinstance(self._clock, Clock)
            self._clock.now += RETRY_SECONDS
            await self.get("any")
            assert self._returning is not None
            await self._returning


async def test_a_clearing_is_no_success_if_an_outage_begins_and_ends_meanwhile(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = Flickering(SqliteState(tmp_path / "state.db", clock=clock), clock=clock)
    process = Process(state, clock)
    await process.fill(TIDES)
    delete = SqliteState.delete

    async def fail_once(_: SqliteState, __: str) -> bool:
        monkeypatch.setattr(SqliteState, "delete", delete)
        raise StateUnavailable("The file cannot be written.", details={"reason": UNUSABLE_FILE})

    monkeypatch.setattr(SqliteState, "delete", fail_once)
    with pytest.raises(StateUnavailable, match="Run this again"):
        await process.care.clear()
    assert state.problem is None
    await process.care.clear()
    await state.close()
