"""An e-book (EPUB, https://www.w3.org/TR/epub-33/) as Markdown: its chapters in their order. For worker processes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.package import Package, encrypted, inside
from websearch_gateway.pages.formats.rendering import (
    XML_CONTROLS,
    figure,
    parse_html,
    tree_to_markdown,
    until_too_long,
)
from websearch_gateway.pages.rendering import write_pictured_formulas

MOST_CHAPTERS = 5_000
MORE = "Chapters after the first {:,} of the book were left out."

_DC = "{http://purl.org/dc/elements/1.1/}"
_OPF = "{http://www.idpf.org/2007/opf}"


def epub(package: Package) -> Extracted:
    """An e-book without its tables of contents, and without the text that its style sheets hide.

    Raises:
        SearchFetchError: its text is encrypted.
    """
    if _is_locked(package):
        raise encrypted()
    part = _description_of(package)
    root = package.xml(part)
    if root is None:
        return Extracted("", "", None)
    chapters = [chapter.get("idref", "") for chapter in root.iter(f"{_OPF}itemref")]
    reader = _Reader(package, MOST_STYLES)
    texts = (reader.chapter(inside(part, link)) for link in _links(root, chapters[:MOST_CHAPTERS]))
    pieces = filter(None, chain(_facts(root), texts))
    markdown = "\n\n".join(until_too_long(pieces))
    warnings = []
    if len(chapters) > MOST_CHAPTERS:
        warnings.append(MORE.format(MOST_CHAPTERS))
    if reader.room < 0:
        warnings.append(UNSTYLED)
    day = _words(root, "date")[:10]
    return Extracted(_words(root, "title"), markdown, day or None, tuple(warnings))


# --- the book ---

_CIPHER = b"EncryptedData"
_FONTS = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")
"""Ways to scramble fonts, which lock no text."""
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"


def _is_locked(package: Package) -> bool:
    """Whether more than the fonts of a book is encrypted."""
    locks = package.read("META-INF/encryption.xml")
    tags = locks.count(_CIPHER)  # each element has two
    return tags // 2 > sum(locks.count(font) for font in _FONTS)


def _description_of(package: Package) -> str:
    """The name of the part that describes the book and lists its chapters; "" if there is none."""
    container = package.xml("META-INF/container.xml")
    if container is None:
        return ""
    rootfile = next(container.iter(_ROOTFILE), None)
    return "" if rootfile is None else rootfile.get("full-path", "")


MOST_AUTHORS = 50


def _facts(root: Any) -> Iterator[str]:
    """The authors and the description of a book."""
    creators = list(root.iter(f"{_DC}creator"))
    authors = [_text(creator) for creator in creators[:MOST_AUTHORS]]
    if len(creators) > MOST_AUTHORS:
        authors.append("and others")
    if any(authors):
        yield f"**Authors:** {', '.join(filter(None, authors))}"
    if description := _words(root, "description"):
        yield tree_to_markdown(parse_html(description))


def _words(root: Any, name: str) -> str:
    """What the description of a book says first under a name of Dublin Core."""
    element = next(root.iter(_DC + name), None)
    return "" if element is None else _text(element)


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _links(root: Any, chapters: list[str]) -> Iterator[str]:
    """Where the chapters with these ids lie, each once. Tables of contents are left out."""
    items = {item.get("id", ""): item for item in root.iter(f"{_OPF}item")}
    for chapter in dict.fromkeys(chapters):
        item = items.get(chapter)
        if item is not None and "nav" not in item.get("properties", "").split():
            yield item.get("href", "")


# --- its chapters ---

MOST_STYLES = 20_000_000
"""The characters of style sheets to read for all chapters of a book. Most chapters share one sheet of 20 kB."""
UNSTYLED = "Chapters whose style sheets are too large to find hidden text were left out."
_LONGEST_HEAD = 5_000
_PREFIXED = re.compile(rb"<(\w{1,20}):html\b")
"""The root of a chapter whose elements all have a prefix, which HTML does not know."""
_IMPORT = re.compile(
    r"""@import\s+(?:url\(\s*)?["']?(?P<link>[^"'();\s]{1,500})["')\s]*(?P<media>[^;{}]{0,200});""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A style sheet of a chapter: its part, the media that it is for, and the element before which it stands."""

    part: str
    media: str
    place: Any


@dataclass(slots=True)
class _Reader:
    """Reads the chapters of a book.

    Attributes:
        room: how many characters of style sheets it may still read; below 0 none, and no chapter.
        sheets: the style sheets by the names of their parts, which the chapters share.
    """

    package: Package
    room: int
    sheets: dict[str, str] = field(default_factory=dict)

    def chapter(self, part: str) -> str:
        xhtml = self.package.read(part)
        if not xhtml:
            return ""
        tree = parse_html(_without_prefix(xhtml).decode("utf-8", "replace"))
        self._write_sheets(tree, part)
        if self.room < 0:
            return ""
        write_pictured_formulas(tree)
        _name_pictures(tree)
        return tree_to_markdown(tree, bullet="*")

    def _write_sheets(self, tree: Any, part: str) -> None:
        """Put the style sheets that a chapter links to into it, where hidden text is looked for."""
        written: set[str] = set()
        for link in list(tree.iter("link")):
            kinds = link.get("rel", "").lower().split()
            if "stylesheet" in kinds and "alternate" not in kinds:
                sheet = _Sheet(inside(part, link.get("href", "")), link.get("media", ""), link)
                self._write_sheet(sheet, written)

    def _write_sheet(self, linked: _Sheet, written: set[str]) -> None:
        """Write a style sheet, and before it those that it imports: of two rules the later one wins."""
        from lxml import etree

        waiting = [linked]
        while waiting and self.room >= 0:
            sheet = waiting.pop()
            if sheet.part in written or sheet.part not in self.package.names:
                continue
            written.add(sheet.part)
            style = etree.Element("style", media=sheet.media.translate(XML_CONTROLS))
            style.text = self._css(sheet.part)
            sheet.place.addprevious(style)
            for other in _IMPORT.finditer(style.text):
                media = other["media"] or sheet.media
                waiting.append(_Sheet(inside(sheet.part, other["link"]), media, style))

    def _css(self, part: str) -> str:
        if part not in self.sheets:
            css = self.package.read(part).decode("utf-8", "replace")
            self.sheets[part] = css.translate(XML_CONTROLS)
        self.room -= len(self.sheets[part])
        return self.sheets[part]


def _without_prefix(xhtml: bytes) -> bytes:
    """A chapter without the prefix that all of its elements have."""
    prefixed = _PREFIXED.search(xhtml, 0, _LONGEST_HEAD)
    if prefixed is None:
        return xhtml
    return re.sub(rb"<(/?)" + prefixed[1] + rb":", rb"<\1", xhtml)


def _name_pictures(tree: Any) -> None:
    """Write what each picture shows, or else its name, in its place."""
    for image in list(tree.iter("img", "{http://www.w3.org/2000/svg}image")):
        name = image.get("src", "").rpartition("/")[2]
        if name.startswith("data:"):
            name = ""
        image.tag = "span"
        image.text = figure(image.get("alt", ""), name)
