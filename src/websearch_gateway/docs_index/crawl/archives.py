"""Unpacks zip and tar archives of documents, for the time of a crawl."""

from __future__ import annotations

import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from websearch_gateway.docs_index.crawl.sources import MAX_PAGE_BYTES, SUFFIXES
from websearch_gateway.errors import SearchFetchError

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MAX_ARCHIVE_BYTES = 500_000_000
MAX_UNPACKED_BYTES = 2_000_000_000
MAX_FILES = 200_000


def is_archive(name: str) -> bool:
    """Whether a file or address of this name is an archive."""
    return name.lower().endswith(ENDINGS)


def unpack(archive: Path, target: Path) -> None:
    """Write the documents of an archive below `target`. Skips links, special files and paths that lead outside.

    Raises:
        SearchFetchError: the file is not an archive, or holds more than may be unpacked.
    """
    total = 0
    try:
        for count, (name, file) in enumerate(_members(archive), 1):
            place = _place(target, name)
            if place is None:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with file, place.open("wb") as copy:
                shutil.copyfileobj(_Capped(file), copy)
            total += place.stat().st_size
            if total > MAX_UNPACKED_BYTES or count > MAX_FILES:
                raise _too_large()
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError) as error:
        raise SearchFetchError(f"The archive cannot be unpacked ({type(error).__name__}).") from error


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            for entry in zipped.infolist():
                if not entry.is_dir() and _is_document(entry.filename):
                    yield entry.filename, zipped.open(entry)
        return
    with tarfile.open(archive) as tarred:
        for member in tarred:
            if member.offset_data + member.size > MAX_UNPACKED_BYTES:  # skipping a compressed member unpacks it
                raise _too_large()
            if member.isfile() and _is_document(member.name) and (file := tarred.extractfile(member)) is not None:
                yield member.name, file


def _too_large() -> SearchFetchError:
    return SearchFetchError("The archive holds more than may be unpacked.", details={"reason": "too_large"})


def _is_document(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES or name.endswith("objects.inv")


def _place(target: Path, name: str) -> Path | None:
    """The path for a member; None if its name leads outside `target`."""
    path = (target / name.replace("\\", "/")).resolve()
    return path if path.is_relative_to(target.resolve()) else None


class _Capped:
    """A file that ends one byte after the size limit of a page, so that a zip bomb stays small."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left = MAX_PAGE_BYTES + 1

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(self._left, size if size >= 0 else self._left))
        self._left -= len(data)
        return data
