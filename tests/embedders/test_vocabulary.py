"""Every piece has its line number, and nothing else has one."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.embedders.vocabulary import Vocabulary

PIECES = st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1), min_size=1, unique=True)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vocabulary") / "vocab.txt"


@given(pieces=PIECES, other=st.text(st.characters(exclude_categories=["Cs"])))
def test_each_piece_has_the_number_of_its_line(file: Path, pieces: list[str], other: str) -> None:
    file.write_bytes("".join(f"{piece}\n" for piece in pieces).encode())
    vocabulary = Vocabulary(file)
    assert [vocabulary.number(piece) for piece in pieces] == list(range(len(pieces)))
    assert (vocabulary.number(other) is not None) == (other in pieces)
    assert vocabulary.longest >= max(map(len, pieces))


def test_pieces_with_the_same_checksum_are_distinguished(file: Path) -> None:
    assert crc32(b"plumless") == crc32(b"buckeroo")
    file.write_bytes(b"apple\nplumless\nbuckeroo\n")
    assert [Vocabulary(file).number(word) for word in ("plumless", "buckeroo")] == [1, 2]
    file.write_bytes(b"apple\nplumless\n")
    assert Vocabulary(file).number("buckeroo") is None


def test_the_last_line_may_lack_its_end(file: Path) -> None:
    file.write_bytes(b"apple\npear")
    assert Vocabulary(file).number("pear") == 1
