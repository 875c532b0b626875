"""The numbered passages that a model answers from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.answers.reference_marks import MARK
from websearch_gateway.base import LINK, estimate_tokens, query_terms, without_orders
from websearch_gateway.evidence import PDF, at_page, chunk, score_passages
from websearch_gateway.models import Hit, Page, Passage, SearchQuery, Source

PASSAGE_TOKENS = 256
"""Small passages: a claim is checked against one of them."""
MAX_PAGE = 200_000
"""The most characters of a page that are read."""
MAX_PASSAGES = 40
LONGEST_HEADING = 300
"""The most characters of the title, headings and date above a passage."""
TOKENS_OF_A_NUMBER = 8
"""What the number and the blank lines around a passage cost."""

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
    candidates = list(_candidates(hits[: query.max_results], pages))
    scores = score_passages(query_terms(query.text), [passage for _, passage in candidates])
    ranked = sorted(range(len(candidates)), key=lambda place: -scores[place])
    chosen: list[NumberedPassage] = []
    budget = budget_tokens
    for place in ranked:
        if scores[place] <= 0 or len(chosen) == MAX_PASSAGES:
            break
        source, passage = candidates[place]
        heading = _heading(source, passage)
        text = _shown(passage)
        cost = estimate_tokens(heading) + estimate_tokens(text) + TOKENS_OF_A_NUMBER
        if not text.strip() or cost > budget:
            continue
        budget -= cost
        page = pages.get(source.url)
        if page is not None and page.content_type == PDF:
            source = replace(source, url=at_page(source.url, passage.page))
        chosen.append(NumberedPassage(len(chosen) + 1, source, heading, text))
    return chosen


def _candidates(hits: Sequence[Hit], pages: Mapping[str, Page]) -> Iterator[tuple[Source, Passage]]:
    """The passages of the pages, or of what the vendor gave of a page that could not be read."""
    for hit in hits:
        source, text = Source(hit.url, hit.title, hit.published), hit.content or hit.snippet
        if page := pages.get(hit.url):
            published = page.published or hit.published
            source, text = Source(hit.url, page.title or hit.title, published), page.markdown
        for passage in chunk(text[:MAX_PAGE], PASSAGE_TOKENS):
            yield source, passage


def _heading(source: Source, passage: Passage) -> str:
    date = [source.published] if source.published else []
    return " > ".join((source.title, *passage.section_path, *date))[:LONGEST_HEADING]


def _shown(passage: Passage) -> str:
    """The text without links, and without the page's own marks, which would look like passage numbers."""
    unmarked = LINK.sub(r"\1", MARK.sub("", passage.text))
    return _GAP.sub("\n\n", without_orders(unmarked))
