"""Parses a model's reply into sentences, each with the passages that it cites and the words copied from them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from websearch_gateway.answers.marks import MARK, numbers_of
from websearch_gateway.text.citation.sentences import split_sentences

MAX_DRAFT = 8_000
"""Characters of a reply that are read. An answer has 800."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```\w*")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`")
_LEAD = re.compile(r"\A\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+|(?:final )?answer:\s*)", re.IGNORECASE)
_MARKS = re.compile(rf"\s{{0,3}}{MARK.pattern}")
_QUOTED = re.compile(r"[\[【]\s?(\d{1,3})\s?:\s?[\"“”„«‘']([^\n\[\]【】]{1,600}?)[\"“”»’']\s?[\]】]")
_UNFINISHED = re.compile(r"\s{0,3}[\[【]\s?\d{1,3}\s?:[^\]】]{0,700}\Z")
_INTRODUCTION = re.compile(r"\A[^\n]{0,160}[:：]\s*\n")
_FIRST_QUOTE = 900
"""From this number on, a mark stands for a quote that was taken out; no prompt has so many passages."""


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
        return [claim for text, cites in _in_json(bare) for claim in _sentences(text, cites, {})]
    bare = _UNFINISHED.sub("", _INTRODUCTION.sub("", bare))
    quoted: dict[int, Cite] = {}

    def taken_out(match: re.Match[str]) -> str:
        number = _FIRST_QUOTE + len(quoted) % (1000 - _FIRST_QUOTE)
        quoted[number] = Cite(int(match[1]), match[2])
        return f"[{number}]"

    # `[2, 3]` as `[2][3]`, which marks the end of a sentence
    marked = MARK.sub(
        lambda mark: "".join(f"[{number}]" for number in numbers_of(mark[0])), _QUOTED.sub(taken_out, bare)
    )
    return list(_sentences(marked, (), quoted))


def _in_json(text: str) -> Iterator[tuple[str, tuple[Cite, ...]]]:
    """Every complete `{"text", "quotes"}` object, even in a truncated reply."""
    decoder, position = json.JSONDecoder(), 0
    while (position := text.find("{", position)) >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        found = value.get("sentences", [value])
        for one in found if isinstance(found, list) else []:
            if isinstance(one, dict) and isinstance(one.get("text"), str):
                yield one["text"], tuple(_cites(one))
        position = end


def _cites(sentence: dict[str, Any]) -> Iterator[Cite]:
    quotes, passages = sentence.get("quotes"), sentence.get("passages")
    for quote in quotes if isinstance(quotes, list) else []:
        if isinstance(quote, dict) and type(quote.get("passage")) is int:
            copied = quote.get("words")
            yield Cite(quote["passage"], copied if isinstance(copied, str) else "")
    for number in passages if isinstance(passages, list) else [passages]:
        if type(number) is int:
            yield Cite(number)


def _sentences(text: str, cites: tuple[Cite, ...], quoted: dict[int, Cite]) -> Iterator[Claim]:
    """Marks after the full stop belong to the sentence before it."""
    for start, end in split_sentences(text):
        sentence = _EMPHASIS.sub("", text[start:end])
        numbers = [number for mark in _MARKS.findall(sentence) for number in numbers_of(mark)]
        bare = " ".join(_LEAD.sub("", _MARKS.sub(_blank, sentence)).split())
        if bare:
            own = tuple(quoted.get(number, Cite(number)) for number in numbers)
            yield Claim(bare, tuple(dict.fromkeys((*cites, *own))))


def _blank(mark: re.Match[str]) -> str:
    """Words that a mark separated stay apart: `3[1]30` does not become 330."""
    after = mark.string[mark.end() : mark.end() + 1]
    return " " if after.isalnum() else ""
