"""Makes the results of `web_search` from hits and the pages that were read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from websearch_gateway.errors import SearchError, SearchFetchError
from websearch_gateway.models import Hit, Page
from websearch_gateway.pipeline.read_many import Outcome
from websearch_gateway.results.search import WebResult
from websearch_gateway.text.dates import iso_date
from websearch_gateway.text.notes import reason, unreadable_note
from websearch_gateway.text.retrieval.rank import bm25
from websearch_gateway.text.retrieval.tokens import query_terms, tokens_of_each
from websearch_gateway.text.retrieval.windows import window
from websearch_gateway.text.safety.invisible import strip_invisible_characters
from websearch_gateway.text.safety.sanitise import clean_markdown
from websearch_gateway.text.trackers import strip_trackers
from websearch_gateway.text.urls import canonical, host

PAGE_CHARS = 8_000
"""The most characters of a page in its result: about 2,000 tokens, which holds many pages whole."""

MOST_SENT = 32_000
"""The most characters of a provider's page text that are cleaned; the result shows a quarter of them."""

PLACE_DAMPING = 10
"""How slowly the weight falls with a hit's place in the provider's list: the twelfth weighs half of the first."""

_TEMPORARY = frozenset({"busy", "broken", "timeout"})
_MORE = "*({left:,} more characters: `get_content` with `offset` {offset}.)*"
_LEFT_OUT = "*({left:,} more characters of this text are left out.)*"


def distinct(hits: Sequence[Hit], most: int) -> list[Hit]:
    """At most `most` hits, one per page, without trackers in their URLs."""
    return list(_by_page((replace(hit, url=strip_trackers(hit.url)) for hit in hits), {}).values())[:most]


def cleaned_texts(sent: Sequence[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    """The cleaned page texts from providers, with warnings. Runs in a worker process.

    Args:
        sent: pairs of a URL and its text.
    """
    return [clean_markdown(text, url) for url, text in sent]


def assemble(query: str, hits: Sequence[Hit], outcomes: Mapping[str, Outcome]) -> tuple[WebResult, ...]:
    """The results, best first; hits whose redirects end at the same page become one.

    The relevance is the mean of two shares, each in 0..1: BM25 of the query over title, snippet and text that was read
    (see `text.retrieval.rank`), and 11 / (10 + place), with the hit's place in the provider's list (from 1).

    Args:
        hits: with clean contents, see `cleaned_texts`.
        outcomes: the page or the error for each hit's URL; absent if it was not read.
    """
    found = list(_by_page(hits, outcomes).values())
    texts = [_text(hit, outcomes.get(hit.url)) for hit in found]
    documents = tokens_of_each(f"{hit.title}\n{hit.snippet}\n{text}" for hit, text in zip(found, texts, strict=True))
    scores = bm25(query_terms(query), documents)
    results = []
    for place, (hit, text, score) in enumerate(zip(found, texts, scores, strict=True), start=1):
        relevance = (score + (PLACE_DAMPING + 1) / (PLACE_DAMPING + place)) / 2
        results.append(_result(hit, outcomes.get(hit.url), text, round(relevance, 4)))
    return tuple(sorted(results, key=lambda result: -result.relevance_score))


def page_warnings(outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """The readers' warnings, each with its page."""
    return tuple(
        f"{url}: {warning}"
        for url, outcome in outcomes.items()
        if isinstance(outcome, Page)
        for warning in outcome.warnings
    )


def may_be_read_soon(outcomes: Mapping[str, Outcome]) -> bool:
    """Whether a page is missing for a temporary reason."""
    return any(
        isinstance(outcome, SearchError) and reason(outcome.code, outcome.details) in _TEMPORARY
        for outcome in outcomes.values()
    )


def _by_page(hits: Iterable[Hit], outcomes: Mapping[str, Outcome]) -> dict[str, Hit]:
    """The first hit of each page, by the canonical URL that its redirects lead to."""
    pages: dict[str, Hit] = {}
    for hit in hits:
        outcome = outcomes.get(hit.url)
        pages.setdefault(canonical(outcome.final_url if isinstance(outcome, Page) else hit.url), hit)
    return pages


def _text(hit: Hit, outcome: Outcome | None) -> str:
    """The beginning of the page, or else of the provider's text; empty if there is neither."""
    if isinstance(outcome, Page):
        return _opening(outcome.markdown, _MORE)
    return _opening(hit.content, _LEFT_OUT) if hit.content else ""


def _opening(text: str, notice: str) -> str:
    opening, rest = window(text, 0, PAGE_CHARS)
    if rest is None:
        return text
    return f"{opening.rstrip()}\n\n{notice.format(left=len(text) - rest, offset=rest)}"


def _result(hit: Hit, outcome: Outcome | None, text: str, relevance: float) -> WebResult:
    page = outcome if isinstance(outcome, Page) else None
    title = page.title if page and hit.title == hit.url else hit.title  # a hit without a title has its URL as title
    return WebResult(
        title=_plain(title) or hit.url,
        link=hit.url,
        snippet=_plain(hit.snippet),
        page_content=text if page and text.strip() else _note(hit, outcome, text),
        provider=hit.provider,
        published_date=iso_date(page.published if page and page.published else hit.published),
        relevance_score=relevance,
    )


def _note(hit: Hit, outcome: Outcome | None, text: str) -> str:
    """Why there is no page, with the provider's text of it; only that text if the page was not to be read."""
    if outcome is None:
        return text or _plain(hit.snippet) or _plain(hit.title) or hit.url
    if isinstance(outcome, Page):
        outcome = SearchFetchError("The page has no readable text.", details={"reason": "empty"})
    note = unreadable_note(outcome.code, outcome.details, host(hit.url), outcome.message)
    return f"{note}\n\nThe search provider sent this text of it:\n\n{text}" if text else note


def _plain(text: str) -> str:
    return strip_invisible_characters(text)[0]
