"""Keeps the ids that links lead to: marks in the Markdown while it grows, then offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Any

from websearch_gateway.pages.rendering.vocabulary import PERMALINKS

Anchors = tuple[tuple[int, str], ...]
"""Ids of elements, each with the offset in the Markdown at which the line of its heading or term begins."""

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARK = re.compile(f"{_OPEN}([^\\s{_OPEN}{_CLOSE}]{{1,200}}){_CLOSE}")
_USABLE = re.compile(f"[^\\s{_OPEN}{_CLOSE}]{{1,200}}")
_NAMED = re.compile(r"\W{0,9}(\w{3,100})\b")
_ANCHORS_DEEPEST = 6  # DocBook puts four elements between a heading and the section with its id
_NEAR = 8  # elements around a heading: a hostile page may have thousands


def marked(line: str, element: Any) -> str:
    """The Markdown of a heading or term with a mark at the end of its first line, if it has an id."""
    usable = (one for one in _candidates(element) if one and _USABLE.fullmatch(one))
    return next((with_mark(line, identifier) for identifier in usable), line)


def with_mark(line: str, identifier: str) -> str:
    first, newline, rest = line.partition("\n")
    return f"{first}{_OPEN}{identifier}{_CLOSE}{newline}{rest}"


def ids_of_signature(element: Any, text: str) -> Iterator[str]:
    """The ids that lead to a signature: of an empty permalink right after it, as pdoc writes it, and of empty anchors
    right before it, as pydoctor does; and the id that ends in the name that the text begins with.
    """
    link = element.getnext()
    if (
        link is not None
        and link.tag == "a"
        and "headerlink" in link.get("class", "")
        and not _has_text(link.text)
    ):
        yield from (
            one[1:]
            for one in [link.get("href", "")]
            if one[:1] == "#" and _USABLE.fullmatch(one[1:])
        )
    for anchor in islice(element.itersiblings(preceding=True), _NEAR):
        if anchor.tag != "a" or len(anchor) or _has_text(anchor.text) or _has_text(anchor.tail):
            break
        yield from (
            one for one in [anchor.get("id") or anchor.get("name") or ""] if _USABLE.fullmatch(one)
        )
    identifier, name = element.get("id") or "", _NAMED.match(text)
    if (
        name
        and identifier.endswith(name[1])
        and _USABLE.fullmatch(identifier)
        and _OPEN not in text.partition("\n")[0]
    ):
        yield identifier


def defined_in(paragraph: Any) -> str:
    """The id of the name that a signature defines, as haddock writes it: `<p><a id="v:fold">fold</a> :: ...`."""
    for link in islice(paragraph.iterchildren("a"), _NEAR):
        identifier, name = link.get("id") or "", link.text
        if name and identifier.endswith(name) and _USABLE.fullmatch(identifier):
            return identifier
    return ""


def without_marks(markdown: str) -> tuple[str, Anchors]:
    """The Markdown without its marks, and the ids in the marks."""
    parts: list[str] = []
    anchors: list[tuple[int, str]] = []
    begin = length = line = 0
    for found in _MARK.finditer(markdown):
        before = markdown[begin : found.start()]
        if "\n" in before:
            line = length + before.rindex("\n") + 1
        parts.append(before)
        length += len(before)
        begin = found.end()
        anchors.append((line, found[1]))
    return "".join([*parts, markdown[begin:]]), tuple(anchors)


def _candidates(element: Any) -> Iterator[str | None]:
    """The ids that link to an element: its own, one inside it, one of an empty element before it, or its section's."""
    yield element.get("id")
    for inside in islice(element.iterdescendants("a", "span", "code", "dfn"), _NEAR):
        yield _own_id(inside)
    for _ in range(_ANCHORS_DEEPEST):
        parent = element.getparent()
        if parent is None or parent.tag in ("body", "html", "main"):
            return
        before = list(islice(element.itersiblings(preceding=True), _NEAR))
        empty = list(takewhile(_is_empty, before))
        is_first = len(empty) == len(before) and not _has_text(parent.text)
        if is_first and parent.tag == "section":
            yield parent.get("id")
        yield from map(_own_id, empty)
        if not is_first:
            return
        yield parent.get("id")
        element = parent


def _own_id(element: Any) -> str | None:
    """The id of an element. Scaladoc writes the types of a signature as `<a name>` with the address of another page."""
    return element.get("id") or (
        element.get("name") if element.get("href", "#").startswith("#") else None
    )


def _is_empty(element: Any) -> bool:
    """Whether an element has no text but the sign of a permalink."""
    text = (
        element.text
        if element.tag != "a" or (element.text or "").strip() not in PERMALINKS
        else None
    )
    return not (len(element) or _has_text(text) or _has_text(element.tail))


def _has_text(text: str | None) -> bool:
    return text is not None and not text.isspace()
