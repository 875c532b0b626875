"""The numeric features of each block of a page, and how likely they make it part of the main text."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from websearch_gateway.readers.extraction.filter.measures import (
    NAME_HINTS,
    TAG_NUMBER,
    WITHIN,
    Measures,
    context_columns,
    opinion_columns,
)

if TYPE_CHECKING:
    from websearch_gateway.readers.extraction.filter.measures import Floats as MeasuresFloats
    from websearch_gateway.readers.extraction.filter.measures import Ints


_SIZES = (30, 100, 300, 1000)
_LEVELS = 4
_DESCRIBED = ("words", "share", "links", "found", "commas", "stops", "mean", "siblings")
"""The features of an element around a block, in the order of `Measures.described`."""
_UPPER, _DIGITS = string.ascii_uppercase.encode(), string.digits.encode()
_DEEPEST = 64


def likelihoods(page: Measures, found: str | None) -> MeasuresFloats:
    """How likely each block belongs to the main text, from 0 to 1.

    Args:
        found: the text that another extractor chose, one block per line; None if it did not run: then the filter
            judges that was trained without it.
    """

    trees = load("block_filter_alone" if found is None else "block_filter")
    return trees.probabilities(matrix(page, found or ""))


def matrix(page: Measures, found: str) -> MeasuresFloats:
    """The features of each block: shape (blocks, features), float32, in the order of `columns`."""
    values = columns(page, found).values()
    table: MeasuresFloats = page.np.empty((len(values), len(page.words)), page.np.float32)
    for row, column in zip(table, values, strict=True):
        row[:] = column
    return table.T


def columns(page: Measures, found: str) -> dict[str, Any]:
    """Each feature by name, with one value per block.

    Args:
        found: the main text that another extractor chose, one block per line; "" for none.
    """
    page.compare(found)
    own, context = page.fixed or (_own_columns(page) | _name_columns(page), context_columns(page))
    page.fixed = own, context
    return {
        **own,
        "found": page.found,
        **_level_columns(page),
        **_entry_columns(page),
        **_neighbour_columns(page),
        **_heading_columns(page),
        **_alike_columns(page),
        **_page_columns(page),
        **context,
        **opinion_columns(page),
    }


def _own_columns(page: Measures) -> dict[str, Any]:
    np, n = page.np, len(page.words)
    heads = [block.text[:200] for block in page.outline.blocks]
    return {
        "words": page.words,
        "chars_per_word": page.chars / np.maximum(1, page.words),
        "link_share": page.link_share,
        "found": page.found,
        "commas": page.commas,
        "stops": page.stops,
        "links": page.links,
        "titled": page.titled,
        "repeats": page.repeats,
        "upper": np.array([_count(head, str.isupper, _UPPER) / max(1, len(head)) for head in heads]),
        "digits": np.array([_count(head, str.isdigit, _DIGITS) / max(1, len(head)) for head in heads]),
        "tag": page.tag[page.place],
        "depth": page.depth[page.place],
        "index": np.arange(n),
        "index_share": np.arange(n) / n,
        "words_before": page.running[:-1, 0] / max(1, page.running[-1, 0]),
    }


def _name_columns(page: Measures) -> dict[str, Any]:
    near, far, inside = page.near[page.place], page.far[page.place], page.inside[page.place]
    return {
        **{f"name_{place}": (near >> place & 1) * 2 + (far >> place & 1) for place in range(len(NAME_HINTS))},
        **{f"in_{tag}": inside >> place & 1 for place, tag in enumerate(WITHIN)},
    }


def _level_columns(page: Measures) -> dict[str, Any]:
    """The nearest elements around each block, and the nearest ones of at least so many words."""
    np, at = page.np, page.place
    found: dict[str, Any] = {}
    for level in range(_LEVELS):
        found |= _described(page, f"up{level}", at)
        at = page.parent[at]
    for size in _SIZES:
        at = page.place
        for _ in range(_DEEPEST):
            small = page.sums[at, 0] < size
            if not small.any():
                break
            at = np.where(small, page.parent[at], at)
        found |= _described(page, f"size{size}", at)
        found[f"size{size}_depth"] = page.depth[page.place] - page.depth[at]
        found[f"size{size}_tag"] = page.tag[at]
    return found


def _entry_columns(page: Measures) -> dict[str, Any]:
    """The nearest ancestor that resembles its siblings: an entry of a list, a card, a post."""
    np, at = page.np, page.place
    for _ in range(_DEEPEST):
        alone = (page.siblings[at] < 3) & (page.parent[at] != at)
        if not alone.any():
            break
        at = np.where(alone, page.parent[at], at)
    return {
        **_described(page, "entry", at),
        "entry_siblings": page.siblings[at],
        **_described(page, "entries", page.parent[at]),
    }


def _described(page: Measures, name: str, at: Ints) -> dict[str, Any]:
    """The description of the element `at[i]` for each block i."""
    return dict(zip((f"{name}_{feature}" for feature in _DESCRIBED), page.described[:, at], strict=True))


def _neighbour_columns(page: Measures) -> dict[str, Any]:
    """The block on each side, and sums over the blocks within some distance."""
    np, n = page.np, len(page.words)
    where = np.arange(n)
    found: dict[str, Any] = {}
    for name, values in (("words", page.words), ("tag", page.tag[page.place])):
        padded = np.concatenate([[-1], values, [-1]])
        found |= {f"{name}-1": padded[:-2], f"{name}+1": padded[2:]}
    for width in (3, 8, 20):
        low, high = np.maximum(0, where - width), np.minimum(n, where + width + 1)
        sums = page.running[high] - page.running[low]
        words = np.maximum(1, sums[:, 0])
        found[f"window{width}_words"] = sums[:, 0]
        found[f"window{width}_links"] = sums[:, 1] / words
        found[f"window{width}_found"] = sums[:, 2] / words
    return found


def _heading_columns(page: Measures) -> dict[str, Any]:
    """The last heading above each block."""
    np, n, tags = page.np, len(page.words), page.tag[page.place]
    where = np.arange(n)
    headings = np.isin(tags, [TAG_NUMBER[f"h{level}"] for level in range(1, 7)])
    last = np.maximum.accumulate(np.where(headings, where, -1))
    h1 = np.flatnonzero(tags == TAG_NUMBER["h1"])
    return {
        "since_heading": where - last,
        "heading_level": np.where(last >= 0, tags[last], 0),
        "heading_found": np.where(last >= 0, page.found[last], -1),
        "since_h1": where - h1[0] if len(h1) else np.full(n, -999),
    }


def _alike_columns(page: Measures) -> dict[str, Any]:
    """Sums over all blocks in elements with the same tags and classes."""
    np = page.np
    _, group = np.unique([page.signature[place] for place in page.place], return_inverse=True)
    words = np.bincount(group, page.words)[group]
    return {
        "alike_words": words,
        "alike_links": np.bincount(group, page.link_words)[group] / np.maximum(1, words),
        "alike_found": np.bincount(group, page.found * page.words)[group] / np.maximum(1, words),
        "alike_count": np.bincount(group)[group],
    }


def _page_columns(page: Measures) -> dict[str, Any]:
    """Features of the whole page, the same for each block."""
    np, total, n = page.np, page.running[-1], len(page.words)
    words = max(1, total[0])
    tags = page.tag[page.place]
    values = {
        "page_words": total[0],
        "page_blocks": n,
        "page_links": total[1] / words,
        "page_found": total[2] / words,
        "page_stops": total[4] / n,
        **{f"page_{tag}": page.words[tags == TAG_NUMBER[tag]].sum() / words for tag in ("p", "li", "td", "pre")},
        "page_articles": (page.tag == TAG_NUMBER["article"]).sum(),
        "page_main": (page.tag == TAG_NUMBER["main"]).sum(),
    }
    return {name: np.full(n, value) for name, value in values.items()}


def _count(text: str, is_counted: Callable[[str], bool], counted_ascii: bytes) -> int:
    """The number of characters of a class in a text; `counted_ascii` are the ASCII characters of the class."""
    if text.isascii():
        return len(text) - len(text.encode("ascii").translate(None, counted_ascii))
    return sum(map(is_counted, text))


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]


MOST_LEAVES = 16
_AT_ONCE = 100
"""Rows per batch, so that intermediate tables fit into the processor's cache."""


@dataclass(frozen=True, slots=True)
class Trees:
    """All trees side by side, as `tools/train_block_filter.py` writes them.

    Evaluates all nodes of all trees at once instead of walking down each tree: the leaves of a tree are the bits of a
    number, each node whose value is above the threshold excludes the leaves on its left, and the result is the first
    remaining leaf (Lucchese et al., "QuickScorer", 2015).

    Attributes:
        features: the names of the columns, in order.
        feature, threshold, left: shape (trees, nodes): the column to compare, the highest value that goes left, and
            the leaves on the left as bits.
        value: shape (trees, leaves): the score of each leaf.
        first: the lowest bit that is set in each number of MOST_LEAVES bits.
    """

    features: tuple[str, ...]
    feature: Any
    threshold: Any
    left: Any
    value: Any
    first: Any

    def probabilities(self, rows: Floats) -> Floats:
        """The probability of each row of `rows`, shape (rows, features), from 0 to 1."""
        import numpy as np

        scores = [self._scores(rows[start : start + _AT_ONCE]) for start in range(0, len(rows), _AT_ONCE)]
        likely: Floats = 1 / (1 + np.exp(-np.concatenate([np.zeros(0), *scores])))
        return likely

    def _scores(self, rows: Floats) -> Floats:
        import numpy as np

        # Each value of a feature is beside those of the other blocks: that is three times as fast as a row per block.
        above = rows.T[self.feature] > self.threshold[:, :, None]
        ruled_out = np.bitwise_or.reduce(np.where(above, self.left[:, :, None], np.uint16(0)), axis=1)
        leaves = self.first[~ruled_out]
        scores: Floats = self.value[np.arange(len(self.value))[:, None], leaves].sum(axis=0)
        return scores


@lru_cache
def load(name: str) -> Trees:
    """The trees of `NAME.json`, which ships beside this module."""
    import numpy as np

    file = json.loads(resources.files(__package__).joinpath(f"{name}.json").read_text("utf-8"))
    numbers = np.arange(1 << MOST_LEAVES)
    first = np.zeros(len(numbers), dtype=np.int8)
    for leaf in reversed(range(MOST_LEAVES)):
        first[numbers >> leaf & 1 == 1] = leaf
    return Trees(
        features=tuple(file["features"]),
        feature=np.array(file["feature"], dtype=np.int32),
        threshold=np.array(file["threshold"], dtype=np.float32),
        left=np.array(file["left"], dtype=np.uint16),
        value=np.array(file["value"], dtype=np.float32),
        first=first,
    )
