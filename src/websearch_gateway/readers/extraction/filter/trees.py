"""Boosted decision trees, read from JSON and run with numpy alone."""

from __future__ import annotations

import json
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

    Evaluates all nodes of all trees at once instead of walking down each tree: the leaves of a tree are the bits of a
    number, each node whose value is above the threshold excludes the leaves on its left, and the result is the first
    remaining leaf (Lucchese et al., "QuickScorer", 2015).

    Attributes:
        features: the names of the columns, in order.
        feature, threshold, left: shape (trees, nodes): the column to compare, the highest value that goes left, and
            the leaves on the left as bits.
        value: shape (trees, leaves): the score of each leaf.
        first: the lowest bit that is set in each number of MOST_LEAVES bits.
    """

    features: tuple[str, ...]
    feature: Any
    threshold: Any
    left: Any
    value: Any
    first: Any

    def probabilities(self, rows: Floats) -> Floats:
        """The probability of each row of `rows`, shape (rows, features), from 0 to 1."""
        import numpy as np

        scores = [self._scores(rows[start : start + _AT_ONCE]) for start in range(0, len(rows), _AT_ONCE)]
        likely: Floats = 1 / (1 + np.exp(-np.concatenate([np.zeros(0), *scores])))
        return likely

    def _scores(self, rows: Floats) -> Floats:
        import numpy as np

        ruled_out = np.where(rows[:, self.feature] > self.threshold, self.left, np.uint16(0))
        leaves = self.first[~np.bitwise_or.reduce(ruled_out, axis=2)]
        scores: Floats = self.value[np.arange(len(self.value)), leaves].sum(axis=1)
        return scores


@lru_cache
def load(name: str) -> Trees:
    """The trees of `NAME.json`, which ships beside this module."""
    import numpy as np

    file = json.loads(resources.files(__package__).joinpath(f"{name}.json").read_text("utf-8"))
    numbers = np.arange(1 << MOST_LEAVES)
    first = np.zeros(len(numbers), dtype=np.int8)
    for leaf in reversed(range(MOST_LEAVES)):
        first[numbers >> leaf & 1 == 1] = leaf
    return Trees(
        features=tuple(file["features"]),
        feature=np.array(file["feature"], dtype=np.int32),
        threshold=np.array(file["threshold"], dtype=np.float32),
        left=np.array(file["left"], dtype=np.uint16),
        value=np.array(file["value"], dtype=np.float32),
        first=first,
    )
