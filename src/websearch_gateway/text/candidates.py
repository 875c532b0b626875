"""Finds the sentences of some pages that an answer could quote, and measures how well they match a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.models import Passage
from websearch_gateway.text.chunk import chunk
from websearch_gateway.text.markdown import LINK, LONGEST_MARKED, blocks, lines, plain, split_sentences
from websearch_gateway.text.passages import bm25
from websearch_gateway.text.tokens import is_character, tokens_of_each, words

PASSAGES = 12  # the number of best passages, of all pages together, that are searched for sentences
MAX_SENTENCE = 600  # the most characters of a sentence that may be quoted
MAX_CAPTION = 12
"""A line of at most this many words without a full stop is a caption, a byline or a cell, not a sentence."""

_IMPERSONAL = (
    r"it (?:is|was|has been|may be|would be)(?: also| often| now| widely| generally)? "
    r"(?:(?:said|claimed|believed|thought|estimated|argued|assumed|suggested|reported|recommended) that|"
    r"(?:possible|impossible|likely|unlikely|clear|unclear|true|necessary|difficult|hard|easy|common|important) "
    r"(?:that|to|for|whether))\b"
)
PRONOUN = re.compile(
    rf"(?!{_IMPERSONAL})(?:he|she|it|they|his|her|its|their|this|these|those|such|er|sie|es|dies\w*|él|ella|ellos|"
    r"este|esta|esto|il|elle|ils|elles|он|она|оно|они|это|هو|هي|यह|वह|他|她|它|这|該|เขา|มัน)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that depends on the sentence before it."""

_GOES_ON = (
    r"(?:thereafter|afterwards?|subsequently|meanwhile|consequently|nonetheless|danach|dabei|dazu|daher|dort|deshalb|"
    r"dann|sein(?:e[mnrs]?)?|ihre[mnrs]?|su|sus|estas|estos|allí|también|pero|sin embargo|después(?! de)|además(?! de)|"
    r"son|sa|ses|ce|cette|ces|ensuite|затем|поэтому|однако|эта|этот|эти|его|её|их)\b"
)
_POINTED = (
    r"(?:the (?:same|latter|former|two|deal|agreement|arrangement|treaty|plan|proposal|scheme|ruling|incident|event|"
    r"measure|process|latter's|former's)|this|that|these|those|such|its|his|her|their|it|him|them)"
    r"\b(?! (?:of|for|to|that|which|between|with)\b)"
)
DANGLING = re.compile(
    rf"(?:(?:however|but|and|so|thus|also|then|later|instead|therefore|moreover|furthermore|today|nevertheless),? )?"
    rf"(?:{PRONOUN.pattern}|{_GOES_ON}|[他她它这该該]|เขา|มัน|"
    rf"(?:when|while|as|after|before|because|although|once) (?:he|she|it|they)\b|"
    rf"(?:(?:both|all|each|one|some|many|most|several|none|part) of|under|in|by|at|during|after|"
    rf"before|with|from|as|on|since|for|of|to|through|despite|following|because of|due to) {_POINTED}|"
    rf"the (?:latter|former|two|same|deal|agreement|arrangement|proposal)\b(?! (?:of|for|to|that|between)\b))",
    re.IGNORECASE,
)
"""The beginning of a sentence that points at one before it: with a pronoun, or with a noun that was named there."""

_EDITORIAL = re.compile(
    r" ?\[(?:citation needed|verification needed|clarification needed|not in citation given|vague|who\?|when\?)\]",
    re.IGNORECASE,
)
"""An encyclopedia's remarks on its own text."""

_FOOTNOTE = re.compile(r"(?<=[.!?,;\"”’)\]]):\s?\d{1,4}(?:[-–]\d{1,4})?(?:, ?\d{1,4}(?:[-–]\d{1,4})?)*(?![\w:])")
"""The page of a footnote, whose number is gone: `It opened in 1889.:212–219`."""

_LINKED_AT_MOST = 0.6  # the share of links in a paragraph; one with more is navigation
_PRIVATE_OR_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ue000-\uf8ff]")
_QUESTION = re.compile(r"[?？؟;][\"'”’»)\]）」』*_]*$")
_ENDED = re.compile(r"[.!…。！।؟۔:][\"'”’»)\]）」』*_]*$|[\u0e00-\u0e7f]$")
_DATELINE = re.compile(
    r"(?:published|updated|posted|last (?:updated|modified)|veröffentlicht|aktualisiert|publicado|actualizado|publié|"
    r"mis à jour|опубликовано|обновлено)\b.{0,80}\d|(?:by|von|par|por) [A-Z].{0,60}$|(?:photo|image|foto|credit)\b"
    r".{0,20}:",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Document:
    """A page to search."""

    title: str
    markdown: str


@dataclass(frozen=True, slots=True, eq=False)
class Paragraph:
    """A paragraph, list item or table, shared by its sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence without its Markdown marks; `document` is the index of its page.

    Attributes:
        order: the index of its passage on the page, and of the sentence in the passage.
        before: the sentence before it in the same paragraph; "" for none.
        own: its tokens.
        words: the tokens used for the score: `own`, those of a question right before it, and of its table's header.
        beside: the tokens of its neighbours.
        above: the tokens of the headings and the title.
        passage: the score of its passage.
        scrap: whether it is a table row, a caption or a dateline.
    """

    text: str
    document: int
    order: tuple[int, int]
    before: str
    own: tuple[str, ...]
    words: tuple[str, ...]
    beside: frozenset[str]
    above: frozenset[str]
    paragraph: Paragraph
    passage: float
    scrap: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A plain sentence, heading or table row; only a `quotable` one may be evidence. `header` is its table's header."""

    text: str
    block: int
    quotable: bool = True
    header: str = ""
    scrap: bool = False


def candidates(terms: Sequence[str], language: str, documents: Sequence[Document]) -> list[Candidate]:
    """The sentences of the passages that match the question best.

    Args:
        terms: the tokens of the question.
        language: its ISO 639-1 code; see `languages`.
    """
    passages = [
        (index, place, passage)
        for index, document in enumerate(documents)
        for place, passage in enumerate(chunk(document.markdown))
    ]
    texts = tokens_of_each((" ".join((*p.section_path, p.text)) for _, _, p in passages), language)
    whole = _inside(terms, texts, language)
    scores = bm25(terms, [[whole.get(token, token) for token in tokens] for tokens in texts])
    best = sorted(range(len(passages)), key=lambda at: -scores[at])[:PASSAGES]
    found: list[Candidate] = []
    for at in best:
        if scores[at] > 0:
            index, place, passage = passages[at]
            scored = replace(passage, score=scores[at])
            found.extend(_sentences(index, place, documents[index].title, scored, language, whole))
    return found


def _inside(terms: Sequence[str], texts: Sequence[Sequence[str]], language: str) -> Mapping[str, str]:
    """Longer words of the texts, each with the word of the question that it begins or ends with.

    They are compounds, or have unknown endings. For a question of one character they are the pairs of characters with
    it, in scripts without spaces.
    """
    least = _LEAST_PART if language not in _WITHOUT_COMPOUNDS else 0
    long = [term for term in terms if is_character(term) or 0 < least <= len(term)]
    vocabulary = set().union(*texts).difference(terms) if long else set()
    ends = tuple(long)
    return {
        token: next(term for term in long if token.startswith(term) or token.endswith(term))
        for token in vocabulary
        if token.startswith(ends) or token.endswith(ends)
    }


_WITHOUT_COMPOUNDS = frozenset(("en", "zh", "ja", "ko", "th"))
_LEAST_PART = 5


def _sentences(
    document: int, place: int, title: str, passage: Passage, language: str, whole: Mapping[str, str]
) -> Iterator[Candidate]:
    page = list(_lines(passage.text))
    headers = sorted({line.header for line in page})
    texts = [*(line.text for line in page), *headers, " ".join((title[:MAX_SENTENCE], *passage.section_path))]
    tokens = [[whole.get(token, token) for token in said] for said in tokens_of_each(texts, language)]
    header = dict(zip(headers, tokens[len(page) :], strict=False))
    above = frozenset(tokens[-1])
    texts_of: dict[int, list[str]] = {}
    for line in page:
        texts_of.setdefault(line.block, []).append(line.text)
    paragraphs = {block: Paragraph(" ".join(said)) for block, said in texts_of.items()}
    for at, line in enumerate(page):
        if not line.quotable or not _is_quotable(line.text):
            continue
        asked = tokens[at - 1] if at and _QUESTION.search(page[at - 1].text) else []
        near = [tokens[other] for other in (at - 1, at + 1) if 0 <= other < len(page)]
        before = at - 1 if at > 0 and page[at - 1].block == line.block and page[at - 1].quotable else None
        yield Candidate(
            text=line.text,
            document=document,
            order=(place, at),
            before="" if before is None else page[before].text,
            own=tuple(tokens[at]),
            words=(*asked, *header[line.header], *tokens[at]),
            beside=frozenset().union(*near),
            above=above,
            paragraph=paragraphs[line.block],
            passage=passage.score,
            scrap=line.scrap
            or bool(_DATELINE.match(line.text))
            or (not _ENDED.search(line.text) and line.text.count(" ") < MAX_CAPTION),
        )


def _lines(markdown: str) -> Iterator[_Line]:
    for number, block in enumerate(blocks(markdown)):
        piece = markdown[block.start : block.end]
        if block.kind == "table":
            yield from _rows(piece, number)
        elif block.kind == "heading":
            yield _Line(_plain(piece), number, quotable=False)
        elif block.kind in ("paragraph", "item"):
            if sum(len(link[0]) for link in LINK.finditer(piece)) > _LINKED_AT_MOST * len(piece):
                continue
            piece = _FOOTNOTE.sub("", piece)
            for start, end in clauses(piece, split_sentences(piece)):
                said = piece[start:end]
                yield _Line(_plain(said), number, len(said) <= LONGEST_MARKED)


def _plain(markdown: str) -> str:
    return _EDITORIAL.sub("", plain(markdown[:LONGEST_MARKED]))


def _rows(table: str, number: int) -> Iterator[_Line]:
    rows = [table[start:end].strip("| ") for start, end in lines(table, 0, len(table))]
    has_header = len(rows) > 1 and not words(rows[1])
    header = _plain(rows[0])[:MAX_SENTENCE] if has_header else ""
    for place, row in enumerate(rows):
        quotable = (not has_header or place > 0) and len(row) <= LONGEST_MARKED
        yield _Line(_plain(row), number, quotable, header, scrap=True)


def _is_quotable(text: str) -> bool:
    return (
        len(text) <= MAX_SENTENCE
        and len(words(text)) >= 3
        and not _QUESTION.search(text)
        and not _PRIVATE_OR_CONTROL.search(text)
    )


SHORTEST = 150  # The least number of characters of a clause. Shorter ones join the next, since names contain spaces too
LONGEST = 300  # a sentence of at most this many characters stays whole

_UNSTOPPED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff]")
# Spaces around a number or a foreign name do not end a clause.
_BLANK = re.compile(r"(?<=[\u0e00-\u0eff\u1780-\u17ff])\s+(?=[\u0e00-\u0eff\u1780-\u17ff])")


def clauses(text: str, sentences: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The (start, end) offsets of `sentences` of `text`, with long ones without full stops cut at spaces."""
    for start, end in sentences:
        if end - start > LONGEST and _UNSTOPPED.search(text, start, end):
            for blank in _BLANK.finditer(text, start, end):
                if blank.start() - start >= SHORTEST and end - blank.end() >= SHORTEST:
                    yield start, blank.start()
                    start = blank.end()
        yield start, end
