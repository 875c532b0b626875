"""The kind of thing that a question asks for, and the things of this kind in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from websearch_gateway.text.retrieval.english_kinds import english_kind, english_pattern
from websearch_gateway.text.retrieval.multilingual.kinds import kind_of, pattern
from websearch_gateway.text.retrieval.tokens import words

_MOST_FOUND = 20
_STEM = 5
_MAY_BE_SAID = frozenset(("name", "reason"))
"""Such things are told by words that a question has too: "called", "because"."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of answer; `stem` are the first letters of a word that tell it from others."""

    name: str
    given: re.Pattern[str]
    stem: int | None = None

    def said_in(self, question: str) -> frozenset[str]:
        """The words of a question, which cannot be its answer."""
        if self.stem is not None and self.name in _MAY_BE_SAID:
            return frozenset()
        return frozenset(word[: self.stem] for word in words(question))

    def found_in(self, text: str, asked: frozenset[str]) -> list[re.Match[str]]:
        """The things of this kind in a sentence, other than those whose words are all in the question (`asked`)."""
        found = islice(self.given.finditer(text), _MOST_FOUND)
        return [one for one in found if not asked or not asked >= {word[: self.stem] for word in words(one[0])}]


def asked_for(query: str, language: str) -> Kind | None:
    """The kind of thing that a question asks for; None if it is not one of these."""
    if language == "en":
        name = english_kind(query)
        return Kind(name, english_pattern(name)) if name else None
    name = kind_of(query, language)
    return Kind(name, pattern(name, language), _STEM) if name else None
