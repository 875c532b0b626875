"""A full disk, a read-only file or no folder at all: the state goes on in memory, and returns to the file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.clock import Clock
from tests.patience import nothing_else
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.opening import RETRY_SECONDS, SpareState
from websearch_gateway.state.sqlite import SqliteState


class Disk:
    """The disk of a state's file, which can fill up and have room again."""

    def __init__(self, file: SqliteState) -> None:
        self._file = file

    async def fill(self) -> None:
        await self._file._read("PRAGMA max_page_count = 1", {})

    async def protect(self) -> None:
        await self._file._read("PRAGMA query_only = ON", {})

    async def free(self) -> None:
        await self._file._read("PRAGMA max_page_count = 100000", {})
        await self._file._read("PRAGMA query_only = OFF", {})


@pytest.fixture
def file(tmp_path: Path, clock: Clock) -> SqliteState:
    return SqliteState(tmp_path / "state.db", clock=clock)


@pytest.fixture
def disk(file: SqliteState) -> Disk:
    return Disk(file)


@pytest.fixture
async def state(file: SqliteState, clock: Clock) -> AsyncIterator[SpareState]:
    spare = SpareState(file, clock=clock)
    spare.limit(10_000_000, ("cache/",))
    yield spare
    await spare.close()


LARGE = b"x" * 100_000
"""More than a full file has room for in its free pages."""


async def outage(state: SpareState, disk: Disk) -> None:
    await disk.protect()
    await state.put("cache/large", LARGE)
    assert state.problem


async def returned(state: SpareState, clock: Clock) -> None:
    """Wait for the return to the file, which the first verb after a while begins."""
    clock.now += RETRY_SECONDS
    await state.get("anything")
    await nothing_else()


async def test_counters_go_on_from_where_the_file_has_them(
    state: SpareState, disk: Disk, clock: Clock
) -> None:
    await state.add("limit/me", 7, ttl=60)
    await outage(state, disk)
    counts = await asyncio.gather(*(state.add("limit/me", ttl=60) for _ in range(20)))
    assert sorted(counts) == list(range(8, 28))
    assert await state.get("limit/me") == b"27"
    clock.now += 60
    assert await state.add("limit/me", ttl=60) == 1


async def test_a_full_disk_is_an_outage_too(state: SpareState, disk: Disk) -> None:
    await state.add("ledger/total", 5)
    await disk.fill()
    await state.put("cache/large", LARGE)
    assert state.problem is not None
    assert "disk is full" in state.problem.finding
    assert await state.get("cache/large") == LARGE
    assert await state.add("ledger/total", 3) == 8


async def test_a_damaged_file_is_no_outage(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"not a database, " * 1000)
    state = SpareState(SqliteState(tmp_path / "state.db"))
    assert [await state.add("n"), await state.add("n")] == [1, 2]
    assert state.problem is None
    await state.close()


async def test_a_window_that_begins_again_in_memory_counts_for_itself(
    state: SpareState, file: SqliteState, disk: Disk, clock: Clock
) -> None:
    await state.add("limit/hour", 5, ttl=600)
    await outage(state, disk)
    assert await state.add("limit/hour", 2, ttl=600) == 7
    clock.now += 601
    assert await state.add("limit/hour", 1, ttl=600) == 1
    await nothing_else()
    await disk.free()
    clock.now += 2 * RETRY_SECONDS
    await returned(state, clock)
    assert state.problem is None
    assert await file.get("limit/hour") == b"1"


async def test_what_is_added_during_the_return_is_not_lost_and_a_cancelled_caller_doubles_nothing(
    state: SpareState, file: SqliteState, disk: Disk, clock: Clock
) -> None:
    keys = [f"ledger/{number}" for number in range(20)]
    await outage(state, disk)
    for key in keys:
        await state.add(key, 2)
    await disk.free()
    clock.now += RETRY_SECONDS
    caller = asyncio.create_task(state.get("anything"))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.gather(*(state.add(key) for key in keys), return_exceptions=True)
    await returned(state, clock)
    assert state.problem is None
    assert [await file.get(key) for key in keys] == [b"3"] * 20


async def test_the_file_gets_what_it_missed_and_nothing_twice(
    state: SpareState, file: SqliteState, disk: Disk, clock: Clock
) -> None:
    await state.add("ledger/total", 5)
    await state.put("limit/end", b"1")
    await state.put("limit/old", b"1")
    await outage(state, disk)
    await state.add("ledger/total", 3)
    await state.add("ledger/new", 2, ttl=600)
    await state.put("limit/end", b"2")
    await state.delete("limit/old")
    await state.put("cache/answer", b"in memory only")
    await returned(state, clock)
    assert state.problem, "the disk is still read-only"
    await disk.free()
    clock.now += 2 * RETRY_SECONDS
    await returned(state, clock)
    assert state.problem is None
    assert [await file.get(key) for key in ("ledger/total", "ledger/new", "limit/end")] == [
        b"8",
        b"2",
        b"2",
    ]
    assert [await file.get(key) for key in ("limit/old", "cache/answer")] == [None, None]
    assert await state.add("ledger/total") == 9


async def test_what_another_process_counted_meanwhile_stays(
    state: SpareState, file: SqliteState, disk: Disk, tmp_path: Path, clock: Clock
) -> None:
    await state.add("ledger/total", 5)
    await outage(state, disk)
    await state.add("ledger/total", 3)
    other = SqliteState(tmp_path / "state.db", clock=clock)
    await other.add("ledger/total", 100)
    await disk.free()
    await returned(state, clock)
    assert await other.get("ledger/total") == b"108"
    await other.close()


async def test_the_cache_starts_empty_and_what_is_cleared_does_not_come_back(
    state: SpareState, disk: Disk, clock: Clock
) -> None:
    await state.put("cache/a", b"1")
    await state.put("cache/b", b"1")
    await outage(state, disk)
    assert await state.get("cache/a") is None
    await state.put("cache/b", b"2")
    assert [entry async for entry in state.scan("cache/")] == [
        ("cache/a", b"1"),
        ("cache/b", b"2"),
        ("cache/large", LARGE),
    ]
    assert await state.delete("cache/a")
    assert not await state.delete("cache/a")
    assert [key async for key, _ in state.scan("cache/")] == ["cache/b", "cache/large"]
    await disk.free()
    await returned(state, clock)
    assert [key async for key, _ in state.scan("cache/")] == ["cache/b"]


async def test_it_is_tried_ever_more_rarely(state: SpareState, disk: Disk, clock: Clock) -> None:
    await outage(state, disk)
    await returned(state, clock)
    tasks = []
    for _ in range(2):
        clock.now += RETRY_SECONDS
        await state.get("anything")
        tasks.append(len(asyncio.all_tasks()))
    assert tasks == [1, 2], "the second try begins after twice the time"


async def test_one_warning_says_what_is_lost_and_what_to_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    state = SpareState(SqliteState(tmp_path / "file" / "state.db"))
    await asyncio.gather(*(state.add("n") for _ in range(50)))
    assert [key async for key, _ in state.scan("")] == ["n"]
    assert await state.get("n") == b"50"
    await state.close()
    (told,) = (record.getMessage() for record in caplog.records)
    assert told == str(state.problem)
    assert all(
        word in told
        for word in ("Costs, limits and the cache", "lost when it ends", "DATA_DIR", "memory://")
    )
    assert str(tmp_path) not in told


async def test_a_lock_of_another_process_is_not_taken_for_an_outage(
    state: SpareState, tmp_path: Path
) -> None:
    locked = SpareState(SqliteState(tmp_path / "state.db", timeout_seconds=0.01))
    await state.add("n")
    await state._file._read("BEGIN EXCLUSIVE", {})
    with pytest.raises(StateUnavailable, match="BUSY"):
        await locked.add("n")
    await state._file._read("COMMIT", {})
    assert locked.problem is None
    await locked.close()


async def test_its_memory_has_the_limit_of_the_file(state: SpareState, disk: Disk) -> None:
    await outage(state, disk)
    for number in range(200):
        await state.put(f"cache/{number}", LARGE)
    usage = await state.usage()
    assert usage.bytes <= 10_000_000
    assert usage.evictions
