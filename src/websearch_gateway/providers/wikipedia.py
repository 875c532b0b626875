"""Wikipedia's search, in the language of the question. https://www.mediawiki.org/wiki/API:Search

User-agent policy: https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy. The text is
CC BY-SA, so a hit keeps its title and URL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from websearch_gateway.base import (
    STOP_WORDS,
    fold,
    language_of,
    make_hit,
    one_line,
    records,
    user_agent,
)
from websearch_gateway.errors import SearchError, SearchProviderError, SearchProviderParseError
from websearch_gateway.foreign_json import reply_object
from websearch_gateway.models import Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.providers.table import SharedProvider

MOST_HITS = 20
"""The most introductions in one reply."""

_SNIPPET = 300
"""Characters of an introduction: about as long as a search engine's snippets."""
# An apostrophe or a dash inside a word belongs to it; all other signs are search operators.
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_OWN_CODES = {"nb": "no"}


@dataclass(frozen=True)
class Wikipedia(SharedProvider):
    """Articles with their introductions, which saves reading the pages. `{lang}` of the base URL becomes the language.

    `contact` is a web address that says who runs this gateway. Wikimedia allows more requests with one.
    """

    base_url: str = "https://{lang}.wikipedia.org"
    contact: str | None = None

    name: ClassVar[str] = "wikipedia"
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100,
        page_size=MOST_HITS,
        language=True,
        paging=True,
        # Wikimedia asks clients to send one request at a time.
        requests_per_second=1.0,
        caveat="Wikipedia alone was searched: an encyclopaedia, not the web.",
    )

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """`query.pages` in the order of their `index`. A reply without results has no `query`."""
        found = reply.get("query")
        if found is None and reply.get("batchcomplete") is True:
            return []
        if not isinstance(found, dict):
            raise SearchProviderParseError("The reply of wikipedia has no results (query).")
        return sorted(records(found, "pages", self.name), key=_place)

    def request(self, query: SearchQuery) -> HttpRequest:
        """GET /w/api.php: search, with the introductions of the articles found."""
        return self._from(query, 0)

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The page that `continue` names; None if it is missing."""
        more = reply_object(body, self.name).get("continue")
        offset = more.get("gsroffset") if isinstance(more, dict) else None
        return self._from(query, offset) if isinstance(offset, int) and offset > 0 else None

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """Errors come with HTTP 200. 403 means that the user agent does not identify the caller."""
        if status == 403:
            return SearchProviderError(
                "Wikipedia refuses callers without a contact address (HTTP 403): set CONTACT_URL."
            )
        if status != 200 or not body.startswith(b'{"error"'):
            return None
        error = reply_object(body, self.name).get("error")
        code = error.get("code") if isinstance(error, dict) else None
        shown = code if isinstance(code, str) and re.fullmatch(r"[\w-]{1,60}", code) else "unknown"
        return SearchProviderError(
            f"Wikipedia's search failed ({shown}).", retryable=shown == "maxlag"
        )

    def language(self, query: SearchQuery) -> str | None:
        return query.language if "{lang}" in self.base_url else None

    def _from(self, query: SearchQuery, offset: int) -> HttpRequest:
        language = query.language or language_of(query.text)
        base = self.base_url.replace("{lang}", _OWN_CODES.get(language, language))
        # An article must contain all words, so question words are left out.
        words = _WORD.findall(query.text)
        params = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "generator": "search",
            "gsrsearch": " ".join(
                [word for word in words if fold(word) not in STOP_WORDS] or words
            ),
            "gsrnamespace": "0",
            "gsrlimit": str(min(query.max_results, MOST_HITS)),
            "prop": "extracts|info",
            "inprop": "url",
            "redirects": "1",
            "exintro": "1",
            "explaintext": "1",
            "exlimit": "max",
        }
        if offset:
            params["gsroffset"] = str(offset)
        return HttpRequest(
            "GET", f"{base}/w/api.php", params, {"User-Agent": user_agent(self.contact)}
        )

    def hit(self, row: Mapping[str, Any]) -> Hit | None:
        text = one_line(row.get("extract"))
        snippet = text if len(text) <= _SNIPPET else f"{text[:_SNIPPET].rpartition(' ')[0]} …"
        return make_hit(
            self.name, row.get("fullurl"), row.get("title"), snippet, content=text or None
        )


def _place(row: Mapping[str, Any]) -> float:
    index = row.get("index")
    return index if isinstance(index, int) else float("inf")
