"""Packs arrays into bytes: ids of links, and vectors with one byte per number. Little-endian on every machine."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors

LEVELS = 127


def pack_ids(ids: Sequence[int]) -> bytes:
    """Sorted distinct ids, compressed."""
    import numpy as np

    return zlib.compress(np.unique(np.array(ids, dtype="<i8")).tobytes())


def unpack_ids(data: bytes | None) -> list[int]:
    """The ids that `pack_ids` packed, sorted; none for None."""
    import numpy as np

    return [] if data is None else list(map(int, np.frombuffer(zlib.decompress(data), dtype="<i8")))


def pack_vectors(vectors: Vectors) -> bytes:
    """Per row a float32 scale and int8 numbers: `number * scale` errs by less than 1/254 of the row's largest."""
    import numpy as np

    scales = np.abs(vectors).max(axis=1, initial=0.0) / LEVELS
    rounded = np.rint(vectors / np.where(scales, scales, 1.0)[:, None]).astype(np.int8)
    packed: bytes = scales.astype("<f4").tobytes() + rounded.tobytes()
    return packed


def unpack_vectors(data: bytes, dimensions: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """The scales (rows,) and numbers (rows, dimensions) that `pack_vectors` packed."""
    import numpy as np

    rows = len(data) // (dimensions + 4)
    scales = np.frombuffer(data, dtype="<f4", count=rows).astype(np.float32)
    return scales, np.frombuffer(data, dtype=np.int8, offset=4 * rows).reshape(rows, dimensions)
