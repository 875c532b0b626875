"""The file stays below its limit, and keeps counters and the most recently used entries."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.clock import Clock
from websearch_gateway.ports import BoundedState
from websearch_gateway.state.sqlite import SqliteState

MOST_BYTES = 2_000_000
EVICTABLE = ("cache/", "page/")
RECORD = random.Random(1).randbytes(20_000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
async def state(path: Path) -> AsyncIterator[SqliteState]:
    one = SqliteState(path, clock=Clock(step=1))
    one.limit(MOST_BYTES, EVICTABLE)
    yield one
    await one.close()


async def test_the_file_never_exceeds_its_limit_and_the_least_recently_used_entries_are_evicted(
    state: SqliteState, path: Path
) -> None:
    assert isinstance(state, BoundedState)
    await state.put("page/used", RECORD, 600)
    for number in range(300):
        await state.put(f"page/{number}", RECORD, 600)
        assert path.stat().st_size <= MOST_BYTES
        if number % 10 == 0:
            assert await state.get("page/used") == RECORD
    usage = await state.usage()
    assert usage.bytes <= MOST_BYTES
    assert (usage.most_bytes, usage.evictions > 200) == (MOST_BYTES, True)
    assert [await state.get(f"page/{number}") is not None for number in (0, 100, 298, 299)] == [
        False, False, True, True,
    ]  # fmt: skip


async def test_many_concurrent_writes_stay_below_the_limit_too(state: SqliteState, path: Path) -> None:
    await asyncio.gather(*(state.put(f"cache/{number}", RECORD, 600) for number in range(300)))
    assert (await state.usage()).bytes <= MOST_BYTES


async def test_counters_and_other_kinds_are_kept(state: SqliteState) -> None:
    await state.put("docs/page", RECORD)
    await state.add("cache/epoch")
    await state.add("ledger/2026-11-21/total", 5)
    for number in range(200):
        await state.put(f"page/{number}", RECORD, 600)
    assert await state.get("docs/page") == RECORD
    assert (await state.get("cache/epoch"), await state.get("ledger/2026-11-21/total")) == (b"1", b"5")


async def test_a_value_that_would_evict_much_of_the_cache_is_not_stored(state: SqliteState) -> None:
    await state.put("page/large", RECORD, 600)
    await state.put("page/large", bytes(MOST_BYTES // 10 + 1), 600)
    assert await state.get("page/large") is None, "and what stood there is out of date"


async def test_two_processes_share_one_limit(state: SqliteState, path: Path) -> None:
    other = SqliteState(path, clock=Clock(step=1))
    other.limit(MOST_BYTES, EVICTABLE)
    for number in range(150):
        await state.put(f"page/{number}", RECORD, 600)
        await other.put(f"cache/{number}", RECORD, 600)
    assert path.stat().st_size <= MOST_BYTES
    await other.close()
