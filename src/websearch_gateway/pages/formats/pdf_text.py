"""The text of words of a PDF: raised and lowered signs, links, scripts that run from right to left. Pure.

PDFium gives signs with their places. Raised and linked signs stand between marks in a text, and becomes an element of
the tree in the end (`texts_of`). The marks are no characters of Unicode, so no text has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from websearch_gateway.pages.formats.rendering import Text

RAISED, LOWERED, LINK, LINKED, END = MARKS = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4"
"""The beginnings of a raised and a lowered part, and of a link and its words; and the end of each."""
BROKEN = "\x02\ufffe\u00ad"
"""Marks of a hyphen at the end of a line, which PDFium joins with the next: its own two, and the soft hyphen."""
SMALLER = 0.88
"""A raised or lowered sign is at most so large, compared with the word."""
LEAST_RISE, LEAST_FALL = 0.15, 0.07
"""How far it stands above or below the baseline at least, in font sizes."""

_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"[\d.,:;%+()/\u2212-]+")
_END_OF_DIGITS = re.compile(r"\d(?=\D)")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufeff]")
_LEFT_TO_RIGHT = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]")
_RUN_TO_RIGHT = re.compile(r"[0-9A-Za-z\u00c0-\u024f]+(?:[.,:/-][0-9A-Za-z\u00c0-\u024f]+)*")
_PIECE = re.compile(f"{LINK}([^{MARKS}]*){LINKED}|[{MARKS}]")
_MARKUP = re.compile(f"{LINK}[^{MARKS}]*{LINKED}|[{MARKS}]")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_AS_HYPHENS = dict.fromkeys(map(ord, BROKEN), "-")


class Sign(NamedTuple):
    """A character with its place on the baseline and the size of its font."""

    text: str
    x: float
    y: float
    size: float


class Placed(Protocol):
    """A word in a line."""

    @property
    def text(self) -> str: ...
    @property
    def link(self) -> str: ...


def script_places(text: str) -> Iterable[int]:
    """The places in a word whose size tells whether it has raised or lowered signs, the last one first.

    In a number these are the ends of its runs of digits; the middle of a word counts only if it has digits.
    """
    last = len(text) - 1
    if text.isalpha() or text.isdecimal() or not _DIGIT.search(text):
        return (last,)
    if _NUMBER.fullmatch(text):
        return (last, *(match.start() for match in _END_OF_DIGITS.finditer(text)))
    return range(last, 0, -1)


def has_right_to_left(text: str) -> bool:
    """Whether a text has letters of a script that runs from right to left."""
    return not text.isascii() and bool(_RIGHT_TO_LEFT.search(text))


def in_reading_order(signs: Sequence[Sign]) -> str:
    """A word of Hebrew or Arabic as it is read. Programs store it as it is read, or as it stands on the paper."""
    letters = [sign for sign in signs if _RIGHT_TO_LEFT.match(sign.text)]
    is_as_it_stands = letters[0].x < letters[-1].x
    if not is_as_it_stands:
        return "".join(sign.text for sign in signs)
    # The letters of a ligature share a place and are in reading order already.
    from_right = sorted(signs, key=lambda sign: -sign.x)
    text = "".join(sign.text for sign in from_right).translate(_MIRRORED)
    return _RUN_TO_RIGHT.sub(lambda run: run[0][::-1], text)


def marked(signs: Sequence[Sign], size: float, baseline: float) -> str:
    """A word with marks around its raised and lowered signs."""
    parts = []
    for mark, run in groupby(signs, lambda sign: _height(sign, size, baseline)):
        text = "".join(sign.text for sign in run)
        parts.append(f"{mark}{text}{END}" if mark else text)
    return "".join(parts)


def _height(sign: Sign, size: float, baseline: float) -> str:
    """The mark of a raised or a lowered sign; "" of one on the baseline."""
    if sign.size > SMALLER * size:
        return ""
    rise = (sign.y - baseline) / size
    if rise >= LEAST_RISE:
        return RAISED
    if rise <= -LEAST_FALL:
        return LOWERED
    return ""


def text_of(line: Sequence[Placed]) -> str:
    """The words of a line, from left to right on the paper, as they are read, with marks around their links."""
    # Nearly all lines of most documents.
    if all(word.text.isascii() and not word.link for word in line):
        return " ".join(word.text for word in line)
    words = _as_read(line)
    is_turned = words is not line
    pieces = []
    for link, run in groupby(words, lambda word: word.link):
        text = _spaced([_turned(word.text) if is_turned else word.text for word in run])
        pieces.append(f"{LINK}{link}{LINKED}{text}{END}" if link else text)
    return _spaced(pieces)


def _as_read(line: Sequence[Placed]) -> Sequence[Placed]:
    """The words in the order in which they are read."""
    to_the_left = sum(1 for word in line if has_right_to_left(word.text))
    if not to_the_left:
        return line
    to_the_right = sum(1 for word in line if _is_left_to_right(word))
    if to_the_left < to_the_right:
        return line
    ordered: list[Placed] = []
    for is_latin, run in groupby(reversed(line), _is_left_to_right):
        words = list(run)
        if is_latin:
            words.reverse()
        ordered += words
    return ordered


def _is_left_to_right(word: Placed) -> bool:
    return _LEFT_TO_RIGHT.search(word.text) is not None


_POINTS_FIRST = re.compile(r"([.,;:!?]+)([\d.,/:-]*\d)")


def _turned(text: str) -> str:
    """A number in a line from right to left: the comma at its left follows it."""
    return _POINTS_FIRST.sub(r"\2\1", text) if _POINTS_FIRST.fullmatch(text) else text


_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60]")
"""Signs of scripts that put no blanks between words."""


def _spaced(pieces: Sequence[str]) -> str:
    text = ""
    before = ""
    for piece in pieces:
        text += between(before, piece) + piece
        before = piece
    return text


def between(before: str, after: str) -> str:
    """What stands between two pieces of a line or two lines of a paragraph: a blank, but none between Chinese signs."""
    before, after = without_marks(before), without_marks(after)
    if not before:
        return ""
    is_unspaced = after and _WIDE.match(before[-1]) and _WIDE.match(after[0])
    return "" if is_unspaced else " "


def hyphen_between(before: str, after: str) -> str:
    """What stands between the halves of a word that is broken: a hyphen only if it belongs to the word."""
    half = without_marks(before).rpartition(" ")[2]
    rest = without_marks(after)[:1]
    has_hyphens = "-" in half
    is_plain = half[-1:].islower() and rest.islower()
    return "" if is_plain and not has_hyphens else "-"


def with_hyphens(text: str) -> str:
    """A text with a hyphen for each mark of one."""
    return text.translate(_AS_HYPHENS)


def without_marks(text: str) -> str:
    """A text as people see it."""
    return _MARKUP.sub("", text) if not text.isascii() else text


def texts_of(text: str) -> Iterator[Text]:
    """The pieces of a text with the inline elements that its marks stand for."""
    if text.isascii():  # it has no marks
        if text:
            yield text, ()
        return
    marks: list[str] = []  # that are open
    done = 0
    for mark in _PIECE.finditer(text):
        if piece := text[done : mark.start()]:
            yield piece, tuple(marks)
        done = mark.end()
        if mark[0] == END:
            del marks[-1:]
        elif mark[0] == RAISED:
            marks.append("sup")
        elif mark[0] == LOWERED:
            marks.append("sub")
        elif address := mark[1]:
            marks.append(f"a {address}")
    if piece := text[done:]:
        yield piece, tuple(marks)
