"""The last step of every reader: limits the length of the text and sanitises it. Runs in a worker process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.sites.source import Document
from websearch_gateway.text.invisible import strip_invisible_characters
from websearch_gateway.text.sanitise import clean_markdown

MAX_MARKDOWN = 2_000_000
"""The most characters of a page's Markdown, since several copies are in memory at once."""

MAX_TITLE = 1_000
TOO_LONG = "The page has more than {:,} characters of text; the rest is left out."


def cleaned(read: Callable[..., Any], url: str, *arguments: object) -> Any:
    """The result of `read(*arguments)` (`Extracted` or a `Document`) without active or hidden content, and with
    warnings about it.

    Args:
        url: the source of the text; images of its own site may stay.
    """
    found: Extracted | Document = read(*arguments)
    cut = (TOO_LONG.format(MAX_MARKDOWN),) if len(found.markdown) > MAX_MARKDOWN else ()
    markdown, warnings = clean_markdown(found.markdown[:MAX_MARKDOWN], url)
    title, _ = strip_invisible_characters(found.title[:MAX_TITLE])
    return replace(
        found, title=title, markdown=markdown, warnings=tuple(dict.fromkeys((*found.warnings, *cut, *warnings)))
    )


def until_too_long(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces of a text up to the one that makes it too long, for formats that grow when converted."""
    length = 0
    for piece in pieces:
        yield piece
        length += len(piece)
        if length > MAX_MARKDOWN:
            return
