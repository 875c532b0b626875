"""Chooses the reader of a document in a container, a zip archive or an OLE file, by what is inside."""

from __future__ import annotations

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.docx import docx
from websearch_gateway.readers.formats.epub import epub
from websearch_gateway.readers.formats.kinds import unreadable
from websearch_gateway.readers.formats.odf import odp, ods, odt
from websearch_gateway.readers.formats.package import Package, encrypted
from websearch_gateway.readers.formats.pptx import pptx
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
