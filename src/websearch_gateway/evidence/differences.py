"""The hard facts in which a claim differs from the sentences of a page that speak of the same.

A number, date, unit or name of the claim is compared with the one that stands in its place on the page: among the same
words, as near to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import fsum
from typing import Literal, Self

from websearch_gateway.base import word_set
from websearch_gateway.evidence.facts import (
    PARTS,
    Word,
    is_rounding,
    is_same_name,
    read,
    same_number,
    says_no,
)
from websearch_gateway.evidence.quotes import Quotable, Quote
from websearch_gateway.evidence.sentences import DANGLING

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


def differences(claim: str, near: Sequence[Quote], passage: Quotable) -> list[Difference]:
    """The hard facts in which a claim differs from the nearest sentences of a passage. See `Difference`."""
    comparison = _Comparison.of(claim, near, passage)
    differing = [
        *comparison.numbers(),
        *comparison.swapped_numbers(),
        *comparison.counted_nouns(),
        *comparison.names(),
        *comparison.denials(),
    ]
    return list(dict.fromkeys(differing))


def claimed_words(claim: str, passage: Quotable) -> Sequence[Word]:
    """The content words of a claim about a passage. A first word is a name if it is one elsewhere."""
    return _with_first_name(read(claim), _known_names(claim, passage))


def _known_names(claim: str, passage: Quotable) -> frozenset[str]:
    return passage.names.union(word.text for word in read(claim) if word.kind == "name")


def _with_first_name(sentence: Sequence[Word], names: frozenset[str]) -> Sequence[Word]:
    """A sentence whose first word, a capital one, is a name if it is among `names`."""
    if not sentence:
        return sentence
    first = sentence[0]
    is_capital = first.raw[:1].isupper()
    if first.kind == "word" and is_capital and first.text in names:
        return (replace(first, kind="name"), *sentence[1:])
    return sentence


WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
ARTICLES = word_set("the a an")
_DATES = frozenset(("the day", "the month", "the year"))
"""The units of the parts of a date."""
_UNITS_OF_HEADINGS = ("", "the year", "nth")
"""The units of a number that is about the whole page if its headings have it."""
_UNITS_OF_COUNTS = ("", "nth")
"""The units of a number that only the words beside it explain."""

ANYWHERE = 0.4
"""What a word that stands far from a number says of its place, as a share of what a word beside it does."""
NEAR_IN_CLAIM, NEAR_ON_PAGE = 3, 2
"""How far the word may stand that a number and its rival have in common (words)."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A claim beside sentences: `claimed` are its words, `sentences` those of `near`, the nearest first."""

    claim: str
    near: Sequence[Quote]
    passage: Quotable
    claimed: Sequence[Word]
    sentences: Sequence[Sequence[Word]]

    @classmethod
    def of(cls, claim: str, near: Sequence[Quote], passage: Quotable) -> Self:
        """The claim and the sentences, read."""
        names = _known_names(claim, passage)
        sentences = [_with_first_name(quote.words, names) for quote in near]
        return cls(claim, near, passage, _with_first_name(read(claim), names), sentences)

    def coverage(self, sentence: Sequence[Word]) -> float:
        """The share of the claim's words, by weight and without numbers, that the sentence has.

        The sentence may lack a word of the headings, which are about every sentence.
        """
        in_sentence = {word.text for word in sentence}
        in_claim = {word.text for word in self.claimed if word.kind != "number"}
        only_in_headings = self.passage.context - in_sentence
        needed = in_claim - only_in_headings
        # Exact sums do not depend on the order of a set, which differs from process to process.
        weight_of_all = fsum(map(self.passage.weight, needed)) or 1
        return fsum(map(self.passage.weight, needed & in_sentence)) / weight_of_all

    def fit(self, claimed: _Number, on_page: _Number) -> float:
        """How well a number of the page stands in the place of one of the claim: among the same words, as near."""
        distances_on_page = on_page.distances()
        fit = 0.0
        for text, distance in claimed.distances().items():
            if text in distances_on_page:
                farther = max(1, distance, distances_on_page[text])
                nearness = ANYWHERE + (1 - ANYWHERE) / farther
                fit += self.passage.weight(text) * nearness
        return fit

    def numbers(self) -> Iterator[Difference]:
        """The numbers in whose place the page has another one."""
        for claimed in _numbers(self.claimed):
            if self._is_of_heading(claimed.word) or self._is_computed(claimed.word):
                continue
            rivals = [(self.fit(claimed, rival), rival) for rival in self._rivals_of(claimed)]
            if not rivals:
                continue
            fit_of_rival, rival = max(rivals, key=lambda fit_and_rival: fit_and_rival[0])
            fits_of_same = [self.fit(claimed, same) for same in self._same_as(claimed.word)]
            fit_of_same = max(fits_of_same, default=0.0)
            is_rounded = fit_of_same == 0 and _agrees(claimed.word, rival.word)
            if fit_of_rival > CLEARLY * fit_of_same and not is_rounded:
                yield _of_numbers(claimed, rival)

    def _is_of_heading(self, number: Word) -> bool:
        return number.text in self.passage.context and number.unit in _UNITS_OF_HEADINGS

    def _is_computed(self, number: Word) -> bool:
        """Whether it is the difference of two numbers of a sentence, or a year some years after another one."""
        for sentence in self.sentences:
            values = [word.value for word in sentence if word.value is not None]
            for first, second in combinations(values, 2):
                is_later_year = number.unit == "the year" and first + second == number.value
                if abs(first - second) == number.value or is_later_year:
                    return True
        return False

    def _same_as(self, number: Word) -> Iterator[_Number]:
        """The numbers of the page that are the claim's: anywhere in the passage."""
        for quote in self.passage.quotes:
            for on_page in _numbers(quote.words):
                if same_number(number, on_page.word):
                    yield on_page

    def _rivals_of(self, claimed: _Number) -> Iterator[_Number]:
        """The numbers of the near sentences about the same that may stand in the place of one of the claim."""
        for quote in self.near:
            if _has_number(quote.words, claimed.word):
                continue
            if self.coverage(quote.words) < COVERED or not self._may_share_subject(quote):
                continue
            for on_page in _numbers(quote.words):
                if self._is_rival(claimed, on_page):
                    yield on_page

    def _may_share_subject(self, quote: Quote) -> bool:
        """Whether a sentence may be about the subject of the claim, its first word that is no number.

        It is about another thing if it lacks this word, another near sentence has it, and nothing in it points back.
        "A car costs 39" says nothing of what bikes cost where the page speaks of bikes elsewhere.
        """
        subject = next((word.text for word in self.claimed if word.kind != "number"), "")
        if subject in quote.texts or subject in self.passage.context:
            return True
        is_elsewhere = any(subject in near.texts for near in self.near)
        return not is_elsewhere or bool(DANGLING.match(quote.text))

    def _is_rival(self, claimed: _Number, on_page: _Number) -> bool:
        """Whether a number of the page may stand in the place of one of the claim: it is of the same kind, and near
        to the same word."""
        number, rival = claimed.word, on_page.word
        if any(same_number(word, rival) for word in self.claimed):
            return False
        if number.text == rival.text:
            return not same_number(number, rival)
        if number.unit != rival.unit:
            return False
        if number.unit in _UNITS_OF_COUNTS:
            return not claimed.beside().isdisjoint(on_page.beside())
        words_near_both = claimed.near(NEAR_IN_CLAIM) & on_page.near(NEAR_ON_PAGE)
        if number.unit not in _DATES:
            return bool(words_near_both)
        # A date beside the name of the page's subject may be that of anything, unless the rest of it is the same.
        rest_in_claim = {word.raw for word in claimed.date()}
        rest_on_page = {word.raw for word in on_page.date()}
        is_rest_same = not rest_in_claim.isdisjoint(rest_on_page)
        return is_rest_same or not words_near_both <= self.passage.context

    def swapped_numbers(self) -> Iterator[Difference]:
        """Two numbers that the nearest sentence has too, each in the place of the other."""
        nearest = self.sentences[0] if self.sentences else ()
        for one, two in combinations(_numbers(self.claimed), 2):
            first, second = _only_place(one.word, nearest), _only_place(two.word, nearest)
            if first is None or second is None or one.word.unit != two.word.unit:
                continue
            if first.at < second.at:
                continue
            straight = self.fit(one, first) + self.fit(two, second)
            crossed = self.fit(one, second) + self.fit(two, first)
            if crossed > straight * SWAPPED:
                yield Difference(
                    _kind(one.word, two.word),
                    f"{one.word.raw} ... {two.word.raw}",
                    f"{two.word.raw} ... {one.word.raw}",
                )
                return

    def counted_nouns(self) -> Iterator[Difference]:
        """The numbers that count another noun on the page, which uses the claim's noun for something else.

        "42,000 tonnes of copper", where the page says: the copper mine produced 42,000 tonnes of ore.
        """
        texts_of_claim = {word.text for word in self.claimed}
        for claimed in _counts(self.claimed):
            for sentence in self.sentences:
                if all(word.text != claimed.noun.text for word in sentence):
                    continue
                for on_page in _counts(sentence):
                    is_same = claimed.has_same_number(on_page)
                    if is_same and on_page.noun.text not in texts_of_claim:
                        yield Difference("unit", str(claimed), str(on_page))

    def names(self) -> Iterator[Difference]:
        """The names in whose place the sentence about the same has another one, and two that are exchanged."""
        sentence = max(self.sentences, key=self.coverage, default=())
        in_claim, on_page = list(_names(self.claimed)), list(_names(sentence))
        for name in in_claim:
            if not name.is_in(sentence):
                yield from self._renamed(name, sentence, on_page)
        for one, two in combinations(in_claim, 2):
            first = [name for name in on_page if one.shares_word(name)]
            second = [name for name in on_page if two.shares_word(name)]
            is_pair = len(first) == len(second) == 1
            if is_pair and _are_exchanged(one, two, first[0], second[0]):
                yield _of_names(one, second[0])
                return

    def _renamed(
        self, name: _Name, sentence: Sequence[Word], on_page: Sequence[_Name]
    ) -> Iterator[Difference]:
        """The name that a sentence has in the place of one that it lacks.

        A name that stands elsewhere on the page is often only left out, as behind "She": its place must fit on both
        sides, and the sentence must be about nearly the same.
        """
        of_page = self.passage.names | self.passage.context
        is_elsewhere = any(word.text in of_page for word in name.words)
        if self.coverage(sentence) < (NEARLY if is_elsewhere else COVERED):
            return
        for rival in on_page:
            sides = name.sides_like(rival)
            fits = sides.both if is_elsewhere else sides.any
            if fits and not rival.is_in(self.claimed):
                yield _of_names(name, rival)
                return

    def denials(self) -> Iterator[Difference]:
        """What either the claim or the nearest sentence denies, and the other one says without any denial."""
        if not self.near or self.coverage(self.near[0].words) < COVERED:
            return
        nearest = self.near[0]
        denied_by_claim = _denied_alone(self.claimed, nearest.words, nearest.text)
        if denied_by_claim:
            yield Difference("denial", f"not: {denied_by_claim}", denied_by_claim)
            return
        denied_by_page = _denied_alone(nearest.words, self.claimed, self.claim)
        if denied_by_page:
            yield Difference("denial", denied_by_page, f"not: {denied_by_page}")


OTHER_PART = 3
"""The step to a word behind a comma or an "and"."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A number at its place in a sentence."""

    sentence: Sequence[Word]
    at: int

    @property
    def word(self) -> Word:
        return self.sentence[self.at]

    @property
    def shown(self) -> str:
        """The number as it is written; a part of a date with the rest of it."""
        return _raw(self.date())

    def date(self) -> Sequence[Word]:
        """The words of the date to which it belongs; the number alone if it is not a part of one."""
        start = stop = self.at
        while start and _is_one_date(self.sentence[start - 1], self.sentence[start]):
            start -= 1
        while stop + 1 < len(self.sentence) and _is_one_date(
            self.sentence[stop], self.sentence[stop + 1]
        ):
            stop += 1
        return self.sentence[start : stop + 1]

    def beside(self) -> set[str]:
        """The word before it and the two behind it, which say what it counts."""
        before = self.sentence[max(0, self.at - 1) : self.at]
        behind = self.sentence[self.at + 1 : self.at + 3]
        return {word.text for word in (*before, *behind) if word.kind != "number"}

    def near(self, most: int) -> set[str]:
        """The words at most so far from it."""
        return {text for text, distance in self.distances().items() if distance <= most}

    def distances(self) -> dict[str, int]:
        """How far each word that is no number stands from it. Another part of the sentence is farther away; a date has
        one place."""
        places = [0]
        for last, word in pairwise(self.sentence):
            step = 1 if PARTS.isdisjoint(word.before) else OTHER_PART
            places.append(places[-1] + (0 if _is_one_date(last, word) else step))
        own_place = places[self.at]
        distances: dict[str, int] = {}
        for word, place in zip(self.sentence, places, strict=True):
            if word.kind != "number":
                distance = abs(place - own_place)
                distances[word.text] = min(distance, distances.get(word.text, distance))
        return distances


def _numbers(sentence: Sequence[Word]) -> Iterator[_Number]:
    for at, word in enumerate(sentence):
        if word.kind == "number":
            yield _Number(sentence, at)


def _has_number(sentence: Sequence[Word], number: Word) -> bool:
    """Whether a sentence has a number with its unit."""
    return any(same_number(number, word) and word.unit == number.unit for word in sentence)


def _only_place(number: Word, sentence: Sequence[Word]) -> _Number | None:
    """Where a sentence has a number, if it has it once."""
    places = [on_page for on_page in _numbers(sentence) if on_page.word.is_equal(number)]
    return places[0] if len(places) == 1 else None


def _is_one_date(last: Word, word: Word) -> bool:
    return last.unit in _DATES and word.unit in _DATES and word.before <= {","}


def _of_numbers(claimed: _Number, on_page: _Number) -> Difference:
    number, rival = claimed.word, on_page.word
    differs_in_bound_only = number.is_equal(rival) and number.unit == rival.unit
    if differs_in_bound_only:
        return Difference(
            "number", f"{number.bound} {claimed.shown}", f"{rival.bound} {on_page.shown}"
        )
    return Difference(_kind(number, rival), claimed.shown, on_page.shown)


def _kind(number: Word, rival: Word) -> Kind:
    if number.text == rival.text:
        return "unit" if number.unit != rival.unit else "number"
    return "date" if number.unit in _DATES else "number"


_HEDGES = word_set("about around roughly approximately nearly almost some")
_HEDGED = 0.1
"""How far a number behind such a word may be from the exact one, as a share of that."""
_WHOLE_FROM = 10
"""A whole number from here on may be a fraction of the page, rounded."""


def _agrees(number: Word, more_exact: Word) -> bool:
    """Whether a number of a claim says as much as another one with more digits: rounded, "about", "over", "under"."""
    value, exact = number.value, more_exact.value
    if value is None or exact is None or number.unit in _DATES or number.unit != more_exact.unit:
        return False
    if number.bound and not more_exact.bound:
        return exact >= value if number.bound == "over" else exact <= value
    is_hedged = not _HEDGES.isdisjoint(number.before)
    is_near = is_hedged and abs(exact - value) <= exact * _HEDGED
    is_fraction_rounded = value >= _WHOLE_FROM and exact != round(exact) == value
    return is_near or is_fraction_rounded or is_rounding(number.text, more_exact.text)


@dataclass(frozen=True, slots=True)
class _Count:
    """A number with the noun behind its "of"."""

    number: Word
    noun: Word

    def __str__(self) -> str:
        return f"{self.number.raw} of {self.noun.raw}"

    def has_same_number(self, other: _Count) -> bool:
        """Whether both numbers are equal and have one unit."""
        return same_number(self.number, other.number) and self.number.unit == other.number.unit


def _counts(sentence: Sequence[Word]) -> Iterator[_Count]:
    for word, after in pairwise(sentence):
        if word.kind == "number" and after.kind != "number" and "of" in after.before:
            yield _Count(word, after)


@dataclass(frozen=True, slots=True)
class _Sides:
    """Whether the same stands before two names, and whether it does behind them."""

    before: bool
    behind: bool

    @property
    def both(self) -> bool:
        return self.before and self.behind

    @property
    def any(self) -> bool:
        return self.before or self.behind


@dataclass(frozen=True, slots=True)
class _Name:
    """A name of one word or several, at its place in a sentence."""

    sentence: Sequence[Word]
    start: int
    stop: int

    @property
    def words(self) -> Sequence[Word]:
        return self.sentence[self.start : self.stop]

    def is_in(self, sentence: Sequence[Word]) -> bool:
        """Whether a sentence has a word of the name, perhaps in another form."""
        return any(is_same_name(part, word) for part in self.words for word in sentence)

    def shares_word(self, other: _Name) -> bool:
        return not {word.text for word in self.words}.isdisjoint(word.text for word in other.words)

    def sides_like(self, other: _Name) -> _Sides:
        """Whether the same word stands before both names, in the same way, and whether one does behind.

        Where both sentences begin or end with the names, the other side decides for both.
        """
        is_before = self._has_same_before(other)
        is_behind = self._has_same_behind(other)
        both_begin = self.start == other.start == 0
        both_end = self._ends_part() and other._ends_part()
        return _Sides(
            before=is_before or (both_begin and is_behind),
            behind=is_behind or ((is_before or both_begin) and both_end),
        )

    def _has_same_before(self, other: _Name) -> bool:
        if not self.start or not other.start:
            return False
        link = self.words[0].before - ARTICLES
        if link != other.words[0].before - ARTICLES:
            return False
        return self.sentence[self.start - 1].text == other.sentence[other.start - 1].text

    def _has_same_behind(self, other: _Name) -> bool:
        if self.stop == len(self.sentence) or other.stop == len(other.sentence):
            return False
        return self.sentence[self.stop].text == other.sentence[other.stop].text

    def _ends_part(self) -> bool:
        """Whether the sentence, or a part of it, ends with the name."""
        is_last = self.stop == len(self.sentence)
        return is_last or not PARTS.isdisjoint(self.sentence[self.stop].before)


_PARTICLES = word_set("of de del der den van von la le du")
"""Words inside of names."""


def _names(sentence: Sequence[Word]) -> Iterator[_Name]:
    start = None
    for at, word in enumerate(sentence):
        is_name = word.kind == "name"
        goes_on = is_name and word.before <= _PARTICLES
        if start is not None and not goes_on:
            yield _Name(sentence, start, at)
            start = None
        if is_name and start is None:
            start = at
    if start is not None:
        yield _Name(sentence, start, len(sentence))


def _are_exchanged(one: _Name, two: _Name, first: _Name, second: _Name) -> bool:
    """Whether two names of a claim stand in a sentence each in the place of the other."""
    is_straight = one.sides_like(first).any or two.sides_like(second).any
    is_crossed = one.sides_like(second).any and two.sides_like(first).any
    return first != second and is_crossed and not is_straight


def _of_names(claimed: _Name, on_page: _Name) -> Difference:
    first, rival = claimed.words[0], on_page.words[0]
    are_days = first.raw.lower() in WEEKDAYS and rival.raw.lower() in WEEKDAYS
    kind: Kind = "date" if are_days else "name"
    return Difference(kind, _raw(claimed.words), _raw(on_page.words))


def _denied_alone(denying: Sequence[Word], sentence: Sequence[Word], text: str) -> str:
    """The words that one sentence denies and another one, without any denial in its text, has; empty for none."""
    if says_no(text):
        return ""
    in_sentence = {word.text for word in sentence}
    for denied in _denied(denying):
        if in_sentence.issuperset(word.text for word in denied):
            return _raw(denied)
    return ""


_UNLESS = word_set("until till before only unless")
"""What follows a denial and turns it: "not before 1990"."""
_REACH_OF_UNLESS = 4
"""Among how many words from the denied one on it is looked for."""


def _denied(sentence: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """What each denial denies: the word behind it, and the next one in the same part of the sentence."""
    for at, word in enumerate(sentence):
        if not word.is_denied:
            continue
        reach = sentence[at : at + _REACH_OF_UNLESS]
        if any(not _UNLESS.isdisjoint(near.before) for near in reach):
            continue
        after = sentence[at + 1] if at + 1 < len(sentence) else None
        has_next = after and after.kind != "number" and PARTS.isdisjoint(after.before)
        yield sentence[at : at + 2] if has_next else sentence[at : at + 1]


def _raw(words: Sequence[Word]) -> str:
    return " ".join(word.raw for word in words)
