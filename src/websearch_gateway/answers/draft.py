"""Checks each sentence of a draft against the passages that it cites, and keeps those that have a quote there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple

from websearch_gateway.answers.common import applying
from websearch_gateway.answers.drafted_claims import Claim, claims_of
from websearch_gateway.answers.prompt_passages import NumberedPassage
from websearch_gateway.base import page_key
from websearch_gateway.evidence import Quotable, Quote, Word, is_verbatim, nearest, read, support
from websearch_gateway.models import Span, Support

MAX_ANSWER = 800
"""Characters of an answer, marks included."""

MAX_CLAIMS = 40
FAR, NEAR = 0.4, 0.65
"""The share of a sentence's ordinary words that it has from its quote, from which on and up to which it stays as the
model wrote it."""
TOGETHER = 0.7
"""The least such share of a sentence that only several quotes together support: what combines them is the model's."""
ABOUT_THE_SAME = 1 / 3
"""The share of a sentence's words, where facts count double, from which on its source's sentence may stand for it."""
ONE_FACT = 6
"""The most content words of a sentence that hardly combines two others."""
LONGER, LONGEST = 1.65, 3
"""How many times longer than the sentence its quote may be, and one that takes its place."""
_STANDS_ALONE = re.compile(
    r"(?!(?:he|she|it|they|this|that|these|those|his|her|its|their|i|we|and|but|so)\b)[A-Z0-9\"“].*(?<!\s[a-z])[.!]\W*\Z",
    re.IGNORECASE,
)
"""A whole sentence that does not begin with what only the sentence before explains, nor ends in an initial."""
MOST_QUOTES = 3
"""The most quotes of one page that are shown for a sentence."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer whose sentences end in marks of their pages. Marks number the pages by first use."""

    text: str
    spans: tuple[Span, ...]
    dropped_sentences: int
    dropped_citations: int
    kept_sentences: int = 0
    """Those that the sources support; for others a source's own sentence may stand."""

    def warnings(self) -> tuple[str, ...]:
        """The warnings about the sentences and citations that were left out."""
        sentences, citations = self.dropped_sentences, self.dropped_citations
        notes = {
            f"Sentences of the model left out because their sources do not support them: {sentences}.": sentences,
            f"Citations of the model left out because their source does not support them: {citations}.": citations,
        }
        return applying(notes)


@dataclass(frozen=True, slots=True)
class Proof:
    """A passage that supports a sentence, the quotes that do, and how."""

    passage: NumberedPassage
    quotes: Sequence[Quote]
    support: Support


@dataclass(slots=True)
class _Answer:
    """The answer so far. `ranks` are the numbers of its pages."""

    text: str = ""
    spans: list[Span] = field(default_factory=list)
    ranks: dict[str, int] = field(default_factory=dict)

    def add(self, sentence: str, proofs: Sequence[Proof]) -> bool:
        """Append a sentence and a mark for each of its pages; False if there is no room for them."""
        pages: dict[str, list[Proof]] = {}
        for proof in proofs:
            pages.setdefault(page_key(proof.passage.source.url), []).append(proof)
        ranks = dict(self.ranks)
        text = f"{self.text} {sentence} " if self.text else f"{sentence} "
        spans: list[Span] = []
        for page, of_page in pages.items():
            mark = f"[{ranks.setdefault(page, len(ranks) + 1)}]"
            spans += _spans(of_page, len(text), len(text) + len(mark))
            text += mark
        if len(text) > MAX_ANSWER:
            return False
        self.text = text
        self.spans += spans
        self.ranks = ranks
        return True


def _spans(of_page: Sequence[Proof], start: int, end: int) -> list[Span]:
    """What a mark at `start:end` shows of a page: the first quotes of its proofs."""
    source = of_page[0].passage.source
    spans: list[Span] = []
    for proof in of_page:
        spans += [
            Span(source.url, source.title, start, end, quote.shown, proof.support)
            for quote in proof.quotes
        ]
    return spans[:MOST_QUOTES]


def checked_draft(reply: str, passages: Sequence[NumberedPassage], question: str) -> Checked:
    """The part of a model's reply that its passages support."""
    return check(claims_of(reply), passages, question)


class SourcePassage(NamedTuple):
    """A passage that a sentence may cite, and the same in sentences."""

    passage: NumberedPassage
    sentences: Quotable


Evidence = Mapping[int, SourcePassage]
"""The passages by their numbers."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """What becomes of a claim: its text with proofs, empty if it is left out, and how many citations it loses."""

    text: str = ""
    proofs: Sequence[Proof] = ()
    is_kept: bool = False
    lost_citations: int = 0


def check(
    claims: Sequence[Claim], passages: Sequence[NumberedPassage], question: str = ""
) -> Checked:
    """Keep the sentences that their passages support, in order, up to 800 characters.

    A passage that a sentence cites must support it, alone or with the others that it cites; one that does not loses its
    mark. A sentence without such a passage is tried on all of them, since small models forget or mistake numbers. What
    nearly copies its source is given as the source has it; so is what no passage supports, if one has a sentence about
    the same. Sentences that claim nothing are left out.
    """
    evidence = {
        passage.number: SourcePassage(passage, Quotable.of(passage.text, passage.heading, question))
        for passage in passages
    }
    answer, seen = _Answer(), set[str]()
    dropped = lost = kept = 0
    for claim in claims[:MAX_CLAIMS]:
        if claim.text in seen or not _is_claim(claim.text):
            continue
        seen.add(claim.text)
        judged = _judged(claim, evidence)
        dropped += not judged.is_kept
        lost += judged.lost_citations
        is_repeated = judged.text != claim.text and judged.text in seen
        if not judged.text or is_repeated:
            continue
        seen.add(judged.text)
        if not answer.add(judged.text, judged.proofs):
            break
        kept += judged.is_kept
    return Checked(answer.text, tuple(answer.spans), dropped, lost, kept)


def _is_claim(sentence: str) -> bool:
    """Whether a sentence claims something: not "Yes!" or "Here is a summary:"."""
    return len(read(sentence)) > 1 and not sentence.rstrip().endswith((":", "：", "?", "？", "؟"))


def _judged(claim: Claim, evidence: Evidence) -> _Judged:
    """The claim as its sources support it, or what they say instead."""
    proofs = proven(claim, evidence)
    if not proofs:
        instead = _instead(claim, evidence)
        return _Judged(instead.quotes[0].text, [instead]) if instead else _Judged()
    cited = {cite.passage for cite in claim.cites}
    lost = len(cited - {proof.passage.number for proof in proofs})
    text = _in_its_source(claim.text, proofs)
    if text != claim.text:
        first = proofs[0]
        proofs = [replace(first, quotes=first.quotes[:1], support="verbatim")]
    return _Judged(text, proofs, is_kept=True, lost_citations=lost)


def _in_its_source(sentence: str, proofs: Sequence[Proof]) -> str:
    """The source's own sentence for one that nearly copies it, takes a part of it, or hardly has its words.

    No rule sees each small change of a copy, what a part leaves out, or whether quite other words mean the same.
    """
    first, quote = proofs[0], proofs[0].quotes[0]
    if first.support == "verbatim" or not _stands_alone(quote):
        return sentence
    claimed = read(sentence)
    in_quotes = frozenset[str]().union(*(quote.texts for quote in first.quotes))
    ordinary = [word.text for word in claimed if word.kind == "word"]
    shared = [text for text in ordinary if text in in_quotes]
    share = len(shared) / max(1, len(ordinary))
    if len(first.quotes) > 1:
        combines = share >= TOGETHER and len(claimed) > ONE_FACT
        return sentence if combines else quote.text
    mentioned = {word.text for word in claimed}
    if any(word.kind == "number" and word.text not in mentioned for word in quote.words):
        return quote.text  # of several numbers the model took one
    is_own = FAR <= share < NEAR and len(quote.words) <= LONGER * len(claimed)
    is_too_long = len(quote.words) > LONGEST * len(claimed)
    return sentence if is_own or is_too_long else quote.text


def _instead(claim: Claim, evidence: Evidence) -> Proof | None:
    """The passage whose best sentence has most of the words of a sentence that none supports."""
    claimed = read(claim.text)
    cited = {cite.passage for cite in claim.cites} & evidence.keys() or evidence.keys()
    best, most = None, 0.0
    for number, source in evidence.items():
        if number not in cited:
            continue
        for quote in nearest(claim.text, source.sentences)[:1]:
            share = _share_in(quote, claimed)
            is_short = len(quote.words) <= LONGEST * len(claimed)
            may_stand = _stands_alone(quote) and is_short and share >= ABOUT_THE_SAME
            if may_stand and share > most:
                best, most = Proof(source.passage, [quote], "verbatim"), share
    return best


def _stands_alone(quote: Quote) -> bool:
    """Whether a quote is a whole sentence that needs no other, and no row of a table."""
    return not quote.cells and bool(_STANDS_ALONE.match(quote.text))


def _share_in(quote: Quote, claimed: Sequence[Word]) -> float:
    """The share of a claim's words that a quote has, where numbers and names count double."""
    whole = shared = 0
    for word in claimed:
        weight = 2 if word.is_fact else 1
        whole += weight
        if word.text in quote.texts:
            shared += weight
    return shared / max(1, whole)


def proven(claim: Claim, evidence: Evidence) -> list[Proof]:
    """The passages that support a sentence; empty if none does."""
    numbers = dict.fromkeys(cite.passage for cite in claim.cites)
    cited = [number for number in numbers if number in evidence]
    alone = [_proof_alone(claim, evidence[number]) for number in cited]
    proofs = [proof for proof in alone if proof]
    if proofs:
        return proofs
    if len(cited) > 1:
        return list(_together(claim, [evidence[number] for number in cited]))
    for number, source in evidence.items():
        proof = None if number in cited else _proof_alone(claim, source)
        if proof:
            return [proof]
    return []


def _proof_alone(claim: Claim, source: SourcePassage) -> Proof | None:
    """The passage, if it supports the sentence: by the words that the model copied, or the best quotes without any."""
    copied: dict[Quote, None] = {}
    for cite in claim.cites:
        if cite.passage == source.passage.number:
            copied |= dict.fromkeys(source.sentences.holding(cite.words))
    quotes = list(copied) or nearest(claim.text, source.sentences)
    how = support(claim.text, quotes, source.sentences)
    if how is None:
        return None
    exact = [quote for quote in quotes if is_verbatim(claim.text, quote)]
    return Proof(source.passage, exact[:1] or quotes, how)


def _together(claim: Claim, cited: Sequence[SourcePassage]) -> Iterator[Proof]:
    """The passages that support the sentence only together."""
    union = reduce(Quotable.joined, (source.sentences for source in cited))
    quotes = nearest(claim.text, union)
    how = support(claim.text, quotes, union)
    if how is None:
        return
    for source in cited:
        own = [quote for quote in quotes if quote in source.sentences.quotes]
        if own:
            yield Proof(source.passage, own, how)
