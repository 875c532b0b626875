"""SearXNG, a metasearch engine that you run yourself. https://docs.searxng.org/dev/search_api.html"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from websearch_gateway.errors import SearchAuthError, SearchError, SearchNotConfiguredError, SearchProviderError
from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.text.hits import json_object, linked, make_hit, records
from websearch_gateway.text.numbers import bucket, iso_date

SAFE_SEARCH = {"off": "0", "moderate": "1", "strict": "2"}


@dataclass(frozen=True, slots=True)
class Searxng(Provider):
    """An instance may have JSON disabled (the default) or no working engine; neither gives a clear error."""

    base_url: str

    name: ClassVar[str] = "searxng"
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=50, freshness=True, region=True, safe_search=True, paging=True, news=True
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """GET /search?format=json."""
        return self._page(query, 1)

    def parse(self, body: bytes) -> list[Hit]:
        """`results`. An empty list counts as an answer only if all engines responded.

        Raises:
            SearchProviderError: there are no results, and some engines did not respond.
        """
        reply = json_object(body, self.name)
        rows = records(reply, "results", self.name)
        if not rows and reply.get("unresponsive_engines"):
            raise SearchProviderError("SearXNG found nothing, and some of its engines did not respond.")
        hits = (self._hit(row) for row in rows)
        return linked(hits, self.name)

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The next page, always: SearXNG does not report whether there is one."""
        return self._page(query, page)

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """SearXNG answers 403 if JSON is not among its formats. Only its operator can change that."""
        if status == 403:
            return SearchNotConfiguredError(
                "SearXNG refused JSON (HTTP 403): add `json` to `search.formats` in its settings.yml, "
                "or point SEARXNG_BASE_URL to an instance that allows it."
            )
        if status == 401:
            return SearchAuthError(
                "SearXNG requires a login; put it into SEARXNG_BASE_URL (https://user:password@host)."
            )
        return None

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """The region only with a language: SearXNG takes a locale such as `en-GB`."""
        return AppliedFilters(bucket(query.freshness_hours), query.region if query.language else None)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        published = iso_date(row.get("publishedDate"))
        return make_hit(self.name, row.get("url"), row.get("title"), row.get("content"), published=published)

    def _page(self, query: SearchQuery, page: int) -> HttpRequest:
        params = {"q": query.text, "format": "json", "categories": query.topic, "pageno": str(page)}
        if freshness := bucket(query.freshness_hours):
            params["time_range"] = freshness
        if query.language:
            params["language"] = f"{query.language}-{query.region}" if query.region else query.language
        if query.safe_search:
            params["safesearch"] = SAFE_SEARCH[query.safe_search]
        return HttpRequest("GET", f"{self.base_url}/search", params)
