"""How much the words of a question and those of some sentences are alike: in meaning, or in spelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.text.retrieval.tokens import STOP_WORDS, stems, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]
    """Texts to unit vectors, one row each; the zero vector for a text that it does not know."""

_UNRELATED = 0.3
"""The cosine that the vectors of unrelated words may have."""

_OTHERWISE_SPELLED = 0.4
"""The share of their runs of letters that unrelated words may have in common."""

_RUN = 3
_SHORTEST = 4


def content_words(text: str) -> list[str]:
    """The distinct words of a text without stop words, in order."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]


def word_likeness(asked: Sequence[str], vocabulary: Sequence[str], encode: Encode) -> NDArray[np.float32]:
    """From 0 to 1, a row for each word of `asked` and a column for each of `vocabulary`: 1 for the same stem.

    Vectors see what means the same, runs of letters a name that is written in another way.
    """
    import numpy as np

    cosines = encode(asked) @ encode(vocabulary).T
    alike = np.maximum(_beyond(cosines, _UNRELATED), _beyond(_spelling(asked, vocabulary), _OTHERWISE_SPELLED))
    same = np.array(stems(asked))[:, None] == np.array(stems(vocabulary))
    return np.where(same, np.float32(1), alike)


def _beyond(likeness: NDArray[np.float32], unrelated: float) -> NDArray[np.float32]:
    return ((likeness - unrelated) / (1 - unrelated)).clip(0, 1)


def _spelling(asked: Sequence[str], vocabulary: Sequence[str]) -> NDArray[np.float32]:
    """Twice the number of common runs of letters by the number of all."""
    import numpy as np

    others = [_runs(word) for word in vocabulary]
    likeness = np.zeros((len(asked), len(vocabulary)), dtype=np.float32)
    for row, word in zip(likeness, asked, strict=True):
        if len(word) >= _SHORTEST:
            own = _runs(word)
            row[:] = [2 * len(own & other) / (len(own) + len(other)) for other in others]
    return likeness


def _runs(word: str) -> frozenset[str]:
    marked = f"^{word}$"
    return frozenset(marked[start : start + _RUN] for start in range(len(marked) - _RUN + 1))
