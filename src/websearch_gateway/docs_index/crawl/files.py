"""Documents in files: lists those of a folder, and unpacks archives. Names are untrusted: runs in a worker process."""

from __future__ import annotations

import errno
import lzma
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Self
from urllib.parse import quote, urlsplit

from websearch_gateway.docs_index.crawl.scope import MAX_URL_CHARS, Scope
from websearch_gateway.errors import SearchFetchError

MAX_PAGE_BYTES = 5_000_000
_BINARY = "application/octet-stream"
SUFFIXES: Mapping[str, str] = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".rst": "text/plain",
    ".txt": "text/plain",
}
"""The file types that are pages, with their media types."""
OFFICE_SUFFIXES: Mapping[str, str] = {
    ".pdf": "application/pdf",
    **dict.fromkeys((".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm", ".xlsb", ".xls"), _BINARY),
    **dict.fromkeys((".odt", ".odp", ".ods", ".epub", ".rtf"), _BINARY),
    ".ipynb": "application/x-ipynb+json",
    ".eml": "message/rfc822",
}
"""The same for documents that hold their pictures; of most of them the content tells the type."""
MAX_OFFICE_BYTES = 20_000_000
LISTED_AT_ONCE = 50_000
LISTED_CHARS = 8_000_000
"""The most addresses of one listing, and about their most characters: a worker's reply is limited."""
ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
ARCHIVE_REASONS = ("damaged", "too_large")
"""`details["reason"]` of the errors of `unpack`."""
MAX_ARCHIVE_BYTES = 500_000_000
MAX_UNPACKED_BYTES = 2_000_000_000
MAX_FILES = 200_000
MAX_FOLDERS = 30
"""The most folders above a document in an archive."""
MAX_HEADER_BYTES = 1_000_000
"""The most bytes of an extended header of tar, which holds long names."""

_UNUSABLE = frozenset({errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EILSEQ, errno.EINVAL})
"""What this machine says of a name that no file can have here, or not beside the others."""
_BLOCK = 1_000_000
_ZIP_ENTRY = b"PK\x01\x02"  # https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, section 4.3.12
_EXTENDED = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


def media_type(name: str) -> str:
    """The type of a document by the name of its file; "" if it is none."""
    suffix = PurePosixPath(name).suffix.lower()
    return SUFFIXES.get(suffix) or OFFICE_SUFFIXES.get(suffix, "")


def most_bytes(name: str) -> int:
    """The largest size of a document with this name that is read."""
    return MAX_OFFICE_BYTES if PurePosixPath(name).suffix.lower() in OFFICE_SUFFIXES else MAX_PAGE_BYTES


def folder_pages(root: str, base: str, scope: Scope, after: str = "") -> tuple[list[str], str]:
    """The addresses in scope of documents below `root`, which has the address `base`, in the order of their paths.

    A folder may have more than one listing holds: the second value is the path to continue after, "" at the end.

    Raises:
        SearchFetchError: there is no such folder.
    """
    found: dict[str, None] = {}
    chars = 0
    for path in _files(root, after):
        if not media_type(path):
            continue
        if page := scope.link(base, base + quote(path, errors="surrogateescape")):
            found[page] = None
            chars += len(page)
        if len(found) >= LISTED_AT_ONCE or chars >= LISTED_CHARS:
            return list(found), path
    return list(found), ""


def _files(root: str, after: str) -> Iterator[str]:
    """The paths of the files below `root` that follow `after`, folder by folder in the order of names."""
    last = after.split("/") if after else []
    waiting = _entries(root, "", last)
    if waiting is None:
        raise SearchFetchError(f"The folder {root} does not exist.", details={"reason": "missing"})
    while waiting:
        path = waiting.pop()
        if path.endswith("/"):
            waiting += _entries(root, path, last) or ()
        else:
            yield path


def _entries(root: str, folder: str, last: list[str]) -> list[str] | None:
    """The paths of the entries of a folder, the first at the end, without those that come before `last`.

    A folder ends with a slash; a link to a folder is left out. None if the folder cannot be read.
    """
    place = last[: folder.count("/")]
    is_on_the_way = bool(last) and folder == "".join(f"{name}/" for name in place)
    least = last[len(place)] if is_on_the_way and len(last) > len(place) else ""
    is_last = len(last) == len(place) + 1
    paths = []
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                if entry.name < least or (entry.name == least and is_last):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    paths.append(f"{folder}{entry.name}/")
                elif entry.is_file():
                    paths.append(f"{folder}{entry.name}")
    except OSError:
        return None
    return sorted(paths, key=lambda path: path.rstrip("/"), reverse=True)


def is_archive(name: str) -> bool:
    """Whether a file or address of this name is an archive."""
    return bool(archive_ending(name))


def archive_ending(name: str) -> str:
    """The ending of an archive's name; "" if it is not an archive."""
    return next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")


def base_url(url: str) -> str:
    """The address below which the documents of a source lie; those in an archive follow its own address."""
    return f"{url}!/" if is_archive(urlsplit(url).path) else url


def unpack(archive: Path, target: Path) -> None:
    """Write the documents of an archive below `target`. Skips links, special files, paths that lead outside, and names
    that this machine does not allow.

    Raises:
        SearchFetchError: the file is not an archive, or holds more than may be unpacked.
    """
    try:
        _unpack(archive, target)
    except MemoryError:
        raise _too_large() from None
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError) as error:
        message = f"The archive cannot be unpacked ({type(error).__name__})."
        raise SearchFetchError(message, details={"reason": "damaged"}) from error


def _unpack(archive: Path, target: Path) -> None:
    total = 0
    folders: set[Path] = set()
    for name, file in _members(archive):
        place = _place(target, name)
        if place is None:
            continue
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            copy = place.open("wb")
        except OSError as error:
            if error.errno in _UNUSABLE:
                continue
            raise
        folders.update(place.parents)
        with file, copy:
            shutil.copyfileobj(_Capped(file, most_bytes(name)), copy)
        total += place.stat().st_size
        if total > MAX_UNPACKED_BYTES or len(folders) > MAX_FILES:
            raise _too_large()


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The names and contents of the documents."""
    if archive.name.lower().endswith(".zip"):
        if _zip_entries(archive) > MAX_FILES:
            raise _too_large()
        with zipfile.ZipFile(archive) as zipped:
            for entry in zipped.infolist():
                if not entry.is_dir() and _is_document(entry.filename):
                    yield entry.filename, zipped.open(entry)
        return
    count = 0
    with tarfile.open(archive, tarinfo=_Header) as tarred:
        while (member := tarred.next()) is not None:
            count += 1
            if count > MAX_FILES or member.offset_data + member.size > MAX_UNPACKED_BYTES:
                raise _too_large()  # skipping a compressed member unpacks it, so it counts too
            if member.isfile() and _is_document(member.name) and (file := tarred.extractfile(member)) is not None:
                yield member.name, file
            tarred.members.clear()  # type: ignore[attr-defined]  # it would keep all of them
            tarred.pax_headers = {}


def _zip_entries(archive: Path) -> int:
    """How often the signature of an entry occurs in a zip: the most entries that `zipfile` could load."""
    count, rest = 0, b""
    with archive.open("rb") as file:
        while block := file.read(_BLOCK):
            block = rest + block
            count += block.count(_ZIP_ENTRY)
            rest = block[len(block) - len(_ZIP_ENTRY) + 1 :]
    return count


class _Header(tarfile.TarInfo):
    """A header that may not announce an extended one of more than `MAX_HEADER_BYTES`, which `tarfile` loads whole."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _EXTENDED and header.size > MAX_HEADER_BYTES:
            raise _too_large()
        return header


def _too_large() -> SearchFetchError:
    return SearchFetchError("The archive holds more than may be unpacked.", details={"reason": "too_large"})


def _is_document(name: str) -> bool:
    return bool(media_type(name)) or name.endswith("objects.inv")


def _place(target: Path, name: str) -> Path | None:
    """The path for a member; None if its name leads outside `target`, or no address could have it."""
    if len(name) > MAX_URL_CHARS or name.count("/") > MAX_FOLDERS or "\0" in name:
        return None
    path = (target / name.replace("\\", "/")).resolve()
    return path if path.is_relative_to(target.resolve()) else None


class _Capped:
    """A file that ends one byte after the size limit of a page, so that a zip bomb stays small."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file = file
        self._left = most + 1

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(self._left, size if size >= 0 else self._left))
        self._left -= len(data)
        return data
