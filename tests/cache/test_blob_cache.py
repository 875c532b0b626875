"""Large records: kept if possible, otherwise absent, and never the cause of a failure."""

from __future__ import annotations

import asyncio
import logging
import random
import zlib

import pytest

from tests.patience import PATIENCE, wait_for_state
from websearch_gateway.cache.blob_cache import MOST_RECORD_BYTES, BlobCache
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.memory import MemoryState


class Moody(MemoryState):
    """Memory that can be made to fail or hang."""

    mood = ""

    async def get(self, key: str) -> bytes | None:
        if self.mood == "fails":
            raise StateUnavailable("The state is away.")
        if self.mood == "hangs":
            await asyncio.Event().wait()
        return await super().get(key)


@pytest.mark.parametrize("record", [b"", b"small", b"large " * 20_000])
async def test_a_record_comes_back_unchanged(record: bytes) -> None:
    state = MemoryState()
    await BlobCache(state).save("page/1", record, 60)
    assert await BlobCache(state).load("page/1") == record


async def test_a_record_that_is_too_large_compressed_is_not_kept() -> None:
    state = MemoryState()
    await BlobCache(state).save("page/1", random.Random(1).randbytes(1_000_000), 60)
    await BlobCache(state).save("page/2", b"x" * (MOST_RECORD_BYTES + 1), 60)
    assert [await state.get(key) for key in ("page/1", "page/2")] == [None, None]


@pytest.mark.parametrize(
    "stored",
    [b"no zlib", zlib.compress(b"cut off")[:-3], zlib.compress(b"\0" * (MOST_RECORD_BYTES + 1))],
    ids=["damaged", "cut off", "bomb"],
)
async def test_a_foreign_record_that_cannot_be_unpacked_is_absent(stored: bytes) -> None:
    state = MemoryState()
    await state.put("page/1", stored, 60)
    assert await BlobCache(state).load("page/1") is None


@pytest.mark.parametrize("mood", ["fails", "hangs"])
async def test_an_unavailable_state_loses_the_record_and_is_logged_once(
    mood: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for_state(monkeypatch, 0.01 if mood == "hangs" else PATIENCE)
    state = Moody()
    kept = BlobCache(state)
    await kept.save("page/1", b"record", 60)
    state.mood = mood
    with caplog.at_level(logging.WARNING):
        assert [await kept.load("page/1"), await kept.load("page/1")] == [None, None]
    assert len(caplog.records) == 1
    state.mood = ""
    assert await kept.load("page/1") == b"record"
