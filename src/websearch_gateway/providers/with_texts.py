"""Search vendors that send the texts of pages, or long excerpts, with their results, so no page is fetched for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from websearch_gateway.base import bucket, one_list, records
from websearch_gateway.errors import SearchError, SearchProviderParseError, SearchValidationError
from websearch_gateway.models import Capabilities, HttpRequest, SearchQuery
from websearch_gateway.ports import quota_spent
from websearch_gateway.providers.table import Columns, SharedProvider, given

EXA_MOST_RESULTS = 10
"""The price covers ten results with their texts; each further one costs more."""
EXA_MOST_DOMAINS = 1_200
"""Exa's own limit."""
TEXT_CHARS = 10_000
"""Of a page: a little more than a result shows."""


@dataclass(frozen=True)
class Exa(SharedProvider):
    """Exa: an index of its own, with the text of each page (https://exa.ai/docs/reference/search).

    One request, without paging. Takes either included or excluded domains; a freshness drops undated pages.
    """

    key: str = field(repr=False)
    base_url: str = "https://api.exa.ai"

    name: ClassVar[str] = "exa"
    spent: ClassVar[Mapping[int, str]] = {402: "The Exa account has no credits left."}
    columns: ClassVar[Columns] = Columns(snippet="", date="publishedDate", text="text")
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=EXA_MOST_RESULTS,
        freshness=True,
        region=True,
        news=True,
        cost_per_call_usd=0.007,
        price_source="https://exa.ai/pricing, $7 for 1,000 searches of ten results with text, 2026-11",
        requests_per_second=10.0,
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """POST /search with the text of each page."""
        include, exclude = one_list(query, EXA_MOST_DOMAINS)
        body = given(
            query=query.text,
            type="auto",
            numResults=min(query.max_results, EXA_MOST_RESULTS),
            contents={"text": {"maxCharacters": TEXT_CHARS}},
            includeDomains=[*include],
            excludeDomains=[*exclude],
            startPublishedDate=self.since(query, "%Y-%m-%dT00:00:00.000Z"),
            userLocation=query.region,
            category="news" if query.topic == "news" else None,
        )
        return HttpRequest(
            "POST", f"{self.base_url}/search", headers={"x-api-key": self.key}, json=body
        )


FIRECRAWL_MOST_RESULTS = 10
"""More results would cost more than one request's price."""


@dataclass(frozen=True)
class Firecrawl(SharedProvider):
    """Firecrawl: web search that reads the pages too (https://docs.firecrawl.dev/api-reference/endpoint/search).

    One request, without paging, with the Markdown of each page. Takes either included or excluded domains.
    """

    key: str = field(repr=False)
    base_url: str = "https://api.firecrawl.dev"

    name: ClassVar[str] = "firecrawl"
    spent: ClassVar[Mapping[int, str]] = {402: "The Firecrawl account has no credits left."}
    columns: ClassVar[Columns] = Columns(date="date", text="markdown")
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=FIRECRAWL_MOST_RESULTS,
        freshness=True,
        region=True,
        news=True,
        cost_per_call_usd=0.01,
        price_source="https://docs.firecrawl.dev/billing, 2 credits for ten results and 1 for each page, at most 12 at "
        "about $0.00083, 2026-11",
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """POST /v2/search with the Markdown of each page."""
        include, exclude = one_list(query)
        freshness = bucket(query.freshness_hours)
        body = given(
            query=query.text,
            limit=min(query.max_results, FIRECRAWL_MOST_RESULTS),
            sources=[{"type": "news" if query.topic == "news" else "web"}],
            scrapeOptions={"formats": ["markdown"]},
            includeDomains=[*include],
            excludeDomains=[*exclude],
            tbs=f"qdr:{freshness[0]}" if freshness else None,
            country=query.region,
        )
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/v2/search", headers=headers, json=body)

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """`data.web` or `data.news`, whose snippets have different names; a source without results may be left out."""
        data = reply.get("data")
        if not isinstance(data, dict):
            raise SearchProviderParseError(f"The reply of {self.name} has no results (data).")
        found = [
            row for key in ("web", "news") for row in records(data, key, self.name, optional=True)
        ]
        return [{**row, "snippet": row.get("description") or row.get("snippet")} for row in found]


JINA_PAGE_SIZE = 10


@dataclass(frozen=True)
class Jina(SharedProvider):
    """Jina: the results of a search engine with the text of each page (https://jina.ai/reader).

    Pages of ten. Jina counts the tokens of the texts. A search without results is a reply with status 422.
    """

    key: str = field(repr=False)
    base_url: str = "https://s.jina.ai"

    name: ClassVar[str] = "jina"
    spent: ClassVar[Mapping[int, str]] = {402: "The Jina account has no tokens left."}
    columns: ClassVar[Columns] = Columns(snippet="description", date="date", text="content")
    # An assumption: ten texts of 10,000 tokens. A reply counts at least 10,000 tokens, and has no upper limit.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        page_size=JINA_PAGE_SIZE,
        region=True,
        language=True,
        paging=True,
        news=True,
        cost_per_call_usd=0.005,
        price_source="https://jina.ai/reader, $0.05 for a million tokens and an assumed 100,000 a request, 2026-09",
        empty_statuses=(422,),
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """GET /?q=... with the text of each page."""
        params = given(
            q=query.text,
            num=str(min(query.max_results, JINA_PAGE_SIZE)),
            type="news" if query.topic == "news" else None,
            gl=query.region and query.region.lower(),
            hl=query.language,
            page=str(page) if page > 1 else None,
        )
        headers = {"Authorization": f"Bearer {self.key}", "Accept": "application/json"}
        return HttpRequest("GET", f"{self.base_url}/", params, headers)

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """`data`; null in the reply to a search without results."""
        return records(reply, "data", self.name, optional=reply.get("code") == 422)


_NOTHING_FOUND = "SEARCH_QUERY_NO_RESULT"
_SPENT = (b"INSUFFICIENT_FUNDS_CREDITS", b"EXCEED_BUDGET_LIMIT")


@dataclass(frozen=True)
class Linkup(SharedProvider):
    """Linkup: search with long excerpts of the pages (https://docs.linkup.so/pages/documentation/api-reference/endpoint).

    One request of depth `standard`, without paging. A search without results is a reply with status 400.
    """

    key: str = field(repr=False)
    base_url: str = "https://api.linkup.so"

    name: ClassVar[str] = "linkup"
    columns: ClassVar[Columns] = Columns(title="name", snippet="", text="content")
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        freshness=True,
        cost_per_call_usd=0.005,
        price_source="https://docs.linkup.so/pages/documentation/development/pricing, $5 for 1,000 standard searches, "
        "2026-11",
        requests_per_second=10.0,
        empty_statuses=(400,),
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """POST /v1/search."""
        body = given(
            q=query.text,
            depth="standard",
            outputType="searchResults",
            maxResults=query.max_results,
            fromDate=self.since(query, "%Y-%m-%d"),
            includeDomains=[*query.include_domains],
            excludeDomains=[*query.exclude_domains],
        )
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/v1/search", headers=headers, json=body)

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """The `results` that are text; none where the error says so."""
        error = reply.get("error")
        if isinstance(error, dict) and error.get("code") == _NOTHING_FOUND:
            return []
        return [
            row for row in records(reply, "results", self.name) if row.get("type", "text") == "text"
        ]

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """400 means an invalid request, or no results; 429 a rate limit, or that the credits are spent."""
        if status == 400 and _NOTHING_FOUND.encode() not in body:
            return SearchValidationError("linkup rejected the request as invalid (HTTP 400).")
        if status == 429 and any(code in body for code in _SPENT):
            return quota_spent("The Linkup account has no credits left.")
        return None


PERPLEXITY_MOST_RESULTS = PERPLEXITY_MOST_DOMAINS = 20
"""Perplexity's own limits."""


@dataclass(frozen=True)
class PerplexitySearch(SharedProvider):
    """Perplexity's search without its models (https://docs.perplexity.ai/api-reference/search-post).

    One request, without paging, with long snippets. Takes either included or excluded domains.
    """

    key: str = field(repr=False)
    base_url: str = "https://api.perplexity.ai"

    name: ClassVar[str] = "perplexity_search"
    columns: ClassVar[Columns] = Columns(date="date")
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=PERPLEXITY_MOST_RESULTS,
        freshness=True,
        region=True,
        language=True,
        cost_per_call_usd=0.005,
        price_source="https://docs.perplexity.ai/docs/getting-started/pricing, $5 for 1,000 requests, 2026-10",
        requests_per_second=50.0,
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """POST /search."""
        include, exclude = one_list(query, PERPLEXITY_MOST_DOMAINS)
        body = given(
            query=query.text,
            max_results=min(query.max_results, PERPLEXITY_MOST_RESULTS),
            search_domain_filter=[*include, *(f"-{name}" for name in exclude)],
            search_recency_filter=bucket(query.freshness_hours),
            country=query.region,
            search_language_filter=[query.language] if query.language else None,
        )
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/search", headers=headers, json=body)
