"""An answer without a model: the sentences that answer the question, quoted from the pages and each of them cited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from websearch_gateway.models import Answer, Hit, Page, SearchQuery, Span
from websearch_gateway.text.evidence import Document, Evidence, find_evidence
from websearch_gateway.text.urls import host

MAX_ANSWER = 800
"""Characters of an answer, citation marks included."""

MAX_PAGE = 200_000
"""Characters of a page that are looked at; more is said in a warning."""

NO_ANSWER = "No page answers this directly."
NO_RESULTS = "The search found nothing."

UNREAD = "Could not be read, so that what the search provider sent of it was used"
UNREAD_SNIPPET = "Could not be read, so that only its search snippet was used"
CUT_OFF = "Too large to be fetched whole, so that its end is unknown"
TOO_LONG = f"Very long, so that only the first {MAX_PAGE:,} characters were looked at"

_BETWEEN = "\n\n"
_LONGEST_MARK = len(" [99]" + _BETWEEN)


@dataclass(frozen=True, slots=True)
class _Source:
    """A hit with the best text there is: its page, else what the vendor sent of the page, else its snippet."""

    url: str
    document: Document
    faults: tuple[str, ...]


def compose(query: SearchQuery, hits: Sequence[Hit], pages: Mapping[str, Page]) -> Answer:
    """Quote what answers `query` from the first `query.max_results` hits; a `ports.Composer`.

    The text is at most 800 characters of whole sentences, each a paragraph that ends in its reference mark `[n]`; the
    spans are those marks, and `n` counts the cited pages by first use. When no sentence comes near the question the
    text says so, without spans, and `sources` holds the links to follow.
    """
    best = {hit.url: hit for hit in hits[: query.max_results]}
    sources = [_source(hit, pages.get(hit.url)) for hit in best.values()]
    evidence = find_evidence(query.text, [source.document for source in sources], MAX_ANSWER, _LONGEST_MARK)
    text, spans = _cited(evidence, sources)
    return Answer(
        text=text or (NO_ANSWER if sources else NO_RESULTS),
        spans=spans,
        provider=f"{hits[0].provider}-raw-search" if hits else "raw-search",
        sources=tuple(source.url for source in sources),
        warnings=_warnings(sources),
    )


def _source(hit: Hit, page: Page | None) -> _Source:
    title, text, faults = hit.title, hit.content or hit.snippet, [UNREAD if hit.content else UNREAD_SNIPPET]
    if page is not None:
        title, text, faults = page.title or hit.title, page.markdown, list(page.warnings)
        if page.truncated:
            faults.append(CUT_OFF)
    if len(text) > MAX_PAGE:
        faults.append(TOO_LONG)
    return _Source(hit.url, Document(title, text[:MAX_PAGE]), tuple(faults))


def _cited(evidence: Sequence[Evidence], sources: Sequence[_Source]) -> tuple[str, tuple[Span, ...]]:
    numbers: dict[int, int] = {}
    text = ""
    spans: list[Span] = []
    for sentence in evidence:
        source = sources[sentence.document]
        number = numbers.setdefault(sentence.document, len(numbers) + 1)
        text += f"{_BETWEEN if text else ''}{sentence.text} "
        start = len(text)
        text += f"[{number}]"
        spans.append(Span(source.url, source.document.title, start, len(text)))
    return text, tuple(spans)


def _warnings(sources: Iterable[_Source]) -> tuple[str, ...]:
    """Each fault once, with the hosts that have it."""
    hosts: dict[str, list[str]] = {}
    for source in sources:
        for fault in source.faults:
            hosts.setdefault(fault.rstrip("."), []).append(host(source.url))
    return tuple(f"{fault}: {', '.join(dict.fromkeys(names))}." for fault, names in hosts.items())
