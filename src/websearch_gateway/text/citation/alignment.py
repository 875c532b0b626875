"""Checks whether a statement is made of one sentence of its source: with the same words, order and meaning.

A writer may leave parts out, move one phrase, turn a passive sentence into an active one, and use synonyms. A statement
does not pass with an added word, with another preposition or operator (a denial, a doubt, an amount), or if it combines
parts of two statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from itertools import islice, pairwise

from websearch_gateway.text.citation.calendar import MONTHS
from websearch_gateway.text.citation.operators import (
    HARMLESS_JOINS,
    JOINING,
    MAY_BE_LEFT_OUT,
    PERSONAL,
    PRONOUNS,
)
from websearch_gateway.text.citation.wording import Word

_MOST_PAIRS = 1000
_REACH = 60
"""The number of earlier pairs among which a chain looks for its previous pair."""

Pair = tuple[int, int]
"""The index of a word in the claim, and that of its match in the source."""


def is_made_of(
    claim: Sequence[Word], source: Sequence[Word], topic: frozenset[str] = frozenset(), *, whole: bool = False
) -> bool:
    """Whether the source sentence makes the statement of the claim; both are results of `wording`.

    Args:
        topic: the senses of the words that the source's pronouns, or its shortened subject, may refer to.
        whole: the claim must begin with the first word of the source.
    """
    vocabulary = frozenset[str]().union(*(word.senses for word in source), topic)
    if any(word.senses.isdisjoint(vocabulary) for word in claim[:-1]):
        return False
    # A synonym elsewhere in the sentence must not hide that the word itself has moved.
    return any(_fits(claim, source, topic, literal, whole=whole) for literal in (False, True))


def _fits(claim: Sequence[Word], source: Sequence[Word], topic: frozenset[str], literal: bool, *, whole: bool) -> bool:
    chain = _chain(claim, source, range(len(claim) - 1), range(len(source) - 1), literal)
    if not chain:
        return False
    named = _named_for_pronouns(claim, source, chain, topic)
    matched = {place for place, _ in chain} | named
    rest = [place for place in range(len(claim) - 1) if place not in matched]
    if not rest:
        return _is_kept(claim, source, chain, [], whole=whole)
    if rest[-1] - rest[0] != len(rest) - 1:
        return False
    taken = {place for _, place in chain}
    phrase = _chain(claim, source, rest, [place for place in range(len(source) - 1) if place not in taken])
    if len(phrase) != len(rest):
        return False
    if chain[-1][0] - chain[0][0] == len(chain) - 1 and not _may_move(claim, source, phrase):
        chain, phrase = phrase, chain
    return _may_move(claim, source, phrase) and _is_kept(claim, source, chain, phrase, whole=whole)


def _chain(
    claim: Sequence[Word], source: Sequence[Word], here: Sequence[int], there: Sequence[int], literal: bool = False
) -> list[Pair]:
    """The longest match of words in the same order, neighbours preferred; if `literal`, without synonyms."""
    places: dict[str, list[int]] = {}
    for place in there:
        for sense in source[place].senses:
            places.setdefault(sense, []).append(place)
    every = (
        (one, other)
        for one in here
        for other in sorted({place for sense in claim[one].senses for place in places.get(sense, ())})
        if claim[one].matches(source[other]) and not (literal and claim[one].stem != source[other].stem)
    )
    pairs = list(islice(every, _MOST_PAIRS))
    best: list[tuple[float, int]] = []
    for one, other in pairs:
        top = (1.0, -1)
        for index in range(max(0, len(best) - _REACH), len(best)):
            score, (before, matched) = best[index][0], pairs[index]
            if before < one and matched < other:
                distance = other - matched
                reached = score + 1.0 + (0.4 if distance == 1 else 0.0) - 0.02 * min(distance, 9)
                top = max(top, (reached, index))
        best.append(top)
    index = max(range(len(pairs)), key=lambda place: best[place][0], default=-1)
    found: list[Pair] = []
    while index >= 0:
        found.append(pairs[index])
        index = best[index][1]
    return found[::-1]


def _named_for_pronouns(
    claim: Sequence[Word], source: Sequence[Word], chain: Sequence[Pair], topic: frozenset[str]
) -> set[int]:
    """The indices of the claim's words that name a thing for which the source has a pronoun or a shorter name."""
    found: set[int] = set()
    first, place = chain[0]
    if place == 0 and all(not word.senses.isdisjoint(topic) and not word.prepositions for word in claim[:first]):
        found |= set(range(first))
    for (one, here), (other, there) in pairwise(chain):
        between = claim[one + 1 : other]
        if there == here + 1 and between and not PERSONAL.isdisjoint(source[there].before):
            known = all(not word.senses.isdisjoint(topic) and not word.operators for word in between)
            found |= set(range(one + 1, other)) if known else set()
    return found


def _is_kept(
    claim: Sequence[Word],
    source: Sequence[Word],
    chain: Sequence[Pair],
    phrase: Sequence[Pair],
    *,
    whole: bool,
) -> bool:
    """Whether every step along the chain keeps the meaning; `phrase` is the moved phrase, which is ignored."""
    if not chain or (whole and chain[0][1] != 0) or not _keeps_owners(claim, source, {*chain, *phrase}):
        return False
    moved = {place for _, place in phrase}
    rest = [word for place, word in enumerate(source) if place not in moved]
    new_place = {
        place: index for index, place in enumerate(place for place in range(len(source)) if place not in moved)
    }
    last = -1
    for one, other in chain:
        at = new_place[other]
        if not _keeps_sense(claim[one], rest, last, at):
            return False
        last = at
    end, following = claim[-1], rest[last + 1]
    return end.prepositions <= following.prepositions and (not end.operators or end.operators == following.operators)


def _keeps_owners(claim: Sequence[Word], source: Sequence[Word], pairs: Set[Pair]) -> bool:
    """Whether each possessive keeps its noun: a statement about `Ann's insurer` is not one about Ann."""
    return not any(
        source[there].owns and not claim[here].owns and (here + 1, there + 1) not in pairs for here, there in pairs
    )


def _keeps_sense(word: Word, source: Sequence[Word], last: int, at: int) -> bool:
    """Whether `word`, matched at `at`, follows the match at `last` (-1: none) with the meaning of the source."""
    match, skipped = source[at], source[last + 1 : at]
    joins = JOINING & frozenset(word.before)
    there = {join for one in (*skipped, match) for join in one.before}
    if not _same_operators(word, source, last, at) or joins - HARMLESS_JOINS - there:
        return False
    if last >= 0 and not skipped:
        return word.prepositions == match.prepositions
    if skipped and not _may_be_left_out(source, last, at):
        return False
    if last < 0 and not PRONOUNS.isdisjoint(word.before[:2]):
        return True
    return word.prepositions == _group_prepositions(source, at, last)


def _same_operators(word: Word, source: Sequence[Word], last: int, at: int) -> bool:
    parts = {source[at].part, source[last].part if last >= 0 else -1}
    of_source = Counter(
        operator
        for place in range(last + 1, at + 1)
        if source[place].part in parts
        for operator in source[place].operators
    )
    of_claim = Counter(word.operators)
    return of_claim <= of_source and all(operator in MAY_BE_LEFT_OUT for operator in (of_source - of_claim))


def _may_be_left_out(source: Sequence[Word], last: int, at: int) -> bool:
    """Whether the words between two matches are an aside, a phrase, an attribute or another part of an enumeration."""
    match = source[at]
    skipped = source[last + 1 : at]
    head = [word for word in skipped if word.part == match.part]
    if head and skipped[-1].figure and not match.before and not match.figure and match.text not in MONTHS:
        return False  # `second largest` is not `largest`
    if last < 0:
        return True
    if match.part != source[last].part:
        tail = any(word.part == source[last].part for word in skipped)
        return not (tail and head)
    opening = frozenset(skipped[0].before)
    is_phrase = bool(skipped[0].prepositions or opening & JOINING)
    is_attribute = not any(word.before for word in (*skipped[1:], match))
    return is_phrase or is_attribute or not frozenset(("and", "or", "but")).isdisjoint(match.before)


def _group_prepositions(source: Sequence[Word], at: int, last: int) -> frozenset[str]:
    """The prepositions before the group of words that contains this one."""
    while at > last + 1 and not source[at].before:
        at -= 1
    return source[at].prepositions


def _may_move(claim: Sequence[Word], source: Sequence[Word], phrase: Sequence[Pair]) -> bool:
    """Whether the words are a phrase with its preposition at the edge of a clause, in the claim and in the source."""
    steps = pairwise(phrase)
    if not all(_keeps_sense(claim[one], source, last, at) for (_, last), (one, at) in steps):
        return False
    (first, first_place), (last, last_place) = phrase[0], phrase[-1]
    prepositions = claim[first].prepositions
    return (
        (bool(prepositions) or "all" in claim[first].operators)  # `each month`
        and prepositions == _group_prepositions(source, first_place, -1)
        and claim[first].operators == source[first_place].operators
        and (first == 0 or last == len(claim) - 2 or _edges(claim, first, last) == 2)
        and _edges(source, first_place, last_place) > 0
    )


def _edges(sentence: Sequence[Word], first: int, last: int) -> int:
    """The number of ends of these words that are also ends of a clause: 0, 1 or 2."""
    begins = first == 0 or sentence[first].part != sentence[first - 1].part
    ends = last == len(sentence) - 2 or sentence[last + 1].part != sentence[last].part
    return begins + ends
