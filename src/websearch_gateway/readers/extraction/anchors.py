"""The ids of headings and definitions, kept while a page is rendered, so that a section can be linked to.

The renderer ends the line of a heading or term with a mark that contains its id; `without_marks` removes the marks and
returns their places. A mark is made of noncharacters, which no text may contain (https://www.unicode.org/faq/private_use.html).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Any

Anchors = tuple[tuple[int, str], ...]
"""Ids of elements, each with the offset in the Markdown at which the line of its heading or term begins."""

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARK = re.compile(f"{_OPEN}([^\\s{_OPEN}{_CLOSE}]{{1,200}}){_CLOSE}")
_USABLE = re.compile(f"[^\\s{_OPEN}{_CLOSE}]{{1,200}}")
_DEEPEST = 6
"""DocBook puts four elements between a heading and the section with its id; no generator needs more than this."""
_NEAR = 8
"""The most elements around a heading to look at: a hostile page may have thousands."""


def marked(line: str, element: Any) -> str:
    """The Markdown of a heading or term with a mark at the end of its first line, if it has an id."""
    for identifier in _candidates(element):
        if identifier and _USABLE.fullmatch(identifier):
            first, newline, rest = line.partition("\n")
            return f"{first}{_OPEN}{identifier}{_CLOSE}{newline}{rest}"
    return line


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
        yield inside.get("id") or inside.get("name")
    for _ in range(_DEEPEST):
        parent = element.getparent()
        if parent is None or parent.tag in ("body", "html", "main"):
            return
        before = list(islice(element.itersiblings(preceding=True), _NEAR))
        empty = list(takewhile(lambda one: not (len(one) or _has_text(one.text) or _has_text(one.tail)), before))
        is_first = len(empty) == len(before) and not _has_text(parent.text)
        if is_first and parent.tag == "section":
            yield parent.get("id")
        yield from (one.get("id") or one.get("name") for one in empty)
        if not is_first:
            return
        yield parent.get("id")
        element = parent


def _has_text(text: str | None) -> bool:
    return text is not None and not text.isspace()
