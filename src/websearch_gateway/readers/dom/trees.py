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


_AT_ONCE = 500
"""Rows that go through all trees together: the tables in between stay within the processor's cache."""


@dataclass(frozen=True, slots=True)
class Trees:
    """All nodes of all trees in one table; a leaf is its own left and right child.

    The columns are those of the file that `tools/train_block_filter.py` writes: for each node the column of the
    feature it asks for, the highest value that goes left, both children and, where it is a leaf, its score.
    """

    features: tuple[str, ...]
    roots: Any
    feature: Any
    threshold: Any
    left: Any
    right: Any
    value: Any
    depth: int

    def probabilities(self, rows: Floats) -> Floats:
        """For each row of `rows`, shape (rows, features): how likely its class is, from 0 to 1."""
        import numpy as np

        scores = [self._scores(rows[start : start + _AT_ONCE]) for start in range(0, len(rows), _AT_ONCE)]
        likely: Floats = 1 / (1 + np.exp(-np.concatenate([np.zeros(0), *scores])))
        return likely

    def _scores(self, rows: Floats) -> Floats:
        import numpy as np

        each = np.arange(len(rows))[:, None]
        at = np.repeat(self.roots[None, :], len(rows), axis=0)
        for _ in range(self.depth):
            at = np.where(rows[each, self.feature[at]] <= self.threshold[at], self.left[at], self.right[at])
        scores: Floats = self.value[at].sum(axis=1)
        return scores


@lru_cache
def load(name: str) -> Trees:
    """The trees of `NAME.json`, which ships beside this module."""
    import numpy as np

    file = json.loads(resources.files(__package__).joinpath(f"{name}.json").read_text("utf-8"))
    integers = {key: np.array(file[key], dtype=np.int32) for key in ("roots", "feature", "left", "right")}
    floats = {key: np.array(file[key], dtype=np.float32) for key in ("threshold", "value")}
    return Trees(features=tuple(file["features"]), depth=file["depth"], **integers, **floats)
