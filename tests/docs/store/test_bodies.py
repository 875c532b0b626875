"""Texts of pages in parts."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs.store.bodies import PART_CHARS, Body, pack, unpack

TEXTS = {
    "empty": "",
    "short": "A short text.",
    "one part": "x" * PART_CHARS,
    "one character more": "x" * PART_CHARS + "y",
    "three parts": "".join(f"Sentence {number}. " for number in range(PART_CHARS // 6)),
    "characters of several bytes": "aé漢😀" * PART_CHARS,
    "half a surrogate pair, as in some pages": "\ud83d" * (PART_CHARS + 1),
}


def old(text: str) -> bytes:
    """A text as it was stored before there were parts."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_comes_back_whole_and_any_zlib_reads_it(text: str) -> None:
    assert unpack(pack(text)) == text
    assert zlib.decompress(pack(text)).decode("utf-8", "surrogatepass") == text
    assert unpack(old(text)) == text


@pytest.mark.parametrize("stored", [pack, old])
@given(st.sampled_from(list(TEXTS.values())), st.data())
def test_every_slice_is_that_of_the_text(
    stored: Callable[[str], bytes], text: str, data: st.DataObject
) -> None:
    body = Body(stored(text))
    for _ in range(3):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, len(text) + 2))
        assert body.text(start, stop) == text[start:stop]


def test_a_slice_of_a_long_text_unpacks_only_its_parts() -> None:
    """The other parts are damaged, which nobody notices."""
    text = "".join(f"Sentence {number}. " for number in range(PART_CHARS))
    stored = bytearray(pack(text))
    stored[100:200] = bytes(100)
    start = 3 * PART_CHARS + 10
    assert Body(bytes(stored)).text(start, start + PART_CHARS) == text[start : start + PART_CHARS]
    with pytest.raises(zlib.error):
        unpack(bytes(stored))


def test_a_text_of_more_than_8192_characters_has_parts_at_the_fourth_level_of_compression() -> None:
    text = " ".join(f"{number * number} tides {number}" for number in range(2_000))
    short = text[:8_192]
    sizes = [len(zlib.compress(short.encode(), level)) for level in (2, 4, 6)]
    assert len(set(sizes)) == 3
    assert pack(short) == zlib.compress(short.encode(), 4)
    parts = -(-len(text) // 8_192)
    table = struct.pack("<I", parts) + b"\0parts1\0"
    assert pack(text).endswith(table)
