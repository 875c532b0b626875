"""The part of a text that answers a query, within a number of tokens. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from itertools import chain

from websearch_gateway.base import (
    LINK,
    UNSPACED,
    Block,
    blocks,
    code_blocks,
    estimate_tokens,
    lines,
    sentences_of,
)
from websearch_gateway.docs.search.sections import HeldWord, beginnings_of, held_words
from websearch_gateway.evidence import window

LEAST_CODE = 80
"""With fewer tokens left, a code block that does not fit is left out."""

NOTE = "[Cut: read_docs with the section_id gives all of it.]"

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")


def excerpt(
    markdown: str, terms: Collection[str], most_tokens: int, names: Collection[str] = ()
) -> str:
    """The text, or the run of its sentences and code around the one that has most of `terms`, with a note.

    It begins with the text if that has as many of them; else with the heading of that section if half of the room holds
    all until then; and never inside code.

    Args:
        terms: tokens of the query, see `tokenization`.
        most_tokens: the limit, as `estimate_tokens` counts. A longer sentence is cut between words, code between lines.
        names: names in the query that the text defines; a line that begins with one matters most.
    """
    if estimate_tokens(markdown) <= most_tokens:
        return markdown
    found = list(blocks(markdown))
    size = _size_in(markdown)
    room = most_tokens - estimate_tokens(f"\n\n{NOTE}")
    if not found or room <= 0:
        return _cut(markdown, 0, room)
    held = held_words(markdown, beginnings_of(terms))
    best = _best(markdown, [(block.start, block.end) for block in found], held, names)
    if (
        best
        and not names
        and _reached(markdown, 0, room, held) >= _reached(markdown, found[best].start, room, held)
    ):
        best, held = 0, []  # what introduces a section explains the rest of it
    own = _units(markdown, found[best])
    fitting = [unit for unit in own if size(*unit) <= room]
    if not fitting:
        return _cut(markdown, own[0][0], room, names)
    first = own.index(fitting[_best(markdown, fitting, held, names)])
    start, end = own[first]
    heading = next(
        (block.start for block in reversed(found[: best + 1]) if block.kind == "heading"), start
    )
    if size(heading, end) <= room // 2:
        start = heading
    # Split lazily, only as many blocks as fit: finding sentences takes most of the time.
    after = chain(
        own[first + 1 :], (unit for block in found[best + 1 :] for unit in _units(markdown, block))
    )
    before_last = end
    for begin, stop in after:  # text after the best sentence is more useful than text before it
        if size(start, stop) > room:
            left = most_tokens - size(start, begin)
            if left >= LEAST_CODE and _FENCE.match(markdown, begin):
                return markdown[start:begin] + _cut(
                    markdown, begin, left - estimate_tokens(f"\n\n{NOTE}")
                )
            if markdown.endswith(":", start, end):  # without the code or list that it announces
                end = before_last
            break
        before_last, end = end, stop
    before = (
        unit for block in reversed(found[: best + 1]) for unit in reversed(_units(markdown, block))
    )
    for begin, _ in before:
        if size(begin, end) > room:
            break
        start = min(start, begin)
    return f"{markdown[start:end]}\n\n{NOTE}"


_UNSPACED = re.compile(rf"[{UNSPACED}]")


def _size_in(text: str) -> Callable[[int, int], int]:
    """`estimate_tokens` of parts of a text; it reads them only if the text has characters that are a token each."""
    if text.isascii() or not _UNSPACED.search(text):
        return lambda start, end: (end - start + 3) // 4
    return lambda start, end: estimate_tokens(text[start:end])


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
    """The lines of a code block from the one that defines or names one of `names` on, else from its start; or the first
    words of a text; with a note.
    """
    if fence := _FENCE.match(markdown, start):
        opening = markdown[start : markdown.find("\n", start) + 1]
        rest = markdown[start + len(opening) :]
        closing = re.search(rf"^[ \t]*{re.escape(fence[1])}", rest, re.MULTILINE)
        body = rest[: closing.start()] if closing else rest
        first = _line_of(body, names) if names else 0
        room -= estimate_tokens(f"{opening}\n{fence[1]}")
        while (
            first
            and estimate_tokens(body[(earlier := body.rfind("\n", 0, first - 1) + 1) :]) <= room
        ):
            first = earlier  # the end of the code leaves room for lines before the name
        shown = _window(body, first, room).strip("\n") if room > 0 and opening else ""
        if first + len(shown) < len(body.rstrip()):  # without a part of a line
            shown = shown.rpartition("\n")[0] or shown
        return f"{opening}{shown.rstrip()}\n{fence[1]}\n\n{NOTE}" if shown else ""
    piece = _window(markdown, start, room).strip() if room > 0 else ""
    return f"{piece}\n\n{NOTE}" if piece else ""


_IN_USE = "await|case|elif|else|if|in|new|not|or|and|raise|return|throw|while|yield"


def _line_of(code: str, names: Collection[str]) -> int:
    """Where the line begins that defines one of the names: after words such as `def` or `static int`, before a bracket,
    a colon or `=`. Else that of the first use; 0 without any.
    """
    any_name = "|".join(map(re.escape, names))
    declared = rf"^[ \t]*+(?!(?:{_IN_USE})\b)(?:[\w*&:<>\[\],.@]++[ \t]++){{1,6}}?[*&]*(?:{any_name})[ \t]*[({{<:=]"
    found = re.search(declared, code, re.MULTILINE) or re.search(
        rf"(?<!\w)(?:{any_name})(?!\w)", code
    )
    return code.rfind("\n", 0, found.end()) + 1 if found else 0


def _reached(markdown: str, start: int, room: int, held: Sequence[HeldWord]) -> int:
    """How many of the terms stand in the text that fits from `start` on."""
    end = start + len(_window(markdown, start, room))
    return len({term for at, term in held if start <= at < end})


def _window(text: str, start: int, room: int) -> str:
    """As much text as fits: a token has four characters, in some scripts one."""
    piece = window(text, start, 4 * room)[0]
    return piece if estimate_tokens(piece) <= room else window(text, start, room)[0]


def _units(markdown: str, block: Block) -> list[tuple[int, int]]:
    """The sentences or rows of a block; code is one unit."""
    return (
        [(block.start, block.end)] if block.kind == "code" else list(sentences_of(markdown, block))
    )


def _best(
    markdown: str,
    spans: Sequence[tuple[int, int]],
    held: Sequence[HeldWord],
    names: Collection[str],
) -> int:
    """The place of the first span with the most terms; a definition counts more than all terms."""
    starts = [start for start, _ in spans]
    found: list[set[str]] = [set() for _ in spans]
    for at, term in held:
        place = max(0, bisect_right(starts, at) - 1)
        if starts[0] <= at < spans[place][1]:
            found[place].add(term)
    score = [len(terms) for terms in found]
    if names:
        defines = re.compile(
            rf"(?:[*`@|\s]|\*[a-z ]+\*)*(?:{'|'.join(map(re.escape, names))})(?![\w-])"
        )
        for place, (start, end) in enumerate(spans):
            if not _FENCE.match(markdown, start):  # code assigns to names and calls them
                score[place] += (len(held) + 1) * any(
                    defines.match(markdown, *line) for line in lines(markdown, start, end)
                )
    return max(range(len(score)), key=lambda place: (score[place], -place))
