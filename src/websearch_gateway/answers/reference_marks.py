"""Reads the marks that a model writes behind its claims, such as `[2]`, and numbers them again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from websearch_gateway.base import code_pieces, page_key
from websearch_gateway.evidence import Edit, rewritten
from websearch_gateway.models import Source, Span

_NUMBERS = r"\d{1,3}(?:\s?[,;、]\s?\d{1,3}){0,9}"
MARK = re.compile(
    rf"(?:\[\[{_NUMBERS}\]\]|\[\^?{_NUMBERS}\]|【{_NUMBERS}[^【】\n]{{0,40}}】|［{_NUMBERS}］)(?!\()"
)
"""[1]  [1, 2]  [[1]]  【1】  ［1］, but no part of a link: `[1](https://...)`."""
MARK_AND_BLANKS = re.compile(rf"\s{{0,3}}{MARK.pattern}")
MARK_IN_WORD = re.compile(rf"{MARK_AND_BLANKS.pattern}(?=\w)")
"""Words that a mark separated stay apart: `3[1]30` does not become 330."""
_RUN = re.compile(rf"[ \t]{{0,4}}(?:{MARK.pattern}[ \t]{{0,4}})+(?<![ \t])")
_NUMBER = re.compile(r"\d{1,3}")
_MARK_WITH_LINES = re.compile(r"【(\d{1,3})†[^】]{0,40}】")
"""In `【2†L10-L20】` only the first number is a source."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text whose marks number the cited pages by first use. `unknown` marks named no source and were removed."""

    text: str
    spans: tuple[Span, ...]
    unknown: int


@dataclass(frozen=True, slots=True)
class _NewMark:
    """A mark to write for a source, in place of the run of marks that begins at `start`."""

    start: int
    text: str
    source: Source


def numbers_of(mark: str) -> list[int]:
    """The numbers in one mark or a run of them."""
    return [int(number) for number in _NUMBER.findall(_MARK_WITH_LINES.sub(r"[\1]", mark))]


def resolve_marks(text: str, sources: Mapping[int, Source]) -> Marked:
    """Rewrite each mark as ` [rank]`, one per page that it names; `rank` numbers the pages by first use.

    In code `[0]` is an index and stays.

    Args:
        sources: the source of each number. Two numbers may mean the same page.
    """
    ranks: dict[str, int] = {}
    edits: list[Edit] = []
    marks: list[_NewMark] = []
    unknown = 0
    for run in _runs_outside_code(text):
        pages: dict[str, Source] = {}
        for number in numbers_of(run[0]):
            source = sources.get(number)
            if source is None:
                unknown += 1
            else:
                pages.setdefault(page_key(source.url), source)
        new_marks = []
        for page, source in pages.items():
            rank = ranks.setdefault(page, len(ranks) + 1)
            new_marks.append(_NewMark(run.start(), f"[{rank}]", source))
        marks += new_marks
        new_text = "".join(mark.text for mark in new_marks)
        if new_text:
            would_be_definition = text.startswith(":", run.end())
            new_text = f" {new_text} " if would_be_definition else f" {new_text}"
        edits.append(Edit(*run.span(), new_text))
    written, move = rewritten(text, edits)
    spans = []
    for mark in marks:
        start = written.index(mark.text, move(mark.start))
        spans.append(Span(mark.source.url, mark.source.title, start, start + len(mark.text)))
    return Marked(written, tuple(spans), unknown)


def _runs_outside_code(text: str) -> Iterator[re.Match[str]]:
    """The runs of marks between the pieces of code."""
    start = 0
    for code_start, code_end in code_pieces(text):
        yield from _RUN.finditer(text, start, code_start)
        start = code_end
    yield from _RUN.finditer(text, start)
