"""Checks each sentence of a draft against the passages that it cites, and keeps those that pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from websearch_gateway.answers.llm.draft import Claim, Piece, claims_of
from websearch_gateway.answers.llm.passages import NumberedPassage
from websearch_gateway.answers.outcomes import applying
from websearch_gateway.models import Source, Span
from websearch_gateway.text.citation.support import Evidence, anchors, supports
from websearch_gateway.text.urls import canonical

MAX_ANSWER = 800
"""Characters of an answer, marks included."""

MAX_CLAIMS = 40


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer whose sentences end in marks of supporting passages. Marks number the pages by first use."""

    text: str
    spans: tuple[Span, ...]
    dropped_sentences: int
    dropped_citations: int
    anchored_sentences: int = 0

    def warnings(self) -> tuple[str, ...]:
        """The warnings about the sentences and citations that were left out or only partly checked."""
        notes = {
            f"Sentences of the model left out because their sources do not support them: {self.dropped_sentences}.": (
                self.dropped_sentences
            ),
            f"Citations of the model left out because their source does not support them: {self.dropped_citations}.": (
                self.dropped_citations
            ),
            "Sentences in another language than their source, checked by their numbers and names alone: "
            f"{self.anchored_sentences}.": self.anchored_sentences,
        }
        return applying(notes)


@dataclass(slots=True)
class _Answer:
    """The answer so far. `ranks` are the numbers of its pages."""

    text: str = ""
    spans: list[Span] = field(default_factory=list)
    ranks: dict[str, int] = field(default_factory=dict)

    def add(self, sentence: str, pages: Mapping[str, Source]) -> bool:
        """Append a sentence and a mark for each of its pages; False if there is no room for them."""
        start, ranks, marked = len(self.text) + (1 if self.text else 0), dict(self.ranks), sentence
        found: list[Span] = []
        for url, source in pages.items():
            mark = f"[{ranks.setdefault(url, len(ranks) + 1)}]"
            marked += mark if found else f" {mark}"
            found.append(Span(source.url, source.title, start + len(marked) - len(mark), start + len(marked)))
        if start + len(marked) > MAX_ANSWER:
            return False
        self.text = f"{self.text} {marked}" if self.text else marked
        self.spans += found
        self.ranks = ranks
        return True


def checked_draft(reply: str, passages: Sequence[NumberedPassage]) -> Checked:
    """The part of a model's reply that its passages support."""
    return check(claims_of(reply), passages)


def check(claims: Sequence[Claim], passages: Sequence[NumberedPassage]) -> Checked:
    """Keep the sentences that their passages support, in order, up to 800 characters.

    One of the passages that a piece names must support it alone; passages that do not support it lose their mark. A
    sentence with an unsupported piece is dropped whole.
    """
    by_number = {passage.number: passage for passage in passages}
    cited = {number for claim in claims[:MAX_CLAIMS] for piece in claim.pieces for number in piece.numbers}
    evidence = {number: Evidence.of(by_number[number].evidence) for number in cited & by_number.keys()}
    answer, seen = _Answer(), set[str]()
    dropped = lost = foreign = 0
    for claim in claims[:MAX_CLAIMS]:
        held, missed = _supporting(claim, evidence, supports)
        anchored = [] if held else _supporting(claim, evidence, anchors)[0]
        held = held or anchored
        lost += missed if held else 0
        if not held:
            dropped += 1
            continue
        if claim.text in seen:
            continue
        seen.add(claim.text)
        pages = {canonical(by_number[number].source.url): by_number[number].source for number in held}
        if not answer.add(claim.text, pages):
            break
        foreign += bool(anchored)
    return Checked(answer.text, tuple(answer.spans), dropped, lost, foreign)


def _supporting(
    claim: Claim, evidence: Mapping[int, Evidence], holds: Callable[[str, Evidence], bool]
) -> tuple[list[int], int]:
    """The passages that support the sentence (none if a piece lacks support); the number of those that do not."""
    held: list[int] = []
    missed = 0
    for piece in _whole_pieces(claim):
        good = [
            number
            for number in dict.fromkeys(piece.numbers)
            if number in evidence and holds(piece.text, evidence[number])
        ]
        if not good:
            return [], 0
        missed += len(set(piece.numbers)) - len(good)
        held += good
    return list(dict.fromkeys(held)), missed


def _whole_pieces(claim: Claim) -> list[Piece]:
    """The pieces; words after the last mark belong to the piece before it."""
    *before, last = claim.pieces
    if last.numbers or not before:
        return list(claim.pieces)
    joined = Piece(before[-1].text + last.text, before[-1].numbers)
    return [*before[:-1], joined]
