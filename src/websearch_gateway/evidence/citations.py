"""Verifies the places that an engine's citations name in its text, and repairs misplaced ones.

An engine's span may cover the link that it wrote, as OpenAI's does with `([host](url))`; a reference mark such as
`[1]`; or the claim itself, which no reader sees. Each kind has its own check. A span that fails is moved to a place
that names its source, or dropped, never guessed: every returned span matches the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from websearch_gateway.base import (
    find_urls,
    host,
    page_key,
    split_sentences,
    strip_trackers,
    tracker_pieces,
)
from websearch_gateway.evidence.link_places import REFERENCE, Link, links
from websearch_gateway.evidence.offsets import Range, from_utf16, moved, without_pieces
from websearch_gateway.models import Span

NEAR = 80
"""The most characters between a span and its citation, found by host, title or word boundary."""

LONGEST_NAME = 300
"""Characters of a source's title that may stand in an answer; a longer one is not looked for."""

LONGEST_CLAIM = 2_000
"""The most characters of a span that are searched for names and links; longer ones would make this quadratic."""

_SOURCE = r"turn\d{1,4}[a-z]{1,12}\d{1,4}"
_MARKER = (
    r"(?:\ue200[^\ue200\ue201\n]{0,500}+\ue201"  # complete
    r"|\ue200[^\ue200\ue201\s]{0,120}+\Z"  # truncated with the text
    rf"|\ue200[a-z]{{0,12}}(?:\ue202{_SOURCE})*+"  # torn
    rf"|\b(?:file)?cite(?:{_SOURCE})++(?!\w)"  # without its private-use characters
    r"|[\ue200-\ue20f])"  # a remaining character of one
)
"""A raw citation of OpenAI's models, in private-use characters, that the API did not turn into a link."""

_MARKERS = re.compile(f"{_MARKER}++")
_BLANKS_AND_MARKERS = re.compile(
    rf"[ \t]{{0,8}}+{_MARKER}(?:[ \t]{{0,8}}+{_MARKER})*+(?=[\s.,;:!?)]|\Z)|{_MARKER}++"
)
_OPEN, _CLOSED = "([{（", ")]}）"
_LETTER = re.compile(r"[^\W_]")
_NO_START = ".,;:!?)]}）»”。、，！？"
_ZERO_WIDTH_JOINER = "\u200d"


def repair(text: str, spans: Sequence[Span]) -> list[Span]:
    """The valid spans, in order: `text[start:end]` is a link to the URL, names it, or is the claim that it supports.

    Accepts any offsets. A misplaced span moves to the nearest link to its URL. One that cuts the words of a claim grows
    to whole words, and an empty one to the sentence before it. Other invalid spans are dropped, also those that reach
    beyond the text.
    """
    layout = _Layout(text, spans)
    repaired = []
    for span in spans:
        if place := layout.place(span):
            start, end = place
            repaired.append(replace(span, start=start, end=end))
    return repaired


def in_code_points(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans with offsets in code points. Offsets count as UTF-16 units if that makes more spans valid."""
    if max(text, default="") <= "\uffff":
        return list(spans)
    converted = moved(spans, from_utf16(text))
    valid_as_given = _Layout(text, spans).verified(spans)
    valid_as_converted = _Layout(text, converted).verified(converted)
    return converted if valid_as_converted > valid_as_given else list(spans)


def strip_markers(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """`text` without markers and the blanks before them, and the spans with new offsets.

    A span that covered only a marker becomes empty and is at the end of its claim.
    """
    markers = (match.span() for match in _BLANKS_AND_MARKERS.finditer(text))
    bare, move = without_pieces(text, markers)
    return bare, moved(spans, move)


def without_trackers(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """`text` with all trackers removed from its URLs, and the adjusted spans and their URLs."""
    pieces: list[Range] = []
    for start, end in find_urls(text):
        for first, last in tracker_pieces(text[start:end]):
            pieces.append((start + first, start + last))
    bare, move = without_pieces(text, pieces)
    return bare, [replace(span, url=strip_trackers(span.url)) for span in moved(spans, move)]


def by_page(spans: Iterable[Span]) -> list[list[Span]]:
    """The spans of each page in text order; pages in the order of their first spans. A page's spans get one title."""
    pages: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        pages.setdefault(page_key(span.url), []).append(span)
    return [_with_one_title(of_page) for of_page in pages.values()]


def _with_one_title(of_page: Sequence[Span]) -> list[Span]:
    title = next((span.title for span in of_page if span.title), "")
    return [replace(span, title=title) for span in of_page]


class _PageLinks:
    """The links to one page, which do not overlap."""

    def __init__(self, links: Iterable[Link]) -> None:
        self._links = sorted(links, key=lambda link: link.bare)
        self._starts = [link.bare[0] for link in self._links]
        self.citable: set[Range] = set()
        for link in self._links:
            self.citable |= link.citable

    def within(self, start: int, end: int) -> bool:
        """Whether one of them lies in the range."""
        first = bisect_left(self._starts, start)
        return first < len(self._links) and self._links[first].bare[1] <= end

    def nearest(self, start: int, end: int) -> Link:
        """The link nearest to the range: the last before its start, or the first from there on."""
        first = bisect_left(self._starts, start)
        on_both_sides = self._links[max(first - 1, 0) : first + 1]
        return min(on_both_sides, key=lambda link: link.distance(start, end))


class _Layout:
    """The links and names in a text that a given set of spans may cite."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self.text = text
        self.links: dict[str, _PageLinks] = {}
        self._starts_of_links: list[tuple[int, str]] = []
        for page, of_page in links(text).items():
            self.links[page] = _PageLinks(of_page)
            self._starts_of_links += [(link.bare[0], page) for link in of_page]
        self._starts_of_links.sort()
        self.is_linked = any(page_key(span.url) in self.links for span in spans)

    @cached_property
    def sentences(self) -> list[Range]:
        return split_sentences(self.text)

    @cached_property
    def _sentence_starts(self) -> frozenset[int]:
        return frozenset(start for start, _ in self.sentences)

    @cached_property
    def _sentence_ends(self) -> frozenset[int]:
        return frozenset(end for _, end in self.sentences)

    def verified(self, spans: Iterable[Span]) -> int:
        """The number of spans that are valid unchanged; a span on a raw marker counts as valid."""
        return sum(self._is_valid(span) for span in spans)

    def _is_valid(self, span: Span) -> bool:
        if not 0 <= span.start < span.end <= len(self.text):
            return False
        if self.place(span) == self._trimmed(span):
            return True
        return bool(_MARKERS.fullmatch(self.text, span.start, span.end))

    def place(self, span: Span) -> Range | None:
        """The range that the span should have; None if it must be dropped."""
        start, end = self._trimmed(span)
        of_page = self.links.get(page_key(span.url))
        is_in_text = 0 <= span.start <= span.end <= len(self.text)
        if is_in_text and REFERENCE.fullmatch(self.text, start, end):
            return start, end
        if of_page is None:
            return self._place_without_link(span, start, end) if is_in_text else None
        is_link = (start, end) in of_page.citable
        if is_in_text and (is_link or self._is_claim(start, end, of_page)):
            return start, end
        return of_page.nearest(start, end).whole

    def _place_without_link(self, span: Span, start: int, end: int) -> Range | None:
        """The range of a span to whose page no link leads: a claim, or the name of the page near to it."""
        if self._is_sentences(start, end):
            return start, end
        names = _names(span)
        end_of_search = min(end, start + LONGEST_CLAIM)
        if self._is_words(start, end):
            names_its_page = bool(names and names.search(self.text, start, end_of_search))
            if names_its_page or not self.is_linked:
                return start, end
        if names:
            around = names.finditer(self.text, max(0, start - NEAR), end_of_search + NEAR)
            places = [match.span() for match in around]
            if places:
                return min(places, key=lambda place: abs(place[0] - start))
        return self._widened(start, end)

    def _trimmed(self, span: Span) -> Range:
        """The span, limited to the text and without blanks at its edges."""
        start = min(max(span.start, 0), len(self.text))
        end = min(max(span.end, start), len(self.text))
        piece = self.text[start:end]
        bare = piece.strip()
        if not bare:
            return end, end
        start += piece.index(bare)
        return start, start + len(bare)

    def _is_claim(self, start: int, end: int, of_page: _PageLinks) -> bool:
        """Whether the range consists of whole words with links to this page and to no other."""
        if not of_page.within(start, end) or end - start > LONGEST_CLAIM:
            return False
        if self.text[start] in _NO_START:
            return False
        first = bisect_left(self._starts_of_links, (start, ""))
        behind = bisect_left(self._starts_of_links, (end, ""))
        pages = {page for _, page in self._starts_of_links[first:behind]}
        is_whole = self._is_words(start, end) and _is_balanced(self.text[start:end])
        return len(pages) == 1 and is_whole

    def _is_sentences(self, start: int, end: int) -> bool:
        is_bounded = start in self._sentence_starts and end in self._sentence_ends
        return is_bounded and _has_words(self.text[start:end])

    def _is_words(self, start: int, end: int) -> bool:
        return not self._cuts(start) and not self._cuts(end) and _has_words(self.text[start:end])

    def _cuts(self, offset: int) -> bool:
        """Whether a range that begins or ends here would break a word or a composed character."""
        if not 0 < offset < len(self.text):
            return False
        before, after = self.text[offset - 1], self.text[offset]
        if _joins(after) or before == _ZERO_WIDTH_JOINER:
            return True
        return after.isalnum() and (before.isalnum() or _joins(before))

    def _widened(self, start: int, end: int) -> Range | None:
        """The claim grown to whole words, for answers without any links."""
        if self.is_linked:
            return None
        if start == end:
            before = bisect_left(self.sentences, (start, 0))
            if before:
                start, end = self.sentences[before - 1]
        before_start = range(start, max(start - NEAR, -1), -1)
        behind_end = range(end, min(end + NEAR, len(self.text)) + 1)
        first, last = self._between_words(before_start), self._between_words(behind_end)
        if first is None or last is None or not _has_words(self.text[first:last]):
            return None
        return first, last

    def _between_words(self, offsets: range) -> int | None:
        """The first of the offsets that cuts no word."""
        return next((offset for offset in offsets if not self._cuts(offset)), None)


def _names(span: Span) -> re.Pattern[str] | None:
    """A pattern that finds the host or the title of a source as plain words."""
    candidates = (host(span.url), " ".join(span.title.split()))
    names = [re.escape(name) for name in candidates if _is_name(name)]
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.IGNORECASE) if names else None


def _is_name(text: str) -> bool:
    return 3 < len(text) <= LONGEST_NAME and _has_words(text)


def _has_words(piece: str) -> bool:
    return bool(_LETTER.search(piece))


def _joins(character: str) -> bool:
    """Whether the character attaches to the one before it: an accent, a variation selector, the zero-width joiner."""
    return character == _ZERO_WIDTH_JOINER or unicodedata.category(character).startswith("M")


def _is_balanced(piece: str) -> bool:
    depth = 0
    for character in piece:
        if character in _OPEN:
            depth += 1
        elif character in _CLOSED:
            depth -= 1
        if depth < 0:
            return False
    return depth == 0
