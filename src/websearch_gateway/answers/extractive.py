"""Answers without a model: quotes the sentences of the pages that answer the question, and cites each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from websearch_gateway.base import host, nearest, no_answer, page_key, query_terms, without_orders
from websearch_gateway.evidence import (
    PDF,
    PRONOUN,
    Candidate,
    Document,
    Question,
    Ranked,
    at_page,
    candidates,
    choose,
    joined,
    page_of,
    rank,
)
from websearch_gateway.models import Answer, Hit, Page, SearchQuery, Source, Span
from websearch_gateway.ports import MOST_RERANKED

if TYPE_CHECKING:
    from websearch_gateway.evidence import Encode


MAX_ANSWER = 800  # characters of an answer, citation marks included
MAX_PAGE = (
    200_000  # the most characters of a page that are read; a warning names the pages that were cut
)
MAX_EFFORT = 800_000
"""The effort limit for all pages together, so that an answer takes less than a second for any pages: a character counts
one, the end of a line or sentence `END_EFFORT` more. Five pages of 60,000 characters use two thirds."""

END_EFFORT = 40

NO_RESULTS = "The search found nothing."

UNREAD = "Could not be read; the text from the search provider was used instead"
UNREAD_SNIPPET = "Could not be read; only its search snippet was used"
CUT_OFF = "Too large to be fetched whole; its end is missing"
TOO_LONG = "Very long; only the first {:,} of {:,} characters were read"

_END = re.compile(r"[\n.!?…؟۔。！？｡]")
_BETWEEN = "\n\n"
LONGEST_HEDGE = 80  # characters of an answer reserved for the line that says that no page answers
_LONGEST_MARK = len(" [99]" + _BETWEEN)


@dataclass(frozen=True, slots=True)
class _Source:
    """A hit with the best available text: its page, else the vendor's copy of the page, else its snippet."""

    url: str
    document: Document
    published: str | None
    faults: tuple[str, ...]
    is_pdf: bool = False


def shortlist(
    query: SearchQuery, hits: Sequence[Hit], pages: Mapping[str, Page], encode: Encode
) -> list[tuple[int, str]]:
    """The number and text of the sentences that `compose` would choose from, best first; a `ports.Shortlist`.

    The text has the sentence before one that begins with a pronoun.
    """
    documents, _ = _documents(query, hits, pages)
    _, sentences, ranked = _ranked(query.text, documents, encode)
    return [(at, _with_its_noun(sentences[at])) for at in ranked.order[:MOST_RERANKED]]


def _with_its_noun(sentence: Candidate) -> str:
    points_back = sentence.before and PRONOUN.match(sentence.text)
    return f"{sentence.before} {sentence.text}" if points_back else sentence.text


def compose(
    query: SearchQuery,
    hits: Sequence[Hit],
    pages: Mapping[str, Page],
    preferred: Sequence[int] = (),
    *,
    encode: Encode,
) -> Answer:
    """Quote the sentences that answer `query` from the first `query.max_results` hits; a `ports.Composer`.

    The text is at most 800 characters of whole sentences, each a paragraph that ends in its reference mark `[n]`; the
    spans are those marks, and `n` counts the cited pages by first use; URLs with the same `base.page_key` are one
    page. Sentences that are near the question but unlikely to answer it follow a line that says so, in the language of
    the question. If no sentence is near, the text says only that, without spans, and `sources` holds the links to
    follow. A paragraph that reads like orders to a model is not quoted. `encode` gives the vectors of English words,
    which find sentences that use other words than the question.
    """
    documents, sources = _documents(query, hits, pages)
    findings = find_evidence(
        query.text, documents, MAX_ANSWER, encode, _LONGEST_MARK, LONGEST_HEDGE, preferred
    )
    is_unlikely = findings.sentences and not findings.is_answer
    hedge = nearest(findings.language) if is_unlikely else ""
    text, spans = _cited(hedge, findings.sentences, sources)
    return Answer(
        text=text or (no_answer(findings.language) if sources else NO_RESULTS),
        spans=spans,
        provider=f"{hits[0].provider}-raw-search" if hits else "raw-search",
        sources=tuple(
            Source(source.url, source.document.title, source.published) for source in sources
        ),
        warnings=_warnings(sources),
    )


def _documents(
    query: SearchQuery, hits: Sequence[Hit], pages: Mapping[str, Page]
) -> tuple[list[Document], list[_Source]]:
    best = {hit.url: hit for hit in hits[: query.max_results]}
    sources = _bounded([_source(hit, pages.get(hit.url)) for hit in best.values()])
    documents = [
        replace(source.document, markdown=without_orders(source.document.markdown))
        for source in sources
    ]
    return documents, sources


def _source(hit: Hit, page: Page | None) -> _Source:
    title, text, faults = (
        hit.title,
        hit.content or hit.snippet,
        [UNREAD if hit.content else UNREAD_SNIPPET],
    )
    published = hit.published
    if page is not None:
        title, text, faults = page.title or hit.title, page.markdown, list(page.warnings)
        published = page.published or published
        if page.truncated:
            faults.append(CUT_OFF)
    is_pdf = page is not None and page.content_type == PDF
    return _Source(hit.url, Document(title, text), published, tuple(faults), is_pdf)


def _bounded(sources: Sequence[_Source]) -> list[_Source]:
    """The sources within `MAX_EFFORT`: each has an equal share, and longer ones get what short ones leave."""
    bounded = list(sources)
    effort_left = MAX_EFFORT
    shortest_first = sorted(
        range(len(sources)), key=lambda place: len(sources[place].document.markdown)
    )
    for done, place in enumerate(shortest_first):
        source = sources[place]
        text, effort = _beginning(
            source.document.markdown[:MAX_PAGE], effort_left // (len(sources) - done)
        )
        effort_left -= effort
        if (whole := len(source.document.markdown)) > len(text):
            faults = (*source.faults, TOO_LONG.format(len(text), whole))
            bounded[place] = replace(
                source, document=replace(source.document, markdown=text), faults=faults
            )
    return bounded


def _beginning(text: str, effort: int) -> tuple[str, int]:
    ends = 0
    for match in _END.finditer(text):
        if match.end() + (ends + 1) * END_EFFORT > effort:
            break
        ends += 1
    beginning = text[: max(0, effort - ends * END_EFFORT)]
    return beginning, len(beginning) + ends * END_EFFORT


def _cited(
    hedge: str, evidence: Sequence[Evidence], sources: Sequence[_Source]
) -> tuple[str, tuple[Span, ...]]:
    numbers: dict[str, int] = {}
    text = hedge
    spans: list[Span] = []
    for sentence in evidence:
        source = sources[sentence.document]
        number = numbers.setdefault(page_key(source.url), len(numbers) + 1)
        text += f"{_BETWEEN if text else ''}{sentence.text} "
        start = len(text)
        text += f"[{number}]"
        page = page_of(source.document.markdown, sentence.text) if source.is_pdf else None
        url = at_page(source.url, page)
        spans.append(Span(url, source.document.title, start, len(text), sentence.text, "verbatim"))
    return text, tuple(spans)


def _warnings(sources: Iterable[_Source]) -> tuple[str, ...]:
    hosts: dict[str, list[str]] = {}
    for source in sources:
        for fault in source.faults:
            hosts.setdefault(fault.rstrip("."), []).append(host(source.url))
    return tuple(f"{fault}: {', '.join(dict.fromkeys(names))}." for fault, names in hosts.items())


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence without its Markdown marks; `document` is the index of its page."""

    text: str
    document: int


@dataclass(frozen=True, slots=True)
class Findings:
    """The quotes closest to a question, the one that decides first and the others in the order of their pages.

    `is_answer`: whether they probably answer it. `language` is that of the question, ISO 639-1.
    """

    sentences: tuple[Evidence, ...]
    is_answer: bool
    language: str


def find_evidence(
    query: str,
    documents: Sequence[Document],
    max_characters: int,
    encode: Encode,
    overhead: int = 0,
    hedge: int = 0,
    preferred: Sequence[int] = (),
) -> Findings:
    """The sentences that answer `query`, without duplicates; empty if none is close enough.

    They come from prose, lists and tables, never from headings, code or runs of links. A sentence that points at one
    before it ("It is ...", "Under the deal ...") is quoted together with that one, or another is taken. None only
    repeats the question. `selection.choose` says which are quoted.

    Args:
        max_characters: the most characters of all sentences together.
        encode: gives the vectors of words, which are used for English questions.
        overhead: the characters that each sentence costs in addition to its own.
        hedge: the characters to keep free if no sentence probably answers.
        preferred: the numbers of `shortlist` in a better order.
    """
    question, sentences, ranked = _ranked(query, documents, encode)
    if not ranked.is_near:
        return Findings((), False, question.language)
    ordered = _without_echoes(question, sentences, _preferring(preferred, ranked))
    room = max_characters - (0 if ranked.is_answer else hedge)
    runs = choose(question, sentences, ordered, room, overhead)
    quotes = tuple(Evidence(joined(run), run[0].document) for run in runs)
    return Findings(quotes, ranked.is_answer, question.language)


def _preferring(preferred: Sequence[int], ranked: Ranked) -> Ranked:
    """The best sentences in the preferred order; the best place has the best score all the same."""
    first = ranked.order[: len(preferred)]
    if set(first) != set(preferred):
        return ranked
    moved = {at: ranked.scores[old] for at, old in zip(preferred, first, strict=True)}
    order = [*preferred, *ranked.order[len(first) :]]
    return ranked._replace(order=order, scores={**ranked.scores, **moved})


def _without_echoes(question: Question, sentences: Sequence[Candidate], ranked: Ranked) -> Ranked:
    """The order without the sentences that say nothing but the words of the question, unless all are such."""
    repeated = frozenset(question.terms)
    order = [
        at
        for at in ranked.order
        if not repeated.issuperset(query_terms(sentences[at].text, question.language))
    ]
    return ranked._replace(order=order or ranked.order)


def _ranked(
    query: str, documents: Sequence[Document], encode: Encode
) -> tuple[Question, Sequence[Candidate], Ranked]:
    question = Question.of(query)
    sentences = candidates(question.terms, question.language, documents)
    return question, sentences, rank(question, sentences, documents, encode)
