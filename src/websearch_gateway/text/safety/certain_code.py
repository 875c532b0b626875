"""Finds the code of a page that may stay unchanged: only the parts that every Markdown parser treats as code.

If another parser treats the same part as text, it finds live images and tags in it. So in doubt nothing is code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from websearch_gateway.text.markdown import CODE, code_blocks

_SPAN_OR_ESCAPE = re.compile(rf"\\.|{CODE.pattern}", re.DOTALL)
_CHUNK = re.compile(r"\n[ \t]*+\n")
_TAG = re.compile(r"<[a-z/!?]", re.IGNORECASE)
_FENCED_IN_CONTAINER = re.compile(r"^[ \t]*+(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]*+)++(?:`{3}|~{3})", re.MULTILINE)


def code_pieces(text: str) -> Iterator[tuple[int, int]]:
    """The code blocks and spans of `text` as (start, end), in order, that every parser treats as code.

    A block counts if it stands alone: no tag opens an HTML block around it, and no list around it ends inside it
    (https://spec.commonmark.org/0.31.2/#fenced-code-blocks). After the first doubtful block nothing counts. A span
    counts if it is on one line, in a paragraph without tags and unmatched ticks, and has no `|`, which may end a cell.
    """
    done, in_lists = 0, None
    for begin, end in code_blocks(text):
        if in_lists is None:
            in_lists = not _FENCED_IN_CONTAINER.search(text)
        start = text.rfind("\n", 0, begin) + 1
        yield from _spans(text, done, start)
        if not _stands_alone(text, done, start, end, in_lists=in_lists):
            return
        yield start, end
        done = end
    yield from _spans(text, done, len(text))


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if text.find("`", start, end) < 0:
        return
    for chunk in _chunks(text, start, end):
        if text.find("`", *chunk) >= 0:
            yield from _spans_of_chunk(text, *chunk)


def _chunks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for blank in _CHUNK.finditer(text, start, end):
        yield start, blank.start()
        start = blank.end() - 1  # the line feed may begin the next blank line
    yield start, end


def _spans_of_chunk(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found, at = [], start
    for span in _SPAN_OR_ESCAPE.finditer(text, start, end):
        if not span["ticks"]:
            continue
        if _is_doubtful(text, at, span.start()) or "\n" in span[0] or "|" in span[0]:
            return []
        found.append(span.span())
        at = span.end()
    return [] if found and _is_doubtful(text, at, end) else found


def _is_doubtful(text: str, start: int, end: int) -> bool:
    return text.find("`", start, end) >= 0 or bool(_TAG.search(text, start, end))


def _stands_alone(text: str, before: int, start: int, end: int, *, in_lists: bool) -> bool:
    """Whether every parser treats `text[start:end]`, which begins at the start of a line, as a code block."""
    lines = text[start:end].split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    if lines[0][indent : indent + 1] == "\t" or "|" in lines[0]:
        return False
    blank = max(text.rfind("\n\n", before, start), before)
    if _TAG.search(text, blank, start):
        return False
    if not indent:
        return not lines[-1][:1].isspace()
    is_inside = all(not line.strip() or line.startswith(" " * indent) for line in lines)
    closes_where_it_opens = lines[-1][indent : indent + 1] != " "
    return (
        in_lists and is_inside and closes_where_it_opens and (indent < 4 or text[max(0, start - 2) : start] == "\n\n")
    )
