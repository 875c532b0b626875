"""Gives each definition of a page a heading with its name, where the page marks it in another way.

DocBook heads every function of a manual with "Name" and puts the name itself below; Vim's help is one listing with
`*tags*`. With headings, both are cut, named and linked as other pages are. Pure, and in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from websearch_gateway.base import Block, blocks, plain

DEEPEST = 6
"""The lowest level of a heading."""


@dataclass(frozen=True, slots=True)
class Headed:
    """The text of a page whose definitions have headings.

    `anchors` are ids with the offsets of their lines, ascending. `defined` are the names of the definitions, each with
    its anchor. `starts` are the offsets of headings before which a chunk ends.
    """

    markdown: str
    anchors: tuple[tuple[int, str], ...]
    defined: tuple[tuple[str, str], ...] = ()
    starts: frozenset[int] = frozenset()


def headed(markdown: str, anchors: Sequence[tuple[int, str]]) -> Headed:
    """The page with a heading for each definition; unchanged if it has no other marks.

    Args:
        anchors: ids of headings and terms, each with the offset of its line, ascending.
    """
    if _may_have_reference_entries(markdown):
        return _with_named_entries(markdown, anchors)
    if _HELP.search(markdown):
        return _with_headed_tags(markdown, anchors)
    return Headed(markdown, tuple(anchors))


_NAME_HEADING = re.compile(r"^#{1,6} (?:Name|NAME)[ \t]*$", re.MULTILINE)
_NAME_LINE = re.compile(r"([^\n]{1,300}?)\s+(?:[\N{EM DASH}\N{EN DASH}]|--?)\s+\S")
"""What DocBook writes below "Name": the names and what they are for
(https://tdg.docbook.org/tdg/5.2/refnamediv.html)."""
_NUMBERED = re.compile(r"(?:Chapter|Appendix|Part)\s|(?:\d+|[A-Z])\.(?:\d+\.)*\s")
"""The title of a chapter or a section around entries; the parts of an entry have no numbers."""


def _may_have_reference_entries(markdown: str) -> bool:
    return len(_NAME_HEADING.findall(markdown)) > 1


@dataclass(slots=True)
class _Rewriting:
    """A text whose places change: `moved` says where an old offset is in the new text."""

    old: str
    parts: list[str] = field(default_factory=list)
    length: int = 0
    copied: int = 0
    _old_places: list[int] = field(default_factory=lambda: [0])
    _shifts: list[int] = field(default_factory=lambda: [0])

    def copy_until(self, offset: int) -> None:
        """Take over the text until `offset`."""
        self.add(self.old[self.copied : offset])
        self.copied = offset

    def replace_until(self, offset: int, text: str) -> None:
        """Put `text` in place of the old text until `offset`."""
        self.add(text)
        self.copied = offset
        self._old_places.append(offset)
        self._shifts.append(self.length - offset)

    def add(self, text: str) -> None:
        """Add text that is new."""
        self.parts.append(text)
        self.length += len(text)

    def moved(self, offset: int) -> int:
        """The place in the new text of an offset in the old one."""
        return offset + self._shifts[bisect_right(self._old_places, offset) - 1]


def _with_named_entries(markdown: str, anchors: Sequence[tuple[int, str]]) -> Headed:
    """Each "Name" becomes the name of its entry, and the parts of an entry stand below it."""
    text = _Rewriting(markdown)
    defined: list[tuple[str, str]] = []
    starts: list[int] = []
    anchor_at = dict(anchors)
    entry_level = name_level = 0
    outer_level = 0
    for heading, following in _headings(markdown, blocks(markdown)):
        title = plain(markdown[heading.start : heading.end])
        names = _names_below(markdown, title, following)
        ends_entry = heading.level < name_level or bool(_NUMBERED.match(title))
        if names:
            name_level = heading.level
            entry_level = min(DEEPEST - 1, max(name_level, outer_level + 1))
            new_heading = f"{'#' * entry_level} {', '.join(map(_as_title, names))}"
            starts.append(heading.start)
            anchor = anchor_at.get(heading.start, "")
            defined += [(name, anchor) for name in names]
        elif entry_level and not ends_entry:
            level = min(DEEPEST, entry_level + 1 + heading.level - name_level)
            new_heading = f"{'#' * level} {_words_of_heading(markdown, heading)}"
        else:
            if entry_level:
                starts.append(heading.start)
            entry_level = 0
            outer_level = heading.level
            continue
        text.copy_until(heading.start)
        text.replace_until(heading.end, new_heading)
    text.copy_until(len(markdown))
    return Headed(
        "".join(text.parts),
        tuple((text.moved(offset), anchor) for offset, anchor in anchors),
        tuple(defined),
        frozenset(map(text.moved, starts)),
    )


def _headings(markdown: str, found: Iterable[Block]) -> Iterator[tuple[Block, Block | None]]:
    """The headings, each with the paragraph right below it."""
    heading: Block | None = None
    for block in found:
        if heading is not None:
            yield heading, block if block.kind == "paragraph" else None
        is_usual = block.kind == "heading" and markdown.startswith("#", block.start)
        heading = block if is_usual else None
    if heading is not None:
        yield heading, None


def _names_below(markdown: str, title: str, paragraph: Block | None) -> list[str]:
    if title not in ("Name", "NAME") or paragraph is None:
        return []
    line = _NAME_LINE.match(markdown, paragraph.start, paragraph.end)
    if line is None:
        return []
    names = (plain(name) for name in line[1].split(","))
    return [name for name in names if name]


def _as_title(name: str) -> str:
    """A name as it is written in a heading: operators hold signs of Markdown."""
    if "`" in name or re.fullmatch(r"[\w .:-]+", name):
        return name
    return f"`{name}`"


def _words_of_heading(markdown: str, heading: Block) -> str:
    return markdown[heading.start : heading.end].lstrip("#").strip()


_HELP = re.compile(r"^```[^\n]*\n\s*\*[!#-)+-~]+\*[ \t]", re.MULTILINE)
"""A listing whose first line is the tag of a file, as every file of Vim's help begins
(https://vimhelp.org/helphelp.txt.html#help-writing)."""
_TAG = re.compile(r"(?<!\S)\*([!#-)+-~]++)\*(?!\S)")
_RULE = re.compile(r"\s*(?:={10,}|-{10,})\s*")
"""The line above the first one of a section."""
_SECTION_LEVEL, _TAG_LEVEL = 2, 3


def _with_headed_tags(markdown: str, anchors: Sequence[tuple[int, str]]) -> Headed:
    """Each tagged line of the help begins a listing of its own, below a heading."""
    text = _Rewriting(markdown)
    made: list[tuple[int, str]] = []
    defined: list[tuple[str, str]] = []
    for listing in blocks(markdown):
        if listing.kind == "code" and _HELP.match(markdown, listing.start):
            text.copy_until(listing.start)
            for part in _parts_of_help(markdown[listing.start : listing.end]):
                made += [(text.length, tag) for tag in reversed(part.tags)]
                defined += [(name, tag) for tag in part.tags for name in _names_of(tag)]
                text.add(part.as_markdown())
            text.replace_until(listing.end, "")
    text.copy_until(len(markdown))
    kept = [(text.moved(offset), anchor) for offset, anchor in anchors]
    return Headed(
        "".join(text.parts),
        tuple(sorted((*kept, *made), key=lambda anchor: anchor[0])),
        tuple(defined),
    )


@dataclass(slots=True)
class _HelpPart:
    """What belongs to the tags of one or several lines in a row. The part of the whole file has no heading."""

    heading: str = ""
    tags: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def as_markdown(self) -> str:
        """The heading, and the lines as a listing."""
        listing = "\n".join(self.lines).strip("\n")
        fenced = f"```\n{listing}\n```\n\n" if listing else ""
        return f"{self.heading}\n\n{fenced}" if self.heading else fenced


def _parts_of_help(listing: str) -> Iterator[_HelpPart]:
    part = _HelpPart()
    line_before = ""
    is_tagged_before = True  # the first tag is that of the file
    for line in listing.split("\n")[1:]:
        if line.startswith("```"):
            break
        tags = _TAG.findall(line) if "*" in line else []
        if tags and not is_tagged_before:
            yield part
            part = _HelpPart(_heading_of(line, tags, is_section=bool(_RULE.fullmatch(line_before))))
        part.tags += tags
        part.lines.append(line)
        if line and not line.isspace():
            line_before = line
            is_tagged_before = bool(tags)
    yield part


def _heading_of(line: str, tags: Sequence[str], *, is_section: bool) -> str:
    """The words of a section's line as a heading; else its first tag."""
    words = _TAG.sub(" ", line).strip().replace("`", "'")
    begins_with_tag = line.lstrip().startswith("*")
    level = "#" * (_SECTION_LEVEL if is_section else _TAG_LEVEL)
    if words and (is_section or begins_with_tag):
        return f"{level} {words}"
    ticks = "``" if "`" in tags[0] else "`"
    return f"{level} {ticks}{tags[0]}{ticks}"


def _names_of(tag: str) -> Iterator[str]:
    """A tag, and the bare name of an option or a function: `'tabstop'`, `abs()`."""
    yield tag
    bare = tag.strip("'").removesuffix("()")
    if bare != tag and re.fullmatch(r"\w+", bare):
        yield bare
