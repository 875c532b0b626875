"""Splits one page into passages without repetitions and ranks them. Pure; runs in a worker process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from websearch_gateway.models import Passage
from websearch_gateway.text.chunk import overlapping
from websearch_gateway.text.markdown import plain
from websearch_gateway.text.rank import select
from websearch_gateway.text.tokens import query_terms, tokens_of_each, words

MOST_PASSAGES = 3_000
"""The most passages of a page that are ranked: about as many as in a book of 500 pages."""

MOST_EMBEDDED = 8_000
"""The most characters of a passage that are embedded."""

SHORT_PASSAGE = 200
"""Below this many characters, equal texts in different sections may differ in meaning, such as `None.`"""

_HEADINGS = 2  # the nearest headings describe this passage; higher ones apply to every passage


@dataclass(frozen=True, slots=True)
class Cut:
    """The distinct passages of a page, the text to embed for each, and whether there are more."""

    passages: Sequence[Passage]
    embedded: Sequence[str]
    more: bool


def cut(markdown: str, size: int) -> Cut:
    """Split a page into passages of about `size` tokens."""
    found = overlapping(markdown, size, MOST_PASSAGES + 1)
    few = [passage for passage, _ in found[:MOST_PASSAGES]]
    texts = [plain(passage.text) for passage in few]
    own = [plain(text) for _, text in found[:MOST_PASSAGES]]
    repeated = frozenset(
        near_duplicates(
            [
                text if len(text) > SHORT_PASSAGE else "\n".join((*passage.section_path, text))
                for passage, text in zip(few, own, strict=True)
            ]
        )
    )
    kept = [place for place in range(len(few)) if place not in repeated]
    return Cut(
        [few[place] for place in kept],
        ["\n".join((*few[place].section_path[-_HEADINGS:], texts[place]))[:MOST_EMBEDDED] for place in kept],
        len(found) > len(few),
    )


def ranked(
    queries: Sequence[str],
    passages: Sequence[str],
    similarities: Sequence[Sequence[float | None]],
    weight: float,
    most: int,
) -> list[list[tuple[int, float]]]:
    """For each query, the indices of at most `most` passages that answer it best, with their relevance, best first.

    Args:
        passages: the text of each with its headings.
        similarities: for each query, the similarity of each passage; see `relevance.select`, also for `weight`.
    """
    words = tokens_of_each(passages)
    return [
        select(query_terms(query), words, near, weight=weight, most=most)
        for query, near in zip(queries, similarities, strict=True)
    ]


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
