"""Documents in a zip archive of XML (Office, OpenDocument, EPUB) or an OLE file, within limits. What is inside chooses
the reader; the pictures, charts and diagrams of Office are read here. For worker processes.
"""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile, ZipFile

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.kinds import unreadable
from websearch_gateway.pages.formats.rendering import Builder, figure

LONGEST_TYPE = 200
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_OPEN_DOCUMENTS = ("text", "presentation", "spreadsheet")
_STREAMS = {
    f"{stream}\0".encode("utf-16-le"): name
    for stream, name in {
        "Workbook": "XLS",
        "Book": "XLS",
        "EncryptedPackage": "locked",
        "WordDocument": "Word document of before 2007 (DOC)",
        "PowerPoint Document": "PowerPoint presentation of before 2007 (PPT)",
        "__properties_version1.0": "Outlook message (MSG)",
    }.items()
}
"""What an OLE file is, by the name of a stream."""
_DIRECTORY_ENTRY, _NAME = 128, 64
"""The bytes of an entry of an OLE directory, and of the name at its beginning
(https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb, 2.6.1)."""


def zipped(body: bytes, url: str, charset: str) -> Extracted:
    """A document of Office, OpenDocument or EPUB. `charset` is not used.

    Raises:
        SearchFetchError: it is another archive, locked, damaged or of an unsupported format (`details["reason"]`).
    """
    from websearch_gateway.pages.formats import books, sheets, slides, word

    package = Package(body)
    declared = package.read("mimetype")[:LONGEST_TYPE].decode("ascii", "replace").strip()
    if declared.startswith(_OPEN_DOCUMENT):
        kind = declared.removeprefix(_OPEN_DOCUMENT).partition("-")[0]
        return _open_document(package, body, kind)
    if declared == "application/epub+zip" or "META-INF/container.xml" in package.names:
        return books.epub(package)
    if "[Content_Types].xml" not in package.names:
        raise unreadable("application/zip")
    match package.related("", "officeDocument").partition("/")[0]:
        case "word":
            return word.docx(package)
        case "ppt":
            return slides.pptx(package)
        case "xl":
            return sheets.workbook(body, package)
        case _:
            raise _unsupported("Office document without text")


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


def compound(body: bytes, url: str, charset: str) -> Extracted:
    """A workbook of before 2007 (XLS). `url` and `charset` are not used.

    Raises:
        SearchFetchError: it is locked with a password, or another document of this container, which is not supported.
    """
    from websearch_gateway.pages.formats import sheets

    # A document may hold others, whose streams come later.
    for at in range(0, len(body), _DIRECTORY_ENTRY):
        name, end, _ = body[at : at + _NAME].partition(b"\0\0\0")
        match _STREAMS.get(name + end):
            case None:
                continue
            case "XLS":
                return sheets.workbook(body)
            case "locked":
                raise encrypted()
            case other:
                raise _unsupported(other)
    raise unreadable("application/x-ole-storage")


def _unsupported(name: str) -> SearchFetchError:
    return SearchFetchError(
        f"This is a {name}, which cannot be read.", details={"reason": "unsupported"}
    )


MOST_ENTRIES = 20_000
MOST_UNPACKED = 60_000_000
"""The bytes to unpack of one document; its tree takes ten times as much memory."""
MOST_RELATIONS = 20_000

_ENTRY = (
    b"PK\x01\x02"  # https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, section 4.3.12
)
_ENCRYPTED = 0x1
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


class Package:
    """The parts of a document. What cannot be unpacked or parsed counts as missing, but nothing exceeds the limits.

    Raises:
        SearchFetchError: the archive is damaged, or has too many entries.
    """

    def __init__(self, body: bytes) -> None:
        if body.count(_ENTRY) > MOST_ENTRIES:
            raise too_large()
        try:
            self._archive = ZipFile(BytesIO(body))
        except (BadZipFile, ValueError, NotImplementedError, OSError):
            raise SearchFetchError(
                "The document is damaged.", details={"reason": "damaged"}
            ) from None
        self.left = MOST_UNPACKED
        self._relations: dict[str, dict[str, tuple[str, str]]] = {}
        self.names = {entry.filename: entry for entry in self._archive.infolist()}

    def read(self, name: str) -> bytes:
        """A part, b"" if it is missing or damaged.

        Raises:
            SearchFetchError: it is encrypted, or the parts together are too large.
        """
        entry = self.names.get(name)
        if entry is None:
            return b""
        if entry.flag_bits & _ENCRYPTED:
            raise encrypted()
        try:
            with self._archive.open(entry) as file:
                data = file.read(self.left + 1)
        except (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError):
            return b""
        self.left -= len(data)
        if self.left < 0:
            raise too_large()
        return data

    def xml(self, name: str) -> Any:
        """The root element of an XML part; None if it is missing or not XML. Entities are left out."""
        from lxml import etree

        data = _transitional(self.read(name))
        # Without `huge_tree` libxml2 limits the depth of elements to 256, and the length of a text.
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(data, parser) if data else None
        except etree.XMLSyntaxError:
            return None
        if root is not None and root.getroottree().docinfo.doctype:
            etree.strip_tags(root, etree.Entity)
        return root

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office document refers to, by id: the last word of its type, and its part or address."""
        if name in self._relations:
            return self._relations[name]
        folder, file = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{file}.rels"))
        if root is not None and len(root) > MOST_RELATIONS:
            raise too_large()
        found = self._relations.setdefault(name, {})
        for one in () if root is None else root:
            target = one.get("Target", "")
            if one.get("TargetMode") != "External":
                target = inside(name, target)
            found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], target)
        return found

    def related(self, name: str, kind: str) -> str:
        """The first part of this kind that a part refers to; "" if there is none."""
        return next(
            (target for found, target in self.relations(name).values() if found == kind), ""
        )

    def copy(self, replaced: dict[str, bytes]) -> bytes:
        """The document with other parts, and without pictures."""
        with ZipFile(file := BytesIO(), "w") as archive:
            for name in self.names:
                if name.endswith((".xml", ".rels", "mimetype")):
                    archive.writestr(name, replaced[name] if name in replaced else self.read(name))
        return file.getvalue()

    def title(self) -> str:
        """The title in the properties of an Office or OpenDocument document."""
        office = self.related("", "core-properties") or "docProps/core.xml"
        root = self.xml("meta.xml" if "meta.xml" in self.names else office)
        found = None if root is None else next(root.iter(_TITLE), None)
        return "" if found is None else " ".join((found.text or "").split())


_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")


def _transitional(xml: bytes) -> bytes:
    """XML of Office whose names are those of all but the strict documents (ECMA-376, part 1, annex A)."""
    if b"http://purl.oclc.org/ooxml/" not in xml[:10_000]:
        return xml
    return _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", xml)


def inside(part: str, target: str) -> str:
    """The name of the part that a link in `part` leads to; "" if it leads outside."""
    try:
        path = unquote(urlsplit(target).path)
    except ValueError:
        return ""
    name = posixpath.normpath(posixpath.join("/", posixpath.dirname(part), path)).lstrip("/")
    return "" if name == "." else name


def too_large() -> SearchFetchError:
    return SearchFetchError(
        "The document holds more than may be unpacked.", details={"reason": "too_large"}
    )


def encrypted() -> SearchFetchError:
    return SearchFetchError(
        "The document is locked with a password.", details={"reason": "encrypted"}
    )


A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MOST_POINTS = 2_000
_MOST_SERIES = 50
MORE_OF_CHART = "[… the rest of this chart is left out]"
"""The most points and series of a chart to read."""


def picture(element: Any, relations: dict[str, tuple[str, str]]) -> str:
    """A drawing's picture as text; "" if it has none and no alternative text."""
    described = next((one for one in element.iter() if one.get("descr") or one.get("alt")), None)
    description = "" if described is None else described.get("descr") or described.get("alt")
    blip = next(
        (one for one in element.iter() if one.get(f"{R}embed") or one.tag.endswith("}imagedata")),
        None,
    )
    if blip is None:
        return figure(description, "") if description else ""
    target = relations.get(blip.get(f"{R}embed") or blip.get(f"{R}id", ""), ("", ""))[1]
    return figure(description, target.rpartition("/")[2])


def embedded(element: Any, relations: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The parts of charts and diagrams in a drawing: `chart` or `diagram`, and the part's name."""
    for one in element.iter(f"{_C}chart"):
        yield "chart", relations.get(one.get(f"{R}id", ""), ("", ""))[1]
    for one in element.iter(f"{_DGM}relIds"):
        yield "diagram", relations.get(one.get(f"{R}dm", ""), ("", ""))[1]


def write_embedded(package: Package, kind: str, part: str, builder: Builder) -> None:
    """Write the title and the numbers of a chart, or the words of a diagram."""
    root = package.xml(part)
    if root is None:
        return
    if kind == "diagram":
        for words in root.iter(f"{A}p"):
            if text := "".join(words.itertext(f"{A}t")).strip():
                builder.text(builder.item(0, is_ordered=False), text)
        return
    heading = root.find(f".//{_C}chart/{_C}title")
    title = (
        " ".join("".join(heading.itertext(f"{A}t", f"{_C}v")).split())
        if heading is not None
        else ""
    )
    builder.text(builder.block("p"), f"Chart: {title}" if title else "Chart", ("strong",))
    elements = list(root.iter(f"{_C}ser"))
    series = [_series(one) for one in elements[:_MOST_SERIES]]
    found = dict.fromkeys(point for _, names, values in series for point in (*names, *values))
    points = list(found)[:_MOST_POINTS]
    rows: list[list[str]] = [["", *(name for name, _, _ in series)]]
    for point in points:
        label = next((names[point] for _, names, _ in series if point in names), "")
        rows.append([label, *(values.get(point, "") for _, _, values in series)])
    if points:
        builder.table(
            ([(cell, 1, "") for cell in row] for row in rows),
            lambda cell, inner: inner.text(inner.root, cell),
        )
    if len(elements) > _MOST_SERIES or len(found) > _MOST_POINTS:
        builder.text(builder.block("p"), MORE_OF_CHART)


def _series(element: Any) -> tuple[str, dict[str, str], dict[str, str]]:
    """The name of a series, its categories and its values, by the index of the point."""
    name = " ".join(element.findtext(f"{_C}tx//{_C}v", "").split())
    axes = [(f"{_C}cat", f"{_C}xVal"), (f"{_C}val", f"{_C}yVal")]
    found = []
    for tags in axes:
        points = (
            point
            for tag in tags
            for axis in element.iterchildren(tag)
            for point in axis.iter(f"{_C}pt")
        )
        found.append(
            {
                one.get("idx", ""): one.findtext(f"{_C}v", "")
                for one in islice(points, _MOST_POINTS + 1)
            }
        )
    return name, found[0], found[1]
