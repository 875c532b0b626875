"""Splits one page into passages and ranks them. Pure; runs in a worker process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from websearch_gateway.models import Passage
from websearch_gateway.text.chunk import overlapping
from websearch_gateway.text.markdown import plain
from websearch_gateway.text.retrieval.duplicates import near_duplicates
from websearch_gateway.text.retrieval.relevance import select
from websearch_gateway.text.retrieval.tokens import query_terms, tokens_of_each

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
