"""The hard facts in which a claim differs from the sentences of a page that speak of the same.

A number, date, unit or name of the claim is compared with the one that stands in its place on the page: among the same
words, as near to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Literal, NamedTuple, Self

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
ANYWHERE = 0.4
"""What a word that stands far from a number says of its place, as a share of what a word beside it does."""
NEAR_IN_CLAIM, NEAR_ON_PAGE = 3, 2
"""How far the word may stand that a number and its rival have in common (words)."""
OTHER_PART = 3
"""The step to a word behind a comma or an "and"."""

WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
ARTICLES = word_set("the a an")
_PARTICLES = word_set("of de del der den van von la le du")
"""Words inside of names."""
_UNLESS = word_set("until till before only unless")
"""What follows a denial and turns it: "not before 1990"."""
_REACH_OF_UNLESS = 4
"""Among how many words from the denied one on it is looked for."""
_HEDGES = word_set("about around roughly approximately nearly almost some")
_DATES = frozenset(("the day", "the month", "the year"))
_UNITS_OF_HEADINGS = ("", "the year", "nth")
"""The units of a number that is about the whole page if its headings have it."""
_WHOLE_FROM = 10
"""A whole number from here on may be a fraction of the page, rounded."""


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
    return _named(read(claim), _names_of(claim, passage))


def _names_of(claim: str, passage: Quotable) -> frozenset[str]:
    return passage.names.union(word.text for word in read(claim) if word.kind == "name")


def _named(sentence: Sequence[Word], names: frozenset[str]) -> Sequence[Word]:
    """A sentence whose first word, a capital one, is a name if it is among `names`."""
    first = sentence[0] if sentence else None
    if first is None or first.kind != "word" or first.text not in names:
        return sentence
    return (replace(first, kind="name"), *sentence[1:]) if first.raw[:1].isupper() else sentence


class _Shared(NamedTuple):
    """A word that a claim and a sentence share, and how far it stands from a number in each."""

    text: str
    in_claim: int
    on_page: int


class _Sides(NamedTuple):
    """Whether the same stands before two names, and whether it does behind them."""

    before: bool
    behind: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """A number of the page: how well it stands in the place of one of the claim, and how it is shown."""

    fit: float
    number: Word
    shown: str


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
        names = _names_of(claim, passage)
        sentences = [_named(quote.words, names) for quote in near]
        return cls(claim, near, passage, _named(read(claim), names), sentences)

    def coverage(self, sentence: Sequence[Word]) -> float:
        """The share of the claim's words, by weight and without numbers, that the sentence has.

        The sentence may lack a word of the headings, which are about every sentence.
        """
        there = {word.text for word in sentence}
        texts = {word.text for word in self.claimed if word.kind != "number"}
        needed = texts - (self.passage.context - there)
        whole = sum(map(self.passage.weight, needed))
        return sum(map(self.passage.weight, needed & there)) / (whole or 1)

    def shared_words(self, place: int, sentence: Sequence[Word], at: int) -> Iterator[_Shared]:
        """Each word that both have, and how far it stands from `claimed[place]` and from `sentence[at]`."""
        on_page = _distances(sentence, at)
        for text, distance in _distances(self.claimed, place).items():
            if text in on_page:
                yield _Shared(text, max(1, distance), max(1, on_page[text]))

    def fit(self, place: int, sentence: Sequence[Word], at: int) -> float:
        """How well `sentence[at]` stands in the place of `claimed[place]`: among the same words, as near to them."""
        fit = 0.0
        for text, in_claim, on_page in self.shared_words(place, sentence, at):
            nearness = ANYWHERE + (1 - ANYWHERE) / max(in_claim, on_page)
            fit += self.passage.weight(text) * nearness
        return fit

    def numbers(self) -> Iterator[Difference]:
        """The numbers in whose place the page has another one."""
        for place, number in enumerate(self.claimed):
            if number.kind != "number" or self.is_of_heading(number) or self.is_computed(number):
                continue
            rival = max(self.rivals_of(place), key=lambda rival: rival.fit, default=None)
            if rival is None:
                continue
            same = max((same.fit for same in self.same_as(place)), default=0.0)
            is_rounded = not same and _agrees(number, rival.number)
            if rival.fit > same * CLEARLY and not is_rounded:
                yield _otherwise(number, _shown(self.claimed, place), rival)

    def is_of_heading(self, number: Word) -> bool:
        return number.text in self.passage.context and number.unit in _UNITS_OF_HEADINGS

    def is_computed(self, number: Word) -> bool:
        """Whether it is the difference of two numbers of a sentence, or a year some years after another one."""
        for sentence in self.sentences:
            values = [other.value for other in sentence if other.value is not None]
            for first, second in combinations(values, 2):
                is_later_year = number.unit == "the year" and first + second == number.value
                if abs(first - second) == number.value or is_later_year:
                    return True
        return False

    def same_as(self, place: int) -> Iterator[_Place]:
        """The numbers of the page that are the claim's: anywhere in the passage."""
        for quote in self.passage.quotes:
            for at, other in enumerate(quote.words):
                if same_number(self.claimed[place], other):
                    yield self.place_of(place, quote.words, at)

    def rivals_of(self, place: int) -> Iterator[_Place]:
        """The numbers of the near sentences about the same that may stand in the place of one of the claim."""
        number = self.claimed[place]
        for quote in self.near:
            sentence = quote.words
            has_same = any(
                same_number(number, other) and other.unit == number.unit for other in sentence
            )
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
        subject = next((word.text for word in self.claimed if word.kind != "number"), "")
        if subject in quote.texts or subject in self.passage.context:
            return True
        is_elsewhere = any(subject in other.texts for other in self.near)
        return not is_elsewhere or bool(DANGLING.match(quote.text))

    def place_of(self, place: int, sentence: Sequence[Word], at: int) -> _Place:
        return _Place(self.fit(place, sentence, at), sentence[at], _shown(sentence, at))

    def is_rival(self, place: int, sentence: Sequence[Word], at: int) -> bool:
        """Whether a number of a sentence may stand in the place of one of the claim: it is of the same kind, and near
        to the same word."""
        number, other = self.claimed[place], sentence[at]
        if other.kind != "number" or any(same_number(word, other) for word in self.claimed):
            return False
        if number.text == other.text:
            return not same_number(number, other)
        if number.unit != other.unit:
            return False
        if number.unit in ("", "nth"):  # it must count the same
            return bool(_beside(self.claimed, place) & _beside(sentence, at))
        near = {
            shared.text
            for shared in self.shared_words(place, sentence, at)
            if shared.in_claim <= NEAR_IN_CLAIM and shared.on_page <= NEAR_ON_PAGE
        }
        if number.unit not in _DATES:
            return bool(near)
        # A date beside the name of the page's subject may be that of anything, unless the rest of it is the same.
        rest_in_claim = {word.raw for word in _date(self.claimed, place)}
        rest_on_page = {word.raw for word in _date(sentence, at)}
        return bool(near - self.passage.context) or bool(rest_in_claim & rest_on_page)

    def swapped_numbers(self) -> Iterator[Difference]:
        """Two numbers that the nearest sentence has too, each in the place of the other."""
        sentence = self.sentences[0] if self.sentences else ()
        numbers = [at for at, word in enumerate(self.claimed) if word.kind == "number"]
        for one, two in combinations(numbers, 2):
            first = _only_place(self.claimed[one], sentence)
            second = _only_place(self.claimed[two], sentence)
            if first is None or second is None or first < second:
                continue
            if self.claimed[one].unit != self.claimed[two].unit:
                continue
            straight = self.fit(one, sentence, first) + self.fit(two, sentence, second)
            crossed = self.fit(one, sentence, second) + self.fit(two, sentence, first)
            if crossed > straight * SWAPPED:
                raws = [self.claimed[one].raw, self.claimed[two].raw]
                kind = _kind(self.claimed[one], self.claimed[two])
                yield Difference(kind, " ... ".join(raws), " ... ".join(reversed(raws)))
                return

    def counted_nouns(self) -> Iterator[Difference]:
        """The numbers that count another noun on the page, which uses the claim's noun for something else.

        "42,000 tonnes of copper", where the page says: the copper mine produced 42,000 tonnes of ore.
        """
        claimed = {word.text for word in self.claimed}
        for number, noun in _counted(self.claimed):
            for sentence in self.sentences:
                has_noun = any(word.text == noun.text for word in sentence)
                for other, other_noun in _counted(sentence):
                    is_same = same_number(number, other) and number.unit == other.unit
                    if is_same and has_noun and other_noun.text not in claimed:
                        ours = f"{number.raw} of {noun.raw}"
                        yield Difference("unit", ours, f"{other.raw} of {other_noun.raw}")

    def names(self) -> Iterator[Difference]:
        """The names in whose place the sentence about the same has another one, and two that are exchanged."""
        sentence = max(self.sentences, key=self.coverage, default=())
        in_claim, on_page = list(_names(self.claimed)), list(_names(sentence))
        for name in in_claim:
            if not _has_name(sentence, self.claimed[name]):
                yield from self.renamed(name, sentence, on_page)
        for one, two in combinations(in_claim, 2):
            first = [name for name in on_page if _share_word(self.claimed[one], sentence[name])]
            second = [name for name in on_page if _share_word(self.claimed[two], sentence[name])]
            is_pair = len(first) == len(second) == 1
            if is_pair and self.is_exchanged(one, two, sentence, first[0], second[0]):
                yield _renamed(self.claimed[one], sentence[second[0]])
                return

    def renamed(
        self, name: slice, sentence: Sequence[Word], on_page: Sequence[slice]
    ) -> Iterator[Difference]:
        """The name that a sentence has in the place of one that it lacks.

        A name that stands elsewhere on the page is often only left out, as behind "She": its place must fit on both
        sides, and the sentence must be about nearly the same.
        """
        elsewhere = self.passage.names | self.passage.context
        is_elsewhere = any(word.text in elsewhere for word in self.claimed[name])
        if self.coverage(sentence) < (NEARLY if is_elsewhere else COVERED):
            return
        for other in on_page:
            sides = self.sides(name, sentence, other)
            fits = all(sides) if is_elsewhere else any(sides)
            if fits and not _has_name(self.claimed, sentence[other]):
                yield _renamed(self.claimed[name], sentence[other])
                return

    def is_exchanged(
        self, one: slice, two: slice, sentence: Sequence[Word], first: slice, second: slice
    ) -> bool:
        """Whether two names of the claim stand in the sentence each in the place of the other."""

        def fits(name: slice, other: slice) -> bool:
            return any(self.sides(name, sentence, other))

        is_straight = fits(one, first) or fits(two, second)
        is_crossed = fits(one, second) and fits(two, first)
        return first != second and is_crossed and not is_straight

    def sides(self, name: slice, sentence: Sequence[Word], other: slice) -> _Sides:
        """Whether the same word stands before two names, in the same way, and whether one does behind.

        Where both sentences begin or end with the names, the other side decides for both.
        """
        ours, theirs = self.claimed, sentence
        both_begin = name.start == other.start == 0
        is_before = False
        if name.start and other.start:
            link = ours[name.start].before - ARTICLES
            is_same_link = link == theirs[other.start].before - ARTICLES
            is_before = is_same_link and ours[name.start - 1].text == theirs[other.start - 1].text
        is_behind = False
        if name.stop < len(ours) and other.stop < len(theirs):
            is_behind = ours[name.stop].text == theirs[other.stop].text
        both_end = _ends_part(ours, name.stop) and _ends_part(theirs, other.stop)
        return _Sides(
            before=is_before or (both_begin and is_behind),
            behind=is_behind or ((is_before or both_begin) and both_end),
        )

    def denials(self) -> Iterator[Difference]:
        """What either the claim or the nearest sentence denies, and the other one says without any denial."""
        if not self.near or self.coverage(self.near[0].words) < COVERED:
            return
        quote = self.near[0]
        if shown := _denied_alone(self.claimed, quote.words, quote.text):
            yield Difference("denial", f"not: {shown}", shown)
        elif shown := _denied_alone(quote.words, self.claimed, self.claim):
            yield Difference("denial", shown, f"not: {shown}")


def _denied_alone(denying: Sequence[Word], other: Sequence[Word], other_text: str) -> str:
    """The words that a sentence denies and another one, without any denial, has; empty for none."""
    if says_no(other_text):
        return ""
    there = {word.text for word in other}
    for denied in _denied(denying):
        if there.issuperset(word.text for word in denied):
            return _raw(denied)
    return ""


def _denied(sentence: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """What each denial denies: the word behind it, and the next one in the same part of the sentence."""
    for at, word in enumerate(sentence):
        reach = sentence[at : at + _REACH_OF_UNLESS]
        is_turned = any(not _UNLESS.isdisjoint(near.before) for near in reach)
        if not word.is_denied or is_turned:
            continue
        after = sentence[at + 1] if at + 1 < len(sentence) else None
        is_further = after and after.kind != "number" and PARTS.isdisjoint(after.before)
        yield sentence[at : at + 2] if is_further else sentence[at : at + 1]


def _raw(words: Sequence[Word]) -> str:
    return " ".join(word.raw for word in words)


def _only_place(number: Word, sentence: Sequence[Word]) -> int | None:
    """Where a sentence has a number, if it has it once."""
    places = [at for at, word in enumerate(sentence) if word.is_equal(number)]
    return places[0] if len(places) == 1 else None


def _otherwise(number: Word, shown: str, rival: _Place) -> Difference:
    other = rival.number
    if number.is_equal(other) and number.unit == other.unit:  # only the bounds differ
        return Difference("number", f"{number.bound} {shown}", f"{other.bound} {rival.shown}")
    return Difference(_kind(number, other), shown, rival.shown)


def _shown(sentence: Sequence[Word], at: int) -> str:
    """A number as it is written; a part of a date with the rest of it."""
    return _raw(_date(sentence, at))


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
    is_hedged = not _HEDGES.isdisjoint(number.before)
    is_near = is_hedged and abs(exact - value) <= exact / 10
    is_fraction_rounded = value >= _WHOLE_FROM and exact != round(exact) == value
    return is_near or is_fraction_rounded or is_rounding(number.text, other.text)


def _renamed(name: Sequence[Word], other: Sequence[Word]) -> Difference:
    are_days = name[0].raw.lower() in WEEKDAYS and other[0].raw.lower() in WEEKDAYS
    return Difference("date" if are_days else "name", _raw(name), _raw(other))


def _has_name(sentence: Sequence[Word], name: Sequence[Word]) -> bool:
    """Whether a sentence has a word of a name, perhaps in another form."""
    return any(is_same_name(part, word) for part in name for word in sentence)


def _share_word(name: Sequence[Word], other: Sequence[Word]) -> bool:
    return not {word.text for word in name}.isdisjoint(word.text for word in other)


def _names(sentence: Sequence[Word]) -> Iterator[slice]:
    """The places of the names of a sentence, each of one word or several."""
    start = None
    for at, word in enumerate(sentence):
        is_name = word.kind == "name"
        goes_on = is_name and word.before <= _PARTICLES
        if start is not None and not goes_on:
            yield slice(start, at)
            start = None
        if is_name and start is None:
            start = at
    if start is not None:
        yield slice(start, len(sentence))


def _ends_part(sentence: Sequence[Word], end: int) -> bool:
    """Whether the sentence, or a part of it, ends here."""
    return end == len(sentence) or not PARTS.isdisjoint(sentence[end].before)


def _distances(sentence: Sequence[Word], at: int) -> dict[str, int]:
    """How far each word that is no number stands from the one at `at`. Another part of the sentence is farther away; a
    date has one place."""
    places = [0]
    for last, word in pairwise(sentence):
        step = 1 if PARTS.isdisjoint(word.before) else OTHER_PART
        places.append(places[-1] + (0 if _is_one_date(last, word) else step))
    distances: dict[str, int] = {}
    for here, word in enumerate(sentence):
        if here != at and word.kind != "number":
            distance = abs(places[here] - places[at])
            distances[word.text] = min(distance, distances.get(word.text, distance))
    return distances


def _counted(sentence: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    """Each number with the noun behind its "of"."""
    for word, after in pairwise(sentence):
        if word.kind == "number" and after.kind != "number" and "of" in after.before:
            yield word, after


def _beside(sentence: Sequence[Word], at: int) -> set[str]:
    """The words around a number that say what it counts."""
    around = [*sentence[max(0, at - 1) : at], *sentence[at + 1 : at + 3]]
    return {word.text for word in around if word.kind != "number"}
