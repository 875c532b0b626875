"""SearXNG, a metasearch engine that you run yourself. https://docs.searxng.org/dev/search_api.html"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from websearch_gateway.base import bucket, records
from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchNotConfiguredError,
    SearchProviderError,
)
from websearch_gateway.models import Capabilities, HttpRequest, SearchQuery
from websearch_gateway.providers.table import Columns, SharedProvider, given

SAFE_SEARCH = {"off": "0", "moderate": "1", "strict": "2"}


@dataclass(frozen=True)
class Searxng(SharedProvider):
    """An instance may have JSON disabled (the default) or no working engine; neither gives a clear error."""

    base_url: str

    name: ClassVar[str] = "searxng"
    columns: ClassVar[Columns] = Columns(snippet="content", date="publishedDate")
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        freshness=True,
        region=True,
        language=True,
        safe_search=True,
        paging=True,
        news=True,
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """GET /search?format=json. The region is sent only with a language, as a locale such as `en-GB`."""
        language = query.language
        params = given(
            q=query.text,
            format="json",
            categories=query.topic,
            pageno=str(page),
            time_range=bucket(query.freshness_hours),
            language=f"{language}-{query.region}" if language and query.region else language,
            safesearch=SAFE_SEARCH.get(query.safe_search or ""),
        )
        return HttpRequest("GET", f"{self.base_url}/search", params)

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """`results`. An empty list counts as an answer only if all engines responded.

        Raises:
            SearchProviderError: there are no results, and some engines did not respond.
        """
        found = records(reply, "results", self.name)
        if not found and reply.get("unresponsive_engines"):
            raise SearchProviderError(
                "SearXNG found nothing, and some of its engines did not respond."
            )
        return found

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
