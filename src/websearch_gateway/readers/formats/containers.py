"""Chooses the reader of a document in a container, a zip archive or an OLE file, by what is inside; reads e-books.

EPUB: https://www.w3.org/TR/epub-33/.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.kinds import unreadable
from websearch_gateway.readers.formats.odf import odp, ods, odt
from websearch_gateway.readers.formats.office import docx, pptx
from websearch_gateway.readers.formats.package import Package, encrypted, inside
from websearch_gateway.readers.formats.rendering import figure, parse_html, tree_to_markdown, until_too_long
from websearch_gateway.readers.formats.sheets import workbook

LONGEST_TYPE = 200
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_STREAMS = {
    "Workbook": "",
    "Book": "",
    "WordDocument": "Word document of before 2007 (DOC)",
    "PowerPoint Document": "PowerPoint presentation of before 2007 (PPT)",
    "__properties_version1.0": "Outlook message (MSG)",
}
_ENCRYPTED = "EncryptedPackage"
_DIRECTORY_ENTRY = 128
_MOST_PLACES = 1_000


def zipped(body: bytes, url: str, charset: str) -> Extracted:
    """A document of Office, OpenDocument or EPUB. `charset` is not used.

    Raises:
        SearchFetchError: it is another archive, locked, damaged or of an unsupported format (`details["reason"]`).
    """
    package = Package(body)
    declared = package.read("mimetype")[:LONGEST_TYPE].decode("ascii", "replace").strip()
    if declared.startswith(_OPEN_DOCUMENT):
        return _open_document(package, declared.removeprefix(_OPEN_DOCUMENT).partition("-")[0], body, url)
    if declared == "application/epub+zip" or "META-INF/container.xml" in package.names:
        return epub(package, url)
    if "[Content_Types].xml" in package.names:
        main = package.related("", "officeDocument")
        for folder, read in (("word/", docx), ("ppt/", pptx)):
            if main.startswith(folder):
                return read(package, url)
        if main.startswith("xl/"):
            return workbook(body)
        raise _unsupported("Office document without text")
    raise unreadable("application/zip")


def _open_document(package: Package, kind: str, body: bytes, url: str) -> Extracted:
    if kind == "text":
        return odt(package, url)
    if kind == "presentation":
        return odp(package, url)
    if kind == "spreadsheet":
        return ods(package, body)
    raise _unsupported(f"OpenDocument {kind}" if kind.isalpha() else "OpenDocument")


def compound(body: bytes, url: str, charset: str) -> Extracted:
    """A workbook of before 2007 (XLS). `url` and `charset` are not used.

    Raises:
        SearchFetchError: it is locked with a password, or another document of this container, which is not supported.
    """
    if _place(body, _ENCRYPTED) >= 0:
        raise encrypted()
    # A document may hold others, whose streams come later.
    places = {place: name for stream, name in _STREAMS.items() if (place := _place(body, stream)) >= 0}
    if not places:
        raise unreadable("application/x-ole-storage")
    if name := places[min(places)]:
        raise _unsupported(name)
    return workbook(body)


def _place(body: bytes, stream: str) -> int:
    """The place of a stream's entry in the directory, which begins with its name in UTF-16; -1 if there is none.

    https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb (2.6.1).
    """
    name, at = f"{stream}\0".encode("utf-16-le"), -1
    for _ in range(_MOST_PLACES):
        at = body.find(name, at + 1)
        if at < 0 or at % _DIRECTORY_ENTRY == 0:
            return at
    return -1


def _unsupported(name: str) -> SearchFetchError:
    return SearchFetchError(f"This is a {name}, which cannot be read.", details={"reason": "unsupported"})


MOST_CHAPTERS = 5_000
MOST_AUTHORS = 50

_DC = "{http://purl.org/dc/elements/1.1/}"
_OPF = "{http://www.idpf.org/2007/opf}"
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_CIPHER = b"EncryptedData"
_FONTS = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")
"""Ways to scramble fonts, which lock no text."""


def epub(package: Package, url: str) -> Extracted:
    """An e-book without its tables of contents. Text that only its style sheets hide is kept.

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
    texts = _facts(root)
    chapters = (_chapter(package.read(name)) for name in islice(_spine(root, part), MOST_CHAPTERS))
    markdown = "\n\n".join(until_too_long(text for text in (*texts, *chapters) if text))
    return Extracted(_words(root, "title"), markdown, _words(root, "date")[:10] or None)


def _facts(root: Any) -> Iterator[str]:
    authors = [" ".join("".join(one.itertext()).split()) for one in islice(root.iter(f"{_DC}creator"), MOST_AUTHORS)]
    if any(authors):
        yield f"**Authors:** {', '.join(filter(None, authors))}"
    if description := _words(root, "description"):
        yield tree_to_markdown(parse_html(description))


def _words(root: Any, name: str) -> str:
    found = next(root.iter(_DC + name), None)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _spine(root: Any, part: str) -> Iterator[str]:
    """The parts with the chapters, in reading order, each once."""
    items = {one.get("id", ""): one for one in root.iter(f"{_OPF}item")}
    for name in dict.fromkeys(one.get("idref", "") for one in root.iter(f"{_OPF}itemref")):
        item = items.get(name)
        if item is not None and "nav" not in item.get("properties", "").split():
            yield inside(part, item.get("href", ""))


def _chapter(xhtml: bytes) -> str:
    if not xhtml:
        return ""
    tree = parse_html(xhtml.decode("utf-8", "replace"))
    for image in list(tree.iter("img", "{http://www.w3.org/2000/svg}image")):
        name = image.get("src", "").rpartition("/")[2]
        image.tag = "span"
        image.text = figure(image.get("alt", ""), "" if name.startswith("data:") else name)
    return tree_to_markdown(tree, bullet="*")
