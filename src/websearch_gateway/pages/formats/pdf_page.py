"""A page of a PDF as PDFium gives it: its words with their places, links, ruling lines and dots.

Raised, lowered and linked parts of a text stand between marks, see `pdf_text`.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from websearch_gateway.pages.formats.pdf_text import (
    BROKEN,
    MARKS,
    Sign,
    has_right_to_left,
    in_reading_order,
    marked,
    script_places,
)

MOST_OBJECTS = 20_000
"""The objects of a page that are searched for ruling lines; drawings have more, and no tables."""
MOST_POINTS = 20_000
"""The points of lines and boxes on a page that are looked at."""
MOST_CHARACTERS = 200_000
"""The characters of a page that are read: a page of a telephone book has 30,000."""

_WORD = re.compile(rf"[^\s\0{BROKEN}{MARKS}]+[{BROKEN}]?")
_HALVES = re.compile("[\ud800-\udfff]")


class Word(NamedTuple):
    """A word from `x0` to `x1` on the baseline `y`, which grows upwards, in points; `size` is that of its font.

    `is_typed`: all letters of its font have one width. `link` is the address to which it leads.
    """

    x0: float
    x1: float
    y: float
    size: float
    text: str
    rows: tuple[()] = ()
    is_typed: bool = False
    link: str = ""


Point = tuple[float, float]


class Ruling(NamedTuple):
    """A ruling line: the height of a level or the x of an upright one, where it starts and where it ends."""

    place: float
    start: float
    end: float


class Rulings(NamedTuple):
    """The ruling lines of a page or of a table, by their direction."""

    level: list[Ruling]
    upright: list[Ruling]


class Sheet(NamedTuple):
    """A page: upright words, the text that runs in another direction, ruling lines, and its height.

    `dots` are the middles of small shapes, such as the bullets that browsers draw.
    """

    words: list[Word]
    turned: str
    rulings: Rulings
    height: float
    dots: list[Point]


Turn = Callable[[float, float], Point]
"""Where a place of a page moves when the page is turned."""


class Link(NamedTuple):
    """A part of a page that leads to an address."""

    x0: float
    y0: float
    x1: float
    y1: float
    address: str

    def holds(self, word: Word) -> bool:
        """Whether the middle of a word lies in this part."""
        middle = word.y + word.size / 3
        return self.x0 <= (word.x0 + word.x1) / 2 <= self.x1 and self.y0 <= middle <= self.y1

    def turned(self, turn: Turn) -> Link:
        """The same part of the page after a turn."""
        (ax, ay), (bx, by) = turn(self.x0, self.y0), turn(self.x1, self.y1)
        return Link(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by), self.address)


def sheet(page: Any, linked: Sequence[Link] = ()) -> Sheet:
    """The words and lines of a pypdfium2 page, turned so that most of its text is upright. `linked` are its links."""
    textpage = page.get_textpage()
    characters = _Characters(textpage.raw)
    runs = list(_runs(characters))
    width, height = page.get_size()
    shown = page.get_rotation() // 90
    if shown % 2:
        width, height = height, width
    upright = _main_direction(runs, shown)
    turn = _turn(upright, width, height)
    words: list[Word] = []
    turned: list[str] = []
    for run in runs:
        if run.direction == upright:
            is_typed = characters.is_typed(run.words[0].start())
            words += [
                _word(characters, match, run.scale, turn, is_typed=is_typed) for match in run.words
            ]
        else:
            turned += (_whole(match[0]) for match in run.words)
    textpage.close()
    words = _linked(words, [link.turned(turn) for link in linked])
    shapes = _shapes(page, turn) if words else _Shapes()
    return Sheet(
        words=words,
        turned=" ".join(turned),
        rulings=shapes.rulings,
        height=width if upright % 2 else height,
        dots=shapes.dots,
    )


MOST_LINKS, MOST_COMPARED = 500, 1_000_000
"""The links of a page that are looked at, and how often one is compared with a word."""
_LONGEST_ADDRESS = 2_000
_WEB = ("http://", "https://", "mailto:")


def links(page: Any) -> list[Link]:
    """The parts of a page that lead to addresses of the web, up to MOST_LINKS."""
    import pypdfium2.raw as pdfium

    places: list[Link] = []
    position, link, box = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    buffer = ctypes.create_string_buffer(_LONGEST_ADDRESS)
    for _ in range(MOST_LINKS):
        if not pdfium.FPDFLink_Enumerate(page.raw, position, link):
            break
        action = pdfium.FPDFLink_GetAction(link)
        if not action:
            continue
        length = pdfium.FPDFAction_GetURIPath(page.pdf.raw, action, buffer, _LONGEST_ADDRESS)
        if not 0 < length <= _LONGEST_ADDRESS:
            continue
        address = buffer.value.decode("utf-8", "replace")
        if address.startswith(_WEB) and pdfium.FPDFLink_GetAnnotRect(link, box):
            places.append(Link(box.left, box.bottom, box.right, box.top, address))
    return places


def with_form_values(page: Any) -> bool:
    """Turn the values of a page's form fields into text of the page. Returns whether the page must be opened again."""
    import pypdfium2.raw as pdfium

    return bool(
        pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS
    )


_ASKEW = 0.15
"""Text that leans more than this from an axis (in right angles) is turned, such as DRAFT across a page."""
_NO_DIRECTION = -1


@dataclass(slots=True)
class _Run:
    """The words of a line, and how they lie: `direction` counts right angles to the left, `scale` enlarges the font."""

    direction: int
    scale: float
    words: list[re.Match[str]] = field(default_factory=list)

    @property
    def letters(self) -> int:
        return self.words[-1].end() - self.words[0].start()


class _Characters:
    """The characters of a page of text, by the index that PDFium gives them.

    All calls share their buffers and their look-up of the module: a page has thousands of words.
    """

    def __init__(self, raw: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._raw = raw
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._box = pdfium.FS_RECTF()
        self._matrix = pdfium.FS_MATRIX()
        self._flags = ctypes.c_int()
        self._name = ctypes.create_string_buffer(_LONGEST_NAME)
        self.text = self._read()

    def _read(self) -> str:
        pdfium, raw = self._pdfium, self._raw
        count = min(pdfium.FPDFText_CountChars(raw), MOST_CHARACTERS)
        buffer = (ctypes.c_ushort * (count + 1))()
        written = pdfium.FPDFText_GetText(raw, 0, count, buffer) - 1
        if written == count:
            return "".join(map(chr, buffer[:count]))
        codes = (pdfium.FPDFText_GetUnicode(raw, index) for index in range(count))
        return "".join(chr(code) if code < 0x110000 else " " for code in codes)

    def origin(self, index: int) -> Point:
        """Where a character stands on its baseline."""
        self._pdfium.FPDFText_GetCharOrigin(self._raw, index, self._x, self._y)
        return self._x.value, self._y.value

    def end(self, index: int, turn: Turn) -> float:
        """Where a character ends at the right after a turn of the page."""
        box = self._box
        self._pdfium.FPDFText_GetLooseCharBox(self._raw, index, box)
        return max(turn(box.left, box.bottom)[0], turn(box.right, box.top)[0])

    def size(self, index: int) -> float:
        """The size of the font of a character, without the scale of its line."""
        size: float = self._pdfium.FPDFText_GetFontSize(self._raw, index)
        return size

    def signs(self, word: re.Match[str], turn: Turn) -> list[Sign]:
        """The characters of a word with their places after a turn of the page."""
        signs = []
        for index, character in enumerate(word[0], word.start()):
            x, y = turn(*self.origin(index))
            signs.append(Sign(character, x, y, self.size(index)))
        return signs

    def run(self, index: int) -> _Run:
        """A line that begins with a character, still without words."""
        matrix = self._matrix
        self._pdfium.FPDFText_GetMatrix(self._raw, index, matrix)
        angle = math.atan2(matrix.b, matrix.a) / (math.pi / 2)
        is_straight = abs(angle - round(angle)) < _ASKEW
        direction = round(angle) % 4 if is_straight else _NO_DIRECTION
        return _Run(direction, math.hypot(matrix.c, matrix.d) or 1.0)

    def is_typed(self, index: int) -> bool:
        """Whether all letters of the font of a character have one width."""
        length = self._pdfium.FPDFText_GetFontInfo(
            self._raw, index, self._name, _LONGEST_NAME, self._flags
        )
        if self._flags.value & _FIXED_PITCH:
            return True
        return length <= _LONGEST_NAME and _TYPED_FONTS.search(self._name.value) is not None


_FIXED_PITCH = 1  # of the flags of a font (ISO 32000-1, table 123)
_TYPED_FONTS = re.compile(
    rb"mono|courier|consol|menlo|typewriter|cmtt|inconsolata|source ?code", re.IGNORECASE
)
_LONGEST_NAME = 200


def _runs(characters: _Characters) -> Iterator[_Run]:
    """The lines of a page as PDFium parts them."""
    text = characters.text
    run: _Run | None = None
    line_end = -1
    for word in _WORD.finditer(text):
        if run is None or word.start() > line_end:
            if run is not None:
                yield run
            line_end = text.find("\n", word.start()) % (len(text) + 1)
            run = characters.run(word.start())
        run.words.append(word)
    if run is not None:
        yield run


def _main_direction(runs: Sequence[_Run], shown: int) -> int:
    """The direction of most letters; `shown` is that in which the page is shown."""
    letters = Counter({shown: 0})
    for run in runs:
        letters[run.direction] += run.letters
    del letters[_NO_DIRECTION]
    return max(letters, key=letters.__getitem__)


def _turn(quarters: int, width: float, height: float) -> Turn:
    """How a place moves when text that runs in this direction, in right angles to the left, becomes upright."""
    turns: tuple[Turn, ...] = (
        lambda x, y: (x, y),
        lambda x, y: (y, width - x),
        lambda x, y: (width - x, height - y),
        lambda x, y: (height - y, x),
    )
    return turns[quarters]


def _word(
    characters: _Characters, match: re.Match[str], scale: float, turn: Turn, *, is_typed: bool
) -> Word:
    text = match[0]
    first, last = match.start(), match.end() - 1
    start, baseline = turn(*characters.origin(first))
    end = max(characters.end(last, turn), start)
    size = characters.size(first)
    is_backwards = has_right_to_left(text)
    has_signs = text.isascii() or not _HALVES.search(text)
    if has_signs and (is_backwards or _has_two_sizes(characters, text, first, size)):
        signs = characters.signs(match, turn)
        size = max(sign.size for sign in signs)
        baseline = next(sign.y for sign in signs if sign.size == size)
        if is_backwards:
            text = in_reading_order(signs)
            farthest = max(range(len(signs)), key=lambda at: signs[at].x)
            end = max(characters.end(first + farthest, turn), end)
            start = min(start, *(sign.x for sign in signs))
        else:
            text = marked(signs, size, baseline)
    return Word(start, end, baseline, max(size * scale, 1.0), _whole(text), is_typed=is_typed)


def _has_two_sizes(characters: _Characters, text: str, first: int, size: float) -> bool:
    """Whether a word has characters of another size than its first, which may be raised or lowered."""
    for place in script_places(text):  # noqa: SIM110 - a generator takes half as long again
        if characters.size(first + place) != size:
            return True
    return False


def _linked(words: list[Word], places: Sequence[Link]) -> list[Word]:
    """The words with the addresses to which the page links them."""
    linked = list(words)
    for place in places[: MOST_COMPARED // max(len(words), 1)]:
        for at, word in enumerate(linked):
            if not word.link and place.holds(word):
                linked[at] = word._replace(link=place.address)
    return linked


def _whole(text: str) -> str:
    """The text with whole characters: one beyond the first 65,536 comes in two halves."""
    if text.isascii() or not _HALVES.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True, slots=True)
class _Shapes:
    """What is drawn on a page: its ruling lines, and the middles of dots."""

    rulings: Rulings = field(default_factory=lambda: Rulings([], []))
    dots: list[Point] = field(default_factory=list)


def _shapes(page: Any, turn: Turn) -> _Shapes:
    """The dots and the ruling lines, which are thin boxes and the straight parts of paths; none of a drawing."""
    import pypdfium2.raw as pdfium

    shapes = _Shapes()
    count = pdfium.FPDFPage_CountObjects(page.raw)
    if count > MOST_OBJECTS:
        return shapes
    seen_points = 0
    for index in range(count):
        element = pdfium.FPDFPage_GetObject(page.raw, index)
        if pdfium.FPDFPageObj_GetType(element) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        points = pdfium.FPDFPath_CountSegments(element)
        seen_points += points
        if seen_points > MOST_POINTS:
            return _Shapes()
        if dot := _dot(element, turn):
            shapes.dots.append(dot)
            continue
        for start, end in _straight(element, points, turn):
            _add_ruling(start, end, shapes.rulings)
    return shapes


_THIN = 1.0
"""The sides of a ruling line are nearer to each other than this, in points."""


def _add_ruling(start: Point, end: Point, rulings: Rulings) -> None:
    """Add the straight part of a path between two points, if it is level or upright."""
    x0, x1 = sorted((start[0], end[0]))
    y0, y1 = sorted((start[1], end[1]))
    is_level = y1 - y0 < _THIN
    is_upright = x1 - x0 < _THIN
    if is_level and not is_upright:
        rulings.level.append(Ruling(y0, x0, x1))
    elif is_upright and not is_level:
        rulings.upright.append(Ruling(x0, y0, y1))


_DOT_SIZES = (1.5, 8.0)
"""The width and height of a bullet, in points."""


def _dot(path: Any, turn: Turn) -> Point | None:
    """The middle of a shape that is small and as wide as high; None for any other."""
    import pypdfium2.raw as pdfium

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(path, left, bottom, right, top):
        return None
    width = right.value - left.value
    height = top.value - bottom.value
    least, most = _DOT_SIZES
    is_round = abs(width - height) < least / 2
    if not is_round or not least <= width <= most:
        return None
    return turn((left.value + right.value) / 2, (bottom.value + top.value) / 2)


def _straight(path: Any, points: int, turn: Turn) -> Iterator[tuple[Point, Point]]:
    """The places between which a path has straight parts."""
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    start = before = (0.0, 0.0)
    for index in range(points):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        place = turn(
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = place
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield before, place
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield place, start
        before = place
