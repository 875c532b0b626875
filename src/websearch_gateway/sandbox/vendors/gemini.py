"""Gemini: generateContent with Google Search (https://ai.google.dev/api/generate-content)."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox import ENGINE_KINDS, key_of
from websearch_gateway.sandbox.vendor import Found, Vendor, VendorRefusal, fault_of, json_object, origin, research

_MODELS = ("gemini-3.1-flash-lite", "gemini-3.5-flash-lite", "gemini-3.8-flash")
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


def refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """Google's error body. `reason` is that of its ErrorInfo."""
    info = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    error = {"code": status, "message": "Sandbox refusal.", "status": _STATUSES.get(status, "UNKNOWN"), "details": info}
    return VendorRefusal(status, {"error": error})


def _authorise(request: Request) -> None:
    if request.headers.get("x-goog-api-key") != key_of("gemini"):
        raise refusal(400, "API_KEY_INVALID")


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


async def _generate(request: Request) -> JSONResponse:
    _authorise(request)
    model, _, verb = request.path_params["call"].partition(":")
    if model not in _MODELS or verb != "generateContent":
        raise refusal(404)
    body = await json_object(request, refusal(400))
    fault = fault_of(request, ENGINE_KINDS["gemini"])
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


async def _models(request: Request) -> JSONResponse:
    _authorise(request)
    return JSONResponse({"models": [{"name": f"models/{name}"} for name in _MODELS]})


async def _redirect(request: Request) -> Response:
    return RedirectResponse(request.query_params.get("to", "/"), 302)


GEMINI = Vendor(
    "gemini",
    [
        Route("/v1beta/models", _models),
        Route("/v1beta/models/{call}", _generate, methods=["POST"]),
        Route("/grounding-api-redirect", _redirect),
    ],
    refusal,
)
