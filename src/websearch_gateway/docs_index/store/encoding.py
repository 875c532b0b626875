"""Encodes what the store keeps: links and vectors as bytes, chunks as rows of the text index.

Bytes are little-endian on every machine. A row is deterministic, since a delete must repeat the inserted row.
"""

from __future__ import annotations

import re
import string
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import Stemmer

from websearch_gateway.docs_index.models import TextQuery
from websearch_gateway.text.tokens import split_cjk

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


COLUMNS = ("title", "path", "parts", "code", "text")
WEIGHTS = (8.0, 6.0, 2.0, 2.0, 1.0)

_CODE = re.compile(
    r"^[ \t]*+(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^[ \t]*+\1|\Z)|`([^`\n]{1,500}+)`", re.MULTILINE | re.DOTALL
)
_TARGET = re.compile(r"\]\([^()\s]{0,2000}+(?:\([^()\s]{0,500}+\)[^()\s]{0,500}+)?\)")
_WORD = re.compile(r"[^\W_]++")
_RUN = re.compile(r"\w++")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_COMPOUND_CHARS = range(3, 81)
_SHAPES = "".join(
    "a" if one.islower() else "A" if one.isupper() else "?" if one in f"?_{string.digits}" else " "
    for one in map(chr, range(128))
).encode() + bytes(128)
"""The class of each ASCII character: a lower case, A upper case, ? other characters of a word, blank the rest.

Characters beyond ASCII are encoded as ? first.
"""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def index_row(title: str, headings: tuple[str, ...], content: str) -> tuple[str, str, str, str, str]:
    """The columns of a chunk: page title, headings, parts of camelCase names, code, and text without link targets.

    Words of Chinese, Japanese and Korean are found by their pairs of characters.
    """
    code: list[str] = []

    def take(match: re.Match[str]) -> str:
        code.append(match[2] or match[3] or "")
        return " "

    text = without_targets(_CODE.sub(take, content) if "`" in content or "~~~" in content else content)
    parts = " ".join(part for name in _compounds(f"{' '.join(headings)} {content}") for part in _PART.findall(name))
    return split_cjk(title), split_cjk(" ".join(headings)), parts, split_cjk(" ".join(code)), split_cjk(text)


def _compounds(text: str) -> Iterator[str]:
    """The camelCase words of a text, each once, in order."""
    shapes = text.encode("ascii", "replace").translate(_SHAPES)
    places = sorted({place for hump in (b"aA", b"AAa") for place in _runs_with(hump, shapes)})
    words = (word for start, end in places for word in _RUN.findall(text, start, end))
    for word in dict.fromkeys(words):
        if len(word) in _COMPOUND_CHARS and _HUMP.search(word):
            yield word


def _runs_with(hump: bytes, shapes: bytes) -> Iterator[tuple[int, int]]:
    """The runs without a blank that contain `hump`, as (start, end)."""
    end = 0
    while (at := shapes.find(hump, end)) >= 0:
        end = shapes.find(b" ", at)
        end = len(shapes) if end < 0 else end
        yield shapes.rfind(b" ", 0, at) + 1, end


def without_targets(markdown: str) -> str:
    """Markdown without link addresses."""
    return _TARGET.sub("]", markdown) if "](" in markdown else markdown


def fts5_stems(words: Sequence[str]) -> list[str]:
    """The folded words as the tokenizer `porter` stems them (https://sqlite.org/fts5.html, section 4.3.3)."""
    found: list[str] = Stemmer.Stemmer("porter").stemWords(list(words))
    return found


def match_expression(query: TextQuery) -> str:
    """An FTS5 expression; "" if no phrase holds a letter or digit (https://sqlite.org/fts5.html, section 3)."""
    phrases = [words for phrase in query.phrases if (words := " ".join(_WORD.findall(split_cjk(phrase))))]
    return (" OR " if query.any else " AND ").join(f'"{words}"' for words in dict.fromkeys(phrases))
