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
    found,
    posted,
    research,
    within_domains,
    worded,
)

_MODELS = ("perplexity/sonar",)
_FIRST_ID = 11
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
    tool = next((tool for tool in body.get("tools", []) if tool.get("type") == "web_search"), None)
    output: list[dict[str, Any]] = []
    text = "I answer this from memory."
    # Without an instruction, the model decides whether to search.
    if tool is not None and body.get("tool_choice") == "required" and fault != "no_search":
        question = str(body.get("input"))
        within = _within(request, (tool.get("filters") or {}).get("search_domain_filter", []))
        region = (tool.get("user_location") or {}).get("country")
        pages = [*enumerate(research(request, question, region, within=within))]
        results = [
            {"id": _FIRST_ID - place, **_row(page, page.title, page.claim or "")}
            for place, page in pages
        ]
        output.append({"type": "search_results", "queries": [question], "results": results})
        claims = [f"{page.claim}[{_FIRST_ID - place}]" for place, page in pages if page.claim]
        text = " ".join(claims) or "I could not find an answer."
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output.append(
        {"type": "message", "role": "assistant", "status": "completed", "content": content}
    )
    usage: dict[str, Any] = {"input_tokens": 2000, "output_tokens": 100, "total_tokens": 2100}
    usage |= {"tool_calls_details": {"web_search": {"invocation": len(output) - 1}}}
    reply = {
        "id": "resp_sandbox",
        "object": "response",
        "status": "completed",
        "model": body["model"],
    }
    return JSONResponse(reply | {"output": output, "error": None, "usage": usage})


async def _models(request: Request) -> JSONResponse:
    if bearer(request) != key_of("perplexity"):
        raise refusal(401)
    return JSONResponse(
        {"object": "list", "data": [{"id": name, "object": "model"} for name in _MODELS]}
    )


async def _search(request: Request) -> JSONResponse:
    body = await posted(request, "perplexity", refusal)
    query, number, domains = (
        body.get("query"),
        body.get("max_results", 10),
        body.get("search_domain_filter", []),
    )
    period = body.get("search_recency_filter")
    queries: list[Any] = query if isinstance(query, list) else [query]
    if (
        not 1 <= len(queries) <= 5
        or not all(isinstance(one, str) and one.strip() for one in queries)
        or number not in range(1, 21)
        or len(domains) > 20
        or len({name.startswith("-") for name in domains}) > 1
        or len(body.get("search_language_filter", [])) > 20
        or period not in (None, "hour", *_DAYS)
    ):
        raise refusal(400)
    within = _within(request, domains)
    days = _DAYS.get(period, 1) if period else None
    matches = found(
        request, " ".join(queries), days=days, within=within, region=body.get("country")
    )[:number]
    results = [_row(match, match.page.title, match.snippet) for match in matches]
    return JSONResponse({"id": "search_sandbox", "results": results, "server_time": None})


PERPLEXITY = Vendor(
    "perplexity",
    [
        Route("/v1/agent", _agent, methods=["POST"]),
        Route("/v1/models", _models),
        Route("/search", _search, methods=["POST"]),
    ],
    refusal,
)
