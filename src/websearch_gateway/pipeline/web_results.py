"""Hits and pages as results of a search: which hits are taken, what of their pages is shown, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from websearch_gateway.base import (
    UNSEEN_LEFT_OUT,
    clean_markdown,
    host,
    iso_date,
    page_key,
    plain,
    query_terms,
    reads_like_orders,
    strip_invisible_characters,
    strip_trackers,
    tokens_of_each,
    unreadable_note,
)
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.evidence import bm25, window
from websearch_gateway.models import Deadline, Hit, Page, SearchQuery
from websearch_gateway.pipeline.page_reads import Outcome
from websearch_gateway.ports import Workers
from websearch_gateway.results import WebResult

MOST_HITS = 100
"""No call asks a provider for more hits than this, on any page."""
LEAST_FILTERED = 20
"""The least number of hits to ask for if domains are filtered here: the filter may drop most of them."""


def hits_to_ask_for(wanted: int, query: SearchQuery) -> int:
    """How many hits to ask a provider for, so that about `wanted` remain after domains are filtered here."""
    if not query.include_domains and not query.exclude_domains:
        return min(MOST_HITS, wanted)
    return min(MOST_HITS, max(wanted * 2, LEAST_FILTERED))


def distinct(hits: Sequence[Hit], most: int) -> list[Hit]:
    """At most `most` hits, one per page, without trackers in their URLs."""
    clean = [replace(hit, url=strip_trackers(hit.url)) for hit in hits]
    return _one_per_page(clean, {})[:most]


def _one_per_page(hits: Iterable[Hit], outcomes: Mapping[str, Outcome]) -> list[Hit]:
    """The first hit of each page, by the canonical URL that its redirects lead to."""
    pages: dict[str, Hit] = {}
    for hit in hits:
        page = outcomes.get(hit.url)
        url = page.final_url if isinstance(page, Page) else hit.url
        pages.setdefault(page_key(url), hit)
    return list(pages.values())


MOST_SENT = 32_000
"""The most characters of a provider's page text that are cleaned; the result shows a quarter of them."""


async def clean_sent(
    hits: Iterable[Hit], workers: Workers, deadline: Deadline
) -> dict[str, tuple[str, Sequence[str]]]:
    """The page texts that a provider sent, cleaned as pages are, and warnings, by the URL of the hit.

    Raises:
        Unavailable: they cannot be cleaned in time.
    """
    sent = [(hit.url, hit.content[:MOST_SENT]) for hit in hits if hit.content]
    if not sent:
        return {}
    size = sum(len(text) for _, text in sent)
    cleaned = await workers.run(cleaned_texts, sent, deadline=deadline, size=size)
    urls = [url for url, _ in sent]
    return {url: (text, warnings) for url, (text, warnings) in zip(urls, cleaned, strict=True)}


def cleaned_texts(sent: Sequence[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    """The cleaned page texts from providers, with warnings. Runs in a worker process.

    Args:
        sent: pairs of a URL and its text.
    """
    return [clean_markdown(text, url) for url, text in sent]


PLACE_DAMPING = 10
"""How slowly the weight falls with a hit's place in the provider's list: the twelfth weighs half of the first."""


def assemble(
    query: str, hits: Sequence[Hit], outcomes: Mapping[str, Outcome]
) -> tuple[WebResult, ...]:
    """The results, best first; hits whose redirects end at the same page become one.

    The relevance is the mean of two shares, each in 0..1: BM25 of the query over title, snippet and text that was read
    (see `evidence.bm25`), and 11 / (10 + place), with the hit's place in the provider's list (from 1).

    Args:
        hits: with clean contents, see `cleaned_texts`.
        outcomes: the page or the error for each hit's URL; absent if it was not read.
    """
    hits = _one_per_page(hits, outcomes)
    texts = [_text(hit, outcomes.get(hit.url)) for hit in hits]
    documents = [
        f"{hit.title}\n{hit.snippet}\n{text}" for hit, text in zip(hits, texts, strict=True)
    ]
    terms = query_terms(query)
    scores = bm25(terms, tokens_of_each(documents))
    results = []
    for place, hit in enumerate(hits):
        by_place = (PLACE_DAMPING + 1) / (PLACE_DAMPING + place + 1)
        relevance = round((scores[place] + by_place) / 2, 4)
        results.append(_result(hit, outcomes.get(hit.url), texts[place], relevance, terms))
    return tuple(sorted(results, key=lambda result: -result.relevance_score))


PAGE_CHARS = 8_000
"""The most characters of a page in its result: about 2,000 tokens, which holds many pages whole."""

_MORE = "*({left:,} more characters: `get_content` with `offset` {offset}.)*"
_LEFT_OUT = "*({left:,} more characters of this text are left out.)*"


def _text(hit: Hit, outcome: Outcome | None) -> str:
    """The beginning of the page, or else of the provider's text; empty if there is neither."""
    text, notice = hit.content or "", _LEFT_OUT
    if isinstance(outcome, Page):
        text, notice = outcome.markdown, _MORE
    opening, rest = window(text, 0, PAGE_CHARS)
    if rest is None:
        return text
    return f"{opening.rstrip()}\n\n{notice.format(left=len(text) - rest, offset=rest)}"


def _result(
    hit: Hit, outcome: Outcome | None, text: str, relevance: float, terms: Sequence[str]
) -> WebResult:
    page = outcome if isinstance(outcome, Page) else None
    # A hit without a title has its URL as title.
    title = page.title if page and hit.title == hit.url else hit.title
    snippet = _plain(hit.snippet)
    if page and _repeats_unseen(snippet, page):
        snippet = _visible_snippet(page, terms)
    note = ""
    if page is None or not text.strip():
        note = _note(hit, outcome, text)
    if not text and not note:
        text = _plain(hit.snippet) or _plain(hit.title) or hit.url
    published = page.published if page and page.published else hit.published
    return WebResult(
        title=_plain(title) or hit.url,
        link=hit.url,
        snippet=snippet,
        page_content=note + text,
        note_chars=len(note) or None,
        provider=hit.provider,
        published_date=iso_date(published),
        relevance_score=relevance,
    )


def _note(hit: Hit, outcome: Outcome | None, text: str) -> str:
    """Why there is no page, before the provider's `text` of it; empty if the page was not to be read."""
    if outcome is None:
        return ""
    if isinstance(outcome, Page):
        outcome = SearchFetchError("The page has no readable text.", details={"reason": "empty"})
    note = unreadable_note(outcome.code, outcome.details, host(hit.url), outcome.message)
    return f"{note}\n\nThe search provider sent this text of it:\n\n" if text else note


def _plain(text: str) -> str:
    return strip_invisible_characters(text)[0]


MOST_COMPARED = 200_000
"""The most characters of a page in which to look for a snippet: nobody hides a text behind a whole book."""

_PARTS = re.compile(r"\.{3}|…|\s[·|—–]\s")
"""What vendors put between the parts of a snippet."""
_WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


def _repeats_unseen(snippet: str, page: Page) -> bool:
    """Whether a part of the snippet is not visible on a page that hides text, or is not and the snippet has orders."""
    hides = any(warning.startswith(UNSEEN_LEFT_OUT) for warning in page.warnings)
    if not hides and reads_like_orders(snippet) is None:
        return False
    words = _WORD.findall(plain(page.markdown[:MOST_COMPARED]).casefold())
    visible = f" {' '.join(words)} "
    parts = [_WORD.findall(part.casefold()) for part in _PARTS.split(snippet)]
    return any(_is_unseen(part, visible) for part in parts)


RUN = 3
UNSEEN_RUNS = 5
"""A snippet is compared in runs of RUN words. One other word makes RUN runs in a row unknown, and three make five."""


def _is_unseen(words: Sequence[str], visible: str) -> bool:
    """Whether words in a row, or all of them, are not on the page. A single one may be cut or written otherwise."""
    starts = range(len(words) - RUN + 1)
    runs = [" ".join(words[start : start + RUN]) for start in starts]
    missing = [f" {run} " not in visible for run in runs]
    if missing and all(missing):
        return True
    lengths = [len(list(group)) for is_missing, group in groupby(missing) if is_missing]
    return max(lengths, default=0) >= UNSEEN_RUNS


SNIPPET_CHARS = 200
"""The most characters of a snippet that is cut from a page: about what vendors send."""
SHORTEST_PROSE = 40
"""A shorter paragraph is a heading, a button or a date, unless the page has no longer one."""


def _visible_snippet(page: Page, terms: Sequence[str]) -> str:
    """The paragraph of a page with the most terms of the query, cut to the length of a snippet."""
    paragraphs = [plain(part) for part in page.markdown[:MOST_COMPARED].split("\n\n")]
    prose = [part for part in paragraphs if len(part) >= SHORTEST_PROSE] or paragraphs
    query = frozenset(terms)
    shared = [len(query.intersection(words)) for words in tokens_of_each(prose)]
    best = prose[shared.index(max(shared))]
    return best if len(best) <= SNIPPET_CHARS else f"{best[:SNIPPET_CHARS].rpartition(' ')[0]} …"


def snippet_warnings(
    hits: Sequence[Hit], outcomes: Mapping[str, Outcome], results: Sequence[WebResult]
) -> list[str]:
    """A warning for each snippet that was replaced."""
    sent = {hit.url: _plain(hit.snippet) for hit in hits}
    return [
        f"{result.link}: its snippet repeated text that a reader cannot see; a visible part is shown."
        for result in results
        if isinstance(outcomes.get(result.link), Page) and result.snippet != sent[result.link]
    ]
