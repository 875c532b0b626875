"""URLs as people may see them: without characters that hide or reorder what is read, also when a browser decodes them.

`https://bank.example/%E2%80%AEgpj.exe` is shown as `exe.jpg` by everything that decodes the escapes.
"""

from __future__ import annotations

import re

from websearch_gateway.text.safety.invisible import invisible_pieces

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_LENGTHS = ((0x80, 1), (0xC2, 1), (0xE0, 2), (0xF0, 3), (0xF5, 4), (0x100, 1))
"""The first byte of a UTF-8 sequence is below the first number: so many bytes it has (RFC 3629, section 4)."""


def shown_url(url: str) -> str:
    """`url` without invisible and bidirectional characters, escaped or not. Those that spelling needs stay.

    Empty where taking them out brings others together (`%E2%00%80%AE`): only an attacker writes that.
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
    """The characters of some bytes with their places; U+FFFD for a byte that is no part of one."""
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
