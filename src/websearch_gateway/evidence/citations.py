"""Citations in a text: verifies their positions, repairs misplaced spans, and shows them by marks or links.

An engine's span may cover the link that it wrote, as OpenAI's does with `([host](url))`; a reference mark such as
`[1]`; or the claim itself, which no reader sees. Each kind has its own check. A span that fails is moved to a place
that names its source, or dropped, never guessed: every returned span matches the text. The answer itself keeps links
and has marks elsewhere (`with_marks`), its text for models has only marks (`numbered`), and its text for apps has only
links (`linked`).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain
from typing import Protocol

from websearch_gateway.base import (
    LINK,
    code_pieces,
    find_urls,
    host,
    item_marker_end,
    page_key,
    split_sentences,
    strip_trackers,
    tracker_pieces,
)
from websearch_gateway.models import Span

NEAR = 80
"""The most characters between a span and its citation, found by host, title or word boundary."""

LONGEST_NAME = 300
"""Characters of a source's title that may stand in an answer; a longer one is not looked for."""

LONGEST_CLAIM = 2_000
"""The most characters of a span that are searched for names and links; longer ones would make this quadratic."""

REFERENCE = re.compile(r"\[\^?\d{1,3}\]|【[^【】\n]{1,80}】")

_SOURCE = r"turn\d{1,4}[a-z]{1,12}\d{1,4}"
MARKER = (
    r"(?:\ue200[^\ue200\ue201\n]{0,500}+\ue201"  # complete
    r"|\ue200[^\ue200\ue201\s]{0,120}+\Z"  # truncated with the text
    rf"|\ue200[a-z]{{0,12}}(?:\ue202{_SOURCE})*+"  # torn
    rf"|\b(?:file)?cite(?:{_SOURCE})++(?!\w)"  # without its private-use characters
    r"|[\ue200-\ue20f])"  # a remaining character of one
)

_MARKERS = re.compile(f"{MARKER}++")
_AROUND = {"(": ")", "（": "）", "<": ">"}
_OPEN, _CLOSED = "([{（", ")]}）"
_LETTER = re.compile(r"[^\W_]")
_NO_START = ".,;:!?)]}）»”。、，！？"

Range = tuple[int, int]


def repair(text: str, spans: Sequence[Span]) -> list[Span]:
    """The valid spans, in order: `text[start:end]` is a link to the URL, names it, or is the claim that it supports.

    Accepts any offsets. A misplaced span moves to the nearest link to its URL. One that cuts the words of a claim grows
    to whole words, and an empty one to the sentence before it. Other invalid spans are dropped, also those that reach
    beyond the text.
    """
    layout = _Layout(text, spans)
    found = ((span, layout.place(span)) for span in spans)
    return [replace(span, start=place[0], end=place[1]) for span, place in found if place]


def in_code_points(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans with offsets in code points. Offsets count as UTF-16 units if that makes more spans valid."""
    if all(ord(character) <= 0xFFFF for character in text):
        return list(spans)
    converted = moved(spans, from_utf16(text))
    as_given, as_converted = (_Layout(text, some).verified(some) for some in (spans, converted))
    return converted if as_converted > as_given else list(spans)


def without_trackers(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """`text` with all trackers removed from its URLs, and the adjusted spans and their URLs."""
    pieces = [
        (start + first, start + last)
        for start, end in find_urls(text)
        for first, last in tracker_pieces(text[start:end])
    ]
    bare, move = without_pieces(text, pieces)
    return bare, [replace(span, url=strip_trackers(span.url)) for span in moved(spans, move)]


def by_page(spans: Iterable[Span]) -> list[list[Span]]:
    """The spans of each page in text order; pages in the order of their first spans. A page's spans get one title."""
    pages: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        pages.setdefault(page_key(span.url), []).append(span)
    titles = {
        page: next((span.title for span in some if span.title), "") for page, some in pages.items()
    }
    return [[replace(span, title=titles[page]) for span in some] for page, some in pages.items()]


@dataclass(frozen=True, slots=True)
class Link:
    """A link in the text: its range without and with the brackets around it, and the parts that may be cited alone."""

    bare: Range
    whole: Range
    parts: tuple[Range, ...] = ()

    def distance(self, start: int, end: int) -> tuple[int, int]:
        gap = max(0, self.bare[0] - end, start - self.bare[1])
        return gap, abs(self.whole[0] - start)


class _PageLinks:
    """The links to one page, which do not overlap."""

    def __init__(self, links: Iterable[Link]) -> None:
        self._links = sorted(links, key=lambda link: link.bare)
        self._starts = [link.bare[0] for link in self._links]
        self.citable = {
            place for link in self._links for place in (link.bare, link.whole, *link.parts)
        }

    def within(self, start: int, end: int) -> bool:
        """Whether one of them lies in the range."""
        first = bisect_left(self._starts, start)
        return first < len(self._links) and self._links[first].bare[1] <= end

    def nearest(self, start: int, end: int) -> Link:
        """The link nearest to the range: the last before its start, or the first from there on."""
        first = bisect_left(self._starts, start)
        return min(
            self._links[max(first - 1, 0) : first + 1], key=lambda link: link.distance(start, end)
        )


class _Layout:
    """The links and names in a text that a given set of spans may cite."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self.text = text
        found = links(text)
        self.links = {page: _PageLinks(links) for page, links in found.items()}
        self._ordered = sorted(
            (link.bare[0], page) for page, some in found.items() for link in some
        )
        self.is_linked = any(page_key(span.url) in self.links for span in spans)

    @cached_property
    def sentences(self) -> list[Range]:
        return split_sentences(self.text)

    @cached_property
    def sentence_edges(self) -> tuple[frozenset[int], frozenset[int]]:
        return frozenset(start for start, _ in self.sentences), frozenset(
            end for _, end in self.sentences
        )

    def verified(self, spans: Iterable[Span]) -> int:
        """The number of spans that are valid unchanged; a span on a raw marker counts as valid."""
        return sum(
            0 <= span.start < span.end <= len(self.text)
            and (
                self.place(span) == self._trimmed(span)
                or bool(_MARKERS.fullmatch(self.text, span.start, span.end))
            )
            for span in spans
        )

    def place(self, span: Span) -> Range | None:
        """The range that the span should have; None if it must be dropped."""
        start, end = self._trimmed(span)
        if not 0 <= span.start <= span.end <= len(self.text):
            # A place outside of the text names none in it, but a link to its page does.
            page = self.links.get(page_key(span.url))
            return page.nearest(start, end).whole if page else None
        if REFERENCE.fullmatch(self.text, start, end):
            return start, end
        if links := self.links.get(page_key(span.url)):
            if (start, end) in links.citable or self._is_claim(start, end, links):
                return start, end
            return links.nearest(start, end).whole
        starts, ends = self.sentence_edges
        if start in starts and end in ends and _has_words(self.text[start:end]):
            return start, end
        names = _names(span)
        searched = min(end, start + LONGEST_CLAIM)
        is_whole = self._is_words(start, end)
        if is_whole and (
            not self.is_linked or (names and names.search(self.text, start, searched))
        ):
            return start, end
        named = names.finditer(self.text, max(0, start - NEAR), searched + NEAR) if names else ()
        nearest = min(
            (match.span() for match in named), key=lambda place: abs(place[0] - start), default=None
        )
        return nearest or self._widened(start, end)

    def _trimmed(self, span: Span) -> Range:
        """The span, limited to the text and without blanks at its edges."""
        start = min(max(span.start, 0), len(self.text))
        end = min(max(span.end, start), len(self.text))
        piece = self.text[start:end]
        bare = piece.strip()
        return (
            (start + piece.index(bare), start + piece.index(bare) + len(bare))
            if bare
            else (end, end)
        )

    def _is_claim(self, start: int, end: int, links: _PageLinks) -> bool:
        """Whether the range consists of whole words with links to this page and to no other."""
        if (
            not links.within(start, end)
            or end - start > LONGEST_CLAIM
            or self.text[start] in _NO_START
        ):
            return False
        within = self._ordered[
            bisect_left(self._ordered, (start, "")) : bisect_left(self._ordered, (end, ""))
        ]
        is_one_page = len({page for _, page in within}) == 1
        return is_one_page and self._is_words(start, end) and _is_balanced(self.text[start:end])

    def _is_words(self, start: int, end: int) -> bool:
        return not self._cuts(start) and not self._cuts(end) and _has_words(self.text[start:end])

    def _cuts(self, offset: int) -> bool:
        """Whether a range that begins or ends here would break a word or a composed character."""
        if not 0 < offset < len(self.text):
            return False
        before, after = self.text[offset - 1], self.text[offset]
        return (
            _joins(after)
            or before == "\u200d"
            or ((before.isalnum() or _joins(before)) and after.isalnum())
        )

    def _widened(self, start: int, end: int) -> Range | None:
        """The claim grown to whole words, for answers without any links."""
        if self.is_linked:
            return None
        if start == end:
            before = bisect_left(self.sentences, (start, 0))
            start, end = self.sentences[before - 1] if before else (start, end)
        first = next(
            (at for at in range(start, max(start - NEAR, -1), -1) if not self._cuts(at)), None
        )
        last = next(
            (at for at in range(end, min(end + NEAR, len(self.text)) + 1) if not self._cuts(at)),
            None,
        )
        if first is None or last is None or not _has_words(self.text[first:last]):
            return None
        return first, last


def links(text: str) -> dict[str, list[Link]]:
    """Every link of the text by canonical URL: Markdown links first, then the bare URLs outside them."""
    links: dict[str, list[Link]] = defaultdict(list)
    taken: list[Range] = []
    for match in LINK.finditer(text):
        parts = (match.span(1), match.span(2))
        links[page_key(match[2])].append(
            Link(match.span(), _with_brackets(text, *match.span()), parts)
        )
        taken.append(match.span())
    inside = iter([*taken, (len(text), len(text))])
    current = next(inside)
    for start, end in find_urls(text):
        while current[1] <= start and current[0] < len(text):
            current = next(inside)
        if not current[0] <= start < current[1]:
            links[page_key(text[start:end])].append(
                Link((start, end), _with_brackets(text, start, end))
            )
    return links


def _with_brackets(text: str, start: int, end: int) -> Range:
    closing = _AROUND.get(text[start - 1 : start])
    return (start - 1, end + 1) if closing and text[end : end + 1] == closing else (start, end)


def _names(span: Span) -> re.Pattern[str] | None:
    """A pattern that finds the host or the title of a source as plain words."""
    known = (host(span.url), " ".join(span.title.split()))
    names = [
        re.escape(name) for name in known if 3 < len(name) <= LONGEST_NAME and _has_words(name)
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.IGNORECASE) if names else None


def _has_words(piece: str) -> bool:
    return bool(_LETTER.search(piece))


def _joins(character: str) -> bool:
    """Whether the character attaches to the one before it: an accent, a variation selector, the zero-width joiner."""
    return character == "\u200d" or unicodedata.category(character).startswith("M")


def _is_balanced(piece: str) -> bool:
    depth = 0
    for character in piece:
        depth += (character in _OPEN) - (character in _CLOSED)
        if depth < 0:
            return False
    return depth == 0


_RUN = re.compile(rf"[ \t]{{0,8}}+{MARKER}(?:[ \t]{{0,8}}+{MARKER})*+(?=[\s.,;:!?)]|\Z)|{MARKER}++")


def strip_markers(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """`text` without markers and the blanks before them, and the spans with new offsets.

    A span that covered only a marker becomes empty and is at the end of its claim.
    """
    bare, move = without_pieces(text, [match.span() for match in _RUN.finditer(text)])
    return bare, moved(spans, move)


Move = Callable[[int], int]


def without_pieces(text: str, pieces: Iterable[tuple[int, int]]) -> tuple[str, Mover]:
    """`text` without `pieces`, and a function that maps its offsets: one inside a piece to where that was."""
    return rewritten(text, ((start, end, "") for start, end in pieces))


class Mover(Protocol):
    """Maps an offset of a text to the same place in a rewritten one."""

    def __call__(self, offset: int, *, at_end: bool = False) -> int:
        """`at_end`: the offset ends a span, so that text inserted here comes after it."""
        ...


def rewritten(text: str, edits: Iterable[tuple[int, int, str]]) -> tuple[str, Mover]:
    """`text` with each piece `start:end` replaced, and a function that maps its offsets.

    An edit that overlaps an earlier one is left out. The edges of a replaced piece are those of its replacement.
    """
    pieces: list[str] = []
    starts, ends, gains = [], [], [0]
    done = 0
    for start, end, new in sorted(edits):
        if start < done:
            continue
        pieces += [text[done:start], new]
        starts.append(start)
        ends.append(end)
        gains.append(gains[-1] + len(new) - (end - start))
        done = end

    def move(offset: int, *, at_end: bool = False) -> int:
        passed = bisect_right(ends, offset)
        if at_end and passed and starts[passed - 1] == ends[passed - 1] == offset:
            passed -= 1
        if passed < len(starts) and starts[passed] < offset:  # inside a replaced piece
            return ends[passed] + gains[passed + 1] if at_end else starts[passed] + gains[passed]
        return offset + gains[passed]

    return "".join((*pieces, text[done:])), move


def moved(spans: Iterable[Span], move: Move) -> list[Span]:
    """The spans with offsets mapped by `move`."""
    return [replace(span, start=move(span.start), end=move(span.end)) for span in spans]


def from_utf16(text: str) -> Move:
    """A function that converts an offset in UTF-16 units, as JavaScript counts, to a Python offset.

    An offset in the middle of a character moves to its start; one beyond the end stays as far beyond it.
    """
    ends = list(accumulate(2 if ord(character) > 0xFFFF else 1 for character in text))
    length = ends[-1] if ends else 0
    return lambda units: bisect_right(ends, units) + max(0, units - length)


MAX_CHARS = 300
MAX_AROUND = 2_000
"""The most characters on either side of a citation that belong to its sentence."""
MAX_SENTENCES_BEFORE = 8
"""The most sentences before a citation, if that has no words of its own, among which to look for its claim."""

_LINK = LINK.pattern
_CITATION = re.compile(
    rf"\s*+[(（]\s*+{_LINK}(?:\s*+[,;、]?\s*+{_LINK})*+\s*+[)）]"  # ([host](url)) or ([a](url), [b](url))
    rf"|(?<=[.!?。！？])[ \t]*+{_LINK}\s*\Z"  # a link after the full stop
    r"|[ \t]?\[\^?\d{1,3}\](?!\()|[ \t]?【[^【】\n]{1,80}】"  # a reference mark
)
_HEADING = re.compile(r"#{1,6}[ \t]+")
_EMPTY_BRACKETS = re.compile(r"\s*(?:\(\s*\)|（\s*）|<>)")
_BLANK = re.compile(r"\s+")


def snippets(text: str, places: Iterable[tuple[int, int]]) -> list[str]:
    """For each citation at `text[start:end]` the sentence that it supports, in one line of at most MAX_CHARS.

    The line has no link markup. A citation after a full stop, or in its own brackets, supports the sentence before it;
    a span over several sentences supports all of them. The line is empty if there are only citations.
    """
    sentences = split_sentences(text)
    ends = [end for _, end in sentences]
    return [_snippet(text, sentences, ends, start, end) for start, end in places]


def _snippet(
    text: str, sentences: Sequence[tuple[int, int]], ends: Sequence[int], start: int, end: int
) -> str:
    end = min(end, start + MAX_AROUND)
    first = bisect_right(ends, start)
    last = bisect_left(sentences, (max(end, start + 1), 0)) - 1
    if first > last:
        return ""
    stop = min(sentences[last][1], end + MAX_AROUND)
    least = max(0, first - MAX_SENTENCES_BEFORE)
    words = _words(text, begin := max(sentences[first][0], start - MAX_AROUND), stop)
    while first > least and (
        not words or (_is_aside(words) and "\n" not in text[sentences[first - 1][1] : start])
    ):
        first -= 1
        words = _words(text, begin := max(sentences[first][0], start - MAX_AROUND), stop)
    return _shortened(words, _words(text, begin, end))


def _is_aside(words: str) -> bool:
    """Whether the words are, or end with, a remark in brackets that belongs to the sentence before."""
    return (
        words[0] in "(（"
        or words.count(")") > words.count("(")
        or words.count("）") > words.count("（")
    )


def _words(text: str, start: int, end: int) -> str:
    """A piece of text as shown to a reader: links as their labels, without citations and list markers."""
    piece = text[item_marker_end(text, start) : end]
    piece = _HEADING.sub("", piece, count=1) if _HEADING.match(piece) else piece
    piece = LINK.sub(r"\1", _CITATION.sub("", piece))
    bare, _ = without_pieces(piece, find_urls(piece))
    return _BLANK.sub(" ", _EMPTY_BRACKETS.sub("", bare)).strip()


def _shortened(words: str, until_citation: str) -> str:
    """At most MAX_CHARS, cut between words: the beginning, or the text just before a later citation."""
    if len(words) <= MAX_CHARS:
        return words
    stop = len(until_citation) if words.startswith(until_citation) else 0
    if stop <= MAX_CHARS - 1:
        return words[: MAX_CHARS - 1].rsplit(" ", 1)[0].rstrip() + "…"
    tail = words[stop - MAX_CHARS + 2 : stop]
    return "…" + tail.partition(" ")[2] + ("" if stop == len(words) else "…")


_NUMBER_LABEL = re.compile(r"[\s\[\]\\^*_]*+\d{1,3}[\s\[\]\\*_]*+")

NEAR_LINK = 3
"""The most characters between a claim and the link behind it."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A place that cites page `number`: a mark, a link or a claim."""

    start: int
    end: int
    number: int
    url: str


@dataclass(frozen=True, slots=True)
class _Sign:
    """What a reader sees of a citation: a mark, or `link`."""

    start: int
    end: int
    link: Link | None = None


def with_marks(
    text: str, cited: Sequence[Cited], dropped: Sequence[Cited] = ()
) -> tuple[str, list[Cited]]:
    """The text in which every citation is visible, and the places in it.

    A mark gets the number of its page, and a claim without mark or link gets one behind it. Marks of `dropped` places,
    whose pages are in no list, are removed. Another link of the engine that looks like a mark, `[1](address)`, shows
    the site that it leads to.
    """
    layout = _Signs(text)
    marks: dict[tuple[int, int], dict[str, None]] = defaultdict(dict)
    cited_links: set[Link] = set()
    for place in cited:
        sign = layout.mark_or_link(place)
        if sign and sign.link:
            cited_links.add(sign.link)
        if sign is None:
            marks[layout.behind(place.end), layout.behind(place.end)][f"[{place.number}]"] = None
        elif sign.link is None:
            marks[sign.start, sign.end][f"[{place.number}]"] = None
    edits = [
        (
            start,
            end,
            (layout.blank_before(start) if start == end else "")
            + "".join(numbers)
            + layout.blank_after(end),
        )
        for (start, end), numbers in marks.items()
    ]
    for place in dropped:
        sign = layout.mark_or_link(place)
        if sign and sign.link is None and (sign.start, sign.end) not in marks:
            edits.append((sign.start - text.endswith((" ", "\t"), 0, sign.start), sign.end, ""))
    edits += layout.sites_for_numbers(cited_links)
    written, move = rewritten(text, edits)
    return written, [
        replace(place, start=move(place.start), end=move(place.end, at_end=True)) for place in cited
    ]


def numbered(text: str, cited: Sequence[Cited]) -> str:
    """A text of `with_marks` with marks in place of links. A label that is part of the sentence stays."""
    layout = _Signs(text)
    edits = {}
    for place in cited:
        if (sign := layout.sign(place)) and sign.link:
            mark = f"[{place.number}]{layout.blank_after(sign.end)}"
            edits[sign.start, sign.end] = f"{_label(text, sign.link)}{mark}"
    return rewritten(text, [(start, end, new) for (start, end), new in edits.items()])[0]


def linked(text: str, cited: Sequence[Cited]) -> tuple[str, list[Cited]]:
    """A text of `with_marks` with links such as `([host](url))` in place of marks; and their places, in order."""
    layout = _Signs(text)
    signs = {
        (sign.start, sign.end): (place, sign) for place in cited if (sign := layout.sign(place))
    }
    edits = [
        (start, end, f"{layout.blank_before(start)}([{host(place.url)}]({_target(place.url)}))")
        for (start, end), (place, sign) in signs.items()
        if sign.link is None
    ]
    written, move = rewritten(text, edits)
    places = []
    for start, end in sorted(signs):
        begin, stop = move(start), move(end, at_end=True)
        begin += written.startswith(" ", begin)
        places.append(replace(signs[start, end][0], start=begin, end=stop))
    return written, places


class _Signs:
    """The links, marks and code of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._links = {
            page: sorted(some, key=lambda link: link.whole) for page, some in links(text).items()
        }
        code = list(code_pieces(text))
        self._blocks = {end for start, end in code if "\n" in text[start:end]}
        marks = (mark.span() for mark in REFERENCE.finditer(text))
        self._solid = sorted(
            [*code, *marks, *(link.whole for some in self._links.values() for link in some)]
        )
        self._starts = [start for start, _ in self._solid]

    def sign(self, place: Cited) -> _Sign | None:
        """What shows the citation in a text of `with_marks`."""
        mark = f"[{place.number}]"
        if (sign := self.mark_or_link(place)) and (
            sign.link or mark in self._text[sign.start : sign.end]
        ):
            return sign
        start = self._text.find(mark, place.start)
        return _Sign(start, start + len(mark)) if start >= 0 else None

    def mark_or_link(self, place: Cited) -> _Sign | None:
        """The mark or link that the engine wrote; None if the place is a bare claim."""
        if (
            REFERENCE.fullmatch(self._text, place.start, place.end)
            and self._text[place.end : place.end + 1] != "("
        ):
            return _Sign(place.start, place.end)
        some = self._links.get(page_key(place.url), [])
        first = bisect_left(some, place.start + 1, key=lambda link: link.whole[1])
        if first == len(some) or some[first].whole[0] > place.end + NEAR_LINK:
            return None
        between = self._text[place.end : some[first].whole[0]]
        return None if between.strip(" .,;:!?") else _Sign(*some[first].whole, some[first])

    def sites_for_numbers(self, cited: Collection[Link]) -> list[tuple[int, int, str]]:
        """The edits that name the site of each link whose label is a number, but for links that cite a page."""
        edits = []
        for link in chain.from_iterable(self._links.values()):
            if link in cited or len(link.parts) < 2:
                continue
            label, address = (self._text[slice(*part)] for part in link.parts[:2])
            if _NUMBER_LABEL.fullmatch(label):
                edits.append((*link.parts[0], host(address) or "link"))
        return edits

    def behind(self, end: int) -> int:
        """The place for a mark behind a claim that ends here: not in a link, a mark or code."""
        before = bisect_right(self._starts, end - 1)
        return max(end, self._solid[before - 1][1]) if before else end

    def blank_before(self, at: int) -> str:
        """What keeps a mark or link from what is before it."""
        if at in self._blocks:
            return "\n\n"
        return "" if not at or self._text[at - 1].isspace() or self._text[at - 1] in "([" else " "

    def blank_after(self, at: int) -> str:
        """What keeps a mark from text behind it with which it would be a link or a definition of the engine."""
        return " " if self._text[at : at + 1] in ("(", ":") else ""


def _target(url: str) -> str:
    """A bracket without a partner would end the link."""
    return url if LINK.fullmatch(f"[]({url})") else url.replace("(", "%28").replace(")", "%29")


def _label(text: str, link: Link) -> str:
    """The label of a link, if it is part of the sentence: not in brackets, no number, and not the name of the site."""
    if link.whole != link.bare or not link.parts:
        return ""
    label = text[slice(*link.parts[0])].strip()
    address = text[slice(*link.parts[1])]
    is_name = (
        label.lower().removeprefix("www.").rstrip("/") in (host(address), address.lower())
        or not label
    )
    is_mark = is_name or "://" in label or _NUMBER_LABEL.fullmatch(label)
    return "" if is_mark else f"{label} "
