"""Passive questions as active ones: "was x invaded by y" asks what "did y invade x" asks."""

from __future__ import annotations

from websearch_gateway.cache.semantic.meaning.forms import Form
from websearch_gateway.cache.semantic.meaning.numbers import is_number
from websearch_gateway.cache.semantic.meaning.parse import QuestionParser, Term
from websearch_gateway.cache.semantic.meaning.phrases import AGENTS

PASSIVE = "be past"
SOMEBODY = "somebody"


def to_active(reader: QuestionParser) -> None:
    """Put the doer first, then the verb, then whom it is done to. Without a doer, mark SOMEBODY."""
    if reader.before_be >= 0 and (verb := _participle(reader)) is not None:
        by_whom = [term for term in reader.terms if term.role == "by" and not is_number(term.base)]
        if len(by_whom) == 1:
            _with_named_agent(reader, verb, by_whom[0].chunk)
        elif "by" in reader.marks:
            _with_asked_agent(reader, verb)
        elif reader.kinds & {"WHEN", "WHERE", "WHY", "HOW"} and not by_whom:
            _without_agent(reader, verb)
    elif "they" in reader.marks and reader.kinds & {"WHEN", "WHERE", "WHY", "HOW"} and reader.terms[0].form.verb:
        reader.marks[reader.marks.index("they")] = SOMEBODY


def _participle(reader: QuestionParser) -> int | None:
    """The position of the only verb, which ends the first stretch of terms; None if there is no such verb."""
    verbs = [i for i, term in enumerate(reader.terms) if term.form.kind == "past" and term.form.verb]
    if len(verbs) != 1:
        return None
    (verb,) = verbs
    first = all(term.role in ("", "of") for term in reader.terms[: verb + 1])
    ends = verb + 1 == len(reader.terms) or reader.terms[verb + 1].chunk > reader.terms[verb].chunk
    return verb if first and ends and verb > reader.before_be and not reader.terms[verb].sign else None


def _in_active(verb: Term, *, past: bool = False) -> Term:
    """The verb as an active question has it: with its ending only where no auxiliary gives the tense."""
    return verb._replace(form=Form(verb.form.base, "past" if past else "", verb=True), role="", chunk=0)


def _unmark(reader: QuestionParser) -> None:
    if PASSIVE in reader.marks:
        reader.marks.remove(PASSIVE)


def _with_named_agent(reader: QuestionParser, verb: int, chunk: int) -> None:
    terms = reader.terms
    agent = [term._replace(role="", chunk=0) for term in terms if term.chunk == chunk]
    rest = [term for term in terms[verb + 1 :] if term.chunk != chunk]
    asked, done_to = terms[: reader.before_be], terms[reader.before_be : verb]
    if asked:  # "which country is x ruled by y": not a plain passive
        return
    _unmark(reader)
    reader.terms = [*agent, _in_active(terms[verb]), *done_to, *rest]


def _with_asked_agent(reader: QuestionParser, verb: int) -> None:
    """ "who was x painted by" is "who painted x", "which company is x made by" is "which company makes x"."""
    terms = reader.terms
    asked, done_to, rest = terms[: reader.before_be], terms[reader.before_be : verb], terms[verb + 1 :]
    if not done_to or (asked and not reader.kinds & {"WHICH", "WHAT"}) or (not asked and reader.asked_of != "who"):
        return
    _unmark(reader)
    reader.marks.remove("by")
    verb_term = _in_active(terms[verb], past="past" in reader.tenses)
    if asked:
        reader.terms = [*asked, verb_term, *done_to, *rest]
    elif agent := AGENTS.get(verb_term.base):
        first = Term(agent, "", "", verb_term.chunk, verb_term.joint, Form(agent))
        whom = [term._replace(role="of" if i == 0 else "", chunk=term.chunk + 1) for i, term in enumerate(done_to)]
        reader.terms = [first, *whom, *(term._replace(chunk=term.chunk + 1) for term in rest)]
        reader.tenses.clear()
    else:
        reader.kinds.add("WHO")
        reader.asked_of = ""
        reader.terms = [verb_term, *done_to, *rest]


def _without_agent(reader: QuestionParser, verb: int) -> None:
    """ "where was x signed" is "where did they sign x"."""
    terms = reader.terms
    if not verb:
        return
    _unmark(reader)
    reader.marks.append(SOMEBODY)
    reader.terms = [_in_active(terms[verb]), *terms[:verb], *terms[verb + 1 :]]
