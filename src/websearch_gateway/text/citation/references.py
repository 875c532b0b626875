"""Shows in the text of an answer from which page each claim is: by a mark such as `[1]`, or by a link.

An engine cites a page by a link that it wrote, by a mark, or only by a span over a claim, which no reader sees. The
answer itself keeps links and has marks elsewhere (`with_marks`), its text for models has only marks, which number a
list below it (`numbered`), and its text for apps has only links (`linked`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from websearch_gateway.text.citation.cite import REFERENCE, Link, links, rewritten
from websearch_gateway.text.markdown import LINK
from websearch_gateway.text.sanitise import code_pieces
from websearch_gateway.text.urls import canonical, host

NEAR = 3
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


def with_marks(text: str, cited: Sequence[Cited], dropped: Sequence[Cited] = ()) -> tuple[str, list[Cited]]:
    """The text in which every citation is visible, and the places in it.

    A mark gets the number of its page, and a claim without mark or link gets one behind it. Marks of `dropped` places,
    whose pages are in no list, are removed.
    """
    layout = _Layout(text)
    marks: dict[tuple[int, int], dict[str, None]] = defaultdict(dict)
    for place in cited:
        sign = layout.mark_or_link(place)
        if sign is None:
            marks[layout.behind(place.end), layout.behind(place.end)][f"[{place.number}]"] = None
        elif sign.link is None:
            marks[sign.start, sign.end][f"[{place.number}]"] = None
    edits = [
        (start, end, (layout.blank_before(start) if start == end else "") + "".join(numbers))
        for (start, end), numbers in marks.items()
    ]
    for place in dropped:
        sign = layout.mark_or_link(place)
        if sign and sign.link is None and (sign.start, sign.end) not in marks:
            edits.append((sign.start - text.endswith((" ", "\t"), 0, sign.start), sign.end, ""))
    written, move = rewritten(text, edits)
    return written, [replace(place, start=move(place.start), end=move(place.end, at_end=True)) for place in cited]


def numbered(text: str, cited: Sequence[Cited]) -> str:
    """A text of `with_marks` with marks in place of links. A label that is part of the sentence stays."""
    layout = _Layout(text)
    edits = {}
    for place in cited:
        if (sign := layout.sign(place)) and sign.link:
            edits[sign.start, sign.end] = f"{_words(text, sign.link)}[{place.number}]"
    return rewritten(text, [(start, end, new) for (start, end), new in edits.items()])[0]


def linked(text: str, cited: Sequence[Cited]) -> tuple[str, list[Cited]]:
    """A text of `with_marks` with links such as `([host](url))` in place of marks; and their places, in order."""
    layout = _Layout(text)
    signs = {(sign.start, sign.end): (place, sign) for place in cited if (sign := layout.sign(place))}
    edits = [
        (start, end, f"{layout.blank_before(start)}([{host(place.url)}]({_address(place.url)}))")
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


class _Layout:
    """The links, marks and code of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._links = {page: sorted(some, key=lambda link: link.whole) for page, some in links(text).items()}
        code = list(code_pieces(text))
        self._blocks = {end for start, end in code if "\n" in text[start:end]}
        marks = (mark.span() for mark in REFERENCE.finditer(text))
        self._solid = sorted([*code, *marks, *(link.whole for some in self._links.values() for link in some)])
        self._starts = [start for start, _ in self._solid]

    def sign(self, place: Cited) -> _Sign | None:
        """What shows the citation in a text of `with_marks`."""
        mark = f"[{place.number}]"
        if (sign := self.mark_or_link(place)) and (sign.link or mark in self._text[sign.start : sign.end]):
            return sign
        start = self._text.find(mark, place.start)
        return _Sign(start, start + len(mark)) if start >= 0 else None

    def mark_or_link(self, place: Cited) -> _Sign | None:
        """The mark or link that the engine wrote; None if the place is a bare claim."""
        if REFERENCE.fullmatch(self._text, place.start, place.end) and self._text[place.end : place.end + 1] != "(":
            return _Sign(place.start, place.end)
        some = self._links.get(canonical(place.url), [])
        first = bisect_left(some, place.start + 1, key=lambda link: link.whole[1])
        if first == len(some) or some[first].whole[0] > place.end + NEAR:
            return None
        between = self._text[place.end : some[first].whole[0]]
        return None if between.strip(" .,;:!?") else _Sign(*some[first].whole, some[first])

    def behind(self, end: int) -> int:
        """The place for a mark behind a claim that ends here: not in a link, a mark or code."""
        before = bisect_right(self._starts, end - 1)
        return max(end, self._solid[before - 1][1]) if before else end

    def blank_before(self, at: int) -> str:
        """What keeps a mark or link from what is before it."""
        if at in self._blocks:
            return "\n\n"
        return "" if not at or self._text[at - 1].isspace() or self._text[at - 1] in "([" else " "


def _address(url: str) -> str:
    """`url` as the target of a link: brackets without a partner would end it."""
    return url if LINK.fullmatch(f"[]({url})") else url.replace("(", "%28").replace(")", "%29")


def _words(text: str, link: Link) -> str:
    """The label of a link, if it is part of the sentence: not in brackets, and not the name of the site."""
    if link.whole != link.bare or not link.parts:
        return ""
    label = text[slice(*link.parts[0])].strip()
    address = text[slice(*link.parts[1])]
    is_name = label.lower().removeprefix("www.").rstrip("/") in (host(address), address.lower()) or not label
    return "" if is_name or "://" in label else f"{label} "
