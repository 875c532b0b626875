"""Large records in the shared state: compressed and bounded. A call never fails because one is lost."""

from __future__ import annotations

import zlib

from websearch_gateway.net.own_threads import in_cache_thread
from websearch_gateway.ports import State
from websearch_gateway.resilience.best_effort import BestEffort

MOST_STORED_BYTES = 900_000
"""The largest compressed record (bytes): Firestore and others take a million bytes, keys included."""

MOST_RECORD_BYTES = 24_000_000
"""The largest uncompressed record. Checked on reads too, since others may write to the state."""

_LARGE = 30_000  # bytes; compressing more takes milliseconds, too long for the event loop
_LEVEL = 1


class BlobCache:
    """Bytes by state key. A record that cannot be read is a miss."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._best_effort = BestEffort("Pages are not stored for now")

    async def load(self, key: str) -> bytes | None:
        """The record; None if it is absent or damaged, or if the state does not answer in time."""
        stored = await self._best_effort(lambda: self._state.get(key), None)
        if not stored:
            return None
        return await in_cache_thread(_unpacked, stored) if len(stored) > _LARGE // 4 else _unpacked(stored)

    async def save(self, key: str, record: bytes, ttl_seconds: float) -> None:
        """Store a record, unless it is too large or the state does not answer in time."""
        large = len(record) > _LARGE
        packed = await in_cache_thread(zlib.compress, record, _LEVEL) if large else zlib.compress(record, _LEVEL)
        if len(packed) <= MOST_STORED_BYTES and len(record) <= MOST_RECORD_BYTES:
            await self._best_effort(lambda: self._state.put(key, packed, ttl_seconds), None)


def _unpacked(stored: bytes) -> bytes | None:
    unpacker = zlib.decompressobj()
    try:
        record = unpacker.decompress(stored, MOST_RECORD_BYTES)
    except zlib.error:
        return None
    return record if unpacker.eof else None
