"""Brave Search, an index of its own. https://api-dashboard.search.brave.com/app/documentation/web-search/query"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any, ClassVar

from websearch_gateway.base import (
    bucket,
    iso_date,
    make_hit,
    one_line,
    records,
    spoken_date,
    with_sites,
)
from websearch_gateway.errors import (
    RATE_LIMITED,
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
)
from websearch_gateway.foreign_json import reply_object
from websearch_gateway.models import Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import quota_spent
from websearch_gateway.providers.table import SharedProvider, given

MOST_WORDS = 50
"""Brave's own limit."""
MOST_RESULTS = {"general": 20, "news": 50}
LAST_OFFSET = 9
"""Brave's own limit: ten pages."""
# The two lists of https://api-dashboard.search.brave.com/app/documentation/web-search/codes; other codes give a 422.
COUNTRIES = "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB GR HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA"
LANGUAGES = (
    "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl pa pl pt-pt ro ru "
    "sk sl sr sv ta te th tr uk vi zh-hans"
)
_OWN_CODES = {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}
_HIGHLIGHT = re.compile(r"</?strong>")


@dataclass(frozen=True)
class Brave(SharedProvider):
    """`offset` counts pages, not results. Descriptions are HTML with `<strong>` around the words of the query."""

    key: str = field(repr=False)
    base_url: str = "https://api.search.brave.com"

    name: ClassVar[str] = "brave"
    # $5 for 1,000 requests.
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        page_size=20,
        freshness=True,
        region=True,
        language=True,
        safe_search=True,
        paging=True,
        news=True,
        cost_per_call_usd=0.005,
        price_source="https://api-dashboard.search.brave.com/app/plans, 2026-09",
        # The current plan; replies state a key's own rate (x-ratelimit-policy). The former free plan allowed 1.
        requests_per_second=50.0,
    )

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """GET /res/v1/web/search, or /res/v1/news/search for that topic."""
        freshness = bucket(query.freshness_hours)
        language = _OWN_CODES.get(query.language or "", query.language)
        params = given(
            # Brave rejects more than 50 words as invalid, which would end the whole search.
            q=" ".join(with_sites(query).split()[:MOST_WORDS]),
            count=str(min(query.max_results, MOST_RESULTS[query.topic])),
            freshness=f"p{freshness[0]}" if freshness else None,
            country=query.region if query.region in COUNTRIES.split() else None,
            search_lang=language if language in LANGUAGES.split() else None,
            safesearch=query.safe_search,
            offset=str(page - 1) if page > 1 else None,
        )
        path = "news" if query.topic == "news" else "web"
        headers = {"X-Subscription-Token": self.key, "Accept": "application/json"}
        return HttpRequest("GET", f"{self.base_url}/res/v1/{path}/search", params, headers)

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """`web.results` (the whole of `web` is left out when empty) or, for news, `results`."""
        if reply.get("type") == "news":
            return records(reply, "results", self.name)
        web = reply.get("web")
        if web is None and reply.get("type") == "search":
            return []
        if not isinstance(web, dict):
            raise SearchProviderParseError("The reply of brave has no results (web).")
        return records(web, "results", self.name)

    def hit(self, row: Mapping[str, Any]) -> Hit | None:
        published = iso_date(row.get("page_age")) or spoken_date(row.get("age"), self.clock())
        title, snippet = (
            unescape(_HIGHLIGHT.sub("", one_line(row.get(name))))
            for name in ("title", "description")
        )
        return make_hit(self.name, row.get("url"), title, snippet, published=published)

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The next page while Brave reports more, up to the tenth."""
        sent = reply_object(body, self.name).get("query")
        more = isinstance(sent, dict) and sent.get("more_results_available") is True
        return self.page(query, page) if more and page - 1 <= LAST_OFFSET else None

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """A wrong key gives 422 or 404; 429 means the rate limit (resets in a second) or the monthly quota."""
        if b"SUBSCRIPTION_TOKEN_INVALID" in body or b"SUBSCRIPTION_NOT_FOUND" in body:
            return SearchAuthError("Brave rejected the key; check BRAVE_API_KEY.")
        if status == 429 and b"QUOTA_LIMITED" in body:
            return quota_spent("The quota of the Brave account is spent.")
        if status == 429:
            # "1, 2558678": seconds until the per-second limit and until the monthly quota reset.
            per_second = headers.get("x-ratelimit-reset", "").partition(",")[0].strip()
            wait = float(per_second) if re.fullmatch(r"\d{1,7}", per_second) else 1.0
            return SearchProviderError(
                "Brave's rate limit is reached.",
                retry_after=wait,
                retryable=True,
                details={"reason": RATE_LIMITED},
            )
        return None
