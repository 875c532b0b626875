"""The words and the ruling lines of a PDF page with their places, upright, as PDFium sees them."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

MOST_OBJECTS = 20_000
"""The objects of a page that are searched for ruling lines; drawings have more, and no tables."""
MOST_POINTS = 20_000
"""The points of lines and boxes on a page that are looked at."""
MOST_CHARACTERS = 200_000
"""The characters of a page that are read: a page of a telephone book has 30,000."""

BROKEN = "\x02\ufffe\u00ad"
"""Marks of a hyphen at the end of a line, which PDFium joins with the next: its own two, and the soft hyphen."""
_WORD = re.compile(rf"[^\s\0{BROKEN}]+[{BROKEN}]?")


class Word(NamedTuple):
    """A word from `x0` to `x1` on the baseline `y`, which grows upwards, in points; `size` is that of its font."""

    x0: float
    x1: float
    y: float
    size: float
    text: str


class Line(NamedTuple):
    """A horizontal or vertical ruling line."""

    x0: float
    y0: float
    x1: float
    y1: float


class Sheet(NamedTuple):
    """A page: upright words, the text that runs in another direction, ruling lines, and its height."""

    words: list[Word]
    turned: str
    lines: list[Line]
    height: float


Turn = Callable[[float, float], tuple[float, float]]


def sheet(page: Any) -> Sheet:
    """The words and lines of a pypdfium2 page."""
    width, height = page.get_size()
    turn = _turn(page.get_rotation(), width, height)
    words, turned = _words(page, turn)
    return Sheet(words, turned, _lines(page, turn) if words else [], height)


def _turn(rotation: int, width: float, height: float) -> Turn:
    """How a place moves when the page is shown; `width` and `height` are those of the shown page."""
    if rotation == 90:
        return lambda x, y: (y, height - x)
    if rotation == 180:
        return lambda x, y: (width - x, height - y)
    if rotation == 270:
        return lambda x, y: (width - y, x)
    return lambda x, y: (x, y)


def _words(page: Any, turn: Turn) -> tuple[list[Word], str]:
    import pypdfium2.raw as pdfium

    textpage = page.get_textpage()
    raw = textpage.raw
    text = _characters(raw)
    box, matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
    x, y = ctypes.c_double(), ctypes.c_double()
    words: list[Word] = []
    turned: list[str] = []
    scale, upright, line_end, rotated = 1.0, True, -1, page.get_rotation() != 0
    for match in _WORD.finditer(text):
        first, last = match.start(), match.end() - 1
        if first > line_end:
            line_end = text.find("\n", first) % (len(text) + 1)
            pdfium.FPDFText_GetMatrix(raw, first, matrix)
            right, up = turn(matrix.a, matrix.b), turn(matrix.c, matrix.d)
            origin = turn(0, 0)
            scale = math.hypot(up[0] - origin[0], up[1] - origin[1]) or 1.0
            upright = abs(right[1] - origin[1]) <= abs(right[0] - origin[0])
        if not upright:
            turned.append(match[0])
            continue
        size = pdfium.FPDFText_GetFontSize(raw, first) * scale
        pdfium.FPDFText_GetCharOrigin(raw, first, x, y)
        pdfium.FPDFText_GetLooseCharBox(raw, last, box)
        start, baseline, end = x.value, y.value, box.right
        if rotated:
            start, baseline = turn(start, baseline)
            end = max(turn(box.left, box.bottom)[0], turn(end, box.top)[0])
        words.append(Word(start, end if end > start else start, baseline, size if size > 1 else 1.0, match[0]))
    textpage.close()
    return words, " ".join(turned)


def _characters(raw: Any) -> str:
    """The text of a page in which each character has the index that PDFium gives it."""
    import pypdfium2.raw as pdfium

    count = min(pdfium.FPDFText_CountChars(raw), MOST_CHARACTERS)
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(raw, 0, count, buffer) - 1
    if written == count:
        return "".join(map(chr, buffer[:count]))
    return "".join(chr(code) if code < 0x110000 else " " for code in _codes(raw, count))


def _codes(raw: Any, count: int) -> Iterator[int]:
    import pypdfium2.raw as pdfium

    return (pdfium.FPDFText_GetUnicode(raw, index) for index in range(count))


def _lines(page: Any, turn: Turn) -> list[Line]:
    """The ruling lines: thin boxes, and the straight parts of paths."""
    import pypdfium2.raw as pdfium

    lines: list[Line] = []
    left = MOST_POINTS
    count = pdfium.FPDFPage_CountObjects(page.raw)
    for index in range(count if count <= MOST_OBJECTS else 0):
        element = pdfium.FPDFPage_GetObject(page.raw, index)
        if pdfium.FPDFPageObj_GetType(element) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        points = pdfium.FPDFPath_CountSegments(element)
        left -= points
        if left < 0:
            return []
        lines += _straight(element, points, turn)
    return lines


def _straight(path: Any, points: int, turn: Turn) -> Iterator[Line]:
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    start = before = (0.0, 0.0)
    for index in range(points):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        place = turn(
            matrix.a * x.value + matrix.c * y.value + matrix.e, matrix.b * x.value + matrix.d * y.value + matrix.f
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = place
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield from _ruling(before, place)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield from _ruling(place, start)
        before = place


def _ruling(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Line]:
    (x0, x1), (y0, y1) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    if (x1 - x0 < 1) != (y1 - y0 < 1):
        yield Line(x0, y0, x1, y1)
