"""A long text in windows that, put together, are the whole text."""

from __future__ import annotations

import re

# What belongs to the character before it, or joins two to one: accents, emoji parts.
_JOINED = re.compile(
    r"[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u093c-\u094d\u0e31-\u0e4e\u200d\u20d0-\u20ff"
    r"\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_LONGEST_CHARACTER = 32


def window(text: str, offset: int, size: int) -> tuple[str, int | None]:
    """At most `size` characters of `text` from `offset` on, and where the next window begins (None after the last).

    It ends behind a line where there is one in its second half, else behind a word, else between two characters as a
    reader sees them. `offset` is a count of characters (code points), at most `len(text)`; `size` is at least 1.
    """
    end = offset + size
    if end >= len(text):
        return text[offset:], None
    middle = offset + (size + 1) // 2
    for separator in ("\n", " "):
        if (found := text.rfind(separator, middle, end)) >= 0:
            return text[offset : found + 1], found + 1
    cut = end
    while cut > max(offset + 1, end - _LONGEST_CHARACTER) and _splits(text, cut):
        cut -= 1
    cut = end if _splits(text, cut) else cut
    return text[offset:cut], cut


def _splits(text: str, cut: int) -> bool:
    return bool(_JOINED.match(text, cut)) or text[cut - 1] == "\u200d"
