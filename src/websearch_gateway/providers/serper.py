"""Serper: Google's results as JSON. https://serper.dev/playground"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from websearch_gateway.base import bucket, records, with_sites
from websearch_gateway.errors import SearchAuthError, SearchError
from websearch_gateway.models import Capabilities, HttpRequest, SearchQuery
from websearch_gateway.ports import quota_spent
from websearch_gateway.providers.table import Columns, SharedProvider, given

PAGE_SIZE = 10
"""Serper bills two searches for more."""


@dataclass(frozen=True)
class Serper(SharedProvider):
    """A request for more than ten results costs two credits, so larger searches use several pages."""

    key: str = field(repr=False)
    base_url: str = "https://google.serper.dev"

    name: ClassVar[str] = "serper"
    columns: ClassVar[Columns] = Columns(url="link", date="date")
    # An assumption: $50 buys 50,000 credits in the smallest package; larger ones are cheaper.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        freshness=True,
        region=True,
        language=True,
        paging=True,
        news=True,
        cost_per_call_usd=0.001,
        price_source="https://serper.dev, smallest pack, 2026-11",
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """POST /search, or /news for that topic."""
        freshness = bucket(query.freshness_hours)
        body = given(
            q=with_sites(query),
            num=PAGE_SIZE,
            tbs=f"qdr:{freshness[0]}" if freshness else None,
            gl=query.region and query.region.lower(),
            hl=query.language,
            page=page if page > 1 else None,
        )
        path = "news" if query.topic == "news" else "search"
        return HttpRequest(
            "POST", f"{self.base_url}/{path}", headers={"X-API-KEY": self.key}, json=body
        )

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """`organic` or `news`, depending on the topic; a reply without results has neither."""
        return records(
            reply,
            "news" if "news" in reply else "organic",
            self.name,
            optional="searchParameters" in reply,
        )

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """A wrong key gives a 403; exhausted credit a 400, which looks like an invalid request."""
        if status == 403:
            return SearchAuthError("Serper rejected the key; check SERPER_API_KEY.")
        if status == 400 and b"Not enough credits" in body:
            return quota_spent("The Serper account has no credits left.")
        return None
