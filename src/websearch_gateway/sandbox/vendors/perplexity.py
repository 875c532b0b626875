"""Perplexity: the Agent API with web search (https://docs.perplexity.ai/docs/agent-api), and the search alone
(https://docs.perplexity.ai/api-reference/search-post).
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import ENGINE_KINDS, key_of
from websearch_gateway.sandbox.small_web import search
from websearch_gateway.sandbox.vendor import (
    Vendor,
    VendorRefusal,
    bearer,
    clock,
    days_ago,
    fault_of,
    json_object,
    origin,
    research,
    within_domains,
)

_MODELS = ("perplexity/sonar",)
_FIRST_ID = 11
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}


def refusal(status: int, code: str | None = None) -> VendorRefusal:
    """Perplexity's error body."""
    return VendorRefusal(status, {"error": {"message": "Sandbox refusal.", "type": code or "error", "code": status}})


async def _agent(request: Request) -> JSONResponse:
    if bearer(request) != key_of("perplexity"):
        raise refusal(401)
    body = await json_object(request, refusal(400))
    if body.get("model") not in _MODELS:
        raise refusal(404)
    fault = fault_of(request, ENGINE_KINDS["perplexity"])
    if fault == "failed":
        error = {"message": "It failed.", "code": "server_error", "type": "server_error"}
        return JSONResponse({"status": "failed", "error": error, "output": []})
    tool = next((tool for tool in body.get("tools", []) if tool.get("type") == "web_search"), None)
    output: list[dict[str, Any]] = []
    text = "I answer this from memory."
    # Without an instruction, the model decides whether to search.
    if tool is not None and body.get("tool_choice") == "required" and fault != "no_search":
        question = str(body.get("input"))
        found = research(request, question, (tool.get("user_location") or {}).get("country"))
        results = [
            {
                "id": _FIRST_ID - place,
                "title": page.title,
                "url": page.url,
                "snippet": page.claim or "",
                "date": f"{page.published:%Y-%m-%d}" if page.published else None,
                "last_updated": None,
            }
            for place, page in enumerate(found)
        ]
        output.append({"type": "search_results", "queries": [question], "results": results})
        claims = [f"{page.claim}[{_FIRST_ID - place}]" for place, page in enumerate(found) if page.claim]
        text = " ".join(claims) or "I could not find an answer."
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output.append({"type": "message", "role": "assistant", "status": "completed", "content": content})
    usage: dict[str, Any] = {"input_tokens": 2000, "output_tokens": 100, "total_tokens": 2100}
    usage |= {"tool_calls_details": {"web_search": {"invocation": len(output) - 1}}}
    reply = {"id": "resp_sandbox", "object": "response", "status": "completed", "model": body["model"]}
    return JSONResponse(reply | {"output": output, "error": None, "usage": usage})


async def _models(request: Request) -> JSONResponse:
    if bearer(request) != key_of("perplexity"):
        raise refusal(401)
    return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"} for name in _MODELS]})


def _checked(body: dict[str, Any]) -> None:
    number, domains = body.get("max_results", 10), body.get("search_domain_filter", [])
    denied = [name for name in domains if name.startswith("-")]
    if (
        not isinstance(body.get("query"), str)
        or not (isinstance(number, int) and 1 <= number <= 20)
        or len(domains) > 20
        or denied not in ([], domains)
        or body.get("search_recency_filter", "day") not in ("hour", *_DAYS)
    ):
        raise refusal(400, "invalid_request")


async def _search(request: Request) -> JSONResponse:
    if bearer(request) != key_of("perplexity"):
        raise refusal(401)
    body = await json_object(request, refusal(400))
    _checked(body)
    domains = body.get("search_domain_filter", [])
    denied = [name.removeprefix("-") for name in domains if name.startswith("-")]
    within = within_domains(request, None if denied else domains, denied)
    period = body.get("search_recency_filter")
    matches = search(
        body["query"],
        clock(request),
        since=days_ago(request, _DAYS.get(period, 1)) if period else None,
        region=body.get("country"),
        allow=lambda _: within,
    )
    results = [
        {
            "title": match.page.title,
            "url": origin(request) + match.page.path,
            "snippet": match.snippet,
            "date": f"{match.published:%Y-%m-%d}" if match.published else None,
            "last_updated": None,
        }
        for match in matches[: body.get("max_results", 10)]
    ]
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
