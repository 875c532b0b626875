"""The answer engines of Anthropic, Messages with the web search tool (https://platform.claude.com/docs/en/api), and of
Google, generateContent with Google Search (https://ai.google.dev/api/generate-content); both with the list of models.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.vendors import (
    Found,
    Vendor,
    VendorRefusal,
    fault_of,
    json_object,
    long_date,
    origin,
    research,
)

_CLAUDES = {"claude-haiku-5-5": None, "claude-haiku-4-5": None, "claude-sonnet-4-5": "2026-11-30T00:00:00Z"}
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
    """The search tool of the request; refuses the same requests as the API."""
    if body.get("model") not in _CLAUDES:
        raise _anthropic_refusal(404)
    tool = next((tool for tool in body.get("tools", []) if tool.get("name") == "web_search"), None)
    given = tool or {"type": _TOOLS[0]}
    for is_wrong, message in (
        (not isinstance(body.get("max_tokens"), int), "max_tokens: Field required"),
        (
            body["model"].endswith("5-5") and {"temperature", "top_p", "top_k"} & body.keys(),
            "temperature: may only be set to 1 for this model",
        ),
        (given.get("type") not in _TOOLS, "tools.0: unknown type"),
        (
            given.get("allowed_domains") and given.get("blocked_domains"),
            "tools.0: only one of allowed_domains and blocked_domains can be set",
        ),
    ):
        if is_wrong:
            raise _anthropic_refusal(400, message)
    return tool


def _search(question: str, found: list[Found]) -> list[dict[str, Any]]:
    results = [
        {
            "type": "web_search_result",
            "url": page.url,
            "title": page.title,
            "page_age": long_date(page, "%B"),
            "encrypted_content": "c2FuZGJveA==",
        }
        for page in found
    ]
    call = "srvtoolu_sandbox"
    return [
        {"type": "server_tool_use", "id": call, "name": "web_search", "input": {"query": question}},
        {"type": "web_search_tool_result", "tool_use_id": call, "content": results},
    ]


def _blocks(found: list[Found]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for page in found:
        if page.claim:
            kind = "web_search_result_location"
            note = {"type": kind, "url": page.url, "title": page.title, "cited_text": page.claim[:150]}
            blocks += [{"type": "text", "text": " "}] if blocks else []
            blocks += [{"type": "text", "text": page.claim, "citations": [{**note, "encrypted_index": "c2Fu"}]}]
    return blocks or [{"type": "text", "text": "I could not find an answer."}]


async def _messages(request: Request) -> JSONResponse:
    _authorise(request)
    body = await json_object(request, _anthropic_refusal(400, "body: not JSON"))
    tool, fault = _search_tool(body), fault_of(request)
    question = str(body["messages"][0]["content"])
    resumed = body["messages"][-1]["role"] == "assistant"
    stop, searches = "end_turn", 1
    if tool is None or fault == "no_search":
        content, searches = [{"type": "text", "text": "I answer this from memory."}], 0
    else:
        region = (tool.get("user_location") or {}).get("country")
        call, result = _search(question, found := research(request, question, region))
        begun = [{"type": "text", "text": "I'll search for that."}, call]
        if fault == "pause_turn" and not resumed:
            content, stop = begun, "pause_turn"
        elif resumed:
            content, searches = [result, *_blocks(found)], 0
        else:
            content = [*begun, result, *_blocks(found)]
    if fault == "refusal":
        content, stop = [], "refusal"
    usage = {"input_tokens": 9000, "output_tokens": 300, "server_tool_use": {"web_search_requests": searches}}
    reply = {"id": "msg_sandbox", "type": "message", "role": "assistant", "model": body["model"], "content": content}
    return JSONResponse(reply | {"stop_reason": stop, "stop_sequence": None, "usage": usage})


async def _claudes(request: Request) -> JSONResponse:
    _authorise(request)
    data = [{"type": "model", "id": name, "retires_at": ends} for name, ends in _CLAUDES.items()]
    return JSONResponse({"data": data, "has_more": False})


ANTHROPIC = Vendor(
    "anthropic",
    [Route("/v1/messages", _messages, methods=["POST"]), Route("/v1/models", _claudes)],
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
}
_SUGGESTIONS = "<style>.chip{border:solid 1px}</style><div class='container'><a class='chip'>sandbox</a></div>"


def _gemini_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """The reason is that of Google's ErrorInfo."""
    info = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    error = {"code": status, "message": "Sandbox refusal.", "status": _STATUSES.get(status, "UNKNOWN"), "details": info}
    return VendorRefusal(status, {"error": error})


def _grounded(request: Request, found: list[Found]) -> tuple[str, dict[str, Any]]:
    text, supports = "🔎 ", []
    for place, page in enumerate(found):
        if page.claim:
            start = len(text.encode())
            text += page.claim
            segment = {"startIndex": start, "endIndex": len(text.encode()), "text": page.claim}
            supports.append({"segment": segment, "groundingChunkIndices": [place]})
            text += " "
    base = f"{origin(request)}/gemini/grounding-api-redirect"
    chunks = [{"web": {"uri": f"{base}?to={page.url}", "title": page.url.split("/")[2]}} for page in found]
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
    fault = fault_of(request)
    if fault == "refusal":
        return JSONResponse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    question = str(body["contents"][-1]["parts"][0]["text"])
    searches = any("googleSearch" in tool for tool in body.get("tools", [])) and fault != "no_search"
    text, metadata = _grounded(request, research(request, question)) if searches else ("From memory.", {})
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
    if metadata:
        candidate["groundingMetadata"] = metadata
    usage = {"promptTokenCount": 300, "candidatesTokenCount": 120, "toolUsePromptTokenCount": 40}
    return JSONResponse({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model})


async def _redirect(request: Request) -> Response:
    return RedirectResponse(request.query_params.get("to", "/"), 302)


GEMINI = Vendor(
    "gemini",
    [
        Route("/v1beta/models", _gemini),
        Route("/v1beta/models/{call}", _gemini, methods=["POST"]),
        Route("/grounding-api-redirect", _redirect),
    ],
    _gemini_refusal,
)
