"""Finds the links of a text, and the reference marks that engines write."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from websearch_gateway.base import LINK, find_urls, page_key
from websearch_gateway.evidence.offsets import Range

REFERENCE = re.compile(r"\[\^?\d{1,3}\]|【[^【】\n]{1,80}】")
"""A mark that stands for a source."""

_AROUND = {"(": ")", "（": "）", "<": ">"}


@dataclass(frozen=True, slots=True)
class Link:
    """A link in the text.

    Attributes:
        bare: its range without the brackets around it, and `whole` with them.
        label: the range of its label, and `address` that of its address; None for a bare URL.
    """

    url: str
    bare: Range
    whole: Range
    label: Range | None = None
    address: Range | None = None

    @property
    def citable(self) -> set[Range]:
        """The ranges that a citation of it may cover."""
        ranges = {self.bare, self.whole}
        if self.label and self.address:
            ranges |= {self.label, self.address}
        return ranges

    def distance(self, start: int, end: int) -> tuple[int, int]:
        """How far it is from a range; of links as near, the one that begins nearer comes first."""
        gap = max(0, self.bare[0] - end, start - self.bare[1])
        return gap, abs(self.whole[0] - start)


def links(text: str) -> dict[str, list[Link]]:
    """Every link of the text by canonical URL: Markdown links first, then the bare URLs outside them."""
    links: dict[str, list[Link]] = defaultdict(list)
    in_markdown: list[Range] = []
    for match in LINK.finditer(text):
        whole = _with_brackets(text, *match.span())
        link = Link(match[2], match.span(), whole, label=match.span(1), address=match.span(2))
        links[page_key(link.url)].append(link)
        in_markdown.append(link.bare)
    for start, end in _outside(find_urls(text), in_markdown):
        link = Link(text[start:end], (start, end), _with_brackets(text, start, end))
        links[page_key(link.url)].append(link)
    return links


def _outside(places: Sequence[Range], ranges: Sequence[Range]) -> Iterator[Range]:
    """The places that begin in none of the ranges; both are in order."""
    passed = 0
    for start, end in places:
        while passed < len(ranges) and ranges[passed][1] <= start:
            passed += 1
        is_inside = passed < len(ranges) and ranges[passed][0] <= start
        if not is_inside:
            yield start, end


def _with_brackets(text: str, start: int, end: int) -> Range:
    closing = _AROUND.get(text[start - 1 : start])
    if closing and text[end : end + 1] == closing:
        return start - 1, end + 1
    return start, end
