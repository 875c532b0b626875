"""The values that the layers pass to each other.

All are frozen and without logic. Add a field with a default, and a line about its unit or shape.
"""

from __future__ import annotations

from websearch_gateway.models.answers import Answer, Source, Span, Support, TokenUsage
from websearch_gateway.models.call import DIRECT, LOCAL, Caller, Deadline
from websearch_gateway.models.pages import Gathered, Page, Passage
from websearch_gateway.models.requests import (
    LONGEST_URL,
    ContentRequest,
    Freshness,
    PassagesRequest,
    RawSearchRequest,
    SafeSearch,
    SearchRequest,
    Topic,
    WebSearchRequest,
)
from websearch_gateway.models.search import (
    AppliedFilters,
    Capabilities,
    Fallback,
    Hit,
    HttpRequest,
    SearchQuery,
    SearchResults,
)
from websearch_gateway.models.state import StateEntry, StateProblem, StateUsage

__all__ = [
    "DIRECT",
    "LOCAL",
    "LONGEST_URL",
    "Answer",
    "AppliedFilters",
    "Caller",
    "Capabilities",
    "ContentRequest",
    "Deadline",
    "Fallback",
    "Freshness",
    "Gathered",
    "Hit",
    "HttpRequest",
    "Page",
    "Passage",
    "PassagesRequest",
    "RawSearchRequest",
    "SafeSearch",
    "SearchQuery",
    "SearchRequest",
    "SearchResults",
    "Source",
    "Span",
    "StateEntry",
    "StateProblem",
    "StateUsage",
    "Support",
    "TokenUsage",
    "Topic",
    "WebSearchRequest",
]
