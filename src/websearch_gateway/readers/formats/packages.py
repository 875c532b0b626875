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
# https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb: names of streams are UTF-16.
_STREAMS = {
    "EncryptedPackage": "",
    "Workbook": "",
    "Book": "",
    "WordDocument": "Word document of before 2007 (DOC)",
    "PowerPoint Document": "PowerPoint presentation of before 2007 (PPT)",
    "__substg1.0_": "Outlook message (MSG)",
}


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
    for stream, name in _STREAMS.items():
        if stream.encode("utf-16-le") in body:
            if stream == "EncryptedPackage":
                raise encrypted()
            if name:
                raise _unsupported(name)
            return workbook(body)
    raise unreadable("application/x-ole-storage")


def _unsupported(name: str) -> SearchFetchError:
    return SearchFetchError(f"This is a {name}, which cannot be read.", details={"reason": "unsupported"})
