"""The sentence that a citation supports."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from websearch_gateway.text.citation.sentences import split_sentences
from websearch_gateway.text.citation.spans import cut
from websearch_gateway.text.markdown import LINK, item_marker_end
from websearch_gateway.text.urls import find_urls

MAX_CHARS = 300
MAX_AROUND = 2_000
"""The most characters on either side of a citation that belong to its sentence."""
MAX_SENTENCES_BEFORE = 8
"""The most sentences before a citation, if that has no words of its own, among which to look for its claim."""

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
    """For each citation at `text[start:end]` the sentence that it supports, in one line of at most MAX_CHARS.

    The line has no link markup. A citation after a full stop, or in its own brackets, supports the sentence before it;
    a span over several sentences supports all of them. The line is empty if there are only citations.
    """
    sentences = split_sentences(text)
    ends = [end for _, end in sentences]
    return [_snippet(text, sentences, ends, start, end) for start, end in places]


def _snippet(text: str, sentences: Sequence[tuple[int, int]], ends: Sequence[int], start: int, end: int) -> str:
    end = min(end, start + MAX_AROUND)
    first = bisect_right(ends, start)
    last = bisect_left(sentences, (max(end, start + 1), 0)) - 1
    if first > last:
        return ""
    stop = min(sentences[last][1], end + MAX_AROUND)
    least = max(0, first - MAX_SENTENCES_BEFORE)
    words = _words(text, begin := max(sentences[first][0], start - MAX_AROUND), stop)
    while first > least and (not words or (_is_aside(words) and "\n" not in text[sentences[first - 1][1] : start])):
        first -= 1
        words = _words(text, begin := max(sentences[first][0], start - MAX_AROUND), stop)
    return _shortened(words, _words(text, begin, end))


def _is_aside(words: str) -> bool:
    """Whether the words are, or end with, a remark in brackets that belongs to the sentence before."""
    return words[0] in "(（" or words.count(")") > words.count("(") or words.count("）") > words.count("（")


def _words(text: str, start: int, end: int) -> str:
    """A piece of text as shown to a reader: links as their labels, without citations and list markers."""
    piece = text[item_marker_end(text, start) : end]
    piece = _HEADING.sub("", piece, count=1) if _HEADING.match(piece) else piece
    piece = LINK.sub(r"\1", _CITATION.sub("", piece))
    bare, _ = cut(piece, find_urls(piece))
    return _BLANK.sub(" ", _EMPTY_BRACKETS.sub("", bare)).strip()


def _shortened(words: str, until_citation: str) -> str:
    """At most MAX_CHARS, cut between words: the beginning, or the text just before a later citation."""
    if len(words) <= MAX_CHARS:
        return words
    stop = len(until_citation) if words.startswith(until_citation) else 0
    if stop <= MAX_CHARS - 1:
        return words[: MAX_CHARS - 1].rsplit(" ", 1)[0].rstrip() + "…"
    tail = words[stop - MAX_CHARS + 2 : stop]
    return "…" + tail.partition(" ")[2] + ("" if stop == len(words) else "…")
