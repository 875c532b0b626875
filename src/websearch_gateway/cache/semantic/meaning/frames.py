"""Rewrites question frames of several words to one form. `parse_question` turns text into a ParsedQuestion."""

from __future__ import annotations

import re

from websearch_gateway.cache.semantic.meaning.forms import Form, form
from websearch_gateway.cache.semantic.meaning.function_words import POSSESSIVES
from websearch_gateway.cache.semantic.meaning.language import language
from websearch_gateway.cache.semantic.meaning.numbers import UNIT_NAMES, is_number, is_year, quantity_unit
from websearch_gateway.cache.semantic.meaning.parse import ParsedQuestion, QuestionParser
from websearch_gateway.cache.semantic.meaning.rewordings.courtesy import without_courtesies
from websearch_gateway.cache.semantic.meaning.rewordings.voice import to_active
from websearch_gateway.cache.semantic.meaning.rewordings.wording import (
    date_of_event,
    either_order,
    in_context,
    new_features,
    number_after_error,
    number_before_title,
    resource_use,
)
from websearch_gateway.cache.semantic.meaning.words import word_set

_GUIDES = frozenset({"guide", "tutorial", "tutorials", "instructions"})
_NO_GUIDE = frozenset({"tour", "tv", "field", "spirit", "parent", "study"})
_NUTRIENTS = word_set("calorie protein carb carbohydrate fiber sugar caffeine sodium potassium iron cholesterol")
_CURRENT_BY_DEFAULT = word_set("price stockprice time president minister ceo king queen mayor governor version")
_MEASURED = frozenset({"price", "weight"})
_PRICES = frozenset({"price", "stockprice", "rate"})

_FURTHER_PART = re.compile(
    r"""[?;]+\ +(?=\w)
      | (?:,|,?\ and|\ or|,?\ but)(?:\ then)?\ (?=(?:who|whose|what|when|where|why|how|is|are|was|were|does|do|did|can
          |could|should|will|would|has|have|by\ whom)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Where a second question begins. "x or y, which is better" is one question."""

_REWORDINGS = (
    in_context,
    resource_use,
    new_features,
    date_of_event,
    to_active,
    number_before_title,
    number_after_error,
    either_order,
)


def parse_question(text: str) -> ParsedQuestion:
    """Parse a question. A text that is not English is parsed as far as possible, but has no equal."""
    text = without_courtesies(text)
    parser = QuestionParser.of(text)
    if parser.terms:
        for rewording in _REWORDINGS:
            rewording(parser)
    bases = frozenset(term.base for term in parser.terms)
    if bases:
        for frame in (_guide, _howto, _recipe, _how_much, _what_means, _date, _now, _ranking, _conversion):
            frame(parser, bases)
    expletive = "YESNO" in parser.kinds and "it" in parser.marks
    if expletive:
        parser.marks.remove("it")
    return ParsedQuestion(
        language(text),
        frozenset(parser.kinds),
        frozenset(parser.tenses),
        tuple(sorted(parser.marks)),
        tuple(parser.terms),
        parser.who_or_what,
        1 + len(_FURTHER_PART.findall(text)),
        parser.is_command(),
        expletive,
    )


def _rename(parser: QuestionParser, old: str, new: Form) -> None:
    parser.terms = [t._replace(base=new.base, form=new) if t.base == old else t for t in parser.terms]


def _drop(parser: QuestionParser, base: str) -> None:
    """Remove the terms with this base, unless no term would be left."""
    parser.terms = [term for term in parser.terms if term.base != base] or parser.terms


def _guide(parser: QuestionParser, _: frozenset[str]) -> None:
    """ "x guide" is how to x, except for a tour guide."""
    words = parser.words
    if words[-1] in _GUIDES and len(parser.terms) > 1 and words[-2] not in _NO_GUIDE:
        parser.terms.pop()
        parser.kinds.add("HOWTO")


def _howto(parser: QuestionParser, _: frozenset[str]) -> None:
    """ "how to reset my phone" is "how to reset a phone"."""
    if "HOWTO" in parser.kinds:
        parser.marks = [mark for mark in parser.marks if mark not in POSSESSIVES]


def _recipe(parser: QuestionParser, bases: frozenset[str]) -> None:
    """ "recipe for x" is "how to make x"."""
    if "recipe" in bases:
        _rename(parser, "recipe", Form("make", "noun", verb=True))
        parser.kinds.add("HOWTO")


def _how_much(parser: QuestionParser, bases: frozenset[str]) -> None:
    """ "how much does x cost" is the price of x; "how many moons does x have" is the number of moons of x."""
    kinds = parser.kinds & {"HOWMUCH", "HOWMANY"}
    if not kinds:
        return
    if not bases.isdisjoint(_NUTRIENTS) or ("HOWMUCH" in kinds and not bases.isdisjoint(_MEASURED)):
        parser.kinds -= kinds
    if "HOWMANY" in kinds and len(parser.terms) > 1 and parser.terms[-1].base == "have":
        parser.terms.pop()


def _what_means(parser: QuestionParser, bases: frozenset[str]) -> None:
    """ "what does x mean" is the meaning of x."""
    if "mean" in bases and "WHAT" in parser.kinds and parser.terms[-1].base == "mean":
        parser.kinds.remove("WHAT")
        _rename(parser, "mean", form("meaning"))


def _date(parser: QuestionParser, bases: frozenset[str]) -> None:
    """ "x date" is when x is."""
    last = parser.terms[-1]
    if "date" in bases and not parser.kinds and parser.words[-1] == "date" and len(parser.terms) > 1 and not last.role:
        parser.terms.pop()
        parser.kinds.add("WHEN")


def _now(parser: QuestionParser, bases: frozenset[str]) -> None:
    """A question about a price or a president means the current one."""
    if bases.isdisjoint(("now", "today")):
        return
    if parser.tenses & {"past", "future"} or any(map(is_year, bases)):
        return
    if not bases.isdisjoint(_CURRENT_BY_DEFAULT):
        _drop(parser, "now")
    if not bases.isdisjoint(_PRICES):
        _drop(parser, "today")


def _ranking(parser: QuestionParser, bases: frozenset[str]) -> None:
    """ "10 best" is "best 10"."""
    terms = parser.terms
    for position in range(len(terms) - 1 if "best" in bases else 0):
        number, best = terms[position], terms[position + 1]
        if best.base == "best" and is_number(number.base) and number.chunk == best.chunk and not best.role:
            terms[position] = best._replace(role=number.role, sign=number.sign)
            terms[position + 1] = number._replace(role="", sign="")


def _conversion(parser: QuestionParser, bases: frozenset[str]) -> None:
    """ "convert 5 miles to km", "5 miles in km", "how many km is 5 miles"; and "x to y" without its "convert"."""
    if "convert" in bases and {"from", "to"} <= {term.role for term in parser.terms}:
        parser.kinds.discard("HOWTO")
        _drop(parser, "convert")
    if bases.isdisjoint(UNIT_NAMES):
        return
    given = [term for term in parser.terms if quantity_unit(term.base)]
    wanted = [term for term in parser.terms if term.base in UNIT_NAMES]
    others = [term for term in parser.terms if term not in given and term not in wanted and term.base != "convert"]
    if len(given) == len(wanted) == 1 and not others:
        parser.kinds.discard("HOWMANY")
        parser.terms = [given[0]._replace(role="from", chunk=0), wanted[0]._replace(role="to", chunk=1)]
