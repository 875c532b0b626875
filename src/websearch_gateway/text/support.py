"""Whether quotes from a page support a sentence, as far as that can be seen without a reader.

First the facts of the sentence are looked for in its quotes; then a sentence that nearly copies a quote is compared
with it word by word. `docs/engines.md` says what is checked and what is not.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Literal

from websearch_gateway.text.chunk import chunk
from websearch_gateway.text.claim_words import (
    ADDED,
    ANAPHOR,
    CHANGES,
    DENIED,
    HEDGES,
    LEFT_OUT,
    LOST,
    OPPOSITES,
    PRONOUN,
    REPORTS,
    SAYING,
    SPEAKER,
    SPEAKERS,
    SPEECH,
    TALK,
    TOLD,
)
from websearch_gateway.text.markdown import word_set
from websearch_gateway.text.numbers import UNITS, is_rounding, is_year, unit_named
from websearch_gateway.text.passages import score_passages
from websearch_gateway.text.quotes import (
    DENIES,
    LEAST_WORDS,
    MOST_QUOTES,
    Quotable,
    Quote,
    Word,
    best_quotes,
    read,
)
from websearch_gateway.text.tokens import language_of, query_terms, stems, words

Difference = Literal["number", "negation", "operator", "name", "order", "speaker", "cell"]

NEAR_COPY = 0.8
"""The share of its ordinary words (no names, no numbers) that a near copy has from a quote; one may always differ."""

_MOST_PAIRS, _REACH = 1_000, 60
_WEAKER = frozenset(("some", "sometimes", "may", "plans", "believed", "would", "mainly"))
_OMITTED = frozenset(("all", "only", "many", "some", "often", "mainly"))
NO_UNITS = frozenset(("", "month", "nth"))
_PLACES = frozenset(("in", "of", "at", "on", "from"))


def differences(sentence: str, quote: Quote, passage: Quotable) -> frozenset[Difference]:
    """In what a sentence differs from a quote that it nearly copies; empty if it does not copy."""
    said, theirs = read(sentence), quote.words
    there = {word.text for word in theirs}
    names = names_of(said, passage)
    ordinary = _ordinary(said, there, passage)
    if ordinary.count(False) > max(1, (1 - NEAR_COPY) * len(ordinary)):
        return frozenset()
    chain = _chain(said, theirs)
    found = set(_operators(said, theirs, chain))
    units, their_units = ({word.text for word in one if word.raw.lower() in UNITS} for one in (said, theirs))
    if _numbers_differ(said, theirs) or (units - their_units and their_units - units):  # "each week", "each month"
        found.add("number")
    if _is_swapped(said, theirs, names):
        found.add("order")
    if _names_differ(sentence, quote, chain, passage):
        found.add("name")
    if _is_of_another_cell(said, quote):
        found.add("cell")
    is_told = not TOLD.isdisjoint(word.text for word in said)
    if any(word.text not in there and is_opposed(word, theirs) for word in said):
        found.add("negation")
    if not is_told and (_is_speech(sentence, said, quote) or not SPEAKERS.isdisjoint(_around(theirs, chain))):
        found.add("speaker")
    return frozenset(found)


def names_of(said: Sequence[Word], passage: Quotable) -> set[int]:
    """The places of names. A sentence's first word is one if it is one elsewhere in the passage, or before a name."""
    found = {place for place, word in enumerate(said) if word.kind == "name"}
    for place, word in enumerate(said):
        if word.kind == "word" and word.raw[:1].isupper():
            after = said[place + 1] if place + 1 in found else None
            is_joined = after and after.part == word.part and not (after.links or after.joins)
            if is_joined or word.text in passage.names:
                found.add(place)
    return found


def _ordinary(said: Sequence[Word], known: Collection[str], passage: Quotable) -> list[bool]:
    """Whether each word that is no fact is known."""
    names = names_of(said, passage)
    return [word.text in known for place, word in enumerate(said) if word.kind == "word" and place not in names]


def same_number(word: Word, other: Word) -> bool:
    """Whether two numbers are equal, have one unit, and are not bounds of opposite sides."""
    return (
        word.text == other.text
        and (word.unit in ("", other.unit) or {word.unit, other.unit} <= NO_UNITS)
        and {"over", "under"} - (word.bounds ^ other.bounds) != set()
    )


def is_other_number(word: Word, said: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether the quote has another number in the place of this one: of the same kind, and no rounding of it.

    One without a unit must have the same neighbour in both, unless it is a year.
    """
    spare = [
        (place, one)
        for place, one in enumerate(theirs)
        if one.kind == "number" and not any(same_number(ours, one) for ours in said if ours.kind == "number")
    ]
    at = said.index(word)
    return any(
        _kind(one) == _kind(word)
        and not word.bounds | one.bounds
        and word.times == one.times
        and (_kind(word) == "year" or not is_rounding(word.text, one.text))
        and (
            word.unit
            or _kind(word) == "year"
            or "" != _next(said, at) == _next(theirs, place)
            or (at and place and said[at - 1].text == theirs[place - 1].text)
        )
        for place, one in spare
    )


def is_opposed(word: Word, theirs: Sequence[Word]) -> bool:
    """Whether the quote has the opposite of this word."""
    there = {one.text for one in theirs}
    return any(word.text == one and other in there for pair in OPPOSITES for one, other in (pair, pair[::-1]))


def _chain(said: Sequence[Word], theirs: Sequence[Word]) -> list[tuple[int, int]]:
    """The longest match of words in the same order, neighbours preferred: pairs of places."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(theirs):
        places.setdefault(word.text, []).append(place)
    pairs = [(one, other) for one, word in enumerate(said) for other in places.get(word.text, ())][:_MOST_PAIRS]
    best: list[tuple[float, int]] = []
    for index, (one, other) in enumerate(pairs):
        top = (1.0, -1)
        for before in range(max(0, index - _REACH), index):
            if pairs[before][0] < one and pairs[before][1] < other:
                distance = other - pairs[before][1]
                reached = best[before][0] + 1.0 + (0.4 if distance == 1 else 0.0) - 0.02 * min(distance, 9)
                top = max(top, (reached, before))
        best.append(top)
    index = max(range(len(pairs)), key=lambda place: best[place][0], default=-1)
    chain = []
    while index >= 0:
        chain.append(pairs[index])
        index = best[index][1]
    return chain[::-1]


def _around(theirs: Sequence[Word], chain: Sequence[tuple[int, int]]) -> Iterator[str]:
    """The words of the quote before those that the sentence has, and those of a short part at the end."""
    first, last = (chain[0][1], chain[-1][1]) if chain else (0, -1)
    tail = [word.text for word in theirs[last + 1 :] if word.part == theirs[-1].part]
    yield from (word.text for word in theirs[:first])
    if len(tail) <= _WINDOW + 1 and theirs[last].part != theirs[-1].part:
        yield from set(tail) - {"said", "told"}  # "..., officials said" leaves the sentence as it is


def _is_speech(sentence: str, said: Sequence[Word], quote: Quote) -> bool:
    """Whether the sentence takes its words from between quotation marks, and leaves out who says them."""
    speech = SPEECH.search(quote.text)
    if speech is None or any(mark in sentence for mark in '"“”„«»'):
        return False
    spoken = {word.text for word in read(speech[1])}
    return sum(word.text in spoken for word in said) >= NEAR_COPY * len(said)


def _operators(said: Sequence[Word], theirs: Sequence[Word], chain: Sequence[tuple[int, int]]) -> Iterator[Difference]:
    for one, other in chain:
        word, match = said[one], theirs[other]
        added, left_out = word.signs - match.signs - _WEAKER, match.signs - word.signs - _OMITTED
        if "not" in added | left_out:
            yield "negation"
        is_replaced = word.signs - match.signs and match.signs - word.signs
        if is_replaced or added or left_out or (word.times and match.times and word.times != match.times):
            yield "operator"
        if word.bounds != match.bounds and (match.bounds or word.bounds - {"nearly"}):
            yield "operator"


def _numbers_differ(said: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether one number stands where the quote has another one of its kind, or another unit."""
    ours = [word for word in said if word.kind == "number"]
    other = [word for word in theirs if word.kind == "number"]
    extra = [word for word in ours if not any(same_number(word, one) for one in other)]
    spare = [word for word in other if not any(same_number(word, one) for one in ours)]
    return any(word.text == one.text or _kind(word) == _kind(one) for word in extra for one in spare)


def _kind(number: Word) -> str:
    return "year" if is_year(number.text) and not number.unit else number.unit


def _is_swapped(said: Sequence[Word], theirs: Sequence[Word], names: Collection[int]) -> bool:
    """Whether two names, or two numbers of a kind, have changed places."""
    there = {word.text: place for place, word in enumerate(theirs)}
    often = Counter(word.text for word in theirs)
    facts = [
        (at, there[word.text])
        for at, word in enumerate(said)
        if (word.is_fact or at in names) and often[word.text] == 1
    ]
    passive = any("by" in word.links for word in said) != any("by" in word.links for word in theirs)
    for (at, place), (later, other) in combinations(facts, 2):
        word, after = said[at], said[later]
        if other >= place or (word.kind == "number") != (after.kind == "number"):
            continue
        if word.kind == "number":
            # "2 seasons and 34 episodes" may change places
            bound = any("" != _next(said, one) == _next(theirs, two) for one, two in ((at, place), (later, other)))
            if _kind(word) == _kind(after) and not bound:
                return True
        elif not passive and not _is_phrase(word, theirs[place]) and not _is_phrase(after, theirs[other]):
            between = theirs[other + 1 : place]
            apart = any(one.links or one.joins or one.part != theirs[other].part for one in (*between, theirs[place]))
            if apart or {one.text for one in between} & {one.text for one in said[at + 1 : later]}:
                return True
    return False


def _is_phrase(name: Word, match: Word) -> bool:
    """Whether a name may move, since it is in a phrase with a preposition."""
    return bool(name.links & _PLACES) or name.links == match.links != frozenset()


def _names_differ(sentence: str, quote: Quote, chain: Sequence[tuple[int, int]], passage: Quotable) -> bool:
    """Whether a name stands where the quote has another name, or where its subject is.

    A name of the headings or the question may stand for the subject.
    """
    said, theirs = read(sentence), quote.words
    ours, there = names_of(said, passage), names_of(theirs, passage)
    is_pronoun = bool(PRONOUN.match(quote.text))
    moved = {  # in the same phrase, or as the subject of an active sentence
        place
        for place, name in enumerate(said)
        for at, word in enumerate(theirs)
        if name.text == word.text
        and (name.links == word.links != frozenset() or "by" in name.links or _goes_on(said, place, theirs, at))
    }
    edges = [(-1, -1), *chain, (len(said), len(theirs))]
    for (one, other), (after, later) in pairwise(edges):
        new = {place for place in range(one + 1, after) if place in ours and place not in moved}
        old = {place for place in range(other + 1, later) if place in there}
        if one < 0 and (later <= _WINDOW or is_pronoun) and not PRONOUN.match(sentence):
            new = {place for place in new if said[place].text not in passage.context}
            old |= set(range(later + is_pronoun))
        if new and old:
            return True
    return False


def _goes_on(said: Sequence[Word], place: int, theirs: Sequence[Word], at: int) -> bool:
    """Whether the word before is the same in both: "New" before "York"."""
    return place > 0 < at and said[place - 1].text == theirs[at - 1].text and not said[place].links


def _is_of_another_cell(said: Sequence[Word], quote: Quote) -> bool:
    """Whether a row's column is named, but its cell is not given, and that of a column that is not named is."""
    given = {word.text for word in said}
    named, others = False, False
    for head, cell in quote.cells[1:]:
        facts = {word.text for word in read(cell)}
        if given.intersection(word.text for word in read(head)):
            named = named or not facts <= given
        else:
            others = others or bool(facts & given)
    return named and others


Support = Literal["verbatim", "paraphrase"]

LONGEST_SENTENCE = 600
SHARE, SHARE_OF_LONG, SHARE_OF_ORDINARY = 0.65, 0.5, 0.25
"""The share of the content words of a short and a long sentence that must stand in its quotes, where facts count
double; and of its words that are no facts."""
_SHORT, _OF_ONE_FACT, _FEW = 5, 8, 3
"""The content words of a short sentence and of one that hardly states two facts; the fewest words that are no facts and
of which a share must be known."""

_EDGES = frozenset(",;:.!?()，；：。！？（）")
_TOKENS = re.compile(r"(?:(?<!\w)[-\u2212](?=\d))?\w+(?:['’.,]\w+)*|[,;:.!?()，；：。！？（）]")
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_SAID = re.compile(r"[\"“„«][^\"“”„«»]*[\"”“»]")
_OWN = re.compile(r"\b(?:i|we|you|my|our|your|me)\b(?!\.)", re.IGNORECASE)
_LINK = re.compile(r"https?://|www\.|\]\(|<[a-z/!]", re.IGNORECASE)
_SMALL = word_set(
    "two three four five six seven eight nine ten first third fourth fifth sixth seventh eighth ninth tenth"
)
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STRONG = frozenset(("all", "most", "only", "few", "half"))
_COUNTS: dict[str, frozenset[str]] = defaultdict(frozenset, number=frozenset(("only",)))
"""What may stand before a number: "only four" says no more than "four"."""
_WINDOW = 3
_DEMONYM = re.compile(r"(?:ese|ish|ians?|ans?|ern|ns?|i)$")


def is_claim(sentence: str) -> bool:
    """Whether a sentence claims something: not "Yes!", "Here is a summary:" or "The passage describes two things."."""
    return len(read(sentence)) > 1 and not sentence.rstrip().endswith((":", "：")) and not TALK.match(sentence)


def support(sentence: str, quotes: Sequence[Quote], passage: Quotable) -> Support | None:
    """How the quotes, which are some of the passage's, support the sentence."""
    if not quotes or not _is_statement(sentence, quotes):
        return None
    if any(is_verbatim(sentence, quote.text) for quote in quotes):
        return "verbatim"
    said, first = read(REPORTS.sub("", sentence)), quotes[0]
    there = [word for quote in quotes for word in quote.words]
    known = passage.context.union(word.text for word in there)
    # Of two English sentences `differences` knows what is denied.
    is_english = language_of(sentence) == language_of(first.text) == "en"
    is_refused = (
        not said
        or any(_RESPECTIVELY.search(text) for text in (sentence, first.text))
        or (not is_english and bool(DENIES.search(sentence)) != any(DENIES.search(quote.text) for quote in quotes))
        or _speaks_otherwise(sentence, quotes, passage)
        or _missing_facts(said, there, passage)
        or _adds(sentence, said, quotes)
        or (_is_thin(said, known, passage) and not _is_foreign(sentence, first, said))
        or _is_taken_from_elsewhere(said, known, quotes, passage)
        or _leaves_out(sentence, said, first)
        or _is_misplaced(said, first, passage)
        or any(
            _counts_otherwise(said, known, quote)
            or _has_other_agent(said, quote, passage)
            or _turns_around(said, quote)
            or _is_number_of_another(said, quote, passage)
            or _is_end_of_range(said, quote)
            for quote in quotes
        )
        or _is_of_another_subject(said, quotes, passage)
        or differences(sentence, first, passage)
    )
    return None if is_refused else "paraphrase"


def _adds(sentence: str, said: Sequence[Word], quotes: Sequence[Quote]) -> bool:
    """Whether the sentence denies, doubts, explains, ranks or demands what no quote does, or says more than they."""
    signs = frozenset[str]().union(*(word.signs for quote in quotes for word in quote.words))
    return any(word.signs & _STRONG - signs - _COUNTS[word.kind] for word in said) or any(
        ours.search(sentence) and not any(one.search(quote.text) for quote in quotes) for ours, one in ADDED
    )


def _is_thin(said: Sequence[Word], known: Collection[str], passage: Quotable) -> bool:
    """Whether too few of the words are known: facts count double, and small numbers not at all."""
    weights = [(0 if _is_small_number(word) else 1 + word.is_fact, word.text in known) for word in said]
    share = sum(weight for weight, held in weights if held) / max(1, sum(weight for weight, _ in weights))
    ordinary = _ordinary(said, known, passage)
    return share < (SHARE if len(said) <= _SHORT else SHARE_OF_LONG) or (
        len(ordinary) >= _FEW and sum(ordinary) < SHARE_OF_ORDINARY * len(ordinary)
    )


def _counts_otherwise(said: Sequence[Word], known: Collection[str], quote: Quote) -> bool:
    """Whether a number counts other things than in the quote: "22,338 bits" for "22,338 digits"."""
    mentioned = {word.text for word in said}
    for number, thing in pairwise(said):
        is_counted = thing.kind == "word" and thing.raw.endswith("s") and thing.part == number.part and not thing.links
        if number.kind != "number" or number.unit not in ("", "%") or thing.text in known or not is_counted:
            continue
        for place, one in enumerate(quote.words):
            behind = [other for other in quote.words[place + 1 : place + 3] if other.part == one.part]
            if one.kind == "number" and one.text == number.text and one.raw[-1:].isdigit():
                others = [word for word in behind if word.raw.endswith("s") and word.text not in mentioned]
                return bool(others) or one.unit not in NO_UNITS
    return False


def _has_other_agent(said: Sequence[Word], quote: Quote, passage: Quotable) -> bool:
    """Whether a name of the sentence does what in the quote is done by another one: "built by John Miller"."""
    names, theirs = names_of(said, passage), quote.words
    for place, (doer, verb) in enumerate(pairwise(said)):
        behind = said[place + 2 : place + 3]
        is_active = place in names and place + 1 not in names and verb.part == doer.part and not verb.links
        if not is_active or verb.joins or any("by" in word.links for word in behind):
            continue
        for at, one in enumerate(theirs[:-1]):
            if one.text == verb.text and theirs[at + 1].kind == "name" and "by" in theirs[at + 1].links:
                part = theirs[at + 1].part
                agents = {word.text for word in theirs[at + 1 :] if word.kind == "name" and word.part == part}
                if agents.isdisjoint(word.text for word in said[: place + 1]):
                    return True
    return False


def _turns_around(said: Sequence[Word], quote: Quote) -> bool:
    """Whether what stands before and behind "than" has changed places."""
    sides = []
    for some in (said, quote.words):
        place = next((at for at, word in enumerate(some) if "than" in word.links), len(some))
        sides += [{word.text for word in some[:place]}, {word.text for word in some[place : place + _WINDOW]}]
    before, behind, earlier, later = sides
    return bool((behind - later) & earlier and (later - behind) & before)


def _is_end_of_range(said: Sequence[Word], quote: Quote) -> bool:
    """Whether one end of a range stands for the whole: "in 1887" for "from 1887 to 1889"."""
    numbers = {word.text: word for word in said if word.kind == "number"}
    for one, other in pairwise(quote.words):
        if one.kind == other.kind == "number" and one.text != other.text and "to" in other.links:
            held = [numbers[word.text] for word in (one, other) if word.text in numbers]
            is_bare = len(held) == 1 and not (held[0].times or held[0].bounds)
            if is_bare and _kind(one) == _kind(other) and held[0].links.isdisjoint(("from", "to", "between")):
                return True
    return False


def _is_of_another_subject(said: Sequence[Word], quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether the first word of a short sentence stands in a quote, but in none that has its number."""
    subject, texts = said[0].text, [({word.text for word in quote.words}, quote.text) for quote in quotes]
    if len(said) > _SHORT or subject in passage.context or not any(subject in there for there, _ in texts):
        return False
    numbers = [word.text for word in said[1:] if word.kind == "number" and not _is_small_number(word)]
    holding = [[(there, text) for there, text in texts if number in there] for number in numbers]
    return any(
        some and all(subject not in there and not ANAPHOR.search(text) for there, text in some) for some in holding
    )


def _is_number_of_another(said: Sequence[Word], quote: Quote, passage: Quotable) -> bool:
    """Whether in a list a number stands with another name, and a name of the sentence with another number."""
    numbers = {word.text: word for word in said if word.kind == "number"}
    names = {said[place].text for place in names_of(said, passage)}
    parts: dict[int, list[Word]] = defaultdict(list)
    for word in quote.words:
        parts[word.part].append(word)
    named = [part for part in parts.values() if any(word.text in names for word in part)]
    strange = [part for part in parts.values() if part not in named and any(word.kind == "name" for word in part)]
    return any(
        one.text in numbers and other.kind == "number" and other.text not in numbers and _kind(one) == _kind(other)
        for one in (word for part in strange for word in part if word.kind == "number")
        if not any(word.text == one.text for part in named for word in part)
        for other in (word for part in named for word in part)
    )


def _leaves_out(sentence: str, said: Sequence[Word], quote: Quote) -> bool:
    """Whether a sentence takes words from a quote, but not who says them, a condition, a doubt or a denial."""
    coverage, mentioned = _coverage(said, quote), {word.text for word in said}
    if coverage >= 0.5 and any(theirs.search(quote.text) and not ours.search(sentence) for theirs, ours in LEFT_OUT):
        return True
    signs = frozenset[str]().union(*(word.signs for word in quote.words if word.text in mentioned))
    if any(sign in signs and not ours.search(sentence) for sign, ours in LOST.items()):
        return True
    chain, denials = _chain(said, quote.words), _denials(sentence)
    if len(chain) < 0.6 * len(said) or coverage < 0.7 or denials - _denials(quote.text):
        return False
    pairs = [(at, one, after, other) for (at, one), (after, other) in pairwise(chain) if other - one <= 2]
    # A sentence that denies something itself leaves out a denial only where it has another word in its place.
    gaps = [
        quote.words[one + 1 : other + 1]
        for at, one, after, other in pairs
        if not denials or (after - at == 2 == other - one and "not" not in said[at + 1].signs)
    ]
    return any("not" in word.signs or (not denials and DENIED.search(word.raw)) for gap in gaps for word in gap)


def _denials(text: str) -> set[str]:
    return {match[0].lower() for match in DENIED.finditer(text)}


def _coverage(said: Sequence[Word], quote: Quote) -> float:
    there = {word.text for word in quote.words}
    return sum(word.text in there for word in said) / max(1, len(said))


def _is_taken_from_elsewhere(
    said: Sequence[Word], known: Collection[str], quotes: Sequence[Quote], passage: Quotable
) -> bool:
    """Whether a word of the sentence stands in the passage, but in none of its quotes.

    What a pronoun of a quote means may stand in the two sentences before it.
    """
    if len(quotes) >= MOST_QUOTES:
        return False
    before: set[str] = set()
    for place, quote in enumerate(passage.quotes):
        if quote in quotes and ANAPHOR.search(quote.text):
            before |= {word.text for one in passage.quotes[max(0, place - 2) : place] for word in one.words}
    elsewhere = {word.text for quote in passage.quotes for word in quote.words} - before
    taken = [word for word in said if word.text in elsewhere and word.text not in known and not _is_small_number(word)]
    return len(taken) >= (1 if len(said) <= _OF_ONE_FACT else 2)


def _is_misplaced(said: Sequence[Word], quote: Quote, passage: Quotable) -> bool:
    """Whether a number or name stands where the quote has another: there the words around it fit better."""
    theirs = quote.words
    coverage = _coverage(said, quote)
    names, others = names_of(said, passage), names_of(theirs, passage)
    for place, word in enumerate(said):
        is_number = word.kind == "number"
        mates = [at for at, one in enumerate(theirs) if one.text == word.text]
        if not mates or not (is_number or place in names) or coverage < (0.6 if is_number else 0.9):
            continue
        if not is_number and any(_goes_on(said, place, theirs, at) for at in mates):
            continue
        best = max(_fit(said, place, theirs, at) for at in mates)
        for at, one in enumerate(theirs):
            if one.text == word.text or (one.kind == "number") != is_number:
                continue
            is_rival = (
                _kind(one) == _kind(word) or not one.unit or not word.unit
                if is_number
                else at in others and all(abs(at - mate) > 1 for mate in mates)
            )
            if is_rival and _fit(said, place, theirs, at) > best + (2.4 if is_number else 0.9):
                return True
    return False


def _next(some: Sequence[Word], at: int) -> str:
    """The word behind, in the same part; empty if there is none."""
    behind = some[at + 1 : at + 2]
    return behind[0].text if behind and behind[0].part == some[at].part else ""


def _fit(said: Sequence[Word], place: int, theirs: Sequence[Word], at: int) -> float:
    """How many of the words around one place stand around the other; on the other side they count half."""
    (before, after), (earlier, later) = _window(said, place), _window(theirs, at)
    return len(before & earlier) + len(after & later) + 0.5 * (len(before & later) + len(after & earlier))


def _window(some: Sequence[Word], at: int) -> tuple[set[str], set[str]]:
    """The words before and behind, up to the next comma."""
    near = range(max(0, at - _WINDOW), min(len(some), at + _WINDOW + 1))
    own = [place for place in near if some[place].part == some[at].part]
    own = [place for place in own if some[at].kind == "number" or some[place].kind != "number"]
    return {some[place].text for place in own if place < at}, {some[place].text for place in own if place > at}


def is_verbatim(sentence: str, quote: str) -> bool:
    """Whether the words of the sentence are a run of the quote's, and nothing beside them changes their meaning.

    The run begins where the quote begins, and ends where a part of the quote ends that no condition, denial or speaker
    follows. A question makes no statement.
    """
    texts = (text.replace("’", "'").lower() for text in (sentence, quote))
    said, theirs = (_TOKENS.findall(text) for text in texts)
    if len(words(sentence)) < LEAST_WORDS or theirs[-1:] == ["?"]:
        return False
    said = said[:-1] if said[-1] in _EDGES else said
    behind = theirs[len(said) :]
    return theirs[: len(said)] == said and (not behind or behind[0] in _EDGES) and not CHANGES.search(" ".join(behind))


def _is_statement(sentence: str, quotes: Sequence[Quote]) -> bool:
    asked = [
        text.rstrip(" \"'”’)").endswith(("?", "？", "؟")) for text in (sentence, *(quote.text for quote in quotes))
    ]
    if asked[0] or all(asked[1:]) or len(sentence) > LONGEST_SENTENCE or _LINK.search(sentence):
        return False
    return not _OWN.search(_SAID.sub("", sentence)) or any(_OWN.search(quote.text) for quote in quotes)


def _speaks_otherwise(sentence: str, quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether the sentence names a speaker who does not speak in the quotes, beside them or in the headings."""
    named = SPEAKER.search(sentence)
    if named is None:
        return False
    speaker = re.sub(r"['’]s?$", "", next(filter(None, named.groups())).split()[-1].rstrip(".")).lower()
    places = [place for place, one in enumerate(passage.quotes) if one in quotes]
    beside = {near for place in places for near in (place - 1, place, place + 1) if 0 <= near < len(passage.quotes)}
    texts = [passage.quotes[place].text.lower() for place in beside]
    near = " | ".join(text[max(0, m.start() - 50) : m.end()] for text in texts for m in SAYING.finditer(text))
    return not re.search(rf"(?<!\w){re.escape(speaker)}(?!\w)", near) and passage.context.isdisjoint(stems([speaker]))


def _is_foreign(sentence: str, quote: Quote, said: Sequence[Word]) -> bool:
    """Whether a sentence in another language than its quote has enough facts to be recognised.

    Not in German and in scripts without capitals, where names look like other words.
    """
    languages = {language_of(sentence), language_of(quote.text)}
    is_readable = len(languages) == 2 and "de" not in languages and not _UNCASED.search(sentence)
    return is_readable and sum(word.is_fact for word in said) >= 2


def _is_small_number(word: Word) -> bool:
    return word.kind == "number" and word.raw.lower() in _SMALL


def _missing_facts(said: Sequence[Word], there: Sequence[Word], passage: Quotable) -> list[Word]:
    """The numbers and names that do not stand in the quotes, the headings or the question."""
    known = passage.context.union(word.text for word in there)
    numbers = [word for word in there if word.kind == "number"]
    units = {unit_named(word.raw.lower()) for word in there if word.kind == "word"}
    names = names_of(said, passage)

    def is_held(place: int, word: Word) -> bool:
        if word.kind == "number":
            same = [other for other in numbers if other.text == word.text]
            return (
                (_is_small_number(word) and (bool(same) or not _is_counted_otherwise(said, place, there)))
                or any(same_number(word, other) or (not other.unit and word.unit in units) for other in same)
                or (word.text in passage.context and word.unit in NO_UNITS)
            )
        is_measure = "per" in word.links
        return word.text in known or not (is_measure or place in names) or (not is_measure and _has_form(word, known))

    return [word for place, word in enumerate(said) if not is_held(place, word)]


def _is_counted_otherwise(said: Sequence[Word], place: int, there: Sequence[Word]) -> bool:
    """Whether another number stands before the same word: "three lanes" for "four lanes"."""
    counted = {word.text for word in said[place + 1 : place + 2] if word.kind == "word"}
    return any(one.kind == "number" and after.text in counted for one, after in pairwise(there))


def _has_form(word: Word, known: Collection[str]) -> bool:
    """Whether another form of a name is known: "Canadian" for "Canada", "TV" for "television"."""
    root = _DEMONYM.sub("", word.text)
    if len(root) < 3:
        return False
    return any(
        one.startswith(root)
        and len(one) <= len(root) + 4
        and (one == root or root != word.text or _DEMONYM.search(one))
        for one in known
    )


MOST_CHARS = 200_000
"""The most characters of a page that are looked through."""

_PASSAGE_TOKENS = 256
_MOST_PASSAGES = 4


def judged(sentences: Sequence[str], markdown: str, title: str) -> list[tuple[str, str]]:
    """For each sentence `verbatim`, `paraphrase`, `contradicted` or `not_found`, and the page's words for it.

    The words are empty where nothing was found.
    """
    passages = chunk(markdown[:MOST_CHARS], _PASSAGE_TOKENS)
    found: list[tuple[str, str]] = []
    for sentence in sentences:
        scores = score_passages(query_terms(sentence), passages)
        best = sorted(range(len(passages)), key=lambda place: -scores[place])[:_MOST_PASSAGES]
        headings = [" > ".join(passages[place].section_path) for place in best]
        page = Quotable.of("\n\n".join(passages[place].text for place in best), title, *headings)
        quotes = best_quotes(sentence, page.quotes)
        if how := support(sentence, quotes, page):
            said = {word.text for word in read(sentence)} - page.context
            # The quote with most words of the sentence that the headings lack.
            telling = max(quotes, key=lambda quote: len(said.intersection(word.text for word in quote.words)))
            found.append((how, telling.shown))
        else:
            other = next((quote.shown for quote in page.quotes if contradicts(sentence, quote, page)), "")
            found.append(("contradicted" if other else "not_found", other))
    return found


def contradicts(claim: str, quote: Quote, passage: Quotable) -> bool:
    """Whether the quote says the same of the same subject with one other number or date, or denies it.

    All names and nearly all words of the claim must stand in the quote, and no condition or speaker around them.
    A rounded number and "over 300" for 330 contradict nothing.
    """
    said, theirs = read(REPORTS.sub("", claim)), quote.words
    if {word.text for word in said}.isdisjoint(word.text for word in theirs) or not _is_statement(claim, [quote]):
        return False
    if any(HEDGES.search(text) for text in (claim, quote.text)):
        return False
    numbers = [word for word in theirs if word.kind == "number"]
    others = [word for word in said if word.kind == "number" and not any(same_number(word, one) for one in numbers)]
    if any(word.kind != "number" for word in _missing_facts(said, theirs, passage)):
        return False
    known = passage.context.union(word.text for word in theirs)
    ordinary = [word.text in known for word in said if word.kind == "word" and not is_opposed(word, theirs)]
    if ordinary.count(False) > (1 - NEAR_COPY) * len(ordinary) or sum(ordinary) + len(names_of(said, passage)) < 2:
        return False
    found = differences(claim, quote, passage)
    if not others:
        return "negation" in found and found <= {"negation", "operator"}
    return len(others) == 1 and found <= {"number"} and is_other_number(others[0], said, theirs)
