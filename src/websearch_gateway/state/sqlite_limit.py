"""Keeps a SQLite file below a size by deleting the least recently used entries of the cache. Blocking calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

FREED_SHARE = 0.1
"""The fraction of the limit that one eviction frees, so that evictions are rare."""

_OVERHEAD_BYTES = 16_384  # pages that one write may add to the index and the tables
_USED = "INSERT INTO uses VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET used = max(used, excluded.used)"
_BY_USE = """
    SELECT entries.key, length(value) FROM entries LEFT JOIN uses USING (key)
    WHERE typeof(value) = 'blob' AND ({ranges}) ORDER BY coalesce(used, 0)
"""


class SqliteLimit:
    """The size limit of one file. Used only from the thread of its connection.

    Args:
        most_bytes: the most bytes of the file, without its write-ahead log.
        evictable: prefixes of the keys that may be deleted. Counters are never deleted.
    """

    def __init__(self, most_bytes: int, evictable: Sequence[bytes]) -> None:
        self.most_bytes = most_bytes
        self.evictions = 0
        self._evictable = tuple(evictable)
        self._used: dict[bytes, float] = {}

    def use(self, key: bytes, now: float) -> None:
        """Record that an entry was read or written."""
        if key.startswith(self._evictable):
            self._used[key] = now

    def takes(self, key: bytes, size: int) -> bool:
        """Whether a value of this many bytes is small enough to store."""
        return not key.startswith(self._evictable) or size <= self.most_bytes * FREED_SHARE

    def make_room(self, db: sqlite3.Connection, size: int) -> None:
        """Save the recorded uses, and delete the least recently used entries if `size` more bytes do not fit."""
        if self._used:
            db.executemany(_USED, self._used.items())
            self._used.clear()
        excess = live_bytes(db) + size + _OVERHEAD_BYTES - self.most_bytes
        if excess > 0:
            self._evict(db, excess + int(self.most_bytes * FREED_SHARE))

    def _evict(self, db: sqlite3.Connection, least_bytes: int) -> None:
        ranges = " OR ".join("entries.key >= ? AND entries.key < ?" for _ in self._evictable)
        bounds = [bound for prefix in self._evictable for bound in (prefix, prefix[:-1] + bytes([prefix[-1] + 1]))]
        keys: list[tuple[bytes]] = []
        freed = 0
        for key, length in db.execute(_BY_USE.format(ranges=ranges), bounds):
            if freed >= least_bytes:
                break
            keys.append((key,))
            freed += length
        db.executemany("DELETE FROM entries WHERE key = ?", keys)
        db.execute("DELETE FROM uses WHERE key NOT IN (SELECT key FROM entries)")
        self.evictions += len(keys)


def live_bytes(db: sqlite3.Connection) -> int:
    """The bytes of the pages that hold data. SQLite fills free pages before the file grows."""
    (pages,), (free,), (size,) = (
        db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
