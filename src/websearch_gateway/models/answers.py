"""An answer with its citations, before finalize."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from websearch_gateway.models.search import AppliedFilters, Fallback

Support = Literal["verbatim", "paraphrase", "not_found", "unread"]
"""How a quote supports a sentence; `not_found`: the page lacks it, `unread`: the page could not be read in time."""


@dataclass(frozen=True, slots=True)
class Span:
    """A citation: `url` supports `text[start:end]` of the answer. Python string offsets, end exclusive.

    `quote` has the page's own words, and `support` says how they support the sentence; None if that was not checked.
    """

    url: str
    title: str
    start: int
    end: int
    quote: str | None = None
    support: Support | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was found or read for an answer. `published` is an ISO 8601 date or date-time."""

    url: str
    title: str = ""
    published: str | None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that the provider billed."""

    prompt: int = 0
    response: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of an engine or the extractive composer, before finalize: spans may repeat, be misplaced or unranked.

    `provider` says how it was made: `MODEL-web-search`, `MODEL-over-PROVIDER` or `PROVIDER-raw-search`. `sources` are
    the pages that were found or read, cited or not. `search_suggestions` is HTML that must be shown
    unchanged beside the answer. `searched_usd` is the part of `cost_usd` that the search layer has already booked.
    """

    text: str
    spans: tuple[Span, ...]
    provider: str
    model: str | None = None
    sources: tuple[Source, ...] = ()
    search_suggestions: str | None = None
    searched_usd: float = 0.0
    usage: TokenUsage = TokenUsage()
    cost_usd: float = 0.0
    applied: AppliedFilters = field(default_factory=AppliedFilters)
    warnings: tuple[str, ...] = ()
    fallback: Fallback | None = None
