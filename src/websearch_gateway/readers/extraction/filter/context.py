"""Features of each block from the rest of the page: where the prose is, which heading is above, what is a teaser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from websearch_gateway.readers.extraction.filter.lexicon import TAGS

if TYPE_CHECKING:
    from websearch_gateway.readers.extraction.filter.features import Features, Floats, Ints

_HEADINGS = [1 + TAGS.index(f"h{level}") for level in range(1, 7)]
_P, _H1 = 1 + TAGS.index("p"), 1 + TAGS.index("h1")
_COMMENTS, _RELATED = 4, 8
"""The indices of these hints in `lexicon.NAME_HINTS` and in its word lists."""

_BREAK = 12.0
"""What a block without prose subtracts from a run of prose, in words."""

_TITLED = 0.6


def context_columns(features: Features) -> dict[str, Floats]:
    """Named columns with one value per block."""
    return {
        **_prose_columns(features),
        **_heading_columns(features),
        **_teaser_columns(features),
        **_candidate_columns(features),
    }


def _prose_columns(features: Features) -> dict[str, Floats]:
    """The longest run of prose on the page, and the distance of each block from it."""
    np, words = features.np, features.words
    where = np.arange(len(words))
    prose = (features.stops > 0) & (features.link_share < 0.5) & (words >= 8)
    gains = np.where(prose, words, -_BREAK)
    total = np.cumsum(gains)
    lowest = np.minimum.accumulate(np.concatenate([[0.0], total[:-1]]))
    last = int(np.argmax(total - lowest))
    before = np.concatenate([[0.0], total[:-1]])[: last + 1]
    first = last - int(np.argmin(before[::-1]))
    outside = np.where(where < first, where - first, np.where(where > last, where - last, 0))
    running = features.running[:, 0]
    between = np.where(where > last, running[where] - running[last + 1], 0.0)
    return {
        "core": (outside == 0).astype(float),
        "core_distance": outside,
        "core_words_since": between,
        "core_share": np.full(len(words), (running[last + 1] - running[first]) / max(1.0, running[-1])),
        "core_depth": features.depth[features.place] - np.median(features.depth[features.place[first : last + 1]]),
    }


def _heading_columns(features: Features) -> dict[str, Floats]:
    """The heading that is the title, later ones of the same level, and sections whose heading says "related"."""
    np, n = features.np, len(features.words)
    where, tags = np.arange(n), features.tag[features.place]
    headings = np.isin(tags, _HEADINGS)
    titled = np.flatnonzero(headings & (features.titled >= _TITLED))
    title = int(titled[np.argmax(features.titled[titled])]) if len(titled) else -1
    level = tags[title] if title >= 0 else _H1
    second = headings & (tags == level) & (where > title)
    related = headings & (features.hints >> _RELATED & 1 == 1)
    first_block = np.minimum(features.start, n - 1)
    opens = related[first_block] & (features.end > features.start + 1)
    small = features.sums[:, 0] < 0.5 * max(1.0, features.running[-1, 0])
    within = _inherited(features, opens & small)
    comments = (features.near >> _COMMENTS & 1 == 1) & (features.end > features.start)
    begins = int(features.start[comments].min()) if comments.any() else n
    return {
        "since_title": where - title if title >= 0 else np.full(n, -999),
        "same_level_headings": np.cumsum(second),
        "in_related": within[features.place],
        "since_related": where - np.maximum.accumulate(np.where(related, where, -999)),
        "since_comments": where - begins,
    }


def _inherited(features: Features, flags: Floats) -> Floats:
    """For each container, whether it or an ancestor has the flag. Parents come before their children."""
    inside = flags.tolist()
    for place, parent in enumerate(features.parent.tolist()):
        inside[place] = inside[place] or inside[parent]
    flagged: Floats = features.np.array(inside, dtype=float)
    return flagged


def _teaser_columns(features: Features) -> dict[str, Floats]:
    """Linked headings, lines that are nothing but a link, and paragraphs, in the elements around a block."""
    np, n = features.np, len(features.words)
    tags = features.tag[features.place]
    linked = features.link_share > 0.8
    quantities = (
        linked & np.isin(tags, _HEADINGS),
        linked & (features.words >= 4),
        np.where(tags == _P, features.words, 0.0),
        np.ones(n),
    )
    running = np.zeros((n + 1, len(quantities)))
    np.cumsum(np.column_stack(quantities), axis=0, out=running[1:])
    sums = running[features.end] - running[features.start]
    columns: dict[str, Floats] = {}
    at = features.parent[features.place]
    for level in range(1, 5):
        _teasers(columns, f"up{level}", features, sums, at)
        at = features.parent[at]
    where = np.arange(n)
    for width in (5, 15):
        low, high = np.maximum(0, where - width), np.minimum(n, where + width + 1)
        part = running[high] - running[low]
        columns[f"window{width}_linked_headings"] = part[:, 0]
        columns[f"window{width}_linked_lines"] = part[:, 1] / part[:, 3]
    return columns


def _teasers(columns: dict[str, Floats], name: str, features: Features, sums: Floats, at: Ints) -> None:
    np = features.np
    columns[f"{name}_linked_headings"] = sums[at, 0]
    columns[f"{name}_linked_lines"] = sums[at, 1] / np.maximum(1, sums[at, 3])
    columns[f"{name}_paragraphs"] = sums[at, 2] / np.maximum(1, features.sums[at, 0])


def _candidate_columns(features: Features) -> dict[str, Floats]:
    """The element whose own paragraphs contain the most prose, and the position of each block relative to it."""
    np, tags = features.np, features.tag[features.place]
    prose = (features.link_share < 0.5) & (features.words >= 8)
    holder = np.where(tags == _P, features.parent[features.place], features.place)
    gained = np.where(prose, features.words * (1 + features.stops), 0.0)
    score = np.bincount(holder, gained, minlength=len(features.parent))
    score += 0.5 * np.bincount(features.parent[holder], gained, minlength=len(features.parent))
    best = int(np.argmax(score))
    where = np.arange(len(tags))
    start, end = int(features.start[best]), int(features.end[best])
    outside = np.where(where < start, where - start, np.where(where >= end, where - end + 1, 0))
    return {
        "candidate": (outside == 0).astype(float),
        "candidate_distance": outside,
        "candidate_child": (holder == best).astype(float),
        "candidate_depth": features.depth[features.place] - features.depth[best],
        "candidate_share": np.full(len(tags), features.sums[best, 0] / max(1.0, features.running[-1, 0])),
    }
