"""The sentence of an answer that each of its citations supports, as a reader sees it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from websearch_gateway.base import LINK, find_urls, item_marker_end, split_sentences
from websearch_gateway.evidence.offsets import Range, without_pieces

MAX_CHARS = 300
"""The most characters of a snippet: as many as a list of sources shows beside a title."""
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


def snippets(text: str, places: Iterable[Range]) -> list[str]:
    """For each citation at `text[start:end]` the sentence that it supports, in one line of at most MAX_CHARS.

    The line has no link markup. A citation after a full stop, or in its own brackets, supports the sentence before it;
    a span over several sentences supports all of them. The line is empty if there are only citations.
    """
    sentences = split_sentences(text)
    answer = _Answer(text, sentences, sentence_ends=[end for _, end in sentences])
    return [answer.snippet(start, end) for start, end in places]


@dataclass(frozen=True, slots=True)
class _Answer:
    """A text and the ranges of its sentences."""

    text: str
    sentences: list[Range]
    sentence_ends: list[int]

    def snippet(self, start: int, end: int) -> str:
        """The sentences that a citation at `start:end` supports."""
        end = min(end, start + MAX_AROUND)
        first = bisect_right(self.sentence_ends, start)
        last = bisect_left(self.sentences, (max(end, start + 1), 0)) - 1
        if first > last:
            return ""
        stop = min(self.sentence_ends[last], end + MAX_AROUND)
        for sentence in range(first, max(0, first - MAX_SENTENCES_BEFORE) - 1, -1):
            begin = max(self.sentences[sentence][0], start - MAX_AROUND)
            words = self._words(begin, stop)
            if words and not self._adds_to_sentence_before(words, sentence, start):
                break
        return _shortened(words, self._words(begin, end))

    def _adds_to_sentence_before(self, words: str, sentence: int, citation: int) -> bool:
        """Whether the words are a remark in brackets on the sentence before, in the same line."""
        if not sentence:
            return False
        end_before = self.sentence_ends[sentence - 1]
        return _is_aside(words) and "\n" not in self.text[end_before:citation]

    def _words(self, start: int, end: int) -> str:
        """A piece of the text as a reader sees it: links as their labels, without citations and list markers."""
        piece = self.text[item_marker_end(self.text, start) : end]
        if heading := _HEADING.match(piece):
            piece = piece[heading.end() :]
        piece = LINK.sub(r"\1", _CITATION.sub("", piece))
        bare, _ = without_pieces(piece, find_urls(piece))
        return _BLANK.sub(" ", _EMPTY_BRACKETS.sub("", bare)).strip()


def _is_aside(words: str) -> bool:
    """Whether the words are, or end with, a remark in brackets that belongs to the sentence before."""
    closes_more = words.count(")") > words.count("(") or words.count("）") > words.count("（")
    return words[0] in "(（" or closes_more


def _shortened(words: str, until_citation: str) -> str:
    """At most MAX_CHARS, cut between words: the beginning, or the text just before a later citation."""
    if len(words) <= MAX_CHARS:
        return words
    citation = len(until_citation) if words.startswith(until_citation) else 0
    if citation < MAX_CHARS:
        beginning = words[: MAX_CHARS - 1]
        whole_words, _, _ = beginning.rpartition(" ")
        return f"{(whole_words or beginning).rstrip()}…"
    before_citation = words[citation - MAX_CHARS + 2 : citation]
    _, _, whole_words = before_citation.partition(" ")
    is_last = citation == len(words)
    return f"…{whole_words}" if is_last else f"…{whole_words}…"
