"""The answer engines of Anthropic, Messages with the web search tool (https://platform.claude.com/docs/en/api), and of
Google, generateContent with Google Search (https://ai.google.dev/api/generate-content); both with the list of models.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox.server import key_of
from websearch_gateway.sandbox.vendors.own_servers import completion
from websearch_gateway.sandbox.vendors.vendor import (
    Source,
    Vendor,
    VendorRefusal,
    bearer,
    fault_of,
    json_object,
    long_date,
    origin,
    research,
    within_domains,
)

_CLAUDES = {
    "claude-haiku-5-5": None,
    "claude-sonnet-5-5": None,
    "claude-haiku-4-5": None,
    "claude-sonnet-4-5": "2026-11-30T00:00:00Z",
}
_TOOLS = ("web_search_20250305", "web_search_20260209", "web_search_20260318")
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _anthropic_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """The reason of an invalid request is its message, else `error.details.error_code`."""
    error: dict[str, Any] = {"type": _TYPES.get(status, "api_error"), "message": "Sandbox refusal."}
    if reason:
        error |= {"message": reason} if status == 400 else {"details": {"error_code": reason}}
    return VendorRefusal(status, {"type": "error", "error": error, "request_id": "req_sandbox"})


def _authorise(request: Request) -> None:
    if request.headers.get("x-api-key") != key_of("anthropic"):
        raise _anthropic_refusal(401)
    if request.headers.get("anthropic-version") != "2023-06-01":
        raise _anthropic_refusal(400, "anthropic-version: header is required")


def _search_tool(body: dict[str, Any]) -> dict[str, Any] | None:
    if body.get("model") not in _CLAUDES:
        raise _anthropic_refusal(404)
    tools, turns = body.get("tools") or [], body.get("messages") or [{}]
    tool = next(
        (listed for listed in tools if str(listed.get("type")).startswith("web_search")), None
    )
    given, is_new, last = tool or {}, body["model"].endswith("5-5"), turns[-1].get("content")
    place = given.get("user_location") or {"type": "approximate"}
    for is_wrong, message in (
        (not isinstance(body.get("max_tokens"), int), "max_tokens: Field required"),
        (turns[0].get("role") != "user", 'messages: first message must use the "user" role'),
        (
            is_new and {"temperature", "top_p", "top_k"} & body.keys(),
            "temperature: may only be set to 1 for this model",
        ),
        (
            is_new and (body.get("thinking") or {}).get("type") == "enabled",
            "thinking.type: use adaptive",
        ),
        (
            is_new and turns[-1].get("role") == "assistant" and not _is_paused(last),
            "This model does not support assistant message prefill.",
        ),
        (
            tool and (given["type"] not in _TOOLS or given.get("name") != "web_search"),
            "tools.0: unknown type or name",
        ),
        (
            place.get("type") != "approximate",
            "tools.0.user_location.type: Input should be 'approximate'",
        ),
        (
            given.get("allowed_domains") and given.get("blocked_domains"),
            "tools.0: only one of allowed_domains and blocked_domains can be set",
        ),
    ):
        if is_wrong:
            raise _anthropic_refusal(400, message)
    return tool


def _is_paused(content: Any) -> bool:
    """Whether a turn ends with a search whose result is to come: only such a one may be sent back."""
    return (
        isinstance(content, list) and bool(content) and content[-1].get("type") == "server_tool_use"
    )


def _search(question: str, sources: list[Source]) -> list[dict[str, Any]]:
    results = [
        {
            "type": "web_search_result",
            "url": page.url,
            "title": page.title,
            "page_age": long_date(page, "%B"),
            "encrypted_content": "c2FuZGJveA==",
        }
        for page in sources
    ]
    call = "srvtoolu_sandbox"
    return [
        {"type": "server_tool_use", "id": call, "name": "web_search", "input": {"query": question}},
        {"type": "web_search_tool_result", "tool_use_id": call, "content": results},
    ]


def _blocks(sources: list[Source]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for page in sources:
        if not page.claim:
            continue
        citation = {
            "type": "web_search_result_location",
            "url": page.url,
            "title": page.title,
            "cited_text": page.claim[:150],
            "encrypted_index": "c2Fu",
        }
        if blocks:
            blocks.append({"type": "text", "text": " "})
        blocks.append({"type": "text", "text": page.claim, "citations": [citation]})
    return blocks or [{"type": "text", "text": "I could not find an answer."}]


async def _messages(request: Request) -> JSONResponse:
    _authorise(request)
    body = await json_object(request, _anthropic_refusal(400, "body: not JSON"))
    tool, fault = _search_tool(body), fault_of(request)
    question = str(body["messages"][0]["content"])
    resumed = body["messages"][-1]["role"] == "assistant"
    stop, searches, tool = "end_turn", 1, tool or {}
    if not tool or fault == "no_search":
        content, searches = [{"type": "text", "text": "I answer this from memory."}], 0
    else:
        region = (tool.get("user_location") or {}).get("country")
        within = within_domains(request, tool.get("allowed_domains"), tool.get("blocked_domains"))
        sources = research(request, question, region, within=within)
        call, result = _search(question, sources)
        if fault == "search_failed":
            error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
            result, sources, searches = {**result, "content": error}, [], 0
        thought = {"type": "thinking", "thinking": "", "signature": "c2FuZGJveA=="}
        begun = [thought, {"type": "text", "text": "I'll search for that."}, call]
        if fault == "pause_turn" and not resumed:
            content, stop = begun, "pause_turn"
        elif resumed:
            content, searches = [result, *_blocks(sources)], 0
        else:
            content = [*begun, result, *_blocks(sources)]
    if fault == "refusal":
        content, stop = [], "refusal"
    usage = {
        "input_tokens": 9000,
        "output_tokens": 300,
        "server_tool_use": {"web_search_requests": searches},
    }
    reply = {
        "id": "msg_sandbox",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
    }
    return JSONResponse(reply | {"stop_reason": stop, "stop_sequence": None, "usage": usage})


async def _claudes(request: Request) -> JSONResponse:
    _authorise(request)
    data = [{"type": "model", "id": name, "retires_at": ends} for name, ends in _CLAUDES.items()]
    return JSONResponse({"data": data, "has_more": False})


async def _claude_chat(request: Request) -> Response:
    """Ignores `response_format` and `reasoning_effort` (https://docs.anthropic.com/en/api/openai-sdk)."""
    if bearer(request) != key_of("anthropic"):
        raise _anthropic_refusal(401)
    body = await json_object(request, _anthropic_refusal(400))
    if body.get("model") not in _CLAUDES:
        raise _anthropic_refusal(404)
    if body["model"].endswith("5-5") and "temperature" in body:
        raise _anthropic_refusal(400, "temperature: may only be set to 1 for this model")
    return completion(body, fault_of(request))


ANTHROPIC = Vendor(
    "anthropic",
    [
        Route("/v1/messages", _messages, methods=["POST"]),
        Route("/v1/chat/completions", _claude_chat, methods=["POST"]),
        Route("/v1/models", _claudes),
    ],
    _anthropic_refusal,
)

_GEMINIS = ("gemini-3.1-flash-lite", "gemini-3.5-flash-lite", "gemini-3.8-flash")
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_SEARCH_OPTIONS = {"searchTypes", "timeRangeFilter"}
_SUGGESTIONS = (
    "<style>.chip{border:solid 1px}</style><div class='container'><a class='chip'>sandbox</a></div>"
)


def _gemini_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """The reason is that of Google's ErrorInfo, `FAILED_PRECONDITION`, or for a quota its id or seconds: `34s`."""
    kind, name, about = _STATUSES.get(status, "UNKNOWN"), "ErrorInfo", dict[str, Any](reason=reason)
    if reason == "FAILED_PRECONDITION":
        kind, reason = reason, None
    elif reason and status == 429:
        quota = {"violations": [{"quotaId": reason}]}
        name, about = (
            ("RetryInfo", {"retryDelay": reason})
            if reason[0].isdecimal()
            else ("QuotaFailure", quota)
        )
    details = [{"@type": f"type.googleapis.com/google.rpc.{name}", **about}] if reason else []
    error = {"code": status, "message": "Sandbox refusal.", "status": kind, "details": details}
    return VendorRefusal(status, {"error": error})


def _grounded(request: Request, found: list[Source]) -> tuple[str, dict[str, Any]]:
    text, supports = "🔎 ", []
    for place, page in enumerate(found):
        if page.claim:
            start = len(text.encode())
            text += page.claim
            segment = {"startIndex": start, "endIndex": len(text.encode()), "text": page.claim}
            supports.append({"segment": segment, "groundingChunkIndices": [place]})
            text += " "
    base = f"{origin(request)}/gemini/grounding-api-redirect"
    chunks = [
        {"web": {"uri": f"{base}?to={page.url}", "title": page.url.split("/")[2]}} for page in found
    ]
    metadata = {
        "webSearchQueries": ["sandbox"],
        "groundingChunks": chunks,
        "groundingSupports": supports,
        "searchEntryPoint": {"renderedContent": _SUGGESTIONS},
    }
    return text.rstrip() if supports else "I could not find an answer.", metadata


async def _gemini(request: Request) -> JSONResponse:
    if request.headers.get("x-goog-api-key") != key_of("gemini"):
        raise _gemini_refusal(400, "API_KEY_INVALID")
    if request.method == "GET":
        return JSONResponse({"models": [{"name": f"models/{name}"} for name in _GEMINIS]})
    model, _, verb = request.path_params["call"].partition(":")
    if model not in _GEMINIS or verb != "generateContent":
        raise _gemini_refusal(404)
    body = await json_object(request, _gemini_refusal(400))
    searching = [tool["googleSearch"] for tool in body.get("tools", []) if "googleSearch" in tool]
    if not body.get("contents") or any(search.keys() - _SEARCH_OPTIONS for search in searching):
        raise _gemini_refusal(400)
    fault = fault_of(request)
    if fault == "refusal":
        return JSONResponse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    question = str(body["contents"][-1]["parts"][0]["text"])
    searches = searching and fault != "no_search"
    text, metadata = (
        _grounded(request, research(request, question)) if searches else ("From memory.", {})
    )
    candidate: dict[str, Any] = {
        "content": {"role": "model", "parts": [{"text": text}]},
        "finishReason": "STOP",
    }
    if metadata:
        candidate["groundingMetadata"] = metadata
    usage = {"promptTokenCount": 300, "candidatesTokenCount": 120, "thoughtsTokenCount": 60}
    usage |= {"toolUsePromptTokenCount": 40, "totalTokenCount": 520}
    about = {"usageMetadata": usage, "modelVersion": model, "responseId": "sandbox"}
    return JSONResponse({"candidates": [candidate], **about})


async def _redirect(request: Request) -> Response:
    return RedirectResponse(request.query_params.get("to", "/"), 302)


async def _gemini_chat(request: Request) -> Response:
    """https://ai.google.dev/gemini-api/docs/openai."""
    if bearer(request) != key_of("gemini"):
        raise _gemini_refusal(401)
    body = await json_object(request, _gemini_refusal(400))
    if body.get("model") not in _GEMINIS:
        raise _gemini_refusal(404)
    return completion(body, fault_of(request))


GEMINI = Vendor(
    "gemini",
    [
        Route("/v1beta/openai/chat/completions", _gemini_chat, methods=["POST"]),
        Route("/v1beta/models", _gemini),
        Route("/v1beta/models/{call}", _gemini, methods=["POST"]),
        Route("/grounding-api-redirect", _redirect),
    ],
    _gemini_refusal,
)
