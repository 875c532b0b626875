"""Tavily `POST /extract`. https://docs.tavily.com/documentation/api-reference/endpoint/extract"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given, Lenient, as_list
from websearch_gateway.entrypoints.http.compatible.tavily import request_id, tavily_error
from websearch_gateway.entrypoints.reading import read_fitting
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Caller

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway

MOST_URLS = 20
PAGE_CHARS = 100_000


class TavilyExtract(Lenient):
    """The fields that mean something here."""

    urls: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    include_usage: bool = False


async def extract(gateway: Gateway, given: Given, caller: Caller) -> Any:
    """The text of each page under its requested URL, and the errors of the others."""
    began = time.perf_counter()
    wanted = TavilyExtract.of(given)
    if not 1 <= len(wanted.urls) <= MOST_URLS:
        raise SearchValidationError(f"`urls` must be 1 to {MOST_URLS} URLs.", details={"field": "urls"})
    pages = dict(zip(wanted.urls, await read_fitting(gateway, wanted.urls, caller, PAGE_CHARS), strict=True))
    return {
        "results": [
            {"url": url, "title": page.title, "raw_content": page.page_content, "images": []}
            for url, page in pages.items()
            if page.error is None
        ],
        "failed_results": [
            {"url": page.url, "error": page.error.message} for page in pages.values() if page.error is not None
        ],
        "response_time": round(time.perf_counter() - began, 2),
        "request_id": request_id(),
        **({"usage": {"credits": 1}} if wanted.include_usage else {}),
    }


EXTRACT = Compatible(
    name="tavily extract",
    paths=("/extract", "/tavily/extract"),
    methods=("POST",),
    scope="read",
    error_shape=tavily_error,
    answer=extract,
    key_in_body=True,
)
