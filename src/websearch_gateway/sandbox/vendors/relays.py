"""Servers behind OPENAI_BASE_URL that speak the Responses API in dialects of their own.

Azure wants the name of a deployment as the model
(https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle); xAI refuses some fields, words its errors
differently and cites by `[[1]](url)` (https://docs.x.ai/developers/tools/web-search); OpenRouter searches before the
model and shows no search (https://openrouter.ai/docs/api_reference/responses/web-search).
"""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox.server import AZURE_DEPLOYMENT, key_of
from websearch_gateway.sandbox.vendors.openai import (
    NOT_JSON,
    bad_request,
    check_request,
    compose,
    refusal,
)
from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    VendorRefusal,
    bearer,
    fault_of,
    json_object,
)

_LINK = re.compile(r"\(\[[^\]]*\]\(([^)]*)\)\)")


def _authorise(request: Request, vendor: str) -> None:
    if key_of(vendor) not in (bearer(request), request.headers.get("api-key")):
        raise refusal(401)


async def _azure(request: Request) -> JSONResponse:
    _authorise(request, "azure")
    body = await json_object(request, bad_request(NOT_JSON))
    if body.get("model") != AZURE_DEPLOYMENT:
        message = "The API deployment for this resource does not exist."
        raise VendorRefusal(404, {"error": {"code": "DeploymentNotFound", "message": message}})
    model = check_request({**body, "model": "gpt-5-nano"})
    reply = compose(request, body, model, fault_of(request))
    return JSONResponse({**reply, "content_filters": [{"blocked": False, "source_type": "prompt"}]})


_XAI_REFUSES = ("include", "max_tool_calls")
_XAI_TOOL_REFUSES = ("search_context_size",)


async def _xai(request: Request) -> JSONResponse:
    _authorise(request, "xai")
    body = await json_object(request, bad_request(NOT_JSON))
    tools = body.get("tools") or []
    refused = [name for name in _XAI_REFUSES if name in body]
    refused += [name for tool in tools for name in _XAI_TOOL_REFUSES if name in tool]
    if refused:
        raise VendorRefusal(400, {"code": "400", "error": f"Argument not supported: {refused[0]}"})
    reply = compose(
        request, body, check_request({**body, "model": "gpt-5.4-nano"}), fault_of(request)
    )
    for item in reply["output"]:
        if item["type"] == "message":
            _cite_by_number(item["content"][0])
            reply["citations"] = [note["url"] for note in item["content"][0].get("annotations", ())]
    del reply["tool_usage"]
    return JSONResponse({**reply, "model": body["model"]})


def _cite_by_number(part: dict[str, Any]) -> None:
    """Write each link of an answer as `[[1]](url)`, as the title of whose annotation xAI gives the number."""
    text, annotations = "", []
    done = 0
    for number, (match, note) in enumerate(
        zip(_LINK.finditer(part["text"]), part["annotations"], strict=True), start=1
    ):
        text += part["text"][done : match.start()]
        start = len(text)
        text += f"[[{number}]]({match[1]})"
        annotations.append(
            {**note, "title": str(number), "start_index": start, "end_index": len(text)}
        )
        done = match.end()
    part |= {"text": text + part["text"][done:], "annotations": annotations}


async def _openrouter(request: Request) -> JSONResponse:
    _authorise(request, "openrouter")
    body = await json_object(request, bad_request(NOT_JSON))
    reply = compose(
        request, body, check_request({**body, "model": "gpt-5.4-nano"}), fault_of(request)
    )
    output = [item for item in reply["output"] if item["type"] != "web_search_call"]
    del reply["tool_usage"]
    return JSONResponse({**reply, "model": body["model"], "output": output})


AZURE = Vendor("azure", [Route("/openai/v1/responses", _azure, methods=["POST"])], refusal)
XAI = Vendor("xai", [Route("/v1/responses", _xai, methods=["POST"])], refusal)
OPENROUTER = Vendor(
    "openrouter", [Route("/api/v1/responses", _openrouter, methods=["POST"])], refusal
)
