"""An archive or an OLE file is read by what it holds."""

from __future__ import annotations

import pytest

from tests.documents import packed
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.formats.containers import compound, zipped

URL = "https://example.com/a"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def entry(name: str) -> bytes:
    """An entry of an OLE directory."""
    return f"{name}\0".encode("utf-16-le").ljust(128, b"\0")


@pytest.mark.parametrize(
    ("directory", "reason", "message"),
    [
        (entry("EncryptedPackage"), "encrypted", "password"),
        (entry("Root") + entry("__properties_version1.0"), "unsupported", "MSG"),
        (bytes(64) + entry("EncryptedPackage")[:64], "type", ""),
        (entry("Others"), "type", ""),
    ],
    ids=["locked", "second entry", "middle of an entry", "unknown"],
)
def test_an_ole_file_is_what_an_entry_of_its_directory_says(
    directory: bytes, reason: str, message: str
) -> None:
    with pytest.raises(SearchFetchError, match=message or None) as caught:
        compound(OLE + directory, URL, "")
    assert caught.value.details["reason"] == reason


@pytest.mark.parametrize(("blanks", "kind"), [(156, "OpenDocument graphics"), (162, "archive")])
def test_an_archive_says_in_200_letters_what_it_is(blanks: int, kind: str) -> None:
    """The type of a drawing has 43 letters."""
    declared = " " * blanks + "application/vnd.oasis.opendocument.graphics"
    with pytest.raises(SearchFetchError) as caught:
        zipped(packed({"mimetype": declared}), URL, "")
    assert (kind in caught.value.message) == (blanks < 160)
