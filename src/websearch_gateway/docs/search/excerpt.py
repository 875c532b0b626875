"""The part of a text that answers a query, within a number of tokens. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from itertools import starmap
from typing import NamedTuple

from websearch_gateway.base import (
    LINK,
    Block,
    blocks,
    code_blocks,
    estimate_tokens,
    has_unspaced,
    lines,
    sentences_of,
)
from websearch_gateway.docs.search.sections import HeldWord, beginnings_of, held_words
from websearch_gateway.evidence import window

LEAST_CODE = 80
"""With fewer tokens left, a code block that does not fit is left out."""

NOTE = "[Cut: read_docs with the section_id gives all of it.]"
NOTE_TOKENS = estimate_tokens(f"\n\n{NOTE}")

_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")


class _Span(NamedTuple):
    """A part of a text, such as a sentence, a row or a block of code."""

    start: int
    end: int


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
    room = most_tokens - NOTE_TOKENS
    all_blocks = list(blocks(markdown))
    if not all_blocks or room <= 0:
        return _cut(markdown, 0, room)
    held = held_words(markdown, beginnings_of(terms))
    best = _best(markdown, all_blocks, held, names)
    if best and not names:
        at_first = _reached(markdown, 0, room, held)
        if at_first >= _reached(markdown, all_blocks[best].start, room, held):
            best, held = 0, []  # what introduces a section explains the rest of it
    size = _size_in(markdown)
    units = _units(markdown, all_blocks[best])
    fitting = [unit for unit in units if size(unit.start, unit.end) <= room]
    if not fitting:
        return _cut(markdown, units[0].start, room, names)
    best_unit = fitting[_best(markdown, fitting, held, names)]
    start = _heading_before(all_blocks[: best + 1], best_unit.start)
    if size(start, best_unit.end) > room // 2:
        start = best_unit.start
    rest: list[_Span | Block] = [*units[units.index(best_unit) + 1 :], *all_blocks[best + 1 :]]
    end, code = _end(markdown, _Span(start, best_unit.end), rest, most_tokens)
    if code is not None:
        left = most_tokens - size(start, code) - NOTE_TOKENS
        return markdown[start:code] + _cut(markdown, code, left)
    start = _earliest_start(markdown, start, end, all_blocks[: best + 1], room)
    return f"{markdown[start:end]}\n\n{NOTE}"


def _heading_before(earlier: Sequence[Block], start: int) -> int:
    """Where the last heading of these blocks begins; `start` without any."""
    for block in reversed(earlier):
        if block.kind == "heading":
            return block.start
    return start


def _end(
    markdown: str, shown: _Span, rest: Sequence[_Span | Block], most_tokens: int
) -> tuple[int, int | None]:
    """The end of the text that fits after what is shown, and where code begins of which a part still fits, if it does.

    Text after the best sentence is more useful than text before it.

    Args:
        rest: what follows. Only the block that does not fit is split: finding sentences takes most of the time.
    """
    size = _size_in(markdown)
    room = most_tokens - NOTE_TOKENS
    fitting: list[_Span | Block] = [shown]
    for part in rest:
        if size(shown.start, part.end) <= room:
            fitting.append(part)
            continue
        for unit in _split(markdown, part):
            if size(shown.start, unit.end) <= room:
                fitting.append(unit)
                continue
            left = most_tokens - size(shown.start, unit.start)
            end = fitting[-1].end
            if left >= LEAST_CODE and _FENCE.match(markdown, unit.start):
                return end, unit.start
            if markdown.endswith(
                ":", shown.start, end
            ):  # without the code or list that it announces
                return _end_before_last(markdown, fitting), None
            return end, None
    return fitting[-1].end, None


def _end_before_last(markdown: str, fitting: Sequence[_Span | Block]) -> int:
    """The end of the last unit but one; of the only one without another."""
    units = _split(markdown, fitting[-1])
    if len(units) > 1:
        return units[-2].end
    before_last = fitting[-2:][0]
    return before_last.end


def _split(markdown: str, part: _Span | Block) -> list[_Span]:
    return _units(markdown, part) if isinstance(part, Block) else [part]


def _earliest_start(
    markdown: str, start: int, end: int, earlier: Sequence[Block], room: int
) -> int:
    """Where the text may begin so that all until `end` fits."""
    size = _size_in(markdown)
    for block in reversed(earlier):
        if size(block.start, end) <= room:
            start = min(start, block.start)
            continue
        for unit in reversed(_units(markdown, block)):
            if size(unit.start, end) > room:
                return start
            start = min(start, unit.start)
    return start


def _size_in(text: str) -> Callable[[int, int], int]:
    """`estimate_tokens` of parts of a text; it reads them only if the text has characters that are a token each."""
    if not has_unspaced(text):
        return lambda start, end: (end - start + 3) // 4
    return lambda start, end: estimate_tokens(text[start:end])


def without_links(markdown: str) -> str:
    """The text of links without their addresses. Code stays as it is."""
    if "](" not in markdown:
        return markdown
    parts, at = [], 0
    for start, end in code_blocks(markdown):
        parts.append(LINK.sub(r"\1", markdown[at:start]))
        parts.append(markdown[start:end])
        at = end
    parts.append(LINK.sub(r"\1", markdown[at:]))
    return "".join(parts)


def _cut(markdown: str, start: int, room: int, names: Collection[str] = ()) -> str:
    """The lines of a code block from the one that defines or names one of `names` on, else from its start; or the first
    words of a text; with a note.
    """
    if fence := _FENCE.match(markdown, start):
        piece = _cut_code(markdown, start, fence[1], room, names)
    else:
        piece = _window(markdown, start, room).strip() if room > 0 else ""
    return f"{piece}\n\n{NOTE}" if piece else ""


def _cut_code(markdown: str, start: int, fence: str, room: int, names: Collection[str]) -> str:
    """Some lines of the code block that begins at `start`, between its fences; empty without room for any."""
    opening = markdown[start : markdown.find("\n", start) + 1]
    rest = markdown[start + len(opening) :]
    closing = re.search(rf"^[ \t]*{re.escape(fence)}", rest, re.MULTILINE)
    body = rest[: closing.start()] if closing else rest
    room -= estimate_tokens(f"{opening}\n{fence}")
    if room <= 0 or not opening:
        return ""
    first = _line_of(body, names) if names else 0
    while first:  # the end of the code may leave room for lines before the name
        earlier = body.rfind("\n", 0, first - 1) + 1
        if estimate_tokens(body[earlier:]) > room:
            break
        first = earlier
    shown = _window(body, first, room).strip("\n")
    if first + len(shown) < len(body.rstrip()):  # without a part of a line
        shown = shown.rpartition("\n")[0] or shown
    return f"{opening}{shown.rstrip()}\n{fence}" if shown else ""


_IN_USE = "await|case|elif|else|if|in|new|not|or|and|raise|return|throw|while|yield"


def _line_of(code: str, names: Collection[str]) -> int:
    """Where the line begins that defines one of the names: after words such as `def` or `static int`, before a bracket,
    a colon or `=`. Else that of the first use; 0 without any.
    """
    any_name = "|".join(map(re.escape, names))
    declared = rf"^[ \t]*+(?!(?:{_IN_USE})\b)(?:[\w*&:<>\[\],.@]++[ \t]++){{1,6}}?[*&]*(?:{any_name})[ \t]*[({{<:=]"
    used = rf"(?<!\w)(?:{any_name})(?!\w)"
    match = re.search(declared, code, re.MULTILINE) or re.search(used, code)
    return code.rfind("\n", 0, match.end()) + 1 if match else 0


def _reached(markdown: str, start: int, room: int, held: Sequence[HeldWord]) -> int:
    """How many of the terms stand in the text that fits from `start` on."""
    end = start + len(_window(markdown, start, room))
    return len({word.stem for word in held if start <= word.offset < end})


def _window(text: str, start: int, room: int) -> str:
    """As much text as fits: a token has four characters, in some scripts one."""
    piece = window(text, start, 4 * room)[0]
    return piece if estimate_tokens(piece) <= room else window(text, start, room)[0]


def _units(markdown: str, block: Block) -> list[_Span]:
    """The sentences or rows of a block; code is one unit."""
    if block.kind == "code":
        return [_Span(block.start, block.end)]
    return list(starmap(_Span, sentences_of(markdown, block)))


def _best(
    markdown: str, spans: Sequence[_Span | Block], held: Sequence[HeldWord], names: Collection[str]
) -> int:
    """The place of the first span with the most terms; a definition counts more than all terms."""
    counts = _terms_in(spans, held)
    if names:
        any_name = "|".join(map(re.escape, names))
        defining = re.compile(rf"(?:[*`@|\s]|\*[a-z ]+\*)*(?:{any_name})(?![\w-])")
        for place, span in enumerate(spans):
            if _defines(markdown, span, defining):
                counts[place] += len(held) + 1
    return counts.index(max(counts))


def _terms_in(spans: Sequence[_Span | Block], held: Sequence[HeldWord]) -> list[int]:
    """How many different terms each span holds."""
    starts = [span.start for span in spans]
    terms: list[set[str]] = [set() for _ in spans]
    for word in held:
        place = max(0, bisect_right(starts, word.offset) - 1)
        if starts[0] <= word.offset < spans[place].end:
            terms[place].add(word.stem)
    return [len(stems) for stems in terms]


def _defines(markdown: str, span: _Span | Block, defining: re.Pattern[str]) -> bool:
    """Whether a line of prose begins with a definition; code assigns to names and calls them."""
    if _FENCE.match(markdown, span.start):
        return False
    own_lines = lines(markdown, span.start, span.end)
    return any(defining.match(markdown, start, end) for start, end in own_lines)
