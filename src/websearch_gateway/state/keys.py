"""Keys for backends that limit the size of index entries. Their byte order is the order of code points."""

from __future__ import annotations

import hashlib

LONGEST = 700
"""The most bytes of an index entry.

Firestore indexes the first 1,500 bytes of a text (https://firebase.google.com/docs/firestore/quotas), in which each of
our bytes above 127 takes two; PostgreSQL rejects index rows above about 2,700 bytes.
"""

_KEPT = 640


def indexed(key: str) -> bytes:
    """The form of `key` in an index: the key itself, or the beginning of a long key with a digest of the whole.

    Long keys with the same beginning have no defined order.
    """
    raw = raw_key(key)
    if len(raw) <= LONGEST:
        return raw
    return raw[:_KEPT] + hashlib.blake2b(raw, digest_size=30).hexdigest().encode()


def bounds(prefix: str, after: str = "") -> tuple[bytes, bytes]:
    """The range of all keys that start with `prefix` and follow `after`, as (first, end); the end is exclusive.

    If the prefix is long, the range may contain other keys too.
    """
    start = raw_key(prefix)[:_KEPT]
    # UTF-8 contains no byte 255, so incrementing the last byte of the start gives the end of the range.
    end = start[:-1] + bytes([start[-1] + 1]) if start else b"\xff"
    return (max(start, indexed(after) + b"\0") if after else start), end


def raw_key(key: str) -> bytes:
    """The bytes of any text, even with lone surrogates."""
    return key.encode("utf-8", "surrogatepass")


def text_key(raw: bytes) -> str | None:
    """The reverse of `raw_key`; None for bytes that are not one of our keys."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
