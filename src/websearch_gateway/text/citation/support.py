"""Checks without a model whether a passage supports a claim: the claim must be made of the passage's own sentences.

docs/decisions.md lists the claims that the check accepts and rejects.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from websearch_gateway.text.citation.alignment import is_made_of
from websearch_gateway.text.citation.calendar import Date, dates, foreign_months, is_stated
from websearch_gateway.text.citation.operators import BETWEEN_STATEMENTS, PRONOUNS, denies, is_hearsay
from websearch_gateway.text.citation.quantities import Quantity, quantities
from websearch_gateway.text.citation.sentences import split_sentences
from websearch_gateway.text.citation.wording import END, Word, active, wording
from websearch_gateway.text.retrieval.language import language_of
from websearch_gateway.text.retrieval.tokens import STOP_WORDS, fold, tokens, words

LONGEST_CLAIM = 600
LONGEST_PASSAGE = 20_000
"""The most characters of a passage that are checked."""

_MOST_SENTENCES = 4
_MOST_STATEMENTS = 4
_MOST_CUTS = 6
_SUBJECT = 6
_ANCHORS = 2
_OWN_WORDS = 0.5

_WORD = re.compile(r"[^\W\d_][\w'’.-]*\w|[^\W\d_]")
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LINK = re.compile(r"https?://|www\.|\]\(|<[a-z/!]", re.IGNORECASE)
_STOP = re.compile(r"(?<=;)\s")
_AS_OF = re.compile(r"\A(?:as of|in|on)\s([^,]{4,20}),\s|\s(?:as of|in|on)\s([^,]{4,20})\.?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage in one or two wordings. `topic` has the senses of the words its pronouns may refer to."""

    wordings: tuple[Sequence[Word], ...]
    senses: frozenset[str]
    topic: frozenset[str]
    stems: frozenset[str]
    figures: tuple[Quantity, ...]
    denies: bool
    hearsay: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage prepared for checking many claims."""

    sentences: tuple[Sentence, ...] = field(repr=False)
    heading_dates: frozenset[Date]
    dates: frozenset[Date]
    months: frozenset[str]
    words: frozenset[str] = field(repr=False)
    language: str

    @classmethod
    def of(cls, passage: str) -> Evidence:
        """Read a passage. Its first line has the headings, which name the topic of all its sentences."""
        passage = unicodedata.normalize("NFKC", passage[:LONGEST_PASSAGE])[:LONGEST_PASSAGE]
        heading, _, body = passage.partition("\n")
        pieces = [body[start:end] for start, end in split_sentences(body)] or [body]
        return cls(
            sentences=tuple(_sentences(heading, pieces)),
            heading_dates=frozenset(dates(heading)),
            dates=frozenset(dates(passage)),
            months=frozenset(foreign_months(passage)),
            words=frozenset(words(passage)),
            language=language_of(body),
        )


def supports(claim: str, evidence: Evidence) -> bool:
    """Whether each statement of the claim is made of one sentence of the passage."""
    claim = unicodedata.normalize("NFKC", claim)
    if not _is_statement(claim) or len(words(claim)) < 2:
        return False
    said = wording(_without_page_date(claim, evidence))
    places = _found(said, evidence, _MOST_STATEMENTS, ())
    return bool(places) and (is_hearsay(claim) or not any(evidence.sentences[place].hearsay for place in places))


def anchors(claim: str, evidence: Evidence) -> bool:
    """Whether one sentence of the passage has all numbers and names, at least two, of a claim in another language.

    Its other words cannot be compared. Always False for a language in which names look like other words.
    """
    claim = unicodedata.normalize("NFKC", claim)
    language = language_of(claim)
    if not _is_statement(claim) or language in ("de", evidence.language) or _UNCASED.search(claim):
        return False
    said = [word for word in words(claim) if not word.isdecimal()]
    figures = list(quantities(claim))
    names = frozenset(part for name in _names(claim) for part in tokens(name))
    if (
        sum(word in evidence.words for word in said) > _OWN_WORDS * len(said)  # the same language after all
        or len(names) + len({figure.value for figure in figures}) < _ANCHORS
        or not all(is_stated(date, evidence.dates) for date in dates(claim))
        or not foreign_months(claim) <= evidence.months
    ):
        return False
    return any(
        names <= sentence.stems
        and all(any(map(figure.matches, sentence.figures)) for figure in figures)
        and sentence.denies == denies(claim)
        for sentence in evidence.sentences
    )


def _sentences(heading: str, pieces: Sequence[str]) -> Iterator[Sentence]:
    above, above_stems = _senses(wording(heading)), frozenset(tokens(heading))
    before: Sequence[Word] = ()
    parts = ((part, hearsay) for piece in pieces for hearsay in [is_hearsay(piece)] for part in _parts(piece))
    for piece, hearsay in parts:
        said = wording(piece)
        refers_back = bool({"the", "both", *PRONOUNS} & set(words(piece)[:1]))
        yield Sentence(
            wordings=(said, turned) if (turned := active(said)) else (said,),
            senses=_senses(said),
            topic=above | _senses(before[:_SUBJECT]) if refers_back else above,
            stems=above_stems.union(tokens(piece)),
            figures=tuple(quantities(piece)),
            denies=denies(piece),
            hearsay=hearsay,
        )
        before = said


def _parts(sentence: str) -> list[str]:
    """The statements that semicolons separate, unless one stands in brackets."""
    parts = _STOP.split(sentence)
    return parts if all(part.count("(") == part.count(")") for part in parts) else [sentence]


def _senses(said: Sequence[Word]) -> frozenset[str]:
    return frozenset[str]().union(*(word.senses for word in said))


def _found(claim: Sequence[Word], evidence: Evidence, most: int, taken: Sequence[int]) -> list[int]:
    """The indices of the sentences that the claim is made of, a new one for each statement; empty if it is not."""
    if len(claim) < 2:
        return []
    senses = _senses(claim)
    free = [place for place in range(len(evidence.sentences)) if place not in taken]
    free.sort(key=lambda place: -len(senses & evidence.sentences[place].senses))
    for place in free[:_MOST_SENTENCES]:
        if _is_said(claim, evidence.sentences[place], whole=bool(taken)):
            return [place]
    if most == 1:
        return []
    for cut in _cuts(claim):
        one = _found([*claim[:cut], END], evidence, 1, taken)
        other = _found(_without_join(claim[cut:]), evidence, most - 1, [*taken, *one]) if one else []
        if other:
            return [*one, *other]
    return []


def _is_said(claim: Sequence[Word], sentence: Sentence, *, whole: bool) -> bool:
    turned = active(claim)
    return any(
        is_made_of(said, theirs, sentence.topic, whole=whole)
        for said in ((claim, turned) if turned else (claim,))
        for theirs in sentence.wordings
    )


def _cuts(claim: Sequence[Word]) -> list[int]:
    """The indices of the words with which a second statement may begin."""
    places = range(1, len(claim) - 1)
    return [
        place for place in places if claim[place].edge == ";" or not BETWEEN_STATEMENTS.isdisjoint(claim[place].before)
    ][:_MOST_CUTS]


def _without_join(statement: Sequence[Word]) -> list[Word]:
    first, *others = statement
    before = tuple(word for word in first.before if word not in BETWEEN_STATEMENTS)
    return [replace(first, before=before), *others]


def _is_statement(claim: str) -> bool:
    is_question = claim.rstrip().endswith(("?", "？", "؟"))
    return len(claim) <= LONGEST_CLAIM and not is_question and not _LINK.search(claim)


def _without_page_date(claim: str, evidence: Evidence) -> str:
    """`claim` without an `as of` date, if the headings have that date."""
    match = _AS_OF.search(claim)
    said = list(dates(match[1] or match[2])) if match else []
    if match and said and all(is_stated(date, evidence.heading_dates) for date in said):
        return claim[: match.start()] + claim[match.end() :]
    return claim


def _names(text: str) -> Iterator[str]:
    """The capitalised words, which may be names."""
    for match in _WORD.finditer(text):
        folded = fold(match[0])
        if any(character.isupper() for character in match[0]) and folded not in STOP_WORDS:
            yield match[0].removesuffix("'s").removesuffix("’s")
