from __future__ import annotations

import dataclasses
import json

import pytest

from tests.clock import Clock
from tests.stored_answer import ANSWER, OTHER_PARAMETERS, YOU
from tests.stored_answer import ME as STORED_ANSWER_ME
from websearch_gateway.cache.kinds import ANSWERS
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.results import ResultCache, Served
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.results import (
    ErrorInfo,
    FallbackInfo,
    SearchResponse,
    Usage,
)
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.sqlite import SqliteState

QUERY = SearchQuery(text="How tall is the Eiffel Tower?")
RECALLED = Served(
    ANSWER.model_copy(update={"cache": "exact", "cost_usd": 0.0, "usage": Usage()}),
    saved_usd=0.0105,
)
CHANGES = {"text": "how tall is the eiffel tower", **OTHER_PARAMETERS}
LIFETIMES = Lifetimes(300, 300, 0)


@pytest.fixture
def cache(state, clock):
    return ResultCache(state, ANSWERS, LIFETIMES, clock=clock)


@pytest.fixture
def other_process(state, clock):
    """A second process: its own memory over the same state."""
    return ResultCache(state, ANSWERS, LIFETIMES, clock=clock)


async def test_a_stored_result_comes_back_marked_and_free_of_charge(cache):
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
    assert await cache.get(QUERY, STORED_ANSWER_ME) == RECALLED


async def test_an_unknown_question_is_a_miss(cache):
    assert await cache.get(QUERY, STORED_ANSWER_ME) is None


async def test_another_process_finds_it_in_the_state(cache, other_process, state):
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
    assert await other_process.get(QUERY, STORED_ANSWER_ME) == RECALLED
    await state.delete(cache.key(QUERY, STORED_ANSWER_ME))
    assert await other_process.get(QUERY, STORED_ANSWER_ME) == RECALLED, (
        "once read, it is remembered"
    )


def test_upper_and_lower_case_are_the_same_question(cache):
    shouted = dataclasses.replace(QUERY, text=QUERY.text.upper())
    assert cache.key(QUERY, STORED_ANSWER_ME) == cache.key(shouted, STORED_ANSWER_ME)


def test_every_parameter_makes_another_question(cache):
    asked = {field.name for field in dataclasses.fields(SearchQuery) if field.compare}
    assert set(CHANGES) == asked, "a new field wants a line here"
    keys = {
        cache.key(dataclasses.replace(QUERY, **{name: value}), STORED_ANSWER_ME)
        for name, value in CHANGES.items()
    }
    assert len(keys | {cache.key(QUERY, STORED_ANSWER_ME)}) == len(CHANGES) + 1


def test_the_key_reveals_nothing_of_the_question_and_accepts_any_text(cache):
    assert "eiffel" not in cache.key(QUERY, STORED_ANSWER_ME).lower()
    assert cache.key(SearchQuery(text="lone \ud800"), STORED_ANSWER_ME).isascii()


def test_the_key_stays_the_same_from_version_to_version(cache):
    """Otherwise no answer that is stored would be found after an upgrade."""
    assert cache.key(SearchQuery("tides"), Caller("me")) == (
        "cache/exact/d79fbc439daf47cecb196149d7d5eb433c0c0544"
    )


async def test_users_share_answers_unless_the_scope_is_user(state, clock, cache):
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
    assert await cache.get(QUERY, YOU) == RECALLED
    private = ResultCache(state, ANSWERS, LIFETIMES, scope="user", clock=clock)
    await private.put(QUERY, STORED_ANSWER_ME, ANSWER)
    assert await private.get(QUERY, YOU) is None
    assert await private.get(QUERY, STORED_ANSWER_ME) == RECALLED
    assert private.key(QUERY, STORED_ANSWER_ME) != private.key(QUERY, YOU)


class TestAge:
    @pytest.mark.parametrize(
        ("freshness_hours", "seconds"), [(None, 300), (168, 300), (1, 300), (24, 300)]
    )
    async def test_an_answer_is_served_for_its_ttl(
        self, cache, other_process, clock, freshness_hours, seconds
    ):
        query = dataclasses.replace(QUERY, freshness_hours=freshness_hours)
        await cache.put(query, STORED_ANSWER_ME, ANSWER)
        clock.now += seconds - 1
        assert await other_process.get(query, STORED_ANSWER_ME)
        clock.now += 1
        assert await cache.get(query, STORED_ANSWER_ME) is None
        assert await other_process.get(query, STORED_ANSWER_ME) is None, (
            "reading must not make it younger"
        )

    async def test_results_with_a_freshness_filter_live_for_a_tenth_of_its_hours(
        self, state, clock
    ):
        cache = ResultCache(state, ANSWERS, Lifetimes(86_400, 3_600, 0), clock=clock)
        query = dataclasses.replace(QUERY, freshness_hours=1)
        await cache.put(query, STORED_ANSWER_ME, ANSWER)
        clock.now += 359
        assert await cache.get(query, STORED_ANSWER_ME)
        clock.now += 1
        assert await cache.get(query, STORED_ANSWER_ME) is None

    async def test_a_ttl_of_zero_turns_it_off(self, cache, state, clock):
        off = ResultCache(state, ANSWERS, Lifetimes(0, 0, 0), clock=clock)
        await off.put(QUERY, STORED_ANSWER_ME, ANSWER)
        assert await cache.get(QUERY, STORED_ANSWER_ME) is None
        await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
        assert await off.get(QUERY, STORED_ANSWER_ME) is None

    async def test_an_entry_that_would_live_longer_than_we_allow_is_a_miss(
        self, cache, state, clock
    ):
        """Its writer had another setting, or was not a gateway."""
        await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
        shorter = ResultCache(state, ANSWERS, Lifetimes(10, 10, 0), clock=clock)
        assert await shorter.get(QUERY, STORED_ANSWER_ME) is None
        clock.now += 291
        assert await shorter.get(QUERY, STORED_ANSWER_ME)


class TestStopgap:
    """A stopgap never replaces a better answer."""

    STOPGAP = ANSWER.model_copy(update={"text": "It is 330 m tall, a page says."})

    @pytest.fixture
    def caches(self, state, clock):
        """Two processes over one state, whose answers are fresh for an hour and then stale for a day."""
        return [
            ResultCache(state, ANSWERS, Lifetimes(3_600, 3_600, 86_400), clock=clock)
            for _ in range(2)
        ]

    async def test_an_expired_full_answer_outlives_it(self, caches, clock):
        writer, _ = caches
        await writer.put(QUERY, STORED_ANSWER_ME, ANSWER)
        clock.now += 3_600
        for _ in range(2):
            await writer.put(QUERY, STORED_ANSWER_ME, self.STOPGAP, stopgap=True)
            clock.now += 10
        for cache in caches:
            assert (await cache.get(QUERY, STORED_ANSWER_ME)).response.text == self.STOPGAP.text
            assert (await cache.stale(QUERY, STORED_ANSWER_ME)).response.text == ANSWER.text
        assert writer.recent(QUERY, STORED_ANSWER_ME).response.text == self.STOPGAP.text
        clock.now += 60
        for cache in caches:
            assert await cache.get(QUERY, STORED_ANSWER_ME) is None
            assert (await cache.stale(QUERY, STORED_ANSWER_ME)).response.text == ANSWER.text

    async def test_a_fresh_full_answer_is_served_before_it(self, caches):
        writer, reader = caches
        await writer.put(QUERY, STORED_ANSWER_ME, ANSWER)
        await writer.put(QUERY, STORED_ANSWER_ME, self.STOPGAP, stopgap=True)
        assert (await reader.get(QUERY, STORED_ANSWER_ME)).response.text == ANSWER.text

    async def test_a_new_full_answer_is_served_before_it(self, caches, clock):
        writer, reader = caches
        await writer.put(QUERY, STORED_ANSWER_ME, ANSWER)
        clock.now += 3_600
        await writer.put(QUERY, STORED_ANSWER_ME, self.STOPGAP, stopgap=True)
        await writer.put(QUERY, STORED_ANSWER_ME, ANSWER)
        for cache in (writer, reader):
            assert (await cache.get(QUERY, STORED_ANSWER_ME)).response.text == ANSWER.text

    async def test_it_replaces_expired_answers_and_other_stopgaps(self, caches, clock):
        writer, reader = caches
        await writer.put(QUERY, STORED_ANSWER_ME, ANSWER)
        clock.now += 90_000
        for text in ("An older stopgap.", "It is 330 m tall, as two pages say."):
            newest = self.STOPGAP.model_copy(update={"text": text + " " * len(ANSWER.text)})
            await writer.put(QUERY, STORED_ANSWER_ME, newest, stopgap=True)
            clock.now += 90
        for cache in (writer, reader):
            assert (await cache.stale(QUERY, STORED_ANSWER_ME)).response.text == newest.text


@pytest.mark.parametrize(("seconds", "is_recent"), [(4.9, True), (5, False)])
async def test_a_result_in_memory_is_compared_with_the_state_after_five_seconds(
    cache, clock, seconds, is_recent
):
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
    clock.now += seconds
    assert (cache.recent(QUERY, STORED_ANSWER_ME) is not None) is is_recent


@pytest.mark.parametrize(("seconds", "is_served"), [(59, True), (60, False)])
async def test_a_stopgap_is_served_for_a_minute(cache, clock, seconds, is_served):
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER, stopgap=True)
    clock.now += seconds
    assert (await cache.get(QUERY, STORED_ANSWER_ME) is not None) is is_served


class Unreachable(MemoryState):
    """A state that can be reached until it is `down`."""

    down = False

    async def get(self, key):
        if self.down:
            raise StateUnavailable("The state is down.")
        return await super().get(key)


@pytest.mark.parametrize(("seconds", "is_recent"), [(29, True), (30, False)])
async def test_in_an_outage_the_memory_is_trusted_for_half_a_minute(clock, seconds, is_recent):
    state = Unreachable(clock=clock)
    cache = ResultCache(state, ANSWERS, LIFETIMES, clock=clock)
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
    state.down = True
    clock.now += 10
    assert await cache.get(QUERY, STORED_ANSWER_ME)
    clock.now += seconds
    assert (cache.recent(QUERY, STORED_ANSWER_ME) is not None) is is_recent


class Forgetful(MemoryState):
    """A state that keeps nothing and does not say so."""

    async def put(self, key, value, ttl=None):
        pass


@pytest.mark.parametrize(("characters", "is_served"), [(890_000, False), (910_000, True)])
async def test_whether_a_result_of_more_than_900_kilobytes_was_stored_is_looked_up(
    clock, characters, is_served
):
    """Some states refuse large values. What was not stored is served from memory, and what was is looked for there."""
    cache = ResultCache(Forgetful(clock=clock), ANSWERS, LIFETIMES, clock=clock)
    large = ANSWER.model_copy(update={"text": ANSWER.text.ljust(characters, "x")})
    await cache.put(QUERY, STORED_ANSWER_ME, large)
    clock.now += 10
    assert (await cache.get(QUERY, STORED_ANSWER_ME) is not None) is is_served


@pytest.mark.parametrize(("cost", "saved"), [(9.0, 9.0), (12.0, 10.0)])
async def test_no_result_saves_more_than_ten_dollars(cache, other_process, cost, saved):
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER.model_copy(update={"cost_usd": cost}))
    assert (await other_process.get(QUERY, STORED_ANSWER_ME)).saved_usd == saved


@pytest.mark.parametrize(("ahead", "is_served"), [(60, True), (61, False)])
async def test_a_result_of_a_process_whose_clock_is_up_to_a_minute_fast_is_served(
    cache, state, clock, ahead, is_served
):
    fast = ResultCache(state, ANSWERS, LIFETIMES, clock=Clock(clock.now + ahead))
    await fast.put(QUERY, STORED_ANSWER_ME, ANSWER)
    lasting = ResultCache(state, ANSWERS, Lifetimes(600, 600, 0), clock=clock)
    assert (await lasting.get(QUERY, STORED_ANSWER_ME) is not None) is is_served


class TestTrust:
    @pytest.mark.parametrize(
        "worthless",
        [
            SearchResponse(error=ErrorInfo(code="PROVIDER", message="down")),
            ANSWER.model_copy(update={"error": ErrorInfo(code="PROVIDER")}),
            ANSWER.model_copy(update={"citations": ()}),
            SearchResponse(
                provider="duckduckgo-raw-search",
                fallback=FallbackInfo(from_="openai", reason="TIMEOUT: slow"),
            ),
        ],
    )
    async def test_errors_and_answers_without_sources_are_not_cached(self, cache, state, worthless):
        await cache.put(QUERY, STORED_ANSWER_ME, worthless)
        assert await cache.get(QUERY, STORED_ANSWER_ME) is None
        assert [entry async for entry in state.scan("")] == []

    @pytest.mark.parametrize(
        "change",
        [
            lambda row: b"",
            lambda row: b"\xff\xfe",
            lambda row: b"17",
            lambda row: b"{}",
            lambda row: b"[" * 100_000,
            lambda row: json.dumps(row["response"]).encode(),
            lambda row: json.dumps({**row, "expires": "NaN"}).encode(),
            lambda row: json.dumps({**row, "expires": 0}).encode(),
            lambda row: json.dumps({**row, "stored": None}).encode(),
            lambda row: json.dumps({**row, "stored": row["stored"] + 3600}).encode(),
            lambda row: json.dumps({**row, "stale_until": 0}).encode(),
            lambda row: json.dumps({**row, "expires": 1e300}).encode(),
            lambda row: json.dumps({**row, "response": {}}).encode(),
            lambda row: json.dumps({**row, "cost_usd": -1}).encode(),
            lambda row: json.dumps({**row, "cost_usd": 1_000_000}).encode(),
            lambda row: json.dumps({**row, "response": {**row["response"], "text": 5}}).encode(),
            lambda row: json.dumps(row).replace('"endIndex": 17', '"endIndex": 18').encode(),
            lambda row: json.dumps(row).replace('"startIndex": 0', '"startIndex": -1').encode(),
            lambda row: (
                json.dumps(row).replace("https://toureiffel.paris/", "javascript:alert(1)").encode()
            ),
        ],
    )
    async def test_a_row_that_is_not_ours_is_a_miss(self, cache, other_process, state, change):
        await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
        key = cache.key(QUERY, STORED_ANSWER_ME)
        row = json.loads(await state.get(key))
        assert json.dumps(row) != change(row).decode(errors="replace"), (
            "the change must change something"
        )
        await state.put(key, change(row))
        assert await other_process.get(QUERY, STORED_ANSWER_ME) is None

    async def test_a_row_cannot_claim_to_be_a_miss_that_costs(self, cache, other_process, state):
        await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
        key = cache.key(QUERY, STORED_ANSWER_ME)
        row = json.loads(await state.get(key))
        row["response"] |= {"cache": "miss", "costUsd": 99}
        await state.put(key, json.dumps(row).encode())
        assert await other_process.get(QUERY, STORED_ANSWER_ME) == RECALLED


async def test_without_its_state_it_continues_in_memory_and_logs_so_once(tmp_path, clock, caplog):
    (tmp_path / "file").touch()
    broken = SqliteState(tmp_path / "file" / "state.db")
    with pytest.raises(StateUnavailable):
        await broken.get("k")
    cache = ResultCache(broken, ANSWERS, LIFETIMES, clock=clock)
    assert await cache.get(QUERY, STORED_ANSWER_ME) is None
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
    assert await cache.get(QUERY, STORED_ANSWER_ME) == RECALLED
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    await broken.close()


async def refuse(*_):
    raise StateUnavailable("down")


async def leave_out(*_):
    """What Firestore does with large values."""


@pytest.mark.parametrize("put", [refuse, leave_out])
async def test_a_result_that_the_state_did_not_take_lives_in_memory_for_its_time(
    state, clock, monkeypatch, put
):
    monkeypatch.setattr(MemoryState, "put", put)
    cache = ResultCache(state, ANSWERS, Lifetimes(300, 300, 3600), clock=clock)
    large = ANSWER.model_copy(update={"text": ANSWER.text + "." * 900_000})
    await cache.put(QUERY, STORED_ANSWER_ME, large)
    clock.now += 299
    assert (await cache.get(QUERY, STORED_ANSWER_ME)).response.text == large.text
    clock.now += 2
    assert await cache.get(QUERY, STORED_ANSWER_ME) is None
    assert (await cache.stale(QUERY, STORED_ANSWER_ME)).response.cache == "stale"


async def test_a_result_read_while_the_cache_is_cleared_is_not_kept(
    cache, other_process, monkeypatch
):
    """It was read before the state removed it, so it may be served once."""
    await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
    fetch = MemoryState.get

    async def cleared_meanwhile(self, key):
        stored = await fetch(self, key)
        other_process.forget()
        return stored

    monkeypatch.setattr(MemoryState, "get", cleared_meanwhile)
    assert await other_process.get(QUERY, STORED_ANSWER_ME) == RECALLED
    assert other_process.in_memory() == {"answers": 0}


class TestStale:
    """RFC 5861, section 4: an old result may replace an error for as long as the operator allows."""

    @pytest.fixture
    def cache(self, state, clock):
        return ResultCache(state, ANSWERS, Lifetimes(300, 3600, 86_400), clock=clock)

    @pytest.fixture
    def other_process(self, state, clock):
        return ResultCache(state, ANSWERS, Lifetimes(300, 3600, 86_400), clock=clock)

    async def test_an_expired_answer_may_replace_an_error_for_a_day(
        self, cache, other_process, clock
    ):
        await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
        clock.now += 3600 + 86_399
        for process in (cache, other_process):
            assert await process.get(QUERY, STORED_ANSWER_ME) is None
            served = await process.stale(QUERY, STORED_ANSWER_ME)
            assert (served.response.cache, served.response.age_seconds) == ("stale", 89_999)
            assert (served.response.cost_usd, served.saved_usd) == (0, ANSWER.cost_usd)
        clock.now += 1
        assert await cache.stale(QUERY, STORED_ANSWER_ME) is None
        assert await other_process.stale(QUERY, STORED_ANSWER_ME) is None

    @pytest.mark.parametrize(
        "change",
        [
            {"text": "who won the match"},
            {"text": "weather in oslo"},
            {"text": "museum fees in 2026"},  # the current year
            {"freshness_hours": 720},
            {"topic": "news"},
        ],
    )
    async def test_an_answer_about_a_changing_subject_never_replaces_an_error(
        self, cache, other_process, state, clock, change
    ):
        query = dataclasses.replace(QUERY, **change)
        await cache.put(query, STORED_ANSWER_ME, ANSWER)
        clock.now += 299
        assert await cache.get(query, STORED_ANSWER_ME)
        clock.now += 1
        assert await cache.get(query, STORED_ANSWER_ME) is None
        assert await cache.stale(query, STORED_ANSWER_ME) is None
        assert await state.get(cache.key(query, STORED_ANSWER_ME)) is None, (
            "it must not even be kept"
        )

    async def test_a_row_older_than_this_operator_allows_is_not_served(self, cache, state, clock):
        await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
        strict = ResultCache(state, ANSWERS, Lifetimes(300, 300, 600), clock=clock)
        clock.now += 900
        assert await strict.stale(QUERY, STORED_ANSWER_ME)
        clock.now += 1
        assert await strict.stale(QUERY, STORED_ANSWER_ME) is None

    async def test_a_cleared_answer_never_replaces_an_error(
        self, cache, other_process, state, clock
    ):
        await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
        await state.delete(cache.key(QUERY, STORED_ANSWER_ME))
        clock.now += 3600
        assert await cache.stale(QUERY, STORED_ANSWER_ME) is None

    async def test_in_an_outage_of_the_state_the_memory_serves(self, tmp_path, clock):
        (tmp_path / "file").touch()
        broken = SqliteState(tmp_path / "file" / "state.db")
        cache = ResultCache(broken, ANSWERS, Lifetimes(300, 3600, 86_400), clock=clock)
        await cache.put(QUERY, STORED_ANSWER_ME, ANSWER)
        clock.now += 3600
        assert (await cache.stale(QUERY, STORED_ANSWER_ME)).response.cache == "stale"
        await broken.close()
