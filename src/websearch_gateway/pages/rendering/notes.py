"""Finds notes: a short mark that links to a place of the same page, and the text at that place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.vocabulary import INLINE, NOTE, with_class

_MARK = re.compile(r"[\[(]?(\d{1,3}|[a-z]|[ivx]{1,5}|[*†‡§¶]{1,3})[\])]?", re.IGNORECASE)
_SIDENOTES = re.compile(r"sidenote|marginnote")
_MOST_NOTES, _MOST_LINKS = 2_000, 20_000
_LONGEST_NOTE, _MOST_PIECES = 3_000, 1_000


def mark_notes(root: Any) -> None:
    """Set NOTE, in place, on the marks of notes and on the notes; remove the links back from these."""
    marks = list(islice(_marks(root), _MOST_NOTES))
    if marks:
        _join(marks, _places(root))
    for aside in with_class(root, _SIDENOTES):
        if aside.tag == "span":
            _in_brackets(aside)


def _flat(element: Any) -> str:
    return "".join(islice(element.itertext(), _MOST_PIECES)).strip()


@dataclass(frozen=True, slots=True)
class _Mark:
    """A link that stands as the mark of a note, and what the mark says without brackets."""

    link: Any
    text: str


def _marks(root: Any) -> Iterator[_Mark]:
    for link in islice(root.iter("a"), _MOST_LINKS):
        if not link.get("href", "").startswith("#"):
            continue
        mark = _MARK.fullmatch(_flat(link))
        if mark is not None and _is_mark(link):
            yield _Mark(link, mark[1])


_NAMES = re.compile(
    r"foot-?note|note-?ref|fn-?ref|end-?note|\breference\b|\bfn\b|sdfootnote", re.IGNORECASE
)


def _is_mark(link: Any) -> bool:
    """Whether a link stands as the mark of a note: declared so, raised, or named so."""
    is_declared = link.get("role") == "doc-noteref" or "footnote" in link.get("rel", "")
    if is_declared or "noteref" in link.get("epub:type", "").split():
        return True
    if link.find("sup") is not None or _is_raised_or_named(link):
        return True
    around = link.getparent()
    return around is not None and _is_raised_or_named(around)


def _is_raised_or_named(element: Any) -> bool:
    return element.tag == "sup" or _NAMES.search(element.get("class", "")) is not None


def _places(root: Any) -> dict[str, Any]:
    """The elements to which a link can lead, by their ids."""
    places: dict[str, Any] = {}
    for element in root.xpath(".//*[@id] | .//a[@name]"):
        places.setdefault(element.get("id") or element.get("name"), element)
    return places


def _join(marks: Sequence[_Mark], places: Mapping[str, Any]) -> None:
    """Set NOTE on the marks and on the notes to which they lead."""
    notes: dict[Any, Any] = {}
    for mark in marks:
        link = mark.link
        place = places.get(link.get("href", "#")[1:])
        # The links back of an earlier note have lost their addresses and words.
        if place is None or _MARK.fullmatch(_flat(link)) is None:
            continue
        if place not in notes:
            notes[place] = _note_around(place)
        note = notes[place]
        if note is None or any(outer is note for outer in link.iterancestors()):
            continue
        earlier = note.get(NOTE)
        if earlier is None:
            note.set(NOTE, mark.text)
            _remove_links_back(note, mark.text)
        elif earlier != mark.text:
            continue
        link.set(NOTE, mark.text)
        _remove_brackets_beside(link)


_HOLDERS = frozenset(("li", "p", "div", "aside", "section", "dd"))
_PARTS_OF_PAGE = frozenset(("body", "main", "article", "td", "th", "tr", "dt"))
_MOST_STEPS = 4


def _note_around(place: Any) -> Any:
    """The block around the place that a mark leads to; None if that is no note but a part of the page."""
    for _ in range(_MOST_STEPS):
        if place is None or place.tag in _PARTS_OF_PAGE:
            return None
        if place.tag in _HOLDERS:
            return place if len(_flat(place)) <= _LONGEST_NOTE else None
        place = place.getparent()
    return None


_BACK = re.compile(
    r"[\s↩↵⤴⏎↑^⬆\ufe0e\ufe0f]+|(?:jump )?(?:up|back)(?: to (?:text|content))?", re.IGNORECASE
)


def _remove_links_back(note: Any, mark: str) -> None:
    """Remove the links from a note to its marks, and the mark at its beginning."""
    for link in note.xpath(".//a[starts-with(@href, '#')]"):
        text = _flat(link)
        own_mark = _MARK.fullmatch(text)
        leads_back = link.get("role") == "doc-backlink" or _BACK.fullmatch(text) is not None
        if leads_back or (own_mark is not None and own_mark[1] == mark):
            tail = link.tail
            if own_mark is not None:
                tail = (tail or "").lstrip(" .:]")
            link.clear()
            link.tail = tail


def _remove_brackets_beside(link: Any) -> None:
    """Remove the brackets beside a mark, which its own form has."""
    around, before = link.getparent(), link.getprevious()
    text = (around.text if before is None else before.tail) or ""
    tail = link.tail or ""
    if not (text.endswith("[") and tail.startswith("]")):
        return
    link.tail = tail[1:]
    if before is None:
        around.text = text[:-1]
    else:
        before.tail = text[:-1]


def _in_brackets(aside: Any) -> None:
    """Put a note that stands in the margin beside its sentence into brackets inside of it."""
    around = aside.getparent()
    is_in_sentence = around is None or around.tag in INLINE or around.tag == "p"
    if not is_in_sentence or not _flat(aside):
        return
    aside.text = f" ({(aside.text or '').lstrip()}"
    if not len(aside):
        aside.text = f"{aside.text.rstrip()})"
        return
    last = aside[-1]
    last.tail = f"{(last.tail or '').rstrip()})"
