"""Documents in a zip archive (Office, OpenDocument, EPUB) or an OLE file: what is inside chooses the reader."""

from __future__ import annotations

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.kinds import unreadable
from websearch_gateway.pages.formats.package import Package, encrypted

# The readers are imported where one is needed: each takes its time, and a worker rarely needs all.


def zipped(body: bytes, url: str, charset: str) -> Extracted:
    """A document of Office, OpenDocument or EPUB. `url` and `charset` are not used.

    Raises:
        SearchFetchError: it is another archive, locked, damaged or of an unsupported format (`details["reason"]`).
    """
    from websearch_gateway.pages.formats import books

    package = Package(body)
    declared = _declared_type(package)
    if declared.startswith(_OPEN_DOCUMENT):
        kind = declared.removeprefix(_OPEN_DOCUMENT).partition("-")[0]
        return _open_document(package, body, kind)
    if declared == "application/epub+zip" or "META-INF/container.xml" in package.names:
        return books.epub(package)
    if "[Content_Types].xml" in package.names:
        return _office_document(package, body)
    raise unreadable("application/zip")


LONGEST_TYPE = 200
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_OPEN_DOCUMENTS = ("text", "presentation", "spreadsheet")


def _declared_type(package: Package) -> str:
    """What an archive says that it is; "" for those of Office, which say it elsewhere."""
    return package.read("mimetype")[:LONGEST_TYPE].decode("ascii", "replace").strip()


def _open_document(package: Package, body: bytes, kind: str) -> Extracted:
    from websearch_gateway.pages.formats import open_documents, open_sheets, open_slides

    if kind not in _OPEN_DOCUMENTS:
        raise _unsupported(f"OpenDocument {kind}" if kind.isalpha() else "OpenDocument")
    if b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise encrypted()
    match kind:
        case "text":
            return open_documents.odt(package)
        case "presentation":
            return open_slides.odp(package)
        case _:
            return open_sheets.ods(package, body)


def _office_document(package: Package, body: bytes) -> Extracted:
    from websearch_gateway.pages.formats import sheets, slides, word

    main_part = package.related("", "officeDocument")
    match main_part.partition("/")[0]:
        case "word":
            return word.docx(package)
        case "ppt":
            return slides.pptx(package)
        case "xl":
            return sheets.workbook(body, package)
        case _:
            raise _unsupported("Office document without text")


_STREAMS = {
    "Workbook": "XLS",
    "Book": "XLS",
    "EncryptedPackage": "locked",
    "WordDocument": "Word document of before 2007 (DOC)",
    "PowerPoint Document": "PowerPoint presentation of before 2007 (PPT)",
    "__properties_version1.0": "Outlook message (MSG)",
}
"""What an OLE file is, by the name of a stream."""
_NAMES = {f"{stream}\0".encode("utf-16-le"): kind for stream, kind in _STREAMS.items()}
_DIRECTORY_ENTRY = 128
"""The bytes of an entry of an OLE directory, which begins with its name
(https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb, 2.6.1)."""


def compound(body: bytes, url: str, charset: str) -> Extracted:
    """A workbook of before 2007 (XLS). `url` and `charset` are not used.

    Raises:
        SearchFetchError: it is locked with a password, or another document of this container, which is not supported.
    """
    from websearch_gateway.pages.formats import sheets

    # A document may hold others, whose streams come later.
    for start in range(0, len(body), _DIRECTORY_ENTRY):
        name, end, _ = body[start : start + _DIRECTORY_ENTRY].partition(b"\0\0\0")
        match _NAMES.get(name + end):
            case None:
                continue
            case "XLS":
                return sheets.workbook(body)
            case "locked":
                raise encrypted()
            case document:
                raise _unsupported(document)
    raise unreadable("application/x-ole-storage")


def _unsupported(name: str) -> SearchFetchError:
    return SearchFetchError(
        f"This is a {name}, which cannot be read.", details={"reason": "unsupported"}
    )
