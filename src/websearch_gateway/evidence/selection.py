"""Chooses the sentences that together answer a question: at most four, the deciding one first.

The order of the sentences says how likely each one answers. A further sentence is quoted while the chance that it
answers, and none before it does, is worth its place. So a clear best sentence stands alone, and long pages, on which
the order is less sure, get more. One logistic model gives this chance in every language; `bench.fit_quotes` fits it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from websearch_gateway.evidence.passages import inverse_document_frequency
from websearch_gateway.evidence.ranking import (
    Fitted,
    Question,
    Ranked,
    Signals,
    fitted,
    terms_in,
    weighted,
)
from websearch_gateway.evidence.sentences import DANGLING, Candidate

MOST_SENTENCES = 4
WORTH = 0.04
"""The least chance that a further sentence answers and none before it does. With .08 the known answer is missing from
.02 more of the answers, with .03 more quotes come from elsewhere: `bench/experiments.md`."""
CONSIDERED = 6
"""How many of the best sentences that are left compete for the next place."""
SAME = 0.8
"""The share of the words of the shorter of two sentences that the other one has if it says the same."""
FARTHEST_NOUN = 3
"""The largest distance, in sentences, at which to look for the noun that a pronoun refers to."""

Run = list[Candidate]
"""Neighbouring sentences of a paragraph, in order."""


def choose(
    question: Question,
    sentences: Sequence[Candidate],
    ranked: Ranked,
    room: int,
    overhead: int,
    numbers: Fitted | None = None,
) -> list[Run]:
    """The quotes that answer, the one with the deciding sentence first and the others in the order of their pages.

    Neighbours form one quote. A sentence that points at one before it comes with that one. If that one is not near, it is
    left out, except for the deciding one.

    Args:
        room: the most characters of all quotes together.
        overhead: the characters that each quote costs in addition to its own.
        numbers: other fitted numbers than those that ship.
    """
    weights = (numbers or fitted()).choice
    selection = Selection(question, sentences, ranked, room, overhead)
    missed = 1.0
    while len(selection.chosen) < MOST_SENTENCES:
        open_places = selection.open_places()
        if not open_places:
            break
        chances = {at: _chance(selection.values(at), weights) for at in open_places}
        best = max(chances, key=chances.__getitem__)
        if selection.chosen and missed * chances[best] < WORTH:
            break
        selection.take(best)
        missed *= 1 - chances[best]
    return selection.runs()


@dataclass(slots=True)
class Selection:
    """The sentences chosen so far."""

    question: Question
    sentences: Sequence[Candidate]
    ranked: Ranked
    room: int
    overhead: int
    chosen: list[Candidate] = field(default_factory=list)
    _shares: dict[int, float] = field(init=False)
    _rarity: dict[str, float] = field(init=False)
    _at: dict[tuple[int, tuple[int, int]], Candidate] = field(init=False)
    _told: frozenset[str] = frozenset()
    _tried: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        scores = self.ranked.scores
        best = max(scores.values(), default=0.0)
        odds = {at: math.exp(score - best) for at, score in scores.items()}
        whole = sum(odds.values())
        self._shares = {at: odd / whole for at, odd in odds.items()}
        words = [dict.fromkeys(candidate.words, 1) for candidate in self.sentences]
        self._rarity = inverse_document_frequency(self.question.terms, words)
        self._at = {}
        for candidate in self.sentences:
            self._at[candidate.document, candidate.order] = candidate

    def open_places(self) -> list[int]:
        """The best sentences that may come next, by their index: with room, and not said already. The first has no rival."""
        rivals = CONSIDERED if self.chosen else 1
        open_places: list[int] = []
        for at in self.ranked.order:
            if at not in self._tried and self._may_follow(self.sentences[at]):
                open_places.append(at)
            if len(open_places) == rivals:
                break
        return open_places

    def _may_follow(self, candidate: Candidate) -> bool:
        """Whether it has room, together with those that explain its beginning, and is not said already."""
        run = self._quoted_for(candidate)
        if run is None or self._is_said(candidate):
            return False
        added = [sentence for sentence in run if sentence not in self.chosen]
        is_short = not self.chosen or len(self.chosen) + len(added) <= MOST_SENTENCES
        return is_short and self._cost([*self.chosen, *added]) <= self.room

    def _is_said(self, candidate: Candidate) -> bool:
        """Whether one that is chosen has most of its words, or it has most of that one's."""
        own = frozenset(candidate.own)
        for sentence in self.chosen:
            quoted = frozenset(sentence.own)
            if len(own & quoted) >= SAME * min(len(own), len(quoted)):
                return True
        return False

    def values(self, at: int) -> Signals:
        """What tells whether a sentence answers if none of those chosen does.

        share: the log odds of its part of what the scores leave to the sentences that are not chosen.
        adds: the words of the question that it has, and neither those chosen nor their headings; rarer ones weigh more.
        passage: the score of its passage, as a share of that of the best sentence.
        beside: 1 if it stands beside one that is chosen.
        lacks: 1 if the question asks for a number or a date, and it has none.
        further: 1 if one is chosen.
        """
        candidate = self.sentences[at]
        untried = 1 - sum(self._shares[tried] for tried in self._tried)
        share = min(max(self._shares[at] / max(untried, 1e-9), 1e-4), 1 - 1e-4)
        new_terms = terms_in(self.question, candidate.own) - self._told
        adds = sum(self._rarity[term] for term in new_terms)
        best = self.sentences[self.ranked.order[0]]
        is_beside = any(_are_neighbours(candidate, sentence) for sentence in self.chosen)
        lacks_kind = self.question.kind is not None and at not in self.ranked.with_kind
        return {
            "bias": 1.0,
            "share": math.log(share / (1 - share)),
            "adds": adds / (sum(self._rarity.values()) or 1.0),
            "passage": candidate.passage / best.passage,
            "beside": float(is_beside),
            "lacks": float(lacks_kind),
            "further": float(bool(self.chosen)),
        }

    def take(self, at: int) -> None:
        """Choose a sentence, and those that explain its beginning."""
        self._tried.add(at)
        candidate = self.sentences[at]
        run = self._quoted_for(candidate) or [candidate]
        added = [sentence for sentence in run if sentence not in self.chosen]
        tokens = (token for sentence in added for token in (*sentence.own, *sentence.above))
        self._told |= terms_in(self.question, tokens)
        self.chosen += [candidate, *(sentence for sentence in added if sentence is not candidate)]

    def runs(self) -> list[Run]:
        """The quotes, the one with the first chosen sentence before the others."""
        runs = _runs(self.chosen)
        return sorted(runs, key=lambda run: self.chosen[0] not in run)

    def _cost(self, sentences: Sequence[Candidate]) -> int:
        """The characters of the answer that they take."""
        lengths = [len(joined(run)) for run in _runs(sentences)]
        return sum(lengths) + self.overhead * len(lengths)

    def _quoted_for(self, candidate: Candidate) -> Run | None:
        """The sentences that are quoted for one. Better the deciding one with a pronoun alone than another one."""
        run = self._from_its_noun(candidate)
        if self.chosen or (run and self._cost(run) <= self.room):
            return run
        return [candidate]

    def _from_its_noun(self, candidate: Candidate) -> Run | None:
        """The sentences from the one that `candidate` points at, to `candidate`; None if that is not near."""
        run = [candidate]
        while DANGLING.match(run[0].text):
            place, number = run[0].order
            before = self._at.get((candidate.document, (place, number - 1)))
            is_near = len(run) <= FARTHEST_NOUN and run[0].before
            if before is None or not is_near or not _are_neighbours(before, run[0]):
                return None
            run.insert(0, before)
        return run


def _chance(values: Signals, weights: Signals) -> float:
    return 1 / (1 + math.exp(-weighted(values, weights)))


def _runs(sentences: Sequence[Candidate]) -> list[Run]:
    """The sentences in the order of their pages, neighbours together."""
    ordered = sorted(sentences, key=lambda sentence: (sentence.document, sentence.order))
    runs = [ordered[:1]] if ordered else []
    for last, sentence in pairwise(ordered):
        if _are_neighbours(last, sentence):
            runs[-1].append(sentence)
        else:
            runs.append([sentence])
    return runs


def _are_neighbours(first: Candidate, second: Candidate) -> bool:
    """Whether two sentences stand side by side in a paragraph; each table row is a quote of its own."""
    are_prose = not (first.scrap or second.scrap)
    is_near = abs(first.order[1] - second.order[1]) == 1
    return are_prose and is_near and first.paragraph is second.paragraph


def joined(run: Run) -> str:
    """The text of neighbours. Scripts without spaces have none between sentences."""
    text = ""
    for sentence in run:
        if text and text[-1] not in "。！？｡":
            text += " "
        text += sentence.text
    return text
