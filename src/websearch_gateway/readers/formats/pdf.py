"""The text of a PDF, page by page, with the headings of its outline if it has one."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.extraction.extract import Extracted

# The character that PDFium writes for a hyphen at the end of a line, and the soft hyphen.
_BROKEN_WORD = re.compile("[\ufffe\u00ad]\n?")
_NUMBERING = re.compile(r"(?:[\dIVX]+\.?)+\s+")
_DEEPEST = 6
_MOST_HEADINGS = 10_000


def pdf(body: bytes, url: str, charset: str) -> Extracted:
    """A PDF as Markdown, with a line `*Page N*` before the text of each page. `charset` is not used.

    Raises:
        SearchFetchError: the PDF is damaged or encrypted, or has no text.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body)
        headings = _outline(document)
        pages = [_page(page, number, headings.get(number, [])) for number, page in enumerate(document, 1)]
        title = document.get_metadata_value("Title")
    except pypdfium2.PdfiumError:
        raise SearchFetchError("The PDF is damaged, or locked with a password.") from None
    text = "\n\n".join(page for page in pages if page)
    if not text:
        raise SearchFetchError("The PDF has no text; it may be a scan.")
    return Extracted(_line(title) or unquote(urlsplit(url).path.rpartition("/")[2]), text, None)


def _outline(document: Any) -> dict[int, list[tuple[int, str]]]:
    """Level and title of each heading, by page number."""
    headings: dict[int, list[tuple[int, str]]] = {}
    for bookmark in islice(document.get_toc(max_depth=_DEEPEST), _MOST_HEADINGS):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None and (title := _line(bookmark.get_title())):
            headings.setdefault(index + 1, []).append((min(bookmark.level + 2, _DEEPEST), title))
    return headings


def _page(page: Any, number: int, headings: list[tuple[int, str]]) -> str:
    text = page.get_textpage().get_text_bounded().replace("\r\n", "\n").replace("\r", "\n")
    lines = _BROKEN_WORD.sub("", text).replace("\0", "").strip().split("\n")
    if lines == [""]:
        return ""
    unplaced = []
    places = {_bare(line): at for at, line in reversed([*enumerate(lines)])} if headings else {}
    for level, title in headings:
        mark = f"{'#' * level} {title}"
        place = places.get(_bare(title))
        if place is None:
            unplaced.append(f"{mark}\n")
        else:
            lines[place] = f"\n{mark}\n"
    return "\n".join([f"*Page {number}*\n", *unplaced, *lines])


def _bare(line: str) -> str:
    """A heading without its number."""
    return _NUMBERING.sub("", _line(line), count=1).casefold()


def _line(text: str) -> str:
    return " ".join(text.replace("\0", "").split())
