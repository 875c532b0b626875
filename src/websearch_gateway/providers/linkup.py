"""Linkup: search with long excerpts of the pages. https://docs.linkup.so/pages/documentation/api-reference/endpoint"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from websearch_gateway.errors import SearchError, SearchValidationError
from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider, quota_spent
from websearch_gateway.text.hits import json_object, linked, make_hit, opening, records
from websearch_gateway.text.numbers import bucket, utc_now

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_NOTHING_FOUND = "SEARCH_QUERY_NO_RESULT"
_SPENT = ("INSUFFICIENT_FUNDS_CREDITS", "EXCEED_BUDGET_LIMIT")


@dataclass(frozen=True, slots=True)
class Linkup(Provider):
    """One request of depth `standard`, without paging. A search without results is a reply with status 400."""

    key: str = field(repr=False)
    base_url: str = "https://api.linkup.so"
    clock: Callable[[], datetime] = field(default=utc_now, repr=False)

    name: ClassVar[str] = "linkup"
    key_setting: ClassVar[str | None] = "LINKUP_API_KEY"
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=50,
        freshness=True,
        cost_per_call_usd=0.005,
        price_source="https://docs.linkup.so/pages/documentation/development/pricing, $5 for 1,000 standard searches, "
        "2026-11",
        requests_per_second=10.0,
        empty_statuses=(400,),
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /v1/search."""
        body: dict[str, Any] = {
            "q": query.text,
            "depth": "standard",
            "outputType": "searchResults",
            "maxResults": query.max_results,
        }
        if freshness := bucket(query.freshness_hours):
            body["fromDate"] = f"{self.clock() - timedelta(days=_DAYS[freshness]):%Y-%m-%d}"
        if query.include_domains:
            body["includeDomains"] = list(query.include_domains)
        if query.exclude_domains:
            body["excludeDomains"] = list(query.exclude_domains)
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/v1/search", headers=headers, json=body)

    def parse(self, body: bytes) -> list[Hit]:
        """The `results` that are text; the beginning of an excerpt serves as the snippet."""
        reply = json_object(body, self.name)
        if _code(reply) == _NOTHING_FOUND:
            return []
        rows = records(reply, "results", self.name)
        return linked((self._hit(row) for row in rows if row.get("type", "text") == "text"), self.name)

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """400 means an invalid request, or no results; 429 a rate limit, or that the credits are spent."""
        if status == 400 and _NOTHING_FOUND.encode() not in body:
            return SearchValidationError("linkup rejected the request as invalid (HTTP 400).")
        if status == 429 and any(code.encode() in body for code in _SPENT):
            return quota_spent("The Linkup account has no credits left.")
        return None

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """Freshness up to a year, and domains."""
        domains: Literal["upstream"] | None = "upstream" if query.include_domains or query.exclude_domains else None
        return AppliedFilters(bucket(query.freshness_hours), domains=domains)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        text = row.get("content")
        return make_hit(self.name, row.get("url"), row.get("name"), opening(text), content=text)


def _code(reply: Mapping[str, Any]) -> object:
    error = reply.get("error")
    return error.get("code") if isinstance(error, dict) else None


PROVIDER = Linkup
