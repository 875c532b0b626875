"""Rerankers: the form of Cohere, Jina, vLLM, Infinity and llama.cpp, that of Voyage, and that of TEI.

https://docs.cohere.com/reference/rerank, https://docs.voyageai.com/reference/reranker-api and
https://huggingface.github.io/text-embeddings-inference. A text scores by the share of its own words that the query has.
"""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, bearer, json_object

_MOST_TEI = 32
_MESSAGES = {400: "invalid request", 401: "invalid api token", 429: "too many requests", 500: "internal server error"}


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """An error body in Cohere's form: `{"message"}`."""
    return VendorRefusal(status, {"message": message or _MESSAGES.get(status, "error")})


def _tei_refusal(status: int, message: str, kind: str) -> VendorRefusal:
    return VendorRefusal(status, {"error": message, "error_type": kind})


async def _asked(request: Request, field: str, missing: VendorRefusal) -> tuple[str, list[str]]:
    if bearer(request) != key_of("reranker"):
        raise refusal(401)
    body = await json_object(request, refusal(400))
    query, texts = body.get("query"), body.get(field)
    if not isinstance(query, str) or not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise missing
    return query, texts


def _scored(query: str, texts: list[str], name: str) -> list[dict[str, Any]]:
    """The indices with their scores, best first, as servers send them."""
    asked = set(_words(query))
    scores = [sum(word in asked for word in said) / max(1, len(said)) for said in map(_words, texts)]
    return [{"index": at, name: scores[at]} for at in sorted(range(len(texts)), key=lambda at: -scores[at])]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


async def _rerank(request: Request) -> JSONResponse:
    query, documents = await _asked(request, "documents", refusal(400, "documents must be a list of strings"))
    return JSONResponse({"id": "sandbox", "results": _scored(query, documents, "relevance_score")})


async def _voyage(request: Request) -> JSONResponse:
    query, documents = await _asked(request, "documents", refusal(400, "documents must be a list of strings"))
    return JSONResponse({"object": "list", "data": _scored(query, documents, "relevance_score")})


async def _tei(request: Request) -> JSONResponse:
    missing = _tei_refusal(
        422, "Failed to deserialize the JSON body into the target type: missing field `texts`", "Validation"
    )
    query, texts = await _asked(request, "texts", missing)
    if len(texts) > _MOST_TEI:
        raise _tei_refusal(413, f"batch size {len(texts)} > maximum allowed batch size {_MOST_TEI}", "Validation")
    return JSONResponse(_scored(query, texts, "score"))


RERANKER = Vendor(
    "reranker",
    [
        Route("/v2/rerank", _rerank, methods=["POST"]),
        Route("/voyage/v1/rerank", _voyage, methods=["POST"]),
        Route("/tei/rerank", _tei, methods=["POST"]),
    ],
    refusal,
)
