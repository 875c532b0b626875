"""Compares the words of a question with those of some sentences, by meaning and by spelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.text.retrieval.tokens import STOP_WORDS, stems, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]
    """Turns texts into unit vectors, one row each; a text without known words becomes the zero vector."""

_UNRELATED = 0.3
"""The cosine that the vectors of unrelated words may have."""

_UNRELATED_SPELLING = 0.4
"""The share of their runs of letters that unrelated words may have in common."""

_RUN = 3
_SHORTEST = 4


def content_words(text: str) -> list[str]:
    """The distinct words of a text without stop words, in order."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]


def word_likeness(asked: Sequence[str], vocabulary: Sequence[str], encode: Encode) -> NDArray[np.float32]:
    """The likeness of words from 0 to 1, with a row for each word of `asked` and a column for each of `vocabulary`.

    It is 1 for the same stem. Vectors find words with the same meaning, runs of letters find other spellings of a name.
    """
    import numpy as np

    cosines = encode(asked) @ encode(vocabulary).T
    alike = np.maximum(_beyond(cosines, _UNRELATED), _beyond(_spelling(asked, vocabulary), _UNRELATED_SPELLING))
    same = np.array(stems(asked))[:, None] == np.array(stems(vocabulary))
    return np.where(same, np.float32(1), alike)


def _beyond(likeness: NDArray[np.float32], unrelated: float) -> NDArray[np.float32]:
    return ((likeness - unrelated) / (1 - unrelated)).clip(0, 1)


def _spelling(asked: Sequence[str], vocabulary: Sequence[str]) -> NDArray[np.float32]:
    """The likeness by spelling: twice the number of common runs of letters, divided by the number of all runs."""
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
