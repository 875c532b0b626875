"""The features of the blocks of a page, by which boosted trees judge how likely each belongs to the main text.

A feature is an entry "name: how it is computed", with one value per block or one for all. The names and values are what
the trees were trained on (`tools/train_block_filter.py`): if you change one, train them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from websearch_gateway.pages.extraction import trees
from websearch_gateway.pages.extraction.measures import (
    HEADING_TAGS,
    MOSTLY_LINKS,
    SENTENCE,
    Measures,
)

if TYPE_CHECKING:
    from websearch_gateway.pages.extraction.measures import Floats, Ints

Columns = dict[str, Any]
"""Each feature by its name, with one value per block or one for all."""

LINE = 5
"""The least number of words of a block that says where the text ends, if another extractor chose it."""

_LIKELY, _CHOSEN = 0.6, 0.5
"""The likelihood from which a block counts as text, and the share to count as the other extractor's choice."""

_NEVER = 999
"""The distance from what a page does not have."""


class Features:
    """The features of a page for two judgements: of each block by itself, and in the light of the first one.

    Attributes:
        alone: the features for the first judgement.
    """

    def __init__(self, page: Measures) -> None:
        self._page = page
        self.alone: Columns = (
            _of_block(page)
            | _of_elements_around(page)
            | _of_headings(page)
            | _of_prose(page)
            | _of_candidate(page)
        )

    def later(self, likely: Floats, opinion: Floats) -> Columns:
        """The features for the second judgement.

        Args:
            likely: how likely each block belongs to the main text by itself.
            opinion: the share of each block that another extractor chose.
        """
        return (
            self.alone
            | _of_neighbours(likely)
            | _of_distances(self._page, likely, opinion)
            | _of_agreement(self._page, likely, opinion)
            | _of_surroundings(self._page, "likely", likely)
            | _of_surroundings(self._page, "found", opinion)
        )

    def likelihoods(self) -> Floats:
        """How likely each block belongs to the main text by itself, from 0 to 1."""
        return self._judged("block_filter_alone", self.alone)

    def reconsidered(self, likely: Floats, opinion: Floats) -> Floats:
        """The likelihoods in the light of those of other blocks, and of another extractor's choice, as `later`."""
        return self._judged("block_filter", self.later(likely, opinion))

    def _judged(self, name: str, columns: Columns) -> Floats:
        return trees.load(name).probabilities(columns, len(self._page.words))


_KINDS = ("", "article", "product", "thread")
"""What a page can declare itself to be; the feature is the index."""


def _of_block(page: Measures) -> Columns:
    """The block itself, those like it and beside it, the names around it, and the whole page."""
    np, tags = page.np, page.tags
    alike = page.alike[page.place]
    return {
        "words": page.words,
        "link_share": page.link_share,
        "links": page.links,
        "titled": page.titled,
        "repeats": page.repeats,
        "stops": page.stops,
        "tag": tags,
        "tag+1": np.append(tags[1:], -1),
        "words_before": page.running[:-1, 0] / page.total_words,
        "in_nav": page.around(page.has_tag("nav")),
        "in_header": page.around(page.has_tag("header")),
        "in_footer": page.around(page.has_tag("footer")),
        "in_aside": page.around(page.has_tag("aside")),
        "in_main": page.around(page.has_tag("main")),
        "alike_words": np.bincount(alike, page.words)[alike],
        "alike_count": np.bincount(alike)[alike],
        **_of_page(page),
        "name_nav": _named(page, "nav"),
        "name_foot": _named(page, "foot"),
        "name_comment": _named(page, "comment"),
        "name_popup": _named(page, "popup"),
        "name_content": _named(page, "content"),
        **_of_window(page, 3),
        **_of_window(page, 8),
    }


def _of_page(page: Measures) -> Columns:
    """What is the same for all blocks of a page."""
    words, linked, _, stops, blocks = page.running[-1]
    in_paragraphs = page.words[page.is_in("p")].sum()
    in_items = page.words[page.is_in("li")].sum()
    return {
        "declared": _KINDS.index(page.kind),
        "page_words": words,
        "page_blocks": blocks,
        "page_links": linked / page.total_words,
        "page_stops": stops / blocks,
        "page_p": in_paragraphs / page.total_words,
        "page_li": in_items / page.total_words,
        "page_article": page.has_tag("article").sum(),
        "page_main": page.has_tag("main").sum(),
    }


def _named(page: Measures, name: str) -> Any:
    """Which elements around each block have such a name: 1 any, 2 the nearest or its parent, 3 both."""
    is_near = page.is_named_near(name)[page.place]
    is_around = page.around(page.is_named(name)) > 0
    return 2 * is_near + is_around


def _of_window(page: Measures, width: int) -> Columns:
    """The words of so many blocks before and after each, and the share of them that is in links."""
    sums = _windowed(page.running, width)
    words, linked = sums[:, 0], sums[:, 1]
    return {
        f"window{width}_words": words,
        f"window{width}_links": linked / page.np.maximum(1, words),
    }


def _windowed(running: Floats, width: int) -> Floats:
    """The sums over the blocks up to so many places before and after each block, given the sums before each block."""
    import numpy as np

    blocks = len(running) - 1
    where = np.arange(blocks)
    first = np.maximum(0, where - width)
    end = np.minimum(blocks, where + width + 1)
    sums: Floats = running[end] - running[first]
    return sums


def _of_elements_around(page: Measures) -> Columns:
    """Each element around a block: the nearest, those of many words, the one like its siblings, and the list of it."""
    np = page.np
    words, linked, in_paragraphs, stops, blocks = page.sums.T
    least_one_word, least_one_block = np.maximum(1, words), np.maximum(1, blocks)
    of_element = {
        "mean": words / least_one_block,
        "share": words / page.total_words,
        "links": linked / least_one_word,
        "paragraphs": in_paragraphs / least_one_word,
        "stops": stops / least_one_block,
        "words": words,
        "siblings": page.siblings,
    }
    table = np.array(list(of_element.values()))
    columns: Columns = {}
    for name, elements in _elements_around(page):
        for feature, values in zip(of_element, table[:, elements], strict=True):
            columns[f"{name}_{feature}"] = values
    return columns


def _elements_around(page: Measures) -> Iterator[tuple[str, Ints]]:
    """The elements around each block, by name, as an index for each block."""
    elements = page.place
    for level in range(4):
        yield f"up{level}", elements
        elements = page.parent[elements]
    for size in (300, 1000):
        yield f"size{size}", _nearest(page, page.sums[:, 0] >= size)
    entry = _nearest(page, page.siblings >= 3)
    yield "entry", entry
    yield "entries", page.parent[entry]


_DEEPEST = 64
"""How many elements are passed on the way up: the deepest of a thousand real pages has 56 levels."""


def _nearest(page: Measures, is_sought: Any) -> Ints:
    """For each block the nearest element around it that is sought, or the root."""
    elements: Ints = page.place
    for _ in range(_DEEPEST):
        climbs = ~is_sought[elements] & (page.parent[elements] != elements)
        if not climbs.any():
            break
        elements = page.np.where(climbs, page.parent[elements], elements)
    return elements


_TITLED = 0.6
"""The least share of a heading's words that are in the title if it is the heading of the page."""


def _of_headings(page: Measures) -> Columns:
    """The last heading, the one that is the title, those of sections of related texts, and comments."""
    np, blocks, tags = page.np, len(page.tags), page.tags
    where = np.arange(blocks)
    is_heading = np.isin(tags, HEADING_TAGS)
    last_heading = np.maximum.accumulate(np.where(is_heading, where, -1))
    h1 = np.flatnonzero(page.is_in("h1"))
    titles = np.flatnonzero(is_heading & (page.titled >= _TITLED))
    best_title = titles[np.argmax(page.titled[titles])] if len(titles) else None

    is_related = is_heading & page.related
    last_related = np.maximum.accumulate(np.where(is_related, where, -_NEVER))
    begins_related = is_related[np.minimum(page.start, blocks - 1)] & (page.end > page.start + 1)
    is_less_than_half = page.sums[:, 0] < 0.5 * page.running[-1, 0]
    comments = page.start[page.is_named_near("comment") & (page.end > page.start)]
    first_comment = comments.min() if len(comments) else blocks
    return {
        "since_heading": where - last_heading,
        "heading_level": np.where(last_heading >= 0, tags[last_heading], 0),
        "since_h1": where - h1[0] if len(h1) else -_NEVER,
        "since_title": -_NEVER if best_title is None else where - best_title,
        "in_related": page.around(begins_related & is_less_than_half),
        "since_related": where - last_related,
        "since_comments": where - first_comment,
    }


def _of_prose(page: Measures) -> Columns:
    """The longest run of prose, the levels up and down from its middle to the block, and the boxes and lines after
    that, which look like the end of the text."""
    where = page.np.arange(len(page.words))
    first, last = _longest_prose(page)
    middle = _middle(page, first, last)
    common = page.around(_is_above(page, middle))  # the depth of the innermost element around both
    words_before = page.running[:, 0]
    return {
        **_since_ends(page, middle),
        "core": (where >= first) & (where <= last),
        "core_share": (words_before[last + 1] - words_before[first]) / page.total_words,
        "levels_up": page.depth[page.place[middle]] - common,
        "levels_down": page.depth[page.place] - common,
    }


_BREAK = 12.0
"""The number of words that a block without prose subtracts from a run of prose."""


def _longest_prose(page: Measures) -> tuple[int, int]:
    """The first and the last block of the run with the most words of prose, less _BREAK for each block between."""
    np = page.np
    total = np.cumsum(np.where(page.is_prose, page.words, -_BREAK))
    before = np.concatenate([[0.0], total[:-1]])
    last = int(np.argmax(total - np.minimum.accumulate(before)))
    first = last - int(np.argmin(before[: last + 1][::-1]))
    return first, last


def _middle(page: Measures, first: int, last: int) -> int:
    """The block with the word in the middle of a run of blocks."""
    words_before = page.running[:, 0]
    half = (words_before[first] + words_before[last + 1]) / 2
    middle = int(page.np.searchsorted(words_before, half)) - 1
    return min(last, max(first, middle))


def _is_above(page: Measures, block: int) -> Any:
    """For each element, whether it is around a block."""
    is_above = page.np.zeros(len(page.parent), dtype=bool)
    element = int(page.place[block])
    while not is_above[element]:  # the root is its own parent
        is_above[element] = True
        element = int(page.parent[element])
    return is_above


_SMALL = 0.3
"""An element with less than this share of the page's words may be a box after the text."""

_LABEL_WORDS = 12
"""The most words of a line after the text."""


def _since_ends(page: Measures, middle: int) -> Columns:
    """How far each block is behind the first box and the first line after the text's middle that look like its end."""
    where = page.np.arange(len(page.words))
    is_small = page.sums[:, 0] < _SMALL * page.total_words
    is_box = is_small & (page.end > page.start) & (page.start > middle)
    is_line = (page.words <= _LABEL_WORDS) & (where > middle)

    def since_box(name: str) -> Any:
        return _since_first(page, page.start[is_box & page.is_named_near(name)])

    return {
        "end_foot": since_box("foot"),
        "end_share": since_box("share"),
        "end_related": since_box("related"),
        "end_subscribe": since_box("subscribe"),
        "end_author": since_box("author"),
        "end_words_share": _since_first(page, where[is_line & page.share]),
        "end_words_replies": _since_first(page, where[is_line & page.replies]),
        "end_words_related": _since_first(page, where[is_line & page.related]),
    }


def _since_first(page: Measures, places: Ints) -> Any:
    """How far each block is behind the first of some places."""
    return page.np.arange(len(page.words)) - places[0] if len(places) else -_NEVER


def _of_candidate(page: Measures) -> Columns:
    """The element whose own paragraphs contain the most prose, and the position of each block relative to it.

    As in Readability: prose counts for the element around its paragraph, and half for the one around that.
    """
    np, where = page.np, page.np.arange(len(page.words))
    is_long_text = (page.link_share < MOSTLY_LINKS) & (page.words >= SENTENCE)
    gained = np.where(is_long_text, page.words * (1 + page.stops), 0.0)
    holder = np.where(page.is_in("p"), page.parent[page.place], page.place)
    score = np.bincount(holder, gained, minlength=len(page.parent))
    score += 0.5 * np.bincount(page.parent[holder], gained, minlength=len(page.parent))
    best = int(np.argmax(score))
    start, end = int(page.start[best]), int(page.end[best])
    distance = np.where(where < start, where - start, np.where(where >= end, where - end + 1, 0))
    return {
        "candidate": distance == 0,
        "candidate_distance": distance,
        "candidate_share": page.sums[best, 0] / page.total_words,
    }


def _of_neighbours(likely: Floats) -> Columns:
    """How likely the blocks beside each one are; -1 beyond the page."""
    import numpy as np

    blocks = len(likely)
    padded = np.pad(likely, 2, constant_values=-1)
    return {
        "likely-2": padded[:blocks],
        "likely-1": padded[1 : 1 + blocks],
        "likely+1": padded[3 : 3 + blocks],
        "likely+2": padded[4 : 4 + blocks],
    }


def _of_distances(page: Measures, likely: Floats, opinion: Floats) -> Columns:
    """How far it is to the blocks that are likely, and to those that another extractor chose."""
    np, where = page.np, page.np.arange(len(likely))
    is_likely = (likely > _LIKELY) & (page.words >= SENTENCE)
    since_likely, until_likely = _distances(is_likely, np)
    likely_places = np.flatnonzero(is_likely)
    last_likely = likely_places[-1] if len(likely_places) else len(likely) - 1

    since_chosen, until_chosen = _distances(opinion >= _CHOSEN, np)
    chosen_places = np.flatnonzero((opinion > _CHOSEN) & (page.words >= LINE))
    return {
        "since_last_likely": where - last_likely,
        "since_likely": since_likely,
        "until_likely": until_likely,
        "since_found": since_chosen,
        "until_found": until_chosen,
        "since_last_found": where - chosen_places[-1] if len(chosen_places) else -_NEVER,
    }


_FARTHEST = 99
"""Every larger distance is as far: the text is elsewhere."""


def _distances(marked: Any, np: Any) -> tuple[Ints, Ints]:
    """How many blocks ago the last marked one was, and how far off the next one is; at most _FARTHEST."""
    where = np.arange(len(marked))
    last = np.maximum.accumulate(np.where(marked, where, -_FARTHEST))
    beyond = len(where) + _FARTHEST
    following = np.minimum.accumulate(np.where(marked, where, beyond)[::-1])[::-1]
    return np.minimum(_FARTHEST, where - last), np.minimum(_FARTHEST, following - where)


def _of_agreement(page: Measures, likely: Floats, opinion: Floats) -> Columns:
    """The share of the likely words that another extractor chose, that of its choice that is likely, and how much of
    both follows."""
    likely_words = page.words * likely
    chosen_words = page.words * opinion
    both = likely_words * opinion
    return {
        "both_of_likely": both.sum() / max(1.0, likely_words.sum()),
        "both_of_found": both.sum() / max(1.0, chosen_words.sum()),
        "both_follow": 1 - page.np.cumsum(both) / max(1.0, both.sum()),
    }


def _of_surroundings(page: Measures, name: str, values: Floats) -> Columns:
    """The values of the blocks, and their means by words over blocks alike, the blocks beside, and the elements around."""
    np, words = page.np, page.words
    alike = page.alike[page.place]
    mean_alike = np.bincount(alike, words * values) / np.maximum(1, np.bincount(alike, words))
    running = np.zeros((len(words) + 1, 2))
    np.cumsum(np.column_stack([words, words * values]), axis=0, out=running[1:])
    mean_below = _mean(running[page.end] - running[page.start])
    nearest, parent = page.place, page.parent[page.place]
    return {
        name: values,
        f"{name}_alike": mean_alike[alike],
        f"{name}_window3": _mean(_windowed(running, 3)),
        f"{name}_up0": mean_below[nearest],
        f"{name}_up1": mean_below[parent],
        f"{name}_up2": mean_below[page.parent[parent]],
    }


def _mean(sums: Floats) -> Any:
    """The means of values by words, given the sums of the words and of the values times words."""
    import numpy as np

    return sums[:, 1] / np.maximum(1, sums[:, 0])
