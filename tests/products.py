"""Vectors that record their multiplications."""

from __future__ import annotations

from typing import Any

import numpy as np


class Noted(np.ndarray):
    """A vector that counts the rows of every matrix that is multiplied with it, in `rows`."""

    rows: list[int]

    @classmethod
    def of(cls, vectors: Any, rows: list[int]) -> Noted:
        """The vectors, each of which appends to `rows`."""
        noted: Noted = np.asarray(vectors).view(cls)
        noted.rows = rows
        return noted

    def __array_finalize__(self, origin: Any) -> None:
        self.rows = getattr(origin, "rows", [])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.matmul:
            self.rows.append(len(inputs[0]))
        return getattr(ufunc, method)(*(np.asarray(one) for one in inputs), **options)
