"""Serper: Google's results as JSON. https://serper.dev/playground"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from websearch_gateway.errors import SearchAuthError, SearchError
from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider, quota_spent
from websearch_gateway.text.hits import json_object, linked, make_hit, records
from websearch_gateway.text.numbers import bucket, spoken_date, utc_now
from websearch_gateway.text.urls import sites_applied, with_sites

PAGE_SIZE = 10
TBS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


@dataclass(frozen=True, slots=True)
class Serper(Provider):
    """A request for more than ten results costs two credits, so larger searches use several pages."""

    key: str = field(repr=False)
    base_url: str = "https://google.serper.dev"
    clock: Callable[[], datetime] = field(default=utc_now, repr=False)

    name: ClassVar[str] = "serper"
    key_setting: ClassVar[str | None] = "SERPER_API_KEY"
    # An assumption: $50 buys 50,000 credits in the smallest package; larger ones are cheaper.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        freshness=True,
        region=True,
        paging=True,
        news=True,
        cost_per_call_usd=0.001,
        price_source="https://serper.dev, smallest pack, 2026-11",
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /search, or /news for that topic."""
        return self._page(query, 1)

    def parse(self, body: bytes) -> list[Hit]:
        """`organic` or `news`, depending on the topic; a reply without results has neither."""
        reply = json_object(body, self.name)
        rows = records(reply, "news" if "news" in reply else "organic", self.name, optional="searchParameters" in reply)
        hits = (self._hit(row) for row in rows)
        return linked(hits, self.name)

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The next page, always: Serper does not report whether there is one."""
        return self._page(query, page)

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """A wrong key gives a 403; exhausted credit a 400, which looks like an invalid request."""
        if status == 403:
            return SearchAuthError("Serper rejected the key; check SERPER_API_KEY.")
        if status == 400 and b"Not enough credits" in body:
            return quota_spent("The Serper account has no credits left.")
        return None

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """Everything requested, up to a year; domains only if they fit into the query."""
        return AppliedFilters(bucket(query.freshness_hours), query.region, sites_applied(query))

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        published = spoken_date(row.get("date"), self.clock())
        return make_hit(self.name, row.get("link"), row.get("title"), row.get("snippet"), published=published)

    def _page(self, query: SearchQuery, page: int) -> HttpRequest:
        body: dict[str, str | int] = {"q": with_sites(query), "num": PAGE_SIZE}
        if freshness := bucket(query.freshness_hours):
            body["tbs"] = TBS[freshness]
        if query.region:
            body["gl"] = query.region.lower()
        if query.language:
            body["hl"] = query.language
        if page > 1:
            body["page"] = page
        path = "news" if query.topic == "news" else "search"
        return HttpRequest("POST", f"{self.base_url}/{path}", headers={"X-API-KEY": self.key}, json=body)
