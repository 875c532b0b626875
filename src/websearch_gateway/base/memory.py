"""The memory that all caches of a process share: so many bytes together, and the least recently used entries go first.

Outsiders choose how large an entry is, so no number of entries bounds anything. A cache of a process holds what it
remembers in a SharedCache; only what is small by nature is in an `lru_cache` (tests/app/test_caches.py has the list).
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

DEFAULT_BYTES = 64 * 2**20

ENTRY_BYTES = 300
"""What the tables need for an entry, besides its key and its contents; measured with tracemalloc."""

OBJECT_BYTES = 800
"""What an object with fields needs besides them: pydantic keeps a dictionary and the set of the fields that were set."""

LARGEST_SHARE = 1 / 8
"""An entry that takes more of the memory is not kept, since too many others would go for it."""

_SMALL_BYTES = 32
"""A number, a truth value or None."""


class CacheMemory:
    """So many bytes for all caches made with it. Use them from one thread.

    Attributes:
        bytes: what the entries weigh now.
    """

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self._by_use: OrderedDict[tuple[SharedCache[Any, Any], Hashable], int] = OrderedDict()

    def use(self, cache: SharedCache[Any, Any], key: Hashable) -> None:
        """Note that an entry was read."""
        self._by_use.move_to_end((cache, key))

    def take(self, cache: SharedCache[Any, Any], key: Hashable, size: int) -> None:
        """Note a new entry, and drop the least recently used ones until all fit."""
        self._by_use[cache, key] = size
        self.bytes += size
        while self.bytes > self.most_bytes:
            oldest_cache, oldest_key = next(iter(self._by_use))
            oldest_cache.pop(oldest_key)

    def release(self, cache: SharedCache[Any, Any], key: Hashable) -> None:
        """Note that an entry is gone."""
        self.bytes -= self._by_use.pop((cache, key))


@dataclass(slots=True)
class _Expiring(Generic[V]):
    """A value of a cache; `expires` is a moment on the clock of the cache."""

    value: V
    expires: float


class SharedCache(Generic[K, V]):
    """A cache whose entries may go at any time: when they expire, or when another cache needs the memory.

    Args:
        memory: shared with other caches; None for one of its own.
        clock: seconds; `expires` is a moment on it.
    """

    def __init__(
        self, memory: CacheMemory | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.memory = memory or CacheMemory()
        self._clock = clock
        self._entries: dict[K, _Expiring[V]] = {}

    def __len__(self) -> int:
        """The number of entries that have not expired."""
        return len(self.values())

    def get(self, key: K) -> V | None:
        """The value; None if it is gone."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.expires <= self._clock():
            self.pop(key)
            return None
        self.memory.use(self, key)
        return entry.value

    def put(self, key: K, value: V, *, expires: float = math.inf, contents: object = None) -> None:
        """Keep a value, unless it is too large.

        Args:
            contents: plain data to weigh instead of the value.
        """
        self.pop(key)
        size = ENTRY_BYTES + weight(key) + weight(value if contents is None else contents)
        if size > self.memory.most_bytes * LARGEST_SHARE:
            return
        self._entries[key] = _Expiring(value, expires)
        self.memory.take(self, key, size)

    def pop(self, key: K) -> None:
        """Drop the entry, if there is one."""
        if self._entries.pop(key, None) is not None:
            self.memory.release(self, key)

    def clear(self) -> None:
        """Drop all entries."""
        for key in list(self._entries):
            self.pop(key)

    def values(self) -> list[V]:
        """The values that have not expired."""
        now = self._clock()
        return [held.value for held in self._entries.values() if held.expires > now]


def weight(value: Any) -> int:
    """About how many bytes plain data takes: texts, numbers, arrays, collections, and objects whose fields are such.

    For answers it is 1.1 times what tracemalloc counts, and what it counts is 1.0 to 1.15 times the growth of the
    process.
    """
    if isinstance(value, (str, bytes)):
        return getsizeof(value)
    if value is None or isinstance(value, (int, float)):
        return _SMALL_BYTES
    if isinstance(value, (tuple, list, set, frozenset)):
        return getsizeof(value) + sum(map(weight, value))
    if isinstance(value, dict):
        return getsizeof(value) + sum(map(weight, value)) + sum(map(weight, value.values()))
    fields = getattr(value, "__dict__", None)
    if fields is not None:
        return OBJECT_BYTES + sum(map(weight, fields.values()))
    if hasattr(value, "nbytes"):
        return OBJECT_BYTES + int(value.nbytes)
    slots = getattr(type(value), "__slots__", ())
    return _SMALL_BYTES + sum(weight(getattr(value, name, None)) for name in slots)
