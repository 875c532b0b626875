"""Finds the sentences of some pages that answer a question best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from websearch_gateway.text.candidates import DANGLING, PRONOUN, Candidate, Document, Features, Question, candidates
from websearch_gateway.text.language import query_terms
from websearch_gateway.text.multilingual import ranked_by_letters
from websearch_gateway.text.reranking import Reranked, rerank

if TYPE_CHECKING:
    from websearch_gateway.text.reranking import Encode


# The numbers below were fitted on questions over encyclopedia articles: the weights by a softmax over the sentences of
# a page, the gate by a logistic regression over pages that answer and unrelated pages.
_OWN, _COVERED, _BESIDE, _PHRASES, _PASSAGE = 8.7, 9.3, 5.9, 2.4, 12.1
_KIND, _OTHER_KIND, _LENGTH, _NAMED, _SCRAP = 0.9, -1.5, -4.0, 0.5, -1.0

_GATE = (4.5, 4.9, 11.5, 5.6, 2.4, -6.3)
"""The weights of the gate and its bias, for English."""

CLOSE = 4.5
"""The largest distance in score from the best sentence at which another one is also quoted."""

CLOSE_RERANKED, CLOSE_BY_LETTERS = 3.0, 5.0
"""The same for the scores of `reranking`, and for those of other languages."""

BESIDE_BEST, AFTER_BEST = 1.0, 1.0
"""The bonus of the score for a sentence of the best one's paragraph, and a further one for the sentence right after."""

MOST = 4
"""The most sentences of an answer, besides those that they point at."""

NEAREST = 3
"""The same if none probably answers."""

ENOUGH = 0.28
"""The minimum share of the question's words that the best sentence and its context must contain to be quoted."""

ENOUGH_OF_AN_ANSWER = 0.2
"""The same in English for a sentence that probably answers: without it "It was lit in 1901." of a page on fireworks
would tell when a lighthouse was lit. It costs one of 260 questions that a page answers."""

ENOUGH_BIGRAMS = 0.1
"""`ENOUGH` for scripts split into bigrams: many of these join the end of one word to the beginning of the next."""

_IN_BIGRAMS = frozenset(("zh", "ja", "ko", "th"))

_ANTECEDENT = 3
"""The largest distance, in sentences, at which to look for the noun that a pronoun refers to."""

RIVAL = 1
"""A further sentence may have this many words of the question less than the best one."""

SAME = 0.75
"""Two sentences are duplicates if they share this part of the words of the shorter one."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence without its Markdown marks; `document` is the index of its page."""

    text: str
    document: int


@dataclass(frozen=True, slots=True)
class Findings:
    """The sentences closest to a question, the best first and the others in the order of their pages.

    `is_answer`: whether they probably answer it. `language` is that of the question, ISO 639-1.
    """

    sentences: tuple[Evidence, ...]
    is_answer: bool
    language: str


def find_evidence(
    query: str,
    documents: Sequence[Document],
    max_characters: int,
    overhead: int = 0,
    encode: Encode | None = None,
    hedge: int = 0,
    preferred: Sequence[int] = (),
) -> Findings:
    """The sentences that answer `query`, without duplicates; empty if none is close enough.

    They come from prose, lists and tables, never from headings, code or runs of links. A sentence that points at one
    before it ("It is ...", "Under the deal ...") is quoted together with that one, or another is taken. A further one
    is quoted only if it adds a word of the question or the kind of thing asked for; none only repeats the question.

    Args:
        max_characters: the most characters of all sentences together.
        overhead: the characters that each sentence costs in addition to its own.
        encode: gives the vectors of words, which are used for English questions.
        hedge: the characters to keep free if no sentence probably answers.
        preferred: the numbers of `shortlist` in a better order.
    """
    question, found, features, ranked = _read(query, documents, encode)
    is_english = question.language == "en"
    ranked = _preferring(ranked, preferred)
    if not ranked.order:
        return Findings((), False, question.language)
    best = ranked.order[0]
    by_words_alone = is_english and encode is None
    if not _is_near(question, found[best], is_certain=ranked.is_answer and not by_words_alone):
        return Findings((), False, question.language)
    close = CLOSE_BY_LETTERS if not is_english else CLOSE if encode is None else CLOSE_RERANKED
    near = [at for at in ranked.order if ranked.scores[at] >= ranked.scores[best] - close]
    if not any(features[at].kind > 0 for at in near):
        near += [at for at in ranked.order if features[at].kind > 0][:1]
    most, room = (MOST, max_characters) if ranked.is_answer else (NEAREST, max_characters - hedge)
    # In other languages endings and compounds hide too many words of the question to tell what a sentence adds.
    quotes = _Quotes(question, found, room, overhead, most, strict=is_english and ranked.is_answer)
    for at in near:
        quotes.add(found[at], has_kind=features[at].kind > 0)
    if not quotes.runs:  # better a pronoun without its noun than no quote
        quotes.take([found[best]])
    first, *others = quotes.runs or [[]]
    read = [first, *sorted(others, key=lambda run: (run[0].document, run[0].order))] if first else []
    told = tuple(Evidence(_joined(run), run[0].document) for run in read)
    return Findings(told, ranked.is_answer, question.language)


def shortlist(
    query: str, documents: Sequence[Document], most: int, encode: Encode | None = None
) -> list[tuple[int, str]]:
    """The number and text of the sentences that `find_evidence` would choose from, best first, at most `most`.

    The text has the sentence before one that begins with a pronoun.
    """
    _, found, _, ranked = _read(query, documents, encode)
    best = [(at, found[at]) for at in ranked.order[:most]]
    return [
        (at, f"{one.before} {one.text}" if one.before and PRONOUN.match(one.text) else one.text) for at, one in best
    ]


def _read(
    query: str, documents: Sequence[Document], encode: Encode | None
) -> tuple[Question, Sequence[Candidate], Sequence[Features], Reranked]:
    question = Question.of(query)
    found = candidates(question.terms, question.language, documents)
    features = question.features(found)
    return question, found, features, _ranked(question, found, features, encode)


def _preferring(ranked: Reranked, preferred: Sequence[int]) -> Reranked:
    """The ranking with the preferred sentences in their order; the best place has the best score all the same."""
    first = ranked.order[: len(preferred)]
    if set(first) != set(preferred):
        return ranked
    scores = {**ranked.scores, **{at: ranked.scores[old] for at, old in zip(preferred, first, strict=True)}}
    return ranked._replace(order=[*preferred, *ranked.order[len(first) :]], scores=scores)


def _ranked(
    question: Question, found: Sequence[Candidate], features: Sequence[Features], encode: Encode | None
) -> Reranked:
    if question.language != "en":
        return ranked_by_letters(question, found, features)
    order, scores = by_words(features)
    if encode is None or not order:
        return Reranked(order, scores, bool(order) and _answers(question, order[0], features))
    return _beside_best(rerank(question, found, features, order, encode), found)


def by_words(features: Sequence[Features]) -> tuple[list[int], dict[int, float]]:
    """The indices of English sentences that could answer, best first, and the scores of all, by their words alone."""
    scores = dict(enumerate(map(_score, features)))
    # Context alone is enough only if the sentence has the kind of thing asked for: "He died there in 1912."
    fit = [at for at, one in enumerate(features) if one.own > 0 or one.kind > 0]
    return sorted(fit, key=lambda at: -scores[at]), scores


def _beside_best(ranked: Reranked, found: Sequence[Candidate]) -> Reranked:
    """The ranking with a bonus for the best sentence's paragraph, which often has the rest of the answer."""
    best = found[ranked.order[0]]
    scores = dict(ranked.scores)
    for at in ranked.order[1:]:
        one = found[at]
        if one.paragraph is best.paragraph:
            follows = one.order == (best.order[0], best.order[1] + 1)
            scores[at] = min(scores[ranked.order[0]], scores[at] + BESIDE_BEST + AFTER_BEST * follows)
    return ranked._replace(order=sorted(ranked.order, key=lambda at: -scores[at]), scores=scores)


def _score(one: Features) -> float:
    """The score of a sentence as the answer in English, relative to the other sentences of its pages."""
    kind = _KIND if one.kind > 0 else _OTHER_KIND if one.kind < 0 else 0.0
    return (
        _OWN * one.own
        + _COVERED * one.covered
        + _BESIDE * one.beside
        + _PHRASES * one.phrases
        + _PASSAGE * one.passage
        + _LENGTH * one.length
        + _NAMED * one.named
        + _SCRAP * one.scrap
        + kind
    )


def _answers(question: Question, best: int, features: Sequence[Features]) -> bool:
    """Whether the pages are about the question and have the kind of thing it asks for; `best` is an index."""
    if question.kind is not None and not any(one.kind > 0 for one in features):
        return False
    covered, reached, passage, phrases, named, bias = _GATE
    evidence = (
        covered * features[best].covered
        + reached * max(one.covered + one.beside + one.above for one in features)
        + passage * max(one.passage for one in features)
        + phrases * features[best].phrases
        + named * features[best].named
        + bias
    )
    return evidence >= 0


def _is_near(question: Question, best: Candidate, *, is_certain: bool) -> bool:
    around = best.beside | best.above | frozenset(best.words)
    enough = ENOUGH_BIGRAMS if question.language in _IN_BIGRAMS else ENOUGH
    if is_certain:
        enough = ENOUGH_OF_AN_ANSWER if question.language == "en" else 0
    return sum(term in around for term in question.terms) >= enough * len(question.terms)


class _Quotes:
    """The quotes of an answer: runs of neighbouring sentences, none of which begins by pointing at one before it.

    `strict`: a further sentence must add something.
    """

    def __init__(
        self, question: Question, found: Sequence[Candidate], room: int, overhead: int, most: int, *, strict: bool
    ) -> None:
        self.runs: list[list[Candidate]] = []
        self._question, self._strict = question, strict
        self._found = {(one.document, one.order): one for one in found}
        self._room, self._overhead, self._most, self._quoted = room, overhead, most, 0

    def add(self, one: Candidate, *, has_kind: bool) -> None:
        """Quote a sentence if it says something that nothing before it says, and there is room."""
        said = [other for run in self.runs for other in run]
        if self._quoted >= self._most or any(_repeats(one, other) for other in said):
            return
        if said and self._strict and not has_kind and not self._adds(one, said):
            return
        if (run := self._from_its_noun(one)) is None or repeats_question(self._question, run):
            return
        for known_run in self.runs:
            if known_run[-1] in run:  # its noun is quoted already
                rest = run[run.index(known_run[-1]) + 1 :]
                if (cost := sum(1 + len(each.text) for each in rest)) <= self._room:
                    known_run += rest
                    self._room -= cost
                    self._quoted += 1
                return
        self.take(run)

    def _adds(self, one: Candidate, said: Sequence[Candidate]) -> bool:
        """Whether it has a word of the question that `said` lacks, or as many as the best one, or goes on from it."""
        asked, best = set(self._question.terms), self.runs[0][-1]
        own, known = asked.intersection(one.own), {term for other in said for term in other.own}
        goes_on = bool(own) and one.before == best.text and bool(DANGLING.match(one.text))
        return goes_on or bool(own - known) or len(own) >= max(2, len(asked.intersection(best.own)) - RIVAL)

    def take(self, run: list[Candidate]) -> None:
        """Quote these neighbours, if there is room."""
        cost = len(_joined(run)) + self._overhead
        if cost <= self._room:
            self.runs.append(run)
            self._room -= cost
            self._quoted += 1

    def _from_its_noun(self, one: Candidate) -> list[Candidate] | None:
        """The sentences from the one that `one` points at, to `one`; None if that is not near."""
        run = [one]
        while DANGLING.match(run[0].text):
            place, number = run[0].order
            before = self._found.get((one.document, (place, number - 1)))
            if len(run) > _ANTECEDENT or before is None or before.paragraph is not one.paragraph or not run[0].before:
                return None
            run.insert(0, before)
        return run


def _joined(run: Sequence[Candidate]) -> str:
    """The text of neighbours. Scripts without spaces have none between sentences."""
    text = ""
    for one in run:
        text += ("" if not text or text[-1] in "。！？｡" else " ") + one.text
    return text


def repeats_question(question: Question, run: Sequence[Candidate]) -> bool:
    """Whether sentences say nothing but the words of the question."""
    return not set(query_terms(_joined(run), question.language)).difference(question.terms)


def _repeats(one: Candidate, other: Candidate) -> bool:
    own, others = frozenset(one.own), frozenset(other.own)
    return len(own & others) >= SAME * min(len(own), len(others))
