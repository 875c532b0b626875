"""Results in the format of Google's Custom Search JSON API: merges Google's replies, or converts other providers' hits.

https://developers.google.com/custom-search/v1/reference/rest/v1/Search
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.models import Hit, SearchQuery
from websearch_gateway.text.payload import json_object, records
from websearch_gateway.text.safety.invisible import strip_invisible_characters


def merged(bodies: Sequence[bytes], most: int) -> dict[str, Any]:
    """Merge Google's replies, one per page: the first reply with the items of all, at most `most`.

    Numbers that JSON does not allow become null, and invisible characters are removed.

    Raises:
        SearchProviderParseError: a reply is not JSON, or nested too deeply.
    """
    try:
        pages = [_clean(json_object(body, "google")) for body in bodies]
    except RecursionError:
        raise SearchProviderParseError("The reply of google is nested too deeply.") from None
    items = [item for page in pages for item in records(page, "items", "google", optional=True)]
    bare = {name: value for name, value in pages[0].items() if name != "items"}
    return {**bare, "items": items[:most]} if items else bare


def imitated(query: SearchQuery, hits: Sequence[Hit]) -> dict[str, Any]:
    """The hits of another provider in Google's format, with the fields that they have. `totalResults` counts them."""
    reply: dict[str, Any] = {
        "kind": "customsearch#search",
        "queries": {"request": [{"searchTerms": query.text, "count": len(hits), "startIndex": 1}]},
        "searchInformation": {"totalResults": str(len(hits))},
    }
    return {**reply, "items": [_item(hit) for hit in hits]} if hits else reply


def _item(hit: Hit) -> dict[str, Any]:
    item: dict[str, Any] = {
        "kind": "customsearch#result",
        "title": _clean(hit.title),
        "link": hit.url,
        "displayLink": urlsplit(hit.url).hostname or "",
        "snippet": _clean(hit.snippet),
        "formattedUrl": hit.url,
    }
    if hit.published:
        item["pagemap"] = {"metatags": [{"article:published_time": hit.published}]}
    return item


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return strip_invisible_characters(value)[0]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return None if isinstance(value, float) and value - value != 0 else value
