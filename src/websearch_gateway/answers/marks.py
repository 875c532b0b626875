"""Turns reference marks such as `[2]`, which a model writes after its claims, into spans."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from websearch_gateway.models import Source, Span
from websearch_gateway.text.sanitise import code_pieces
from websearch_gateway.text.urls import canonical

# [1]  [1, 2]  [[1]]  【1】  ［1］, each run of them with the blank before it. Not part of a link: `[1](https://...)`.
_NUMBERS = r"\d{1,3}(?:\s?[,;、]\s?\d{1,3}){0,9}"
MARK = re.compile(rf"(?:\[\[{_NUMBERS}\]\]|\[\^?{_NUMBERS}\]|【{_NUMBERS}[^【】\n]{{0,40}}】|［{_NUMBERS}］)(?!\()")
_RUN = re.compile(rf"[ \t]{{0,4}}(?:{MARK.pattern}[ \t]{{0,4}})+(?<![ \t])")
_NUMBER = re.compile(r"\d{1,3}")
# Of the numbers in `【2†L10-L20】` only the first is a source.
_MARK_WITH_LINES = re.compile(r"【(\d{1,3})†[^】]{0,40}】")


@dataclass(frozen=True, slots=True)
class Marked:
    """A text whose marks number the cited pages by first use. `unknown` marks named no source and were removed."""

    text: str
    spans: tuple[Span, ...]
    unknown: int


def numbers_of(mark: str) -> list[int]:
    """The numbers in one mark or a run of them."""
    return [int(number) for number in _NUMBER.findall(_MARK_WITH_LINES.sub(r"[\1]", mark))]


def resolve_marks(text: str, sources: Mapping[int, Source]) -> Marked:
    """Rewrite each mark as ` [rank]`, one per page that it names; `rank` numbers the pages by first use.

    Args:
        sources: the source of each number. Two numbers may mean the same page.
    """
    resolver = _Resolver(sources)
    written = _rebuilt(text, resolver)
    return Marked(written, tuple(resolver.spans), resolver.unknown)


class _Resolver:
    def __init__(self, sources: Mapping[int, Source]) -> None:
        self.sources = sources
        self.ranks: dict[str, int] = {}
        self.spans: list[Span] = []
        self.unknown = 0

    def __call__(self, run: str, start: int) -> str:
        """The replacement for a run of marks, which begins at `start` of the new text."""
        pages: dict[str, Source] = {}
        for number in numbers_of(run):
            if source := self.sources.get(number):
                pages.setdefault(canonical(source.url), source)
            else:
                self.unknown += 1
        written = ""
        for url, source in pages.items():
            rank = self.ranks.setdefault(url, len(self.ranks) + 1)
            written += " " if not written else ""
            at = start + len(written)
            written += f"[{rank}]"
            self.spans.append(Span(source.url, source.title, at, start + len(written)))
        return written


def _rebuilt(text: str, replace: Callable[[str, int], str]) -> str:
    """`text` with each run of marks replaced, except in code, where `[0]` is an index."""
    code = list(code_pieces(text))
    starts = [start for start, _ in code]
    pieces: list[str] = []
    length = end = 0
    for match in _RUN.finditer(text):
        before = bisect_right(starts, match.start())
        if before and match.start() < code[before - 1][1]:
            continue
        pieces.append(text[end : match.start()])
        length += len(pieces[-1])
        pieces.append(replace(match[0], length))
        length += len(pieces[-1])
        end = match.end()
    return "".join((*pieces, text[end:]))
