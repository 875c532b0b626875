"""Large records in the shared state: compressed, bounded, and never worth a failure."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.ports import State

MOST_STORED_BYTES = 900_000
"""What a record may have when compressed: the narrowest backend takes a million bytes, keys and all."""

MOST_RECORD_BYTES = 24_000_000
"""What a record may have when it is not: another hand may have packed it."""

PATIENCE_SECONDS = 0.5
_LARGE = 30_000  # bytes; packing more takes a millisecond or two, which the event loop has not
_LEVEL = 1

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Shelf:
    """Bytes by state key. What cannot be had, for whatever reason, is as if it had never been stored."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._outage_told = False

    async def load(self, key: str) -> bytes | None:
        """The record; None when there is none, it is damaged or the state cannot be reached in time."""
        stored = await self._patiently(lambda: self._state.get(key))
        if not stored:
            return None
        return await asyncio.to_thread(_unpacked, stored) if len(stored) > _LARGE // 4 else _unpacked(stored)

    async def save(self, key: str, record: bytes, ttl_seconds: float) -> None:
        """Store a record, unless it is too large or the state cannot be reached in time."""
        large = len(record) > _LARGE
        packed = await asyncio.to_thread(zlib.compress, record, _LEVEL) if large else zlib.compress(record, _LEVEL)
        if len(packed) <= MOST_STORED_BYTES and len(record) <= MOST_RECORD_BYTES:
            await self._patiently(lambda: self._state.put(key, packed, ttl_seconds))

    async def _patiently(self, verb: Callable[[], Awaitable[T]]) -> T | None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await verb()
        except (StateUnavailable, TimeoutError) as error:
            if not self._outage_told:
                self._outage_told = True
                reason = error.message if isinstance(error, StateUnavailable) else "it is slow"
                _log.warning("Pages are not kept for now: %s", reason)
            return None


def _unpacked(stored: bytes) -> bytes | None:
    unpacker = zlib.decompressobj()
    try:
        record = unpacker.decompress(stored, MOST_RECORD_BYTES)
    except zlib.error:
        return None
    return record if unpacker.eof else None
