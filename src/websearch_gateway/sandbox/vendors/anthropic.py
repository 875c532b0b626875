"""Anthropic: Messages with the web search tool, and the list of models (https://platform.claude.com/docs/en/api)."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import ENGINE_KINDS, key_of
from websearch_gateway.sandbox.vendor import Found, Vendor, VendorRefusal, fault_of, json_object, research

_MODELS = {"claude-haiku-5-5": None, "claude-haiku-4-5": None, "claude-sonnet-4-5": "2026-11-30T00:00:00Z"}
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


def refusal(status: int, code: str | None = None) -> VendorRefusal:
    """Anthropic's error body. `code` is `error.details.error_code`."""
    error: dict[str, Any] = {"type": _TYPES.get(status, "api_error"), "message": "Sandbox refusal."}
    if code:
        error["details"] = {"error_code": code}
    return VendorRefusal(status, {"type": "error", "error": error, "request_id": "req_sandbox"})


def _bad(message: str) -> VendorRefusal:
    error = {"type": "invalid_request_error", "message": message}
    return VendorRefusal(400, {"type": "error", "error": error, "request_id": "req_sandbox"})


def _authorise(request: Request) -> None:
    if request.headers.get("x-api-key") != key_of("anthropic"):
        raise refusal(401)
    if request.headers.get("anthropic-version") != "2023-06-01":
        raise _bad("anthropic-version: header is required")


def _check(body: dict[str, Any]) -> dict[str, Any] | None:
    """The search tool of the request; refuses the same requests as the API."""
    if body.get("model") not in _MODELS:
        raise refusal(404)
    if not isinstance(body.get("max_tokens"), int):
        raise _bad("max_tokens: Field required")
    if body["model"].endswith("5-5") and {"temperature", "top_p", "top_k"} & body.keys():
        raise _bad("temperature: may only be set to 1 for this model")
    tool = next((tool for tool in body.get("tools", []) if tool.get("name") == "web_search"), None)
    if tool is not None and tool.get("type") not in _TOOLS:
        raise _bad("tools.0: unknown type")
    if tool is not None and tool.get("allowed_domains") and tool.get("blocked_domains"):
        raise _bad("tools.0: only one of allowed_domains and blocked_domains can be set")
    return tool


def _search(call: str, question: str, found: list[Found]) -> list[dict[str, Any]]:
    results = [
        {
            "type": "web_search_result",
            "url": page.url,
            "title": page.title,
            "page_age": f"{page.published:%B} {page.published.day}, {page.published.year}" if page.published else None,
            "encrypted_content": "c2FuZGJveA==",
        }
        for page in found
    ]
    return [
        {"type": "server_tool_use", "id": call, "name": "web_search", "input": {"query": question}},
        {"type": "web_search_tool_result", "tool_use_id": call, "content": results},
    ]


def _text(text: str, page: Found | None = None) -> dict[str, Any]:
    if page is None:
        return {"type": "text", "text": text}
    kind = "web_search_result_location"
    note = {"type": kind, "url": page.url, "title": page.title, "cited_text": text[:150], "encrypted_index": "c2Fu"}
    return {"type": "text", "text": text, "citations": [note]}


def _blocks(found: list[Found]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for page in found:
        if page.claim:
            blocks += [_text(" ")] if blocks else []
            blocks.append(_text(page.claim, page))
    return blocks or [_text("I could not find an answer.")]


async def _messages(request: Request) -> JSONResponse:
    _authorise(request)
    body = await json_object(request, _bad("body: not JSON"))
    tool, fault = _check(body), fault_of(request, ENGINE_KINDS["anthropic"])
    question = str(body["messages"][0]["content"])
    resumed = body["messages"][-1]["role"] == "assistant"
    stop, searches = "end_turn", 1
    if tool is None or fault == "no_search":
        content, searches = [_text("I answer this from memory.")], 0
    else:
        region = (tool.get("user_location") or {}).get("country")
        call, result = _search("srvtoolu_sandbox", question, found := research(request, question, region))
        if fault == "pause_turn" and not resumed:
            content, stop = [_text("I'll search for that."), call], "pause_turn"
        elif resumed:
            content, searches = [result, *_blocks(found)], 0
        else:
            content = [_text("I'll search for that."), call, result, *_blocks(found)]
    if fault == "refusal":
        content, stop = [], "refusal"
    usage = {"input_tokens": 9000, "output_tokens": 300, "server_tool_use": {"web_search_requests": searches}}
    reply = {"id": "msg_sandbox", "type": "message", "role": "assistant", "model": body["model"], "content": content}
    return JSONResponse(reply | {"stop_reason": stop, "stop_sequence": None, "usage": usage})


async def _models(request: Request) -> JSONResponse:
    _authorise(request)
    data = [{"type": "model", "id": name, "retires_at": ends} for name, ends in _MODELS.items()]
    return JSONResponse({"data": data, "has_more": False})


ANTHROPIC = Vendor(
    "anthropic", [Route("/v1/messages", _messages, methods=["POST"]), Route("/v1/models", _models)], refusal
)
