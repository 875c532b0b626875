"""Checks each sentence of a draft against the passages that it cites, and keeps those that have a quote there; and
reads reference marks such as `[2]`, which a model writes after its claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from websearch_gateway.answers.common import applying
from websearch_gateway.base import (
    LINK,
    code_pieces,
    estimate_tokens,
    page_key,
    query_terms,
    split_sentences,
    without_orders,
)
from websearch_gateway.evidence import (
    PDF,
    Quotable,
    Quote,
    at_page,
    chunk,
    is_verbatim,
    nearest,
    read,
    rewritten,
    score_passages,
    support,
)
from websearch_gateway.foreign_json import BadJson, objects, parse_json_within, typed
from websearch_gateway.models import Hit, Page, SearchQuery, Source, Span, Support

MAX_ANSWER = 800
"""Characters of an answer, marks included."""

MAX_CLAIMS = 40
FAR, NEAR = 0.4, 0.65
"""The share of a sentence's ordinary words that it has from its quote, from which on and up to which it stays as the
model wrote it."""
TOGETHER = 0.7
"""The least such share of a sentence that only several quotes together support: what combines them is the model's."""
ABOUT_THE_SAME = 1 / 3
"""The share of a sentence's words, where facts count double, from which on its source's sentence may stand for it."""
ONE_FACT = 6
"""The most content words of a sentence that hardly combines two others."""
LONGER, LONGEST = 1.65, 3
"""How many times longer than the sentence its quote may be, and one that takes its place."""
_STANDS_ALONE = re.compile(
    r"(?!(?:he|she|it|they|this|that|these|those|his|her|its|their|i|we|and|but|so)\b)[A-Z0-9\"“].*(?<!\s[a-z])[.!]\W*\Z",
    re.IGNORECASE,
)
"""A whole sentence that does not begin with what only the sentence before explains, nor ends in an initial."""
MOST_QUOTES = 3
"""The most quotes of one page that are shown for a sentence."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer whose sentences end in marks of their pages. Marks number the pages by first use."""

    text: str
    spans: tuple[Span, ...]
    dropped_sentences: int
    dropped_citations: int
    kept_sentences: int = 0
    """Those that the sources support; for others a source's own sentence may stand."""

    def warnings(self) -> tuple[str, ...]:
        """The warnings about the sentences and citations that were left out."""
        sentences, citations = self.dropped_sentences, self.dropped_citations
        notes = {
            f"Sentences of the model left out because their sources do not support them: {sentences}.": sentences,
            f"Citations of the model left out because their source does not support them: {citations}.": citations,
        }
        return applying(notes)


@dataclass(frozen=True, slots=True)
class Proof:
    """A passage that supports a sentence, the quotes that do, and how."""

    passage: NumberedPassage
    quotes: Sequence[Quote]
    support: Support


@dataclass(slots=True)
class _Answer:
    """The answer so far. `ranks` are the numbers of its pages."""

    text: str = ""
    spans: list[Span] = field(default_factory=list)
    ranks: dict[str, int] = field(default_factory=dict)

    def add(self, sentence: str, proofs: Sequence[Proof]) -> bool:
        """Append a sentence and a mark for each of its pages; False if there is no room for them."""
        start, ranks, marked = len(self.text) + (1 if self.text else 0), dict(self.ranks), sentence
        found: list[Span] = []
        pages: dict[str, list[Proof]] = {}
        for proof in proofs:
            pages.setdefault(page_key(proof.passage.source.url), []).append(proof)
        for url, proven in pages.items():
            mark = f"[{ranks.setdefault(url, len(ranks) + 1)}]"
            marked += mark if found else f" {mark}"
            end = start + len(marked)
            source: Source = proven[0].passage.source
            shown = [(quote.shown, proof.support) for proof in proven for quote in proof.quotes]
            found += [
                Span(source.url, source.title, end - len(mark), end, quote, how)
                for quote, how in shown[:MOST_QUOTES]
            ]
        if start + len(marked) > MAX_ANSWER:
            return False
        self.text = f"{self.text} {marked}" if self.text else marked
        self.spans += found
        self.ranks = ranks
        return True


def checked_draft(reply: str, passages: Sequence[NumberedPassage], question: str) -> Checked:
    """The part of a model's reply that its passages support."""
    return check(claims_of(reply), passages, question)


def check(
    claims: Sequence[Claim], passages: Sequence[NumberedPassage], question: str = ""
) -> Checked:
    """Keep the sentences that their passages support, in order, up to 800 characters.

    A passage that a sentence cites must support it, alone or with the others that it cites; one that does not loses its
    mark. A sentence without such a passage is tried on all of them, since small models forget or mistake numbers. What
    nearly copies its source is given as the source has it; so is what no passage supports, if one has a sentence about
    the same. Sentences that claim nothing are left out.
    """
    evidence = {
        passage.number: (passage, Quotable.of(passage.text, passage.heading, question))
        for passage in passages
    }
    answer, seen = _Answer(), set[str]()
    dropped = lost = kept = 0
    for claim in claims[:MAX_CLAIMS]:
        if claim.text in seen or not _is_claim(claim.text):
            continue
        seen.add(claim.text)
        proofs = proven(claim, evidence)
        if is_kept := bool(proofs):
            lost += len(
                {cite.passage for cite in claim.cites} - {proof.passage.number for proof in proofs}
            )
            text = _in_its_source(claim.text, proofs)
        elif proofs := _instead(claim, evidence):
            dropped, text = dropped + 1, proofs[0].quotes[0].text
        else:
            dropped += 1
            continue
        if text != claim.text:
            proofs = [replace(proofs[0], quotes=proofs[0].quotes[:1], support="verbatim")]
            if text in seen:
                continue
            seen.add(text)
        if not answer.add(text, proofs):
            break
        kept += is_kept
    return Checked(answer.text, tuple(answer.spans), dropped, lost, kept)


def _is_claim(sentence: str) -> bool:
    """Whether a sentence claims something: not "Yes!" or "Here is a summary:"."""
    return len(read(sentence)) > 1 and not sentence.rstrip().endswith((":", "：", "?", "？", "؟"))


def _in_its_source(sentence: str, proofs: Sequence[Proof]) -> str:
    """The source's own sentence for one that nearly copies it, takes a part of it, or hardly has its words.

    No rule sees each small change of a copy, what a part leaves out, or whether quite other words mean the same.
    """
    first, quote = proofs[0], proofs[0].quotes[0]
    if first.support == "verbatim" or quote.cells or not _STANDS_ALONE.match(quote.text):
        return sentence
    said, there = read(sentence), {word.text for one in first.quotes for word in one.words}
    held = [word.text in there for word in said if word.kind == "word"]
    share = sum(held) / max(1, len(held))
    if len(first.quotes) > 1:
        return sentence if share >= TOGETHER and len(said) > ONE_FACT else quote.text
    mentioned = {word.text for word in said}
    if any(word.kind == "number" and word.text not in mentioned for word in quote.words):
        return quote.text  # of several numbers the model took one
    is_own = FAR <= share < NEAR and len(quote.words) <= LONGER * len(said)
    return sentence if is_own or len(quote.words) > LONGEST * len(said) else quote.text


def _instead(claim: Claim, evidence: Mapping[int, tuple[NumberedPassage, Quotable]]) -> list[Proof]:
    """The passage whose best sentence has most of the words of a sentence that none supports."""
    said = [(1 + word.is_fact, word.text) for word in read(claim.text)]
    cited = {cite.passage for cite in claim.cites} & evidence.keys() or evidence.keys()
    found: list[tuple[float, Proof]] = []
    for passage, quotable in (evidence[number] for number in evidence if number in cited):
        for quote in nearest(claim.text, quotable)[:1]:
            there = {word.text for word in quote.words}
            share = sum(weight for weight, text in said if text in there) / max(
                1, sum(weight for weight, _ in said)
            )
            is_whole = not quote.cells and _STANDS_ALONE.match(quote.text)
            if share >= ABOUT_THE_SAME and is_whole and len(quote.words) <= LONGEST * len(said):
                found.append((share, Proof(passage, [quote], "verbatim")))
    return [max(found, key=lambda one: one[0])[1]] if found else []


def proven(claim: Claim, evidence: Mapping[int, tuple[NumberedPassage, Quotable]]) -> list[Proof]:
    """The passages that support a sentence; empty if none does."""
    cited = [
        number
        for number in dict.fromkeys(cite.passage for cite in claim.cites)
        if number in evidence
    ]
    alone = [proof for number in cited for proof in _alone(claim, *evidence[number])]
    if alone or len(cited) < 2:
        others = (number for number in evidence if number not in cited)
        return alone or next(
            ([one] for number in others for one in _alone(claim, *evidence[number])), []
        )
    return list(_together(claim, [evidence[number] for number in cited]))


def _alone(claim: Claim, passage: NumberedPassage, evidence: Quotable) -> Iterator[Proof]:
    """The passage, if it supports the sentence: by the words that the model copied, or the best quotes without any."""
    copied = [
        quote
        for cite in claim.cites
        if cite.passage == passage.number
        for quote in evidence.holding(cite.words)
    ]
    quotes = list(dict.fromkeys(copied)) or nearest(claim.text, evidence)
    if how := support(claim.text, quotes, evidence):
        exact = [quote for quote in quotes if is_verbatim(claim.text, quote)]
        yield Proof(passage, exact[:1] or quotes, how)


def _together(claim: Claim, cited: Sequence[tuple[NumberedPassage, Quotable]]) -> Iterator[Proof]:
    """The passages that support the sentence only together."""
    union = reduce(Quotable.joined, (evidence for _, evidence in cited))
    quotes = nearest(claim.text, union)
    if how := support(claim.text, quotes, union):
        for passage, evidence in cited:
            if own := [quote for quote in quotes if quote in evidence.quotes]:
                yield Proof(passage, own, how)


PASSAGE_TOKENS = 256
"""Small passages: a claim is checked against one of them."""

MAX_PAGE = 200_000
"""The most characters of a page that are read."""

MAX_PASSAGES = 40

_GAP = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A passage as the model sees it. `heading` is its page's title, the headings above it and the page's date."""

    number: int
    source: Source
    heading: str
    text: str


def numbered_passages(
    query: SearchQuery, hits: Sequence[Hit], pages: Mapping[str, Page], budget_tokens: int
) -> list[NumberedPassage]:
    """The passages of the first `query.max_results` hits that match the question best, best first.

    Paragraphs that read like orders to a model are left out: if the model obeyed them, the check would find its
    sentence in the passage.
    """
    candidates = []
    for hit in hits[: query.max_results]:
        source, text = Source(hit.url, hit.title, hit.published), hit.content or hit.snippet
        if page := pages.get(hit.url):
            source, text = (
                Source(hit.url, page.title or hit.title, page.published or hit.published),
                page.markdown,
            )
        candidates += [(source, passage) for passage in chunk(text[:MAX_PAGE], PASSAGE_TOKENS)]
    scores = score_passages(query_terms(query.text), [passage for _, passage in candidates])
    ranked = sorted(zip(scores, candidates, strict=True), key=lambda one: -one[0])
    chosen: list[NumberedPassage] = []
    left = budget_tokens
    for score, (source, passage) in ranked:
        heading = " > ".join(
            (source.title, *passage.section_path, *filter(None, [source.published]))
        )[:300]
        if score <= 0 or len(chosen) == MAX_PASSAGES:
            break
        # The page's own marks would look like passage numbers.
        text = _GAP.sub("\n\n", without_orders(LINK.sub(r"\1", MARK.sub("", passage.text))))
        cost = estimate_tokens(heading) + estimate_tokens(text) + 8
        if text.strip() and cost <= left:
            page = pages.get(source.url)
            if page is not None and page.content_type == PDF:
                source = replace(source, url=at_page(source.url, passage.page))
            chosen.append(NumberedPassage(len(chosen) + 1, source, heading, text))
            left -= cost
    return chosen


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
        lambda mark: "".join(f"[{number}]" for number in numbers_of(mark[0])),
        _QUOTED.sub(taken_out, bare),
    )
    return list(_sentences(marked, (), quoted))


def _in_json(text: str) -> Iterator[tuple[str, tuple[Cite, ...]]]:
    """Every complete `{"text", "quotes"}` object, even in a truncated reply."""
    position = 0
    while (position := text.find("{", position)) >= 0:
        try:
            value, end = parse_json_within(text, position)
        except BadJson:
            position += 1
            continue
        for one in objects(value.get("sentences", [value])):
            if isinstance(one.get("text"), str):
                quotes = [
                    quote
                    for quote in objects(one.get("quotes"))
                    if type(quote.get("passage")) is int
                ]
                yield (
                    one["text"],
                    tuple(
                        Cite(quote["passage"], typed(str, quote.get("words"))) for quote in quotes
                    ),
                )
        position = end


def _sentences(text: str, cites: tuple[Cite, ...], quoted: dict[int, Cite]) -> Iterator[Claim]:
    """Marks after the full stop belong to the sentence before it."""
    for start, end in split_sentences(text):
        sentence = _EMPHASIS.sub("", text[start:end])
        numbers = [number for mark in _MARKS.findall(sentence) for number in numbers_of(mark)]
        bare = " ".join(_LEAD.sub("", _MARKS.sub("", _MARK_IN_WORD.sub(" ", sentence))).split())
        if bare:
            own = tuple(quoted.get(number, Cite(number)) for number in numbers)
            yield Claim(bare, tuple(dict.fromkeys((*cites, *own))))


# [1]  [1, 2]  [[1]]  【1】  ［1］, each run of them with the blank before it. Not part of a link: `[1](https://...)`.
_NUMBERS = r"\d{1,3}(?:\s?[,;、]\s?\d{1,3}){0,9}"
MARK = re.compile(
    rf"(?:\[\[{_NUMBERS}\]\]|\[\^?{_NUMBERS}\]|【{_NUMBERS}[^【】\n]{{0,40}}】|［{_NUMBERS}］)(?!\()"
)
_RUN = re.compile(rf"[ \t]{{0,4}}(?:{MARK.pattern}[ \t]{{0,4}})+(?<![ \t])")
_MARKS = re.compile(rf"\s{{0,3}}{MARK.pattern}")
_MARK_IN_WORD = re.compile(rf"{_MARKS.pattern}(?=\w)")
"""Words that a mark separated stay apart: `3[1]30` does not become 330."""
_NUMBER = re.compile(r"\d{1,3}")
# In `【2†L10-L20】` only the first number is a source.
_MARK_WITH_LINES = re.compile(r"【(\d{1,3})†[^】]{0,40}】")


@dataclass(frozen=True, slots=True)
class Marked:
    """A text whose marks number the cited pages by first use. `unknown` marks named no source and were removed."""

    text: str
    spans: tuple[Span, ...]
    unknown: int


def numbers_of(mark: str) -> list[int]:
    """The numbers in one mark or a run of them."""
    return [int(number) for number in _NUMBER.findall(_MARK_WITH_LINES.sub(r"[\1]", mark))]


def resolve_marks(text: str, sources: Mapping[int, Source]) -> Marked:
    """Rewrite each mark as ` [rank]`, one per page that it names; `rank` numbers the pages by first use.

    In code `[0]` is an index and stays.

    Args:
        sources: the source of each number. Two numbers may mean the same page.
    """
    ranks: dict[str, int] = {}
    edits: list[tuple[int, int, str]] = []
    found: list[tuple[int, str, Source]] = []
    edges = [0, *(edge for piece in code_pieces(text) for edge in piece), len(text)]
    runs = [
        run
        for gap in zip(edges[::2], edges[1::2], strict=True)
        for run in _RUN.finditer(text, *gap)
    ]
    unknown = 0
    for run in runs:
        named = [sources.get(number) for number in numbers_of(run[0])]
        unknown += named.count(None)
        pages: dict[str, Source] = {}
        for source in filter(None, named):
            pages.setdefault(page_key(source.url), source)
        marks = [
            (f"[{ranks.setdefault(page, len(ranks) + 1)}]", source)
            for page, source in pages.items()
        ]
        found += [(run.start(), mark, source) for mark, source in marks]
        is_definition = bool(marks) and text.startswith(":", run.end())
        edits.append(
            (
                *run.span(),
                "".join([" " * bool(marks), *(mark for mark, _ in marks), " " * is_definition]),
            )
        )
    written, move = rewritten(text, edits)
    spans = []
    for start, mark, source in found:
        at = written.index(mark, move(start))
        spans.append(Span(source.url, source.title, at, at + len(mark)))
    return Marked(written, tuple(spans), unknown)
