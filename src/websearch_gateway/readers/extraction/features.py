"""The numeric features of each block of a page, and how likely they make it part of the main text."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from websearch_gateway.readers.extraction.blocks import (
    CONTACT,
    NAME_HINTS,
    RELATED,
    REPLIES,
    SHARE,
    SUBSCRIBE,
    TAG_NUMBER,
    TAGS,
    WITHIN,
    Measures,
)

if TYPE_CHECKING:
    from websearch_gateway.readers.extraction.blocks import Floats, Ints


_SIZES = (30, 100, 300, 1000)
_LEVELS = 4
_DESCRIBED = ("words", "share", "links", "commas", "stops", "mean", "siblings")
"""The features of an element around a block, in the order of `Measures.described`."""
_UPPER, _DIGITS = string.ascii_uppercase.encode(), string.digits.encode()
_DEEPEST = 64


def likelihoods(page: Measures) -> Floats:
    """How likely each block belongs to the main text, from 0 to 1."""
    trees = load("block_filter_alone")
    return trees.probabilities(matrix(columns(page), trees.features))


def reconsidered(page: Measures, alone: Floats, found: Floats, *, is_article: bool) -> Floats:
    """The likelihoods in the light of those of other blocks, and of another extractor's choice.

    Args:
        alone: the likelihoods of the blocks by themselves.
        found: the share of each block that the other extractor chose.
        is_article: whether the page declares itself an article.
    """
    trees = load("block_filter")
    values = columns(page) | later_columns(page, alone, found, is_article=is_article)
    return trees.probabilities(matrix(values, trees.features))


def matrix(values: Mapping[str, Any], features: Sequence[str]) -> Floats:
    """The features of each block: shape (blocks, features), float32."""
    import numpy as np

    table: Floats = np.empty((len(features), len(next(iter(values.values())))), np.float32)
    for row, name in zip(table, features, strict=True):
        row[:] = values[name]
    return table.T


def columns(page: Measures) -> dict[str, Any]:
    """Each feature of a block by itself by name, with one value per block."""
    if not page.columns:
        page.columns = {
            **_own_columns(page),
            **_name_columns(page),
            **_level_columns(page),
            **_entry_columns(page),
            **_neighbour_columns(page),
            **_heading_columns(page),
            **_alike_columns(page),
            **_page_columns(page),
            **context_columns(page),
        }
    return page.columns


def _own_columns(page: Measures) -> dict[str, Any]:
    np, n = page.np, len(page.words)
    heads = [block.text[:200] for block in page.outline.blocks]
    return {
        "words": page.words,
        "chars_per_word": page.chars / np.maximum(1, page.words),
        "link_share": page.link_share,
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
        "since_h1": where - h1[0] if len(h1) else np.full(n, -999),
    }


def _alike_columns(page: Measures) -> dict[str, Any]:
    """Sums over all blocks in elements with the same tags and classes."""
    np = page.np
    group = page.alike[page.place]
    words = np.bincount(group, page.words)[group]
    return {
        "alike_words": words,
        "alike_links": np.bincount(group, page.link_words)[group] / np.maximum(1, words),
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
        "page_stops": total[3] / n,
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


_HEADINGS = [1 + TAGS.index(f"h{level}") for level in range(1, 7)]
_P, _H1 = 1 + TAGS.index("p"), 1 + TAGS.index("h1")
_COMMENTS = 4
"""Its index in `lexicon.NAME_HINTS`."""

_BREAK = 12.0
"""The number of words that a block without prose subtracts from a run of prose."""

_TITLED = 0.6
"""The least share of a heading's words that are in the title if it is the heading of the page."""

_SMALL = 0.3
"""An element with less than this share of the page's words may be a box after the text."""

_LABEL_WORDS = 12
_END_NAMES = {"foot": 1, "share": 6, "related": 7, "subscribe": 10, "card": 16, "author": 17}


_END_WORDS = {"subscribe": SUBSCRIBE, "share": SHARE, "replies": REPLIES, "related": RELATED, "contact": CONTACT}
"""The hints of `lexicon` that often stand in the names and in the short lines of what follows a text."""

_NEVER = 999


def context_columns(page: Measures) -> dict[str, Floats]:
    """Named columns with one value per block."""
    first, last = _core(page)
    return {
        **_prose_columns(page, first, last),
        **_ending_columns(page, first, last),
        **_section_columns(page),
        **_teaser_columns(page),
        **_candidate_columns(page),
    }


def _core(page: Measures) -> tuple[int, int]:
    """The first and last block of the longest run of prose on the page, which is the core of its text."""
    np, words = page.np, page.words
    prose = (page.stops > 0) & (page.link_share < 0.5) & (words >= 8)
    total = np.cumsum(np.where(prose, words, -_BREAK))
    before = np.concatenate([[0.0], total[:-1]])
    last = int(np.argmax(total - np.minimum.accumulate(before)))
    return last - int(np.argmin(before[: last + 1][::-1])), last


def _prose_columns(page: Measures, first: int, last: int) -> dict[str, Floats]:
    """The distance of each block from the core."""
    np, running = page.np, page.running[:, 0]
    where = np.arange(len(page.words))
    outside = np.where(where < first, where - first, np.where(where > last, where - last, 0))
    return {
        "core": (outside == 0).astype(float),
        "core_distance": outside,
        "core_words_since": np.where(where > last, running[where] - running[last + 1], 0.0),
        "core_share": np.full(len(where), (running[last + 1] - running[first]) / max(1.0, running[-1])),
        "core_depth": page.depth[page.place] - np.median(page.depth[page.place[first : last + 1]]),
    }


def _ending_columns(page: Measures, first: int, last: int) -> dict[str, Floats]:
    """The distance from the first box or line after the middle of the core that looks like the end of the text, and
    the levels up and down from the middle of the core to the block."""
    np, running = page.np, page.running[:, 0]
    where = np.arange(len(page.words))
    middle = min(last, max(first, int(np.searchsorted(running, (running[first] + running[last + 1]) / 2)) - 1))
    boxes = (page.sums[:, 0] < _SMALL * max(1.0, running[-1])) & (page.end > page.start) & (page.start > middle)
    lines = (page.words <= _LABEL_WORDS) & (where > middle)
    begins = {f"end_{name}": page.start[boxes & (page.near >> bit & 1 == 1)] for name, bit in _END_NAMES.items()}
    for name, bit in _END_WORDS.items():
        begins[f"end_words_{name}"] = where[lines & (page.hints >> bit & 1 == 1)]
    shared, parents = page.depth.tolist(), page.parent.tolist()
    around = {place := int(page.place[middle])}
    while (place := parents[place]) not in around:
        around.add(place)
    for place, parent in enumerate(parents):  # the depth of the innermost element that also holds the middle
        if place not in around:
            shared[place] = shared[parent]
    common = np.array(shared)[page.place]
    return {
        **{name: where - begin[0] if len(begin) else np.full(len(where), -_NEVER) for name, begin in begins.items()},
        "levels_up": page.depth[page.place[middle]] - common,
        "levels_down": page.depth[page.place] - common,
    }


def _section_columns(page: Measures) -> dict[str, Floats]:
    """The heading that is the title, later ones of its level, sections whose heading says "related", and comments."""
    np, n = page.np, len(page.words)
    where, tags = np.arange(n), page.tag[page.place]
    headings = np.isin(tags, _HEADINGS)
    titled = np.flatnonzero(headings & (page.titled >= _TITLED))
    title = int(titled[np.argmax(page.titled[titled])]) if len(titled) else -1
    level = tags[title] if title >= 0 else _H1
    second = headings & (tags == level) & (where > title)
    related = headings & (page.hints >> RELATED & 1 == 1)
    first_block = np.minimum(page.start, n - 1)
    opens = related[first_block] & (page.end > page.start + 1)
    small = page.sums[:, 0] < 0.5 * max(1.0, page.running[-1, 0])
    within = _inherited(page, opens & small)
    comments = (page.near >> _COMMENTS & 1 == 1) & (page.end > page.start)
    begins = int(page.start[comments].min()) if comments.any() else n
    return {
        "since_title": where - title if title >= 0 else np.full(n, -999),
        "same_level_headings": np.cumsum(second),
        "in_related": within[page.place],
        "since_related": where - np.maximum.accumulate(np.where(related, where, -999)),
        "since_comments": where - begins,
    }


def _inherited(page: Measures, flags: Floats) -> Floats:
    """For each container, whether it or an ancestor has the flag. Parents come before their children."""
    inside = flags.tolist()
    for place, parent in enumerate(page.parent.tolist()):
        inside[place] = inside[place] or inside[parent]
    flagged: Floats = page.np.array(inside, dtype=float)
    return flagged


def _teaser_columns(page: Measures) -> dict[str, Floats]:
    """Linked headings, lines that are nothing but a link, and paragraphs, in the elements around a block."""
    np, n = page.np, len(page.words)
    tags = page.tag[page.place]
    linked = page.link_share > 0.8
    quantities = (
        linked & np.isin(tags, _HEADINGS),
        linked & (page.words >= 4),
        np.where(tags == _P, page.words, 0.0),
        np.ones(n),
    )
    running = np.zeros((n + 1, len(quantities)))
    np.cumsum(np.column_stack(quantities), axis=0, out=running[1:])
    sums = running[page.end] - running[page.start]
    columns: dict[str, Floats] = {}
    at = page.parent[page.place]
    for level in range(1, 5):
        _teasers(columns, f"up{level}", page, sums, at)
        at = page.parent[at]
    where = np.arange(n)
    for width in (5, 15):
        low, high = np.maximum(0, where - width), np.minimum(n, where + width + 1)
        part = running[high] - running[low]
        columns[f"window{width}_linked_headings"] = part[:, 0]
        columns[f"window{width}_linked_lines"] = part[:, 1] / part[:, 3]
    return columns


def _teasers(columns: dict[str, Floats], name: str, page: Measures, sums: Floats, at: Ints) -> None:
    np = page.np
    columns[f"{name}_linked_headings"] = sums[at, 0]
    columns[f"{name}_linked_lines"] = sums[at, 1] / np.maximum(1, sums[at, 3])
    columns[f"{name}_paragraphs"] = sums[at, 2] / np.maximum(1, page.sums[at, 0])


def _candidate_columns(page: Measures) -> dict[str, Floats]:
    """The element whose own paragraphs contain the most prose, and the position of each block relative to it."""
    np, tags = page.np, page.tag[page.place]
    prose = (page.link_share < 0.5) & (page.words >= 8)
    holder = np.where(tags == _P, page.parent[page.place], page.place)
    gained = np.where(prose, page.words * (1 + page.stops), 0.0)
    score = np.bincount(holder, gained, minlength=len(page.parent))
    score += 0.5 * np.bincount(page.parent[holder], gained, minlength=len(page.parent))
    best = int(np.argmax(score))
    where = np.arange(len(tags))
    start, end = int(page.start[best]), int(page.end[best])
    outside = np.where(where < start, where - start, np.where(where >= end, where - end + 1, 0))
    return {
        "candidate": (outside == 0).astype(float),
        "candidate_distance": outside,
        "candidate_depth": page.depth[page.place] - page.depth[best],
        "candidate_share": np.full(len(tags), page.sums[best, 0] / max(1.0, page.running[-1, 0])),
    }


_LIKELY = 0.6
"""The likelihood from which on a block is taken for a part of the text."""

_CHOSEN = 0.5
"""The share of a block from which on it counts as chosen by the other extractor."""

_SENTENCE, _LINE = 8, 5
"""The least number of words of a block that says where the text begins and ends, by its likelihood or that choice."""


def later_columns(page: Measures, alone: Floats, found: Floats, *, is_article: bool) -> dict[str, Any]:
    """Each feature of a block among the others by name, with one value per block.

    Args:
        alone: how likely each block is by itself.
        found: the share of each block that another extractor chose.
    """
    return {
        **_likely_columns(page, alone),
        **_likely_around_columns(page, alone),
        **_found_columns(page, found),
        **_agreement_columns(page, alone, found),
        "declared": page.np.full(len(alone), float(is_article)),
    }


def _likely_columns(page: Measures, alone: Floats) -> dict[str, Any]:
    """The likelihoods of a block and of those beside it, and the way to the likely ones."""
    np, n = page.np, len(alone)
    where = np.arange(n)
    likely = (alone > _LIKELY) & (page.words >= _SENTENCE)
    places = np.flatnonzero(likely)
    first, last = (places[0], places[-1]) if len(places) else (0, n - 1)
    tags = page.tag[page.place]
    heading = np.maximum.accumulate(np.where(np.isin(tags, _HEADINGS), where, -1))
    return {
        "likely": alone,
        **_beside("likely", alone, 3, np),
        "likely_heading": np.where(heading >= 0, alone[np.maximum(0, heading)], -1),
        "since_last_likely": where - last,
        "since_first_likely": where - first,
        "gap_before": np.minimum(99, where - np.maximum.accumulate(np.where(likely, where, -99))),
        "gap_after": np.minimum(99, np.minimum.accumulate(np.where(likely, where, n + 99)[::-1])[::-1] - where),
    }


def _likely_around_columns(page: Measures, alone: Floats) -> dict[str, Any]:
    """How likely the words before, after and around a block are."""
    np, n, words = page.np, len(alone), page.words
    where = np.arange(n)
    running = np.zeros((n + 1, 2))
    np.cumsum(np.column_stack([words, words * alone]), axis=0, out=running[1:])
    total = max(1.0, running[-1, 1])
    columns = {
        "likely_before": running[:-1, 1] / total,
        "likely_after": (running[-1, 1] - running[1:, 1]) / total,
        "likely_words": np.full(n, running[-1, 1]),
    }
    for name, before, after in _STRETCHES:
        low = where + 1 if before < 0 else np.maximum(0, where - before)
        high = where if after < 0 else np.minimum(n, where + after + 1)
        part = running[high] - running[low]
        columns[f"likely_{name}"] = part[:, 1] / np.maximum(1, part[:, 0])
    sums, at = running[page.end] - running[page.start], page.place
    for level in range(_LEVELS):
        columns[f"likely_up{level}"] = sums[at, 1] / np.maximum(1, sums[at, 0])
        columns[f"likely_up{level}_share"] = sums[at, 1] / total
        at = page.parent[at]
    group = page.alike[page.place]
    columns["likely_alike"] = np.bincount(group, words * alone)[group] / np.maximum(1, np.bincount(group, words)[group])
    return columns


_STRETCHES = (
    *(("window2", 2, 2), ("window5", 5, 5), ("window15", 15, 15)),
    *(("next5", -1, 5), ("next20", -1, 20), ("last5", 5, -1), ("last20", 20, -1)),
)
"""Blocks before and after a block; -1: also without the block itself."""


def _found_columns(page: Measures, found: Floats) -> dict[str, Any]:
    """The other extractor's choice in a block, beside it, and in the elements around it."""
    np, n, words = page.np, len(found), page.words
    where = np.arange(n)
    running = np.concatenate([[0.0], np.cumsum(found * words)])
    sums = (running[page.end] - running[page.start]) / np.maximum(1, page.sums[:, 0])
    group, tags = page.alike[page.place], page.tag[page.place]
    heading = np.maximum.accumulate(np.where(np.isin(tags, _HEADINGS), where, -1))
    chosen = found >= _CHOSEN
    before = np.maximum.accumulate(np.where(chosen, where, -_NEVER))
    after = np.minimum.accumulate(np.where(chosen, where, n + _NEVER)[::-1])[::-1]
    columns = {
        "found": found,
        **_beside("found", found, 2, np),
        "found_heading": np.where(heading >= 0, found[np.maximum(0, heading)], -1),
        "found_alike": np.bincount(group, found * words)[group] / np.maximum(1, np.bincount(group, words)[group]),
        "found_page": np.full(n, running[-1] / max(1.0, words.sum())),
        "found_follows": (running[-1] - running[1:]) / max(1.0, running[-1]),
        "since_found": np.minimum(_NEVER, where - before),
        "until_found": np.minimum(_NEVER, after - where),
    }
    for width in (3, 8, 20):
        low, high = np.maximum(0, where - width), np.minimum(n, where + width + 1)
        some = np.maximum(1, page.running[high, 0] - page.running[low, 0])
        columns[f"found_window{width}"] = (running[high] - running[low]) / some
    at = page.place
    for level in range(_LEVELS):
        columns[f"found_up{level}"] = sums[at]
        at = page.parent[at]
    return columns


def _agreement_columns(page: Measures, alone: Floats, found: Floats) -> dict[str, Any]:
    """Where the other extractor's choice begins and ends, and how far it agrees with what is likely."""
    np, n, words = page.np, len(found), page.words
    where = np.arange(n)
    prose = page.running[:, 0] - page.running[:, 1]
    long = np.flatnonzero((found > _CHOSEN) & (words >= _LINE))
    first, last = (long[0], long[-1]) if len(long) else (-1, -1)
    both = np.cumsum(words * alone * found)
    return {
        "found_in_span": np.full(n, (found * words).sum() / max(1.0, prose[last + 1] - prose[first])),
        "since_first_found": where - first if first >= 0 else np.full(n, -_NEVER),
        "since_last_found": where - last if last >= 0 else np.full(n, -_NEVER),
        "both_follow": (both[-1] - both) / max(1.0, both[-1]),
        "both_of_likely": np.full(n, both[-1] / max(1.0, (words * alone).sum())),
        "both_of_found": np.full(n, both[-1] / max(1.0, (words * found).sum())),
    }


def _beside(name: str, values: Floats, farthest: int, np: Any) -> dict[str, Any]:
    """The value of each of the nearest blocks, -1 beyond the page."""
    n, beyond = len(values), np.full(farthest, -1.0)
    padded = np.concatenate([beyond, values, beyond])
    places = [place for place in range(-farthest, farthest + 1) if place]
    return {f"{name}{place:+}": padded[farthest + place : farthest + place + n] for place in places}


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
