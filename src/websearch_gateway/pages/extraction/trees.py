"""Boosted trees, evaluated in numpy: `tools/train_block_filter.py` trains them with LightGBM and writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]

MOST_LEAVES = 16
_AT_ONCE = 100
"""Rows per batch, so that intermediate tables fit into the processor's cache."""


@dataclass(frozen=True, slots=True)
class Trees:
    """All trees side by side, as `tools/train_block_filter.py` writes them.

    All nodes are evaluated at once: the leaves of a tree are the bits of a number, each node whose value is above the
    threshold excludes the leaves on its left, and the result is the first remaining leaf (Lucchese et al.,
    "QuickScorer", 2015).

    Attributes:
        features: the names of the columns, in order.
        feature, threshold, left: shape (nodes, trees): the column to compare, the highest value that goes left, and
            the leaves on the left as bits.
        value: shape (leaves, trees): the score of each leaf.
        first: the lowest bit that is set in each number of MOST_LEAVES bits.
    """

    features: tuple[str, ...]
    feature: Any
    threshold: Any
    left: Any
    value: Any
    first: Any

    def probabilities(self, columns: Mapping[str, Any], blocks: int) -> Floats:
        """The probability of each block, from 0 to 1, given its features by name."""
        import numpy as np

        # The values of a feature are side by side, and the first nodes of all trees: that is ten times as fast as a row
        # for each block and for each tree.
        table = np.empty((len(self.features), blocks), np.float32)
        for row, name in zip(table, self.features, strict=True):
            row[:] = columns[name]
        scores, trees = np.empty(blocks), np.arange(self.value.shape[1])[:, None]
        for part in (slice(start, start + _AT_ONCE) for start in range(0, blocks, _AT_ONCE)):
            above = table[:, part][self.feature] > self.threshold[:, :, None]
            ruled_out = np.bitwise_or.reduce(above * self.left[:, :, None], axis=0)
            scores[part] = self.value[self.first[~ruled_out], trees].sum(axis=0)
        likely: Floats = 1 / (1 + np.exp(-scores))
        return likely


@lru_cache
def load(name: str) -> Trees:
    """The trees of `NAME.json`, which ships beside this module."""
    import numpy as np

    file = json.loads(resources.files(__package__).joinpath(f"{name}.json").read_text("utf-8"))
    numbers = np.arange(1 << MOST_LEAVES)
    first = np.zeros(len(numbers), dtype=np.int8)
    for leaf in reversed(range(MOST_LEAVES)):
        first[numbers >> leaf & 1 == 1] = leaf
    types = {"feature": np.int32, "threshold": np.float32, "left": np.uint16, "value": np.float32}
    parts = {key: np.ascontiguousarray(np.array(file[key], kind).T) for key, kind in types.items()}
    return Trees(tuple(file["features"]), **parts, first=first)
