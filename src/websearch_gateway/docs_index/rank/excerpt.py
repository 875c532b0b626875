"""Finds the part of a section that answers a query, cut to a token limit between sentences or lines. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from websearch_gateway.text.citation.sentences import sentences_of
from websearch_gateway.text.markdown import Block, blocks, lines
from websearch_gateway.text.retrieval.tokens import estimate_tokens
from websearch_gateway.text.retrieval.windows import window

NOTE = "[Cut: read_docs with the section_id gives all of it.]"

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")


@dataclass(frozen=True, slots=True)
class _Unit:
    """`text[start:end]` is a sentence, a row or a line of code; `fence` is the first line of its code block."""

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
    found = list(blocks(markdown))
    if not found:
        return _cut_words(markdown, 0, most_tokens)
    spans = [(block.start, block.end) for block in found]
    best = _best(markdown, spans, terms, names)
    own = list(_units(markdown, found[best]))
    if not own:  # fences without a line between them
        return _cut_words(markdown, found[best].start, most_tokens)
    whole = [unit for unit in own if estimate_tokens(_joined(markdown, [unit])) <= most_tokens] or own
    first = own.index(whole[_best(markdown, [(unit.start, unit.end) for unit in whole], terms, names)])
    # Split lazily, only as many blocks as fit: finding sentences takes most of the time.
    after = chain(own[first + 1 :], (unit for block in found[best + 1 :] for unit in _units(markdown, block)))
    before = chain(
        reversed(own[:first]),
        (unit for block in reversed(found[:best]) for unit in reversed(list(_units(markdown, block)))),
    )
    taken = _extended(markdown, own[first], after, before, most_tokens)
    return _joined(markdown, taken) if taken else _cut_words(markdown, own[first].start, most_tokens)


def _extended(
    markdown: str, best: _Unit, after: Iterable[_Unit], before: Iterable[_Unit], most_tokens: int
) -> list[_Unit]:
    """A unit and those around it that fit, in order; empty if it does not fit itself."""
    taken = [best]
    room = most_tokens - estimate_tokens(_joined(markdown, taken))
    if room < 0:
        return []
    for following in (after, before):  # Text after the best sentence is more useful than text before it.
        is_after = following is after
        for unit in following:
            edge = taken[-1] if is_after else taken[0]
            piece = markdown[edge.end : unit.end] if is_after else markdown[unit.start : edge.start]
            cost = estimate_tokens(piece)
            if unit.fence != edge.fence:
                cost += estimate_tokens(2 * unit.fence) + 2
            if cost > room:
                break
            taken.insert(len(taken) if is_after else 0, unit)
            room -= cost
    return taken


def _cut_words(markdown: str, start: int, most_tokens: int) -> str:
    room = most_tokens - estimate_tokens(f"\n\n{NOTE}")
    piece = window(markdown, start, room)[0].strip() if room > 0 else ""  # A token has at least one character.
    return f"{piece}\n\n{NOTE}" if piece else ""


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
