"""The sentences of some pages that answer a question best."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from websearch_gateway.models import Passage
from websearch_gateway.text.chunk import chunk
from websearch_gateway.text.citation.sentences import split_sentences
from websearch_gateway.text.markdown import LINK, LONGEST_MARKED, blocks, lines, plain
from websearch_gateway.text.retrieval.rank import bm25, inverse_document_frequency, score_passages
from websearch_gateway.text.retrieval.tokens import query_terms, tokens, tokens_of_each, words

# The numbers below were tuned on questions over encyclopedia articles; the result is flat around them.
PASSAGES = 12
"""How many passages, the best of all pages, are searched for sentences."""

CONTEXT_WEIGHT = 0.16
"""What a word of the question counts when it stands beside the sentence (before, behind, in the headings above)."""

PHRASE_WEIGHT = 0.02
"""What each pair of words counts that follow each other in the question and in the sentence."""

ENOUGH = 0.28
"""The least share of the question's words that the best sentence and its surroundings must hold."""

FLOOR = 0.3
"""The least score of a sentence, as a share of the best one's."""

SAME = 0.75
"""Two sentences say the same when they share this part of the shorter one's words."""

KIND_FACTOR = 1.2
"""How much better a sentence is that holds the kind of thing asked for: a number, a date, a name."""

MAX_SENTENCE = 600
"""Characters of a sentence that may be quoted."""

_DIGIT = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|half|twice)\b"
)
_KINDS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(given))
    for asked, given in (
        (r"\bhow (?!do|does|did|to|can|is|are)\w+|\bcuánt[oa]s?\b|\bwie ?viele?\b|\bcombien\b|いくつ|多少|何", _DIGIT),
        (r"\bwhen\b|\b(?:what|which) (?:year|date|day)\b|\bcuándo\b|\bwann\b|\bquand\b|いつ", r"\d"),
        (r"\bwho(?:m|se)?\b|\bquién\b|\bwer\b|\bqui\b", r"\w\W+[A-ZÀ-Þ]\w"),
    )
)
"""Words that ask for a kind of thing, and what such a thing looks like."""

_LINKED_AT_MOST = 0.6
_PRIVATE_OR_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ue000-\uf8ff]")
_QUESTION = re.compile(r"[?？؟][\"'”’»)\]）」』*_]*$")


@dataclass(frozen=True, slots=True)
class Document:
    """A page to look into."""

    title: str
    markdown: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence without its Markdown marks; `document` is the index of the page that says it."""

    text: str
    document: int


@dataclass(frozen=True, slots=True)
class _Sentence:
    """`own` tokens say when two are alike; `words`, by which it is judged, begin with a question just before it.

    `around` are the tokens of its neighbours and headings; `passage` is the score of the passage that it stands in.
    """

    evidence: Evidence
    own: frozenset[str]
    words: tuple[str, ...]
    around: frozenset[str]
    passage: float

    def repeats(self, other: _Sentence) -> bool:
        return len(self.own & other.own) >= SAME * min(len(self.own), len(other.own))


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked: its words, the pairs of words in it, and the kinds of thing that would answer it."""

    terms: tuple[str, ...]
    phrases: frozenset[tuple[str, str]]
    kinds: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, query: str) -> _Question:
        kinds = tuple(given for asked, given in _KINDS if asked.search(query))
        return cls(tuple(query_terms(query)), frozenset(pairwise(tokens(query))), kinds)

    def is_met_by(self, text: str) -> bool:
        return any(kind.search(text) for kind in self.kinds)

    def is_near(self, sentence: _Sentence) -> bool:
        held = sum(term in sentence.around or term in sentence.words for term in self.terms)
        return held >= ENOUGH * len(self.terms)

    def score(self, sentence: _Sentence, own: float, rarity: Mapping[str, float]) -> float:
        """`own` is the sentence's BM25 score."""
        beside = sum(rarity[term] for term in self.terms if term in sentence.around and term not in sentence.words)
        phrases = len(self.phrases.intersection(pairwise(sentence.words)))
        score = own + CONTEXT_WEIGHT * beside / sum(rarity.values()) + PHRASE_WEIGHT * phrases
        return score * math.sqrt(sentence.passage) * (KIND_FACTOR if self.is_met_by(sentence.evidence.text) else 1)


@dataclass(frozen=True, slots=True)
class _Line:
    """A plain sentence, heading or table row; only a `quotable` one may be evidence. `header` is that of its table."""

    text: str
    quotable: bool = True
    header: str = ""

    @classmethod
    def of(cls, markdown: str, quotable: bool = True, header: str = "") -> _Line:
        return cls(plain(markdown[:LONGEST_MARKED]), quotable and len(markdown) <= LONGEST_MARKED, header)


def find_evidence(query: str, documents: Sequence[Document], max_characters: int, overhead: int = 0) -> list[Evidence]:
    """The sentences that answer `query`, best first, each said once; empty when none comes near.

    They are quoted from prose, lists and tables, never from headings, code or runs of links, and together they have
    at most `max_characters`, counting `overhead` more for each.
    """
    question = _Question.of(query)
    found = [
        sentence
        for index, passage in _best_passages(question.terms, documents)
        for sentence in _sentences(index, documents[index].title, passage)
    ]
    picked: list[_Sentence] = []
    room = max_characters
    for sentence in _ranked(question, found):
        cost = len(sentence.evidence.text) + overhead
        if cost <= room and not any(sentence.repeats(other) for other in picked):
            picked.append(sentence)
            room -= cost
    return [sentence.evidence for sentence in picked]


def _best_passages(terms: Sequence[str], documents: Sequence[Document]) -> list[tuple[int, Passage]]:
    """The passages that hold the most of the question, best first and scored, each with the index of its document."""
    passages = [(index, passage) for index, document in enumerate(documents) for passage in chunk(document.markdown)]
    scores = score_passages(terms, [passage for _, passage in passages])
    scored = [(index, replace(passage, score=score)) for (index, passage), score in zip(passages, scores, strict=True)]
    return sorted((one for one in scored if one[1].score > 0), key=lambda one: -one[1].score)[:PASSAGES]


def _sentences(document: int, title: str, passage: Passage) -> Iterator[_Sentence]:
    headings = frozenset(tokens(" ".join((title[:MAX_SENTENCE], *passage.section_path))))
    page = list(_lines(passage.text))
    headers = {header: tokens(header) for header in {line.header for line in page}}
    own = tokens_of_each(line.text for line in page)
    for place, line in enumerate(page):
        if not line.quotable or not _is_quotable(line.text):
            continue
        asked = own[place - 1] if place and _QUESTION.search(page[place - 1].text) else []
        beside = (*own[max(0, place - 1)], *(own[place + 1] if place + 1 < len(own) else ()), *headers[line.header])
        yield _Sentence(
            Evidence(line.text, document),
            frozenset(own[place]),
            (*asked, *own[place]),
            headings.union(beside),
            passage.score,
        )


def _lines(markdown: str) -> Iterator[_Line]:
    for block in blocks(markdown):
        piece = markdown[block.start : block.end]
        if block.kind == "table":
            yield from _rows(piece)
        elif block.kind == "heading":
            yield _Line.of(piece, quotable=False)
        elif block.kind in ("paragraph", "item") and not _is_navigation(piece):
            yield from (_Line.of(piece[start:end]) for start, end in split_sentences(piece))


def _rows(table: str) -> Iterator[_Line]:
    rows = [table[start:end].strip("| ") for start, end in lines(table, 0, len(table))]
    has_header = len(rows) > 1 and not words(rows[1])
    header = plain(rows[0][:LONGEST_MARKED])[:MAX_SENTENCE] if has_header else ""
    for place, row in enumerate(rows):
        yield _Line.of(row, quotable=not has_header or place > 0, header=header)


def _is_navigation(markdown: str) -> bool:
    return sum(len(link[0]) for link in LINK.finditer(markdown)) > _LINKED_AT_MOST * len(markdown)


def _is_quotable(text: str) -> bool:
    return (
        len(text) <= MAX_SENTENCE
        and len(words(text)) >= 3
        and not _QUESTION.search(text)
        and not _PRIVATE_OR_CONTROL.search(text)
    )


def _ranked(question: _Question, found: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences within reach of the best, best first; none when even the best has too little of the question."""
    rarity = inverse_document_frequency(question.terms, [dict.fromkeys(sentence.words, 1) for sentence in found])
    own = bm25(question.terms, [sentence.words for sentence in found])
    scored = [
        (question.score(sentence, share, rarity), sentence)
        for sentence, share in zip(found, own, strict=True)
        # Its context alone commends a sentence only if it holds what was asked for: "He died there in 1912."
        if share > 0 or question.is_met_by(sentence.evidence.text)
    ]
    scored.sort(key=lambda one: -one[0])
    if not scored or not question.is_near(scored[0][1]):
        return []
    return [sentence for score, sentence in scored if score >= FLOOR * scored[0][0]]
