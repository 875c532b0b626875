"""Answers without a model: quotes the sentences of the pages that answer the question, and cites each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from websearch_gateway.models import Answer, Hit, Page, SearchQuery, Source, Span
from websearch_gateway.ports import MOST_RERANKED
from websearch_gateway.text.candidates import Document
from websearch_gateway.text.chunk import PDF, at_page, page_of
from websearch_gateway.text.evidence import Evidence, find_evidence
from websearch_gateway.text.evidence import shortlist as _shortlist
from websearch_gateway.text.sanitise import without_orders
from websearch_gateway.text.urls import canonical, host

if TYPE_CHECKING:
    from websearch_gateway.text.reranking import Encode


MAX_ANSWER = 800
"""Characters of an answer, citation marks included."""

MAX_PAGE = 200_000
"""The most characters of a page that are read; a warning names the pages that were cut."""

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
LONGEST_HEDGE = 80
"""Characters of an answer reserved for the line that says that no page answers."""
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
    query: SearchQuery, hits: Sequence[Hit], pages: Mapping[str, Page], encode: Encode | None = None
) -> list[tuple[int, str]]:
    """The sentences that `compose` would choose from; a `ports.Shortlist`."""
    documents, _ = _documents(query, hits, pages)
    return _shortlist(query.text, documents, MOST_RERANKED, encode)


def compose(
    query: SearchQuery,
    hits: Sequence[Hit],
    pages: Mapping[str, Page],
    preferred: Sequence[int] = (),
    encode: Encode | None = None,
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
    found = find_evidence(query.text, documents, MAX_ANSWER, _LONGEST_MARK, encode, LONGEST_HEDGE, preferred)
    hedge = "" if found.is_answer or not found.sentences else nearest(found.language)
    text, spans = _cited(hedge, found.sentences, sources)
    return Answer(
        text=text or (no_answer(found.language) if sources else NO_RESULTS),
        spans=spans,
        provider=f"{hits[0].provider}-raw-search" if hits else "raw-search",
        sources=tuple(Source(source.url, source.document.title, source.published) for source in sources),
        warnings=_warnings(sources),
    )


def _documents(
    query: SearchQuery, hits: Sequence[Hit], pages: Mapping[str, Page]
) -> tuple[list[Document], list[_Source]]:
    best = {hit.url: hit for hit in hits[: query.max_results]}
    sources = _bounded([_source(hit, pages.get(hit.url)) for hit in best.values()])
    return [replace(one.document, markdown=without_orders(one.document.markdown)) for one in sources], sources


def _source(hit: Hit, page: Page | None) -> _Source:
    title, text, faults = hit.title, hit.content or hit.snippet, [UNREAD if hit.content else UNREAD_SNIPPET]
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
    shortest_first = sorted(range(len(sources)), key=lambda place: len(sources[place].document.markdown))
    for rank, place in enumerate(shortest_first):
        source = sources[place]
        text, effort = _beginning(source.document.markdown[:MAX_PAGE], left // (len(sources) - rank))
        left -= effort
        if (whole := len(source.document.markdown)) > len(text):
            faults = (*source.faults, TOO_LONG.format(len(text), whole))
            bounded[place] = replace(source, document=replace(source.document, markdown=text), faults=faults)
    return bounded


def _beginning(text: str, effort: int) -> tuple[str, int]:
    """The beginning of `text` that `effort` allows, and its own effort."""
    ends = 0
    for match in _END.finditer(text):
        if match.end() + (ends + 1) * END_EFFORT > effort:
            break
        ends += 1
    kept = text[: max(0, effort - ends * END_EFFORT)]
    return kept, len(kept) + ends * END_EFFORT


def _cited(hedge: str, evidence: Sequence[Evidence], sources: Sequence[_Source]) -> tuple[str, tuple[Span, ...]]:
    numbers: dict[str, int] = {}
    text = hedge
    spans: list[Span] = []
    for sentence in evidence:
        source = sources[sentence.document]
        number = numbers.setdefault(canonical(source.url), len(numbers) + 1)
        text += f"{_BETWEEN if text else ''}{sentence.text} "
        start = len(text)
        text += f"[{number}]"
        spans.append(
            Span(_url(source, sentence.text), source.document.title, start, len(text), sentence.text, "verbatim")
        )
    return text, tuple(spans)


def _url(source: _Source, sentence: str) -> str:
    """The address of a source; of a PDF that of the page with a sentence."""
    return at_page(source.url, page_of(source.document.markdown, sentence)) if source.is_pdf else source.url


def _warnings(sources: Iterable[_Source]) -> tuple[str, ...]:
    """Each fault once, with the hosts that have it."""
    hosts: dict[str, list[str]] = {}
    for source in sources:
        for fault in source.faults:
            hosts.setdefault(fault.rstrip("."), []).append(host(source.url))
    return tuple(f"{fault}: {', '.join(dict.fromkeys(names))}." for fault, names in hosts.items())


NO_ANSWER = "No page answers this directly."
_NEAREST = "No page answers this directly; nearest:"

_SENTENCES = {
    "ar": ("لا توجد صفحة تجيب عن هذا مباشرة.", "لا توجد صفحة تجيب عن هذا مباشرة؛ الأقرب:"),
    "de": ("Keine Seite beantwortet das direkt.", "Keine Seite beantwortet das direkt; am nächsten kommt:"),
    "el": ("Καμία σελίδα δεν το απαντά άμεσα.", "Καμία σελίδα δεν το απαντά άμεσα· το πλησιέστερο:"),
    "es": (
        "Ninguna página responde a esto directamente.",
        "Ninguna página responde directamente; lo más cercano:",
    ),
    "fr": ("Aucune page n’y répond directement.", "Aucune page n’y répond directement ; le plus proche :"),
    "hi": ("कोई पृष्ठ इसका सीधा उत्तर नहीं देता।", "कोई पृष्ठ इसका सीधा उत्तर नहीं देता; निकटतम:"),
    "it": ("Nessuna pagina risponde direttamente.", "Nessuna pagina risponde direttamente; il più vicino:"),
    "ja": ("直接答えるページはありません。", "直接答えるページはありません。最も近いもの："),
    "ko": ("직접 답하는 페이지가 없습니다.", "직접 답하는 페이지가 없습니다. 가장 가까운 내용:"),
    "nl": ("Geen pagina beantwoordt dit direct.", "Geen pagina beantwoordt dit direct; het dichtst erbij:"),
    "pt": ("Nenhuma página responde diretamente.", "Nenhuma página responde diretamente; o mais próximo:"),
    "ro": ("Nicio pagină nu răspunde direct.", "Nicio pagină nu răspunde direct; cel mai apropiat:"),
    "ru": ("Ни одна страница не отвечает на это прямо.", "Ни одна страница не отвечает на это прямо; ближе всего:"),
    "th": ("ไม่มีหน้าใดตอบคำถามนี้โดยตรง", "ไม่มีหน้าใดตอบคำถามนี้โดยตรง ใกล้เคียงที่สุด:"),
    "tr": ("Hiçbir sayfa bunu doğrudan yanıtlamıyor.", "Hiçbir sayfa bunu doğrudan yanıtlamıyor; en yakını:"),
    "vi": ("Không có trang nào trả lời trực tiếp.", "Không có trang nào trả lời trực tiếp; gần nhất:"),
    "zh": ("没有网页直接回答这个问题。", "没有网页直接回答这个问题；最接近的是："),
}

LANGUAGES = ("en", *_SENTENCES)
"""The languages that a hedge can be in."""


def no_answer(language: str) -> str:
    """The sentence for an answer that quotes nothing. `language` is an ISO 639-1 code; English for an unknown one."""
    return _SENTENCES.get(language, (NO_ANSWER, ""))[0]


def nearest(language: str) -> str:
    """The line above quotes that are near the question but do not answer it. `language` as in `no_answer`."""
    return _SENTENCES.get(language, ("", _NEAREST))[1]
