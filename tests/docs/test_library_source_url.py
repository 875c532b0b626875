"""What may be given as a source: an address, or a folder or archive of this machine that can be read."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from websearch_gateway.docs.library import source_url
from websearch_gateway.errors import SearchValidationError


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with things that are no documents."""
    monkeypatch.chdir(tmp_path)
    for name in ("docs", "closed"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs.zip").touch()
    os.mkfifo(tmp_path / "pipe.zip")
    (tmp_path / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.zip")  # a relative name: a long path does not fit
    return tmp_path


@pytest.fixture
def without_rights(place: Path) -> Iterator[Path]:
    """The same folder for a user who may not read `closed`; root may read everything."""
    place.chmod(0o755)
    for folder in place.parents[:2]:
        folder.chmod(0o755)
    (place / "closed").chmod(0)
    am_root = os.geteuid() == 0
    if am_root:
        os.seteuid(65_534)
    yield place
    if am_root:
        os.seteuid(0)
    (place / "closed").chmod(0o700)


def test_a_folder_and_an_archive_become_addresses(place: Path) -> None:
    assert source_url("docs") == f"{place.as_uri()}/docs/"
    assert source_url(f"file://{place}/docs.zip") == f"{place.as_uri()}/docs.zip"


@pytest.mark.parametrize(
    "source",
    [
        *(
            "pipe.zip",
            "socket.zip",
            "/dev/null",
            "/dev/zero",
            "loop",
            "nowhere",
            "~nobody-of-that-name/docs",
            " ",
        ),
        *("x" * 300, "x/" * 5_000, "docs\0", "\ud800", "\x1b[31m", "https://a.example/\ud800"),
    ],
)
def test_what_is_neither_is_refused_in_one_short_line(place: Path, source: str) -> None:
    with pytest.raises(SearchValidationError) as refused:
        source_url(source)
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 400


@pytest.mark.parametrize("source", ["closed", "closed/below", "closed/docs.zip"])
def test_a_folder_that_may_not_be_read_is_refused_with_the_reason(
    without_rights: Path, source: str
) -> None:
    with pytest.raises(SearchValidationError, match="Permission denied"):
        source_url(str(without_rights / source))
