"""`POST /v1/embeddings`: vectors that depend only on the text, and are near each other if texts share words."""

from __future__ import annotations

import base64
import math
import zlib
from array import array
from typing import Any

from websearch_gateway.sandbox.index import terms
from websearch_gateway.sandbox.vendors.openai_models import Model
from websearch_gateway.sandbox.vendors.openai_rules import bad_request

_MOST_INPUTS, _MOST_TOKENS_EACH, _MOST_TOKENS = 2048, 8192, 300_000
_CHARACTERS_PER_TOKEN = 4


def tokens(text: str) -> int:
    """About how many tokens a text has; at least one."""
    return max(1, math.ceil(len(text) / _CHARACTERS_PER_TOKEN))


def vector(text: str, dimensions: int) -> array[float]:
    """A unit vector: each stem and each of its three-letter pieces adds to one place, with a sign, by its checksum."""
    values = [0.0] * dimensions
    for term in terms(text) or [text]:
        pieces = [term[i : i + 3] for i in range(max(1, len(term) - 2))]
        for piece, weight in [(term, 1.0), *((piece, 0.25) for piece in pieces)]:
            checksum = zlib.crc32(piece.encode())
            values[checksum % dimensions] += weight if checksum & 0x8000_0000 else -weight
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return array("f", (value / length for value in values))


def embed(body: dict[str, Any], model: Model) -> dict[str, Any]:
    """The reply to a request for embeddings.

    Raises:
        VendorRefusal: HTTP 400 for what OpenAI refuses: no input, too many or too long, an unsupported length.
    """
    texts = _checked_inputs(body.get("input"))
    dimensions = _checked_dimensions(body.get("dimensions"), model)
    vectors = (vector(text, dimensions) for text in texts)
    packed = body.get("encoding_format") == "base64"
    total = sum(map(tokens, texts))
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": _base64(values) if packed else list(values)}
            for index, values in enumerate(vectors)
        ],
        "model": model.id,
        "usage": {"prompt_tokens": total, "total_tokens": total},
    }


def _base64(values: array[float]) -> str:
    # Little-endian float32, which is what every machine we run on has natively.
    return base64.b64encode(values.tobytes()).decode()


def _checked_inputs(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise bad_request("'$.input' is invalid. Please check the API reference.", "input")
    if len(texts) > _MOST_INPUTS:
        raise bad_request(f"'$.input' is invalid: more than {_MOST_INPUTS} inputs.", "input")
    for position, text in enumerate(texts):
        if tokens(text) > _MOST_TOKENS_EACH:
            raise bad_request(f"Invalid 'input[{position}]': maximum input length is {_MOST_TOKENS_EACH} tokens.")
    if (total := sum(map(tokens, texts))) > _MOST_TOKENS:
        message = f"Requested {total} tokens, max {_MOST_TOKENS} tokens per request"
        raise bad_request(message, code="max_tokens_per_request", kind="max_tokens_per_request")
    return texts


def _checked_dimensions(wanted: Any, model: Model) -> int:
    if wanted is None:
        return model.dimensions
    if not model.may_shorten:
        raise bad_request("This model does not support specifying dimensions.", "dimensions")
    if not (isinstance(wanted, int) and 1 <= wanted <= model.dimensions):
        raise bad_request(f"Invalid value for 'dimensions': must be 1 to {model.dimensions}.", "dimensions")
    return wanted
