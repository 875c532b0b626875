"""Reads a model's reply, in JSON or in plain text, as sentences with what each cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from websearch_gateway.answers.reference_marks import (
    MARK,
    MARK_AND_BLANKS,
    MARK_IN_WORD,
    numbers_of,
)
from websearch_gateway.base import split_sentences
from websearch_gateway.foreign_json import BadJson, Json, objects, parse_json_within, typed

MAX_DRAFT = 8_000
"""Characters of a reply that are read. An answer has 800."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```\w*")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`")
_LEAD = re.compile(
    r"\A\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+|(?:final )?answer:\s*)", re.IGNORECASE
)
_QUOTED = re.compile(
    r"[\[【]\s?(\d{1,3})\s?:\s?[\"“”„«‘']([^\n\[\]【】]{1,600}?)[\"“”»’']\s?[\]】]"
)
_UNFINISHED = re.compile(r"\s{0,3}[\[【]\s?\d{1,3}\s?:[^\]】]{0,700}\Z")
_INTRODUCTION = re.compile(r"\A[^\n]{0,160}[:：]\s*\n")
_FIRST_QUOTE, _END_OF_NUMBERS = 900, 1000
"""The numbers of marks that stand for quotes that were taken out; no prompt has so many passages."""


@dataclass(frozen=True, slots=True)
class Cite:
    """A passage that a sentence cites, and the words that the model says it copied from there; empty if it did not."""

    passage: int
    words: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence without its marks, and what it cites."""

    text: str
    cites: tuple[Cite, ...] = ()


def claims_of(reply: str) -> list[Claim]:
    """The sentences of a reply in JSON or in plain text, without thoughts. Skips a cut-off sentence in JSON."""
    written = _UNOPENED_THOUGHT.sub("", _THOUGHT.sub("", reply[: 4 * MAX_DRAFT]))[:MAX_DRAFT]
    bare = _FENCE.sub("", written).strip()
    if bare.startswith(("{", "[")) and '"text"' in bare:
        return list(_claims_in_json(bare))
    return list(_claims_in_text(_UNFINISHED.sub("", _INTRODUCTION.sub("", bare))))


def _claims_in_json(text: str) -> Iterator[Claim]:
    """The claims of every complete `{"text", "quotes"}` object, even in a truncated reply."""
    position = text.find("{")
    while position >= 0:
        try:
            value, end = parse_json_within(text, position)
        except BadJson:
            end = position + 1
        else:
            for sentence in objects(value.get("sentences", [value])):
                if isinstance(sentence.get("text"), str):
                    yield from _sentences(sentence["text"], _cites(sentence), {})
        position = text.find("{", end)


def _cites(sentence: Json) -> tuple[Cite, ...]:
    cites = []
    for quote in objects(sentence.get("quotes")):
        number = quote.get("passage")
        if type(number) is int:  # true is no number
            cites.append(Cite(number, typed(str, quote.get("words"))))
    return tuple(cites)


def _claims_in_text(text: str) -> Iterator[Claim]:
    """The claims of a text in which marks such as `[2]` and quotes such as `[2: "its words"]` cite."""
    quoted: dict[int, Cite] = {}

    def taken_out(match: re.Match[str]) -> str:
        number = _FIRST_QUOTE + len(quoted) % (_END_OF_NUMBERS - _FIRST_QUOTE)
        quoted[number] = Cite(int(match[1]), match[2])
        return f"[{number}]"

    def apart(mark: re.Match[str]) -> str:
        """`[2, 3]` as `[2][3]`, which marks the end of a sentence."""
        return "".join(f"[{number}]" for number in numbers_of(mark[0]))

    yield from _sentences(MARK.sub(apart, _QUOTED.sub(taken_out, text)), (), quoted)


def _sentences(text: str, cites: tuple[Cite, ...], quoted: Mapping[int, Cite]) -> Iterator[Claim]:
    """Marks after the full stop belong to the sentence before it."""
    for start, end in split_sentences(text):
        sentence = _EMPHASIS.sub("", text[start:end])
        unmarked = MARK_AND_BLANKS.sub("", MARK_IN_WORD.sub(" ", sentence))
        bare = " ".join(_LEAD.sub("", unmarked).split())
        if not bare:
            continue
        every_cite = list(cites)
        for mark in MARK_AND_BLANKS.findall(sentence):
            every_cite += [quoted.get(number, Cite(number)) for number in numbers_of(mark)]
        yield Claim(bare, tuple(dict.fromkeys(every_cite)))
