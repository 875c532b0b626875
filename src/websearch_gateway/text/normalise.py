"""Normalises a query without changing its meaning.

Plain NFKC is too much for a search query: it makes `10²` into `102`, `½` into `1⁄2` and `ℌ` into `H`. So the text is
composed (NFC), and only typographic variants are folded: full, half and small width, vertical forms, Latin ligatures
and Arabic letter shapes. White space is collapsed and invisible characters are removed.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from websearch_gateway.errors import SearchValidationError

SHORTEST_QUERY = 3
"""The least number of characters. In scripts that write a word in one or two, one is enough."""

LONGEST_QUERY = 400
LONGEST_RAW_QUERY = 10_000
"""The most characters; a longer text is rejected before normalisation."""

_FOLDED_TAGS = frozenset(
    {"<wide>", "<narrow>", "<small>", "<vertical>", "<initial>", "<medial>", "<final>", "<isolated>"}
)
_LATIN_LIGATURES = range(0xFB00, 0xFB07)
_TYPOGRAPHIC_FORMS = range(0xFB00, 0xFFF0)

_WRITES_WORDS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]")
"""Kana, ideographs and Hangul syllables."""

_WHITE_SPACE = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029 \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")

# White space is already collapsed here. The bidi characters are the embeddings, overrides and isolates of UAX #9,
# which can display a text in another order than stored; the plain marks (LRM, RLM, ALM) are only removed below.
_FORBIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt and the interlinear annotation marks, less the two
# joiners. Includes variation selectors and tags: both can hide text from a reader.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)

# A zero-width joiner or non-joiner is part of the spelling in Arabic, Indic and South-East Asian scripts, and joins
# emoji. A single one stays after such a character, but never before a Latin letter or digit.
_JOINERS = "\u200c\u200d"
_JOINING = (
    "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ua840-\ua87f\ua8e0-\ua8ff\u2190-\u2bff\U0001f000-\U0001faff"
)
_STRAY_JOINERS = re.compile(
    f"(?<![{_JOINING}])[{_JOINERS}]+|(?<=[{_JOINERS}])[{_JOINERS}]+|[{_JOINERS}]+(?=[0-9A-Za-z])"
)


@functools.cache
def _typographic_folds() -> dict[int, str]:
    """Each typographic form and its replacement, from Unicode's own decompositions."""
    folds = {}
    for code in _TYPOGRAPHIC_FORMS:
        tag, _, target = unicodedata.decomposition(chr(code)).partition(" ")
        letters = [int(part, 16) for part in target.split()]
        is_word = len(letters) > 3 or 0x20 in letters  # U+FDFA is a whole phrase: keep it
        if code in _LATIN_LIGATURES:
            folds[code] = unicodedata.normalize("NFKC", chr(code))
        elif tag in _FOLDED_TAGS and not is_word:
            folds[code] = "".join(map(chr, letters))
    return folds


def _settled(text: str) -> str:
    """The text without stray joiners and double spaces. Repeats, as this may reorder marks around a joiner."""
    while True:
        fewer = _WHITE_SPACE.sub(" ", _STRAY_JOINERS.sub("", text))
        if fewer == text:
            return text
        text = unicodedata.normalize("NFC", fewer)


def normalise(text: str) -> str:
    """The normalised query, which is checked, cached and sent. Idempotent.

    Raises:
        SearchValidationError: it contains a control character, a bidi override, a non-character or a lone surrogate;
            the message names the code point, never the query.
    """
    text = _WHITE_SPACE.sub(" ", text)
    if found := _FORBIDDEN.search(text):
        name = f"U+{ord(found.group()):04X}"
        raise SearchValidationError(
            f"The query contains the control character {name}; remove it.",
            details={"field": "query", "codePoint": name},
        )
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text).translate(_typographic_folds()))
        text = _settled(unicodedata.normalize("NFC", text))
    return text.strip(" ")


def matching_form(text: str) -> str:
    """A normalised text reduced for matching only: full NFKC, lower case, no accents, joiners or look-alike letters."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.translate(_WHOLE_PHRASES))
    letters = "".join(c for c in decomposed if not unicodedata.combining(c) and c not in _JOINERS)
    return unicodedata.normalize("NFKC", letters).casefold().translate(_LOOK_ALIKES)


def matching_letters(text: str) -> str | None:
    """A text with each non-ASCII character in its `matching_form`, to search it for English words. Much faster than
    `matching_form`.

    None if no character becomes ASCII: then the result would have the same English words as the text.
    """
    shapes = {ord(character): matching_form(character) for character in set(text) if not character.isascii()}
    return text.translate(shapes) if any(map(str.isascii, shapes.values())) else None


# Each of these characters expands to 8 to 18 letters, which would make a text of them expensive.
_WHOLE_PHRASES = {0xFDFA: " ", 0xFDFB: " "}
# Cyrillic and Greek letters that look like Latin ones.
_LOOK_ALIKES = str.maketrans("аеорсухіѕјкмтԁοραεκντι", "aeopcyxisjkmtdopaekvti")


def checked_query(text: str) -> str:
    """The normalised query.

    Raises:
        SearchValidationError: not text, or outside `SHORTEST_QUERY` (1 with a Chinese, Japanese or Korean character) to
            `LONGEST_QUERY` characters.
    """
    if not isinstance(text, str):
        raise SearchValidationError("`query` must be text.", details={"field": "query", "allowed": "text"})
    if len(text) <= LONGEST_RAW_QUERY:
        text = normalise(text)
    if not (1 if _WRITES_WORDS.search(text) else SHORTEST_QUERY) <= len(text) <= LONGEST_QUERY:
        raise SearchValidationError(
            f"`query` must be {SHORTEST_QUERY} to {LONGEST_QUERY} characters long, white space collapsed; one "
            "character is enough in Chinese, Japanese and Korean.",
            details={"field": "query", "allowed": f"{SHORTEST_QUERY}-{LONGEST_QUERY} characters"},
        )
    return text
