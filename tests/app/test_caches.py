"""Every cache of a process shares one memory, which MEMORY_CACHE_MB bounds."""

from __future__ import annotations

import gc
import random
from pathlib import Path
from typing import Any

from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.base.memory import SharedCache, weight
from websearch_gateway.settings.loading import load_settings


def _caches_of(gateway: Gateway) -> list[SharedCache[Any, Any]]:
    """All caches that can be reached from a gateway, however they are held."""
    seen, waiting = {id(gateway)}, [gateway]
    caches: list[SharedCache[Any, Any]] = []
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, SharedCache):
            caches.append(thing)
        for part in gc.get_referents(thing):
            is_ours = type(part).__module__.startswith("websearch_gateway")
            holds_ours = isinstance(part, (dict, list, tuple, set)) or callable(part)
            if id(part) not in seen and not isinstance(part, type) and (is_ours or holds_ours):
                seen.add(id(part))
                waiting.append(part)
    return caches


async def test_each_cache_of_a_gateway_uses_its_memory(tmp_path: Path) -> None:
    async with open_gateway(load_settings(None, data_dir=tmp_path, respect_robots=True)) as gateway:
        caches = _caches_of(gateway)
        assert len(caches) == 11, "three kinds of results, questions, similar ones, pages ..."
        assert {cache.memory for cache in caches} == {gateway.memory}
        assert gateway.memory.most_bytes == 32 * 2**20
    settings = load_settings(None, state_url="memory://", memory_cache_mb=8)
    async with open_gateway(settings) as gateway:
        usage = await gateway._state.usage()
        assert usage is not None
        assert usage.most_bytes == gateway.memory.most_bytes == 4 * 2**20
    settings = load_settings(None, state_url="postgresql://localhost/none", memory_cache_mb=8)
    async with open_gateway(settings) as gateway:
        assert gateway.memory.most_bytes == 8 * 2**20, "its state takes no memory here"


async def test_all_caches_together_stay_within_the_setting() -> None:
    chance = random.Random(38)
    settings = load_settings(None, state_url="memory://", memory_cache_mb=2, respect_robots=True)
    async with open_gateway(settings) as gateway:
        caches = _caches_of(gateway)
        for number in range(2_000):
            text = chance.choice(("x", "й", "😀")) * chance.randrange(10_000)
            chance.choice(caches).put(f"key {number}", text)
            await gateway._state.put(f"cache/exact/{number}", text.encode())
            usage = await gateway._state.usage()
            assert usage is not None
            assert usage.bytes + gateway.memory.bytes <= 2 * 2**20
        held = sum(weight(value) for cache in caches for value in cache.values())
        assert 2**19 < held <= gateway.memory.bytes
