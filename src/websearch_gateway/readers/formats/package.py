"""Opens documents that are zip archives of XML (Office, OpenDocument, EPUB), within limits. For worker processes."""

from __future__ import annotations

import posixpath
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile, ZipFile

from websearch_gateway.errors import SearchFetchError

MOST_ENTRIES = 20_000
MOST_UNPACKED = 60_000_000
"""The bytes to unpack of one document; its tree takes ten times as much memory."""
MOST_RELATIONS = 20_000

_ENTRY = b"PK\x01\x02"  # https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, section 4.3.12
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
            raise SearchFetchError("The document is damaged.") from None
        self._left = MOST_UNPACKED
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
                data = file.read(self._left + 1)
        except (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError):
            return b""
        self._left -= len(data)
        if self._left < 0:
            raise too_large()
        return data

    def xml(self, name: str, prepare: Callable[[bytes], bytes] = bytes) -> Any:
        """The root element of an XML part; None if it is missing or not XML. Entities are left out.

        Args:
            prepare: changes the part before it is parsed.
        """
        from lxml import etree

        data = self.read(name)
        # Without `huge_tree` libxml2 limits the depth of elements to 256, and the length of a text.
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
        )
        try:
            root = etree.fromstring(prepare(data), parser) if data else None
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
        if root is None or len(root) > MOST_RELATIONS:
            root = ()
        found = self._relations.setdefault(name, {})
        for one in root:
            target = one.get("Target", "")
            if one.get("TargetMode") != "External":
                target = inside(name, target)
            found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], target)
        return found

    def related(self, name: str, kind: str) -> str:
        """The first part of this kind that a part refers to; "" if there is none."""
        return next((target for found, target in self.relations(name).values() if found == kind), "")

    def title(self) -> str:
        """The title in the properties of an Office document."""
        root = self.xml(self.related("", "core-properties") or "docProps/core.xml")
        return " ".join((root.findtext(_TITLE) or "").split()) if root is not None else ""


def inside(part: str, target: str) -> str:
    """The name of the part that a link in `part` leads to; "" if it leads outside."""
    try:
        path = unquote(urlsplit(target).path)
    except ValueError:
        return ""
    name = posixpath.normpath(posixpath.join("/", posixpath.dirname(part), path)).lstrip("/")
    return "" if name == "." else name


def too_large() -> SearchFetchError:
    return SearchFetchError("The document holds more than may be unpacked.", details={"reason": "too_large"})


def encrypted() -> SearchFetchError:
    return SearchFetchError("The document is locked with a password.", details={"reason": "encrypted"})
