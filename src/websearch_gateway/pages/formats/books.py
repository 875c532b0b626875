"""An e-book (EPUB, https://www.w3.org/TR/epub-33/) as Markdown: its chapters in their order. For worker processes."""

from __future__ import annotations

import re
from typing import Any

from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.package import Package, encrypted, inside
from websearch_gateway.pages.formats.rendering import (
    figure,
    parse_html,
    tree_to_markdown,
    until_too_long,
)
from websearch_gateway.pages.rendering import write_pictured_formulas

MOST_CHAPTERS = 5_000
MORE = "Chapters after the first {:,} of the book were left out."
MOST_AUTHORS = 50
_LONGEST_HEAD = 5_000
_PREFIXED = re.compile(rb"<(\w{1,20}):html\b")
"""The root of a chapter whose elements all have a prefix, which HTML does not know."""

_DC = "{http://purl.org/dc/elements/1.1/}"
_OPF = "{http://www.idpf.org/2007/opf}"
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_CIPHER = b"EncryptedData"
_FONTS = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")
"""Ways to scramble fonts, which lock no text."""


def epub(package: Package) -> Extracted:
    """An e-book without its tables of contents. Text that only the style sheets beside its chapters hide is kept.

    Raises:
        SearchFetchError: its text is encrypted.
    """
    locks = package.read("META-INF/encryption.xml")
    if locks.count(_CIPHER) // 2 > sum(locks.count(font) for font in _FONTS):
        raise encrypted()
    container = package.xml("META-INF/container.xml")
    rootfile = next(container.iter(_ROOTFILE), None) if container is not None else None
    part = rootfile.get("full-path", "") if rootfile is not None else ""
    root = package.xml(part)
    if root is None:
        return Extracted("", "", None)
    creators = list(root.iter(f"{_DC}creator"))
    authors = [" ".join("".join(one.itertext()).split()) for one in creators[:MOST_AUTHORS]]
    if len(creators) > MOST_AUTHORS:
        authors.append("and others")
    texts = [f"**Authors:** {', '.join(filter(None, authors))}"] if any(authors) else []
    if description := _words(root, "description"):
        texts.append(tree_to_markdown(parse_html(description)))
    items = {one.get("id", ""): one for one in root.iter(f"{_OPF}item")}
    chapters_named = [one.get("idref", "") for one in root.iter(f"{_OPF}itemref")]
    named = dict.fromkeys(chapters_named[:MOST_CHAPTERS])
    spine = (
        items[name]
        for name in named
        if name in items and "nav" not in items[name].get("properties", "").split()
    )
    chapters = (_chapter(package.read(inside(part, item.get("href", "")))) for item in spine)
    markdown = "\n\n".join(until_too_long(text for text in (*texts, *chapters) if text))
    cut = (MORE.format(MOST_CHAPTERS),) if len(chapters_named) > MOST_CHAPTERS else ()
    return Extracted(_words(root, "title"), markdown, _words(root, "date")[:10] or None, cut)


def _words(root: Any, name: str) -> str:
    found = next(root.iter(_DC + name), None)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _chapter(xhtml: bytes) -> str:
    if not xhtml:
        return ""
    if prefixed := _PREFIXED.search(xhtml, 0, _LONGEST_HEAD):
        xhtml = re.sub(rb"<(/?)" + prefixed[1] + rb":", rb"<\1", xhtml)
    tree = parse_html(xhtml.decode("utf-8", "replace"))
    write_pictured_formulas(tree)
    for image in list(tree.iter("img", "{http://www.w3.org/2000/svg}image")):
        name = image.get("src", "").rpartition("/")[2]
        image.tag = "span"
        image.text = figure(image.get("alt", ""), "" if name.startswith("data:") else name)
    return tree_to_markdown(tree, bullet="*")
