"""Words in one form: inflection, spelling and synonyms, from bounded lists.

A word in no list keeps its spelling, except for a plural ending, so two names never become one.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Literal

from websearch_gateway.cache.semantic.meaning.lexicon import (
    DERIVED,
    IRREGULAR_NOUNS,
    IRREGULAR_VERBS,
    SEPARATE,
    SYNONYMS,
    VERBS,
)
from websearch_gateway.cache.semantic.meaning.numbers import UNITS
from websearch_gateway.cache.semantic.meaning.spelling import SPELLINGS
from websearch_gateway.cache.semantic.meaning.words import groups

Kind = Literal["", "plural", "past", "ing", "noun"]

_OUR = re.compile(r"\b(col|fav|lab|hon|rum|harb|tum|arm|hum|od|vap|flav|behavi|neighb|endeav|glam|sav)our")
_CONSONANTS = "bcdfghjklmnpqrstvwxz"


@dataclass(frozen=True, slots=True)
class Form:
    """A word's base, how it is inflected, and whether it is a verb that names a task ("install", "translate")."""

    base: str
    kind: Kind = ""
    verb: bool = False


@functools.lru_cache(maxsize=16_384)
def form(word: str) -> Form:
    """The form of a lower-case word."""
    spelled = _spelled(word)
    if known := _known().get(spelled):
        return known
    if (singular := _singular(spelled)) != spelled:
        known = _known().get(singular)
        if known and known.kind in ("", "noun"):
            # "installs" is a verb, "installations" a noun.
            return Form(known.base, "" if known.verb and not known.kind else "plural", known.verb)
        return Form(singular, "plural")
    return Form(spelled)


@functools.cache
def _known() -> dict[str, Form]:
    known: dict[str, Form] = {}
    synonyms = {word: group[0] for group in groups(SYNONYMS) for word in group}
    for verb in VERBS.split():
        base = synonyms.get(verb, verb)
        for word, kind in _inflected(verb):
            known[word] = Form(base, kind, verb=True)
    for base, *forms in groups(IRREGULAR_VERBS):
        for word in forms:
            known[word] = Form(synonyms.get(base, base), "past", verb=base in known)
    for base, *nouns in groups(DERIVED):
        for noun in nouns:
            known[noun] = Form(synonyms.get(base, base), "noun", verb=True)
    for singular, *plurals in groups(IRREGULAR_NOUNS):
        for plural in plurals:
            known[plural] = Form(synonyms.get(singular, singular), "plural")
    for word, base in synonyms.items():
        known.setdefault(word, Form(base))
    for word, unit in UNITS.items():
        known.setdefault(word, Form(unit))
    known.update((word, Form(word)) for word in SEPARATE.split())
    return known


def _inflected(verb: str) -> list[tuple[str, Kind]]:
    forms: list[tuple[str, Kind]] = [(verb, "")]
    if verb.endswith("e"):
        stem, past = verb[:-1], verb + "d"
    elif verb[-1] == "y" and verb[-2] in _CONSONANTS:
        return [*forms, (verb[:-1] + "ies", ""), (verb[:-1] + "ied", "past"), (verb + "ing", "ing")]
    elif _doubles(verb):
        stem, past = verb + verb[-1], verb + verb[-1] + "ed"
    else:
        stem, past = verb, verb + "ed"
    third = verb + ("es" if verb.endswith(("s", "x", "ch", "sh")) else "s")
    return [*forms, (third, ""), (past, "past"), (stem + "ing", "ing")]


def _doubles(verb: str) -> bool:
    """Short verbs that end in one vowel and one consonant: stop, stopping."""
    return len(verb) <= 4 and verb[-1] in "bdgmnprt" and verb[-2] in "aeiou" and verb[-3] in _CONSONANTS


def _spelled(word: str) -> str:
    """American spelling: by rule where no two words can collide, otherwise by list."""
    if (listed := SPELLINGS.get(word)) is not None:
        return listed
    if "our" in word:
        word = _OUR.sub(r"\1or", word)
    if len(word) >= 7:
        word = re.sub(r"is(e|es|ed|ing|ation|ations)$", r"iz\1", word)
        word = re.sub(r"ys(e|es|ed|ing)$", r"yz\1", word)
    return word


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "'s")) or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses", "zzes")):
        return word[:-2]
    return word[:-1]
