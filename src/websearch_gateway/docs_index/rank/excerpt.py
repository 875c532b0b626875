"""Finds the part of a section that answers a query, cut to a token limit between sentences or lines. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from websearch_gateway.text.citation.sentences import sentences_of
from websearch_gateway.text.markdown import Block, blocks, lines
from websearch_gateway.text.retrieval.tokens import estimate_tokens
from websearch_gateway.text.retrieval.windows import window

NOTE = "[Cut: read_docs with the section_id gives all of it.]"

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")


@dataclass(frozen=True, slots=True)
class _Unit:
    """`text[start:end]` is a sentence, a row or a line of code; `fence` is the first line of the block of code."""

    start: int
    end: int
    fence: str = ""


def excerpt(markdown: str, terms: Collection[str], most_tokens: int, names: Collection[str] = ()) -> str:
    """The text, or the run of its sentences and lines around the one that has most of `terms`, with a note.

    Args:
        terms: tokens of the query, see `text.retrieval.tokens`.
        most_tokens: the limit, as `estimate_tokens` counts. A longer sentence is cut between words.
        names: names in the query that the text defines; a line that begins with one matters most.
    """
    if estimate_tokens(markdown) <= most_tokens:
        return markdown
    units, first = _around_best(markdown, terms, names, 4 * most_tokens)
    if not units:
        return _cut_words(markdown, 0, most_tokens)
    last = first
    if estimate_tokens(_joined(markdown, units[first : last + 1])) > most_tokens:
        return _cut_words(markdown, units[first].start, most_tokens)
    room = most_tokens - estimate_tokens(_joined(markdown, units[first : last + 1]))
    for step in (1, -1):  # Text after the best sentence is more useful than text before it.
        while 0 <= (following := (last if step > 0 else first) + step) < len(units):
            edge = units[last].end if step > 0 else units[following].start
            until = units[following].end if step > 0 else units[first].start
            cost = estimate_tokens(markdown[edge:until])
            if units[following].fence != units[last if step > 0 else first].fence:
                cost += estimate_tokens(2 * units[following].fence) + 2
            if cost > room:
                break
            first, last = min(first, following), max(last, following)
            room -= cost
    return _joined(markdown, units[first : last + 1])


def _cut_words(markdown: str, start: int, most_tokens: int) -> str:
    room = most_tokens - estimate_tokens(f"\n\n{NOTE}")
    piece = window(markdown, start, room)[0].strip() if room > 0 else ""  # A token has at least one character.
    return f"{piece}\n\n{NOTE}" if piece else ""


def _around_best(markdown: str, terms: Collection[str], names: Collection[str], reach: int) -> tuple[list[_Unit], int]:
    """The units of the best block and of blocks within `reach` characters of it, and the index of the best unit. The
    others are not split, since finding sentences takes most of the time of a cut.
    """
    found = list(blocks(markdown))
    if not found:
        return [], 0
    place = _best(markdown, [(block.start, block.end) for block in found], terms, names)
    low, high = found[place].start - reach, found[place].end + reach
    near = [(number, block) for number, block in enumerate(found) if block.end > low and block.start < high]
    own = [unit for number, block in near if number == place for unit in _units(markdown, block)]
    before = [unit for number, block in near if number < place for unit in _units(markdown, block)]
    after = [unit for number, block in near if number > place for unit in _units(markdown, block)]
    units = [*before, *own, *after]
    if not own:  # fences without a line between them
        return units, max(0, min(len(before), len(units) - 1))
    return units, len(before) + _best(markdown, [(unit.start, unit.end) for unit in own], terms, names)


def _units(markdown: str, block: Block) -> Iterator[_Unit]:
    for start, end in sentences_of(markdown, block):
        fence = _FENCE.match(markdown, start, end)
        if not fence or "\n" not in markdown[start:end]:
            yield _Unit(start, end)
            continue
        inside = list(lines(markdown, start, end))
        opening = markdown[slice(*inside[0])]
        closed = markdown[slice(*inside[-1])].startswith(fence[1])
        for at, to in inside[1 : -1 if closed else None]:
            yield _Unit(_line_start(markdown, at), to, opening)


def _line_start(markdown: str, at: int) -> int:
    return markdown.rfind("\n", 0, at) + 1


def _best(markdown: str, spans: Sequence[tuple[int, int]], terms: Collection[str], names: Collection[str]) -> int:
    """The first span with the most terms; a definition counts more than all terms."""
    starts = [start for start, _ in spans]
    held: list[set[str]] = [set() for _ in spans]
    for match in _any_of(frozenset(terms)).finditer(markdown, starts[0], spans[-1][1]):
        held[max(0, bisect_right(starts, match.start()) - 1)].add(match[0].lower())
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


def _joined(markdown: str, units: list[_Unit]) -> str:
    """Neighbouring units in their original form, code between its fences, and the note."""
    first, last = units[0], units[-1]
    text = markdown[first.start : last.end]
    if first.fence:
        text = f"{first.fence}\n{text}"
    if last.fence:
        fence = _FENCE.match(last.fence)
        text = f"{text}\n{fence[1] if fence else ''}"
    return f"{text}\n\n{NOTE}"
