"""The best passages of the pages that raw search found, numbered from 1, within a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.answers.marks import MARK
from websearch_gateway.models import Hit, Page, SearchQuery, Source
from websearch_gateway.text.chunk import PDF, at_page, chunk
from websearch_gateway.text.markdown import LINK
from websearch_gateway.text.rank import score_passages
from websearch_gateway.text.sanitise import without_orders
from websearch_gateway.text.tokens import estimate_tokens, query_terms

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
    candidates = [
        (source, passage)
        for hit in hits[: query.max_results]
        for source, text in [_page_text(hit, pages.get(hit.url))]
        for passage in chunk(text[:MAX_PAGE], PASSAGE_TOKENS)
    ]
    scores = score_passages(query_terms(query.text), [passage for _, passage in candidates])
    ranked = sorted(zip(scores, candidates, strict=True), key=lambda one: -one[0])
    chosen: list[NumberedPassage] = []
    left = budget_tokens
    for score, (source, passage) in ranked:
        heading = " > ".join((source.title, *passage.section_path, *filter(None, [source.published])))[:300]
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


def _page_text(hit: Hit, page: Page | None) -> tuple[Source, str]:
    if page is None:
        return Source(hit.url, hit.title, hit.published), hit.content or hit.snippet
    return Source(hit.url, page.title or hit.title, page.published or hit.published), page.markdown
