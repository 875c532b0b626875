"""Orders the sentences that could answer a question, and decides whether the best probably answers it.

One linear score and one gate serve all languages. Where the question and a page say the same in other forms, runs of
letters find it; in English the vectors of words find synonyms as well. `python -m bench.fit_quotes` fits the numbers.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from websearch_gateway.base import (
    STOP_WORDS,
    UNSPACED,
    language_of,
    query_terms,
    stems,
    tokens_of_each,
    words,
)
from websearch_gateway.evidence.answer_kinds import Kind, asked_for
from websearch_gateway.evidence.passages import bm25, inverse_document_frequency, saturated
from websearch_gateway.evidence.sentences import Candidate, Document, Paragraph

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Encode(Protocol):
    """What is known about English words."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of texts, one row each; a text without known words becomes the zero vector."""

    def rarity(self, words: Sequence[str]) -> Sequence[float]:
        """How rare each word is, 0 for the thousand most frequent ones; each unit is e times rarer."""


COMPARED = 24
"""The most sentences whose vectors are compared."""

WITH_VECTORS = frozenset(("en",))
"""The languages whose words have vectors."""


class Ranked(NamedTuple):
    """The indices of the sentences, best first, with scores; whether the best is near the question, and answers it.

    `with_kind` are the indices of the sentences with a thing of the kind that the question asks for.
    """

    order: Sequence[int]
    scores: Mapping[int, float]
    is_near: bool
    is_answer: bool
    with_kind: frozenset[int]


_NAMED = re.compile(r"(?<=\w )[A-ZÀ-ÞА-ЯΑ-Ω][^\W_]+|\b\d{2,}\b")
"""Names and numbers: capitalised words other than the first, and digits."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its words, its pairs of words, and the kind of thing that would answer it.

    `names` are the tokens of its names and numbers, `runs` the runs of letters of its words.
    """

    text: str
    language: str
    terms: tuple[str, ...]
    phrases: frozenset[tuple[str, str]]
    kind: Kind | None
    names: frozenset[str]
    runs: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Question:
        """Read a question in any of the languages."""
        language = language_of(text)
        terms = tuple(query_terms(text, language))
        return cls(
            text,
            language,
            terms=terms,
            phrases=frozenset(pairwise(tokens_of_each([text], language)[0])),
            kind=asked_for(text, language),
            names=frozenset(query_terms(" ".join(_NAMED.findall(text)), language)),
            runs=frozenset(run for term in terms for run in runs(term)),
        )


Signals = Mapping[str, float]
"""How well a sentence answers a question: shares from 0 to 1, in which rarer words weigh more; 0 if one is missing.

own: its BM25 score.
above: the words of the question that it lacks, but the headings have.
phrases: the pairs of neighbouring words of the question that it has.
passage: the score of its passage.
scrap: 1 for a table row, a caption or a dateline.
length: grows with the number of its words.
shared: the runs of letters of the question that it has, see `runs`.
around: the BM25 score, by runs, of the sentence together with those around it.
paragraph: the BM25 score of its paragraph by runs.
number, no_number: 1 if the question asks for a number, and the sentence has one, or none. The same for dates.
alike: the words of the question that the sentence has, also by similar words.
alike_before: further ones that the sentence before it has.
cosine, paragraph_cosine: the similarity of the whole question to the sentence, and to its paragraph.
"""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The numbers that `bench.fit_quotes` wrote to `ranking.json`, which also names the data they were fitted on.

    `ranking` weighs the signals of a sentence. No fitted page has rows or captions, so its `scrap` is set by hand.

    `gate` and `english_gate` decide whether the best sentence probably answers, by some of its signals and further
    values. `reached` are the runs of letters of the question that it, its neighbours or the headings have, `named` the
    same of each name and number of the question, in one word. `terms` grows with the number of words of the question. A
    long sentence has words of the question by chance, so `length` counts against it. `rare` are the words of the
    question that its paragraph, its neighbours or the headings have, also by similar words, where a word weighs by its
    rarity in English and not on these pages, whose common words are those of their subject; `rarest` is the rarity of
    the rarest. `amount` grows with the length of all pages: long ones have more words by chance.

    `biases` are the biases of languages with another one than `bias`: German has compounds; short tokens occur by
    chance.

    `choice` gives the chance that a further sentence answers, see `selection.Selection.values`.
    """

    ranking: Signals
    gate: Signals
    english_gate: Signals
    bias: float
    biases: Mapping[str, float]
    choice: Signals


NUMBERS = "ranking.json"


@functools.cache
def fitted() -> Fitted:
    """The numbers that ship beside this module."""
    read = json.loads(resources.files(__package__).joinpath(NUMBERS).read_text("utf-8"))
    return Fitted(**{field.name: read[field.name] for field in fields(Fitted)})


def gate_of(language: str) -> Signals:
    """The weights of the values that decide in a language."""
    numbers = fitted()
    return numbers.english_gate if language in WITH_VECTORS else numbers.gate


def rank(
    question: Question,
    sentences: Sequence[Candidate],
    documents: Sequence[Document],
    encode: Encode,
) -> Ranked:
    """The sentences that could answer a question, best first."""
    numbers = fitted()
    every = signals(question, sentences, encode)
    scores = {at: weighted(own, numbers.ranking) for at, own in every.items()}
    order = sorted(scores, key=lambda at: -scores[at])
    with_kind = frozenset(at for at, own in every.items() if has_kind(own))
    if not order:
        return Ranked(order, scores, False, False, with_kind)
    best = order[0]
    values = gate_values(question, sentences[best], every[best], documents, encode)
    bias = numbers.biases.get(question.language, numbers.bias)
    is_likely = weighted(values, gate_of(question.language)) + bias >= 0
    is_answer = is_likely and (question.kind is None or bool(with_kind))
    is_near = is_answer or values["reached"] >= ENOUGH
    return Ranked(order, scores, is_near, is_answer, with_kind)


ENOUGH = 0.28
"""The least share of the question's runs that the best sentence and its context have, if it is quoted."""
SAME_WORD = 0.6
"""The share of a word's runs of letters that other words have which say the same."""


def terms_in(question: Question, tokens: Iterable[str]) -> frozenset[str]:
    """The words of the question that tokens say, perhaps with other endings or in compounds."""
    there = frozenset(run for token in tokens for run in runs(token))
    terms = set()
    for term in question.terms:
        own = frozenset(runs(term))
        if len(own & there) >= SAME_WORD * len(own):
            terms.add(term)
    return frozenset(terms)


def weighted(values: Signals, weights: Signals) -> float:
    """The sum of the values that have a weight."""
    return sum(weights[name] * value for name, value in values.items() if name in weights)


def signals(
    question: Question, sentences: Sequence[Candidate], encode: Encode
) -> dict[int, Signals]:
    """The signals of each sentence that could answer, by its index; where words have vectors, of the first COMPARED."""
    every_words = [dict.fromkeys(candidate.words, 1) for candidate in sentences]
    rarity = inverse_document_frequency(question.terms, every_words)
    every = _by_words(question, sentences, rarity)
    could = [at for at, own in enumerate(every) if own["shared"] or has_kind(own)]
    order = sorted(could, key=lambda at: -weighted(every[at], fitted().ranking))
    if question.language not in WITH_VECTORS:
        return {at: every[at] for at in order}
    best = order[:COMPARED]
    further = _meaning(question, [sentences[at] for at in best], rarity, encode)
    return {at: {**every[at], **more} for at, more in zip(best, further, strict=True)}


def _by_words(
    question: Question, sentences: Sequence[Candidate], rarity: Mapping[str, float]
) -> list[Signals]:
    """The signals of each sentence but those of vectors."""
    whole = sum(rarity.values()) or 1.0
    scores = bm25(question.terms, [candidate.words for candidate in sentences])
    letters = _by_letters(question, sentences)
    every: list[Signals] = []
    for candidate, score, by_letters in zip(sentences, scores, letters, strict=True):
        own = frozenset(candidate.words)
        only_above = [
            term for term in question.terms if term in candidate.above and term not in own
        ]
        pairs = question.phrases.intersection(pairwise(candidate.words))
        every.append(
            {
                "own": score,
                "above": sum(rarity[term] for term in only_above) / whole,
                "phrases": len(pairs) / max(1, len(question.phrases)),
                "passage": candidate.passage,
                "scrap": float(candidate.scrap),
                "length": math.log1p(len(candidate.own)) / 4,
                **by_letters,
                **_of_kind(question.kind, candidate.text),
            }
        )
    return every


def _of_kind(kind: Kind | None, text: str) -> Signals:
    """Whether a sentence has a thing of the kind that the question asks for, if it asks for one."""
    if kind is None:
        return {}
    return {kind.name if kind.found_in(text) else f"no_{kind.name}": 1.0}


def has_kind(values: Signals) -> bool:
    """Whether a sentence has a thing of the kind that the question asks for."""
    return "number" in values or "date" in values


_LONGEST_PARAGRAPH = 2_000


def _meaning(
    question: Question, top: Sequence[Candidate], rarity: Mapping[str, float], encode: Encode
) -> list[Signals]:
    """The signals of each sentence from `alike` on."""
    import numpy as np

    paragraphs = list(dict.fromkeys(candidate.paragraph for candidate in top))
    texts = [candidate.text for candidate in top]
    paragraph_texts = [paragraph.text[:_LONGEST_PARAGRAPH] for paragraph in paragraphs]
    vectors = encode([question.text, *texts, *paragraph_texts])
    cosines = (vectors[1:] @ vectors[0]).tolist()
    of_paragraph = dict(zip(paragraphs, cosines[len(top) :], strict=True))

    question_words = content_words(question.text)
    rarities = [
        rarity.get(tokens[0], 0.0) if tokens else 0.0 for tokens in tokens_of_each(question_words)
    ]
    weights = np.array(rarities, dtype=np.float32)
    whole = float(weights.sum()) or 1.0
    likeness = _Likeness.of(
        question_words, [*texts, *(candidate.before for candidate in top)], encode
    )
    every: list[Signals] = []
    for candidate, cosine in zip(top, cosines, strict=False):
        own = likeness.best(candidate.text)
        further = np.maximum(likeness.best(candidate.before) - own, 0)
        every.append(
            {
                "alike": float(weights @ own) / whole,
                "alike_before": float(weights @ further) / whole,
                "cosine": cosine,
                "paragraph_cosine": of_paragraph[candidate.paragraph],
            }
        )
    return every


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How alike the words of a question (rows) are to those of some texts (columns); None if either has none."""

    question_words: Sequence[str]
    columns: Mapping[str, int]
    matrix: NDArray[np.float32] | None

    @classmethod
    def of(cls, question_words: Sequence[str], texts: Iterable[str], encode: Encode) -> _Likeness:
        vocabulary = dict.fromkeys(word for text in texts for word in content_words(text))
        columns = {word: at for at, word in enumerate(vocabulary)}
        matrix = (
            word_likeness(question_words, list(columns), encode)
            if question_words and columns
            else None
        )
        return cls(question_words, columns, matrix)

    def best(self, text: str) -> NDArray[np.float32]:
        """For each word of the question the likeness of the most similar word of a text."""
        import numpy as np

        columns = [self.columns[word] for word in content_words(text)]
        if self.matrix is None or not columns:
            return np.zeros(len(self.question_words), dtype=np.float32)
        best: NDArray[np.float32] = self.matrix[:, columns].max(1)
        return best


_UNRELATED = 0.3
"""The cosine that the vectors of unrelated words may have."""


def content_words(text: str) -> list[str]:
    """The distinct words of a text without stop words, in order."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]


def word_likeness(
    question_words: Sequence[str], vocabulary: Sequence[str], encode: Encode
) -> NDArray[np.float32]:
    """The likeness of words from 0 to 1, which is 1 for the same stem.

    Each word of the question has a row, and each of the vocabulary a column.
    """
    import numpy as np

    cosines = encode(question_words) @ encode(vocabulary).T
    same = np.array(stems(question_words))[:, None] == np.array(stems(vocabulary))
    return np.where(same, np.float32(1), ((cosines - _UNRELATED) / (1 - _UNRELATED)).clip(0, 1))


_AMOUNTS = (10_000, 200_000)
"""The least and most characters of all pages that count as `amount`."""


def gate_values(
    question: Question,
    sentence: Candidate,
    own: Signals,
    documents: Sequence[Document],
    encode: Encode,
) -> Signals:
    """The values of the gate from the best sentence and its signals."""
    near = sentence.beside | sentence.above
    runs_around = [frozenset(runs(token)) for token in near.union(sentence.words)]
    reached = question.runs & frozenset[str]().union(*runs_around)
    values = {
        **own,
        "reached": len(reached) / max(1, len(question.runs)),
        "named": _named(question.names, runs_around),
        "terms": math.log1p(len(question.terms)),
    }
    question_words = content_words(question.text)
    if question.language in WITH_VECTORS and question_words:
        least, most = _AMOUNTS
        amount = sum(len(page.markdown) for page in documents)
        values["amount"] = math.log(min(max(amount, least), most))
        rarity = encode.rarity(question_words)
        values["rarest"] = max(rarity)
        values["rare"] = _rare(question_words, rarity, sentence, encode)
    return values


def _named(names: Iterable[str], runs_around: Sequence[frozenset[str]]) -> float:
    """The mean share of each name's runs that one word has; 1 without names."""
    shares = []
    for name in names:
        own = frozenset(runs(name))
        shares.append(max((len(own & around) / len(own) for around in runs_around), default=0.0))
    return sum(shares) / len(shares) if shares else 1.0


def _rare(
    question_words: Sequence[str], rarity: Sequence[float], sentence: Candidate, encode: Encode
) -> float:
    """The share of the question's words, by rarity, that stand in the paragraph or, by their stem, near to it."""
    paragraph = content_words(sentence.paragraph.text[:_LONGEST_PARAGRAPH])
    likeness = word_likeness(question_words, paragraph, encode).max(1, initial=0.0).tolist()
    near = sentence.beside | sentence.above
    matched = 0.0
    for stem, weight, alike in zip(stems(question_words), rarity, likeness, strict=True):
        matched += weight * (1.0 if stem in near else alike)
    whole = sum(rarity)
    return matched / whole if whole else 1.0


RUN = 4
"""The number of letters in a run; the beginning and the end of a word count as a letter."""
RUN_OF_CONSONANTS = 3
"""The same in scripts that leave out most vowels, where a root is three letters."""
AROUND = 2
"""The number of sentences before and after a sentence that count as around it."""

_HAN = re.compile("[\u3005\u3400-\u9fff]")
_CONSONANTS = re.compile("[\u0590-\u06ff]")
_PART = re.compile(f"[{UNSPACED}]")


def _by_letters(question: Question, sentences: Sequence[Candidate]) -> list[dict[str, float]]:
    """`shared`, `around` and `paragraph` of each sentence, as in `Signals`."""
    question_runs = question.runs
    runs_of = functools.cache(runs)
    counts: list[Counter[str]] = []
    lengths: list[int] = []
    for candidate in sentences:
        every_run = [run for token in candidate.words for run in runs_of(token)]
        counts.append(Counter(run for run in every_run if run in question_runs))
        lengths.append(len(every_run))
    rarity = inverse_document_frequency(question_runs, counts)
    whole = sum(rarity.values()) or 1.0
    members: dict[Paragraph, list[int]] = {}
    for at, candidate in enumerate(sentences):
        members.setdefault(candidate.paragraph, []).append(at)
    by_paragraph = _together(question_runs, counts, lengths, list(members.values()))
    of_paragraph = dict(zip(members, by_paragraph, strict=True))
    around = _together(question_runs, counts, lengths, _windows(sentences))
    return [
        {
            "shared": sum(rarity[run] for run in counts[at]) / whole,
            "around": around[at],
            "paragraph": of_paragraph[candidate.paragraph],
        }
        for at, candidate in enumerate(sentences)
    ]


def _windows(sentences: Sequence[Candidate]) -> list[list[int]]:
    """For each sentence, its own index and the indices of the sentences around it."""
    places = {(candidate.document, *candidate.order): at for at, candidate in enumerate(sentences)}
    windows = []
    for candidate in sentences:
        passage, number = candidate.order
        near = range(number - AROUND, number + AROUND + 1)
        indices = [places.get((candidate.document, passage, number_near)) for number_near in near]
        windows.append([at for at in indices if at is not None])
    return windows


def _together(
    question_runs: Iterable[str],
    counts: Sequence[Counter[str]],
    lengths: Sequence[int],
    groups: Sequence[Sequence[int]],
) -> list[float]:
    """The BM25 score of each group of sentences, as one text."""
    sums: list[Counter[str]] = []
    for group in groups:
        sums.append(Counter())
        for at in group:
            sums[-1].update(counts[at])
    rarity = inverse_document_frequency(question_runs, sums)
    return saturated(rarity, sums, [sum(lengths[at] for at in group) for group in groups])


def runs(token: str) -> list[str]:
    """The runs of letters of a word. In a script without spaces a token is one, and so is each Han character."""
    if _PART.match(token):
        return [token, *token] if _HAN.match(token) else [token]
    size = RUN_OF_CONSONANTS if _CONSONANTS.match(token) else RUN
    bounded = f"_{token}_"
    return [bounded[at : at + size] for at in range(max(1, len(bounded) - size + 1))]
