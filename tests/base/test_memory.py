"""The caches of a process take so many bytes together, whatever outsiders put into them."""

from __future__ import annotations

import gc
import random
import tracemalloc
from typing import Any

import pytest

from tests.clock import Clock
from tests.stored_answer import ANSWER
from websearch_gateway.base.memory import (
    DEFAULT_BYTES,
    ENTRY_BYTES,
    LARGEST_SHARE,
    CacheMemory,
    SharedCache,
    weight,
)
from websearch_gateway.models import Passage
from websearch_gateway.results import SearchResponse


def test_what_was_not_used_for_the_longest_time_goes_first_whichever_cache_holds_it() -> None:
    memory = CacheMemory(20_000)
    questions: SharedCache[str, bytes] = SharedCache(memory)
    pages: SharedCache[str, bytes] = SharedCache(memory)
    for number in range(5):
        questions.put(f"question {number}", b"x" * 1_500)
        pages.put(f"page {number}", b"x" * 1_500)
    assert questions.get("question 0")
    for number in range(5, 8):
        pages.put(f"page {number}", b"x" * 1_500)
    assert questions.get("question 0")
    assert [questions.get("question 1"), pages.get("page 0")] == [None, None]
    assert pages.get("page 7")


def test_an_entry_ends_with_its_time() -> None:
    clock = Clock()
    cache: SharedCache[str, str] = SharedCache(None, clock)
    cache.put("a", "1", expires=clock.now + 10)
    cache.put("b", "2")
    clock.now += 9.9
    assert (cache.get("a"), len(cache)) == ("1", 2)
    clock.now += 0.1
    assert (cache.values(), len(cache)) == (["2"], 1)
    assert cache.get("a") is None
    assert cache.memory.bytes == _counted(cache)


def test_an_entry_that_many_others_would_go_for_is_not_kept() -> None:
    cache: SharedCache[str, bytes] = SharedCache(CacheMemory(80_000))
    cache.put("small", b"")
    cache.put("small", b"x" * 10_001)
    assert cache.get("small") is None, "an older value must not stand in for a newer one"
    assert cache.memory.bytes == 0
    cache.put("large", b"x" * 9_000)
    assert cache.get("large")
    assert LARGEST_SHARE == 1 / 8


@pytest.mark.parametrize("seed", range(20))
def test_the_sum_stays_under_the_bound_and_right_in_any_order_of_use(seed: int) -> None:
    chance, clock = random.Random(seed), Clock()
    memory = CacheMemory(chance.randrange(5_000, 200_000))
    caches: list[SharedCache[int, str]] = [SharedCache(memory, clock) for _ in range(4)]
    for _ in range(1_000):
        cache, key = chance.choice(caches), chance.randrange(50)
        verb = chance.choice(("put", "put", "put", "get", "pop", "clear", "wait"))
        if verb == "put":
            text = chance.choice(("x", "й", "😀")) * chance.randrange(5_000)
            cache.put(key, text, expires=clock.now + chance.choice((1, 10, 100)))
        elif verb == "get":
            cache.get(key)
        elif verb == "pop":
            cache.pop(key)
        elif verb == "clear" and chance.random() < 0.1:
            cache.clear()
        elif verb == "wait":
            clock.now += 1
        assert memory.bytes <= memory.most_bytes
    assert memory.bytes == sum(map(_counted, caches))
    for cache in caches:
        cache.clear()
    assert memory.bytes == 0


def _counted(cache: SharedCache[Any, Any]) -> int:
    return sum(
        ENTRY_BYTES + weight(key) + weight(held.value) for key, held in cache._entries.items()
    )


def _answers() -> list[Any]:
    text = ANSWER.model_dump_json(by_alias=True)
    return [SearchResponse.model_validate_json(text) for _ in range(200)]


def _passages() -> list[Any]:
    return [[Passage(f"{n} " * 50, (f"Heading {n}",), id=str(n)) for n in range(200)]]


def _foreign() -> list[Any]:
    return [
        ["".join(chance) * 100 for chance in zip("жйщц", "фывы", strict=True)] * 1,
        "😀" * 5_000,
    ]


@pytest.mark.parametrize("make", [_answers, _passages, _foreign])
def test_the_weight_is_what_python_needs(make: Any) -> None:
    gc.collect()
    tracemalloc.start()
    values = make()
    real = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 0.75 * real <= sum(map(weight, values)) <= 1.6 * real


def test_a_cache_entry_needs_what_is_counted_for_it() -> None:
    gc.collect()
    cache: SharedCache[str, bytes] = SharedCache(CacheMemory())
    tracemalloc.start()
    for number in range(5_000):
        cache.put(f"{number:040}", bytes(100))
    real = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 0.85 * real <= cache.memory.bytes <= 1.3 * real
    assert DEFAULT_BYTES == 64 * 2**20
