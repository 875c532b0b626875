"""The texts of pages, compressed in parts: a search reads a section of a long page without unpacking all of it.

A stored body is a zlib stream (RFC 1950), which any zlib reads as a whole. Each part of a long text is flushed, so that
it can be unpacked alone; behind the stream follow the offsets of its parts. A short text has none, and neither have the
bodies that were stored before there were parts: these are unpacked from their beginning.
"""

from __future__ import annotations

import struct
import zlib
from codecs import getincrementaldecoder

PART_CHARS = 8_192
"""The size of a part. Parts of half of it make the texts 24% larger than one stream, these 14%."""
LEVEL = 4
"""zlib's level: half the time of level 6, and 3% larger."""

_MARK = b"\x00parts1\x00"
"""What ends a body with parts: a plain stream ends so by a chance of one in 2**64."""
_COUNT = struct.Struct("<I")
_HEADER_BYTES = 2
"""Of a zlib stream, before its first part."""
_RAW = -zlib.MAX_WBITS


def pack(text: str) -> bytes:
    """A text as it is stored."""
    if len(text) <= PART_CHARS:
        return zlib.compress(_encoded(text), LEVEL)
    packer = zlib.compressobj(LEVEL)
    stream = bytearray()
    offsets = []
    for start in range(0, len(text), PART_CHARS):
        offsets.append(len(stream) or _HEADER_BYTES)
        stream += packer.compress(_encoded(text[start : start + PART_CHARS]))
        stream += packer.flush(zlib.Z_FULL_FLUSH)
    stream += packer.flush()
    table = struct.pack(f"<{len(offsets)}I", *offsets)
    return bytes(stream) + table + _COUNT.pack(len(offsets)) + _MARK


def unpack(data: bytes) -> str:
    """The whole text."""
    return _decoded(zlib.decompress(data))


class Body:
    """A stored text, of which slices are read. It unpacks what they need, each part once."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offsets = _offsets(data)
        self._parts: dict[int, str] = {}
        self._unpacker = zlib.decompressobj()
        self._decoder = getincrementaldecoder("utf-8")("surrogatepass")
        self._beginning = ""

    def text(self, start: int, stop: int) -> str:
        """The characters from `start` until `stop`."""
        if not self._offsets:
            return self._until(stop)[start:stop]
        first = min(start // PART_CHARS, len(self._offsets) - 1)
        last = min(max(start, stop - 1) // PART_CHARS, len(self._offsets) - 1)
        parts = "".join(self._part(number) for number in range(first, last + 1))
        before = first * PART_CHARS
        return parts[start - before : stop - before]

    def _part(self, number: int) -> str:
        part = self._parts.get(number)
        if part is None:
            start, *next_start = self._offsets[number : number + 2]
            stop = next_start[0] if next_start else len(self._data)
            unpacked = zlib.decompressobj(_RAW).decompress(self._data[start:stop])
            part = self._parts[number] = _decoded(unpacked)
        return part

    def _until(self, stop: int) -> str:
        """The beginning of a text without parts, at least until `stop` if it is as long."""
        while self._data and len(self._beginning) < stop:
            unpacked = self._unpacker.decompress(self._data, stop - len(self._beginning))
            self._data = self._unpacker.unconsumed_tail
            self._beginning += self._decoder.decode(unpacked)
        return self._beginning


def _offsets(data: bytes) -> tuple[int, ...]:
    """Where the parts of a body begin; empty if it is one stream."""
    if not data.endswith(_MARK):
        return ()
    end = len(data) - len(_MARK) - _COUNT.size
    (count,) = _COUNT.unpack_from(data, end)
    return struct.unpack_from(f"<{count}I", data, end - 4 * count)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
