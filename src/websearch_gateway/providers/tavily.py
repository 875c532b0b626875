"""Tavily: search made for agents. https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from websearch_gateway.base import bucket, country_name
from websearch_gateway.models import Capabilities, HttpRequest, SearchQuery
from websearch_gateway.providers.table import Columns, SharedProvider, given

MOST_RESULTS = 20
"""Tavily's own limit."""
MOST_INCLUDED, MOST_EXCLUDED = 300, 150
"""Tavily's own limits of its lists of domains."""
# The countries of the vendor's list. It rejects others as an invalid request.
_COUNTRIES = (
    "AD AE AF AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CF CG CH CL CM CN CO CR CU CV "
    "CY CZ DE DJ DK DO DZ EC EE EG ER ES ET FI FJ FR GA GB GE GH GM GN GQ GR GT HN HR HT HU ID IE IL IN IQ IR IS IT JM "
    "JO JP KE KG KH KM KP KR KW KZ LB LI LK LR LS LT LU LV LY MA MC MD ME MG MK ML MM MN MR MT MU MV MW MX MY MZ NA NE "
    "NG NI NL NO NP NZ OM PA PE PG PH PK PL PT PY QA RO RS RU RW SA SD SE SG SI SK SN SO SS SV SY TD TG TH TJ TM TN TR "
    "TT TW TZ UA UG US UY UZ VE VN YE ZA ZM ZW"
)


@dataclass(frozen=True)
class Tavily(SharedProvider):
    """One request of search depth `basic`, without paging. Takes a country by its name, except for news."""

    key: str = field(repr=False)
    base_url: str = "https://api.tavily.com"

    name: ClassVar[str] = "tavily"
    spent: ClassVar[Mapping[int, str]] = dict.fromkeys(
        (432, 433), "The Tavily account is over its usage limit."
    )
    columns: ClassVar[Columns] = Columns(snippet="content", date="published_date", score="score")
    # One credit at the pay-as-you-go price of $0.008.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=MOST_RESULTS,
        freshness=True,
        region=True,
        news=True,
        cost_per_call_usd=0.008,
        price_source="https://docs.tavily.com/documentation/api-credits, pay as you go, 2026-11",
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """POST /search. Only its replies about news have dates."""
        region = (
            query.region
            if query.topic == "general" and query.region in _COUNTRIES.split()
            else None
        )
        body = given(
            query=query.text,
            search_depth="basic",
            topic=query.topic,
            max_results=min(query.max_results, MOST_RESULTS),
            time_range=bucket(query.freshness_hours),
            country=country_name(region) if region else None,
            include_domains=[*query.include_domains[:MOST_INCLUDED]],
            exclude_domains=[*query.exclude_domains[:MOST_EXCLUDED]],
        )
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/search", headers=headers, json=body)

    def sends_domains(self, query: SearchQuery) -> bool:
        include, exclude = query.include_domains, query.exclude_domains
        return (
            bool(include or exclude)
            and len(include) <= MOST_INCLUDED
            and len(exclude) <= MOST_EXCLUDED
        )
