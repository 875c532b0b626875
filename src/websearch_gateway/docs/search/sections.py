"""The sections of a chunk, and the words of a query in them. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.base import LINK, code_blocks, plain

if TYPE_CHECKING:
    from websearch_gateway.docs.models import Chunk, SymbolMatch

SEEN_CHARS = 1_400
"""The length of a section that may be shown: what comes later in it does not make it a better answer."""
MOST_JUDGED = 8_000
"""The characters of a chunk that are looked at: an index of names may have 200,000."""

HEADING = re.compile(r"^ {0,3}(#{1,6}) ", re.MULTILINE)
_DEFINITION_LEVEL = 7
"""Below every heading."""
_STEM_END = re.compile(r"(?<=..)i$|(?<=....)e$")
"""The last letter of a stem, which may differ in a word: `query`, `queri`; `writing`."""


class HeldWord(NamedTuple):
    """A word of the query in a text: where it begins, and its stem."""

    offset: int
    stem: str


class Part(NamedTuple):
    """A section in a chunk: where it begins, where its text begins (where the chunk begins, if that is inside the
    section), and where it ends, which is after the sections below it."""

    start: int
    body: int
    stop: int


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a chunk: where it begins, where the text below its heading begins, and until where it is seen.

    `held` are the words of the query in it, in their order, by their offsets in the chunk. `defines`: a definition that
    the query means begins here, or somewhere in the chunk.
    """

    chunk: Chunk
    start: int
    body: int
    seen: int
    held: Sequence[HeldWord]
    defines: bool

    @property
    def text(self) -> str:
        """What is seen of it."""
        return self.chunk.content[self.start : self.seen]

    @property
    def begins_inside(self) -> bool:
        """Whether it begins in the middle of another section."""
        return not self.body and self.chunk.ordinal > 0

    @property
    def distinct(self) -> int:
        """How many different words of the query it holds."""
        return len({word.stem for word in self.held})


def sections_of(
    chunk: Chunk, beginnings: Mapping[str, str], defined: Sequence[SymbolMatch]
) -> list[Section]:
    """The sections of a chunk that begin in the part that is looked at, and hold a word of the query or a definition;
    the first one in any case.

    Args:
        beginnings: of the words of the query, see `beginnings_of`.
        defined: the definitions that the query means.
    """
    held = held_words(chunk.content[:MOST_JUDGED], beginnings)
    offsets = [word.offset for word in held]
    defined_here = [match for match in defined if match.chunk_id == chunk.id]
    chunk_parts = parts(chunk)
    definition = _definition_among(chunk_parts, chunk, defined_here)
    sections: list[Section] = []
    for start, body, stop in chunk_parts:
        if start >= MOST_JUDGED:
            break
        seen = max(body, min(stop, start + SEEN_CHARS))
        held_here = held[bisect_left(offsets, start) : bisect_left(offsets, seen)]
        defines = bool(defined_here) and definition in (None, start)
        if held_here or defines or not sections:
            sections.append(Section(chunk, start, body, seen, held_here, defines))
    return sections


def definition_start(chunk: Chunk, defined: Sequence[SymbolMatch]) -> int | None:
    """Where the part of a chunk begins that has the anchor of a definition, or its name in the heading."""
    return _definition_among(parts(chunk), chunk, defined) if defined else None


def _definition_among(
    chunk_parts: Sequence[Part], chunk: Chunk, defined: Sequence[SymbolMatch]
) -> int | None:
    if not defined:
        return None
    starts = {part.start for part in chunk_parts}
    anchors = {match.anchor for match in defined if match.anchor}
    for start, anchor in ((0, chunk.anchor), *chunk.inner):
        if anchor in anchors and start in starts:
            return start
    names = "|".join(re.escape(match.name) for match in defined)
    any_name = re.compile(rf"(?<![\w-])(?:{names})(?![\w-])")
    for part in chunk_parts:
        if any_name.search(chunk.content, part.start, part.body):
            return part.start
    return None


def parts(chunk: Chunk) -> list[Part]:
    """The sections in the part of a chunk that is looked at, by their headings or the lines of definitions."""
    text = chunk.content[: MOST_JUDGED + SEEN_CHARS]
    levels = _levels(chunk, text)
    starts = _outside_code(text, sorted(levels))
    found: list[Part] = []
    if 0 not in levels:
        found.append(Part(0, 0, starts[0] if starts else len(text)))
    for place, start in enumerate(starts):
        level = levels[start]
        after = (later for later in starts[place + 1 :] if levels[later] <= level)
        line_end = text.find("\n", start)
        body = len(text) if line_end < 0 else line_end
        found.append(Part(start, body, next(after, len(text))))
    return found


def _levels(chunk: Chunk, text: str) -> dict[int, int]:
    """Where sections begin, with the levels of their headings."""
    levels = {
        start: _DEFINITION_LEVEL for start, _ in chunk.inner if not text.startswith("|", start)
    }
    if text.startswith("**"):
        levels[0] = _DEFINITION_LEVEL
    marks = text.find("# ")
    while marks >= 0:  # ten times faster than to look for headings at the beginning of every line
        line = text.rfind("\n", 0, marks) + 1
        if heading := HEADING.match(text, line):
            levels[line] = len(heading[1])
        marks = text.find("# ", marks + 1)
    return levels


def _outside_code(text: str, starts: Sequence[int]) -> Sequence[int]:
    """Those of the places that are not inside a block of code."""
    code = list(code_blocks(text))
    if not code:
        return starts
    begins = [begin for begin, _ in code]
    outside = []
    for start in starts:
        blocks_before = bisect_left(begins, start)
        if not blocks_before or start >= code[blocks_before - 1][1]:
            outside.append(start)
    return outside


def headings_at(chunk: Chunk, start: int) -> tuple[str, ...]:
    """The heading path of a section in a chunk, whose own path is that of its first section or of all."""
    heading = HEADING.match(chunk.content, start) if start else None
    if heading is None:
        return chunk.heading_path
    title = plain(chunk.content[start : chunk.content.find("\n", start)])
    first = HEADING.match(chunk.content)
    first_title = plain(chunk.content.partition("\n")[0])
    path_ends_with_first = first is not None and chunk.heading_path[-1:] == (first_title,)
    if first and path_ends_with_first and len(heading[1]) <= len(first[1]):
        return (*chunk.heading_path[:-1], title)
    return (*chunk.heading_path, title)


def link_share(text: str) -> float:
    """The share of a text that is links, with their addresses."""
    if "](" not in text:
        return 0.0
    return sum(len(link[0]) for link in LINK.finditer(text)) / len(text)


def beginnings_of(stems: Iterable[str]) -> dict[str, str]:
    """What words with these stems begin with, and the stem; the shortest first."""
    beginnings = {_STEM_END.sub("", stem): stem for stem in stems}
    return {
        beginning: beginnings[beginning] for beginning in sorted(beginnings, key=len) if beginning
    }


def held_words(text: str, beginnings: Mapping[str, str]) -> list[HeldWord]:
    """Where words begin so, see `beginnings_of`, and the longest such stem. In a script without spaces, also inside
    words."""
    lowered = text.lower()
    stems: dict[int, str] = {}
    for beginning, stem in beginnings.items():
        is_unspaced = not beginning.isascii()
        at = lowered.find(beginning)
        while at >= 0:
            if is_unspaced or not at or not lowered[at - 1].isalnum():
                stems[at] = stem
            at = lowered.find(beginning, at + len(beginning))
    return [HeldWord(at, stems[at]) for at in sorted(stems)]
