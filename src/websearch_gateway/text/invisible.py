"""Removes invisible characters, except where writing needs them, and makes URLs safe to show.

The visible characters on both sides of a run decide. Only the characters that one script or emoji needs there may stay
(https://www.unicode.org/reports/tr51/ for emoji,
https://www.unicode.org/reports/tr31/#Layout_and_Format_Control_Characters for joiners), too few for a hidden message.
Software that decodes escapes shows `https://bank.example/%E2%80%AEgpj.exe` as `exe.jpg`; the host of
`https://bank.example@evil.example` is evil.example, and a login may also be somebody's.
"""

from __future__ import annotations

import functools
import re

MANY = 8
"""The least number of consecutive invisible characters that may be a hidden message."""

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, bidi controls, annotation marks, control
# characters but tab and line feed, private use, lone surrogates and non-characters.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_RUN = re.compile(f"[{_INVISIBLE}]+")
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-9;?]{0,40}+[@-~]|\x1b\][^\x07\x1b\n]{0,400}+(?:\x07|\x1b\\)")
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")

_SMUGGLING = re.compile(
    f"[\U000e0001-\U000e007f\u202d\u202e\U000e0100-\U000e01ef]|[\ufe00-\ufe0f]{{2}}|[{_INVISIBLE}]{{{MANY}}}"
)

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001faff"
)
_IDEOGRAPHS = "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINING = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ua840-\ua87f\ua8e0-\ua8ff\uaa60-\uaa7f\ufb50-\ufdff"
    "\ufe70-\ufefe"
)
# The characters in the allowed runs below, and the length of the longest of them.
_SOMETIMES_NEEDED = re.compile(
    "[\u034f\u061c\u180b-\u180d\u180f\u200b-\u200f\ufe00-\ufe02\ufe0e\ufe0f\U000e0062-\U000e007f\U000e0100-\U000e01ef]"
)
_LONGEST_NEEDED = 6
_UNSPACED = "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u19e0-\u19ff"
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe"

# Allowed runs: (the character before, the run, the character after).
_ALLOWED = tuple(
    (re.compile(before), re.compile(run), re.compile(after, re.DOTALL))
    for before, run, after in (
        ("\U0001f3f4", "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", ""),  # England
        ("\U0001f3f4", "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", ""),  # Scotland
        ("\U0001f3f4", "\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", ""),  # Wales
        (f"[{_EMOJI}]", "\ufe0f?\u200d", f"[{_EMOJI}]"),
        (f"[{_EMOJI}]", "[\ufe0e\ufe0f]", ""),
        ("[0-9#*]", "\ufe0f", "\u20e3"),
        (f"[{_IDEOGRAPHS}]", "[\ufe00-\ufe02\U000e0100-\U000e01ef]", ""),
        ("[\u1800-\u18af]", "[\u180b-\u180d\u180f]", ""),
        ("[\u1000-\u109f\uaa60-\uaa7f]", "\ufe00", ""),
        (f"[{_JOINING}]", "[\u200c\u200d]", "[^0-9A-Za-z]|$"),
        (f"[{_UNSPACED}]", "\u200b", f"[{_UNSPACED}]"),
        ("[\u0591-\u05c7]", "\u034f", "[\u0591-\u05c7]"),
        (r"[\s\S]?", "[\u200e\u200f\u061c]", f"[{_RIGHT_TO_LEFT}]"),
        (f"[{_RIGHT_TO_LEFT}]", "[\u200e\u200f\u061c]", ""),
    )
)


def strip_invisible_characters(text: str) -> tuple[str, bool]:
    """`text` without invisible characters, and whether they look like a hidden message. Line ends become line feeds.

    Arabic, Hebrew, Indic, South-East Asian and Mongolian spelling, variants of ideographs, emoji with their joiners and
    the flags of England, Scotland and Wales stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text, False
    text = _ESCAPE_SEQUENCE.sub("", _LINE_ENDS.sub("\n", text))
    if not _RUN.search(text):
        return text, False
    if not _SOMETIMES_NEEDED.search(text):
        return _RUN.sub("", text), bool(_SMUGGLING.search(text))
    smuggled = False

    def kept(run: re.Match[str]) -> str:
        nonlocal smuggled
        before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        stays = _needed(before, run[0][:_LONGEST_NEEDED], after)
        smuggled = smuggled or bool(_SMUGGLING.search(run[0][len(stays) :]))
        return stays

    return _RUN.sub(kept, text), smuggled


def invisible_pieces(text: str) -> list[tuple[int, int]]:
    """The ranges of the characters that `strip_invisible_characters` removes, as (start, end), ordered and disjoint.

    A line end that is a control character other than a line feed counts as invisible.
    """
    if text.isascii() and text.isprintable():
        return []
    pieces = []
    for run in _RUN.finditer(text):
        before, after = text[max(0, run.start() - 1) : run.start()], text[run.end() : run.end() + 1]
        stays = _needed(before, run[0][:_LONGEST_NEEDED], after)
        if run.start() + len(stays) < run.end():
            pieces.append((run.start() + len(stays), run.end()))
    return pieces


@functools.lru_cache(4096)
def _needed(before: str, run: str, after: str) -> str:
    """The beginning of an invisible run that the writing system needs between the characters `before` and `after`."""
    for left, allowed, right in _ALLOWED:
        if left.fullmatch(before) and (found := allowed.match(run)) and right.match(after):
            return found[0]
    return ""


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
