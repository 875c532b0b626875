"""Finds near-duplicate texts: boilerplate, a section shown twice, the mobile copy of a menu."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

from websearch_gateway.text.retrieval.tokens import words

SHINGLE = 3
"""The number of words in a shingle."""

NEAR = 0.9
"""The minimum share of common shingles (Jaccard) of two near-duplicates."""

# Texts that share nine tenths of their shingles share one of their eight smallest, except one pair in 10^8.
_SKETCH = 8
_CANDIDATES = 16  # texts with the same small shingle to compare; a hostile page can have many


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """The indices of texts that nearly repeat an earlier one. Texts with different numbers are never duplicates."""
    kept: list[tuple[frozenset[int], tuple[str, ...]]] = []
    places: dict[int, list[int]] = {}
    repeated = []
    for place, text in enumerate(texts):
        said = words(text)
        own = frozenset(_shingles(said)), tuple(sorted(word for word in said if word.isdigit()))
        sketch = sorted(own[0])[:_SKETCH]
        if any(_same(own, kept[other]) for other in {other for mark in sketch for other in places.get(mark, ())}):
            repeated.append(place)
            continue
        for mark in sketch:
            if len(found := places.setdefault(mark, [])) < _CANDIDATES:
                found.append(len(kept))
        kept.append(own)
    return repeated


def _shingles(said: Sequence[str]) -> Iterator[int]:
    for start in range(max(1, len(said) - SHINGLE + 1)):
        yield crc32(" ".join(said[start : start + SHINGLE]).encode("utf-8", "surrogatepass"))


def _same(one: tuple[frozenset[int], tuple[str, ...]], other: tuple[frozenset[int], tuple[str, ...]]) -> bool:
    return one[1] == other[1] and len(one[0] & other[0]) >= NEAR * len(one[0] | other[0])
