"""Tavily: search made for agents. https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.text.hits import json_object, linked, make_hit, records
from websearch_gateway.text.numbers import bucket, iso_date
from websearch_gateway.text.query import country_name

MOST_RESULTS = 20
MOST_INCLUDED, MOST_EXCLUDED = 300, 150
# The countries of the vendor's list. It rejects others as an invalid request.
_COUNTRIES = (
    "AD AE AF AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CF CG CH CL CM CN CO CR CU CV "
    "CY CZ DE DJ DK DO DZ EC EE EG ER ES ET FI FJ FR GA GB GE GH GM GN GQ GR GT HN HR HT HU ID IE IL IN IQ IR IS IT JM "
    "JO JP KE KG KH KM KP KR KW KZ LB LI LK LR LS LT LU LV LY MA MC MD ME MG MK ML MM MN MR MT MU MV MW MX MY MZ NA NE "
    "NG NI NL NO NP NZ OM PA PE PG PH PK PL PT PY QA RO RS RU RW SA SD SE SG SI SK SN SO SS SV SY TD TG TH TJ TM TN TR "
    "TT TW TZ UA UG US UY UZ VE VN YE ZA ZM ZW"
)


@dataclass(frozen=True, slots=True)
class Tavily(Provider):
    """One request of search depth `basic`, without paging. Takes a country by its name, except for news."""

    key: str = field(repr=False)
    base_url: str = "https://api.tavily.com"

    name: ClassVar[str] = "tavily"
    key_setting: ClassVar[str | None] = "TAVILY_API_KEY"
    spent: ClassVar[Mapping[int, str]] = dict.fromkeys((432, 433), "The Tavily account is over its usage limit.")
    # One credit at the pay-as-you-go price of $0.008.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=MOST_RESULTS,
        freshness=True,
        region=True,
        news=True,
        cost_per_call_usd=0.008,
        price_source="https://docs.tavily.com/documentation/api-credits, pay as you go, 2026-11",
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /search."""
        body: dict[str, Any] = {
            "query": query.text,
            "search_depth": "basic",
            "topic": query.topic,
            "max_results": min(query.max_results, MOST_RESULTS),
        }
        if freshness := bucket(query.freshness_hours):
            body["time_range"] = freshness
        if region := self._region(query):
            body["country"] = country_name(region)
        if query.include_domains:
            body["include_domains"] = list(query.include_domains[:MOST_INCLUDED])
        if query.exclude_domains:
            body["exclude_domains"] = list(query.exclude_domains[:MOST_EXCLUDED])
        return HttpRequest(
            "POST", f"{self.base_url}/search", headers={"Authorization": f"Bearer {self.key}"}, json=body
        )

    def parse(self, body: bytes) -> list[Hit]:
        """`results`, with Tavily's own score in 0..1; only news has dates."""
        hits = (self._hit(row) for row in records(json_object(body, self.name), "results", self.name))
        return linked(hits, self.name)

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """The region only if Tavily supports the country and the topic is general."""
        include, exclude = query.include_domains, query.exclude_domains
        all_sent = len(include) <= MOST_INCLUDED and len(exclude) <= MOST_EXCLUDED
        domains: Literal["upstream"] | None = "upstream" if (include or exclude) and all_sent else None
        return AppliedFilters(bucket(query.freshness_hours), self._region(query), domains)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        published, score = iso_date(row.get("published_date")), row.get("score")
        return make_hit(
            self.name,
            row.get("url"),
            row.get("title"),
            row.get("content"),
            published=published,
            score=score if isinstance(score, float) else None,
        )

    def _region(self, query: SearchQuery) -> str | None:
        return query.region if query.topic == "general" and query.region in _COUNTRIES.split() else None
