"""Recognises the kind of thing that a question asks for, and finds things of this kind in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from websearch_gateway.text.retrieval.english_kinds import english_kind, english_pattern
from websearch_gateway.text.retrieval.multilingual.kinds import kind_of, pattern
from websearch_gateway.text.retrieval.tokens import words

_MOST_FOUND = 20
_STEM = 5
_MARKED_BY_WORDS = frozenset(("name", "reason"))
"""Kinds that are recognised by words that may also be in the question: "called", "because"."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of answer. `given` matches things of this kind; `stem` is the number of letters that identify a word."""

    name: str
    given: re.Pattern[str]
    stem: int | None = None

    def said_in(self, question: str) -> frozenset[str]:
        """The words of a question, which cannot be its answer: the stems of its words, empty for some kinds."""
        if self.stem is not None and self.name in _MARKED_BY_WORDS:
            return frozenset()
        return frozenset(word[: self.stem] for word in words(question))

    def found_in(self, text: str, asked: frozenset[str]) -> list[re.Match[str]]:
        """The things of this kind in a sentence, except those whose words are all in `asked`, a result of `said_in`."""
        found = islice(self.given.finditer(text), _MOST_FOUND)
        return [one for one in found if not asked or not asked >= {word[: self.stem] for word in words(one[0])}]


def asked_for(query: str, language: str) -> Kind | None:
    """The kind of thing that a question asks for; None if it asks for no known kind."""
    if language == "en":
        name = english_kind(query)
        return Kind(name, english_pattern(name)) if name else None
    name = kind_of(query, language)
    return Kind(name, pattern(name, language), _STEM) if name else None
