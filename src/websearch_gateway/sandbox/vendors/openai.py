"""OpenAI: the Responses API with web search, models, embeddings (https://platform.openai.com/docs/api-reference)."""

from __future__ import annotations

import hashlib
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from websearch_gateway.sandbox.board import OPENAI_KINDS
from websearch_gateway.sandbox.keys import OPENAI_KEY
from websearch_gateway.sandbox.vendor import Vendor, bearer, clock, json_object, origin
from websearch_gateway.sandbox.vendors.openai_answer import Draft, from_memory, is_sum, question_of, researched
from websearch_gateway.sandbox.vendors.openai_embeddings import embed, tokens
from websearch_gateway.sandbox.vendors.openai_models import MODELS, REASONING_TOKENS, Model
from websearch_gateway.sandbox.vendors.openai_rules import (
    bad_key,
    bad_request,
    check_response_request,
    is_search,
    known_model,
    refusal,
)
from websearch_gateway.sandbox.vendors.openai_stream import stream

_SEARCH_TOKENS = 8000
_SOURCES = "web_search_call.action.sources"
_NOT_JSON = "We could not parse the JSON body of your request."
_REFUSAL = "I'm sorry, but I can't help with that."
_HEADERS = {
    "openai-version": "2020-10-01",
    "openai-processing-ms": "12",
    "x-ratelimit-limit-requests": "500",
    "x-ratelimit-remaining-requests": "499",
    "x-ratelimit-reset-requests": "120ms",
}


def _authorise(request: Request) -> None:
    if (key := bearer(request)) != OPENAI_KEY:
        raise bad_key(key)


def _reply(payload: Any) -> JSONResponse:
    request_id = hashlib.blake2b(repr(payload).encode(), digest_size=16).hexdigest()
    return JSONResponse(payload, headers={**_HEADERS, "x-request-id": f"req_{request_id}"})


def _draft(request: Request, body: dict[str, Any], fault: str | None) -> Draft:
    question = question_of(body)
    tool = next(filter(is_search, body.get("tools") or []), None)
    choice = body.get("tool_choice") or "auto"
    if tool is None or choice == "none" or fault == "no_search" or (choice == "auto" and is_sum(question)):
        return from_memory(question)
    return researched(question, tool, origin(request), clock(request), fault)


def _items(draft: Draft, question: str, identity: str, *, sources: bool) -> list[dict[str, Any]]:
    """The output without its message: reasoning, and a search, which opens the best page if there is one."""
    thought = {"type": "reasoning", "summary": []}
    items: list[dict[str, Any]] = [{"id": f"rs_{identity}0", **thought}]
    if not draft.searched:
        return items
    action: dict[str, Any] = {"type": "search", "query": question, "queries": [question]}
    if sources:
        action["sources"] = [{"type": "url", "url": url} for url in draft.found]
    call = {"type": "web_search_call", "status": "completed"}
    items.append({"id": f"ws_{identity}1", **call, "action": action})
    if draft.found:
        opened = {"type": "open_page", "url": draft.found[0]}
        items += [{"id": f"rs_{identity}2", **thought}, {"id": f"ws_{identity}3", **call, "action": opened}]
    return items


def _message(draft: Draft, identity: str, fault: str | None) -> dict[str, Any]:
    text = {"type": "output_text", "text": draft.text, "annotations": list(draft.annotations), "logprobs": []}
    content = {"type": "refusal", "refusal": _REFUSAL} if fault == "refusal" else text
    return {
        "id": f"msg_{identity}9",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [content],
    }


def _usage(body: dict[str, Any], draft: Draft, written: int, thought: int) -> dict[str, Any]:
    asked = tokens(str(body["input"]) + (body.get("instructions") or "")) + _SEARCH_TOKENS * draft.searched
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written + thought,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": asked + written + thought,
    }


def _compose(request: Request, body: dict[str, Any], model: Model, fault: str | None) -> dict[str, Any]:
    draft = _draft(request, body, fault)
    identity = hashlib.blake2b(repr(sorted(body.items())).encode(), digest_size=20).hexdigest()
    effort = (body.get("reasoning") or {}).get("effort") or "medium"
    limit, thought, written = body.get("max_output_tokens"), REASONING_TOKENS[effort], tokens(draft.text)
    if model.efforts == ():
        thought = 0
    cut = fault == "incomplete" or (limit is not None and thought + written > limit)
    if cut:
        # Reasoning comes first and uses the whole budget, so no message begins.
        thought, written = limit or thought, 0
    output = _items(draft, question_of(body), identity, sources=_SOURCES in (body.get("include") or []))
    return {
        "id": f"resp_{identity}",
        "object": "response",
        "created_at": int(clock(request).timestamp()),
        "status": "incomplete" if cut else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": limit,
        "max_tool_calls": body.get("max_tool_calls"),
        "metadata": body.get("metadata") or {},
        "model": "gpt-5-nano-2025-08-07" if model.id == "gpt-5-nano" else model.id,
        "output": output if cut else [*output, _message(draft, identity, fault)],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": effort, "summary": None},
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": body.get("text") or {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": body.get("tool_choice") or "auto",
        "tool_usage": {"web_search": {"num_requests": int(draft.searched)}},
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(body, draft, written, thought),
        "user": None,
    }


async def _responses(request: Request) -> Response:
    _authorise(request)
    body = await json_object(request, bad_request(_NOT_JSON))
    model = check_response_request(body)
    fault = request.state.fault
    kind = fault.kind if fault and fault.kind in OPENAI_KINDS else None
    payload = _compose(request, body, model, kind)
    if kind == "failed":
        code = fault.reason or "server_error"
        error = {"code": code, "message": "An error occurred while processing your request."}
        payload |= {"status": "failed", "error": error, "output": [], "usage": None}
    if body.get("stream"):
        return StreamingResponse(stream(payload), headers=_HEADERS, media_type="text/event-stream; charset=utf-8")
    return _reply(payload)


async def _models(request: Request) -> JSONResponse:
    _authorise(request)
    return _reply({"object": "list", "data": [model.listing() for model in MODELS.values()]})


async def _model(request: Request) -> JSONResponse:
    _authorise(request)
    return _reply(known_model({"model": request.path_params["name"]}).listing())


async def _embeddings(request: Request) -> JSONResponse:
    _authorise(request)
    body = await json_object(request, bad_request(_NOT_JSON))
    model = known_model(body)
    if not model.dimensions:
        raise bad_request("You are not allowed to generate embeddings from this model", code="model_not_supported")
    return _reply(embed(body, model))


OPENAI = Vendor(
    "openai",
    [
        Route("/v1/responses", _responses, methods=["POST"]),
        Route("/v1/models", _models),
        Route("/v1/models/{name}", _model),
        Route("/v1/embeddings", _embeddings, methods=["POST"]),
    ],
    refusal,
)
