"""The parts that remote embedders share: batches, task prefixes, unit length and the meaning of an HTTP status.

All failures are `Unavailable`, even a rejected key: the caller then ranks by words alone and says so. The `details` say
which of them time alone does not cure: `status` is the HTTP status, and `reason` is `NO_MODEL` if the model is missing.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from websearch_gateway.errors import NO_MODEL, SearchProviderError, SearchProviderParseError, Unavailable
from websearch_gateway.net.client import Reply
from websearch_gateway.net.retry import parse_retry_after

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

_log = logging.getLogger(__name__)

_MESSAGE_BYTES = 10_000
_MARKS = 8  # tokens that a model may put around each text

BATCH = 32
TIMEOUT_SECONDS = 20.0
_MISSING_MODEL = re.compile(rb"model\b.{0,300}?(?:not found|does not exist|not exist)", re.IGNORECASE | re.DOTALL)
_CHECK_KEY = "; check EMBEDDING_SERVER_API_KEY"
_HINTS = {401: _CHECK_KEY, 403: _CHECK_KEY, 404: "; check EMBEDDING_SERVER_URL and EMBEDDING_MODEL_NAME"}
# nomic-embed-text was trained with a word for the task before every text (https://docs.nomic.ai/embeddings).
_NOMIC = {"query": "search_query: ", "document": "search_document: "}


def prefix(model: str, kind: Literal["query", "document"]) -> str:
    """The prefix that a model expects before a text."""
    return _NOMIC[kind] if "nomic-embed-text" in model else ""


def bearer(key: str | None) -> dict[str, str]:
    """The header that carries the key; empty without a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


async def in_batches(
    texts: Sequence[str], dimensions: int, ask: Callable[[list[str]], Awaitable[Sequence[Sequence[float]]]]
) -> Vectors:
    """Unit vectors of the texts, requested in batches, in order. Blank texts are not sent and get zero vectors.

    `dimensions` is the width of the result if no text is sent.

    Raises:
        SearchProviderParseError: `ask` returned a different number of vectors than texts, or malformed vectors.
    """
    import numpy as np

    sent = [i for i, text in enumerate(texts) if text.strip()]
    found: list[Sequence[float]] = []
    for start in range(0, len(sent), BATCH):
        batch = [texts[i] for i in sent[start : start + BATCH]]
        _log.debug("embedding batch: %d texts", len(batch))
        found += await ask(batch)
    if not sent:
        return np.zeros((len(texts), dimensions), np.float32)
    try:
        rows = np.array(found, dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if rows.ndim != 2 or len(rows) != len(sent) or not rows.size or not np.isfinite(lengths).all():
            raise ValueError
    except (TypeError, ValueError):
        raise SearchProviderParseError("The embedding server did not return one finite vector per text.") from None
    vectors = np.zeros((len(texts), rows.shape[1]), np.float32)
    vectors[sent] = rows / np.maximum(lengths, np.finfo(np.float32).tiny)
    return vectors


def tokens_billed(count: Any, texts: Sequence[str]) -> int | None:
    """The count that a server reports; None if it reports none, or one that is impossible for these texts."""
    if type(count) is not int or count <= 0:
        return None
    if count > sum(len(text.encode("utf-8", "replace")) + _MARKS for text in texts):
        _log.warning("The embedding server counts more tokens than its texts can have; an estimate is booked.")
        return None
    return count


def decode(reply: Reply, name: str) -> Any:
    """The JSON of a successful reply.

    Raises:
        SearchProviderError: any other status. 5xx is retryable; 429 is not, since the server asks for fewer requests.
        SearchProviderParseError: not JSON.
    """
    if error := failure(reply.status, name, parse_retry_after(reply.headers, time.time()), reply.body):
        raise error
    try:
        return json.loads(reply.body)
    except ValueError:
        raise SearchProviderParseError(f"The reply of {name} is not JSON.") from None


def failure(status: int, name: str, retry_after: float | None = None, body: bytes = b"") -> Unavailable | None:
    """The error for a status; None for success. The server's own message is left out: it may quote a text."""
    if 200 <= status < 300:
        return None
    details: dict[str, Any] = {"status": status}
    hint = _HINTS.get(status, "")
    if _MISSING_MODEL.search(body[:_MESSAGE_BYTES]):
        details["reason"] = NO_MODEL
        hint = ": it does not have the model; check EMBEDDING_MODEL_NAME"
    message = f"{name} answered with HTTP {status}{hint}."
    return SearchProviderError(message, retry_after=retry_after, retryable=status >= 500, details=details)
