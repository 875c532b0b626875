"""Perplexity's search without its models. https://docs.perplexity.ai/api-reference/search-post"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.text.hits import json_object, linked, make_hit, records
from websearch_gateway.text.numbers import bucket, iso_date
from websearch_gateway.text.urls import one_list

MOST_RESULTS = MOST_DOMAINS = 20


@dataclass(frozen=True, slots=True)
class PerplexitySearch(Provider):
    """One request, without paging. Takes either included or excluded domains."""

    key: str = field(repr=False)
    base_url: str = "https://api.perplexity.ai"

    name: ClassVar[str] = "perplexity_search"
    key_setting: ClassVar[str | None] = "PERPLEXITY_API_KEY"
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=MOST_RESULTS,
        freshness=True,
        region=True,
        cost_per_call_usd=0.005,
        price_source="https://docs.perplexity.ai/docs/getting-started/pricing, $5 for 1,000 requests, 2026-10",
        requests_per_second=50.0,
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /search."""
        body: dict[str, Any] = {"query": query.text, "max_results": min(query.max_results, MOST_RESULTS)}
        include, exclude = one_list(query, MOST_DOMAINS)
        if domains := [*include, *(f"-{name}" for name in exclude)]:
            body["search_domain_filter"] = domains
        if freshness := bucket(query.freshness_hours):
            body["search_recency_filter"] = freshness
        if query.region:
            body["country"] = query.region
        if query.language:
            body["search_language_filter"] = [query.language]
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/search", headers=headers, json=body)

    def parse(self, body: bytes) -> list[Hit]:
        """`results`, whose snippets are long."""
        hits = (self._hit(row) for row in records(json_object(body, self.name), "results", self.name))
        return linked(hits, self.name)

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """Everything requested, up to a year; one list of domains."""
        domains: Literal["upstream"] | None = "upstream" if any(one_list(query, MOST_DOMAINS)) else None
        return AppliedFilters(bucket(query.freshness_hours), query.region, domains)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        published = iso_date(row.get("date"))
        return make_hit(self.name, row.get("url"), row.get("title"), row.get("snippet"), published=published)


PROVIDER = PerplexitySearch
