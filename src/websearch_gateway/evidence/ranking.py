"""Finds the sentences of some pages that could answer a question, orders them, and decides whether the best probably
answers it.

One linear score and one gate serve all languages. Where the question and a page say the same in other forms, runs of
letters find it; in English the vectors of words find synonyms as well. `python -m bench.fit_quotes` fits the numbers.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from websearch_gateway.base import (
    LINK,
    LONGEST_MARKED,
    STOP_WORDS,
    UNSPACED,
    blocks,
    is_character,
    language_of,
    lines,
    plain,
    query_terms,
    split_sentences,
    stems,
    tokens_of_each,
    words,
)
from websearch_gateway.evidence.answer_kinds import Kind, asked_for
from websearch_gateway.evidence.chunks import chunk
from websearch_gateway.evidence.passages import bm25, inverse_document_frequency, saturated
from websearch_gateway.models import Passage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Encode(Protocol):
    """What is known about English words."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of texts, one row each; a text without known words becomes the zero vector."""

    def rarity(self, words: Sequence[str]) -> Sequence[float]:
        """How rare each word is, 0 for the thousand most frequent ones; each unit is e times rarer."""


PASSAGES = 12  # the number of best passages, of all pages together, that are searched for sentences
MAX_SENTENCE = 600  # the most characters of a sentence that may be quoted
MAX_CAPTION = 12
"""A line of at most this many words without a full stop is a caption, a byline or a cell, not a sentence."""

_IMPERSONAL = (
    r"it (?:is|was|has been|may be|would be)(?: also| often| now| widely| generally)? "
    r"(?:(?:said|claimed|believed|thought|estimated|argued|assumed|suggested|reported|recommended) that|"
    r"(?:possible|impossible|likely|unlikely|clear|unclear|true|necessary|difficult|hard|easy|common|important) "
    r"(?:that|to|for|whether))\b"
)
PRONOUN = re.compile(
    rf"(?!{_IMPERSONAL})(?:he|she|it|they|his|her|its|their|this|these|those|such|er|sie|es|dies\w*|él|ella|ellos|"
    r"este|esta|esto|il|elle|ils|elles|он|она|оно|они|это|هو|هي|यह|वह|他|她|它|这|該|เขา|มัน)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that depends on the sentence before it."""

_GOES_ON = (
    r"(?:thereafter|afterwards?|subsequently|meanwhile|consequently|nonetheless|danach|dabei|dazu|daher|dort|deshalb|"
    r"dann|sein(?:e[mnrs]?)?|ihre[mnrs]?|su|sus|estas|estos|allí|también|pero|sin embargo|después(?! de)|además(?! de)|"
    r"son|sa|ses|ce|cette|ces|ensuite|затем|поэтому|однако|эта|этот|эти|его|её|их)\b"
)
_POINTED = (
    r"(?:the (?:same|latter|former|two|deal|agreement|arrangement|treaty|plan|proposal|scheme|ruling|incident|event|"
    r"measure|process|latter's|former's)|this|that|these|those|such|its|his|her|their|it|him|them)"
    r"\b(?! (?:of|for|to|that|which|between|with)\b)"
)
DANGLING = re.compile(
    rf"(?:(?:however|but|and|so|thus|also|then|later|instead|therefore|moreover|furthermore|today|nevertheless),? )?"
    rf"(?:{PRONOUN.pattern}|{_GOES_ON}|[他她它这该該]|เขา|มัน|"
    rf"(?:when|while|as|after|before|because|although|once) (?:he|she|it|they)\b|"
    rf"(?:(?:both|all|each|one|some|many|most|several|none|part) of|under|in|by|at|during|after|"
    rf"before|with|from|as|on|since|for|of|to|through|despite|following|because of|due to) {_POINTED}|"
    rf"the (?:latter|former|two|same|deal|agreement|arrangement|proposal)\b(?! (?:of|for|to|that|between)\b))",
    re.IGNORECASE,
)
"""The beginning of a sentence that points at one before it: with a pronoun, or with a noun that was named there."""

_EDITORIAL = re.compile(
    r" ?\[(?:(?:citation|verification|clarification) needed|not in citation given|vague|update|who\?|when\?)\]"
    r"|(?<=[.!?,;:\"”’)])\[(?:[a-z]|(?:n|nb|note) \d{1,3})\]",
    re.IGNORECASE,
)
"""An encyclopedia's remarks on its own text, and the marks of its notes, such as `[c]` or `[note 2]`."""

_FOOTNOTE = re.compile(
    r"(?<=[.!?,;\"”’)\]]):\s?\d{1,4}(?:[-–]\d{1,4})?(?:, ?\d{1,4}(?:[-–]\d{1,4})?)*(?![\w:])"
)
"""The page of a footnote, whose number is gone: `It opened in 1889.:212–219`."""

_NUMBER_AT_START = re.compile(r"\n(?=\s*\d)")  # of a line within a paragraph: it marks no list item
_LINKED_AT_MOST = 0.6  # the share of links in a paragraph; one with more is navigation
_PRIVATE_OR_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ue000-\uf8ff]")
_QUESTION = re.compile(r"[?？؟;][\"'”’»)\]）」』*_]*$")
_ENDED = re.compile(r"[.!…。！।؟۔:][\"'”’»)\]）」』*_]*$|[\u0e00-\u0e7f]$")
_DATELINE = re.compile(
    r"(?:published|updated|posted|last (?:updated|modified)|veröffentlicht|aktualisiert|publicado|actualizado|publié|"
    r"mis à jour|опубликовано|обновлено)\b.{0,80}\d|(?:by|von|par|por) [A-Z].{0,60}$|(?:photo|image|foto|credit)\b"
    r".{0,20}:",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Document:
    """A page to search."""

    title: str
    markdown: str


@dataclass(frozen=True, slots=True, eq=False)
class Paragraph:
    """A paragraph, list item or table, shared by its sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence without its Markdown marks; `document` is the index of its page.

    Attributes:
        order: the index of its passage on the page, and of the sentence in the passage.
        before: the sentence before it in the same paragraph; "" for none.
        own: its tokens.
        words: the tokens used for the score: `own`, those of a question right before it, and of its table's header.
        beside: the tokens of its neighbours.
        above: the tokens of the headings and the title.
        passage: the score of its passage.
        scrap: whether it is a table row, a caption or a dateline.
    """

    text: str
    document: int
    order: tuple[int, int]
    before: str
    own: tuple[str, ...]
    words: tuple[str, ...]
    beside: frozenset[str]
    above: frozenset[str]
    paragraph: Paragraph
    passage: float
    scrap: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A plain sentence, heading or table row; only a `quotable` one may be evidence. `header` is its table's header."""

    text: str
    block: int
    quotable: bool = True
    header: str = ""
    scrap: bool = False


def candidates(
    terms: Sequence[str], language: str, documents: Sequence[Document]
) -> list[Candidate]:
    """The sentences of the passages that match the question best.

    Args:
        terms: the tokens of the question.
        language: its ISO 639-1 code; see `languages`.
    """
    passages = [
        (index, place, passage)
        for index, document in enumerate(documents)
        for place, passage in enumerate(chunk(document.markdown))
    ]
    texts = tokens_of_each((" ".join((*p.section_path, p.text)) for _, _, p in passages), language)
    whole = _inside(terms, texts, language)
    scores = bm25(terms, [[whole.get(token, token) for token in tokens] for tokens in texts])
    best = sorted(range(len(passages)), key=lambda at: -scores[at])[:PASSAGES]
    found: list[Candidate] = []
    for at in best:
        if scores[at] > 0:
            index, place, passage = passages[at]
            scored = replace(passage, score=scores[at])
            found.extend(_sentences(index, place, documents[index].title, scored, language, whole))
    return found


def _inside(
    terms: Sequence[str], texts: Sequence[Sequence[str]], language: str
) -> Mapping[str, str]:
    """Longer words of the texts, each with the word of the question that it begins or ends with.

    They are compounds, or have unknown endings. For a question of one character they are the pairs of characters with
    it, in scripts without spaces.
    """
    least = _LEAST_PART if language not in _WITHOUT_COMPOUNDS else 0
    long = [term for term in terms if is_character(term) or 0 < least <= len(term)]
    vocabulary = set().union(*texts).difference(terms) if long else set()
    ends = tuple(long)
    return {
        token: next(term for term in long if token.startswith(term) or token.endswith(term))
        for token in vocabulary
        if token.startswith(ends) or token.endswith(ends)
    }


_WITHOUT_COMPOUNDS = frozenset(("en", "zh", "ja", "ko", "th"))
_LEAST_PART = 5


def _sentences(
    document: int, place: int, title: str, passage: Passage, language: str, whole: Mapping[str, str]
) -> Iterator[Candidate]:
    page = list(_lines(passage.text))
    headers = sorted({line.header for line in page})
    texts = [
        *(line.text for line in page),
        *headers,
        " ".join((title[:MAX_SENTENCE], *passage.section_path)),
    ]
    tokens = [
        [whole.get(token, token) for token in said] for said in tokens_of_each(texts, language)
    ]
    header = dict(zip(headers, tokens[len(page) :], strict=False))
    above = frozenset(tokens[-1])
    texts_of: dict[int, list[str]] = {}
    for line in page:
        texts_of.setdefault(line.block, []).append(line.text)
    paragraphs = {block: Paragraph(" ".join(said)) for block, said in texts_of.items()}
    for at, line in enumerate(page):
        if (
            not line.quotable
            or len(line.text) > MAX_SENTENCE
            or len(words(line.text)) < 3
            or _QUESTION.search(line.text)
            or _PRIVATE_OR_CONTROL.search(line.text)
        ):
            continue
        asked = tokens[at - 1] if at and _QUESTION.search(page[at - 1].text) else []
        near = [tokens[other] for other in (at - 1, at + 1) if 0 <= other < len(page)]
        before = (
            at - 1
            if at > 0 and page[at - 1].block == line.block and page[at - 1].quotable
            else None
        )
        yield Candidate(
            text=line.text,
            document=document,
            order=(place, at),
            before="" if before is None else page[before].text,
            own=tuple(tokens[at]),
            words=(*asked, *header[line.header], *tokens[at]),
            beside=frozenset().union(*near),
            above=above,
            paragraph=paragraphs[line.block],
            passage=passage.score,
            scrap=line.scrap
            or bool(_DATELINE.match(line.text))
            or (not _ENDED.search(line.text) and line.text.count(" ") < MAX_CAPTION),
        )


def _lines(markdown: str) -> Iterator[_Line]:
    for number, block in enumerate(blocks(markdown)):
        piece = markdown[block.start : block.end]
        if block.kind == "table":
            yield from _rows(piece, number)
        elif block.kind == "heading":
            yield _Line(_plain(piece), number, quotable=False)
        elif block.kind in ("paragraph", "item"):
            if sum(len(link[0]) for link in LINK.finditer(piece)) > _LINKED_AT_MOST * len(piece):
                continue
            piece = _FOOTNOTE.sub(
                "", piece if block.kind == "item" else _NUMBER_AT_START.sub(" ", piece)
            )
            for start, end in clauses(piece, split_sentences(piece)):
                said = piece[start:end]
                yield _Line(_plain(said), number, len(said) <= LONGEST_MARKED)


def _plain(markdown: str) -> str:
    return _EDITORIAL.sub("", plain(markdown[:LONGEST_MARKED]))


def _rows(table: str, number: int) -> Iterator[_Line]:
    rows = [table[start:end].strip("| ") for start, end in lines(table, 0, len(table))]
    has_header = len(rows) > 1 and not words(rows[1])
    header = _plain(rows[0])[:MAX_SENTENCE] if has_header else ""
    for place, row in enumerate(rows):
        quotable = (not has_header or place > 0) and len(row) <= LONGEST_MARKED
        yield _Line(_plain(row), number, quotable, header, scrap=True)


SHORTEST = 150  # The least number of characters of a clause. Shorter ones join the next, since names contain spaces too
LONGEST = 300  # a sentence of at most this many characters stays whole

_UNSTOPPED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff]")
# Spaces around a number or a foreign name do not end a clause.
_BLANK = re.compile(r"(?<=[\u0e00-\u0eff\u1780-\u17ff])\s+(?=[\u0e00-\u0eff\u1780-\u17ff])")


def clauses(text: str, sentences: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The (start, end) offsets of `sentences` of `text`, with long ones without full stops cut at spaces."""
    for start, end in sentences:
        if end - start > LONGEST and _UNSTOPPED.search(text, start, end):
            for blank in _BLANK.finditer(text, start, end):
                if blank.start() - start >= SHORTEST and end - blank.end() >= SHORTEST:
                    yield start, blank.start()
                    start = blank.end()
        yield start, end


COMPARED = 24  # the most sentences whose vectors are compared

WITH_VECTORS = frozenset(("en",))
"""The languages whose words have vectors."""


class Ranked(NamedTuple):
    """The indices of the sentences, best first, with scores; whether the best is near the question, and answers it.

    `given` are the indices of the sentences with a thing of the kind that the question asks for.
    """

    order: Sequence[int]
    scores: Mapping[int, float]
    is_near: bool
    is_answer: bool
    given: frozenset[int]


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
    question: Question, found: Sequence[Candidate], documents: Sequence[Document], encode: Encode
) -> Ranked:
    """The sentences that could answer a question, best first."""
    numbers = fitted()
    every = signals(question, found, encode)
    scores = {at: weighted(one, numbers.ranking) for at, one in every.items()}
    order = sorted(scores, key=lambda at: -scores[at])
    given = frozenset(at for at, one in every.items() if has_kind(one))
    if not order:
        return Ranked(order, scores, False, False, given)
    values = gate_values(question, found[order[0]], every[order[0]], documents, encode)
    bias = numbers.biases.get(question.language, numbers.bias)
    is_likely = weighted(values, gate_of(question.language)) + bias >= 0
    is_answer = is_likely and (question.kind is None or bool(given))
    is_near = is_answer or values["reached"] >= ENOUGH
    return Ranked(order, scores, is_near, is_answer, given)


ENOUGH = 0.28  # the least share of the question's runs that the best sentence and its context have, if it is quoted
SAME_WORD = 0.6  # the share of a word's runs of letters that other words have which say the same


def terms_in(question: Question, tokens: Iterable[str]) -> frozenset[str]:
    """The words of the question that tokens say, perhaps with other endings or in compounds."""
    said = frozenset(run for token in tokens for run in runs(token))
    asked = ((term, frozenset(runs(term))) for term in question.terms)
    return frozenset(term for term, own in asked if len(own & said) >= SAME_WORD * len(own))


def weighted(values: Signals, weights: Signals) -> float:
    """The sum of the values that have a weight."""
    return sum(weights[name] * value for name, value in values.items() if name in weights)


def signals(question: Question, found: Sequence[Candidate], encode: Encode) -> dict[int, Signals]:
    """The signals of each sentence that could answer, by its index; where words have vectors, of the first COMPARED."""
    rarity = inverse_document_frequency(
        question.terms, [dict.fromkeys(one.words, 1) for one in found]
    )
    whole = sum(rarity.values()) or 1.0
    every: dict[int, Signals] = {}
    own = bm25(question.terms, [one.words for one in found])
    for at, (one, letters) in enumerate(zip(found, _by_letters(question, found), strict=True)):
        said = frozenset(one.words)
        every[at] = {
            "own": own[at],
            "above": sum(
                rarity[term] for term in question.terms if term in one.above and term not in said
            )
            / whole,
            "phrases": len(question.phrases.intersection(pairwise(one.words)))
            / max(1, len(question.phrases)),
            "passage": one.passage,
            "scrap": float(one.scrap),
            "length": math.log1p(len(one.own)) / 4,
            **letters,
        }
        if kind := question.kind:
            every[at] = {
                **every[at],
                kind.name if kind.found_in(one.text) else f"no_{kind.name}": 1.0,
            }
    could = [at for at, one in every.items() if one["shared"] or has_kind(one)]
    order = sorted(could, key=lambda at: -weighted(every[at], fitted().ranking))
    if question.language not in WITH_VECTORS:
        return {at: every[at] for at in order}
    best = order[:COMPARED]
    further = _meaning(question, [found[at] for at in best], rarity, encode)
    return {at: {**every[at], **more} for at, more in zip(best, further, strict=True)}


def has_kind(one: Signals) -> bool:
    """Whether a sentence has a thing of the kind that the question asks for."""
    return "number" in one or "date" in one


_LONGEST_PARAGRAPH = 2_000


def _meaning(
    question: Question, top: Sequence[Candidate], rarity: Mapping[str, float], encode: Encode
) -> list[Signals]:
    """The signals of each sentence from `alike` on."""
    import numpy as np

    asked = content_words(question.text)
    texts = [one.text for one in top]
    around = list(dict.fromkeys(one.paragraph for one in top))
    vectors = encode([question.text, *texts, *(one.text[:_LONGEST_PARAGRAPH] for one in around)])
    cosines = (vectors[1:] @ vectors[0]).tolist()
    of_paragraph = dict(zip(around, cosines[len(top) :], strict=True))
    said = {text: content_words(text) for text in (*texts, *(one.before for one in top))}
    vocabulary = {
        word: at
        for at, word in enumerate(dict.fromkeys(word for one in said.values() for word in one))
    }
    weights = np.array(
        [rarity.get(stem[0], 0.0) if stem else 0.0 for stem in tokens_of_each(asked)],
        dtype=np.float32,
    )
    likeness = word_likeness(asked, list(vocabulary), encode) if asked and vocabulary else None

    def best(text: str) -> NDArray[np.float32]:
        places = [vocabulary[word] for word in said[text]]
        zero = np.zeros(len(asked), dtype=np.float32)
        return likeness[:, places].max(1) if likeness is not None and places else zero

    whole = float(weights.sum()) or 1.0
    found: list[Signals] = []
    for one, cosine in zip(top, cosines, strict=False):
        own = best(one.text)
        alike = {"alike": own, "alike_before": np.maximum(best(one.before) - own, 0)}
        words = {name: float(weights @ values) / whole for name, values in alike.items()}
        found.append({**words, "cosine": cosine, "paragraph_cosine": of_paragraph[one.paragraph]})
    return found


_UNRELATED = 0.3  # the cosine that the vectors of unrelated words may have


def content_words(text: str) -> list[str]:
    """The distinct words of a text without stop words, in order."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]


def word_likeness(
    asked: Sequence[str], vocabulary: Sequence[str], encode: Encode
) -> NDArray[np.float32]:
    """The likeness of words from 0 to 1, with a row for each word of `asked` and a column for each of `vocabulary`.

    It is 1 for the same stem.
    """
    import numpy as np

    cosines = encode(asked) @ encode(vocabulary).T
    same = np.array(stems(asked))[:, None] == np.array(stems(vocabulary))
    return np.where(same, np.float32(1), ((cosines - _UNRELATED) / (1 - _UNRELATED)).clip(0, 1))


_AMOUNTS = (10_000, 200_000)  # the least and most characters of all pages that count as `amount`


def gate_values(
    question: Question, one: Candidate, best: Signals, documents: Sequence[Document], encode: Encode
) -> Signals:
    """The values of the gate from the best sentence and its signals."""
    near = one.beside | one.above
    around = [frozenset(runs(token)) for token in near.union(one.words)]
    names = [frozenset(runs(name)) for name in question.names]
    shares = [max((len(name & own) / len(name) for own in around), default=0.0) for name in names]
    values = {
        **best,
        "reached": len(question.runs.intersection(run for own in around for run in own))
        / max(1, len(question.runs)),
        "named": sum(shares) / len(shares) if shares else 1.0,
        "terms": math.log1p(len(question.terms)),
    }
    if question.language in WITH_VECTORS and (asked := content_words(question.text)):
        rarity = encode.rarity(asked)
        said = content_words(one.paragraph.text[:_LONGEST_PARAGRAPH])
        likeness = word_likeness(asked, said, encode).max(1, initial=0.0).tolist()
        known = (
            1.0 if stem in near else alike
            for stem, alike in zip(stems(asked), likeness, strict=True)
        )
        whole = sum(rarity)
        values["rarest"] = max(rarity)
        least, most = _AMOUNTS
        values["amount"] = math.log(
            min(max(sum(len(page.markdown) for page in documents), least), most)
        )
        values["rare"] = (
            sum(weight * share for weight, share in zip(rarity, known, strict=True)) / whole
            if whole
            else 1
        )
    return values


RUN = 4  # the number of letters in a run; the beginning and the end of a word count as a letter
RUN_OF_CONSONANTS = (
    3  # the same in scripts that leave out most vowels, where a root is three letters
)
AROUND = 2  # the number of sentences before and after a sentence that count as around it

_HAN = re.compile("[\u3005\u3400-\u9fff]")
_CONSONANTS = re.compile("[\u0590-\u06ff]")
_PART = re.compile(f"[{UNSPACED}]")


def _by_letters(question: Question, found: Sequence[Candidate]) -> list[dict[str, float]]:
    """`shared`, `around` and `paragraph` of each sentence, as in `Signals`."""
    asked = question.runs
    known: dict[str, tuple[list[str], int]] = {}
    counts: list[Counter[str]] = []
    lengths = []
    for one in found:
        for token in one.words:
            if token not in known:
                every = runs(token)
                known[token] = [run for run in every if run in asked], len(every)
        read = [known[token] for token in one.words]
        counts.append(Counter(run for matching, _ in read for run in matching))
        lengths.append(sum(length for _, length in read))
    rarity = inverse_document_frequency(asked, counts)
    whole = sum(rarity.values()) or 1.0
    paragraphs: dict[Paragraph, list[int]] = {}
    for at, one in enumerate(found):
        paragraphs.setdefault(one.paragraph, []).append(at)
    of_paragraph = dict(
        zip(paragraphs, _together(asked, counts, lengths, list(paragraphs.values())), strict=True)
    )
    return [
        {
            "shared": sum(rarity[run] for run in count) / whole,
            "around": around,
            "paragraph": of_paragraph[one.paragraph],
        }
        for one, count, around in zip(
            found, counts, _together(asked, counts, lengths, _windows(found)), strict=True
        )
    ]


def _windows(found: Sequence[Candidate]) -> list[list[int]]:
    """For each sentence, its own index and the indices of the sentences around it."""
    places = {(one.document, *one.order): at for at, one in enumerate(found)}
    steps = range(-AROUND, AROUND + 1)
    near = [
        [places.get((one.document, one.order[0], one.order[1] + step)) for step in steps]
        for one in found
    ]
    return [[at for at in window if at is not None] for window in near]


def _together(
    asked: Iterable[str],
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
    rarity = inverse_document_frequency(asked, sums)
    return saturated(rarity, sums, [sum(lengths[at] for at in group) for group in groups])


def runs(token: str) -> list[str]:
    """The runs of letters of a word. In a script without spaces a token is one, and so is each Han character."""
    if _PART.match(token):
        return [token, *token] if _HAN.match(token) else [token]
    size = RUN_OF_CONSONANTS if _CONSONANTS.match(token) else RUN
    bounded = f"_{token}_"
    return [bounded[at : at + size] for at in range(max(1, len(bounded) - size + 1))]
