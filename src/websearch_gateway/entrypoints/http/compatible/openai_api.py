"""OpenAI's Responses, Chat Completions and Models, with `search_web` as the one model
(https://platform.openai.com/docs/api-reference).
"""

from __future__ import annotations

from websearch_gateway.entrypoints.http.compatible.endpoint import Compatible, always
from websearch_gateway.entrypoints.http.compatible.openai_answers import MODEL, openai_error
from websearch_gateway.entrypoints.http.compatible.openai_chat import complete
from websearch_gateway.entrypoints.http.compatible.openai_responses import respond

CREATED = 1_764_547_200
"""2025-12-01: clients require a number, and use it only for sorting."""


MODELS = {
    "object": "list",
    "data": [
        {
            "id": MODEL,
            "name": MODEL,
            "object": "model",
            "created": CREATED,
            "owned_by": "websearch-gateway",
        }
    ],
}
"""One model, which answers as the tool of the same name."""

OPENAI_APIS = (
    Compatible(("/v1/responses",), ("POST",), "search", openai_error, respond),
    Compatible(("/v1/chat/completions",), ("POST",), "search", openai_error, complete),
    Compatible(("/v1/models",), ("GET",), "search", openai_error, always(MODELS)),
)
