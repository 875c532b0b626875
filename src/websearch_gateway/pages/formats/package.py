"""The parts of a document in a zip archive of XML (Office, OpenDocument, EPUB), within limits. For worker processes."""

from __future__ import annotations

import posixpath
import re
import zlib
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile, ZipFile

from websearch_gateway.errors import SearchFetchError

MOST_ENTRIES = 20_000
MOST_UNPACKED = 60_000_000
"""The bytes to unpack of one document; its tree takes ten times as much memory."""
MOST_RELATIONS = 20_000

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
"""The namespace in which parts of Office name their relations."""
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_ENTRY = (
    b"PK\x01\x02"  # https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, section 4.3.12
)
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part of an Office document refers to: the last word of its type, and its part or address."""

    kind: str = ""
    target: str = ""


class Relations(dict[str, Relation]):
    """The relations of a part by their ids; an id that it does not declare leads nowhere."""

    def __missing__(self, relation_id: str) -> Relation:
        return Relation()


class Package:
    """The parts of a document. What cannot be unpacked or parsed counts as missing, but nothing exceeds the limits.

    Attributes:
        names: the entries of the archive by the names of their parts.
        room: how many bytes may still be unpacked.

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
        self.names = {entry.filename: entry for entry in self._archive.infolist()}
        self.room = MOST_UNPACKED
        self._relations: dict[str, Relations] = {}

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
                data = file.read(self.room + 1)
        except (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError):
            return b""
        self.room -= len(data)
        if self.room < 0:
            raise too_large()
        return data

    def xml(self, name: str) -> Any:
        """The root element of an XML part; None if it is missing or not XML. Entities are left out."""
        from lxml import etree

        data = _transitional(self.read(name))
        if not data:
            return None
        # Without `huge_tree` libxml2 limits the depth of elements to 256, and the length of a text.
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError:
            return None
        if root is not None and root.getroottree().docinfo.doctype:
            etree.strip_tags(root, etree.Entity)
        return root

    def relations(self, name: str) -> Relations:
        """What a part of an Office document refers to."""
        if name not in self._relations:
            self._relations[name] = self._read_relations(name)
        return self._relations[name]

    def _read_relations(self, name: str) -> Relations:
        relations = Relations()
        folder, file = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{file}.rels"))
        if root is None:
            return relations
        if len(root) > MOST_RELATIONS:
            raise too_large()
        for element in root:
            kind = element.get("Type", "").rpartition("/")[2]
            target = element.get("Target", "")
            if element.get("TargetMode") != "External":
                target = inside(name, target)
            relations[element.get("Id", "")] = Relation(kind, target)
        return relations

    def related(self, name: str, kind: str) -> str:
        """The first part of this kind that a part refers to; "" if there is none."""
        for relation in self.relations(name).values():
            if relation.kind == kind:
                return relation.target
        return ""

    def copy(self, replaced: dict[str, bytes]) -> bytes:
        """The document with other parts, and without pictures."""
        file = BytesIO()
        with ZipFile(file, "w") as archive:
            for name in self.names:
                if name in replaced:
                    archive.writestr(name, replaced[name])
                elif name.endswith((".xml", ".rels", "mimetype")):
                    archive.writestr(name, self.read(name))
        return file.getvalue()

    def title(self) -> str:
        """The title in the properties of an Office or OpenDocument document."""
        properties = "meta.xml"
        if properties not in self.names:
            properties = self.related("", "core-properties") or "docProps/core.xml"
        root = self.xml(properties)
        title = None if root is None else next(root.iter(_TITLE), None)
        return "" if title is None else " ".join((title.text or "").split())


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
