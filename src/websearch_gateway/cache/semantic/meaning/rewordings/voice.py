"""Turns passive questions into active ones: "was x invaded by y" into "did y invade x"."""

from __future__ import annotations

from websearch_gateway.cache.semantic.meaning.forms import Form
from websearch_gateway.cache.semantic.meaning.numbers import is_number
from websearch_gateway.cache.semantic.meaning.parse import QuestionParser, Term
from websearch_gateway.cache.semantic.meaning.phrases import AGENTS

PASSIVE = "be past"
SOMEBODY = "somebody"


def to_active(parser: QuestionParser) -> None:
    """Put the agent first, then the verb, then its object. If no agent is named, mark SOMEBODY."""
    if parser.before_be >= 0 and (verb := _participle(parser)) is not None:
        by_whom = [term for term in parser.terms if term.role == "by" and not is_number(term.base)]
        if len(by_whom) == 1:
            _with_named_agent(parser, verb, by_whom[0].chunk)
        elif "by" in parser.marks:
            _with_asked_agent(parser, verb)
        elif parser.kinds & {"WHEN", "WHERE", "WHY", "HOW"} and not by_whom:
            _without_agent(parser, verb)
    elif "they" in parser.marks and parser.kinds & {"WHEN", "WHERE", "WHY", "HOW"} and parser.terms[0].form.verb:
        parser.marks[parser.marks.index("they")] = SOMEBODY


def _participle(parser: QuestionParser) -> int | None:
    """The position of the only verb, which ends the first stretch of terms; None if there is no such verb."""
    verbs = [i for i, term in enumerate(parser.terms) if term.form.kind == "past" and term.form.verb]
    if len(verbs) != 1:
        return None
    (verb,) = verbs
    first = all(term.role in ("", "of") for term in parser.terms[: verb + 1])
    ends = verb + 1 == len(parser.terms) or parser.terms[verb + 1].chunk > parser.terms[verb].chunk
    return verb if first and ends and verb > parser.before_be and not parser.terms[verb].sign else None


def _in_active(verb: Term, *, past: bool = False) -> Term:
    """The verb as an active question has it: with its ending only where no auxiliary gives the tense."""
    return verb._replace(form=Form(verb.form.base, "past" if past else "", verb=True), role="", chunk=0)


def _unmark(parser: QuestionParser) -> None:
    if PASSIVE in parser.marks:
        parser.marks.remove(PASSIVE)


def _with_named_agent(parser: QuestionParser, verb: int, chunk: int) -> None:
    terms = parser.terms
    agent = [term._replace(role="", chunk=0) for term in terms if term.chunk == chunk]
    rest = [term for term in terms[verb + 1 :] if term.chunk != chunk]
    asked, objects = terms[: parser.before_be], terms[parser.before_be : verb]
    if asked:  # "which country is x ruled by y": not a plain passive
        return
    _unmark(parser)
    parser.terms = [*agent, _in_active(terms[verb]), *objects, *rest]


def _with_asked_agent(parser: QuestionParser, verb: int) -> None:
    """ "who was x painted by" is "who painted x", "which company is x made by" is "which company makes x"."""
    terms = parser.terms
    asked, objects, rest = terms[: parser.before_be], terms[parser.before_be : verb], terms[verb + 1 :]
    if not objects or (asked and not parser.kinds & {"WHICH", "WHAT"}) or (not asked and parser.who_or_what != "who"):
        return
    _unmark(parser)
    parser.marks.remove("by")
    verb_term = _in_active(terms[verb], past="past" in parser.tenses)
    if asked:
        parser.terms = [*asked, verb_term, *objects, *rest]
    elif agent := AGENTS.get(verb_term.base):
        first = Term(agent, "", "", verb_term.chunk, verb_term.joint, Form(agent))
        moved = [term._replace(role="of" if i == 0 else "", chunk=term.chunk + 1) for i, term in enumerate(objects)]
        parser.terms = [first, *moved, *(term._replace(chunk=term.chunk + 1) for term in rest)]
        parser.tenses.clear()
    else:
        parser.kinds.add("WHO")
        parser.who_or_what = ""
        parser.terms = [verb_term, *objects, *rest]


def _without_agent(parser: QuestionParser, verb: int) -> None:
    """ "where was x signed" is "where did they sign x"."""
    terms = parser.terms
    if not verb:
        return
    _unmark(parser)
    parser.marks.append(SOMEBODY)
    parser.terms = [_in_active(terms[verb]), *terms[:verb], *terms[verb + 1 :]]
