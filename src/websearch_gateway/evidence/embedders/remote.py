"""Servers of models: embeddings (OpenAI-compatible, Ollama), and rerankers, which say how well each of some texts
answers a query (`POST .../rerank`).

Embedders share batches, task prefixes, unit length and the meaning of an HTTP status. All their failures are
`Unavailable`, even a rejected key: the caller then ranks by words alone and says so. The `details` say which of them
time alone does not cure: `status` is the HTTP status, and `reason` is `NO_MODEL` if the model is missing.

Of rerankers, Infinity, llama.cpp, vLLM, Jina and Cohere take `documents` and answer with `results`, Voyage with `data`.
TEI (Hugging Face) takes `texts`, refuses a request without them (422) and answers with a bare list.
"""

from __future__ import annotations

import base64
import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import httpx2

from websearch_gateway.base import Reply, Retry, billed, noting_model, send, unavailable
from websearch_gateway.errors import (
    NO_MODEL,
    SearchProviderError,
    SearchProviderParseError,
    Unavailable,
)
from websearch_gateway.foreign_json import parse_json, reading_reply
from websearch_gateway.models import Call, Deadline, HttpRequest
from websearch_gateway.ports import EMBEDDED_AT_ONCE, MOST_RERANKED, Layer, no_layer

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

_log = logging.getLogger(__name__)

_MESSAGE_BYTES = 10_000

MOST_DIMENSIONS = 16_384
"""The longest vector; of the models in use none has more than 8,192 numbers."""

TIMEOUT_SECONDS = 20.0
_MISSING_MODEL = re.compile(
    rb"model\b.{0,300}?(?:not found|does not exist|not exist)", re.IGNORECASE | re.DOTALL
)
_CHECK_KEY = "; check EMBEDDING_SERVER_API_KEY"
_HINTS = {
    401: _CHECK_KEY,
    403: _CHECK_KEY,
    404: "; check EMBEDDING_SERVER_URL and EMBEDDING_MODEL_NAME",
}
_NO_MODEL_HINT = ": it does not have the model; check EMBEDDING_MODEL_NAME"
# nomic-embed-text was trained with a word for the task before every text (https://docs.nomic.ai/embeddings).
_NOMIC = {"query": "search_query: ", "document": "search_document: "}


def bearer(key: str | None) -> dict[str, str]:
    """The header that carries the key; empty without a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def decode(reply: Reply, name: str) -> Any:
    """The JSON of a successful reply.

    Raises:
        SearchProviderError: any other status.
        SearchProviderParseError: not JSON.
    """
    if error := failure(reply, name):
        raise error
    with reading_reply(f"The reply of {name} is not JSON."):
        return parse_json(reply.body)


def failure(reply: Reply, name: str) -> SearchProviderError | None:
    """The error for a status; None for success. The server's own message is left out: it may quote a text.

    A rejected key is no more than that the server does not serve: words alone find something, too. And they find it
    sooner than a server that asks for a pause.
    """
    if 200 <= reply.status < 300:
        return None
    is_missing = _MISSING_MODEL.search(reply.body[:_MESSAGE_BYTES])
    hint = _NO_MODEL_HINT if is_missing else _HINTS.get(reply.status, "")
    error = unavailable(reply.status, reply.headers, name, hint)
    if is_missing:
        error.details["reason"] = NO_MODEL
    if reply.status == 429:
        error.retryable = False
    return error


@dataclass(slots=True)
class _Embedder:
    """What the embedders of servers share. `dimensions` is 0 until the first reply."""

    url: str
    client: httpx2.AsyncClient = field(repr=False)
    retry: Retry = field(repr=False)
    model: str = ""
    key: str | None = field(default=None, repr=False)
    timeout_seconds: float = TIMEOUT_SECONDS
    dimensions: int = field(default=0, init=False)
    weight: float = field(default=1.0, init=False)

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """The kind of server and the model. Vectors with different names cannot be compared."""
        return f"{self.kind}/{self.model}"

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """Unit vectors of the texts; `timeout_seconds` limits each batch of 32 including its retry, but not a pull.
        Blank texts are not sent and get zero vectors.

        Raises:
            Unavailable: the server cannot be reached, refuses, cannot pull the model or answers with something else.
        """
        import numpy as np

        before = _NOMIC[kind] if "nomic-embed-text" in self.model else ""
        sent = [place for place, text in enumerate(texts) if text.strip()]
        found: list[Sequence[float]] = []
        with noting_model(self.kind, self.model, "embeddings"):
            for start in range(0, len(sent), EMBEDDED_AT_ONCE):
                batch = [before + texts[place] for place in sent[start : start + EMBEDDED_AT_ONCE]]
                _log.debug("embedding batch: %d texts", len(batch))
                found += await self._ask(batch)
        if not sent:
            return np.zeros((len(texts), self.dimensions), np.float32)
        with reading_reply("The embedding server did not return one finite vector per text."):
            rows = np.array(found, dtype=np.float64)
            with np.errstate(over="ignore"):  # an infinite length is refused below
                lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            if rows.ndim != 2 or len(rows) != len(sent) or not 0 < rows.shape[1] <= MOST_DIMENSIONS:
                raise ValueError
            if not np.isfinite(lengths).all():
                raise ValueError
        if self.dimensions and rows.shape[1] != self.dimensions:
            raise SearchProviderParseError(
                f"The embedding server returned vectors of {rows.shape[1]:,} numbers after those of "
                f"{self.dimensions:,}. Vectors of two models cannot be compared."
            )
        self.dimensions = rows.shape[1]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        vectors[sent] = rows / np.maximum(lengths, np.finfo(np.float32).tiny)
        return vectors

    def knows(self, text: str) -> bool:
        """True: the operator chose the model, so it is assumed to know the scripts in use."""
        return True

    async def _ask(self, texts: list[str]) -> list[Sequence[float]]:
        raise NotImplementedError


@dataclass(slots=True)
class OpenAICompatibleEmbedder(_Embedder):
    """`POST {url}/embeddings`."""

    model: str = "text-embedding-3-small"
    kind: ClassVar[str] = "openai_compatible"

    async def _ask(self, texts: list[str]) -> list[Sequence[float]]:
        request = HttpRequest(
            "POST",
            f"{self.url}/embeddings",
            headers=bearer(self.key),
            json={"model": self.model, "input": texts, "encoding_format": "base64"},
        )
        deadline = Deadline.after(self.timeout_seconds)

        async def exchange() -> Any:
            return decode(await send(self.client, request, deadline, self.name), self.name)

        reply = await self.retry(exchange, deadline)
        return self._vectors(reply)

    def _vectors(self, reply: Any) -> list[Sequence[float]]:
        """The vectors by index. Servers that do not know base64 send lists of numbers."""
        with reading_reply(f"The reply of {self.name} is not a list of embeddings."):
            items = sorted(reply["data"], key=lambda item: int(item["index"]))
            return [_unpacked(item["embedding"]) for item in items]


def _unpacked(embedding: str | list[float]) -> Sequence[float]:
    if not isinstance(embedding, str):
        return embedding
    import numpy as np

    little_endian: list[float] = np.frombuffer(
        base64.b64decode(embedding, validate=True), dtype="<f4"
    ).tolist()
    return little_endian


PULL_SECONDS = 600.0
"""For a download: 270 MB (nomic-embed-text) take ten minutes on a slow connection."""


@dataclass(slots=True)
class OllamaEmbedder(_Embedder):
    """`POST {url}/embed`, where `url` ends in `/api`."""

    model: str = "nomic-embed-text"
    kind: ClassVar[str] = "ollama"

    async def _ask(self, texts: list[str]) -> list[Sequence[float]]:
        body = {"model": self.model, "input": texts, "truncate": True}
        request = HttpRequest("POST", f"{self.url}/embed", headers=bearer(self.key), json=body)
        reply = await self._exchange(request)
        if reply.status == 404:
            await self._pull()
            reply = await self._exchange(request)
        answer = decode(reply, self.name)
        with reading_reply(f"The reply of {self.name} holds no embeddings."):
            return list(answer["embeddings"])

    async def _exchange(self, request: HttpRequest) -> Reply:
        """A reply that a retry would not change."""
        deadline = Deadline.after(self.timeout_seconds)

        async def exchange() -> Reply:
            reply = await send(self.client, request, deadline, self.name)
            error = failure(reply, self.name)
            if error and error.retryable:
                raise error
            return reply

        return await self.retry(exchange, deadline)

    async def _pull(self) -> None:
        """Have the server download the model."""
        body = {"model": self.model, "stream": False}
        request = HttpRequest("POST", f"{self.url}/pull", headers=bearer(self.key), json=body)
        reply = await send(self.client, request, Deadline.after(PULL_SECONDS), self.name)
        report = decode(reply, self.name)
        if not isinstance(report, dict) or report.get("status") != "success":
            message = f"{self.name} cannot download its model; check EMBEDDING_MODEL_NAME."
            raise SearchProviderError(message, details={"reason": NO_MODEL})


LONGEST_TEXT = 2_000
"""The most characters of a text that are sent: most models read 512 tokens."""

RERANK_SECONDS = 5.0
"""The most time for a call, and half of what is left of the deadline at most."""

_RERANKER_HINTS = {
    401: "; check RERANKER_API_KEY",
    403: "; check RERANKER_API_KEY",
    404: "; check RERANKER_URL and RERANKER_MODEL",
}


@dataclass(slots=True)
class HttpReranker:
    """See `ports.Reranker`. `url` is used as it is if it ends in `/rerank`. A request costs `price_usd`."""

    url: str
    client: httpx2.AsyncClient = field(repr=False)
    model: str | None = None
    key: str | None = field(default=None, repr=False)
    guard: Layer = field(default=no_layer, repr=False)
    price_usd: float = 0.0
    _takes_texts: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        return f"{self.model or ''}@{self.url}"

    async def order(self, query: str, texts: Sequence[str], call: Call) -> tuple[list[int], str]:
        every = list(range(len(texts)))
        if len(texts) < 2:
            return every, ""
        sent = [text[:LONGEST_TEXT] for text in texts[:MOST_RERANKED]]
        own = replace(call.within(min(RERANK_SECONDS, call.remaining() / 2)), bill=call.bill.part())
        try:
            async with self.guard(own):
                scores = await self._scores(query, sent, own)
        except Unavailable as error:
            return every, error.message
        return sorted(every, key=lambda place: -scores.get(place, -math.inf)), ""

    async def _scores(self, query: str, texts: Sequence[str], call: Call) -> Mapping[int, float]:
        sends_texts = self._takes_texts  # another call may learn it meanwhile
        try:
            body = await self._ask(query, texts, call)
        except SearchProviderError as error:
            if sends_texts or not error.details.get("wants_texts"):
                raise
            self._takes_texts = True
            body = await self._ask(query, texts, call)
        return parsed(body, len(texts))

    async def _ask(self, query: str, texts: Sequence[str], call: Call) -> bytes:
        url = self.url if self.url.endswith("/rerank") else f"{self.url}/rerank"
        named: dict[str, Any] = {"model": self.model} if self.model else {}
        shape = {"texts": texts, "truncate": True} if self._takes_texts else {"documents": texts}
        request = HttpRequest(
            "POST", url, headers=bearer(self.key), json={**named, "query": query, **shape}
        )
        with billed(call.bill, self.price_usd):
            reply = await send(self.client, request, call, "the reranker")
            if not 200 <= reply.status < 300:  # its own message may quote a text
                hint = _RERANKER_HINTS.get(reply.status, "")
                error = unavailable(reply.status, reply.headers, "The reranker", hint)
                error.details["wants_texts"] = reply.status in (400, 422) and b"texts" in reply.body
                raise error
        return reply.body


def parsed(body: bytes, count: int) -> dict[int, float]:
    """The score of each of `count` texts, by its index; some may be missing.

    Raises:
        SearchProviderParseError: the reply is anything else.
    """
    trouble = "The reply of the reranker is not a list of scores by index."
    scores: dict[int, float] = {}
    with reading_reply(trouble):
        rows = parse_json(body)
        if not isinstance(rows, list):
            rows = rows["results"] if "results" in rows else rows["data"]
        for row in rows:
            index = row["index"]
            if type(index) is not int or not 0 <= index < count:
                raise ValueError
            score = float(row["relevance_score"] if "relevance_score" in row else row["score"])
            if not math.isfinite(score):  # a text such as "inf"
                raise ValueError
            scores[index] = score
    if not scores:
        raise SearchProviderParseError(trouble)
    return scores
