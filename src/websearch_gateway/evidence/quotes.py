"""Lays a claim beside a page: which sentences speak of the same, and which hard facts differ from theirs.

A number, date, unit or name of the claim is compared with the one that stands in its place on the page: among the same
words, as near to them. No rule here reads: whether the page supports the claim is for a reader to judge.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Literal, Self

from websearch_gateway.base import (
    blocks,
    fold,
    language_of,
    lines,
    plain,
    query_terms,
    sentences_of,
    tokens_of_each,
    word_set,
    words,
)
from websearch_gateway.evidence.chunks import chunk
from websearch_gateway.evidence.facts import (
    PARTS,
    Word,
    is_rounding,
    is_same_name,
    read,
    same_number,
    says_no,
)
from websearch_gateway.evidence.passages import bm25
from websearch_gateway.evidence.ranking import DANGLING

MOST_QUOTES = 3
"""The most sentences that are shown for a claim."""
LONGEST_QUOTE = 500
"""The most characters of a quote that is shown."""
LONGEST_PASSAGE = 20_000
"""The most characters of a passage that are read."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence, or a table row with the header and text of each of its cells.

    `context` is the sentence with the one before and the one behind it in its paragraph; empty if it stands alone.
    """

    text: str
    cells: tuple[tuple[str, str], ...] = ()
    context: str = field(default="", compare=False)

    @property
    def words(self) -> tuple[Word, ...]:
        """Its content words; in a row each cell follows its header, and a number has the unit of its column."""
        return read("; ".join(_cell(head, cell) for head, cell in self.cells) or self.text)

    @property
    def shown(self) -> str:
        """Its words as the page shows them, cut to LONGEST_QUOTE characters."""
        text = " ".join(cell for _, cell in self.cells if cell) or self.text
        return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE].rpartition(" ")[0]


_UNIT_OF_COLUMN = re.compile(r"(.+?)\s*[(\[]([^()\[\]]{1,20})[)\]]")


def _cell(head: str, cell: str) -> str:
    in_unit = _UNIT_OF_COLUMN.fullmatch(head) if cell[-1:].isdigit() else None
    return f"{in_unit[1]} {cell} {in_unit[2]}" if in_unit else f"{head} {cell}"


@dataclass(frozen=True, slots=True)
class Quotable:
    """A passage prepared for quoting.

    `quotes` are its sentences and table rows, `context` the words of its headings and of the question, `names` its
    names.
    """

    quotes: tuple[Quote, ...]
    context: frozenset[str] = frozenset()
    names: frozenset[str] = field(default=frozenset(), repr=False)
    weights: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, markdown: str, *context: str) -> Quotable:
        """Read a passage. `context` are its headings, and the question."""
        quotes = tuple(dict.fromkeys(quotes_of(markdown[:LONGEST_PASSAGE])))
        above = [word for text in context for word in read(text)]
        names = {word.text for word in above if word.kind == "name"}
        return cls._made(quotes, frozenset(word.text for word in above), names)

    @classmethod
    def of_sentences(cls, sentences: Sequence[str]) -> Self:
        """Sentences as one passage."""
        return cls._made(tuple(map(Quote, sentences)), frozenset(), frozenset())

    @classmethod
    def _made(cls, quotes: tuple[Quote, ...], context: frozenset[str], names: Set[str]) -> Self:
        every = [quote.words for quote in quotes]
        counts = Counter(text for sentence in every for text in {word.text for word in sentence})
        weights = {text: math.log(1 + len(quotes) / count) for text, count in counts.items()}
        # A word of the headings is about all sentences, and tells them apart less.
        weights |= {text: weights[text] / 2 for text in context & weights.keys()}
        named = set(names).union(
            word.text for sentence in every for word in sentence if word.kind == "name"
        )
        return cls(quotes, context, frozenset(named), weights)

    def joined(self, other: Self) -> Self:
        """Both passages as one."""
        return self._made(
            (*self.quotes, *other.quotes), self.context | other.context, self.names | other.names
        )

    def weight(self, text: str) -> float:
        """How much a word tells the sentences apart."""
        return self.weights.get(text) or math.log(1 + len(self.quotes)) * UNKNOWN

    def holding(self, copied: str) -> list[Quote]:
        """The sentences and rows in which words copied from the passage stand; empty if they do not.

        Differences of Unicode, blanks, quotation marks and punctuation do not count.
        """
        wanted = _folded(copied)
        is_long = wanted.count(" ") - 1 >= LEAST_WORDS
        texts = [_folded(quote.text) for quote in self.quotes]
        for quote, text in zip(self.quotes, texts, strict=True):
            if wanted in text and (
                is_long or wanted in (text, *(_folded(cell) for _, cell in quote.cells))
            ):
                return [quote]
        start, end = f" {''.join(text[1:] for text in texts)}".find(wanted), 1
        found = []
        for quote, text in zip(self.quotes, texts, strict=True):
            begin, end = end - 1, end + len(text) - 1
            if is_long and start >= 0 and begin < start + len(wanted) - 1 and end - 1 > start:
                found.append(quote)
        return found[:MOST_QUOTES]


UNKNOWN = 0.6
"""The weight of a word that no sentence has, as a share of that of the rarest."""
LEAST_WORDS = 4
"""Copied words, if fewer, must be a whole cell or sentence."""
_NOT_WORDS = re.compile(r"[\W_]+")
_STRUCK = re.compile(r"~~(?=\S)[^~\n]{1,2000}~~")


def _folded(text: str) -> str:
    """The words with a blank before and behind each."""
    return f" {_NOT_WORDS.sub(' ', fold(plain(text))).strip()} "


def quotes_of(markdown: str) -> Iterator[Quote]:
    """The sentences and table rows of a passage, without its headings and without struck text."""
    kept = _STRUCK.sub("", markdown) if "~~" in markdown else markdown
    for block in blocks(kept):
        if block.kind == "table":
            yield from _rows(
                [kept[start:end] for start, end in lines(kept, block.start, block.end)]
            )
        elif block.kind != "heading":
            sentences = [plain(kept[start:end]) for start, end in sentences_of(kept, block)]
            texts = [text for text in sentences if text]
            for place, text in enumerate(texts):
                around = texts[max(0, place - 1) : place + 2]
                context = " ".join(_cut(one) for one in around) if len(around) > 1 else ""
                yield Quote(text, context=context)


def _rows(rows: Sequence[str]) -> Iterator[Quote]:
    table = [[plain(cell.strip()) for cell in row.strip().strip("|").split("|")] for row in rows]
    has_digits = [any(letter.isdigit() for letter in row) for row in rows]
    has_rule = len(rows) > 1 and not words(rows[1])
    # Without a rule below, a header is the only row that has no digit.
    has_header = has_rule or (len(rows) > 2 and not has_digits[0] and all(has_digits[1:]))
    header = table[0] if has_header else []
    first = 1 + has_rule if has_header else 0
    for row, cells in zip(rows[first:], table[first:], strict=True):
        yield Quote(row.strip(), tuple(zip([*header, *[""] * len(cells)], cells, strict=False)))


_QUOTATION_MARKS = re.compile(r"[\"“”„‟«»‹›]|(?<!\w)['‘‚]|'(?!\w)")
_BLANK_BEFORE_MARK = re.compile(r"\s+(?=[,;:.!?)\]])|(?<=[(\[])\s+")


def is_verbatim(claim: str, quote: Quote) -> bool:
    """Whether the claim is the whole sentence, row or list item, and not a part of it or more than it."""
    wanted = _as_written(claim.replace("|", " "))
    return bool(wanted) and wanted in (
        _as_written(quote.text.replace("|", " ")),
        _as_written(quote.shown),
    )


def _as_written(text: str) -> str:
    """The text without what may differ: case, blanks, quotation marks, marks of notes and the last full stop."""
    bare = _QUOTATION_MARKS.sub("", plain(text).replace("’", "'").casefold())
    return _BLANK_BEFORE_MARK.sub("", " ".join(bare.split())).removesuffix(".")


FACT_WEIGHT = 1.5
"""How much more a number or name of the claim weighs than another word."""
REPEATED = 0.5
"""What a word weighs for a further sentence, once a sentence before it has it."""


FURTHER = 0.15
"""What a further sentence must share more than, as a share of what the first one does."""


def nearest(claim: str, passage: Quotable) -> list[Quote]:
    """The sentences that share most with the claim, best first; a further one adds words that those before lack."""
    left = {
        word.text: passage.weight(word.text) * (FACT_WEIGHT if word.is_fact else 1)
        for word in read(claim)
    }
    rest = [(quote, left.keys() & {word.text for word in quote.words}) for quote in passage.quotes]
    found: list[Quote] = []
    least = 0.0
    while rest and len(found) < MOST_QUOTES:
        quote, shared = best = max(
            rest, key=lambda one: (sum(left[text] for text in one[1]), -len(one[0].words))
        )
        score = sum(left[text] for text in shared)
        if score <= least:
            break
        least = least or score * FURTHER
        found.append(quote)
        rest.remove(best)
        left = {text: weight * (REPEATED if text in shared else 1) for text, weight in left.items()}
    return found


Kind = Literal["number", "date", "unit", "name", "denial"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A hard fact of a claim, and what the page has in its place."""

    kind: Kind
    claim: str
    page: str


COVERED = 0.4
"""The share of a claim's words, by weight, that a sentence about the same must have."""
NEARLY = 0.6
"""The same share for a name that stands elsewhere on the page: most such names are only left out of the sentence."""
CLEARLY = 1.25
"""How much better the place of another number must fit than the place where the page has that of the claim."""
SWAPPED = 1.1
"""How much better the places of two numbers must fit if they are exchanged."""


ANYWHERE = 0.4
"""What a word that stands far from a number says of its place, as a share of what a word beside it does."""
NEAR_IN_CLAIM, NEAR_ON_PAGE = 3, 2
"""How far the word may stand that a number and its rival have in common (words)."""


def differences(claim: str, near: Sequence[Quote], passage: Quotable) -> list[Difference]:
    """The hard facts in which a claim differs from the nearest sentences of a passage. See `Difference`."""
    comparison = _Comparison.of(claim, near, passage)
    found = [
        *comparison.numbers(),
        *comparison.swapped_numbers(),
        *comparison.counted_nouns(),
        *comparison.names(),
        *comparison.denials(),
    ]
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A claim beside sentences: `said` are its words, `sentences` theirs, the nearest first."""

    claim: str
    near: Sequence[Quote]
    passage: Quotable
    said: Sequence[Word]
    sentences: Sequence[Sequence[Word]]

    @classmethod
    def of(cls, claim: str, near: Sequence[Quote], passage: Quotable) -> Self:
        """The claim and the sentences, read. A first word is a name if it is one elsewhere on the page."""

        names = passage.names.union(word.text for word in read(claim) if word.kind == "name")

        def named(sentence: Sequence[Word]) -> Sequence[Word]:
            first = sentence[0] if sentence else None
            if (
                first is not None
                and first.kind == "word"
                and first.raw[:1].isupper()
                and first.text in names
            ):
                return (replace(first, kind="name"), *sentence[1:])
            return sentence

        return cls(claim, near, passage, named(read(claim)), [named(quote.words) for quote in near])

    def coverage(self, sentence: Sequence[Word]) -> float:
        """The share of the claim's words, by weight and without numbers, that the sentence has.

        The sentence may lack a word of the headings, which are about every sentence.
        """
        there = {word.text for word in sentence}
        texts = {word.text for word in self.said if word.kind != "number"}
        needed = texts - (self.passage.context - there)
        return sum(map(self.passage.weight, needed & there)) / (
            sum(map(self.passage.weight, needed)) or 1
        )

    def distances(
        self, place: int, sentence: Sequence[Word], at: int
    ) -> Iterator[tuple[str, int, int]]:
        """Each word that both have, and how far it stands from `said[place]` and from `sentence[at]`."""
        there = _distances(sentence, at)
        for text, distance in _distances(self.said, place).items():
            if text in there:
                yield text, max(1, distance), max(1, there[text])

    def fit(self, place: int, sentence: Sequence[Word], at: int) -> float:
        """How well `sentence[at]` stands in the place of `said[place]`: among the same words, as near to them."""
        return sum(
            self.passage.weight(text) * (ANYWHERE + (1 - ANYWHERE) / max(ours, theirs))
            for text, ours, theirs in self.distances(place, sentence, at)
        )

    def numbers(self) -> Iterator[Difference]:
        """The numbers in whose place the page has another one."""
        for place, number in enumerate(self.said):
            if (
                number.kind == "number"
                and not self.is_of_heading(number)
                and not self.is_computed(number)
            ):
                same = max((one.fit for one in self.places_of(place, is_same=True)), default=0.0)
                rival = max(
                    self.places_of(place, is_same=False), key=lambda one: one.fit, default=None
                )
                if (
                    rival
                    and rival.fit > same * CLEARLY
                    and (same or not _agrees(number, rival.number))
                ):
                    yield _otherwise(number, _shown(self.said, place), rival)

    def is_of_heading(self, number: Word) -> bool:
        return number.text in self.passage.context and number.unit in ("", "the year", "nth")

    def is_computed(self, number: Word) -> bool:
        """Whether it is the difference of two numbers of a sentence, or a year some years after another one."""
        value = number.value
        for sentence in self.sentences:
            values = [other.value for other in sentence if other.value is not None]
            for one, two in combinations(values, 2):
                if abs(one - two) == value or (number.unit == "the year" and one + two == value):
                    return True
        return False

    def places_of(self, place: int, *, is_same: bool) -> Iterator[_Place]:
        """The numbers of the page that are the claim's, or that rival it.

        The same number may stand anywhere in the passage, a rival only in a near sentence about the same.
        """
        number = self.said[place]
        for quote in self.passage.quotes if is_same else self.near:
            sentence = quote.words
            same = [at for at, other in enumerate(sentence) if same_number(number, other)]
            if is_same:
                yield from (self.place_of(place, sentence, at) for at in same)
                continue
            has_same = any(sentence[at].unit == number.unit for at in same)
            if has_same or self.coverage(sentence) < COVERED or not self.is_of_subject(quote):
                continue
            for at in range(len(sentence)):
                if self.is_rival(place, sentence, at):
                    yield self.place_of(place, sentence, at)

    def is_of_subject(self, quote: Quote) -> bool:
        """Whether a sentence may be about the subject of the claim, its first word that is no number.

        It is about another thing if it lacks this word, another near sentence has it, and nothing in it points back.
        "A car costs 39" says nothing of what bikes cost where the page speaks of bikes elsewhere.
        """
        subject = next((word.text for word in self.said if word.kind != "number"), "")
        has_subject = [
            any(word.text == subject for word in one.words) for one in (quote, *self.near)
        ]
        is_elsewhere = any(has_subject) and not has_subject[0]
        return (
            not is_elsewhere or subject in self.passage.context or bool(DANGLING.match(quote.text))
        )

    def place_of(self, place: int, sentence: Sequence[Word], at: int) -> _Place:
        return _Place(self.fit(place, sentence, at), sentence[at], _shown(sentence, at))

    def is_rival(self, place: int, sentence: Sequence[Word], at: int) -> bool:
        """Whether a number of a sentence may stand in the place of one of the claim: it is of the same kind, and near
        to the same word."""
        number, other = self.said[place], sentence[at]
        if other.kind != "number" or any(same_number(word, other) for word in self.said):
            return False
        if number.text == other.text:
            return not same_number(number, other)
        if number.unit != other.unit:
            return False
        if number.unit in ("", "nth"):  # it must count the same
            return bool(_beside(self.said, place) & _beside(sentence, at))
        near = {
            text
            for text, ours, theirs in self.distances(place, sentence, at)
            if ours <= NEAR_IN_CLAIM and theirs <= NEAR_ON_PAGE
        }
        if number.unit not in _DATES:
            return bool(near)
        # A date beside the name of the page's subject may be that of anything, unless the rest of it is the same.
        rest = [
            {word.raw for word in some} for some in (_date(self.said, place), _date(sentence, at))
        ]
        return bool(near - self.passage.context) or not rest[0].isdisjoint(rest[1])

    def swapped_numbers(self) -> Iterator[Difference]:
        """Two numbers that the nearest sentence has too, each in the place of the other."""
        sentence = self.sentences[0] if self.sentences else ()
        for one, two in combinations(
            [at for at, word in enumerate(self.said) if word.kind == "number"], 2
        ):
            places = [
                [at for at, word in enumerate(sentence) if word.is_equal(self.said[own])]
                for own in (one, two)
            ]
            is_pair = self.said[one].unit == self.said[two].unit and [
                len(some) for some in places
            ] == [1, 1]
            if not is_pair or places[0] < places[1]:
                continue
            first, second = places[0][0], places[1][0]
            straight = self.fit(one, sentence, first) + self.fit(two, sentence, second)
            crossed = self.fit(one, sentence, second) + self.fit(two, sentence, first)
            if crossed > straight * SWAPPED:
                shown = [self.said[at].raw for at in (one, two)]
                yield Difference(
                    _kind(self.said[one], self.said[two]),
                    " ... ".join(shown),
                    " ... ".join(shown[::-1]),
                )
                return

    def counted_nouns(self) -> Iterator[Difference]:
        """The numbers that count another noun on the page, which uses the claim's noun for something else.

        "42,000 tonnes of copper", where the page says: the copper mine produced 42,000 tonnes of ore.
        """
        claimed = {word.text for word in self.said}
        for number, noun in _counted(self.said):
            for sentence in self.sentences:
                texts = [word.text for word in sentence]
                for other, other_noun in _counted(sentence):
                    is_other = other_noun.text not in claimed and texts.count(noun.text) > 0
                    if same_number(number, other) and number.unit == other.unit and is_other:
                        yield Difference(
                            "unit",
                            f"{number.raw} of {noun.raw}",
                            f"{other.raw} of {other_noun.raw}",
                        )

    def names(self) -> Iterator[Difference]:
        """The names in whose place the sentence about the same has another one, and two that are exchanged."""
        sentence = max(self.sentences, key=self.coverage, default=())
        ours, theirs = list(_names(self.said)), list(_names(sentence))
        for name in ours:
            if not any(is_same_name(word, other) for word in self.said[name] for other in sentence):
                yield from self.renamed(name, sentence, theirs)
        for one, two in combinations(ours, 2):
            first = [other for other in theirs if _share_word(self.said[one], sentence[other])]
            second = [other for other in theirs if _share_word(self.said[two], sentence[other])]
            is_pair = len(first) == len(second) == 1
            if is_pair and self.is_exchanged(one, two, sentence, first[0], second[0]):
                yield _renamed(self.said[one], sentence[second[0]])
                return

    def renamed(
        self, name: slice, sentence: Sequence[Word], others: Sequence[slice]
    ) -> Iterator[Difference]:
        """The name that a sentence has in the place of one that it lacks.

        A name that stands elsewhere on the page is often only left out, as behind "She": its place must fit on both
        sides, and the sentence must be about nearly the same.
        """
        elsewhere = self.passage.names | self.passage.context
        is_on_page = any(word.text in elsewhere for word in self.said[name])
        if self.coverage(sentence) < (NEARLY if is_on_page else COVERED):
            return
        for other in others:
            is_claimed = any(
                is_same_name(word, one) for word in sentence[other] for one in self.said
            )
            sides = self.sides(name, sentence, other)
            if not is_claimed and (all(sides) if is_on_page else any(sides)):
                yield _renamed(self.said[name], sentence[other])
                return

    def is_exchanged(
        self, one: slice, two: slice, sentence: Sequence[Word], first: slice, second: slice
    ) -> bool:
        """Whether two names of the claim stand in the sentence each in the place of the other."""
        is_straight = any(self.sides(one, sentence, first)) or any(
            self.sides(two, sentence, second)
        )
        is_crossed = any(self.sides(one, sentence, second)) and any(
            self.sides(two, sentence, first)
        )
        return first != second and is_crossed and not is_straight

    def sides(self, name: slice, sentence: Sequence[Word], other: slice) -> tuple[bool, bool]:
        """Whether the same word stands before two names, in the same way, and whether one does behind."""
        ours, theirs = self.said, sentence
        before, after = name.start == other.start == 0, False
        if name.start and other.start:
            is_link = ours[name.start].before - ARTICLES == theirs[other.start].before - ARTICLES
            before = is_link and ours[name.start - 1].text == theirs[other.start - 1].text
        if name.stop < len(ours) and other.stop < len(theirs):
            after = ours[name.stop].text == theirs[other.stop].text
        ends = [
            end == len(some) or not PARTS.isdisjoint(some[end].before)
            for some, end in ((ours, name.stop), (theirs, other.stop))
        ]
        return before and (name.start > 0 or after), after or (before and all(ends))

    def denials(self) -> Iterator[Difference]:
        """What either the claim or the nearest sentence denies, and the other one says without any denial."""
        if not self.near or self.coverage(self.near[0].words) < COVERED:
            return
        sentence, text = self.near[0].words, self.near[0].text
        for denying, other, other_text in (
            (self.said, sentence, text),
            (sentence, self.said, self.claim),
        ):
            said = {word.text for word in other}
            for denied in () if says_no(other_text) else _denied(denying):
                if said.issuperset(word.text for word in denied):
                    shown = " ".join(word.raw for word in denied)
                    both = (
                        (f"not: {shown}", shown)
                        if denying is self.said
                        else (shown, f"not: {shown}")
                    )
                    yield Difference("denial", *both)
                    return


WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
ARTICLES = word_set("the a an")
_PARTICLES = word_set("of de del der den van von la le du")
"""Words inside of names."""
_UNLESS = word_set("until till before only unless")
"""What follows a denial and turns it: "not before 1990"."""
_HEDGES = word_set("about around roughly approximately nearly almost some")
_DATES = frozenset(("the day", "the month", "the year"))


@dataclass(frozen=True, slots=True)
class _Place:
    """A number of the page: how well it stands in the place of one of the claim, and how it is shown."""

    fit: float
    number: Word
    shown: str


def _otherwise(number: Word, shown: str, rival: _Place) -> Difference:
    other = rival.number
    if number.is_equal(other) and number.unit == other.unit:  # only the bounds differ
        return Difference("number", f"{number.bound} {shown}", f"{other.bound} {rival.shown}")
    return Difference(_kind(number, other), shown, rival.shown)


def _shown(sentence: Sequence[Word], at: int) -> str:
    """A number as it is written; a part of a date with the rest of it."""
    return " ".join(word.raw for word in _date(sentence, at))


def _date(sentence: Sequence[Word], at: int) -> Sequence[Word]:
    """The words of the date to which a number belongs; the number alone if it is not a part of one."""
    start = stop = at
    while start and _is_one_date(sentence[start - 1], sentence[start]):
        start -= 1
    while stop + 1 < len(sentence) and _is_one_date(sentence[stop], sentence[stop + 1]):
        stop += 1
    return sentence[start : stop + 1]


def _is_one_date(last: Word, word: Word) -> bool:
    return last.unit in _DATES and word.unit in _DATES and word.before <= {","}


def _kind(number: Word, other: Word) -> Kind:
    if number.text == other.text:
        return "unit" if number.unit != other.unit else "number"
    return "date" if number.unit in _DATES else "number"


def _agrees(number: Word, other: Word) -> bool:
    """Whether a number of a claim says as much as another one with more digits: rounded, "about", "over", "under"."""
    value, exact = number.value, other.value
    if value is None or exact is None or number.unit in _DATES or number.unit != other.unit:
        return False
    if number.bound and not other.bound:
        return exact >= value if number.bound == "over" else exact <= value
    is_near = abs(exact - value) <= exact / 10 and not _HEDGES.isdisjoint(number.before)
    is_whole = value >= 10 and exact != round(exact) == value
    return is_near or is_whole or is_rounding(number.text, other.text)


def _renamed(name: Sequence[Word], other: Sequence[Word]) -> Difference:
    are_days = all(some[0].raw.lower() in WEEKDAYS for some in (name, other))
    return Difference(
        "date" if are_days else "name",
        *(" ".join(word.raw for word in some) for some in (name, other)),
    )


def _share_word(some: Sequence[Word], others: Sequence[Word]) -> bool:
    return not {word.text for word in some}.isdisjoint(word.text for word in others)


def _names(sentence: Sequence[Word]) -> Iterator[slice]:
    """The places of the names of a sentence, each of one word or several."""
    start = None
    for at, word in enumerate(sentence):
        is_name = word.kind == "name"
        if start is not None and not (is_name and word.before <= _PARTICLES):
            yield slice(start, at)
            start = None
        if is_name and start is None:
            start = at
    if start is not None:
        yield slice(start, len(sentence))


OTHER_PART = 3
"""The step to a word behind a comma or an "and"."""


def _distances(sentence: Sequence[Word], at: int) -> dict[str, int]:
    """How far each word that is no number stands from the one at `at`. Another part of the sentence is farther away; a
    date has one place."""
    places = [0]
    for last, word in pairwise(sentence):
        step = 1 if PARTS.isdisjoint(word.before) else OTHER_PART
        places.append(places[-1] + (0 if _is_one_date(last, word) else step))
    found: dict[str, int] = {}
    for here, word in enumerate(sentence):
        if here != at and word.kind != "number":
            distance = abs(places[here] - places[at])
            found[word.text] = min(distance, found.get(word.text, distance))
    return found


def _counted(sentence: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    """Each number with the noun behind its "of"."""
    for word, after in pairwise(sentence):
        if word.kind == "number" and after.kind != "number" and "of" in after.before:
            yield word, after


def _beside(sentence: Sequence[Word], at: int) -> set[str]:
    """The words around a number that say what it counts."""
    around = [*sentence[max(0, at - 1) : at], *sentence[at + 1 : at + 3]]
    return {word.text for word in around if word.kind != "number"}


def _denied(sentence: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """What each denial denies: the word behind it, and the next one in the same part of the sentence."""
    for at, word in enumerate(sentence):
        if not word.is_denied or any(
            not _UNLESS.isdisjoint(one.before) for one in sentence[at : at + 4]
        ):
            continue
        after = sentence[at + 1 : at + 2]
        is_further = after and after[0].kind != "number" and PARTS.isdisjoint(after[0].before)
        yield sentence[at : at + 2] if is_further else sentence[at : at + 1]


BESIDE = 0.5
"""The least share of a sentence's words, by weight, in the words of the page that stand beside it as its proof."""
ORDINARY = 0.25
"""The same share of its words that are no facts."""
FOREIGN_FACTS = 2
"""The fewest numbers and names of a sentence in another language than its page, which has no other word of it."""
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def support(
    sentence: str, quotes: Sequence[Quote], passage: Quotable
) -> Literal["verbatim", "quoted"] | None:
    """How quotes of a passage may stand beside a sentence of a model; None if they may not.

    `verbatim`: one of them is the sentence. `quoted`: they are about the same, they or the headings have each of its
    numbers and names, and no fact of theirs differs. What else the sentence means is not judged.
    """
    if any(is_verbatim(sentence, quote) for quote in quotes):
        return "verbatim"
    if (
        not quotes
        or not _is_about(sentence, quotes, passage)
        or differences(sentence, quotes, passage)
    ):
        return None
    there = [word for quote in quotes for word in quote.words]
    for word in _Comparison.of(sentence, quotes, passage).said:
        is_held = word.text in passage.context
        if word.kind == "number":
            is_held = is_held or any(same_number(word, other) for other in there)
        elif word.kind == "name":
            is_held = is_held or any(is_same_name(word, other) for other in there)
        else:
            is_held = True
        if not is_held:
            return None
    return "quoted"


def _is_about(sentence: str, quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether quotes have enough words of a sentence.

    In another language two facts are enough. Not in German and in scripts without capitals, where names look like other
    words.
    """
    languages = {language_of(sentence), language_of(quotes[0].text)}
    if len(languages) == 2 and "de" not in languages and not _UNCASED.search(sentence):
        return sum(word.is_fact for word in read(sentence)) >= FOREIGN_FACTS
    there = passage.context.union(word.text for quote in quotes for word in quote.words)
    ordinary = [word.text in there for word in read(sentence) if not word.is_fact]
    has_ordinary = sum(ordinary) >= ORDINARY * len(ordinary) or len(ordinary) <= 2
    return share(sentence, quotes, passage) >= BESIDE and has_ordinary


def relied_on(claim: str, sentences: Sequence[str], quote: str, *, is_support: bool) -> int | None:
    """The place of the sentence that holds the words on which a reader's judgement relies.

    None if no sentence does, or if the judgement is that they support the claim and a hard fact differs.
    """
    passage = Quotable.of_sentences(sentences)
    holding = passage.holding(quote)
    if len(holding) != 1 or (is_support and differences(claim, passage.quotes, passage)):
        return None
    return passage.quotes.index(holding[0])


MOST_CHARS = 200_000
"""The most characters of a page that are looked through."""
_PASSAGE_TOKENS, _MOST_PASSAGES = 256, 4
LEAST_SHARE = 0.2
"""The least share of a claim's words, by weight, that the nearest sentence has; with less it is about another thing."""

Verdict = Literal["verbatim", "differs", "found", "not_found"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a page shows of a claim: the sentences, the nearest first, and the hard facts that differ.

    `share` is the share of the claim's words, by weight, that the first sentence has. `contexts` are the sentences
    around each quote, itself included, for a reader who must know who "she" is; empty for one that stands alone.
    """

    verdict: Verdict
    quotes: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    share: float = 0.0
    contexts: tuple[str, ...] = ()


def findings(claims: Sequence[str], markdown: str, title: str) -> list[Finding]:
    """What the first MOST_CHARS of a page show of each claim."""
    passages = chunk(markdown[:MOST_CHARS], _PASSAGE_TOKENS)
    documents = tokens_of_each(
        " ".join((*passage.section_path, passage.text)) for passage in passages
    )
    found: list[Finding] = []
    for claim in claims:
        scores = bm25(query_terms(claim), documents)
        best = sorted(range(len(passages)), key=lambda place: -scores[place])[:_MOST_PASSAGES]
        headings = [" > ".join(passages[place].section_path) for place in best]
        found.append(
            finding(
                claim, Quotable.of("\n\n".join(passages[at].text for at in best), title, *headings)
            )
        )
    return found


def finding(claim: str, passage: Quotable) -> Finding:
    """What a passage shows of a claim."""
    for quote in passage.quotes:
        if is_verbatim(claim, quote):
            return Finding("verbatim", (quote.shown,), share=1.0)
    near = nearest(claim, passage)
    shared = share(claim, near[:1], passage)
    if shared < LEAST_SHARE:
        return Finding("not_found")
    differing = tuple(differences(claim, near, passage))
    return Finding(
        "differs" if differing else "found",
        tuple(quote.shown for quote in near),
        differing,
        shared,
        tuple(quote.context for quote in near),
    )


def share(claim: str, quotes: Sequence[Quote], passage: Quotable) -> float:
    """The share of the claim's words, by weight, that the sentences have; a number or name weighs more."""
    weights = {
        word.text: passage.weight(word.text) * (FACT_WEIGHT if word.is_fact else 1)
        for word in read(claim)
    }
    there = {word.text for quote in quotes for word in quote.words}
    return sum(weight for text, weight in weights.items() if text in there) / (
        sum(weights.values()) or 1
    )
