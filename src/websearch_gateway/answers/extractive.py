"""Answers without a model: quotes the sentences of the pages that answer the question, and cites each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from websearch_gateway.base import host, nearest, no_answer, page_key, query_terms, without_orders
from websearch_gateway.evidence import (
    DANGLING,
    PDF,
    PRONOUN,
    Candidate,
    Document,
    Question,
    Ranked,
    at_page,
    candidates,
    inverse_document_frequency,
    page_of,
    rank,
    terms_in,
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
    _, found, ranked = _ranked(query.text, documents, encode)
    best = [(at, found[at]) for at in ranked.order[:MOST_RERANKED]]
    return [
        (at, f"{one.before} {one.text}" if one.before and PRONOUN.match(one.text) else one.text)
        for at, one in best
    ]


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
    spans are those marks, and `n` counts the cited pages by first use; URLs with the same `text.urls.canonical` are one
    page. Sentences that are near the question but unlikely to answer it follow a line that says so, in the language of
    the question. If no sentence is near, the text says only that, without spans, and `sources` holds the links to
    follow. A paragraph that reads like orders to a model is not quoted. `encode` gives the vectors of English words,
    which find sentences that use other words than the question.
    """
    documents, sources = _documents(query, hits, pages)
    found = find_evidence(
        query.text, documents, MAX_ANSWER, encode, _LONGEST_MARK, LONGEST_HEDGE, preferred
    )
    hedge = "" if found.is_answer or not found.sentences else nearest(found.language)
    text, spans = _cited(hedge, found.sentences, sources)
    return Answer(
        text=text or (no_answer(found.language) if sources else NO_RESULTS),
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
    return [
        replace(one.document, markdown=without_orders(one.document.markdown)) for one in sources
    ], sources


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
    left = MAX_EFFORT
    shortest_first = sorted(
        range(len(sources)), key=lambda place: len(sources[place].document.markdown)
    )
    for done, place in enumerate(shortest_first):
        source = sources[place]
        text, effort = _beginning(
            source.document.markdown[:MAX_PAGE], left // (len(sources) - done)
        )
        left -= effort
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
    kept = text[: max(0, effort - ends * END_EFFORT)]
    return kept, len(kept) + ends * END_EFFORT


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


RIVAL = 0.9
"""The largest distance in score from the best sentence at which another one is a rival: either may be the answer."""

SAME = 0.8
"""The share of the words of the shorter of two sentences that the other one has if it says the same."""

CLOSE = 1.2
"""The same for one that adds a word of the question."""

FAR, GAIN = 3.5, 0.25
"""The same for one that adds at least this share of the question's words, in which rarer words weigh more."""

_ANTECEDENT = (
    3  # the largest distance, in sentences, at which to look for the noun that a pronoun refers to
)
NEAR_PASSAGE = 0.65  # a further sentence comes from a passage with at least this part of the score of the best one's


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence without its Markdown marks; `document` is the index of its page."""

    text: str
    document: int


@dataclass(frozen=True, slots=True)
class Findings:
    """The sentences closest to a question, the best first and the others in the order of their pages.

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
    before it ("It is ...", "Under the deal ...") is quoted together with that one, or another is taken. A further one
    is quoted only if it scores nearly as well, or adds words of the question or the kind of thing asked for; none only
    repeats the question.

    Args:
        max_characters: the most characters of all sentences together.
        encode: gives the vectors of words, which are used for English questions.
        overhead: the characters that each sentence costs in addition to its own.
        hedge: the characters to keep free if no sentence probably answers.
        preferred: the numbers of `shortlist` in a better order.
    """
    question, found, ranked = _ranked(query, documents, encode)
    first = ranked.order[: len(preferred)]
    if set(first) == set(preferred):  # the best place has the best score all the same
        scores = {
            **ranked.scores,
            **{at: ranked.scores[old] for at, old in zip(preferred, first, strict=True)},
        }
        ranked = ranked._replace(order=[*preferred, *ranked.order[len(first) :]], scores=scores)
    asked = frozenset(question.terms)
    # A sentence that says nothing but the words of the question is no answer.
    order = [
        at
        for at in ranked.order
        if not asked.issuperset(query_terms(found[at].text, question.language))
    ]
    order = order or list(ranked.order)
    if not ranked.is_near:
        return Findings((), False, question.language)
    best = order[0]
    about = [at for at in order if found[at].passage >= NEAR_PASSAGE * found[best].passage]
    near = [at for at in about if ranked.scores[at] >= ranked.scores[best] - FAR]
    if ranked.given.isdisjoint(near):
        near += [at for at in about if at in ranked.given][:1]
    quotes = _Quotes(question, found, max_characters - (0 if ranked.is_answer else hedge), overhead)
    for at in near:
        quotes.add(found[at], ranked.scores[best] - ranked.scores[at], has_kind=at in ranked.given)
    if not quotes.runs:  # better a pronoun without its noun than no quote
        quotes.take([found[best]], has_kind=False)
    read = [
        *quotes.runs[:1],
        *sorted(quotes.runs[1:], key=lambda run: (run[0].document, run[0].order)),
    ]
    told = tuple(Evidence(_joined(run), run[0].document) for run in read)
    return Findings(told, ranked.is_answer, question.language)


def _ranked(
    query: str, documents: Sequence[Document], encode: Encode
) -> tuple[Question, Sequence[Candidate], Ranked]:
    question = Question.of(query)
    found = candidates(question.terms, question.language, documents)
    return question, found, rank(question, found, documents, encode)


class _Quotes:
    """The quotes of an answer: runs of neighbouring sentences, none of which begins by pointing at one before it."""

    def __init__(
        self, question: Question, found: Sequence[Candidate], room: int, overhead: int
    ) -> None:
        self.runs: list[list[Candidate]] = []
        self._question = question
        self._found = {(one.document, one.order): one for one in found}
        self._rarity = inverse_document_frequency(
            question.terms, [dict.fromkeys(one.words, 1) for one in found]
        )
        self._room, self._overhead = room, overhead
        self._told: frozenset[str] = frozenset()
        self._has_kind = False

    def add(self, one: Candidate, distance: float, *, has_kind: bool) -> None:
        """Quote a sentence if there is room, and it is a rival, or adds the kind asked for or words of the question.

        `distance` in score is that from the best sentence. A word of the headings adds nothing.
        """
        quoted = self._from_its_noun(one)
        if quoted is None:
            return
        adds = sum(self._rarity[term] for term in terms_in(self._question, one.own) - self._told)
        is_enough = adds > 0 and (distance <= CLOSE or adds >= GAIN * sum(self._rarity.values()))
        own, told = frozenset(one.own), [frozenset(said.own) for run in self.runs for said in run]
        is_rival = distance <= RIVAL and not any(
            len(own & other) >= SAME * min(len(own), len(other)) for other in told
        )
        if is_rival or is_enough or (has_kind and not self._has_kind):
            self.take(quoted, has_kind=has_kind)

    def take(self, run: list[Candidate], *, has_kind: bool) -> None:
        """Quote these neighbours, if there is room; a quoted one at their beginning goes on with the others."""
        known = next((known for known in self.runs if known[-1] in run), [])
        rest = run[run.index(known[-1]) + 1 :] if known else run
        cost = len(_joined(rest)) + (1 if known else self._overhead)
        if cost > self._room:
            return
        self._room -= cost
        self._has_kind |= has_kind
        self._told |= terms_in(
            self._question, (token for one in rest for token in (*one.own, *one.above))
        )
        if known:
            known += rest
        else:
            self.runs.append(rest)

    def _from_its_noun(self, one: Candidate) -> list[Candidate] | None:
        """The sentences from the one that `one` points at, to `one`; None if that is not near."""
        run = [one]
        while DANGLING.match(run[0].text):
            place, number = run[0].order
            before = self._found.get((one.document, (place, number - 1)))
            if (
                len(run) > _ANTECEDENT
                or before is None
                or before.paragraph is not one.paragraph
                or not run[0].before
            ):
                return None
            run.insert(0, before)
        return run


def _joined(run: Sequence[Candidate]) -> str:
    """The text of neighbours. Scripts without spaces have none between sentences."""
    text = ""
    for one in run:
        text += ("" if not text or text[-1] in "。！？｡" else " ") + one.text
    return text
