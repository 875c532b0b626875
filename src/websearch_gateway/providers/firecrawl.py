"""Firecrawl: web search that reads the pages too. https://docs.firecrawl.dev/api-reference/endpoint/search"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal

from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.text.hits import json_object, linked, make_hit, records
from websearch_gateway.text.numbers import bucket, iso_date, spoken_date, utc_now
from websearch_gateway.text.urls import one_list

MOST_RESULTS = 10
"""More results would cost more than one request's price."""
TBS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


@dataclass(frozen=True, slots=True)
class Firecrawl(Provider):
    """One request, without paging, with the Markdown of each page. Takes either included or excluded domains."""

    key: str = field(repr=False)
    base_url: str = "https://api.firecrawl.dev"
    clock: Callable[[], datetime] = field(default=utc_now, repr=False)

    name: ClassVar[str] = "firecrawl"
    key_setting: ClassVar[str | None] = "FIRECRAWL_API_KEY"
    spent: ClassVar[Mapping[int, str]] = {402: "The Firecrawl account has no credits left."}
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=MOST_RESULTS,
        freshness=True,
        region=True,
        news=True,
        cost_per_call_usd=0.01,
        price_source="https://docs.firecrawl.dev/billing, 2 credits for ten results and 1 for each page, at most 12 at "
        "about $0.00083, 2026-11",
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /v2/search with the Markdown of each page."""
        body: dict[str, Any] = {
            "query": query.text,
            "limit": min(query.max_results, MOST_RESULTS),
            "sources": [{"type": "news" if query.topic == "news" else "web"}],
            "scrapeOptions": {"formats": ["markdown"]},
        }
        include, exclude = one_list(query)
        body |= {"includeDomains": list(include)} if include else {}
        body |= {"excludeDomains": list(exclude)} if exclude else {}
        if freshness := bucket(query.freshness_hours):
            body["tbs"] = TBS[freshness]
        if query.region:
            body["country"] = query.region
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/v2/search", headers=headers, json=body)

    def parse(self, body: bytes) -> list[Hit]:
        """`data.web` or `data.news`; a source without results may be left out."""
        data = json_object(body, self.name).get("data")
        if not isinstance(data, dict):
            raise SearchProviderParseError(f"The reply of {self.name} has no results (data).")
        rows = [row for key in ("web", "news") for row in records(data, key, self.name, optional=True)]
        return linked(map(self._hit, rows), self.name)

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """Everything requested, up to a year; one list of domains."""
        domains: Literal["upstream"] | None = "upstream" if any(one_list(query)) else None
        return AppliedFilters(bucket(query.freshness_hours), query.region, domains)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        published = iso_date(row.get("date")) or spoken_date(row.get("date"), self.clock())
        snippet = row.get("description") or row.get("snippet")
        text = row.get("markdown")
        return make_hit(self.name, row.get("url"), row.get("title"), snippet, published=published, content=text)


PROVIDER = Firecrawl
