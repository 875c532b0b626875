"""Parses a model's reply into sentences, each in pieces that end in the numbers of their passages."""

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
_MARKS = re.compile(rf"(?:\s{{0,3}}{MARK.pattern})+")
_STOP = re.compile(r"[\s.!?。！？…]*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a sentence, and the passages that it cites."""

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence without its marks. Its pieces together are its text; one without numbers belongs to those before."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The whole sentence. Words that a mark separated stay apart: `3[1]30` does not become 330."""
        text = ""
        for piece in self.pieces:
            text += " " if text[-1:].isalnum() and piece.text[:1].isalnum() else ""
            text += piece.text
        return text.strip()


def claims_of(reply: str) -> list[Claim]:
    """The sentences of a reply in JSON or in plain text, without thoughts. Skips a cut-off sentence in JSON."""
    written = _UNOPENED_THOUGHT.sub("", _THOUGHT.sub("", reply[: 4 * MAX_DRAFT]))[:MAX_DRAFT]
    bare = _FENCE.sub("", written).strip()
    if bare.startswith(("{", "[")) and '"text"' in bare:
        sentences = [(text, numbers) for written, numbers in _in_json(bare) for text in _sentences(written)]
        return [claim for text, numbers in sentences if (claim := _claim(text, numbers))]
    # `[2, 3]` as `[2][3]`, which marks the end of a sentence
    marked = MARK.sub(lambda mark: "".join(f"[{number}]" for number in numbers_of(mark[0])), bare)
    return [claim for text in _sentences(marked) if (claim := _claim(text, ()))]


def _in_json(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every complete `{"text", "passages"}` object, even in a truncated reply."""
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
                yield one["text"], _numbers(one.get("passages"))
        position = end


def _numbers(value: Any) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(number for number in values if isinstance(number, int) and not isinstance(number, bool))


def _sentences(text: str) -> Iterator[str]:
    """Marks after the full stop belong to the sentence before it."""
    for start, end in split_sentences(text):
        yield text[start:end]


def _claim(text: str, numbers: tuple[int, ...]) -> Claim | None:
    sentence = " ".join(_LEAD.sub("", _EMPHASIS.sub("", text)).split())
    pieces: list[Piece] = []
    end = 0
    for match in _MARKS.finditer(sentence):
        pieces.append(Piece(sentence[end : match.start()], tuple(numbers_of(match[0]))))
        end = match.end()
    rest = sentence[end:]
    if not pieces:
        return Claim((Piece(sentence, numbers),)) if sentence else None
    if _STOP.fullmatch(rest):
        # "It is high [1]." and "It is high. [1]": the full stop belongs to the words.
        last = pieces[-1]
        pieces[-1] = Piece(last.text + rest.strip(), last.numbers)
    else:
        pieces.append(Piece(rest, ()))
    return Claim(tuple(pieces))
