"""Finds the part of a section that answers a query, cut to a token limit between sentences or lines. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import chain

from websearch_gateway.text.chunk import window
from websearch_gateway.text.markdown import LINK, Block, blocks, code_blocks, lines
from websearch_gateway.text.sentences import sentences_of
from websearch_gateway.text.tokens import estimate_tokens

NOTE = "[Cut: read_docs with the section_id gives all of it.]"

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")


def excerpt(markdown: str, terms: Collection[str], most_tokens: int, names: Collection[str] = ()) -> str:
    """The text, or the run of its sentences and code around the one that has most of `terms`, with a note.

    It begins with the heading of that section if half of the room holds all until then, and never inside code.

    Args:
        terms: tokens of the query, see `text.tokens`.
        most_tokens: the limit, as `estimate_tokens` counts. A longer sentence is cut between words, code between lines.
        names: names in the query that the text defines; a line that begins with one matters most.
    """
    if estimate_tokens(markdown) <= most_tokens:
        return markdown
    found = list(blocks(markdown))
    room = most_tokens - estimate_tokens(f"\n\n{NOTE}")
    if not found or room <= 0:
        return _cut(markdown, 0, room)
    best = _best(markdown, [(block.start, block.end) for block in found], terms, names)
    own = _units(markdown, found[best])
    fitting = [unit for unit in own if estimate_tokens(markdown[slice(*unit)]) <= room]
    if not fitting:
        return _cut(markdown, own[0][0], room, names)
    first = own.index(fitting[_best(markdown, fitting, terms, names)])
    start, end = own[first]
    heading = next((block.start for block in reversed(found[: best + 1]) if block.kind == "heading"), start)
    if estimate_tokens(markdown[heading:end]) <= room // 2:
        start = heading
    # Split lazily, only as many blocks as fit: finding sentences takes most of the time.
    after = chain(own[first + 1 :], (unit for block in found[best + 1 :] for unit in _units(markdown, block)))
    before_last = end
    for _, stop in after:  # text after the best sentence is more useful than text before it
        if estimate_tokens(markdown[start:stop]) > room:
            if markdown.endswith(":", start, end):  # without the code or list that it announces
                end = before_last
            break
        before_last, end = end, stop
    before = (unit for block in reversed(found[: best + 1]) for unit in reversed(_units(markdown, block)))
    for begin, _ in before:
        if estimate_tokens(markdown[begin:end]) > room:
            break
        start = min(start, begin)
    return f"{markdown[start:end]}\n\n{NOTE}"


def place_of(markdown: str, terms: Collection[str], names: Collection[str] = ()) -> int:
    """Where the block begins that has most of `terms`."""
    spans = [(block.start, block.end) for block in blocks(markdown)]
    return spans[_best(markdown, spans, terms, names)][0] if spans else 0


def without_links(markdown: str) -> str:
    """The text of links without their addresses. Code stays as it is."""
    if "](" not in markdown:
        return markdown
    parts, at = [], 0
    for start, end in code_blocks(markdown):
        parts += [LINK.sub(r"\1", markdown[at:start]), markdown[start:end]]
        at = end
    return "".join([*parts, LINK.sub(r"\1", markdown[at:])])


def _cut(markdown: str, start: int, room: int, names: Collection[str] = ()) -> str:
    """The lines of a code block from the first with one of `names` on, else from its start, or the first words of a
    text, with a note.
    """
    if fence := _FENCE.match(markdown, start):
        opening = markdown[start : markdown.find("\n", start) + 1]
        rest = markdown[start + len(opening) :]
        closing = re.search(rf"^[ \t]*{re.escape(fence[1])}", rest, re.MULTILINE)
        body = rest[: closing.start()] if closing else rest
        named = re.search(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", body) if names else None
        first = body.rfind("\n", 0, named.start()) + 1 if named else 0
        room -= estimate_tokens(f"{opening}\n{fence[1]}")
        while first and estimate_tokens(body[(earlier := body.rfind("\n", 0, first - 1) + 1) :]) <= room:
            first = earlier  # the end of the code leaves room for lines before the name
        shown = _window(body, first, room).strip("\n") if room > 0 and opening else ""
        if first + len(shown) < len(body.rstrip()):  # without a part of a line
            shown = shown.rpartition("\n")[0] or shown
        return f"{opening}{shown.rstrip()}\n{fence[1]}\n\n{NOTE}" if shown else ""
    piece = _window(markdown, start, room).strip() if room > 0 else ""
    return f"{piece}\n\n{NOTE}" if piece else ""


def _window(text: str, start: int, room: int) -> str:
    """As much text as fits: a token has four characters, in some scripts one."""
    piece = window(text, start, 4 * room)[0]
    return piece if estimate_tokens(piece) <= room else window(text, start, room)[0]


def _units(markdown: str, block: Block) -> list[tuple[int, int]]:
    """The sentences or rows of a block; code is one unit."""
    return [(block.start, block.end)] if block.kind == "code" else list(sentences_of(markdown, block))


def _best(markdown: str, spans: Sequence[tuple[int, int]], terms: Collection[str], names: Collection[str]) -> int:
    """The place of the first span with the most terms; a definition counts more than all terms."""
    starts = [start for start, _ in spans]
    held: list[set[str]] = [set() for _ in spans]
    for match in _any_of(frozenset(terms)).finditer(markdown, starts[0], spans[-1][1]):
        place = max(0, bisect_right(starts, match.start()) - 1)
        if match.start() < spans[place][1]:
            held[place].add(match[0].lower())
    score = [len(found) for found in held]
    if names:
        defines = re.compile(rf"(?:[*`@|\s]|\*[a-z ]+\*)*(?:{'|'.join(map(re.escape, names))})(?![\w-])")
        for place, (start, end) in enumerate(spans):
            score[place] += len(terms) * any(defines.match(markdown, *line) for line in lines(markdown, start, end))
    return max(range(len(score)), key=lambda place: (score[place], -place))


@lru_cache(maxsize=64)
def _any_of(terms: frozenset[str]) -> re.Pattern[str]:
    """Matches words that begin with these stems; a stem's last letter may differ (`query`, `queri`)."""
    stems = [re.escape(term.removesuffix("i")) for term in sorted(terms, key=len, reverse=True)]
    spaced = [stem for stem in stems if stem.isascii()]
    unspaced = [stem for stem in stems if not stem.isascii()]
    spaced = [rf"(?<![^\W_])(?:{'|'.join(spaced)})"] if spaced else []
    return re.compile("|".join([*spaced, *unspaced]) or r"(?!)", re.IGNORECASE)
