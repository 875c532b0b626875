"""Exa: an index of its own, with the text of each page. https://exa.ai/docs/reference/search"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.text.hits import json_object, linked, make_hit, opening, records
from websearch_gateway.text.numbers import bucket, iso_date, utc_now
from websearch_gateway.text.urls import one_list

MOST_RESULTS = 10
"""The price covers ten results with their texts; each further one costs more."""
MOST_DOMAINS = 1_200
TEXT_CHARS = 10_000
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


@dataclass(frozen=True, slots=True)
class Exa(Provider):
    """One request, without paging. Takes either included or excluded domains; a freshness drops undated pages."""

    key: str = field(repr=False)
    base_url: str = "https://api.exa.ai"
    clock: Callable[[], datetime] = field(default=utc_now, repr=False)

    name: ClassVar[str] = "exa"
    key_setting: ClassVar[str | None] = "EXA_API_KEY"
    spent: ClassVar[Mapping[int, str]] = {402: "The Exa account has no credits left."}
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=MOST_RESULTS,
        freshness=True,
        region=True,
        news=True,
        cost_per_call_usd=0.007,
        price_source="https://exa.ai/pricing, $7 for 1,000 searches of ten results with text, 2026-11",
        requests_per_second=10.0,
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /search with the text of each page."""
        body: dict[str, Any] = {
            "query": query.text,
            "type": "auto",
            "numResults": min(query.max_results, MOST_RESULTS),
            "contents": {"text": {"maxCharacters": TEXT_CHARS}},
        }
        include, exclude = one_list(query, MOST_DOMAINS)
        body |= {"includeDomains": list(include)} if include else {}
        body |= {"excludeDomains": list(exclude)} if exclude else {}
        if freshness := bucket(query.freshness_hours):
            body["startPublishedDate"] = f"{self.clock() - timedelta(days=_DAYS[freshness]):%Y-%m-%dT00:00:00.000Z}"
        if query.region:
            body["userLocation"] = query.region
        if query.topic == "news":
            body["category"] = "news"
        return HttpRequest("POST", f"{self.base_url}/search", headers={"x-api-key": self.key}, json=body)

    def parse(self, body: bytes) -> list[Hit]:
        """`results`; the beginning of the page's text serves as the snippet."""
        hits = (self._hit(row) for row in records(json_object(body, self.name), "results", self.name))
        return linked(hits, self.name)

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """Everything requested, up to a year; one list of domains."""
        domains: Literal["upstream"] | None = "upstream" if any(one_list(query, MOST_DOMAINS)) else None
        return AppliedFilters(bucket(query.freshness_hours), query.region, domains)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        text, published = row.get("text"), iso_date(row.get("publishedDate"))
        return make_hit(self.name, row.get("url"), row.get("title"), opening(text), published=published, content=text)


PROVIDER = Exa
