"""State in memory stays below its limit, and keeps counters and the most recently used entries."""

from __future__ import annotations

import statistics
import time
from random import Random

from websearch_gateway.state.memory import MemoryState

MOST_BYTES = 100_000
RECORD = bytes(1_000)


async def test_the_least_recently_used_entries_are_evicted_before_the_limit_is_exceeded() -> None:
    state = MemoryState()
    state.limit(MOST_BYTES, ("page/",))
    await state.add("count/calls", 7)
    await state.put("rule/kept", RECORD)
    await state.put("page/used", RECORD)
    for number in range(500):
        await state.put(f"page/{number}", RECORD, 600)
        assert (await state.usage()).bytes <= MOST_BYTES
        assert await state.get("page/used") == RECORD
    usage = await state.usage()
    assert (usage.most_bytes, usage.evictions > 300) == (MOST_BYTES, True)
    assert [await state.get(key) is not None for key in ("page/0", "page/499", "rule/kept")] == [
        False,
        True,
        True,
    ]
    assert await state.get("count/calls") == b"7"


async def test_a_value_that_would_evict_all_others_is_not_stored() -> None:
    state = MemoryState()
    state.limit(MOST_BYTES, ("page/",))
    await state.put("page/large", bytes(MOST_BYTES // 2))
    assert await state.get("page/large") is None


async def test_the_size_is_that_of_the_stored_entries() -> None:
    state = MemoryState()
    before = (await state.usage()).bytes
    for _ in range(3):
        await state.put("page/a", RECORD)
    one = (await state.usage()).bytes
    assert 1_000 <= one - before <= 2_000
    await state.delete("page/a")
    assert (await state.usage()).bytes == before
    assert (await state.usage()).most_bytes is None


async def test_a_search_for_keys_does_not_look_at_all_other_keys() -> None:
    """The cache asks for the marks of its clearings with each entry that only its own process has."""

    async def seconds(entries: int) -> float:
        state, took = MemoryState(), []
        for number in range(entries):
            await state.put(f"cache/{number}", b"")
        for number in range(200):
            await state.put(f"page/{number}", b"")
            began = time.process_time()
            assert [key async for key, _ in state.scan("cache/cleared/")] == []
            took.append(time.process_time() - began)
        return statistics.median(took)

    assert await seconds(30_000) < 10 * await seconds(300)


async def test_entries_that_change_are_found_in_order() -> None:
    state, random = MemoryState(), Random(7)
    kept: set[str] = set()
    for _ in range(500):
        key = f"k/{random.randrange(60)}"
        if random.random() < 0.6:
            await state.put(key, b"")
            kept.add(key)
        else:
            await state.delete(key)
            kept.discard(key)
        if random.random() < 0.3:
            assert [found async for found, _ in state.scan(key[:3])] == sorted(
                k for k in kept if k.startswith(key[:3])
            )
            assert [one.key async for one in state.entries("k/", key)] == sorted(
                k for k in kept if k > key
            )
