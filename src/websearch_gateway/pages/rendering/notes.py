"""Finds notes: a short mark that links to a place of the same page, and the text at that place."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.vocabulary import INLINE, NOTE, with_class

_MARK = re.compile(r"[\[(]?(\d{1,3}|[a-z]|[ivx]{1,5}|[*†‡§¶]{1,3})[\])]?", re.IGNORECASE)
_NAMES = re.compile(
    r"foot-?note|note-?ref|fn-?ref|end-?note|\breference\b|\bfn\b|sdfootnote", re.IGNORECASE
)
_ROLES = frozenset(("doc-noteref",))
_BACK = re.compile(
    r"[\s↩↵⤴⏎↑^⬆\ufe0e\ufe0f]+|(?:jump )?(?:up|back)(?: to (?:text|content))?", re.IGNORECASE
)
_HOLDERS = frozenset(("li", "p", "div", "aside", "section", "dd"))
_SIDENOTES = re.compile(r"sidenote|marginnote")
_MOST_NOTES, _MOST_LINKS = 2_000, 20_000
_LONGEST_NOTE, _MOST_PIECES = 3_000, 1_000
_MOST_STEPS = 4


def mark_notes(root: Any) -> None:
    """Set NOTE, in place, on the marks of notes and on the notes; remove the links back from these."""
    marks = [
        link for link in islice(root.iter("a"), _MOST_LINKS) if link.get("href", "").startswith("#")
    ]
    marks = [link for link in marks if _MARK.fullmatch(_flat(link)) and _is_mark(link)][
        :_MOST_NOTES
    ]
    places: dict[str, Any] = {}
    for element in root.xpath(".//*[@id] | .//a[@name]") if marks else ():
        places.setdefault(element.get("id") or element.get("name"), element)
    holders: dict[Any, Any] = {}
    for link in marks:
        place = places.get(link.get("href", "#")[1:])  # a link back has lost its address
        found = _MARK.fullmatch(_flat(link))
        if place is None or found is None:
            continue
        if place not in holders:
            holders[place] = _holder(place)
        note = holders[place]
        if note is None or any(around is note for around in link.iterancestors()):
            continue
        if note.get(NOTE) in (None, found[1]):
            link.set(NOTE, found[1])
            _without_brackets(link)
            if note.get(NOTE) is None:
                note.set(NOTE, found[1])
                _remove_links_back(note, found[1])
    for aside in with_class(root, _SIDENOTES):
        if aside.tag == "span":
            _in_brackets(aside)


def _flat(element: Any) -> str:
    return "".join(islice(element.itertext(), _MOST_PIECES)).strip()


def _is_mark(link: Any) -> bool:
    """Whether a link stands as the mark of a note: raised, or named so."""
    if (
        link.get("role") in _ROLES
        or "noteref" in link.get("epub:type", "").split()
        or link.find("sup") is not None
        or "footnote" in link.get("rel", "")
    ):
        return True
    around = [link, link.getparent()]
    return any(
        one is not None and (one.tag == "sup" or _NAMES.search(one.get("class", "")))
        for one in around
    )


def _without_brackets(link: Any) -> None:
    """Remove the brackets beside a mark, which its own form has."""
    before, around, tail = link.getprevious(), link.getparent(), link.tail or ""
    text = (around.text if before is None else before.tail) or ""
    if not (text.endswith("[") and tail.startswith("]")):
        return
    link.tail = tail[1:]
    if before is None:
        around.text = text[:-1]
    else:
        before.tail = text[:-1]


def _holder(place: Any) -> Any:
    """The block around the place that a mark leads to; None if that is no note but a part of the page."""
    for _ in range(_MOST_STEPS):
        if place is None or place.tag in ("body", "main", "article", "td", "th", "tr", "dt"):
            return None
        if place.tag in _HOLDERS:
            return place if len(_flat(place)) <= _LONGEST_NOTE else None
        place = place.getparent()
    return None


def _remove_links_back(note: Any, mark: str) -> None:
    """Remove the links from a note to its marks, and the mark at its beginning."""
    for link in note.xpath(".//a[starts-with(@href, '#')]"):
        text = _flat(link)
        own = _MARK.fullmatch(text)
        if (
            _BACK.fullmatch(text)
            or link.get("role") == "doc-backlink"
            or (own is not None and own[1] == mark)
        ):
            tail = (link.tail or "").lstrip(" .:]") if own is not None else link.tail
            link.clear()
            link.tail = tail


def _in_brackets(aside: Any) -> None:
    """Put a note that stands in the margin beside its sentence into brackets inside of it."""
    if not _flat(aside) or any(
        around.tag not in INLINE and around.tag != "p" for around in [aside.getparent()]
    ):
        return
    aside.text = f" ({(aside.text or '').lstrip()}"
    if len(aside):
        aside[-1].tail = f"{(aside[-1].tail or '').rstrip()})"
    else:
        aside.text = f"{aside.text.rstrip()})"
