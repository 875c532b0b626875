"""Checks each sentence of a draft against the passages that it cites, and keeps those that have a quote there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from websearch_gateway.answers.common import applying
from websearch_gateway.answers.llm.draft import Claim, claims_of
from websearch_gateway.answers.llm.passages import NumberedPassage
from websearch_gateway.models import Source, Span, Support
from websearch_gateway.text.citation.quotes import Quotable, Quote, best_quotes
from websearch_gateway.text.citation.support import is_claim, is_verbatim, support
from websearch_gateway.text.urls import canonical

MAX_ANSWER = 800
"""Characters of an answer, marks included."""

MAX_CLAIMS = 40
MOST_QUOTES = 3
"""The most quotes of one page that are shown for a sentence."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer whose sentences end in marks of their pages. Marks number the pages by first use."""

    text: str
    spans: tuple[Span, ...]
    dropped_sentences: int
    dropped_citations: int

    def warnings(self) -> tuple[str, ...]:
        """The warnings about the sentences and citations that were left out."""
        notes = {
            f"Sentences of the model left out because their sources do not support them: {self.dropped_sentences}.": (
                self.dropped_sentences
            ),
            f"Citations of the model left out because their source does not support them: {self.dropped_citations}.": (
                self.dropped_citations
            ),
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
        start, ranks, marked = len(self.text) + (1 if self.text else 0), dict(self.ranks), sentence
        found: list[Span] = []
        for url, proven in _by_page(proofs).items():
            mark = f"[{ranks.setdefault(url, len(ranks) + 1)}]"
            marked += mark if found else f" {mark}"
            end = start + len(marked)
            source: Source = proven[0].passage.source
            shown = [(quote.shown, proof.support) for proof in proven for quote in proof.quotes]
            found += [
                Span(source.url, source.title, end - len(mark), end, quote, how) for quote, how in shown[:MOST_QUOTES]
            ]
        if start + len(marked) > MAX_ANSWER:
            return False
        self.text = f"{self.text} {marked}" if self.text else marked
        self.spans += found
        self.ranks = ranks
        return True


def checked_draft(reply: str, passages: Sequence[NumberedPassage], question: str) -> Checked:
    """The part of a model's reply that its passages support."""
    return check(claims_of(reply), passages, question)


def check(claims: Sequence[Claim], passages: Sequence[NumberedPassage], question: str = "") -> Checked:
    """Keep the sentences that their passages support, in order, up to 800 characters.

    A passage that a sentence cites must support it, alone or with the others that it cites; one that does not loses its
    mark. A sentence without such a passage is tried on all of them, since small models forget or mistake numbers. What
    is no claim is left out.
    """
    evidence = {passage.number: (passage, Quotable.of(passage.text, passage.heading, question)) for passage in passages}
    answer, seen = _Answer(), set[str]()
    dropped = lost = 0
    for claim in claims[:MAX_CLAIMS]:
        if claim.text in seen or not is_claim(claim.text):
            continue
        seen.add(claim.text)
        proofs = proven(claim, evidence)
        if not proofs:
            dropped += 1
            continue
        held = {proof.passage.number for proof in proofs}
        lost += len({cite.passage for cite in claim.cites} - held)
        if not answer.add(claim.text, proofs):
            break
    return Checked(answer.text, tuple(answer.spans), dropped, lost)


def proven(claim: Claim, evidence: Mapping[int, tuple[NumberedPassage, Quotable]]) -> list[Proof]:
    """The passages that support a sentence; empty if none does."""
    cited = [number for number in dict.fromkeys(cite.passage for cite in claim.cites) if number in evidence]
    alone = [proof for number in cited for proof in _alone(claim, *evidence[number])]
    if alone or len(cited) < 2:
        others = (number for number in evidence if number not in cited)
        return alone or next(([one] for number in others for one in _alone(claim, *evidence[number])), [])
    return list(_together(claim, [evidence[number] for number in cited]))


def _alone(claim: Claim, passage: NumberedPassage, evidence: Quotable) -> Iterator[Proof]:
    """The passage, if it supports the sentence: by the words that the model copied, else by the best quotes."""
    copied = [quote for cite in claim.cites if cite.passage == passage.number for quote in evidence.holding(cite.words)]
    for quotes in (list(dict.fromkeys(copied)), best_quotes(claim.text, evidence.quotes)):
        if how := support(claim.text, quotes, evidence):
            exact = [quote for quote in quotes if is_verbatim(claim.text, quote.text)]
            yield Proof(passage, exact[:1] or quotes, how)
            return


def _together(claim: Claim, cited: Sequence[tuple[NumberedPassage, Quotable]]) -> Iterator[Proof]:
    """The passages that support the sentence only together."""
    union = Quotable.joined([evidence for _, evidence in cited])
    quotes = best_quotes(claim.text, union.quotes)
    if how := support(claim.text, quotes, union):
        for passage, evidence in cited:
            if own := [quote for quote in quotes if quote in evidence.quotes]:
                yield Proof(passage, own, how)


def _by_page(proofs: Iterable[Proof]) -> dict[str, list[Proof]]:
    pages: dict[str, list[Proof]] = {}
    for proof in proofs:
        pages.setdefault(canonical(proof.passage.source.url), []).append(proof)
    return pages
