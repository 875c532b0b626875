"""Whether a passage supports a claim: its numbers, dates and names, and most of its other words. Without a model.

The check is strict where an invention would do harm (figures with units, dates, names, denials, who did what to whom)
and lenient where a sentence is only paraphrased. docs/decisions.md lists what it accepts and drops.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from websearch_gateway.text.citation.calendar import MONTHS, Date, dates, foreign_months, is_stated
from websearch_gateway.text.citation.polarity import (
    contradicts,
    denies,
    doubts,
    is_hearsay,
    is_off_the_scale,
    overstates,
)
from websearch_gateway.text.citation.quantities import DAY, Quantity, quantities, steps
from websearch_gateway.text.citation.roles import (
    Comparison,
    Role,
    company,
    comparisons,
    full_names,
    is_misplaced,
    mixes_names,
    roles,
)
from websearch_gateway.text.citation.sentences import split_sentences
from websearch_gateway.text.retrieval.language import language_of
from websearch_gateway.text.retrieval.tokens import STOP_WORDS, fold, stems, tokens, words

COVERED = 0.6
"""The minimum share of a claim's content words that its passage must contain."""

NEAR = 0.3
"""The minimum share of them around each number: a figure elsewhere on the page is a different figure."""

LONGEST_CLAIM = 600
LONGEST_PASSAGE = 20_000
"""The most characters of a passage that are checked."""

_AROUND = 1
_MOST_PLACES = 3
_FEW = 1
_ANCHORS = 2

_WORD = re.compile(r"[^\W\d_][\w'’.-]*\w|[^\W\d_]")
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LINK = re.compile(r"https?://|www\.|\]\(|<[a-z/!]", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[,;:()\[\]—](?!\d)|\s[-–]\s|\s(?=(?:and|but|while|whereas|although|though|which|who|because|however|when|where|"
    r"after|before|until|since|und|aber|mais|pero)\b)",
    re.IGNORECASE,
)


_LINKING = frozenset(["howev", "therefor", "moreov", "furthermor", "exampl", "instanc", "respect", "thus", "henc"])
"""Stems of words that only link a sentence to others."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence: its content words as stems, all its words, its numbers and its names."""

    content: frozenset[str]
    words: frozenset[str]
    quantities: tuple[Quantity, ...]
    names: frozenset[str]
    denies: bool
    doubts: bool

    @classmethod
    def of(cls, text: str, plain: frozenset[str], *, opens: bool, doubted: bool = False) -> Clause:
        """Read a clause; `opens`: it begins a sentence. `plain` are capitalised words that are not names."""
        said = words(text)
        return cls(
            content=_content(said),
            words=frozenset(said),
            quantities=tuple(quantities(text)),
            names=frozenset(part for name in _names(text, plain, opens=opens) for part in tokens(name)),
            denies=denies(text),
            doubts=doubted or doubts(text),
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage prepared for checking many claims. `around` are the stems of each sentence and its neighbours."""

    heading: Clause
    words: frozenset[str] = field(repr=False)
    heading_dates: frozenset[Date]
    stems: frozenset[str]
    dates: frozenset[Date]
    months: frozenset[str]
    sentences: tuple[tuple[Clause, ...], ...] = field(repr=False)
    around: tuple[frozenset[str], ...] = field(repr=False)
    roles: frozenset[Role] = field(repr=False)
    company: Mapping[str, frozenset[str]] = field(repr=False)
    comparisons: tuple[Comparison, ...] = field(repr=False)
    full_names: tuple[frozenset[str], ...] = field(repr=False)
    steps: frozenset[tuple[str, str]] = field(repr=False)
    measured: frozenset[str] = field(repr=False)
    plain: frozenset[str] = field(repr=False)
    language: str

    @classmethod
    def of(cls, passage: str) -> Evidence:
        """Read a passage with its headings, whose words count for each of its sentences."""
        passage = unicodedata.normalize("NFKC", passage[:LONGEST_PASSAGE])[:LONGEST_PASSAGE]
        heading, _, body = passage.partition("\n")
        pieces = [body[start:end] for start, end in split_sentences(body)] or [body]
        plain = frozenset(word for word in _WORD.findall(passage) if word.islower())
        own = [frozenset(tokens(piece)) for piece in pieces]
        near = [own[max(0, place - _AROUND) : place + _AROUND + 1] for place in range(len(own))]
        above = frozenset(tokens(heading))
        sentences = tuple(tuple(_clauses(piece, plain)) for piece in pieces)
        return cls(
            heading=Clause.of(heading, plain, opens=False),
            words=frozenset(words(passage)),
            heading_dates=frozenset(dates(heading)),
            stems=above.union(*own),
            dates=frozenset(dates(passage)),
            months=frozenset(foreign_months(passage)),
            sentences=sentences,
            around=tuple(above.union(*some) for some in near),
            roles=frozenset(role for piece in pieces for role in roles(piece)),
            company=company(pieces),
            comparisons=tuple(one for piece in pieces for one in comparisons(piece)),
            full_names=tuple(name for piece in (heading, *pieces) for name in full_names(piece)),
            steps=frozenset(step for piece in pieces for step in steps(piece)),
            measured=frozenset(one.of for clauses in sentences for clause in clauses for one in clause.quantities),
            plain=plain,
            language=language_of(body),
        )


def supports(claim: str, evidence: Evidence) -> bool:
    """Whether the passage has all numbers, dates and names of the claim in the same roles, and most of its words."""
    claim = unicodedata.normalize("NFKC", claim)
    clauses = list(_clauses(claim, evidence.plain)) if _is_statement(claim) else []
    content = frozenset[str]().union(*(clause.content for clause in clauses))
    said = frozenset[str]().union(*(clause.words for clause in clauses))
    return (
        bool(content)
        and _covered(content, clauses, evidence)
        and not overstates(said, evidence.words)
        and not is_off_the_scale(said, evidence.words)
        and all(_figures_are_stated(clause, content, evidence) for clause in clauses)
        and _agrees(claim, clauses, evidence)
    )


def anchors(claim: str, evidence: Evidence) -> bool:
    """Whether one place of the passage has all numbers and names, at least two, of a claim in another language.

    The other words cannot be compared. A language whose names look like other words has no anchors.
    """
    claim = unicodedata.normalize("NFKC", claim)
    language = language_of(claim)
    if not _is_statement(claim) or language in ("de", evidence.language) or _UNCASED.search(claim):
        return False
    clauses = list(_clauses(claim, evidence.plain))
    figures = [figure for clause in clauses for figure in clause.quantities]
    names = frozenset[str]().union(*(clause.names for clause in clauses))
    if len(names) + len({figure.value for figure in figures}) < _ANCHORS or not _agrees(claim, clauses, evidence):
        return False
    return any(
        names <= around and all(any(map(figure.matches, stated)) for figure in figures)
        for place, around in enumerate(evidence.around)
        for stated in [[one for clause in evidence.sentences[place] for one in clause.quantities]]
    )


def _is_statement(claim: str) -> bool:
    is_question = claim.rstrip().endswith(("?", "？", "؟"))
    return len(claim) <= LONGEST_CLAIM and not is_question and not _LINK.search(claim)


def _agrees(claim: str, clauses: Sequence[Clause], evidence: Evidence) -> bool:
    return (
        _dates_are_stated(claim, evidence)
        and all(clause.names <= evidence.stems for clause in clauses)
        and not any(_is_turned_round(clause, evidence) for clause in clauses)
        and not _swaps(claim, evidence)
    )


def _swaps(claim: str, evidence: Evidence) -> bool:
    """Whether the claim swaps two things: in a `from A to B`, a comparison, an action, or a name."""
    turned = any(step not in evidence.steps and step[::-1] in evidence.steps for step in steps(claim))
    return (
        turned
        or any(role.opposite in evidence.roles and role not in evidence.roles for role in roles(claim))
        or any(one.is_reversed_in(evidence.comparisons) for one in comparisons(claim))
        or mixes_names(claim, evidence.full_names)
        or is_misplaced(claim, evidence.company, evidence.heading.content | evidence.heading.names)
    )


def _covered(content: frozenset[str], clauses: Sequence[Clause], evidence: Evidence) -> bool:
    """Whether a few places of the passage contain most of the words; at most as many places as the claim has clauses.

    False if a clause without a number shares no word with the passage: then it is an addition.
    """
    wordy = (clause.content for clause in clauses if clause.content and not clause.quantities)
    if any(content.isdisjoint(evidence.stems | _LINKING) for content in wordy):
        return False
    missing = content
    for _ in range(min(len(clauses), _MOST_PLACES)):
        best = max(evidence.around, key=lambda around: len(missing & around), default=frozenset[str]())
        missing -= best
    return len(missing) <= (1 - COVERED) * len(content)


def _dates_are_stated(claim: str, evidence: Evidence) -> bool:
    named = all(is_stated(date, evidence.dates) for date in dates(claim))
    return named and foreign_months(claim) <= evidence.months


def _figures_are_stated(clause: Clause, content: frozenset[str], evidence: Evidence) -> bool:
    """Whether each number is in a sentence about the same subject, or in the page's title or date."""
    above = {str(part) for date in evidence.heading_dates for part in date if part}
    titles = [quantity for quantity in evidence.heading.quantities if quantity.value not in above]
    own = clause.content if len(clause.content) > _FEW else content
    own = own - evidence.heading.content
    return all(
        (quantity.value in above and quantity.unit in ("", DAY))
        or any(quantity.matches(title) for title in titles)
        or any(_is_stated_in(place, quantity, clause, own, evidence) for place in range(len(evidence.sentences)))
        for quantity in clause.quantities
    )


def _is_stated_in(place: int, quantity: Quantity, clause: Clause, own: frozenset[str], evidence: Evidence) -> bool:
    if len(own & evidence.around[place]) < NEAR * len(own):
        return False
    return any(
        quantity.matches(other)
        and not (quantity.of and other.of and quantity.of != other.of and quantity.of in evidence.measured)
        and not (clause.names and nearby.names and clause.names.isdisjoint(nearby.names))
        for nearby in evidence.sentences[place]
        for other in nearby.quantities
    )


def _is_turned_round(clause: Clause, evidence: Evidence) -> bool:
    """Whether the most similar clauses of the passage deny what this one says, or the reverse."""
    said = clause.content - evidence.heading.content or clause.content
    shared = [(len(said & nearby.content), nearby) for sentence in evidence.sentences for nearby in sentence]
    most = max((count for count, _ in shared), default=0)
    nearest = [nearby for count, nearby in shared if count == most]
    if not most or len(said) < 2:
        return clause.denies and not any(nearby.denies for _, nearby in shared)
    return not any(
        (nearby.denies == clause.denies) != contradicts(clause.words, nearby.words)
        and (clause.doubts or not nearby.doubts)
        for nearby in nearest
    )


def _clauses(text: str, plain: frozenset[str]) -> Iterator[Clause]:
    start, doubted = 0, is_hearsay(text)
    for match in (*_CLAUSE.finditer(text), None):
        end = match.start() if match else len(text)
        if re.search(r"\w", text[start:end]):
            yield Clause.of(text[start:end], plain, opens=not start, doubted=doubted)
            start = match.end() if match else end


def _content(said: Sequence[str]) -> frozenset[str]:
    return frozenset(stems([word for word in said if word not in STOP_WORDS and not word.isdecimal()]))


def _names(text: str, plain: frozenset[str], *, opens: bool) -> Iterator[str]:
    """The words with a capital. The first word of a sentence counts too, unless it is a plain word."""
    for place, match in enumerate(_WORD.finditer(text)):
        word = match[0]
        if _UNCASED.search(word) or not any(character.isupper() for character in word):
            continue
        folded = fold(word)
        if folded in STOP_WORDS or folded in MONTHS:
            continue
        if opens and place == 0 and (folded in plain or folded.endswith(("ed", "ing", "ly"))):
            continue
        yield word.removesuffix("'s").removesuffix("’s")
