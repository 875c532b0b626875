"""Splits a long text into windows that together are the whole text."""

from __future__ import annotations

import re
import unicodedata

# Characters that join the previous one, besides marks: skin tones, the tags of a flag, Hangul's vowels and finals.
_JOINED = re.compile(r"[\u200d\u1160-\u11ff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_FLAG_LETTERS = re.compile(r"[\U0001f1e6-\U0001f1ff]+\Z")
_LONGEST_CHARACTER = 32


def window(text: str, offset: int, size: int) -> tuple[str, int | None]:
    """At most `size` characters of `text` from `offset` on, and the offset of the next window (None after the last).

    The window ends after a line if one ends in its second half, else after a word, else between two grapheme clusters.
    `offset` counts code points and is at most `len(text)`; `size` is at least 1.
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
    """Whether `cut` is inside a grapheme cluster.

    Implements the common part of Unicode's rules (https://www.unicode.org/reports/tr29/).
    """
    before, after = text[cut - 1], text[cut]
    if unicodedata.category(after).startswith("M") or _JOINED.match(after) or before == "\u200d":
        return True
    letters = _FLAG_LETTERS.search(text, max(0, cut - _LONGEST_CHARACTER), cut)
    return letters is not None and len(letters[0]) % 2 == 1 and bool(_FLAG_LETTERS.match(after))
