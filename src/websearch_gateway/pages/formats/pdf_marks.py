"""What stands beside the words of a PDF page: large first letters, the numbers of lines, bullets that are drawn.

Each function takes the words of a page and returns them as they are read. Pure and linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from websearch_gateway.pages.formats.pdf_lines import has_gap, lines
from websearch_gateway.pages.formats.pdf_page import Point, Word

DROP_CAP = 1.8
"""A letter that begins a paragraph and is so much larger than its text."""
MOST_DROP_CAPS = 10
"""A page with more large letters has them for other reasons, and each is compared with all words."""


def with_drop_caps(words: Sequence[Word], usual: float) -> list[Word]:
    """The words with each large first letter before the word of the upper line beside it.

    `usual` is the size of the font of most text.
    """
    caps = {word for word in words if _is_large_letter(word, usual)}
    if not 0 < len(caps) <= MOST_DROP_CAPS:
        return list(words)
    others = [word for word in words if word not in caps]
    for cap in caps:
        at = _place_of_first_beside(cap, others, usual)
        if at is None:
            others.append(cap)
        else:
            first = others[at]
            others[at] = first._replace(text=cap.text + first.text)
    return others


def _is_large_letter(word: Word, usual: float) -> bool:
    is_large = word.size >= DROP_CAP * usual
    return is_large and len(word.text) == 1 and word.text.isalpha()


def _place_of_first_beside(cap: Word, words: Sequence[Word], usual: float) -> int | None:
    """Where the first word of the upper line beside a large letter stands; None if it is no letter of that text."""
    beside = [word for word in words if _is_beside(word, cap, usual)]
    if not beside:
        return None
    first = max(beside, key=lambda word: (round(word.y), -word.x0))
    if first.y - cap.y < usual / 2:  # one line alone stands beside it
        return None
    return words.index(first)


def _is_beside(word: Word, cap: Word, usual: float) -> bool:
    lowest = cap.y - usual / 2
    highest = cap.y + cap.size
    is_as_high = lowest <= word.y <= highest
    is_near = -usual <= word.x0 - cap.x1 <= 2 * usual
    return is_as_high and is_near


LEAST_NUMBERED = 5
"""The fewest lines whose numbers may be those of a draft."""
NUMBERED_WORDS = 5
"""The words that a line of such a draft has, in the middle of all lines: a row of a table has fewer in a cell."""
_NUMBERING_STEPS = frozenset((1, 2, 5, 10))
_MORE_DIGITS = 7
"""A number with so many digits counts no lines."""


def without_line_numbers(words: Sequence[Word]) -> list[Word]:
    """The words without the numbers that count the lines of a draft at their left."""
    if sum(map(_may_count_lines, words)) < LEAST_NUMBERED:
        return list(words)
    numbered = [line for line in lines(words) if _begins_with_number(line)]
    is_draft = len(numbered) >= LEAST_NUMBERED and _counts_lines(numbered)
    if not is_draft or _are_rows_of_table(numbered):
        return list(words)
    line_numbers = {line[0] for line in numbered}
    return [word for word in words if word not in line_numbers]


def _may_count_lines(word: Word) -> bool:
    return word.text.isdecimal() and len(word.text) < _MORE_DIGITS


def _begins_with_number(line: Sequence[Word]) -> bool:
    """Whether the first word of a line is a number apart from its text."""
    if len(line) < 2:
        return False
    number, text = line[0], line[1]
    return _may_count_lines(number) and has_gap(number, text)


def _counts_lines(numbered: Sequence[Sequence[Word]]) -> bool:
    """Whether the numbers of lines grow in even steps, as those of every or every fifth line do."""
    numbers = [int(line[0].text) for line in numbered]
    steps = {below - above for above, below in pairwise(numbers)}
    return len(steps) == 1 and steps <= _NUMBERING_STEPS


def _are_rows_of_table(numbered: Sequence[Sequence[Word]]) -> bool:
    """Whether lines with a number have short texts behind it, or several of them."""
    lengths = []
    with_cells = 0
    for _, *words in numbered:
        lengths.append(len(words))
        if any(has_gap(before, after) for before, after in pairwise(words)):
            with_cells += 1
    lengths.sort()
    is_short = lengths[len(lengths) // 2] < NUMBERED_WORDS
    return is_short or with_cells > len(numbered) / 4


MOST_BULLETS = 200
"""The most dots of a page; more are a drawing, and each is compared with all lines."""
FARTHEST_BULLET = 2.5
"""How far from its text a bullet may stand, in font sizes."""
_HIGHEST_BULLET = 0.7
"""How far above the baseline its middle may stand, in font sizes."""


def with_bullets(words: Sequence[Word], dots: Sequence[Point]) -> list[Word]:
    """The words and, before the lines that have one, the bullets that are drawn."""
    if not 0 < len(dots) <= MOST_BULLETS:
        return list(words)
    bullets = []
    for line in lines(words):
        first = line[0]
        size = first.size
        for x, y in dots:
            is_near = 0 < first.x0 - x < FARTHEST_BULLET * size
            if is_near and 0 <= y - first.y <= _HIGHEST_BULLET * size:
                bullets.append(Word(x - 1, x + 1, first.y, size, "•"))
                break
    return [*words, *bullets]
