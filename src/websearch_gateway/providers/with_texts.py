"""Search vendors that send the texts of pages, or long excerpts, with their results, so no page is fetched for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from websearch_gateway.errors import SearchError, SearchProviderParseError, SearchValidationError
from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider, quota_spent
from websearch_gateway.text.hits import json_object, linked, make_hit, opening, records
from websearch_gateway.text.numbers import bucket, iso_date, spoken_date, utc_now
from websearch_gateway.text.urls import one_list

EXA_MOST_RESULTS = 10
"""The price covers ten results with their texts; each further one costs more."""
EXA_MOST_DOMAINS = 1_200
TEXT_CHARS = 10_000
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


@dataclass(frozen=True, slots=True)
class Exa(Provider):
    """Exa: an index of its own, with the text of each page (https://exa.ai/docs/reference/search).

    One request, without paging. Takes either included or excluded domains; a freshness drops undated pages.
    """

    key: str = field(repr=False)
    base_url: str = "https://api.exa.ai"
    clock: Callable[[], datetime] = field(default=utc_now, repr=False)

    name: ClassVar[str] = "exa"
    key_setting: ClassVar[str | None] = "EXA_API_KEY"
    spent: ClassVar[Mapping[int, str]] = {402: "The Exa account has no credits left."}
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=EXA_MOST_RESULTS,
        freshness=True,
        region=True,
        news=True,
        cost_per_call_usd=0.007,
        price_source="https://exa.ai/pricing, $7 for 1,000 searches of ten results with text, 2026-11",
        requests_per_second=10.0,
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /search with the text of each page."""
        body: dict[str, Any] = {
            "query": query.text,
            "type": "auto",
            "numResults": min(query.max_results, EXA_MOST_RESULTS),
            "contents": {"text": {"maxCharacters": TEXT_CHARS}},
        }
        include, exclude = one_list(query, EXA_MOST_DOMAINS)
        body |= {"includeDomains": list(include)} if include else {}
        body |= {"excludeDomains": list(exclude)} if exclude else {}
        if freshness := bucket(query.freshness_hours):
            body["startPublishedDate"] = f"{self.clock() - timedelta(days=_DAYS[freshness]):%Y-%m-%dT00:00:00.000Z}"
        if query.region:
            body["userLocation"] = query.region
        if query.topic == "news":
            body["category"] = "news"
        return HttpRequest("POST", f"{self.base_url}/search", headers={"x-api-key": self.key}, json=body)

    def parse(self, body: bytes) -> list[Hit]:
        """`results`; the beginning of the page's text serves as the snippet."""
        hits = (self._hit(row) for row in records(json_object(body, self.name), "results", self.name))
        return linked(hits, self.name)

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """Everything requested, up to a year; one list of domains."""
        domains: Literal["upstream"] | None = "upstream" if any(one_list(query, EXA_MOST_DOMAINS)) else None
        return AppliedFilters(bucket(query.freshness_hours), query.region, domains)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        text, published = row.get("text"), iso_date(row.get("publishedDate"))
        return make_hit(self.name, row.get("url"), row.get("title"), opening(text), published=published, content=text)


FIRECRAWL_MOST_RESULTS = 10
"""More results would cost more than one request's price."""
TBS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


@dataclass(frozen=True, slots=True)
class Firecrawl(Provider):
    """Firecrawl: web search that reads the pages too (https://docs.firecrawl.dev/api-reference/endpoint/search).

    One request, without paging, with the Markdown of each page. Takes either included or excluded domains.
    """

    key: str = field(repr=False)
    base_url: str = "https://api.firecrawl.dev"
    clock: Callable[[], datetime] = field(default=utc_now, repr=False)

    name: ClassVar[str] = "firecrawl"
    key_setting: ClassVar[str | None] = "FIRECRAWL_API_KEY"
    spent: ClassVar[Mapping[int, str]] = {402: "The Firecrawl account has no credits left."}
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=FIRECRAWL_MOST_RESULTS,
        freshness=True,
        region=True,
        news=True,
        cost_per_call_usd=0.01,
        price_source="https://docs.firecrawl.dev/billing, 2 credits for ten results and 1 for each page, at most 12 at "
        "about $0.00083, 2026-11",
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /v2/search with the Markdown of each page."""
        body: dict[str, Any] = {
            "query": query.text,
            "limit": min(query.max_results, FIRECRAWL_MOST_RESULTS),
            "sources": [{"type": "news" if query.topic == "news" else "web"}],
            "scrapeOptions": {"formats": ["markdown"]},
        }
        include, exclude = one_list(query)
        body |= {"includeDomains": list(include)} if include else {}
        body |= {"excludeDomains": list(exclude)} if exclude else {}
        if freshness := bucket(query.freshness_hours):
            body["tbs"] = TBS[freshness]
        if query.region:
            body["country"] = query.region
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/v2/search", headers=headers, json=body)

    def parse(self, body: bytes) -> list[Hit]:
        """`data.web` or `data.news`; a source without results may be left out."""
        data = json_object(body, self.name).get("data")
        if not isinstance(data, dict):
            raise SearchProviderParseError(f"The reply of {self.name} has no results (data).")
        rows = [row for key in ("web", "news") for row in records(data, key, self.name, optional=True)]
        return linked(map(self._hit, rows), self.name)

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """Everything requested, up to a year; one list of domains."""
        domains: Literal["upstream"] | None = "upstream" if any(one_list(query)) else None
        return AppliedFilters(bucket(query.freshness_hours), query.region, domains)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        published = iso_date(row.get("date")) or spoken_date(row.get("date"), self.clock())
        snippet = row.get("description") or row.get("snippet")
        text = row.get("markdown")
        return make_hit(self.name, row.get("url"), row.get("title"), snippet, published=published, content=text)


JINA_PAGE_SIZE = 10


@dataclass(frozen=True, slots=True)
class Jina(Provider):
    """Jina: the results of a search engine with the text of each page (https://jina.ai/reader).

    Pages of ten. Jina counts the tokens of the texts. A search without results is a reply with status 422.
    """

    key: str = field(repr=False)
    base_url: str = "https://s.jina.ai"
    clock: Callable[[], datetime] = field(default=utc_now, repr=False)

    name: ClassVar[str] = "jina"
    key_setting: ClassVar[str | None] = "JINA_API_KEY"
    spent: ClassVar[Mapping[int, str]] = {402: "The Jina account has no tokens left."}
    # An assumption: ten texts of 10,000 tokens. A reply counts at least 10,000 tokens, and has no upper limit.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        page_size=JINA_PAGE_SIZE,
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
        params = {"q": query.text, "num": str(min(query.max_results, JINA_PAGE_SIZE))}
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


_NOTHING_FOUND = "SEARCH_QUERY_NO_RESULT"
_SPENT = ("INSUFFICIENT_FUNDS_CREDITS", "EXCEED_BUDGET_LIMIT")


@dataclass(frozen=True, slots=True)
class Linkup(Provider):
    """Linkup: search with long excerpts of the pages (https://docs.linkup.so/pages/documentation/api-reference/endpoint).

    One request of depth `standard`, without paging. A search without results is a reply with status 400.
    """

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
        if _error_code(reply) == _NOTHING_FOUND:
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


def _error_code(reply: Mapping[str, Any]) -> object:
    error = reply.get("error")
    return error.get("code") if isinstance(error, dict) else None


PERPLEXITY_MOST_RESULTS = PERPLEXITY_MOST_DOMAINS = 20


@dataclass(frozen=True, slots=True)
class PerplexitySearch(Provider):
    """Perplexity's search without its models (https://docs.perplexity.ai/api-reference/search-post).

    One request, without paging. Takes either included or excluded domains.
    """

    key: str = field(repr=False)
    base_url: str = "https://api.perplexity.ai"

    name: ClassVar[str] = "perplexity_search"
    key_setting: ClassVar[str | None] = "PERPLEXITY_API_KEY"
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=PERPLEXITY_MOST_RESULTS,
        freshness=True,
        region=True,
        cost_per_call_usd=0.005,
        price_source="https://docs.perplexity.ai/docs/getting-started/pricing, $5 for 1,000 requests, 2026-10",
        requests_per_second=50.0,
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /search."""
        body: dict[str, Any] = {"query": query.text, "max_results": min(query.max_results, PERPLEXITY_MOST_RESULTS)}
        include, exclude = one_list(query, PERPLEXITY_MOST_DOMAINS)
        if domains := [*include, *(f"-{name}" for name in exclude)]:
            body["search_domain_filter"] = domains
        if freshness := bucket(query.freshness_hours):
            body["search_recency_filter"] = freshness
        if query.region:
            body["country"] = query.region
        if query.language:
            body["search_language_filter"] = [query.language]
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/search", headers=headers, json=body)

    def parse(self, body: bytes) -> list[Hit]:
        """`results`, whose snippets are long."""
        hits = (self._hit(row) for row in records(json_object(body, self.name), "results", self.name))
        return linked(hits, self.name)

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """Everything requested, up to a year; one list of domains."""
        domains: Literal["upstream"] | None = "upstream" if any(one_list(query, PERPLEXITY_MOST_DOMAINS)) else None
        return AppliedFilters(bucket(query.freshness_hours), query.region, domains)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        published = iso_date(row.get("date"))
        return make_hit(self.name, row.get("url"), row.get("title"), row.get("snippet"), published=published)
