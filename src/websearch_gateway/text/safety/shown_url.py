"""Makes URLs safe to show: without characters that hide or reorder text, even after percent-decoding.

Software that decodes the escapes shows `https://bank.example/%E2%80%AEgpj.exe` as `exe.jpg`.
"""

from __future__ import annotations

import re

from websearch_gateway.text.safety.invisible import invisible_pieces

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_LENGTHS = ((0x80, 1), (0xC2, 1), (0xE0, 2), (0xF0, 3), (0xF5, 4), (0x100, 1))
"""(limit, length): a UTF-8 sequence whose first byte is below the limit has this length (RFC 3629, section 4)."""


def shown_url(url: str) -> str:
    """`url` without invisible and bidirectional characters, escaped or not. Keeps those that spelling needs.

    Empty if their removal creates new ones (`%E2%00%80%AE`): only an attacker writes such a URL.
    """
    pieces = invisible_url_pieces(url)
    edges = [0, *(edge for piece in pieces for edge in piece), len(url)]
    shown = "".join(url[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    return "" if pieces and invisible_url_pieces(shown) else shown


def invisible_url_pieces(url: str) -> list[tuple[int, int]]:
    """The pieces of `url` that `shown_url` cuts, as (start, end) in order."""
    if url.isascii() and url.isprintable() and "%" not in url:
        return []
    characters: list[str] = []
    places: list[tuple[int, int]] = []
    done = 0
    for escapes in _ESCAPES.finditer(url):
        characters += url[done : escapes.start()]
        places += [(place, place + 1) for place in range(done, escapes.start())]
        for character, first, last in _decoded(bytes.fromhex(escapes[0].replace("%", ""))):
            characters.append(character)
            places.append((escapes.start() + 3 * first, escapes.start() + 3 * last))
        done = escapes.end()
    characters += url[done:]
    places += [(place, place + 1) for place in range(done, len(url))]
    return [(places[start][0], places[end - 1][1]) for start, end in invisible_pieces("".join(characters))]


def _decoded(escaped: bytes) -> list[tuple[str, int, int]]:
    """The characters in some bytes, each with its first byte and the end; U+FFFD for an invalid byte."""
    found, place = [], 0
    while place < len(escaped):
        length = next(length for limit, length in _LENGTHS if escaped[place] < limit)
        try:
            character = escaped[place : place + length].decode()
        except UnicodeDecodeError:
            character, length = "\ufffd", 1
        found.append((character, place, place + length))
        place += length
    return found
