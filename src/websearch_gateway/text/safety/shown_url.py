"""Makes URLs safe to show: without logins, and without characters that hide or reorder text, even percent-decoded.

Software that decodes the escapes shows `https://bank.example/%E2%80%AEgpj.exe` as `exe.jpg`. The host of
`https://bank.example@evil.example` is evil.example; a login may also be somebody's.
"""

from __future__ import annotations

import re

from websearch_gateway.text.safety.invisible import invisible_pieces

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_AUTHORITY = re.compile(r"\s*(?:https?:[/\\]*|(?:[a-z][a-z0-9+.\-]{0,30}:)?[/\\]{2,})([^/?#\\]*)", re.IGNORECASE)
"""The part with the host, as browsers find it: they accept any number of slashes, of either kind."""
_LENGTHS = ((0x80, 1), (0xC2, 1), (0xE0, 2), (0xF0, 3), (0xF5, 4), (0x100, 1))
"""(limit, length): a UTF-8 sequence whose first byte is below the limit has this length (RFC 3629, section 4)."""


def shown_url(url: str) -> str:
    """`url` without a login, and without invisible and bidirectional characters, escaped or not. Keeps those that
    spelling needs.

    Empty if their removal creates new ones (`%E2%00%80%AE`): only an attacker writes such a URL.
    """
    pieces = unshown_pieces(url)
    edges = [0, *(edge for piece in pieces for edge in piece), len(url)]
    shown = "".join(url[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    return "" if pieces and unshown_pieces(shown) else shown


def unshown_pieces(url: str) -> list[tuple[int, int]]:
    """The pieces of `url` that `shown_url` cuts, as (start, end), ordered and disjoint."""
    if (login := login_piece(url)) is None:
        return _invisible_pieces(url)
    start, end = login
    after = ((end + first, end + last) for first, last in _invisible_pieces(url[end:]))
    return [*_invisible_pieces(url[:start]), login, *after]


def login_piece(url: str) -> tuple[int, int] | None:
    """The place of the login in front of the host, with its `@`, as (start, end); None if there is none."""
    found = _AUTHORITY.match(url) if "@" in url else None
    end = found[1].rfind("@") + 1 if found else 0
    return (found.start(1), found.start(1) + end) if found and end else None


def without_login(url: str) -> str:
    """`url` without the login in front of its host."""
    piece = login_piece(url)
    return url[: piece[0]] + url[piece[1] :] if piece else url


def _invisible_pieces(url: str) -> list[tuple[int, int]]:
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
