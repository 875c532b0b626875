from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.clock import Clock
from tests.patience import PATIENCE
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.sqlite import MIGRATIONS, SqliteState

CRASH = Path(__file__).parents[2] / "tools" / "crash.py"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.db"


@pytest.fixture
def other_process(path):
    """A second connection, as another process would have it."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=5)
    yield connection
    connection.close()


def test_no_acknowledged_write_is_lost_when_a_process_is_killed():
    """`python tools/crash.py 300` tests the same for longer."""
    done = subprocess.run(
        [sys.executable, CRASH, "9"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    toll = json.loads(done.stdout)
    assert toll.pop("kills") == 9
    assert toll.pop("acknowledged") > 100
    assert toll == dict.fromkeys(
        ["lost_values", "lost_additions", "surplus_additions", "damaged"], 0
    )


async def test_only_the_owner_may_read_the_file_and_its_folder(tmp_path):
    path = tmp_path / "private" / "state.db"
    state = SqliteState(path)
    await state.put("k", b"v")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    await state.close()


async def test_values_outlive_the_process_that_wrote_them(path):
    first = SqliteState(path)
    await first.put("k", b"v", ttl=600)
    await first.close()
    second = SqliteState(path)
    assert await second.get("k") == b"v"
    await second.close()


async def test_two_states_in_one_process_share_the_file(path):
    one, two = SqliteState(path), SqliteState(path)
    await asyncio.gather(*(state.add("n") for state in (one, two) for _ in range(50)))
    assert await one.get("n") == b"100"
    await asyncio.gather(one.close(), two.close())


async def test_a_state_serves_one_event_loop_after_another(path):
    state = SqliteState(path)
    await asyncio.to_thread(asyncio.run, state.put("k", b"v"))
    assert await state.get("k") == b"v"
    await state.close()


async def test_closing_ends_the_thread(path):
    state = SqliteState(path)
    await state.get("k")
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "sqlite-state"]
    await state.close()
    thread.join(5)
    assert not thread.is_alive()


class TestLocks:
    async def test_a_lock_that_outlasts_the_timeout_raises_unavailable_and_later_calls_work(
        self, path, request
    ):
        state = SqliteState(path, timeout_seconds=0.01, cooldown_seconds=0)
        await state.put("k", b"old")
        other_process = request.getfixturevalue("other_process")
        other_process.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateUnavailable, match="SQLITE_BUSY"):
            await state.put("k", b"new")
        assert await state.get("k") == b"old"
        other_process.execute("ROLLBACK")
        await state.put("k", b"new")
        assert await state.get("k") == b"new"
        await state.close()

    async def test_after_a_lock_timeout_no_call_waits_for_a_while(self, path, request):
        """A hundred waiting calls must not time out one after the other."""
        state = SqliteState(path, timeout_seconds=0.01, cooldown_seconds=600)
        await state.put("k", b"old")
        other_process = request.getfixturevalue("other_process")
        other_process.execute("BEGIN IMMEDIATE")
        outcomes = await asyncio.gather(
            *(state.add("n") for _ in range(100)), return_exceptions=True
        )
        assert {type(outcome) for outcome in outcomes} == {StateUnavailable}
        other_process.execute("ROLLBACK")
        with pytest.raises(StateUnavailable, match="locked"):
            await state.get("k")
        await state.close()

    async def test_no_process_opens_a_file_while_another_is_opening_it(self, path):
        lock = sqlite3.connect(f"{path}.lock", isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        state = SqliteState(path, timeout_seconds=0.01, cooldown_seconds=0)
        with pytest.raises(StateUnavailable, match="SQLITE_BUSY"):
            await state.add("n")
        assert not path.exists()
        lock.close()
        assert await state.add("n") == 1
        await state.close()

    async def test_the_verb_of_a_cancelled_caller_still_completes(self, path, request):
        state = SqliteState(path)
        await state.put("k", b"old")
        other_process = request.getfixturevalue("other_process")
        other_process.execute("BEGIN IMMEDIATE")
        writers = [asyncio.create_task(state.put("k", b"new")), asyncio.create_task(state.add("n"))]
        await asyncio.sleep(0)
        writers[0].cancel()
        other_process.execute("ROLLBACK")
        with pytest.raises(asyncio.CancelledError):
            await writers[0]
        assert await writers[1] == 1
        assert await state.get("k") == b"new"
        await state.close()


class TestDamage:
    async def test_a_file_that_is_not_a_database_is_moved_aside(self, path, caplog):
        path.write_bytes(b"not a database, " * 1000)
        state = SqliteState(path)
        assert await state.add("n") == 1
        assert path.with_name("state.db.corrupt-1").read_bytes().startswith(b"not a database")
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        await state.close()

    async def test_the_next_damaged_file_does_not_overwrite_the_first(self, path):
        for _ in range(2):
            path.write_bytes(b"not a database, " * 1000)
            state = SqliteState(path)
            await state.add("n")
            await state.close()
        assert sorted(file.name for file in path.parent.glob("*.corrupt-*")) == [
            "state.db.corrupt-1",
            "state.db.corrupt-2",
        ]

    async def test_damage_found_later_fails_one_call(self, path):
        state = SqliteState(path)
        for number in range(200):
            await state.put(f"k/{number}", b"v" * 1000)
        await state.close()
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(8192)
            file.write(os.urandom(size - 8192))
        state = SqliteState(path)
        with pytest.raises(StateUnavailable, match="SQLITE_CORRUPT"):
            await state.put("k/7", b"new")
        await state.put("k/7", b"new")
        assert await state.get("k/7") == b"new"
        assert path.with_name("state.db.corrupt-1").stat().st_size == size
        await state.close()

    async def test_processes_that_open_a_damaged_file_at_once_agree_on_one_new_file(self, path):
        path.write_bytes(b"not a database, " * 1000)
        states = [SqliteState(path) for _ in range(8)]
        counts = await asyncio.gather(*(state.add("n") for state in states))
        assert sorted(counts) == list(range(1, 9))
        await asyncio.gather(*(state.close() for state in states))

    async def test_the_second_process_to_find_the_damage_keeps_the_new_file(self, path):
        first, second = await damaged_pair(path)
        for state in (first, second):
            with pytest.raises(StateUnavailable, match="SQLITE_CORRUPT"):
                await state.put("k/7", b"new")
            await state.add("n")
        assert await second.get("n") == b"2"
        assert not path.with_name("state.db.corrupt-2").exists()
        await asyncio.gather(first.close(), second.close())


async def damaged_pair(path) -> list[SqliteState]:
    """Two states that opened a file, as two processes would, before either found out that it is damaged."""
    writer = SqliteState(path)
    for number in range(200):
        await writer.put(f"k/{number}", b"v" * 1000)
    await writer.close()
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(path.stat().st_size - 8192))
    states = [SqliteState(path), SqliteState(path)]
    for state in states:
        await state._read("PRAGMA user_version", {})
    return states


class TestForeignRows:
    async def test_foreign_rows_are_ignored(self, path, other_process):
        """A foreign row must neither be served nor break a scan."""
        state = SqliteState(path)
        await state.put("k/0", b"v")
        strange = [
            (b"k/1", "text", 9e9),
            (b"k/3", 1.5, 9e9),
            (b"k/4", b"v", "never"),
            ("k/5", b"v", 9e9),
        ]
        other_process.executemany("INSERT INTO entries VALUES (?, ?, ?)", strange)
        assert [entry async for entry in state.scan("k/")] == [("k/0", b"v")]
        assert [await state.get(f"k/{number}") for number in (1, 3, 5)] == [None] * 3
        await state.close()


class TestTrouble:
    async def test_a_folder_that_cannot_be_created_raises_unavailable(self, tmp_path):
        (tmp_path / "file").touch()
        state = SqliteState(tmp_path / "file" / "state.db")
        with pytest.raises(StateUnavailable, match="its folder cannot be made"):
            await state.get("k")
        await state.close()

    async def test_a_read_only_file_can_still_be_read(self, path):
        state = SqliteState(path)
        await state.put("k", b"v")
        await state._read("PRAGMA query_only = ON", {})
        with pytest.raises(StateUnavailable, match="it is read-only"):
            await state.put("k", b"w")
        assert await state.get("k") == b"v"
        await state.close()

    async def test_a_full_disk_raises_unavailable_and_loses_nothing(self, path):
        state = SqliteState(path)
        await state.put("k", b"v")
        await state._read("PRAGMA max_page_count = 1", {})
        with pytest.raises(StateUnavailable, match="its disk is full") as caught:
            await state.put("secret-key", b"x" * 100_000)
        assert "secret-key" not in str(caught.value)
        assert await state.get("k") == b"v"
        await state.close()

    async def test_one_bad_verb_among_many_fails_alone(self, path):
        state = SqliteState(path)
        await state.add("n")
        amounts = [1] * 30 + [2**70] + [1] * 30
        outcomes = await asyncio.gather(
            *(state.add("n", amount) for amount in amounts), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes].count(OverflowError) == 1
        assert await state.get("n") == b"61"
        await state.close()


class TestVersions:
    @pytest.mark.parametrize("version", range(len(MIGRATIONS)))
    async def test_a_file_of_any_older_version_is_brought_up_to_date(
        self, path, other_process, version
    ):
        for statement in MIGRATIONS[:version]:
            other_process.execute(statement)
        other_process.execute(f"PRAGMA user_version = {version}")
        state = SqliteState(path)
        assert await state.add("n") == 1
        assert other_process.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        await state.close()

    async def test_a_file_of_a_newer_version_is_not_changed(self, path, other_process):
        other_process.execute("PRAGMA user_version = 999")
        state = SqliteState(path)
        with pytest.raises(StateUnavailable, match="newer version"):
            await state.add("n")
        assert other_process.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
        await state.close()


MOST_BYTES = 2_000_000
EVICTABLE = ("cache/", "page/")
RECORD = random.Random(1).randbytes(20_000)


@pytest.fixture
def bounded_path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
async def state(bounded_path: Path) -> AsyncIterator[SqliteState]:
    one = SqliteState(bounded_path, clock=Clock(step=1))
    one.limit(MOST_BYTES, EVICTABLE)
    yield one
    await one.close()


async def test_the_file_never_exceeds_its_limit_and_the_least_recently_used_entries_are_evicted(
    state: SqliteState, bounded_path: Path
) -> None:
    await state.put("page/used", RECORD, 600)
    for number in range(300):
        await state.put(f"page/{number}", RECORD, 600)
        assert bounded_path.stat().st_size <= MOST_BYTES
        if number % 10 == 0:
            assert await state.get("page/used") == RECORD
    usage = await state.usage()
    assert usage.bytes <= MOST_BYTES
    assert (usage.most_bytes, usage.evictions > 200) == (MOST_BYTES, True)
    assert [await state.get(f"page/{number}") is not None for number in (0, 100, 298, 299)] == [
        False, False, True, True,
    ]  # fmt: skip


async def test_many_concurrent_writes_stay_below_the_limit_too(
    state: SqliteState, bounded_path: Path
) -> None:
    await asyncio.gather(*(state.put(f"cache/{number}", RECORD, 600) for number in range(300)))
    assert (await state.usage()).bytes <= MOST_BYTES


async def test_writes_of_one_moment_stay_below_the_limit_too(bounded_path: Path) -> None:
    state = SqliteState(bounded_path, clock=Clock())
    state.limit(MOST_BYTES, EVICTABLE)
    for number in range(300):
        await state.put(f"page/{number}", RECORD, 600)
        assert (await state.usage()).bytes <= MOST_BYTES
    await state.close()


@pytest.mark.parametrize(("seconds", "is_seen"), [(0.049, False), (0.051, True)])
async def test_what_another_process_has_written_counts_a_moment_later(
    bounded_path: Path, seconds: float, is_seen: bool
) -> None:
    clock = Clock()
    state, other = SqliteState(bounded_path, clock=clock), SqliteState(bounded_path, clock=clock)
    state.limit(MOST_BYTES, EVICTABLE)
    await state.put("page/first", RECORD, 600)
    for number in range(MOST_BYTES // len(RECORD)):
        await other.put(f"page/{number}", RECORD, 600)
    clock.now += seconds
    await state.put("page/last", RECORD, 600)
    usage = await state.usage()
    assert (usage.bytes <= MOST_BYTES) is is_seen
    assert (usage.evictions > 0) is is_seen
    for opened in (state, other):
        await opened.close()


async def test_counters_and_other_kinds_are_kept(state: SqliteState) -> None:
    await state.put("docs/page", RECORD)
    await state.add("cache/epoch")
    await state.add("ledger/2026-11-21/total", 5)
    for number in range(200):
        await state.put(f"page/{number}", RECORD, 600)
    assert await state.get("docs/page") == RECORD
    assert (await state.get("cache/epoch"), await state.get("ledger/2026-11-21/total")) == (
        b"1",
        b"5",
    )


async def test_a_value_that_would_evict_much_of_the_cache_is_not_stored(state: SqliteState) -> None:
    await state.put("page/large", RECORD, 600)
    await state.put("page/large", bytes(MOST_BYTES // 10 + 1), 600)
    assert await state.get("page/large") is None, "and what stood there is out of date"


async def test_two_processes_share_one_limit(state: SqliteState, bounded_path: Path) -> None:
    other = SqliteState(bounded_path, clock=Clock(step=1))
    other.limit(MOST_BYTES, EVICTABLE)
    for number in range(150):
        await state.put(f"page/{number}", RECORD, 600)
        await other.put(f"cache/{number}", RECORD, 600)
    assert bounded_path.stat().st_size <= MOST_BYTES
    await other.close()
