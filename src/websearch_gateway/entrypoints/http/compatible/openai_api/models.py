"""OpenAI `GET /v1/models`. https://platform.openai.com/docs/api-reference/models/list"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from websearch_gateway.entrypoints.http.compatible.base import Compatible, Given
from websearch_gateway.entrypoints.http.compatible.openai_api.common import MODEL, openai_error
from websearch_gateway.models import Caller

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway

CREATED = 1_764_547_200
"""2025-12-01: clients require a number, and use it only for sorting."""


async def models(_: Gateway, __: Given, ___: Caller) -> Any:
    """One model, which answers as the tool of the same name."""
    return {
        "object": "list",
        "data": [{"id": MODEL, "name": MODEL, "object": "model", "created": CREATED, "owned_by": "websearch-gateway"}],
    }


MODELS = Compatible(
    name="openai models",
    paths=("/v1/models",),
    methods=("GET",),
    scope="search",
    error_shape=openai_error,
    answer=models,
)
