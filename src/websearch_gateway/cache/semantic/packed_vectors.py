"""Stored vectors of a page's passages, so that unchanged passages are not embedded again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
