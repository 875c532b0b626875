"""Features of each block from the rest of its page: the prose, the headings, the teasers, the end of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from websearch_gateway.readers.extraction.filter.lexicon import CONTACT, RELATED, REPLIES, SHARE, SUBSCRIBE, TAGS

if TYPE_CHECKING:
    from websearch_gateway.readers.extraction.filter.measures import Floats, Ints, Measures

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

_OPINION = 0.5
"""The share of a block from which on it counts as chosen by the other extractor."""

_NEVER = 999


def context_columns(page: Measures) -> dict[str, Floats]:
    """Named columns with one value per block."""
    first, last = _core(page)
    return {
        **_prose_columns(page, first, last),
        **_ending_columns(page, first, last),
        **_opinion_columns(page),
        **_heading_columns(page),
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


def _opinion_columns(page: Measures) -> dict[str, Floats]:
    """The way to the next and the last block that the other extractor chose, and how much of its choice follows."""
    np = page.np
    where = np.arange(len(page.words))
    chosen = page.found >= _OPINION
    long = np.flatnonzero(chosen & (page.words >= 5))
    begin, end = (int(long[0]), int(long[-1]) + 1) if len(long) else (0, 0)
    before = np.maximum.accumulate(np.where(chosen, where, -_NEVER))
    after = np.minimum.accumulate(np.where(chosen, where, len(where) + _NEVER)[::-1])[::-1]
    found, prose = page.running[:, 2], page.running[:, 0] - page.running[:, 1]
    span = found[-1] / max(1.0, prose[end] - prose[begin])
    return {
        "found_follows": (found[-1] - found[1:]) / max(1.0, found[-1]),
        "found_in_span": np.full(len(where), span),
        "before_found": np.maximum(0, begin - where),
        "since_found": np.minimum(_NEVER, where - before),
        "until_found": np.minimum(_NEVER, after - where),
    }


def _heading_columns(page: Measures) -> dict[str, Floats]:
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
