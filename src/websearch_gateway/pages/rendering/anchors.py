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


def marked(line: str, element: Any) -> str:
    """The Markdown of a heading or term with a mark at the end of its first line, if it has an id."""
    for identifier in _ids_of_heading(element):
        if _is_usable(identifier):
            return with_mark(line, identifier)
    return line


def with_mark(line: str, identifier: str) -> str:
    """The Markdown of a block with a mark at the end of its first line."""
    first, newline, rest = line.partition("\n")
    return f"{first}{_OPEN}{identifier}{_CLOSE}{newline}{rest}"


def without_marks(markdown: str) -> tuple[str, Anchors]:
    """The Markdown without its marks, and the ids in the marks."""
    parts: list[str] = []
    anchors: list[tuple[int, str]] = []
    begin = length = line = 0
    for mark in _MARK.finditer(markdown):
        before = markdown[begin : mark.start()]
        if "\n" in before:
            line = length + before.rindex("\n") + 1
        parts.append(before)
        length += len(before)
        begin = mark.end()
        anchors.append((line, mark[1]))
    parts.append(markdown[begin:])
    return "".join(parts), tuple(anchors)


def _is_usable(identifier: str) -> bool:
    return _USABLE.fullmatch(identifier) is not None


_NEAR = 8  # elements around a heading: a hostile page may have thousands
_NAMED = re.compile(r"\W{0,9}(\w{3,100})\b")


def ids_of_signature(element: Any, text: str) -> Iterator[str]:
    """The ids that lead to a signature: of an empty permalink right after it, as pdoc writes it, and of empty anchors
    right before it, as pydoctor does; and the id that ends in the name that the text begins with.
    """
    permalink = element.getnext()
    if permalink is not None and _is_empty_permalink(permalink):
        target = permalink.get("href", "")
        identifier = target.removeprefix("#")
        if identifier != target and _is_usable(identifier):
            yield identifier
    for anchor in islice(element.itersiblings(preceding=True), _NEAR):
        if not _is_empty_anchor(anchor):
            break
        identifier = anchor.get("id") or anchor.get("name", "")
        if _is_usable(identifier):
            yield identifier
    identifier = element.get("id", "")
    if _is_usable(identifier) and _ends_in_name(identifier, text):
        yield identifier


def _is_empty_permalink(element: Any) -> bool:
    """Whether an element is a permalink whose sign a style sheet draws."""
    is_permalink = element.tag == "a" and "headerlink" in element.get("class", "")
    return is_permalink and not _has_text(element.text)


def _is_empty_anchor(element: Any) -> bool:
    """Whether an element is an `<a>` without text in it or behind it."""
    if element.tag != "a" or len(element):
        return False
    return not _has_text(element.text) and not _has_text(element.tail)


def _ends_in_name(identifier: str, text: str) -> bool:
    """Whether an id ends in the name that a text without a mark begins with."""
    name = _NAMED.match(text)
    if name is None or not identifier.endswith(name[1]):
        return False
    return _OPEN not in text.partition("\n")[0]


def defined_in(paragraph: Any) -> str:
    """The id of the name that a signature defines, as haddock writes it: `<p><a id="v:fold">fold</a> :: ...`."""
    for link in islice(paragraph.iterchildren("a"), _NEAR):
        identifier, name = link.get("id", ""), link.text
        if name and _is_usable(identifier) and identifier.endswith(name):
            return str(identifier)
    return ""


_DEEPEST = 6  # DocBook puts four elements between a heading and the section with its id
_WHOLE_PAGE = ("body", "html", "main")


def _ids_of_heading(element: Any) -> Iterator[str]:
    """The ids that link to an element: its own, one inside it, one of an empty element before it, or its section's."""
    yield element.get("id", "")
    for inside in islice(element.iterdescendants("a", "span", "code", "dfn"), _NEAR):
        yield _own_id(inside)
    for _ in range(_DEEPEST):
        parent = element.getparent()
        if parent is None or parent.tag in _WHOLE_PAGE:
            return
        before = list(islice(element.itersiblings(preceding=True), _NEAR))
        empty = list(takewhile(_is_empty, before))
        is_first = len(empty) == len(before) and not _has_text(parent.text)
        if is_first and parent.tag == "section":
            yield parent.get("id", "")
        for sibling in empty:
            yield _own_id(sibling)
        if not is_first:
            return
        yield parent.get("id", "")
        element = parent


def _own_id(element: Any) -> str:
    """The id of an element. Scaladoc writes the types of a signature as `<a name>` with the address of another page."""
    identifier = element.get("id", "")
    if not identifier and element.get("href", "#").startswith("#"):
        identifier = element.get("name", "")
    return str(identifier)


def _is_empty(element: Any) -> bool:
    """Whether an element has no text but the sign of a permalink."""
    if len(element) or _has_text(element.tail):
        return False
    is_permalink = element.tag == "a" and (element.text or "").strip() in PERMALINKS
    return is_permalink or not _has_text(element.text)


def _has_text(text: str | None) -> bool:
    return text is not None and not text.isspace()
