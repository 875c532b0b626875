"""Synonyms in some contexts: "lower" means "reduce" in "how to lower cholesterol", not in "lower back"."""

from __future__ import annotations

from websearch_gateway.cache.semantic.meaning.forms import Form
from websearch_gateway.cache.semantic.meaning.numbers import is_number, is_ordinal
from websearch_gateway.cache.semantic.meaning.parse import QuestionParser, Term
from websearch_gateway.cache.semantic.meaning.words import word_set

_IN_A_TASK = {"lower": "reduce", "decrease": "reduce", "boost": "increase", "pick": "choose", "quit": "stop"}
_PICKED = word_set(
    "lock apple fruit berry strawberry blueberry cherry cotton flower mushroom nose guitar tomato pepper"
)
"""Things that are picked but not chosen: before these, "pick" does not mean "choose"."""

_DIFFICULT = word_set("question exam test problem level language puzzle word interview riddle task job class course")
_EASY = word_set("recipe step explanation exercise project meal dessert dinner lunch breakfast tutorial way method")
_IN_CONTEXT = {"hard": ("difficult", _DIFFICULT), "simple": ("easy", _EASY)}

_LEVELLED = word_set(
    "sugar glucose cholesterol pressure oxygen iron testosterone estrogen cortisol insulin hormone ferritin hemoglobin "
    "creatinine potassium sodium calcium magnesium triglyceride humidity dopamine serotonin"
)
"""Things that are measured: "blood sugar level" means "blood sugar"."""

_RESOURCES = word_set("power energy electricity water fuel gas memory battery data cpu bandwidth ram")
_USES = frozenset({"use", "consume"})

SUCCESSIVE = word_set("president minister king queen pope emperor governor chancellor")
"""Offices that one person holds after another, with a number."""

_COMPARING = word_set(
    "better worse cheaper healthier faster slower bigger smaller larger hotter colder older younger stronger weaker "
    "safer easier harder taller heavier lighter longer shorter richer more less best first 1st good bad"
)


def in_context(parser: QuestionParser) -> None:
    """Replace words by their synonyms in this context."""
    terms = parser.terms
    if "HOWTO" in parser.kinds and terms[0].form.verb | (terms[0].base in _IN_A_TASK):
        _reword_task(parser)
    for i, term in enumerate(terms[:-1]):
        head = next((other for other in reversed(terms) if other.chunk == term.chunk), term)
        if (known := _IN_CONTEXT.get(term.base)) and head.base in known[1]:
            terms[i] = term._replace(base=known[0], form=Form(known[0]))
    parser.terms = [
        term
        for i, term in enumerate(terms)
        if not (term.base == "level" and i and terms[i - 1].base in _LEVELLED and terms[i - 1].chunk == term.chunk)
    ]


def _reword_task(parser: QuestionParser) -> None:
    first, *others = parser.terms
    if (base := _IN_A_TASK.get(first.base)) is None or not others:
        return
    if first.base == "pick" and not _PICKED.isdisjoint(term.base for term in others):
        return
    if first.base == "quit" and not others[0].base.endswith("ing"):  # "quit smoking", not "quit vim"
        return
    parser.terms[0] = first._replace(base=base, form=Form(base, first.form.kind, verb=True))


def resource_use(parser: QuestionParser) -> None:
    """ "power consumption of x", "power usage of x", "how much power does x use" ask for one figure."""
    terms = parser.terms
    if len(terms) > 2 and "HOWMUCH" in parser.kinds and terms[0].base in _RESOURCES and terms[-1].base in _USES:
        user = [term._replace(chunk=term.chunk + 1) for term in terms[1:-1]]
        user[0] = user[0]._replace(role=user[0].role or "of")
        parser.terms = terms = [terms[0], terms[-1]._replace(chunk=terms[0].chunk), *user]
        parser.kinds.remove("HOWMUCH")
    for i in range(1, len(terms)):
        term = terms[i]
        if term.base in _USES and terms[i - 1].base in _RESOURCES and term.chunk == terms[i - 1].chunk:
            terms[i] = term._replace(base="use", form=Form("use", "noun"))


def new_features(parser: QuestionParser) -> None:
    """ "what's new in x 4", "new features in x 4" and "x 4 features" ask for the features that a version adds."""
    versions = any(is_number(term.base) for term in parser.terms)
    found: list[Term] = []
    for term in parser.terms:
        if term.base == "feature" and versions and found and found[-1].base == "new":
            before = found.pop()
            term = term._replace(base="newfeature", role=before.role, form=Form("newfeature", "plural"))
        elif term.base in ("newfeature", "feature") and versions and term.form.kind == "plural":
            term = term._replace(base="newfeature", form=Form("newfeature", "plural"))
        found.append(term)
    if any(term.base == "newfeature" for term in found) and parser.who_or_what == "what":
        parser.who_or_what = ""
    parser.terms = found


def date_of_event(parser: QuestionParser) -> None:
    """ "date of the assassination of x" asks when x was assassinated."""
    terms = parser.terms
    if len(terms) < 3 or terms[0].base != "date" or terms[1].role != "of" or terms[1].form.kind != "noun":
        return
    parser.kinds.add("WHEN")
    parser.marks.append("somebody")
    event = terms[1]._replace(role="", form=Form(terms[1].base, "", verb=True))
    parser.terms = [event, *(term._replace(role="" if term.role == "of" else term.role) for term in terms[2:])]
    parser.tenses.add("past")


def number_before_title(parser: QuestionParser) -> None:
    """ "16th us president" is "us 16th president", as in "16th president of the us"."""
    terms = parser.terms
    for i, term in enumerate(terms[:-2]):
        if not is_ordinal(term.base):
            continue
        for k in range(i + 2, min(i + 4, len(terms))):
            if terms[k].base in SUCCESSIVE and terms[k].chunk == term.chunk and not terms[k].role:
                moved = [*terms[:i], *terms[i + 1 : k], term._replace(role=""), *terms[k:]]
                moved[i] = moved[i]._replace(role=term.role, sign=term.sign)
                parser.terms = moved
                return


def number_after_error(parser: QuestionParser) -> None:
    """ "502 error" is "error 502", "404 error code" is "error code 404"."""
    terms = parser.terms
    numbers = [i for i, term in enumerate(terms) if is_number(term.base)]
    if len(numbers) != 1:
        return
    (start,) = numbers
    end = start + 1
    while end < len(terms) and terms[end].base in ("error", "code") and terms[end].chunk == terms[start].chunk:
        end += 1
    named = terms[start + 1 : end]
    if not named or named[-1].form.kind == "plural":
        return
    number = terms[start]
    named[0] = named[0]._replace(role=number.role, sign=number.sign)
    parser.terms = [*terms[:start], *named, number._replace(role="", sign=""), *terms[end:]]


def either_order(parser: QuestionParser) -> None:
    """Sort the two words of "x or y": "is butter or margarine healthier" asks the same of both.

    Applies only if each side is one word. A word before the sides belongs to both if it is a verb, a word after them if
    it compares.
    """
    terms = parser.terms
    places = [i for i in range(1, len(terms)) if terms[i].joint > terms[i - 1].joint]
    if len(places) != 1 or "or" not in parser.marks:
        return
    right = places[0]
    left = right - 1
    if terms[left].sign or terms[right].sign or terms[right].role or is_number(terms[left].base):
        return
    before = terms[left - 1] if left else None
    if before is not None and before.chunk == terms[left].chunk and not before.form.verb | (before.base in _COMPARING):
        return
    after = terms[right + 1] if right + 1 < len(terms) else None
    both_verbs = terms[left].form.verb and terms[right].form.verb
    if after is not None and after.chunk == terms[right].chunk and not both_verbs | (after.base in _COMPARING):
        return
    if is_number(terms[right].base) or terms[right].base >= terms[left].base:
        return
    one, other = terms[left], terms[right]
    terms[left] = one._replace(base=other.base, form=other.form)
    terms[right] = other._replace(base=one.base, form=one.form)
