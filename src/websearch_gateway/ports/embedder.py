"""The interface of embedders, which turn texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """One unit vector, or zero vector, per row: shape (texts, dimensions)."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """The name of the model. Vectors with different names cannot be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 until a remote model has answered."""
        ...

    @property
    def weight(self) -> float:
        """The weight of the ranking by vectors in a fusion, where the ranking by words has weight 1."""
        ...

    async def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """One row per text, in order. A text that the embedder does not understand, such as "", gets the zero vector.

        Raises:
            Unavailable: the embedder failed. The caller then ranks by words alone and says so, and does not fail.
        """
        ...

    def knows(self, text: str) -> bool:
        """Whether the vector of this text is meaningful: False if the model does not know its script."""
        ...
