"""Jina: the results of a search engine with the text of each page. https://jina.ai/reader"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.text.hits import json_object, linked, make_hit, opening, records
from websearch_gateway.text.numbers import iso_date, spoken_date, utc_now

PAGE_SIZE = 10


@dataclass(frozen=True, slots=True)
class Jina(Provider):
    """Pages of ten. Jina counts the tokens of the texts. A search without results is a reply with status 422."""

    key: str = field(repr=False)
    base_url: str = "https://s.jina.ai"
    clock: Callable[[], datetime] = field(default=utc_now, repr=False)

    name: ClassVar[str] = "jina"
    key_setting: ClassVar[str | None] = "JINA_API_KEY"
    spent: ClassVar[Mapping[int, str]] = {402: "The Jina account has no tokens left."}
    # An assumption: ten texts of 10,000 tokens. A reply counts at least 10,000 tokens, and has no upper limit.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        page_size=PAGE_SIZE,
        region=True,
        paging=True,
        news=True,
        cost_per_call_usd=0.005,
        price_source="https://jina.ai/reader, $0.05 for a million tokens and an assumed 100,000 a request, 2026-09",
        empty_statuses=(422,),
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """GET /?q=... with the text of each page."""
        return self._page(query, 1)

    def parse(self, body: bytes) -> list[Hit]:
        """`data`; null in the reply to a search without results."""
        reply = json_object(body, self.name)
        rows = records(reply, "data", self.name, optional=reply.get("code") == 422)
        return linked(map(self._hit, rows), self.name)

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The next page, always: Jina does not report whether there is one."""
        return self._page(query, page)

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """The region."""
        return AppliedFilters(region=query.region)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        published = iso_date(row.get("date")) or spoken_date(row.get("date"), self.clock())
        text = row.get("content")
        snippet = row.get("description") or opening(text)
        return make_hit(self.name, row.get("url"), row.get("title"), snippet, published=published, content=text)

    def _page(self, query: SearchQuery, page: int) -> HttpRequest:
        params = {"q": query.text, "num": str(min(query.max_results, PAGE_SIZE))}
        if query.topic == "news":
            params["type"] = "news"
        if query.region:
            params["gl"] = query.region.lower()
        if query.language:
            params["hl"] = query.language
        if page > 1:
            params["page"] = str(page)
        headers = {"Authorization": f"Bearer {self.key}", "Accept": "application/json"}
        return HttpRequest("GET", f"{self.base_url}/", params, headers)


PROVIDER = Jina
