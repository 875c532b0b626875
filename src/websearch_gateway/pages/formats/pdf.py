"""A PDF as a tree for each page: headings by the outline or their size, without repeated headers.

Lays out each page in lines, columns in reading order, tables, lists, listings and paragraphs. Pure and linear.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.pdf_tables import (
    BROKEN,
    Segment,
    Sheet,
    Word,
    aligned,
    links,
    ruled,
    sheet,
    with_form_values,
)
from websearch_gateway.pages.formats.pdf_text import (
    between,
    has_right_to_left,
    text_of,
    texts_of,
    without_marks,
)
from websearch_gateway.pages.formats.rendering import MAX_MARKDOWN, Builder, markdown_of

T = TypeVar("T")
Piece = TypeVar("Piece", Word, Segment)

_UNBROKEN = dict.fromkeys(map(ord, BROKEN), "-")


MOST_PAGES = 1_000
READ_SECONDS, LAYOUT_SECONDS, WRITE_SECONDS = 3.0, 5.0, 7.0
"""The seconds from the start after which no further page is read, laid out, and written: a job may take ten."""
ONLY_FIRST = "The PDF has {:,} pages; only the first {:,} were read."

LARGER = 1.12
"""A font this many times larger than that of the text makes a heading."""
LONGEST_HEADING = 200
MARGIN = 0.095
"""The part of a page's height, above and below, in which headers and footers stand."""
MOST_MARGIN_LINES = 3
MOST_PAGE_NUMBERS = 2
"""The numbers of a line without letters that counts pages, such as `3 / 10`."""
OFTEN = 3
"""A header or footer is on at least so many pages, or on both of two: chapters have their own."""

_NUMBERING = re.compile(r"^(?:[\dIVX]++\.?)++\s+")
_NUMBER = re.compile(r"\d+|^\W*[ivxlcdm]+\W*$")
_NO_TITLES = ("", "untitled", "(anonymous)")
_DEEPEST_HEADING = 6
_MOST_HEADINGS = 10_000
_PASSWORD = 4  # FPDF_ERR_PASSWORD

Outline = dict[tuple[int, str], int]


def pdf(body: bytes, url: str, charset: str) -> Extracted:
    """A PDF as Markdown, with a line `*Page N*` before the text of each page. `charset` is not used.

    Raises:
        SearchFetchError: the PDF is damaged, encrypted, or has no text (`details["reason"]`).
    """
    import pypdfium2

    started = time.monotonic()
    try:
        document = pypdfium2.PdfDocument(body)
        count = len(document)
        outline = _outline(document)
        sheets = list(_in_time(_read(document), started + READ_SECONDS))
        title = document.get_metadata_value("Title")
    except pypdfium2.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) == _PASSWORD
        message, reason = (
            ("locked with a password", "encrypted") if is_locked else ("damaged", "damaged")
        )
        raise SearchFetchError(f"The PDF is {message}.", details={"reason": reason}) from None
    if not any(one.words or one.turned for one in sheets):
        message = "The PDF has no text; its pages are scans."
        raise SearchFetchError(message, details={"reason": "scanned" if count else "empty"})
    shown = list(_in_time(map(blocks, _without_margins(sheets)), started + LAYOUT_SECONDS))
    levels = _levels(shown, outline)
    anchors, texts, at = [], [], 0
    for number, text in _in_time(_written(shown, outline, levels), started + WRITE_SECONDS):
        anchors.append((at, f"page={number}"))
        texts.append(text)
        at += len(text) + 2
    last = int(anchors[-1][1].removeprefix("page=")) if anchors else 0
    largest = (
        _line(one.text) for one in shown[0] if levels.get(_size(one)) == 1 and _may_be_heading(one)
    )
    heading = next(largest, "")
    stated = _line(title) if _line(title).casefold() not in _NO_TITLES else ""
    name = stated if not heading or _is_title(stated, shown[0]) else heading
    name = name or unquote(urlsplit(url).path.rpartition("/")[2])
    is_cut = len(shown) < count or any(shown[last:])
    warnings = (
        (ONLY_FIRST.format(count, last if any(shown[last:]) else len(shown)),) if is_cut else ()
    )
    return Extracted(name, "\n\n".join(texts), None, warnings, tuple(anchors))


def _is_title(title: str, page: Sequence[Block]) -> bool:
    """Whether a stated title is one: a single word that the first page does not have is the name of a file."""
    return " " in title or any(
        title and title.casefold() in block.text.casefold() for block in page
    )


def _read(document: Any) -> Iterator[Sheet]:
    """The pages, until there is enough text."""
    has_form = bool(document.get_formtype())
    length = 0
    for number in range(min(len(document), MOST_PAGES)):
        page = document[number]
        linked = links(page)
        if has_form and with_form_values(page):
            page.close()
            page = document[number]
        read = sheet(page, linked)
        page.close()
        yield read
        length += sum(len(word.text) + 1 for word in read.words)
        if length > MAX_MARKDOWN:
            return


def _in_time(items: Iterable[T], until: float) -> Iterator[T]:
    """The items until a time on the monotonic clock, at least one."""
    for item in items:
        yield item
        if time.monotonic() > until:
            return


def _outline(document: Any) -> Outline:
    """The level of each heading, by page number and bare title."""
    headings: Outline = {}
    for bookmark in islice(document.get_toc(max_depth=_DEEPEST_HEADING), _MOST_HEADINGS):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None:
            headings[index + 1, _bare(bookmark.get_title())] = min(
                bookmark.level + 2, _DEEPEST_HEADING
            )
    return headings


def _without_margins(sheets: Sequence[Sheet]) -> Iterator[Sheet]:
    """The pages without the headers, footers and page numbers that many of them repeat."""
    margins = [_margin_lines(one) for one in sheets]
    often = Counter(mark for margin in margins for mark in margin)
    least = min(OFTEN, max(2, sum(1 for one in sheets if one.words)))
    for one, margin in zip(sheets, margins, strict=True):
        repeated = {word for mark, line in margin.items() if often[mark] >= least for word in line}
        yield (
            one._replace(words=[word for word in one.words if word not in repeated])
            if repeated
            else one
        )


def _margin_lines(page: Sheet) -> dict[tuple[str, int], list[Word]]:
    """The outermost lines in the upper and lower margin, by their text without numbers, and their place."""
    marks: dict[tuple[str, int], list[Word]] = {}
    upper = [word for word in page.words if word.y > (1 - MARGIN) * page.height]
    lower = [word for word in page.words if word.y < MARGIN * page.height]
    for line in (*list(lines(upper))[:MOST_MARGIN_LINES], *list(lines(lower))[-MOST_MARGIN_LINES:]):
        text = " ".join(word.text for word in line)
        # Many numbers are a row of a table.
        is_named = _has_letters(text) or len(_NUMBER.findall(text)) <= MOST_PAGE_NUMBERS
        marks[_NUMBER.sub("#", text) if is_named else text, round(line[0].y / 4)] = line
    return marks


def _written(
    pages: Sequence[Sequence[Block]], outline: Outline, levels: dict[float, int]
) -> Iterator[tuple[int, str]]:
    """The number and Markdown of each page with text."""
    for number, page in enumerate(pages, 1):
        builder = Builder()
        for one in page:
            named = outline.get((number, _bare(one.text)))
            size_level = levels.get(_size(one)) if _may_be_heading(one) else None
            _write(one, named or size_level, builder)
        if text := markdown_of(builder, bullet="-"):
            yield number, f"*Page {number}*\n\n{text}"


def _write(block: Block, level: int | None, builder: Builder) -> None:
    """Add a block to the tree, as a heading of this level if there is one."""
    if block.rows:
        builder.table(([(cell, 1, "") for cell in row] for row in block.rows), _fill_cell)
    elif level:
        number = f"{block.number}. " if block.number else ""
        builder.texts(builder.block(f"h{level}"), texts_of(number + " ".join(block.text.split())))
    elif block.is_listing:
        for line in block.text.split("\n"):
            builder.text(builder.block("pre"), line)
    elif block.depth:
        item = builder.item(block.depth - 1, is_ordered=bool(block.number))
        if block.number:
            item.set("value", block.number)
        builder.texts(item, texts_of(block.text))
    elif block.text:
        builder.texts(builder.block("p"), texts_of(block.text))


def _fill_cell(cell: str, builder: Builder) -> None:
    builder.texts(builder.root, texts_of(cell))


def _levels(pages: Sequence[Sequence[Block]], outline: Outline) -> dict[float, int]:
    """The heading level of each font size that is larger than that of most text, and of the outline's headings."""
    letters: Counter[float] = Counter()
    for one in (block for page in pages for block in page):
        letters[_size(one)] += len(one.text)
    del letters[0.0]
    if not letters:
        return {}
    named = (
        one for at, page in enumerate(pages, 1) for one in page if (at, _bare(one.text)) in outline
    )
    least = max([letters.most_common(1)[0][0] * LARGER, *(_size(one) + 0.5 for one in named)])
    larger = sorted((size for size in letters if size >= least), reverse=True)
    return {size: min(level, _DEEPEST_HEADING) for level, size in enumerate(larger, 1)}


def _size(block: Block) -> float:
    return round(block.size * 2) / 2


def _may_be_heading(one: Block) -> bool:
    is_text = not one.depth and not one.rows and not one.is_listing
    return is_text and len(one.text) <= LONGEST_HEADING and _has_letters(one.text)


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _bare(line: str) -> str:
    """A heading without its number."""
    return _NUMBERING.sub("", _line(line), count=1).casefold()


def _line(text: str) -> str:
    return " ".join(without_marks(text).replace("\0", "").split())


WIDE_GAP = 0.95
"""A gap between words from this width on (in font sizes) separates cells or columns."""
SAME_LINE = 0.35
"""Words whose baselines differ by less than this (in font sizes) are on one line."""
LEAST_LINES = 4
"""The fewest lines beside each other that make columns."""
MOST_GUTTERS = 8
PROSE_WORDS = 6
"""A line of so many words may end in the middle of a sentence."""
MOST_CUTS = 6
"""How often columns may be cut into columns."""
LEADING, HEADING_LEADING = 1.75, 1.45
"""The largest distance of the lines of a paragraph, and of a heading whose first line has room, in font sizes."""

_BULLETS = "•●◦▪‣·○■□➢✓\uf0b7\uf0a7\uf0d8\u2043"
_LIST_MARK = re.compile(rf"[{_BULLETS}]|[-–—*o]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.)]")
_LEADERS = re.compile(r"(?: ?\.){5,}")
_WITHIN = re.compile(f"[{BROKEN}] ")
_NUMBERED = re.compile(r"\d{1,3}[.)]\s")
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?\s+([^\W\d_])")
"""The start of a heading with the number of its section."""
_UNFINISHED = re.compile(r"(?:\b[^\W\dA-Z_]{1,4}|[^\w\s)\]”’»\"'?!])$")
"""The end of a line that goes on: with a short word in small letters, such as `of`, or with a mark."""


class Block(NamedTuple):
    """A paragraph, list item (`depth` from 1, with its `number` if it has one), listing or table of a page.

    `size` is the size of its font, 0 for a table.
    """

    text: str
    size: float
    depth: int = 0
    rows: tuple[tuple[str, ...], ...] = ()
    number: str = ""
    is_listing: bool = False


def blocks(sheet: Sheet) -> list[Block]:
    """The blocks of a page in reading order."""
    letters: Counter[float] = Counter()
    for word in sheet.words:
        letters[word.size] += len(word.text)
    usual = max(letters, key=letters.__getitem__, default=0.0)
    tables, words = ruled(_with_drop_caps(sheet.words, usual), sheet.lines)
    words = _with_bullets(_without_line_numbers(words), sheet.dots)
    if 2 * sum(len(word.text) for word in words if word.is_typed) > letters.total():
        words = [word._replace(is_typed=False) for word in words]  # the whole page is typed
    larger = usual * LARGER
    found = [
        block
        for leaf in _ordered([*tables, *_segments(words)], 0)
        for block in _leaf_blocks(leaf, larger)
    ]
    return [*found, Block(sheet.turned, 1.0)] if sheet.turned else found


DROP_CAP = 1.8
"""A letter that begins a paragraph and is so much larger than its text."""
MOST_DROP_CAPS = 10
"""A page with more large letters has them for other reasons, and each is compared with all words."""


def _with_drop_caps(words: Sequence[Word], usual: float) -> list[Word]:
    """The words with each large first letter before the word of the upper line beside it."""
    caps = {
        word
        for word in words
        if len(word.text) == 1 and word.text.isalpha() and word.size >= DROP_CAP * usual
    }
    if not 0 < len(caps) <= MOST_DROP_CAPS:
        return list(words)
    left = [word for word in words if word not in caps]
    for cap in caps:
        beside = [
            word
            for word in left
            if cap.y - usual / 2 <= word.y <= cap.y + cap.size
            and 0 <= word.x0 - cap.x1 + usual <= 3 * usual
        ]
        first = max(beside, key=lambda word: (round(word.y), -word.x0), default=None)
        if first is None or first.y - cap.y < usual / 2:
            left.append(cap)  # beside one line alone it is no letter of the text
        else:
            left[left.index(first)] = first._replace(text=cap.text + first.text)
    return left


LEAST_NUMBERED = 5
"""The fewest lines whose numbers may be those of a draft."""
NUMBERED_WORDS = 5
"""The words that a line of such a draft has, in the middle of all lines: a row of a table has fewer in a cell."""


def _without_line_numbers(words: Sequence[Word]) -> list[Word]:
    """The words without the numbers that count the lines of a draft at their left."""
    if sum(1 for word in words if word.text.isdecimal()) < LEAST_NUMBERED:
        return list(words)
    rows = list(lines(words))
    counted = [row for row in rows if row[0].text.isdecimal() and len(row) > 1 and _is_apart(row)]
    steps = {int(below[0].text) - int(above[0].text) for above, below in pairwise(counted)}
    if len(counted) < LEAST_NUMBERED or len(steps) != 1 or not steps <= {1, 2, 5, 10}:
        return list(words)
    lengths = sorted(len(row) - 1 for row in counted)
    has_cells = sum(1 for row in counted if any(map(_has_gap, pairwise(row[1:])))) * 4 > len(
        counted
    )
    if lengths[len(lengths) // 2] < NUMBERED_WORDS or has_cells:
        return list(words)
    numbers = {row[0] for row in counted}
    return [word for word in words if word not in numbers]


def _is_apart(row: Sequence[Word]) -> bool:
    return _has_gap((row[0], row[1]))


def _has_gap(pair: tuple[Word, Word]) -> bool:
    before, after = pair
    return after.x0 - before.x1 > WIDE_GAP * min(before.size, after.size)


MOST_BULLETS = 200
"""The most dots of a page; more are a drawing, and each is compared with all lines."""
FARTHEST_BULLET = 2.5
"""How far from its text a bullet may stand, in font sizes."""


def _with_bullets(words: Sequence[Word], dots: Sequence[tuple[float, float]]) -> list[Word]:
    """The words and, before the lines that have one, the bullets that are drawn."""
    bullets = []
    for row in lines(words) if 0 < len(dots) <= MOST_BULLETS else ():
        first = row[0]
        for x, y in dots:
            is_beside = 0 < first.x0 - x < FARTHEST_BULLET * first.size
            if is_beside and 0 <= y - first.y <= 0.7 * first.size:
                bullets.append(Word(x - 1, x + 1, first.y, first.size, "•"))
                break
    return [*words, *bullets]


def _place(segment: Word | Segment) -> tuple[float, float]:
    return -segment.y, segment.x0


def _segments(words: Sequence[Word]) -> list[Segment]:
    segments: list[Segment] = []
    for line in lines(words):
        run: list[Word] = []
        for word in line:
            if run and _has_gap((run[-1], word)) and _is_apart_from(run, word):
                segments.append(_segment(run))
                run = []
            run.append(word)
        segments.append(_segment(run))
    return segments


def _is_apart_from(run: Sequence[Word], word: Word) -> bool:
    """Whether a word behind a gap belongs to another cell or column than the words before it."""
    before = run[-1]
    if before.is_typed and word.is_typed:
        return False
    # The text of a list item may stand far behind its mark.
    wide = 3.5 if len(run) == 1 and _LIST_MARK.fullmatch(before.text) else WIDE_GAP
    size = min(before.size, word.size) if before.size > 0.4 * word.size else word.size
    return word.x0 - before.x1 > wide * size


def lines(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """The words, or parts of lines, by their lines, from top to bottom; a table is a line of its own."""
    line: list[Piece] = []
    for one in sorted(pieces, key=_place):
        if line:
            is_below = line[0].y - one.y > SAME_LINE * max(line[0].size, one.size)
            if is_below or one.rows or line[0].rows:
                yield sorted(line)
                line = []
        line.append(one)
    if line:
        yield sorted(line)


def _segment(run: Sequence[Word]) -> Segment:
    # The number of a list item may be larger than its text.
    named = run[1:] if len(run) > 1 and not _has_letters(run[0].text) else run
    largest = max(named, key=lambda word: (word.size, len(word.text)))
    text = _LEADERS.sub(" …", _WITHIN.sub(_joint, text_of(run)))
    first = run[0].x1 - run[0].x0
    is_typed = all(word.is_typed for word in run)
    listing = _listing(run) if is_typed else ""
    end = max(word.x1 for word in run)
    return Segment(
        run[0].x0, end, largest.y, largest.size, text, len(run), (), first, is_typed, listing
    )


def _joint(broken: re.Match[str]) -> str:
    """What stands between the halves of a word that is broken: the hyphen only if it belongs to the word."""
    return _hyphen(broken.string[: broken.start()], broken.string[broken.end() :])


def _hyphen(before: str, after: str) -> str:
    """The hyphen between the end of a line and the beginning of the next, if it is no mere sign of a broken word."""
    part = without_marks(before).rpartition(" ")[2]
    rest = without_marks(after)[:1]
    belongs = "-" in part or not part[-1:].islower() or not rest.islower()
    return "-" if belongs else ""


TYPED_WIDTH = 0.6
"""The width of a letter of most such fonts, in font sizes."""


def _listing(run: Sequence[Word]) -> str:
    """The words with as many blanks between them as have room there."""
    letters = sum(len(word.text) for word in run)
    width = sum(word.x1 - word.x0 for word in run) / letters or TYPED_WIDTH * run[0].size
    text = run[0].text
    for before, word in pairwise(run):
        text += " " * max(1, round((word.x0 - before.x1) / width)) + word.text
    return text


def _ordered(segments: Sequence[Segment], depth: int) -> Iterator[Sequence[Segment]]:
    """The segments in groups to read one after the other: what is above columns, each column, what is below them."""
    zone = _columns(segments) if depth < MOST_CUTS and len(segments) >= 2 * LEAST_LINES else None
    if zone is None:
        if segments:
            yield segments
        return
    x, upper, lower = zone
    inside = [one for one in segments if lower <= one.y <= upper]
    for part in (
        [one for one in segments if one.y > upper],
        [one for one in inside if one.x0 < x],
        [one for one in inside if one.x0 >= x],
        [one for one in segments if one.y < lower],
    ):
        yield from _ordered(part, depth + 1)


def _columns(segments: Sequence[Segment]) -> tuple[float, float, float] | None:
    """Where a column on the right begins, and the highest and lowest baseline beside it; None if there is none."""
    starts = Counter(round(one.x0 / 2) for one in segments if not one.rows)
    best: tuple[int, float, float, float] | None = None
    for start, count in starts.most_common(MOST_GUTTERS):
        if count < LEAST_LINES:
            break
        x = start * 2 - 1.5
        for run in _uncrossed(segments, x):
            left, right = [one for one in run if one.x0 < x], [one for one in run if one.x0 >= x]
            lines = min(len(left), len(right))
            if (
                lines >= LEAST_LINES
                and (best is None or len(run) > best[0])
                and _are_columns(left, right)
            ):
                best = len(run), x, max(one.y for one in run), min(one.y for one in run)
    return best[1:] if best else None


def _uncrossed(segments: Sequence[Segment], x: float) -> Iterator[list[Segment]]:
    """Runs of segments from top to bottom of which none crosses `x`."""
    run: list[Segment] = []
    for one in sorted(segments, key=_place):
        if one.x0 < x < one.x1 + 1:
            yield run
            run = []
        else:
            run.append(one)
    yield run


def _are_columns(left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    """Whether two sides are read one after the other, not row by row as a table is."""
    if _is_prose(left) and _is_prose(right):
        return True
    few, many = sorted((left, right), key=len)
    tops = {round(one.y / 2) for one in many}
    beside = sum(
        1 for one in few if not tops.isdisjoint(range(round(one.y / 2) - 1, round(one.y / 2) + 2))
    )
    return beside < len(few) / 2


def _is_prose(side: Sequence[Segment]) -> bool:
    """Whether lines are full of words."""
    width = max(one.x1 for one in side) - min(one.x0 for one in side)
    middle = len(side) // 2
    return (
        sorted(one.words for one in side)[middle] >= 4
        and sorted(one.x1 - one.x0 for one in side)[middle] > 0.6 * width
    )


def _leaf_blocks(segments: Sequence[Segment], larger: float) -> Iterator[Block]:
    """The blocks of one column, from top to bottom. Headings of the page have at least the font size `larger`."""
    rows = list(lines(segments))
    at = 0
    right = max((one.x1 for one in segments if not one.rows), default=0.0)
    for start, end, cells in aligned([row if not row[0].rows else row[:1] for row in rows]):
        yield from _paragraphs(rows[at:start], right, larger)
        yield Block("", 0.0, rows=cells)
        at = end
    yield from _paragraphs(rows[at:], right, larger)


def _paragraphs(rows: Sequence[Sequence[Segment]], right: float, larger: float) -> Iterator[Block]:
    paragraph: list[list[Segment]] = []
    items: list[float] = []
    usual = _leading(rows, right)
    for row in rows:
        first = row[0]
        is_typed = _is_line_of_listing(row)
        if paragraph and is_typed != _is_line_of_listing(paragraph[-1]):
            yield _block(paragraph, items, right)
            paragraph = []
        if paragraph and is_typed and paragraph[-1][0].y - row[0].y <= LISTING_LEADING * first.size:
            paragraph.append(list(row))
            continue
        if paragraph:
            above = paragraph[-1][-1]
            ends = first.size >= larger and not _is_full(above, first, right)
            leading = HEADING_LEADING if ends else usual
            is_near = (
                abs(above.size - first.size) <= 0.6 and above.y - first.y <= leading * first.size
            )
            is_item = first.words != 1 and _LIST_MARK.fullmatch(first.text.partition(" ")[0])
            is_heading = first.size >= larger and _is_another(paragraph[-1], row, is_full=not ends)
            if first.rows or not is_near or is_item or is_heading:
                yield _block(paragraph, items, right)
                paragraph = []
        if first.rows:
            yield Block("", 0.0, rows=first.rows)
            items = []
        else:
            paragraph.append(list(row))
    if paragraph:
        yield _block(paragraph, items, right)


WIDEST_LEADING = 3.2
"""The largest distance of the lines of a draft with room for remarks, in font sizes."""


def _leading(rows: Sequence[Sequence[Segment]], right: float) -> float:
    """The largest distance of the lines of a paragraph: more than usual where most full lines stand farther apart."""
    distances = [
        (above[-1].y - below[0].y) / below[0].size
        for above, below in pairwise(rows)
        if not above[0].rows and not below[0].rows and _is_full(above[-1], below[0], right)
    ]
    if len(distances) < LEAST_LINES:
        return LEADING
    middle = sorted(distances)[len(distances) // 2]
    return middle * 1.05 if LEADING < middle <= WIDEST_LEADING else LEADING


LISTING_LEADING = 3.0
"""The largest distance of the lines of a listing, which may have empty ones, in font sizes."""


def _is_line_of_listing(row: Sequence[Segment]) -> bool:
    return all(segment.is_typed for segment in row)


def _is_another(above: Sequence[Segment], line: Sequence[Segment], *, is_full: bool) -> bool:
    """Whether a line in the font of headings begins another heading: it has a number, no edge or middle in common with
    the line above, or that one had room for more and ends like a title."""
    if section := _SECTION.match(line[0].text):
        return not section[1].islower()
    (left, right), (other_left, other_right) = ((one[0].x0, one[-1].x1) for one in (above, line))
    slack = line[0].size / 2
    if abs(left - other_left) > slack:
        middle = abs(left + right - other_left - other_right) / 2
        return not is_full and min(middle, abs(right - other_right)) > slack
    return not is_full and line[0].text[0].isupper() and not _UNFINISHED.search(above[-1].text)


def _is_full(line: Segment, following: Segment, right: float) -> bool:
    """Whether the first word of the following line had no room in a line."""
    return line.x1 + following.first_word + 0.3 * following.size > right


def _block(paragraph: Sequence[Sequence[Segment]], items: list[float], right: float) -> Block:
    """The block of a paragraph's lines. `items` are the indents of the list items above it."""
    if len(paragraph) > 1 and all(map(_is_line_of_listing, paragraph)):
        items.clear()
        return Block(_listed(paragraph), paragraph[0][0].size, is_listing=True)
    text = ""
    above: Segment | None = None
    for line in paragraph:
        words = _line_of(line)
        if above and text[-1] in BROKEN:
            text = text[:-1] + _hyphen(text[:-1], words) + words
        elif above:
            one = line[0]
            is_prose = (
                above.words >= PROSE_WORDS or one.text[0].islower() or not above.text.isascii()
            )
            flows = (_is_full(above, one, right) and is_prose) or has_right_to_left(above.text)
            text += (between(text, words) if flows else "\n") + words
        else:
            text = words
        above = line[-1]
    text = text.translate(_UNBROKEN)
    first = paragraph[0][0]
    size = next((one.size for one in paragraph[0] if _has_letters(one.text)), first.size)
    mark, _, rest = text.partition(" ")
    numbered = _NUMBERED.match(text)
    if not (rest and (mark in _BULLETS or mark in "-–—" or numbered)):
        items.clear()
        return Block(text, size)
    while items and items[-1] > first.x0 + first.size / 2:
        items.pop()
    if not items or items[-1] < first.x0 - first.size / 2:
        items.append(first.x0)
    number = mark.rstrip(".)") if numbered else ""
    return Block(rest, size, depth=len(items), number=number)


def _line_of(line: Sequence[Segment]) -> str:
    """The text of a line, whose parts may be read from right to left."""
    parts = [one.text for one in line]
    return " ".join(reversed(parts) if all(map(has_right_to_left, parts)) else parts)


def _listed(lines: Sequence[Sequence[Segment]]) -> str:
    """The lines of a listing with their indents, and an empty one where there is room for it."""
    left = min(line[0].x0 for line in lines)
    size = lines[0][0].size
    widths = [(line[0].x1 - line[0].x0) / max(len(line[0].listing), 1) for line in lines]
    width = max(sorted(widths)[len(widths) // 2], 0.1)
    written = ""
    above: Segment | None = None
    for line in lines:
        first = line[0]
        if above is not None:
            written += "\n\n" if above.y - first.y > LEADING * size else "\n"
        indent = " " * round((first.x0 - left) / width)
        written += indent + " ".join(segment.listing for segment in line)
        above = first
    return written.translate(_UNBROKEN)
