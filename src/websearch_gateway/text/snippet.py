"""The sentence that a citation supports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from websearch_gateway.text.markdown import LINK, item_marker_end
from websearch_gateway.text.sentences import split_sentences
from websearch_gateway.text.urls import find_urls

MAX_CHARS = 300

_LINK = LINK.pattern
_CITATION = re.compile(
    rf"\s*+[(（]\s*+{_LINK}(?:\s*+[,;、]?\s*+{_LINK})*+\s*+[)）]"  # ([host](url)) or ([a](url), [b](url))
    rf"|(?<=[.!?。！？])[ \t]*+{_LINK}\s*\Z"  # a link after the full stop
    r"|[ \t]?\[\^?\d{1,3}\](?!\()|[ \t]?【[^【】\n]{1,80}】"  # a reference mark
)
_HEADING = re.compile(r"#{1,6}[ \t]+")
_EMPTY_BRACKETS = re.compile(r"\s*(?:\(\s*\)|（\s*）|<>)")
_BLANK = re.compile(r"\s+")


def snippets(text: str, places: Iterable[tuple[int, int]]) -> list[str]:
    """For each citation at `text[start:end]` the sentence that it supports, in one line of at most 300 characters.

    Link markup is gone from it. A citation after a full stop supports the sentence before it, one in a bracket of its
    own too; a span over several sentences is all of them. Empty where there is nothing but citations.
    """
    sentences = split_sentences(text)
    return [_snippet(text, sentences, start, end) for start, end in places]


def _snippet(text: str, sentences: Sequence[tuple[int, int]], start: int, end: int) -> str:
    touched = [i for i, (first, last) in enumerate(sentences) if first < max(end, start + 1) and start < last]
    if not touched:
        return ""
    first, last = touched[0], touched[-1]
    words = _words(text, sentences[first][0], sentences[last][1])
    while first > 0 and (not words or (_is_aside(words) and "\n" not in text[sentences[first - 1][1] : start])):
        first -= 1
        words = _words(text, sentences[first][0], sentences[last][1])
    return _shortened(words, _words(text, sentences[first][0], end))


def _is_aside(words: str) -> bool:
    """Whether the words are, or end, a remark in brackets that belongs to the sentence before."""
    return words[0] in "(（" or words.count(")") > words.count("(") or words.count("）") > words.count("（")


def _words(text: str, start: int, end: int) -> str:
    """A stretch of text as it reads: links as their labels, citations and list markers gone."""
    piece = text[item_marker_end(text, start) : end]
    piece = _HEADING.sub("", piece, count=1) if _HEADING.match(piece) else piece
    piece = LINK.sub(r"\1", _CITATION.sub("", piece))
    for first, last in reversed(find_urls(piece)):
        piece = piece[:first] + piece[last:]
    return _BLANK.sub(" ", _EMPTY_BRACKETS.sub("", piece)).strip()


def _shortened(words: str, until_citation: str) -> str:
    """At most MAX_CHARS, cut between words: the beginning, or what leads up to a citation that comes later."""
    if len(words) <= MAX_CHARS:
        return words
    stop = len(until_citation) if words.startswith(until_citation) else 0
    if stop <= MAX_CHARS - 1:
        return words[: MAX_CHARS - 1].rsplit(" ", 1)[0].rstrip() + "…"
    tail = words[stop - MAX_CHARS + 2 : stop]
    return "…" + tail.partition(" ")[2] + ("" if stop == len(words) else "…")
