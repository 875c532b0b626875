"""Shows citations: as marks such as `[1]` for models, as links for apps, and in the answer as what its engine wrote."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from websearch_gateway.base import LINK, code_pieces, host, page_key
from websearch_gateway.evidence.link_places import REFERENCE, Link, links
from websearch_gateway.evidence.offsets import Edit, Range, rewritten

NEAR_LINK = 3
"""The most characters between a claim and the link behind it."""

_NUMBER_LABEL = re.compile(r"[\s\[\]\\^*_]*+\d{1,3}[\s\[\]\\*_]*+")


@dataclass(frozen=True, slots=True)
class Cited:
    """A place that cites page `number`: a mark, a link or a claim."""

    start: int
    end: int
    number: int
    url: str

    @property
    def mark(self) -> str:
        """What a reader sees of it, if no link stands there."""
        return f"[{self.number}]"


@dataclass(frozen=True, slots=True)
class _Sign:
    """What a reader sees of a citation: a mark, or `link`."""

    start: int
    end: int
    link: Link | None = None

    @property
    def place(self) -> Range:
        return self.start, self.end


def with_marks(
    text: str, cited: Sequence[Cited], dropped: Sequence[Cited] = ()
) -> tuple[str, list[Cited]]:
    """The text in which every citation is visible, and the places in it.

    A mark gets the number of its page, and a claim without mark or link gets one behind it. Marks of `dropped` places,
    whose pages are in no list, are removed. Another link of the engine that looks like a mark, `[1](address)`, shows
    the site that it leads to.
    """
    layout = _Signs(text)
    marks: dict[Range, list[str]] = defaultdict(list)
    cited_links: set[Link] = set()
    for place in cited:
        sign = layout.mark_or_link(place)
        if sign and sign.link:
            cited_links.add(sign.link)
            continue
        where = sign.place if sign else layout.behind(place.end)
        if place.mark not in marks[where]:
            marks[where].append(place.mark)
    edits = [layout.marked(where, "".join(numbers)) for where, numbers in marks.items()]
    edits += layout.without_marks(dropped, marks)
    edits += layout.sites_for_numbers(cited_links)
    written, move = rewritten(text, edits)
    places = []
    for place in cited:
        end = move(place.end, at_end=True)
        places.append(replace(place, start=move(place.start), end=end))
    return written, places


def numbered(text: str, cited: Sequence[Cited]) -> str:
    """A text of `with_marks` with marks in place of links. A label that is part of the sentence stays."""
    layout = _Signs(text)
    marks: dict[Range, Edit] = {}
    for place in cited:
        sign = layout.sign(place)
        if sign and sign.link:
            mark = place.mark + layout.blank_after(sign.end)
            marks[sign.place] = Edit(sign.start, sign.end, _label(text, sign.link) + mark)
    written, _ = rewritten(text, marks.values())
    return written


def linked(text: str, cited: Sequence[Cited]) -> tuple[str, list[Cited]]:
    """A text of `with_marks` with links such as `([host](url))` in place of marks; and their places, in order."""
    layout = _Signs(text)
    cited_by_sign: dict[Range, Cited] = {}
    marks: dict[Range, Edit] = {}
    for place in cited:
        sign = layout.sign(place)
        if sign is None:
            continue
        cited_by_sign[sign.place] = place
        if sign.link is None:
            link = f"([{host(place.url)}]({_target(place.url)}))"
            new = layout.blank_before(sign.start) + link
            marks[sign.place] = Edit(sign.start, sign.end, new)
    written, move = rewritten(text, marks.values())
    places = []
    for start, end in sorted(cited_by_sign):
        begin = move(start)
        if written.startswith(" ", begin):
            begin += 1
        end_of_link = move(end, at_end=True)
        places.append(replace(cited_by_sign[start, end], start=begin, end=end_of_link))
    return written, places


class _Signs:
    """The links, marks and code of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._links = {
            page: sorted(of_page, key=lambda link: link.whole)
            for page, of_page in links(text).items()
        }
        code = list(code_pieces(text))
        marks = [mark.span() for mark in REFERENCE.finditer(text)]
        whole_links = [link.whole for link in self._every_link()]
        self._solid = sorted([*code, *marks, *whole_links])
        self._starts_of_solid = [start for start, _ in self._solid]
        self._ends_of_blocks = {end for start, end in code if "\n" in text[start:end]}

    def _every_link(self) -> Iterator[Link]:
        return chain.from_iterable(self._links.values())

    def sign(self, place: Cited) -> _Sign | None:
        """What shows the citation in a text of `with_marks`."""
        sign = self.mark_or_link(place)
        if sign and sign.link:
            return sign
        start = self._text.find(place.mark, place.start)
        return _Sign(start, start + len(place.mark)) if start >= 0 else None

    def mark_or_link(self, place: Cited) -> _Sign | None:
        """The mark or link that the engine wrote; None if the place is a bare claim."""
        is_mark = REFERENCE.fullmatch(self._text, place.start, place.end)
        is_label = self._text.startswith("(", place.end)
        if is_mark and not is_label:
            return _Sign(place.start, place.end)
        of_page = self._links.get(page_key(place.url), [])
        first = bisect_left(of_page, place.start + 1, key=lambda link: link.whole[1])
        if first == len(of_page):
            return None
        link = of_page[first]
        if link.whole[0] > place.end + NEAR_LINK:
            return None
        between = self._text[place.end : link.whole[0]]
        return None if between.strip(" .,;:!?") else _Sign(*link.whole, link)

    def marked(self, place: Range, marks: str) -> Edit:
        """The edit that writes marks: in place of the engine's, or into an empty place behind a claim."""
        start, end = place
        before = self.blank_before(start) if start == end else ""
        return Edit(start, end, before + marks + self.blank_after(end))

    def without_marks(self, dropped: Sequence[Cited], cited: Collection[Range]) -> Iterator[Edit]:
        """The edits that remove the marks of dropped places, each with the blank before it, but those of cited ones."""
        for place in dropped:
            sign = self.mark_or_link(place)
            if sign is None or sign.link or sign.place in cited:
                continue
            has_blank = self._text.endswith((" ", "\t"), 0, sign.start)
            yield Edit(sign.start - has_blank, sign.end, "")

    def sites_for_numbers(self, cited: Collection[Link]) -> Iterator[Edit]:
        """The edits that name the site of each link whose label is a number, but for links that cite a page."""
        for link in self._every_link():
            if link in cited or link.label is None:
                continue
            start, end = link.label
            if _NUMBER_LABEL.fullmatch(self._text, start, end):
                yield Edit(start, end, host(link.url) or "link")

    def behind(self, end: int) -> Range:
        """The empty place for a mark behind a claim that ends here: not in a link, a mark or code."""
        before = bisect_right(self._starts_of_solid, end - 1)
        if before:
            end = max(end, self._solid[before - 1][1])
        return end, end

    def blank_before(self, at: int) -> str:
        """What keeps a mark or link from what is before it."""
        if at in self._ends_of_blocks:
            return "\n\n"
        before = self._text[at - 1 : at]
        is_apart = not before or before.isspace() or before in "(["
        return "" if is_apart else " "

    def blank_after(self, at: int) -> str:
        """What keeps a mark from text behind it with which it would be a link or a definition of the engine."""
        return " " if self._text.startswith(("(", ":"), at) else ""


def _target(url: str) -> str:
    """A bracket without a partner would end the link."""
    if LINK.fullmatch(f"[]({url})"):
        return url
    return url.replace("(", "%28").replace(")", "%29")


def _label(text: str, link: Link) -> str:
    """The label of a link, if it is part of the sentence: not in brackets, no number, and not the name of the site."""
    has_brackets = link.whole != link.bare
    if has_brackets or link.label is None:
        return ""
    start, end = link.label
    label = text[start:end].strip()
    name = label.lower().removeprefix("www.").rstrip("/")
    is_site = name in (host(link.url), link.url.lower())
    is_address = is_site or "://" in label
    if not label or is_address or _NUMBER_LABEL.fullmatch(label):
        return ""
    return f"{label} "
