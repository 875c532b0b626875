"""Perplexity: the Agent API with web search (https://docs.perplexity.ai/docs/agent-api), and the search alone
(https://docs.perplexity.ai/api-reference/search-post).
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.server import key_of
from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    bearer,
    fault_of,
    posted,
    research,
    search_pages,
    within_domains,
    worded,
)

_MODELS = ("perplexity/sonar",)
_FIRST_ID = 11
"""Of the first search result: no reader may take an id for a place in the list."""
# The limits of the search (https://docs.perplexity.ai/api-reference/search-post).
_MOST_QUERIES, _MOST_RESULTS, _DEFAULT_RESULTS = 5, 20, 10
_MOST_FILTERS = 20
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}

refusal = worded(
    lambda status, kind: {"error": {"message": "Sandbox refusal.", "type": kind, "code": status}},
    {400: "invalid_request"},
)


def _row(page: Any, title: str, snippet: str) -> dict[str, Any]:
    date = f"{page.published:%Y-%m-%d}" if page.published else None
    return {"title": title, "url": page.url, "snippet": snippet, "date": date, "last_updated": None}


def _within(request: Request, domains: list[str]) -> bool:
    """Whether a filter, which allows domains or with a minus denies them, allows this sandbox."""
    denied = [name.removeprefix("-") for name in domains if name.startswith("-")]
    return within_domains(request, None if denied else domains, denied)


async def _agent(request: Request) -> JSONResponse:
    body = await posted(request, "perplexity", refusal)
    if body.get("model") not in _MODELS:
        raise refusal(404)
    fault = fault_of(request)
    if fault == "failed":
        error = {"message": "It failed.", "code": "server_error", "type": "server_error"}
        return JSONResponse({"status": "failed", "error": error, "output": []})
    tools = [tool for tool in body.get("tools", []) if tool.get("type") == "web_search"]
    # Without an instruction, the model decides whether to search.
    searches = tools and body.get("tool_choice") == "required" and fault != "no_search"
    output: list[dict[str, Any]] = []
    text = "I answer this from memory."
    if searches:
        results, text = _answered(request, str(body.get("input")), tools[0])
        output.append(results)
    usage = _usage(searches=len(output))
    output.append(_message(text))
    reply = {
        "id": "resp_sandbox",
        "object": "response",
        "status": "completed",
        "model": body["model"],
        "output": output,
        "error": None,
        "usage": usage,
    }
    return JSONResponse(reply)


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content}


def _usage(searches: int) -> dict[str, Any]:
    return {
        "input_tokens": 2000,
        "output_tokens": 100,
        "total_tokens": 2100,
        "tool_calls_details": {"web_search": {"invocation": searches}},
    }


def _answered(request: Request, question: str, tool: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The item with the search results, and the answer that cites them."""
    filters = tool.get("filters") or {}
    within = _within(request, filters.get("search_domain_filter", []))
    region = (tool.get("user_location") or {}).get("country")
    pages = research(request, question, region, within=within)
    rows, claims = [], []
    for place, page in enumerate(pages):
        # The ids fall, so that nobody takes them for places in the list.
        number = _FIRST_ID - place
        rows.append({"id": number, **_row(page, page.title, page.claim or "")})
        if page.claim:
            claims.append(f"{page.claim}[{number}]")
    item = {"type": "search_results", "queries": [question], "results": rows}
    return item, " ".join(claims) or "I could not find an answer."


async def _models(request: Request) -> JSONResponse:
    if bearer(request) != key_of("perplexity"):
        raise refusal(401)
    return JSONResponse(
        {"object": "list", "data": [{"id": name, "object": "model"} for name in _MODELS]}
    )


async def _search(request: Request) -> JSONResponse:
    body = await posted(request, "perplexity", refusal)
    query = body.get("query")
    queries: list[Any] = query if isinstance(query, list) else [query]
    number = body.get("max_results", _DEFAULT_RESULTS)
    domains = body.get("search_domain_filter", [])
    languages = body.get("search_language_filter", [])
    period = body.get("search_recency_filter")
    has_queries = 1 <= len(queries) <= _MOST_QUERIES and all(map(_is_text, queries))
    has_number = type(number) is int and 1 <= number <= _MOST_RESULTS
    has_filters = max(len(domains), len(languages)) <= _MOST_FILTERS
    mixes_allowed_and_denied = len({name.startswith("-") for name in domains}) > 1
    has_period = period in (None, "hour", *_DAYS)
    if mixes_allowed_and_denied or not (has_queries and has_number and has_filters and has_period):
        raise refusal(400)
    matches = search_pages(
        request,
        " ".join(queries),
        days=_DAYS.get(period, 1) if period else None,
        within=_within(request, domains),
        region=body.get("country"),
    )
    results = [_row(match, match.page.title, match.snippet) for match in matches[:number]]
    return JSONResponse({"id": "search_sandbox", "results": results, "server_time": None})


def _is_text(query: Any) -> bool:
    return isinstance(query, str) and bool(query.strip())


PERPLEXITY = Vendor(
    "perplexity",
    [
        Route("/v1/agent", _agent, methods=["POST"]),
        Route("/v1/models", _models),
        Route("/search", _search, methods=["POST"]),
    ],
    refusal,
)
