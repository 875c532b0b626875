"""Every cache of a process shares one memory, which MEMORY_CACHE_MB bounds."""

from __future__ import annotations

import ast
import gc
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import websearch_gateway
from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.base.memory import SharedCache, weight
from websearch_gateway.settings.loading import load_settings

SOURCE = Path(websearch_gateway.__file__).parent


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


IN_THE_SERVER = {
    "base/same_page.py:page_key": (256, 20_000),
    "base/sanitise.py:_needed": (4_096, 300),
    "cache/meaning.py:of": (64, 40_000),
    "docs/search/features.py:_names_of": (64, 16_000),
    "docs/search/features.py:tokens_in": (512, 16_000),
    "entrypoints/http/middleware.py:user_hash": (1_024, 1_300),
    "entrypoints/mcp/clients.py:_client": (128, 1_300),
    "entrypoints/reply/fitting.py:_size_of_answer": (10, 600_000),
    "entrypoints/reply/structured.py:_lean_answer": (10, 600_000),
    "entrypoints/reply/texts.py:_answer": (10, 300_000),
    "evidence/embedders/local.py:_cleaned": (4_096, 150),
    "evidence/embedders/local.py:_is_punctuation": (4_096, 150),
    "evidence/embedders/local.py:_of_word": (16_384, 800),
    "evidence/embedders/local.py:_words_of_run": (16_384, 1_600),
    "evidence/facts.py:_remembered_words": (64, 213_000),
    "pipeline/guard.py:_warnings_for": (1_024, 2_500),
    "settings/loading.py:nearest_setting": (512, 300),
    "upstream/ledger.py:_pseudonym": (1_024, 1_300),
    "upstream/logs.py:_masked_key": (256, 300),
}
"""The caches of functions: the most entries, and the bytes of the largest that somebody could make on purpose."""

IN_WORKERS = ("pages/", "docs/crawl/", "docs/project/")
"""Where caches of functions end with a process that has a limit of its own."""

A_FEW = 8
"""So many entries are those of settings and of files that ship with the package."""


def test_the_caches_of_functions_are_known_and_small_whatever_is_in_them() -> None:
    """A new one belongs into a SharedCache, unless its entries cannot be large."""
    cached = {
        f"{path.relative_to(SOURCE).as_posix()}:{name}": size
        for path in SOURCE.rglob("*.py")
        if "lru_cache" in (text := path.read_text("utf-8"))
        for name, size in _lru_caches(ast.parse(text))
        if size > A_FEW
    }
    served = {place: size for place, size in cached.items() if not place.startswith(IN_WORKERS)}
    assert served == {place: entries for place, (entries, _) in IN_THE_SERVER.items()}
    assert sum(entries * size for entries, size in IN_THE_SERVER.values()) < 89 * 2**20


def _lru_caches(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The name and the size of each `lru_cache` that has a size; those without arguments have no keys of outsiders."""
    numbers = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and _is_lru(decorator):
                    yield node.name, _size_of(decorator, numbers)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call, target = node.value.func, node.targets[0]
            if isinstance(call, ast.Call) and _is_lru(call) and isinstance(target, ast.Attribute):
                yield target.attr, _size_of(call, numbers)


def _is_lru(call: ast.Call) -> bool:
    return "lru_cache" in ast.unparse(call.func)


def _size_of(call: ast.Call, numbers: dict[str, Any]) -> int:
    value = call.args[0] if call.args else call.keywords[0].value
    return int(numbers[value.id] if isinstance(value, ast.Name) else ast.literal_eval(value))
