"""Whether a passage holds a claim: its numbers, dates and names, and most of its other words. Without a model.

The check is strict where an invention would hurt (figures, dates, names) and lenient where a sentence is only put in
other words. It cannot see a claim that says the opposite with the same words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from websearch_gateway.text.citation.sentences import split_sentences
from websearch_gateway.text.retrieval.tokens import STOP_WORDS, fold, stems, tokens, words

COVERED = 0.6
"""The least share of a claim's content words that its passage must hold."""

NEAR = 0.3
"""The least share of them around each number: a figure that stands elsewhere on the page is another figure."""

LONGEST_CLAIM = 600
_AROUND = 1

_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f' ]\d{3})*(?:[.,]\d+)?|\d+")
_WORD = re.compile(r"[^\W\d_][\w'’.-]*\w|[^\W\d_]")
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LINK = re.compile(r"https?://|www\.|\]\(|<[a-z/!]", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never|no|none|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {name: str(value) for value, name in enumerate(f"{_UNITS} seventeen eighteen nineteen".split())} | {
    name: str(10 * value) for value, name in enumerate(_TENS.split(), 2)
}
_LARGE = ("hundred", "thousand", "million", "billion", "trillion", "dozen", "half", "quarter", "twice", "percent")
_UNCOUNTED = frozenset({"one"})
_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name[:size]: number for number, name in enumerate(_MONTHS.split(), 1) for size in (3, len(name))} | {
    "sept": 9
}
_MONTH_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_NAMED = rf"(?P<m>{_MONTH_NAMES})\b\.?"
_YEAR = r"(?P<y>\d{4})\b"
_DATES = (
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_NAMED},?(?:\s+{_YEAR})?", re.IGNORECASE),
    re.compile(rf"\b{_NAMED}\s+{_DAY}\b(?!\d)(?:,?\s+{_YEAR})?", re.IGNORECASE),
    re.compile(rf"\b{_NAMED},?\s+{_YEAR}", re.IGNORECASE),
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?\b"),
    re.compile(rf"\b(?P<d>\d{{1,2}})[./](?P<m>\d{{1,2}})[./]{_YEAR}"),
    re.compile(rf"\b(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}})/{_YEAR}"),
)

Date = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage made ready for many claims. `sentences` are the tokens and numbers of each and its neighbours."""

    heading: frozenset[str]
    heading_dates: frozenset[Date]
    stems: frozenset[str]
    numbers: frozenset[str]
    dates: frozenset[Date]
    sentences: tuple[tuple[frozenset[str], frozenset[str]], ...] = field(repr=False)
    lower: frozenset[str] = field(repr=False)
    denies: bool = False

    @classmethod
    def of(cls, passage: str) -> Evidence:
        """Read a passage with its headings, which lend their words to each of its sentences."""
        passage = unicodedata.normalize("NFKC", passage)
        heading, _, body = passage.partition("\n")
        pieces = [body[start:end] for start, end in split_sentences(body)] or [body]
        own = [(frozenset(tokens(piece)), frozenset(_numbers(piece))) for piece in pieces]
        above = frozenset(tokens(heading))
        around = [
            (frozenset[str]().union(*(one for one, _ in near)), frozenset[str]().union(*(one for _, one in near)))
            for place in range(len(own))
            for near in [own[max(0, place - _AROUND) : place + _AROUND + 1]]
        ]
        return cls(
            heading=above,
            heading_dates=frozenset(_dates(heading)),
            stems=above.union(*(one for one, _ in own)),
            numbers=frozenset(_numbers(passage)),
            dates=frozenset(_dates(passage)),
            sentences=(*around, (above, frozenset(_numbers(heading)))),
            lower=frozenset(word for word in _WORD.findall(passage) if word.islower()),
            denies=bool(_NEGATION.search(passage)),
        )


def supports(claim: str, evidence: Evidence) -> bool:
    """Whether all numbers, dates and names of the claim occur in the passage, and most of its content words."""
    claim = unicodedata.normalize("NFKC", claim)
    if len(claim) > LONGEST_CLAIM or claim.rstrip().endswith(("?", "？", "؟")) or _LINK.search(claim):
        return False
    if _NEGATION.search(claim) and not evidence.denies:
        return False
    content = frozenset(stems([word for word in words(claim) if word not in STOP_WORDS and not word.isdecimal()]))
    numbers = set(_numbers(claim))
    if not content or not numbers <= evidence.numbers:
        return False
    dates = set(_dates(claim))
    if not all(_is_told(date, evidence.dates) for date in dates):
        return False
    if not all(_holds_name(name, evidence) for name in _names(claim, evidence)):
        return False
    if len(content & evidence.stems) < COVERED * len(content):
        return False
    # "As of May 2026": the page's own date stands above its text.
    above = {str(part) for date in dates if _is_told(date, evidence.heading_dates) for part in date if part}
    return all(_stands_near(number, content - evidence.heading, evidence) for number in numbers - above)


def _stands_near(number: str, content: frozenset[str], evidence: Evidence) -> bool:
    """Whether a sentence with this number, or its neighbours, holds some of the words. Headings lend theirs to all."""
    return any(
        number in numbers and len(content & around) >= NEAR * len(content) for around, numbers in evidence.sentences
    )


def _numbers(text: str) -> Iterator[str]:
    """Every number in one spelling: digits, without signs between thousands. Words for numbers count too."""
    for match in _NUMBER.finditer(text):
        yield _plain(match[0])
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in _SMALL and word not in _UNCOUNTED:
            yield _SMALL[word]
        elif word.removesuffix("s") in _LARGE:
            yield word.removesuffix("s")


def _plain(number: str) -> str:
    """`1,234.50` and `1 234,5` as `1234.5`. A single sign parts thousands before three digits, else decimals."""
    digits = re.sub(r"[\u00a0\u202f' ]", "", number)
    parts = re.split(r"[.,]", digits)
    if len(parts) == 1:
        whole, fraction = digits, ""
    elif len(parts[-1]) == 3 and (len(parts) > 2 or parts[0] != "0"):
        whole, fraction = "".join(parts), ""
    else:
        whole, fraction = "".join(parts[:-1]), parts[-1].rstrip("0")
    value = str(int(whole)) if len(whole) < 40 else whole
    return f"{value}.{fraction}" if fraction else value


def _dates(text: str) -> Iterator[Date]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month = parts["m"]
            number = int(month) if month.isdecimal() else _MONTH[month.lower()]
            if 1 <= number <= 12:
                yield (
                    int(parts["y"]) if parts.get("y") else None,
                    number,
                    int(parts["d"]) if parts.get("d") else None,
                )


def _is_told(date: Date, told: Iterable[Date]) -> bool:
    """Whether one date that was told has all the parts of this one."""
    return any(all(part is None or part == other for part, other in zip(date, one, strict=True)) for one in told)


def _names(claim: str, evidence: Evidence) -> Iterator[str]:
    """The words with a capital or a digit inside. The first word of the sentence is one unless it is a plain word."""
    for place, match in enumerate(_WORD.finditer(claim)):
        word = match[0]
        if _UNCASED.search(word) or not any(character.isupper() for character in word):
            continue
        folded = fold(word)
        if folded in STOP_WORDS or (folded[:3] in _MONTH and folded in _MONTH):
            continue
        if place == 0 and (folded in evidence.lower or folded.endswith(("ed", "ing", "ly"))):
            continue
        yield word


def _holds_name(name: str, evidence: Evidence) -> bool:
    return all(part in evidence.stems for part in tokens(name) if part not in ("s",))
