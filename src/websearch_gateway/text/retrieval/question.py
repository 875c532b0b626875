"""Reads a question, and measures how well sentences match it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from websearch_gateway.text.retrieval.answer_kinds import Kind, asked_for
from websearch_gateway.text.retrieval.candidates import Candidate
from websearch_gateway.text.retrieval.language import language_of
from websearch_gateway.text.retrieval.languages import language_tokens, query_terms
from websearch_gateway.text.retrieval.rank import bm25, inverse_document_frequency

_NAMED = re.compile(r"(?<=\w )[A-ZÀ-ÞА-ЯΑ-Ω][^\W_]+|\b\d{2,}\b")
"""Names and numbers: capitalised words other than the first, and digits."""


@dataclass(frozen=True, slots=True)
class Features:
    """How well a sentence matches a question: shares from 0 to 1, in which rarer words weigh more.

    Attributes:
        own: its BM25 score.
        covered: the words of the question that it contains.
        beside: further words of the question in its neighbours.
        above: further words of the question in the headings.
        phrases: the pairs of neighbouring words of the question that it contains.
        passage: the score of its passage.
        kind: 1 with a thing of the kind that the question asks for, -1 without, 0 if the question asks for no kind.
        scrap: 1 for a table row, a caption or a dateline.
        length: grows with the number of its words.
        named: the names and numbers of the question that are in it, its neighbours or the headings; 1 without any.
    """

    own: float
    covered: float
    beside: float
    above: float
    phrases: float
    passage: float
    kind: float
    scrap: float
    length: float
    named: float


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its words, its pairs of words, and the kind of thing that would answer it.

    `names` are the tokens of its names and numbers. `said` are its words, which cannot be the answer; see
    `Kind.said_in`.
    """

    text: str
    language: str
    terms: tuple[str, ...]
    phrases: frozenset[tuple[str, str]]
    kind: Kind | None
    names: frozenset[str]
    said: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Question:
        """Read a question in any of the languages."""
        language = language_of(text)
        pairs = frozenset(pairwise(language_tokens([text], language)[0]))
        names = frozenset(query_terms(" ".join(_NAMED.findall(text)), language))
        kind = asked_for(text, language)
        said = kind.said_in(text) if kind else frozenset[str]()
        return cls(text, language, tuple(query_terms(text, language)), pairs, kind, names, said)

    def features(self, found: Sequence[Candidate]) -> list[Features]:
        """The features of each candidate."""
        rarity = inverse_document_frequency(self.terms, [dict.fromkeys(one.words, 1) for one in found])
        own = bm25(self.terms, [one.words for one in found])
        return [self._of(one, share, rarity) for one, share in zip(found, own, strict=True)]

    def _of(self, one: Candidate, own: float, rarity: Mapping[str, float]) -> Features:
        whole = sum(rarity.values()) or 1.0
        said = frozenset(one.words)
        missing = [term for term in self.terms if term not in said]
        aside = [term for term in missing if term not in one.beside]
        beside = sum(rarity[term] for term in missing if term in one.beside) / whole
        above = sum(rarity[term] for term in aside if term in one.above) / whole
        kind = 0.0 if self.kind is None else 1.0 if self.kind.found_in(one.text, self.said) else -1.0
        return Features(
            own=own,
            covered=sum(rarity[term] for term in self.terms if term in said) / whole,
            beside=beside,
            above=above,
            phrases=len(self.phrases.intersection(pairwise(one.words))) / max(1, len(self.phrases)),
            passage=one.passage,
            kind=kind,
            scrap=float(one.scrap),
            length=math.log1p(len(one.own)) / 4,
            named=len(self.names.intersection(said | one.beside | one.above)) / len(self.names) if self.names else 1.0,
        )
