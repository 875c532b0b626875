"""Measures the similarity of a page's passages to a query, with an embedder that may be slow or fail."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from websearch_gateway.cache.pages import KEEP_SECONDS, BlobCache
from websearch_gateway.errors import SearchProviderParseError, Unavailable
from websearch_gateway.models import Call
from websearch_gateway.ports import Embedder

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


SLICE = 64
"""Passages per batch. Finished batches are kept when the time is up."""

BLOCK_ROWS = 1_024
"""Vectors per comparison. For more, OpenBLAS starts threads, which take many times as long on two cores."""

UNRELATED = (
    "The recipe needs two eggs, flour and a pinch of salt.",
    "The court dismissed the appeal last week.",
    "Rain is expected along the coast tomorrow.",
    "The function returns an empty list by default.",
    "She scored twice in the second half of the match.",
    "The bank raised its interest rate again.",
    "Cells divide and pass on their genes.",
    "Click the button to sign in to your account.",
)
"""Unspecific sentences: their similarity to a query is the embedder's zero point."""

LEAST_STRETCH = 0.05
"""If unrelated texts have a similarity above 0.95, the embedder cannot tell texts apart."""

PAUSE_SECONDS = 30.0
"""How long an embedder is not called after a query timed out (seconds); otherwise each page would wait for it."""

UNKNOWN_SCRIPT = "the embedding model does not know the script of the page or the query"
TOO_SLOW = "the embedding model did not answer in time"


@dataclass(slots=True)
class Subject:
    """The texts to compare, by passage id, and the vectors so far.

    The caller that completes the vectors holds `lock`, so that concurrent calls embed a page once.
    """

    page_key: str
    texts: Mapping[str, str] = field(repr=False)
    vectors: dict[str, Vector] = field(default_factory=dict, repr=False)
    dimensions: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """For each query and passage that could be compared, their similarity (at most 1); and the fault, if any."""

    similarities: Mapping[str, Mapping[str, float]]
    fault: str | None = None


class Similarity:
    """Compares passages with queries. If the embedder fails, the comparison is empty and the call succeeds.

    Args:
        clock: seconds, for the pauses of an embedder that is too slow.
    """

    def __init__(self, embedder: Embedder, blobs: BlobCache, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._blobs = blobs
        self._clock = clock
        self._paused_until = 0.0
        self._unrelated: Vectors | None = None

    @property
    def weight(self) -> float:
        """The weight of the similarity ranking, where the ranking by words has 1."""
        return self._embedder.weight

    def knows(self, text: str) -> bool:
        """Whether the embedder supports the script of `text`."""
        return self._embedder.knows(text)

    async def compare(self, subject: Subject, queries: Sequence[str], call: Call) -> Comparison:
        """Compare as many passages as possible before the deadline. Embeds only passages that have no vector yet."""
        readable = [query for query in dict.fromkeys(queries) if self.knows(query)]
        if not readable:
            return Comparison({}, UNKNOWN_SCRIPT)
        if self._clock() < self._paused_until:
            return Comparison({}, TOO_SLOW)
        asked: Vectors | None = None
        fault = None if len(readable) == len(set(queries)) else UNKNOWN_SCRIPT
        known = len(subject.vectors)
        try:
            async with asyncio.timeout(call.remaining()):
                unrelated = await self._baseline(call)
                asked = await self._embedded(readable, unrelated.shape[1], "query", call)
                async with subject.lock:
                    known = await self._load_stored(subject, unrelated.shape[1])
                    await self._complete(subject, call)
        except Unavailable as error:
            fault = error.message.rstrip(".")
        except TimeoutError:
            fault = TOO_SLOW
            if asked is None:
                self._paused_until = self._clock() + PAUSE_SECONDS
        if len(subject.vectors) > known:
            await self._keep(subject)
        if asked is None:
            return Comparison({}, fault)
        found = [_similarities(subject.vectors, vector, unrelated) for vector in asked]
        return Comparison(dict(zip(readable, found, strict=True)), fault)

    async def _baseline(self, call: Call) -> Vectors:
        if self._unrelated is None:
            self._unrelated = await self._embedder.embed(UNRELATED, "document", call)
        return self._unrelated

    async def _load_stored(self, subject: Subject, dimensions: int) -> int:
        """Load the stored vectors unless they are loaded. Returns the number of vectors."""
        if subject.dimensions != dimensions:
            key = vectors_key(subject.page_key, self._embedder.name)
            record = await self._blobs.load(key)
            kept = unpack(record, self._embedder.name, dimensions) if record else {}
            subject.vectors = {one: vector for one, vector in kept.items() if one in subject.texts}
            subject.dimensions = dimensions
        return len(subject.vectors)

    async def _complete(self, subject: Subject, call: Call) -> None:
        missing = [one for one in subject.texts if one not in subject.vectors]
        for start in range(0, len(missing), SLICE):
            ids = missing[start : start + SLICE]
            rows = await self._embedded([subject.texts[one] for one in ids], subject.dimensions, "document", call)
            subject.vectors.update(zip(ids, rows, strict=True))

    async def _keep(self, subject: Subject) -> None:
        import numpy as np

        record = pack(self._embedder.name, list(subject.vectors), np.stack(list(subject.vectors.values())))
        await self._blobs.save(vectors_key(subject.page_key, self._embedder.name), record, KEEP_SECONDS)

    async def _embedded(
        self, texts: Sequence[str], dimensions: int, kind: Literal["query", "document"], call: Call
    ) -> Vectors:
        rows = await self._embedder.embed(texts, kind, call)
        if rows.shape != (len(texts), dimensions):
            self._unrelated = None  # another model now answers at this address: the next call measures again
            raise SearchProviderParseError("The embedding model changed in the middle of a call.")
        return rows


def _similarities(vectors: Mapping[str, Vector], query: Vector, unrelated: Vectors) -> dict[str, float]:
    """Cosines, rescaled so that unrelated texts have 0. A zero vector is similar to nothing."""
    import numpy as np

    stretch = 1 - (base := float((unrelated @ query).mean()))
    if not vectors or not query.any() or stretch < LEAST_STRETCH:
        return {}
    rows = np.stack(list(vectors.values()))
    products = [rows[start : start + BLOCK_ROWS] @ query for start in range(0, len(rows), BLOCK_ROWS)]
    cosines = np.minimum((np.concatenate(products) - base) / stretch, 1)
    return {one: float(cosine) for one, cosine, row in zip(vectors, cosines, rows, strict=True) if row.any()}


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors

    Vector = NDArray[np.float32]


_LARGEST = 127


class _Head(BaseModel):
    """The first line of a record; the rest are `dimensions` bytes for each of `ids`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    schema_version: Literal[1] = 1
    embedder: str
    dimensions: int = Field(ge=1, le=20_000)
    ids: list[str]


def vectors_key(page_key: str, embedder: str) -> str:
    """The state key of a page's vectors by one embedder."""
    name = hashlib.blake2b(embedder.encode(), digest_size=8).hexdigest()
    return f"page-passages/{page_key.rpartition('/')[2]}/{name}"


def pack(embedder: str, ids: Sequence[str], rows: Vectors) -> bytes:
    """A record of unit vectors, with one signed byte per number. That changes a cosine by less than a hundredth."""
    import numpy as np

    head = _Head(embedder=embedder, dimensions=rows.shape[1], ids=list(ids))
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scale = _LARGEST / np.where(largest > 0, largest, 1)
    body: bytes = np.rint(rows * scale).astype(np.int8).tobytes()
    return head.model_dump_json().encode() + b"\n" + body


def unpack(record: bytes, embedder: str, dimensions: int) -> Mapping[str, Vector]:
    """The vectors by passage id; empty if the record is damaged, from another embedder, or of other dimensions."""
    import numpy as np

    line, _, body = record.partition(b"\n")
    try:
        head = _Head.model_validate_json(line)
    except ValidationError:
        return {}
    if (head.embedder, head.dimensions) != (embedder, dimensions) or len(body) != len(head.ids) * dimensions:
        return {}
    rows = np.frombuffer(body, dtype=np.int8).reshape(-1, dimensions).astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    return dict(zip(head.ids, rows, strict=True))
