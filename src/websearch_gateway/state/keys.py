"""Keys for backends whose indexes have a longest entry. Their byte order is the order of code points."""

from __future__ import annotations

import hashlib

LONGEST = 700
"""Bytes. Firestore indexes the first 1,500 of a text, in which a byte from 128 on takes two
(https://firebase.google.com/docs/firestore/quotas); PostgreSQL refuses index rows from about 2,700 on."""

_KEPT = 640


def indexed(key: str) -> bytes:
    """The short form of `key` in an index: the key itself, or the beginning of a long one and a digest of all of it.

    Long keys that begin alike are in no particular order among themselves.
    """
    raw = raw_key(key)
    if len(raw) <= LONGEST:
        return raw
    return raw[:_KEPT] + hashlib.blake2b(raw, digest_size=30).hexdigest().encode()


def bounds(prefix: str, after: str = "") -> tuple[bytes, bytes]:
    """Where to look for keys that start with `prefix` and follow `after`: from the first bound to before the second.

    With a long prefix there may be others between them.
    """
    start = raw_key(prefix)[:_KEPT]
    # No byte of UTF-8 is 255, so the end of a range is its start with the last byte raised by one.
    end = start[:-1] + bytes([start[-1] + 1]) if start else b"\xff"
    return (max(start, indexed(after) + b"\0") if after else start), end


def raw_key(key: str) -> bytes:
    """Any text as bytes, lone surrogates too."""
    return key.encode("utf-8", "surrogatepass")


def text_key(raw: bytes) -> str | None:
    """The text again; None for bytes that are not one of our keys."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
