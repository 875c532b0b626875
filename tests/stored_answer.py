"""An answer and the question that it answers, as caches store them."""

from __future__ import annotations

from typing import Any

from websearch_gateway.models import Caller, SearchQuery
from websearch_gateway.results import Citation, SearchResponse, Usage

ME, YOU = Caller("me"), Caller("you")
ASKED = SearchQuery("how tall is the eiffel tower")
AGAIN = SearchQuery("height of the Eiffel Tower")
"""Means the same as ASKED."""

ANSWER = SearchResponse(
    text="It is 330 m tall.",
    citations=(
        Citation(
            url="https://toureiffel.paris/",
            title="T",
            text_snippet="It is 330 m tall.",
            end_index=17,
            rank=1,
        ),
    ),
    provider="openai",
    responded_at="2026-11-21T10:00:00.000Z",
    usage=Usage(prompt_tokens=8000, response_tokens=60),
    cost_usd=0.0105,
    warnings=("one",),
)
OTHER_PARAMETERS: dict[str, Any] = {
    "max_results": 8,
    "freshness_hours": 24,
    "region": "FR",
    "include_answers": False,
    "include_domains": ("toureiffel.paris",),
    "exclude_domains": ("toureiffel.paris",),
    "verify_citations": True,
    "language": "fr",
    "safe_search": "strict",
    "topic": "news",
    "variant": "brave",
}
"""A value other than that of ASKED for each parameter besides the text and the user."""
