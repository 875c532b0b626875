"""The last step of every reader: the text within its bounds, and safe to hand on. Runs in a worker process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.sites.source import Document
from websearch_gateway.text.safety.invisible import strip_invisible_characters
from websearch_gateway.text.safety.sanitise import clean_markdown

MAX_MARKDOWN = 2_000_000
"""Characters of a page's Markdown; nobody reads more of it, and it is held in memory several times."""

MAX_TITLE = 1_000
TOO_LONG = "The page has more than {:,} characters of text; the rest is left out."


def cleaned(read: Callable[..., Any], url: str, *arguments: object) -> Any:
    """What `read(*arguments)` gives (`Extracted` or a `Document`), without what could act or hide, with warnings that
    say so.

    Args:
        url: where the text is from, whose own images may stay.
    """
    found: Extracted | Document = read(*arguments)
    cut = (TOO_LONG.format(MAX_MARKDOWN),) if len(found.markdown) > MAX_MARKDOWN else ()
    markdown, warnings = clean_markdown(found.markdown[:MAX_MARKDOWN], url)
    title, _ = strip_invisible_characters(found.title[:MAX_TITLE])
    said = tuple(dict.fromkeys((*found.warnings, *cut, *warnings)))
    return replace(found, title=title, markdown=markdown, warnings=said)
