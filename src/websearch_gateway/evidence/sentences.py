"""The sentences of some pages that could answer a question: from the passages that match it best."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.base import (
    LINK,
    blocks,
    is_character,
    lines,
    plain,
    split_sentences,
    tokens_of_each,
    word_set,
    words,
)
from websearch_gateway.evidence.chunks import DEFAULT_SIZE, LONGEST_MARKED, chunk
from websearch_gateway.evidence.passages import bm25
from websearch_gateway.models import Passage

PASSAGES = 12
"""The number of best passages, of all pages together, that are searched for sentences."""
SIZES = {"th": 2 * DEFAULT_SIZE}
"""The tokens of a passage. A Thai letter counts as one, but a paragraph has as many letters as one in English: with the
size of other languages most paragraphs are cut in two, often before the name that answers."""
MAX_SENTENCE = 600
"""The most characters of a sentence that may be quoted."""
LEAST_WORDS = 3
"""The fewest words of a sentence that may be quoted."""
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
    r" ?\[(?:(?:citation|verification|clarification) needed|not in citation given|vague|update|who\?|when\?)\]"
    r"|(?<=[.!?,;:\"”’)])\[(?:[a-z]|(?:n|nb|note) \d{1,3})\]",
    re.IGNORECASE,
)
"""An encyclopedia's remarks on its own text, and the marks of its notes, such as `[c]` or `[note 2]`."""

_FOOTNOTE = re.compile(
    r"(?<=[.!?,;\"”’)\]]):\s?\d{1,4}(?:[-–]\d{1,4})?(?:, ?\d{1,4}(?:[-–]\d{1,4})?)*(?![\w:])"
)
"""The page of a footnote, whose number is gone: `It opened in 1889.:212–219`."""

_NUMBER_AT_START = re.compile(r"\n(?=\s*\d)")  # of a line within a paragraph: it marks no list item
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


@dataclass(frozen=True, slots=True)
class _Placed:
    """A passage, its place on the page and the page's index."""

    document: int
    place: int
    passage: Passage


def candidates(
    terms: Sequence[str], language: str, documents: Sequence[Document]
) -> list[Candidate]:
    """The sentences of the passages that match the question best.

    Args:
        terms: the tokens of the question.
        language: its ISO 639-1 code; see `languages`.
    """
    placed = [
        _Placed(index, place, passage)
        for index, document in enumerate(documents)
        for place, passage in enumerate(chunk(document.markdown, SIZES.get(language, DEFAULT_SIZE)))
    ]
    texts = [" ".join((*each.passage.section_path, each.passage.text)) for each in placed]
    tokens = tokens_of_each(texts, language)
    reading = _Reading(language, _inside(terms, tokens, language))
    scores = bm25(terms, [reading.as_asked(of_passage) for of_passage in tokens])
    best_first = sorted(range(len(placed)), key=lambda at: -scores[at])
    sentences: list[Candidate] = []
    for at in best_first[:PASSAGES]:
        if scores[at] <= 0:
            break
        passage = replace(placed[at].passage, score=scores[at])
        title = documents[placed[at].document].title
        sentences.extend(_sentences(replace(placed[at], passage=passage), title, reading))
    return sentences


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the words of the pages are read: `asked_word` has the word of the question for a longer one with it."""

    language: str
    asked_word: Mapping[str, str]

    def as_asked(self, tokens: Sequence[str]) -> list[str]:
        """The tokens, with words of the question in place of longer ones."""
        return [self.asked_word.get(token, token) for token in tokens]

    def tokens_of(self, texts: Iterable[str]) -> list[list[str]]:
        """The tokens of each text, so read."""
        return [self.as_asked(tokens) for tokens in tokens_of_each(texts, self.language)]


def _inside(
    terms: Sequence[str], texts: Sequence[Sequence[str]], language: str
) -> Mapping[str, str]:
    """Longer words of the texts, each with the word of the question that it begins or ends with.

    They are compounds, or have unknown endings. For a question of one character they are the pairs of characters with
    it, in scripts without spaces.
    """
    has_compounds = language not in _WITHOUT_COMPOUNDS
    parts = [
        term for term in terms if is_character(term) or (has_compounds and len(term) >= _LEAST_PART)
    ]
    if not parts:
        return {}
    any_part = tuple(parts)
    asked_word = {}
    for token in set().union(*texts).difference(terms):
        if token.startswith(any_part) or token.endswith(any_part):
            asked_word[token] = next(
                part for part in parts if token.startswith(part) or token.endswith(part)
            )
    return asked_word


_WITHOUT_COMPOUNDS = frozenset(("en", "zh", "ja", "ko", "th"))
_LEAST_PART = 5
"""The least letters of a word that is looked for inside of longer ones."""


def _sentences(placed: _Placed, title: str, reading: _Reading) -> Iterator[Candidate]:
    passage = placed.passage
    page = list(_lines(passage.text))
    headers = sorted({line.header for line in page})
    headings = " ".join((title[:MAX_SENTENCE], *passage.section_path))
    tokens = reading.tokens_of([*(line.text for line in page), *headers, headings])
    tokens_of_header = dict(zip(headers, tokens[len(page) :], strict=False))
    above = frozenset(tokens[-1])
    paragraphs = _paragraphs(page)
    for at, line in enumerate(page):
        if not _may_be_quoted(line):
            continue
        last = page[at - 1] if at else None
        question_before = tokens[at - 1] if last and _QUESTION.search(last.text) else []
        beside = [tokens[near] for near in (at - 1, at + 1) if 0 <= near < len(page)]
        follows = last is not None and last.block == line.block and last.quotable
        yield Candidate(
            text=line.text,
            document=placed.document,
            order=(placed.place, at),
            before=last.text if last and follows else "",
            own=tuple(tokens[at]),
            words=(*question_before, *tokens_of_header[line.header], *tokens[at]),
            beside=frozenset().union(*beside),
            above=above,
            paragraph=paragraphs[line.block],
            passage=passage.score,
            scrap=line.scrap or _is_scrap(line.text),
        )


def _paragraphs(page: Sequence[_Line]) -> dict[int, Paragraph]:
    """The paragraphs of a passage by the numbers of their blocks."""
    texts: dict[int, list[str]] = {}
    for line in page:
        texts.setdefault(line.block, []).append(line.text)
    return {block: Paragraph(" ".join(of_block)) for block, of_block in texts.items()}


def _may_be_quoted(line: _Line) -> bool:
    """Whether a line may be evidence: a sentence of some words and not too long, no question, no broken letters."""
    if not line.quotable or len(line.text) > MAX_SENTENCE or len(words(line.text)) < LEAST_WORDS:
        return False
    return not _QUESTION.search(line.text) and not _PRIVATE_OR_CONTROL.search(line.text)


def _is_scrap(text: str) -> bool:
    """Whether a text is a dateline, or a caption: a few words without an end."""
    is_caption = text.count(" ") < MAX_CAPTION and not _ENDED.search(text)
    return is_caption or bool(_DATELINE.match(text))


def _lines(markdown: str) -> Iterator[_Line]:
    for number, block in enumerate(blocks(markdown)):
        piece = markdown[block.start : block.end]
        if block.kind == "table":
            yield from _rows(piece, number)
        elif block.kind == "heading":
            yield _Line(_plain(piece), number, quotable=False)
        elif block.kind in ("paragraph", "item") and not _is_navigation(piece):
            if block.kind == "paragraph":
                piece = _NUMBER_AT_START.sub(" ", piece)
            piece = _FOOTNOTE.sub("", piece)
            for start, end in clauses(piece, split_sentences(piece)):
                is_short = end - start <= LONGEST_MARKED
                yield _Line(_plain(piece[start:end]), number, quotable=is_short)


def _is_navigation(piece: str) -> bool:
    """Whether a paragraph consists mostly of links."""
    linked = sum(len(link[0]) for link in LINK.finditer(piece))
    return linked > _LINKED_AT_MOST * len(piece)


def _plain(markdown: str) -> str:
    return _EDITORIAL.sub("", plain(markdown[:LONGEST_MARKED]))


def _rows(table: str, number: int) -> Iterator[_Line]:
    rows = [table[start:end].strip("| ") for start, end in lines(table, 0, len(table))]
    has_header = len(rows) > 1 and not words(rows[1])
    header = _plain(rows[0])[:MAX_SENTENCE] if has_header else ""
    for place, row in enumerate(rows):
        is_header = has_header and place == 0
        quotable = not is_header and len(row) <= LONGEST_MARKED
        yield _Line(_plain(row), number, quotable, header, scrap=True)


SHORTEST = 150
"""The least number of characters of a clause. Shorter ones stay with the next, since names contain spaces too."""
FARTHEST = 400
"""Up to this many characters the best blank ends a clause; beyond, the next one does."""

_UNSTOPPED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff]")
"""Scripts without full stops. Spaces around a number or a foreign name do not end a clause."""
_BLANK = re.compile(r"(?<=[\u0e00-\u0eff\u1780-\u17ff])\s+(?=[\u0e00-\u0eff\u1780-\u17ff])")
_RELATIVE = re.compile("ซึ่ง|ที่|โดย|ว่า|เพื่อ|ของ")
"""Thai words with which a clause does not begin."""
_OPEN = tuple(
    word_set("""\
โดย ของ ที่ ซึ่ง ว่า คือ เป็น แก่ ใน กับ และ หรือ จาก ให้ แห่ง ได้แก่ ประมาณ ตั้งแต่ ถึง บน เช่น ชื่อ มี ได้ สู่ ต่อ ตาม เพื่อ ไม่ กว่า ราว เกือบ เพียง
ระหว่าง จะ ต้อง สามารถ ทั้ง การ ความ ผู้ เมื่อ แต่ จำนวน""")
)
"""Thai words behind which a clause goes on: prepositions, relative words, auxiliaries, "about", "such as"."""
_BEGINS = re.compile(
    r"ใน|เมื่อ|แม้|ถึงแม้|อย่างไรก็|นอกจาก|ต่อมา|หลัง|ภายหลัง|ก่อน|เนื่องจาก|เพราะ|ดังนั้น|แต่|และ|ทั้ง|ปัจจุบัน|ตั้งแต่|จาก|เขา|พวกเขา|เธอ|มัน|"
    r"ส่วน|สำหรับ|ตาม|ตัวอย่าง|ขณะ|จน|หาก|ถ้า"
)
"""Thai words with which a clause begins: conjunctions, pronouns, "in", "after", "however"."""


def clauses(text: str, sentences: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The (start, end) offsets of `sentences` of `text`, with long ones without full stops cut at spaces."""
    for start, end in sentences:
        if _UNSTOPPED.search(text, start, end):
            while blank := _end_of_clause(text, start, end):
                yield start, blank.start()
                start = blank.end()
        yield start, end


def _end_of_clause(text: str, start: int, end: int) -> re.Match[str] | None:
    """The blank at which the clause from `start` most probably ends: the first of the best."""
    best: re.Match[str] | None = None
    signs_of_best = -1
    for blank in _BLANK.finditer(text, start + SHORTEST, end):
        if end - blank.end() < SHORTEST or (best and blank.start() - start > FARTHEST):
            break
        is_open = text.endswith(_OPEN, start, blank.start())
        goes_on = is_open or _RELATIVE.match(text, blank.end())
        signs = (not goes_on) + bool(_BEGINS.match(text, blank.end()))
        if signs > signs_of_best:
            best, signs_of_best = blank, signs
    return best
