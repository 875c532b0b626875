"""Google Custom Search. https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list

Closed to new customers; the API ends on 2027-01-01.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar

from websearch_gateway.base import bucket, iso_date, make_hit, records, with_sites
from websearch_gateway.errors import SearchAuthError, SearchError
from websearch_gateway.foreign_json import reply_object
from websearch_gateway.models import Capabilities, Hit, HttpRequest, SafeSearch, SearchQuery
from websearch_gateway.ports import quota_spent
from websearch_gateway.providers.table import SharedProvider, given

PAGE_SIZE = 10
LAST_RESULT = 100
"""Google gives no more for a query."""
# The languages that Google can restrict results to; some have codes of its own.
_LANGUAGES = "ar bg ca cs da de el en es et fi fr hr hu id is it iw ja ko lt lv nl no pl pt ro ru sk sl sr sv tr zh-CN"
_OWN_CODES = {"he": "iw", "nb": "no", "zh": "zh-CN"}


@dataclass(frozen=True)
class Google(SharedProvider):
    """Pages of ten, and never past the hundredth result. `safe_search` is the default if a query does not set it."""

    key: str = field(repr=False)
    engine_id: str
    base_url: str = "https://www.googleapis.com"
    safe_search: SafeSearch = "moderate"

    name: ClassVar[str] = "google"
    # $5 for 1,000 requests, after 100 free ones a day.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=99,
        freshness=True,
        region=True,
        language=True,
        safe_search=True,
        paging=True,
        ends=date(2027, 1, 1),
        cost_per_call_usd=0.005,
        price_source="https://developers.google.com/custom-search/v1/overview, 2026-11",
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """GET /customsearch/v1. The key goes into the URL, as Google requires. The region is only a preference."""
        start, freshness = _start(page), bucket(query.freshness_hours)
        language = _OWN_CODES.get(query.language or "", query.language)
        known = language if language in _LANGUAGES.split() else None
        params = given(
            key=self.key,
            cx=self.engine_id,
            q=with_sites(query),
            num=str(min(PAGE_SIZE, LAST_RESULT - start)),
            safe="off" if (query.safe_search or self.safe_search) == "off" else "active",
            start=str(start) if page > 1 else None,
            dateRestrict=f"{freshness[0]}1" if freshness else None,
            gl=query.region and query.region.lower(),
            lr=known and f"lang_{known}",
            hl=known,
        )
        return HttpRequest("GET", f"{self.base_url}/customsearch/v1", params)

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """`items`, which is missing if there are no results."""
        return records(reply, "items", self.name, optional="searchInformation" in reply)

    def hit(self, row: Mapping[str, Any]) -> Hit | None:
        """Dates are those that the pages declare."""
        pagemap = row.get("pagemap")
        tags = (
            records(pagemap, "metatags", self.name, optional=True)
            if isinstance(pagemap, dict)
            else []
        )
        published = next(
            filter(None, (iso_date(tag.get("article:published_time")) for tag in tags)), None
        )
        return make_hit(
            self.name, row.get("link"), row.get("title"), row.get("snippet"), published=published
        )

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The next page if Google names one and start + num stays within a hundred."""
        queries = reply_object(body, self.name).get("queries")
        more = isinstance(queries, dict) and queries.get("nextPage")
        return self.page(query, page) if more and _start(page) < LAST_RESULT else None

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """A wrong key gives a 400; an exhausted daily quota an ordinary 429."""
        if status == 400 and b"API key not valid" in body:
            return SearchAuthError("Google rejected the key; check GOOGLE_API_KEY.")
        if status == 403:
            return SearchAuthError(
                "The Google project has no access to the Custom Search JSON API."
            )
        if status == 429 and b"per day" in body:
            return quota_spent("Google's quota for today is spent.")
        return None


def _start(page: int) -> int:
    return (page - 1) * PAGE_SIZE + 1
