"""Splits a sentence into its content words, each with the function words before it, for `alignment` to compare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.text.citation.calendar import MONTHS
from websearch_gateway.text.citation.operators import BEING, FUNCTION, OPERATORS, prepositions
from websearch_gateway.text.citation.quantities import Quantity, quantities
from websearch_gateway.text.citation.synonyms import in_one_word, senses
from websearch_gateway.text.retrieval.tokens import fold, stems, words

MOST_WORDS = 600
"""The most content words of a sentence that are read: no claim has more."""

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}})\b)?", re.IGNORECASE)
_ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)\b")
_FULL_NAMES = [name.capitalize() for name in MONTHS if len(name) > 4 or name in ("may", "june", "july")]
# With the vowel signs of Arabic and of Indic and South-East Asian scripts, which are no letters to `re`.
_LETTERS = r"(?:[^\W_]|[\u064b-\u0652\u0900-\u0eff\u1000-\u109f\u1780-\u17ff])+"
_PIECE = re.compile(
    r"(?P<edge>[,;:()\[\]—\"“”«»，、；：（）。।؛،]|\s[-–]\s|[.!?](?=\s))" rf"|(?P<word>{_LETTERS}(?:['’.]{_LETTERS})*)"
)
_SPELLED = re.compile(r"[\u0900-\u0dff]")
_NOT = re.compile(r"n['’]t$")
_POSSESSIVE = re.compile(r"['’]s?$")
_AGENT = frozenset(("by", "the", "a", "an", "its", "his", "her", "their"))
_OF_NUMBERS = frozenset(("usd", "eur", "gbp", "jpy", "inr", "minus", "some"))


@dataclass(frozen=True, slots=True)
class Word:
    """A content word or a number.

    `stem` is empty for a number. `senses` has the stem and its rows of synonyms. `before` has the function words since
    the last content word, and `operators` the denials, doubts and amounts among them. `part` is the number of commas
    and other edges so far; `edge` is the last edge. `owns`: the word is a possessive, as in `Ann's`.
    """

    text: str
    stem: str = ""
    senses: frozenset[str] = frozenset()
    figure: Quantity | None = None
    before: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    part: int = 0
    edge: str = ""
    owns: bool = False

    def matches(self, other: Word) -> bool:
        """Whether the other word means the same; a number also needs its unit."""
        if self.figure and other.figure:
            return self.figure.matches(other.figure)
        return not self.senses.isdisjoint(other.senses)

    @property
    def prepositions(self) -> frozenset[str]:
        """The prepositions before it."""
        return prepositions(self.before)


END = Word("")
"""A word after the last one of a sentence, which carries the function words at the end."""


def wording(text: str) -> list[Word]:
    """The content words of a sentence in order; `END` with the words after the last one comes last."""
    text = in_one_word(_MONTH_FIRST.sub(_day_first, _ISO_DATE.sub(_spelled_out, text)))
    found: list[Word] = []
    before: list[str] = []
    part, edge = 0, ""
    for piece in _pieces(text):
        if isinstance(piece, Quantity):
            before = [word for word in before if word not in _OF_NUMBERS]
            found.append(_word(piece.value, before, part, edge, piece))
            before, edge = [], ""
        elif piece[0] == "\0":
            part, edge = part + 1, edge if edge == ";" else piece[1:]
        elif _is_function_word(piece):
            folded = fold(piece)
            before.append(_NOT.sub("", folded))
            before += ["not"] * bool(_NOT.search(folded))
        else:
            bare = _POSSESSIVE.sub("", piece)
            for one in [fold(bare)] if _SPELLED.search(bare) else words(bare):
                found.append(_word(one, before, part, edge))
                before, edge = [], ""
            if bare != piece:
                found[-1] = replace(found[-1], owns=True)
        if len(found) >= MOST_WORDS:
            break
    known = stems([word.text for word in found])
    read = [
        word if word.figure else replace(word, stem=stem, senses=senses(stem))
        for word, stem in zip(found, known, strict=True)
    ]
    return [*read, _word("", before, part, edge)]


def active(sentence: Sequence[Word]) -> list[Word] | None:
    """`A was built by B` as `B built A`; None if it is not passive."""
    for place in range(1, len(sentence) - 2):
        verb, agent = sentence[place], sentence[place + 1]
        if (
            "by" in agent.before
            and set(agent.before) <= _AGENT
            and not BEING.isdisjoint(verb.before)
            and verb.part == agent.part
        ):
            end = place + 2
            while end < len(sentence) - 1 and _continues(agent, sentence[end]):
                end += 1
            start = place
            while start and sentence[start - 1].part == verb.part:
                start -= 1
            subject = (replace(agent, before=(), operators=sentence[start].operators), *sentence[place + 2 : end])
            patient = (replace(sentence[start], operators=()), *sentence[start + 1 : place])
            return [*sentence[:start], *subject, replace(verb, before=()), *patient, *sentence[end:]]
    return None


def _continues(name: Word, word: Word) -> bool:
    return not word.before and not word.figure and word.part == name.part


def _pieces(text: str) -> Iterator[str | Quantity]:
    """Words, numbers, and edges with a NUL before them."""
    at = 0
    for figure in sorted(quantities(text), key=lambda one: one.start):
        if figure.start >= at:
            yield from _plain(text, at, figure.start)
            yield figure
            at = figure.end
    yield from _plain(text, at, len(text))


def _plain(text: str, start: int, end: int) -> Iterator[str]:
    for match in _PIECE.finditer(text, start, end):
        yield f"\0{match['edge'].strip()}" if match["edge"] else match["word"]


def _is_function_word(word: str) -> bool:
    if word == "May" or (word.isupper() and len(word) > 1):  # the month, the US
        return False
    bare = _POSSESSIVE.sub("", fold(word))
    return bare in FUNCTION or bare in OPERATORS or bare in _OF_NUMBERS or bool(_NOT.search(fold(word)))


def _word(text: str, before: Sequence[str], part: int, edge: str, figure: Quantity | None = None) -> Word:
    operators = tuple(OPERATORS[word] for word in before if word in OPERATORS)
    said = frozenset((f"#{text}",)) if figure else frozenset()
    return Word(text, "", said, figure, tuple(before), operators, part, edge)


def _spelled_out(date: re.Match[str]) -> str:
    return f"{int(date[3])} {_FULL_NAMES[int(date[2]) - 1]} {date[1]}"


def _day_first(date: re.Match[str]) -> str:
    return f"{date[2]} {date[1]} {date[3] or ''} "
