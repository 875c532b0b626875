"""The verdict: why one answer must not serve two questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from websearch_gateway.cache.semantic.meaning.function_words import NEUTRAL
from websearch_gateway.cache.semantic.meaning.numbers import is_ordinal, is_year
from websearch_gateway.cache.semantic.meaning.order import is_task_noun, numbers_moved, order_differs, roles_differ
from websearch_gateway.cache.semantic.meaning.parse import ParsedQuestion, Term
from websearch_gateway.cache.semantic.meaning.rewordings.wording import SUCCESSIVE
from websearch_gateway.cache.semantic.meaning.words import word_set

Difference = Literal["language", "empty", "left over", "mark", "question", "tense", "role", "number", "order", "count"]

_ONE_OR_MANY = word_set(
    "president king queen minister ceo founder author director inventor winner champion actor actress singer owner "
    "son daughter wife husband brother sister mayor governor senator pope emperor record"
)
_PAST_EVENTS = word_set("birth death cause release invent discover author inventor founder winner assassinate")
_TITLES = word_set(
    "cast movie film song album band lyrics ticket season episode trailer soundtrack roster stock stockprice"
)
_NO_SUPERLATIVE = word_set("latest request interest forest harvest protest contest conquest")


def difference(a: ParsedQuestion, b: ParsedQuestion) -> Difference | None:
    """The kind of the first difference found; None if the questions mean the same. Symmetric."""
    if "foreign" in (a.language, b.language) or "english" not in (a.language, b.language):
        return "language"
    if not a.terms or not b.terms:
        return "empty"
    if (partner := _partners(a.terms, b.terms)) is None:
        return "left over"
    if a.marks != b.marks:
        return "mark"
    if _kinds_differ(a, b, partner):
        return "question"
    if _tenses_differ(a, b) or _verb_tenses_differ(a, b, partner):
        return "tense"
    if roles_differ(a, b, partner):
        return "role"
    if numbers_moved(a, b, partner):
        return "number"
    if order_differs(a, b, partner):
        return "order"
    return "count" if _counts_differ(a, b, partner) else None


def _partners(ours: Sequence[Term], theirs: Sequence[Term]) -> list[int] | None:
    """The position of each term's partner; None if a term on either side has no partner."""
    if len(ours) != len(theirs):
        return None
    free: dict[tuple[str, str], list[int]] = {}
    for position in reversed(range(len(theirs))):
        free.setdefault((theirs[position].sign, theirs[position].base), []).append(position)
    found = []
    for term in ours:
        if not (places := free.get((term.sign, term.base))):
            return None
        found.append(places.pop())
    return found


def _kinds_differ(a: ParsedQuestion, b: ParsedQuestion, partner: Sequence[int]) -> bool:
    if a.parts != b.parts or (a.who_or_what and b.who_or_what and a.who_or_what != b.who_or_what):
        return True  # "who is mercury", "what is mercury"
    if a.kinds == b.kinds:
        return False
    if a.kinds ^ b.kinds != {"HOWTO"}:
        return True
    if "HOWTO" in a.kinds:
        return not _is_same_task(a, b, partner)
    return not _is_same_task(b, a, sorted(range(len(partner)), key=partner.__getitem__))


def _is_same_task(howto: ParsedQuestion, other: ParsedQuestion, partner: Sequence[int]) -> bool:
    """Whether both are one task: "how to install nginx on debian", "install nginx", "nginx installation"."""
    tasks = [i for i in range(len(partner)) if howto.terms[i].form.verb and (i == 0 or is_task_noun(howto, i))]
    return any(_is_task(howto, other, partner, i) for i in tasks)


def _is_task(howto: ParsedQuestion, other: ParsedQuestion, partner: Sequence[int], i: int) -> bool:
    place = partner[i]
    if is_task_noun(other, place) or (place == 0 and other.is_command):
        return True
    before = [term for term, j in zip(howto.terms, partner, strict=True) if j < place]
    return bool(before) and i == 0 and all(term.role in NEUTRAL or term.role == "with" for term in before)


def _tenses_differ(a: ParsedQuestion, b: ParsedQuestion) -> bool:
    ours, theirs = a.tenses - {"present"}, b.tenses - {"present"}
    if ours == theirs:
        return False
    if "present" in a.tenses | b.tenses or ours | theirs != {"past"}:
        return True
    # If one question has no verb, a year or the event itself shows that it is past.
    timeless = b if ours else a
    if any(term.form.verb and not term.form.kind for term in timeless.terms):
        return True
    if _is_numbered_holder(a):
        return False
    return not any(is_year(term.base) or term.base in _PAST_EVENTS for term in a.terms)


def _is_numbered_holder(question: ParsedQuestion) -> bool:
    """Whether it names a holder by number: "the 16th president" is the same man whether he "is" or "was"."""
    bases = [term.base for term in question.terms]
    return not SUCCESSIVE.isdisjoint(bases) and any(map(is_ordinal, bases))


def _verb_tenses_differ(a: ParsedQuestion, b: ParsedQuestion, partner: Sequence[int]) -> bool:
    """Whether a verb is past in only one: "companies that left", "companies that leave". Nouns have no tense."""
    return any(
        "past" in (kinds := {a.terms[i].form.kind, b.terms[j].form.kind}) and kinds - {"past", "noun"}
        for i, j in enumerate(partner)
    )


def _counts_differ(a: ParsedQuestion, b: ParsedQuestion, partner: Sequence[int]) -> bool:
    """Whether singular and plural matter: one president and all of them, the cast of Alien and of Aliens."""
    matters = any(_is_superlative(term.base) or term.base in _TITLES for term in a.terms)
    return any(
        (a.terms[i].form.kind == "plural") != (b.terms[j].form.kind == "plural")
        and a.terms[i].base not in _TITLES
        and (matters or a.terms[i].base in _ONE_OR_MANY)
        for i, j in enumerate(partner)
    )


def _is_superlative(word: str) -> bool:
    if word in ("most", "least", "last") or is_ordinal(word):
        return True
    return word.endswith("est") and len(word) > 5 and word not in _NO_SUPERLATIVE
