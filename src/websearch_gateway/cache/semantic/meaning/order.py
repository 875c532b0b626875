"""Who does what to whom: the prepositions, the numbers and the order of the terms of two questions.

`partner` gives, for each term of the first question, the position of its partner in the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from websearch_gateway.cache.semantic.meaning.function_words import NEUTRAL
from websearch_gateway.cache.semantic.meaning.lexicon import TASK_NOUNS
from websearch_gateway.cache.semantic.meaning.numbers import is_number, is_year
from websearch_gateway.cache.semantic.meaning.parse import ParsedQuestion, Term
from websearch_gateway.cache.semantic.meaning.words import word_set

_MOVABLE = word_set("online pdf today tomorrow tonight yesterday now latest daily weekly monthly annual")
_SYMMETRIC = frozenset({"distance", "timedifference"})
_DEGREES = word_set("maximum minimum average total recommended normal typical best")
_NAMED_BY_ORDER = word_set(
    "university college bank institute school academy church museum house hospital club man woman boy girl lady lord "
    "game heart city planet"
)
""""university of miami" is not "miami university", and "man in iron" is not "iron man"."""
_TOOLS = word_set(
    "python java javascript typescript c++ c# golang php bash css html sql excel git docker pandas numpy nodejs "
    "kubernetes postgresql mysql nginx redis apache mongodb kafka linux ubuntu react vue angular django flask "
    "terraform ansible jenkins rust golang kotlin swift ruby"
)
_TAKEN_FROM = frozenset({"remove", "delete", "extract"})


def roles_differ(a: ParsedQuestion, b: ParsedQuestion, partner: Sequence[int]) -> bool:
    """Whether a significant preposition differs, or is missing on one side."""
    symmetric = _is_symmetric(a)
    dropped_by = set()
    for i, j in enumerate(partner):
        ours, theirs = a.terms[i].role, b.terms[j].role
        if ours == theirs or (symmetric and {ours, theirs} <= {"", "from", "to", "between"}):
            continue
        if ours and theirs:
            return True
        if (ours or theirs) in NEUTRAL:
            if i == j == 0:  # "on demand" is no compound
                return True
            dropped_by.add("b" if ours else "a")
        elif not (_leads_as_tool(a, i, b, j) or _leads_as_tool(b, j, a, i) or _is_taken_from(a, ours or theirs)):
            return True
    # "cat food for dogs", "dog food for cats": each lacks a preposition that the other has.
    return len(dropped_by) == 2


def _is_symmetric(question: ParsedQuestion) -> bool:
    return any(term.base in _SYMMETRIC for term in question.terms)


def _leads_as_tool(a: ParsedQuestion, i: int, b: ParsedQuestion, j: int) -> bool:
    """Whether a tool is named first: "pandas read csv", "read csv with pandas"."""
    if i or a.terms[0].role or b.terms[j].role != "with":
        return False
    return len(a.terms) > 1 and a.terms[1].form.verb


def _is_taken_from(a: ParsedQuestion, role: str) -> bool:
    """Whether something is taken from something: "remove duplicates from a list", "list remove duplicates"."""
    return role == "from" and any(term.base in _TAKEN_FROM for term in a.terms)


def numbers_moved(a: ParsedQuestion, b: ParsedQuestion, partner: Sequence[int]) -> bool:
    """Whether a number belongs to different words: "iphone 15 galaxy 24", "galaxy 15 iphone 24"."""
    for i, j in enumerate(partner):
        if is_number(a.terms[i].base) and not is_year(a.terms[i].base):
            ours, theirs = _neighbours(a.terms, i), _neighbours(b.terms, j)
            if (ours or theirs) and not ours & theirs:
                return True
    return False


def _neighbours(terms: Sequence[Term], position: int) -> set[str]:
    around = (*terms[max(0, position - 1) : position], *terms[position + 1 : position + 2])
    return {term.base for term in around if term.chunk == terms[position].chunk}


def order_differs(a: ParsedQuestion, b: ParsedQuestion, partner: Sequence[int]) -> bool:
    """Whether terms changed places in a way that may reverse the relation."""
    if _ascends(partner) or _is_symmetric(a):
        return False
    fixed = [i for i in range(len(partner)) if not _moves_freely(a, i, b, partner[i])]
    if _ascends([partner[i] for i in fixed]):
        return False
    pairs = [(i, partner[i]) for i in fixed]
    return not (_is_rearranged(a, b, pairs) or _is_rearranged(b, a, sorted((j, i) for i, j in pairs)))


def _ascends(positions: Sequence[int]) -> bool:
    return all(one < next_one for one, next_one in pairwise(positions))


def _moves_freely(a: ParsedQuestion, i: int, b: ParsedQuestion, j: int) -> bool:
    term = a.terms[i]
    if term.base in _MOVABLE or term.sign == "without":
        return True
    if term.base in _TOOLS and {i, j} <= {0, len(a.terms) - 1}:
        return sum(other.base in _TOOLS for other in a.terms) == 1  # "python sort list", "sort list python"
    if is_year(term.base):
        return sum(is_number(other.base) for other in a.terms) == 1
    if a.expletive != b.expletive and (i if a.expletive else j) < 2:
        return True  # "is it safe to eat x", "is x safe to eat"
    if term.base in _DEGREES and i == j == 0:
        return True  # "maximum dose of x", "maximum x dose"
    return (a.is_command and i == 0 and is_task_noun(b, j)) or (b.is_command and j == 0 and is_task_noun(a, i))


def is_task_noun(question: ParsedQuestion, position: int) -> bool:
    """Whether the term is the noun at the end of "x to y translation". A command would begin with its verb."""
    terms = question.terms
    term = terms[position]
    is_noun = term.form.kind == "noun" or term.base in TASK_NOUNS
    if not is_noun and not (term.form.kind == "ing" and "HOWTO" in question.kinds):  # "letter writing guide"
        return False
    return position > 0 and (position == len(terms) - 1 or terms[position + 1].chunk > terms[position].chunk)


def _is_rearranged(a: ParsedQuestion, b: ParsedQuestion, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether `b` contains each chunk of `a` whole, at a place where it means the same."""
    chunks: dict[int, list[tuple[int, int]]] = {}
    for i, j in pairs:
        chunks.setdefault(a.terms[i].chunk, []).append((i, j))
    rank = {j: place for place, j in enumerate(sorted(j for _, j in pairs))}
    for chunk in chunks.values():
        places = [rank[j] for _, j in chunk]
        if places != list(range(places[0], places[0] + len(places))):
            return False
    heads = [chunk[0] for chunk in chunks.values()]
    return all(
        one[1] < other[1] or _may_pass(a, b, one, other, adjacent=p + 1 == q)
        for p, one in enumerate(heads)
        for q, other in enumerate(heads)
        if p < q
    )


def _may_pass(
    a: ParsedQuestion, b: ParsedQuestion, one: tuple[int, int], other: tuple[int, int], *, adjacent: bool
) -> bool:
    """Whether the chunk that begins with the second term may come before the one that begins with the first.

    Each term is given as its positions in `a` and in `b`.
    """
    x, u = a.terms[one[0]], b.terms[one[1]]
    y, v = a.terms[other[0]], b.terms[other[1]]
    if (x.role, y.role) == (u.role, v.role):
        # Phrases in another order, or the two sides of "and" and "vs".
        return x.role != y.role or (_are_joined(x, y) and _are_joined(v, u))
    if y.role in NEUTRAL and not v.role:  # "x of y", "y x"; other phrases may move over more
        return (adjacent or y.role != "of") and a.terms[other[0] - 1].base not in _NAMED_BY_ORDER
    return _leads_as_tool(b, other[1], a, other[0])


def _are_joined(one: Term, other: Term) -> bool:
    """Whether the two chunks are the sides of one "and", "or" or "vs"."""
    return other.chunk == one.chunk + 1 and other.joint == one.joint + 1
