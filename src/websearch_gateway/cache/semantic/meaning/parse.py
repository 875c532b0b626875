"""The parsed question: how it is asked, and the terms that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from websearch_gateway.cache.semantic.meaning.forms import Form, form
from websearch_gateway.cache.semantic.meaning.function_words import (
    ALWAYS_ASK,
    ANYBODY,
    ARTICLES,
    ASK_ANYBODY,
    BE,
    IGNORED,
    JOINTS,
    LABELLED,
    MODALS,
    NEEDS,
    NEUTRAL,
    OPEN_A_QUESTION,
    POSSESSIVES,
    PRONOUNS,
    QUESTION_WORDS,
    ROLES,
    SIGNS,
    TENSES,
)
from websearch_gateway.cache.semantic.meaning.language import Language
from websearch_gateway.cache.semantic.meaning.lexicon import ALSO_NOUNS
from websearch_gateway.cache.semantic.meaning.numbers import is_number, numerals
from websearch_gateway.cache.semantic.meaning.phrases import rewrite
from websearch_gateway.cache.semantic.meaning.spelling import spell


class Term(NamedTuple):
    """A word that needs a partner in the other question.

    Args:
        base: the word in its one form; a quantity together with its unit.
        sign: "not" or "without", if that precedes it.
        role: the preposition that leads to it; "" for none.
        chunk: the number of the stretch between prepositions and conjunctions in which it stands.
        joint: the number of conjunctions before it.
    """

    base: str
    sign: str
    role: str
    chunk: int
    joint: int
    form: Form


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """The parts of a question that another question with the same meaning must have.

    Args:
        language: by its words; names alone are "unknown".
        kinds: question words and frames, such as WHEN or HOWTO; YESNO for "is ...", "can ...".
        tenses: of its verbs and auxiliaries.
        marks: modal verbs, pronouns and prepositions that lead to no term.
        terms: the words that carry its subject, in order.
        who_or_what: "who" for "who is ...", "what" for "what is ...", else "".
        parts: the number of questions in it: 2 for "who is x and where was he born".
        is_command: whether it is a command: "install nginx", not "nginx installation".
        expletive: whether it has the form "is it ... to ...".
    """

    language: Language
    kinds: frozenset[str]
    tenses: frozenset[str]
    marks: tuple[str, ...]
    terms: tuple[Term, ...]
    who_or_what: str = ""
    parts: int = 1
    is_command: bool = False
    expletive: bool = False


@dataclass(slots=True)
class QuestionParser:
    """Goes through the words once and collects the parts of the question."""

    words: Sequence[str]
    kinds: set[str] = field(default_factory=set)
    tenses: set[str] = field(default_factory=set)
    marks: list[str] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    who_or_what: str = ""
    before_be: int = -1
    """The number of terms before the first form of "be"; -1 without it."""
    _auxiliary: int | None = None
    _first: int = 0
    _role: str = ""
    _sign: str = ""
    _chunk: int = 0
    _joint: int = 0
    _after_be: bool = False

    @classmethod
    def of(cls, text: str) -> QuestionParser:
        """A parser that has parsed `text`."""
        parser = cls(rewrite(numerals(spell(text))))
        parser._first = next((i for i, word in enumerate(parser.words) if word not in IGNORED), 0)
        for position in range(len(parser.words)):
            parser._take(position)
        parser._finish()
        return parser

    def is_command(self) -> bool:
        """Whether it begins with a verb; one that is also a noun ("filter coffee") needs an article after it."""
        if "HOWTO" in self.kinds:
            return bool(self.terms) and self.terms[0].form.verb
        word = self.words[self._first] if self._first < len(self.words) else ""
        known = form(word)
        if not known.verb or known.kind not in ("", "ing"):
            return False
        return word not in ALSO_NOUNS or self._next(self._first) in IGNORED | POSSESSIVES

    def _take(self, position: int) -> None:
        """Handle the next word. The order of the tests decides the use of an ambiguous word."""
        word = self.words[position]
        if word.isupper():
            self._take_marker(word)
        elif word in IGNORED and not self._is_label(position):
            # "what is boiling" asks for an event, "what is the boiling point" does not.
            if word in ARTICLES and not self._asks_with_be():
                self._after_be = False
        elif word in SIGNS:
            self._take_sign(word, position)
        elif word in ALWAYS_ASK or (word in QUESTION_WORDS and position == self._first):
            self._take_question_word(word, position)
        elif word == "to" and self._is_infinitive(position):
            return
        elif word in ROLES:
            self._take_preposition(ROLES[word])
        elif word in JOINTS:
            self._take_conjunction(word)
        elif not self._take_auxiliary(word, position):
            self._take_term(word, position)

    def _take_sign(self, word: str, position: int) -> None:
        """Record a negation. After the auxiliary or its subject, "not" negates all: "why don't cats like water"."""
        if word == "not" and self._auxiliary is not None and position > self._auxiliary and self._negates_all(position):
            self.marks.append("not")
        else:
            self._sign = f"{self._sign} {SIGNS[word]}".strip()

    def _negates_all(self, position: int) -> bool:
        around = (self.words[position - 1], self._next(position))
        is_plain = not (self._sign or self._role or self._chunk or "to" in around)
        return is_plain and len(self.terms) <= 2 and not any(term.form.verb for term in self.terms)

    def _take_marker(self, word: str) -> None:
        if word in ("PAST", "PRESENT"):
            self.tenses.add(word.lower())
        else:
            self.kinds.add(word)

    def _next(self, position: int) -> str:
        return self.words[position + 1] if position + 1 < len(self.words) else ""

    def _is_label(self, position: int) -> bool:
        """Whether it is the letter of "vitamin a" or "hepatitis a", not the article."""
        if self.words[position] != "a" or position == 0:
            return False
        return position == len(self.words) - 1 or self.words[position - 1] in LABELLED

    def _is_infinitive(self, position: int) -> bool:
        known = form(self._next(position))
        return known.verb and not known.kind

    def _take_question_word(self, word: str, position: int) -> None:
        self._drop_pending()
        following = self._next(position)
        if word in ("what", "who") and following in BE:
            self.who_or_what = self.who_or_what or word
        elif word == "who" and (following in MODALS or following in ("do", "does", "did", "will")):
            self.kinds.add("WHOM")  # "who did napoleon defeat"
        else:
            self.kinds.add(QUESTION_WORDS[word])

    def _take_preposition(self, role: str) -> None:
        if role == "to" and "from" not in self.words and self._follows_a_source():
            self.terms[-1] = self.terms[-1]._replace(role="from")
        self._role = role if self._role in NEUTRAL else f"{self._role} {role}".strip()
        self._chunk += 1

    def _follows_a_source(self) -> bool:
        """Whether the last term is a starting point: "london to tokyo" is from london; "listen to" is from nowhere."""
        if not self.terms or self._role or self._sign:
            return False
        return not self.terms[-1].role and not self.terms[-1].form.verb

    def _take_conjunction(self, word: str) -> None:
        self._drop_pending()
        if word == "vs":
            self.kinds.add("VS")
        elif word == "or":
            self.marks.append(word)
        self._chunk += 1
        self._joint += 1

    def _finish(self) -> None:
        self._drop_pending()
        if not self.tenses and any(term.form.kind == "past" for term in self.terms):
            self.tenses.add("past")

    def _drop_pending(self) -> None:
        """Mark a preposition or "not" that leads to no term: "before and after", "what is it used for", "lights on"."""
        if pending := f"{self._sign} {self._role}".strip():
            self.marks.append(pending)
        self._role = self._sign = ""

    def _take_auxiliary(self, word: str, position: int) -> bool:
        """Record a word that only gives tense, modality or person; False for any other word."""
        before = self.words[position - 1] if position else ""
        if position == self._first and word in OPEN_A_QUESTION:
            self.kinds.add("YESNO")
        if word in OPEN_A_QUESTION and self._auxiliary is None and self._opens(position):
            self._auxiliary = position
        if word in BE and self.before_be < 0:
            self.before_be = len(self.terms)
        if word in TENSES and before != "to":
            self.tenses.add(TENSES[word])
        elif word in MODALS:
            self.marks.append(word)
        elif word in PRONOUNS or (word in ANYBODY and before in OPEN_A_QUESTION):
            self._take_pronoun(word, "do need" if before == "do" and self._next(position) in NEEDS else before)
        elif word == "there" and before in BE:
            if "YESNO" in self.kinds:
                self.kinds.add("THERE")
        else:
            return False
        self._after_be = word in BE or (self._after_be and word in PRONOUNS)
        return True

    def _opens(self, position: int) -> bool:
        """Whether it is the auxiliary of the question: its first word, or that after its question word."""
        return position == self._first or (position == self._first + 1 and self.words[self._first] in QUESTION_WORDS)

    def _take_pronoun(self, word: str, before: str) -> None:
        if word in ANYBODY and before in ASK_ANYBODY:
            word = "anybody"
        self.marks.append(f"{self._sign} {self._role} {word}".strip())
        self._role = self._sign = ""

    def _take_term(self, word: str, position: int) -> None:
        known = Form(word) if is_number(word) else form(word)
        if word == "top" and self._is_ranking(position):
            known = Form("best")
        if known.kind in ("past", "ing") and self._is_passive_or_progressive(known.kind):
            self.marks.append(f"be {known.kind}")
        self.terms.append(Term(known.base, self._sign, self._role, self._chunk, self._joint, known))
        self._role = self._sign = ""
        self._after_be = False

    def _is_ranking(self, position: int) -> bool:
        """Whether "top" means "best": in "top 10", "10 top", and "top movies" at the beginning."""
        if is_number(self._next(position)) or (position and is_number(self.words[position - 1])):
            return True
        return position == 0 and form(self._next(0)).kind == "plural"

    def _asks_with_be(self) -> bool:
        return "YESNO" in self.kinds and self.words[self._first] in BE

    def _is_passive_or_progressive(self, kind: str) -> bool:
        """Whether "be" makes it passive or progressive. In "is owning a tiger legal" it does neither."""
        if self._asks_with_be():
            return kind == "past" or not self._after_be
        return self._after_be
