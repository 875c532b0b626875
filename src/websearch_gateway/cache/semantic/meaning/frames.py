"""Question frames of several words, brought to one form. `read` turns text into a ParsedQuestion."""

from __future__ import annotations

import re

from websearch_gateway.cache.semantic.meaning.forms import Form, form
from websearch_gateway.cache.semantic.meaning.function_words import ANYBODYS
from websearch_gateway.cache.semantic.meaning.language import language
from websearch_gateway.cache.semantic.meaning.numbers import UNIT_NAMES, is_number, is_year, quantity_unit
from websearch_gateway.cache.semantic.meaning.parse import ParsedQuestion, QuestionParser
from websearch_gateway.cache.semantic.meaning.rewordings.courtesy import without_courtesies
from websearch_gateway.cache.semantic.meaning.rewordings.voice import to_active
from websearch_gateway.cache.semantic.meaning.rewordings.wording import (
    either_order,
    event_date,
    in_company,
    new_features,
    number_after_error,
    number_before_title,
    resource_use,
)
from websearch_gateway.cache.semantic.meaning.words import word_set

_GUIDES = frozenset({"guide", "tutorial", "tutorials", "instructions"})
_NO_GUIDE = frozenset({"tour", "tv", "field", "spirit", "parent", "study"})
_NUTRIENTS = word_set("calorie protein carb carbohydrate fiber sugar caffeine sodium potassium iron cholesterol")
_ASKED_FOR_NOW = word_set("price stockprice time president minister ceo king queen mayor governor version")
_MEASURED = frozenset({"price", "weight"})
_PRICES = frozenset({"price", "stockprice", "rate"})

_FURTHER_PART = re.compile(
    r"""[?;]+\ +(?=\w)
      | (?:,|,?\ and|\ or|,?\ but)(?:\ then)?\ (?=(?:who|whose|what|when|where|why|how|is|are|was|were|does|do|did|can
          |could|should|will|would|has|have|by\ whom)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Where a second question begins. "x or y, which is better" is one."""


_REWORDINGS = (
    in_company,
    resource_use,
    new_features,
    event_date,
    to_active,
    number_before_title,
    number_after_error,
    either_order,
)


def read(text: str) -> ParsedQuestion:
    """Parse a question. A text that is not English is parsed as far as possible, and equals no other question."""
    text = without_courtesies(text)
    reader = QuestionParser.of(text)
    if reader.terms:
        for rewording in _REWORDINGS:
            rewording(reader)
    bases = frozenset(term.base for term in reader.terms)
    if bases:
        for frame in (_guide, _howto, _recipe, _how_much, _what_means, _date, _now, _ranking, _conversion):
            frame(reader, bases)
    expletive = "YESNO" in reader.kinds and "it" in reader.marks
    if expletive:
        reader.marks.remove("it")
    return ParsedQuestion(
        language(text),
        frozenset(reader.kinds),
        frozenset(reader.tenses),
        tuple(sorted(reader.marks)),
        tuple(reader.terms),
        reader.asked_of,
        1 + len(_FURTHER_PART.findall(text)),
        reader.is_order(),
        expletive,
    )


def _rename(reader: QuestionParser, old: str, new: Form) -> None:
    reader.terms = [t._replace(base=new.base, form=new) if t.base == old else t for t in reader.terms]


def _drop(reader: QuestionParser, base: str) -> None:
    """Without these terms, unless nothing would be left."""
    reader.terms = [term for term in reader.terms if term.base != base] or reader.terms


def _guide(reader: QuestionParser, _: frozenset[str]) -> None:
    """ "x guide" is how to x, except for a tour guide."""
    words = reader.words
    if words[-1] in _GUIDES and len(reader.terms) > 1 and words[-2] not in _NO_GUIDE:
        reader.terms.pop()
        reader.kinds.add("HOWTO")


def _howto(reader: QuestionParser, _: frozenset[str]) -> None:
    """How to reset my phone is how to reset a phone."""
    if "HOWTO" in reader.kinds:
        reader.marks = [mark for mark in reader.marks if mark not in ANYBODYS]


def _recipe(reader: QuestionParser, bases: frozenset[str]) -> None:
    """A recipe for x is how to make x."""
    if "recipe" in bases:
        _rename(reader, "recipe", Form("make", "noun", verb=True))
        reader.kinds.add("HOWTO")


def _how_much(reader: QuestionParser, bases: frozenset[str]) -> None:
    """ "how much does x cost" is the price of x; "how many moons does x have" is the number of moons of x."""
    kinds = reader.kinds & {"HOWMUCH", "HOWMANY"}
    if not kinds:
        return
    if not bases.isdisjoint(_NUTRIENTS) or ("HOWMUCH" in kinds and not bases.isdisjoint(_MEASURED)):
        reader.kinds -= kinds
    if "HOWMANY" in kinds and len(reader.terms) > 1 and reader.terms[-1].base == "have":
        reader.terms.pop()


def _what_means(reader: QuestionParser, bases: frozenset[str]) -> None:
    """ "what does x mean" is the meaning of x."""
    if "mean" in bases and "WHAT" in reader.kinds and reader.terms[-1].base == "mean":
        reader.kinds.remove("WHAT")
        _rename(reader, "mean", form("meaning"))


def _date(reader: QuestionParser, bases: frozenset[str]) -> None:
    """ "x date" is when x is."""
    last = reader.terms[-1]
    if "date" in bases and not reader.kinds and reader.words[-1] == "date" and len(reader.terms) > 1 and not last.role:
        reader.terms.pop()
        reader.kinds.add("WHEN")


def _now(reader: QuestionParser, bases: frozenset[str]) -> None:
    """A question about a price or a president means the current one."""
    if bases.isdisjoint(("now", "today")):
        return
    if reader.tenses & {"past", "future"} or any(map(is_year, bases)):
        return
    if not bases.isdisjoint(_ASKED_FOR_NOW):
        _drop(reader, "now")
    if not bases.isdisjoint(_PRICES):
        _drop(reader, "today")


def _ranking(reader: QuestionParser, bases: frozenset[str]) -> None:
    """ "10 best" is "best 10"."""
    terms = reader.terms
    for position in range(len(terms) - 1 if "best" in bases else 0):
        number, best = terms[position], terms[position + 1]
        if best.base == "best" and is_number(number.base) and number.chunk == best.chunk and not best.role:
            terms[position] = best._replace(role=number.role, sign=number.sign)
            terms[position + 1] = number._replace(role="", sign="")


def _conversion(reader: QuestionParser, bases: frozenset[str]) -> None:
    """ "convert 5 miles to km", "5 miles in km", "how many km is 5 miles"; and "x to y" without its "convert"."""
    if "convert" in bases and {"from", "to"} <= {term.role for term in reader.terms}:
        reader.kinds.discard("HOWTO")
        _drop(reader, "convert")
    if bases.isdisjoint(UNIT_NAMES):
        return
    given = [term for term in reader.terms if quantity_unit(term.base)]
    wanted = [term for term in reader.terms if term.base in UNIT_NAMES]
    others = [term for term in reader.terms if term not in given and term not in wanted and term.base != "convert"]
    if len(given) == len(wanted) == 1 and not others:
        reader.kinds.discard("HOWMANY")
        reader.terms = [given[0]._replace(role="from", chunk=0), wanted[0]._replace(role="to", chunk=1)]
