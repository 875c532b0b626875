"""A compact and fast nearest-neighbour index in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

SHORTLIST = 200
"""The number of items compared by their numbers, after all items were compared by their signs."""

_LARGEST = 127  # of a signed byte
_WORD_BITS = 64
_FAR = 65_535

T = TypeVar("T")


class Neighbour(NamedTuple, Generic[T]):
    """An item and the cosine of its vector with the query's."""

    similarity: float
    key: bytes
    item: T


class VectorIndex(Generic[T]):
    """Items by their unit vectors: one signed byte per number, and the signs again as bits.

    A search compares the signs of all vectors and then the numbers of the best. For 100,000 vectors of 256 numbers it
    takes 1 ms; a matrix product takes 20. It is a ring buffer: when it is full, a new item replaces the oldest.

    An item has two labels, and a search sees the items that have its label. One thread may search while another puts;
    the search may then miss the newest change.
    """

    def __init__(self, dimensions: int, most: int) -> None:
        import numpy as np

        self._most = most
        # Memory takes no space before the first write.
        self._numbers = np.zeros((most, dimensions), dtype=np.int8)
        self._scales = np.zeros(most, dtype=np.float32)
        self._signs = np.zeros((-(-dimensions // _WORD_BITS), most), dtype=np.uint64)
        self._labels = np.zeros((2, most), dtype=np.int64)
        self._expires = np.zeros(most, dtype=np.float64)
        self._keys: list[bytes | None] = []
        self._items: list[T | None] = []
        self._slots: dict[bytes, int] = {}
        self._oldest = 0  # counts all items ever put; the slot is the remainder by `most`
        self._next = 0

    def __len__(self) -> int:
        """The number of items, including expired ones that no search has removed yet."""
        return len(self._slots)

    @property
    def nbytes(self) -> int:
        """The size of the vectors (bytes)."""
        arrays = (self._numbers, self._scales, self._signs, self._labels, self._expires)
        return sum(array.nbytes for array in arrays) * min(self._next, self._most) // self._most

    def put(self, key: bytes, vector: Vector, labels: tuple[int, int], expires: float, item: T, *, now: float) -> None:
        """Add an item, or replace the item of that key."""
        import numpy as np

        self._remove_expired(now)
        if (slot := self._slots.get(key)) is None:
            slot = self._free_slot()
            self._slots[key] = slot
        scale = float(np.abs(vector).max()) / _LARGEST or 1.0
        self._expires[slot] = 0.0  # no search sees a half-written item
        self._numbers[slot] = np.rint(vector / scale)
        self._scales[slot] = scale
        self._signs[:, slot] = self._packed(vector)
        self._labels[:, slot] = labels
        self._keys[slot], self._items[slot] = key, item
        self._expires[slot] = expires

    def expiry(self, key: bytes) -> float:
        """The moment at which the item of that key expires; 0 if there is none."""
        slot = self._slots.get(key)
        return 0.0 if slot is None else float(self._expires[slot])

    def discard(self, key: bytes) -> None:
        """Remove an item, if it is there."""
        if (slot := self._slots.pop(key, None)) is not None:
            self._expires[slot] = 0.0
            self._keys[slot] = self._items[slot] = None

    def nearest(self, vector: Vector, label: int, *, least: float, most: int, now: float) -> list[Neighbour[T]]:
        """The unexpired items of a label with a cosine of at least `least`, the nearest first."""
        import numpy as np

        span = slice(0, self._most) if self._next > self._most else slice(self._oldest, self._next)
        seen = ((self._labels[:, span] == label).any(axis=0)) & (self._expires[span] > now)
        slots = np.flatnonzero(seen)
        if slots.size > SHORTLIST:
            signs = self._packed(vector)[:, None]
            distances = np.bitwise_count(self._signs[:, span] ^ signs).sum(axis=0, dtype=np.uint16)
            distances[~seen] = _FAR
            slots = np.argpartition(distances, SHORTLIST)[:SHORTLIST]
        slots = slots + (span.start or 0)
        similarities = (self._numbers[slots].astype(np.float32) @ vector) * self._scales[slots]
        order = np.argsort(-similarities, kind="stable")[:most]
        found = ((float(similarities[place]), int(slots[place])) for place in order)
        return [
            Neighbour(min(similarity, 1.0), key, item)
            for similarity, slot in found
            if similarity >= least and (key := self._keys[slot]) is not None and (item := self._items[slot]) is not None
        ]

    def _free_slot(self) -> int:
        slot = self._next % self._most
        if slot == len(self._keys):
            self._keys.append(None)
            self._items.append(None)
        elif (key := self._keys[slot]) is not None:
            self.discard(key)
        self._next += 1
        return slot

    def _remove_expired(self, now: float) -> None:
        """Remove the oldest expired items."""
        self._oldest = max(self._oldest, self._next - self._most)
        while self._oldest < self._next and self._expires[slot := self._oldest % self._most] <= now:
            if (key := self._keys[slot]) is not None:
                self.discard(key)
            self._oldest += 1

    def _packed(self, vector: Vector) -> NDArray[np.uint64]:
        import numpy as np

        bits = np.zeros(len(self._signs) * _WORD_BITS, dtype=np.uint8)
        bits[: len(vector)] = vector > 0
        return np.packbits(bits).view(np.uint64)
