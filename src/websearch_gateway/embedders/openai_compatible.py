"""Any server that speaks OpenAI's embeddings API (https://platform.openai.com/docs/api-reference/embeddings/create)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import httpx2

from websearch_gateway.embedders.remote import TIMEOUT_SECONDS, bearer, decode, in_batches, prefix, tokens_billed
from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.models import Bill, Call, Deadline, HttpRequest
from websearch_gateway.net.client import send
from websearch_gateway.net.retry import Retry
from websearch_gateway.net.span_attributes import noting_model

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


@dataclass(slots=True)
class OpenAICompatibleEmbedder:
    """`POST {url}/embeddings`. `dimensions` is 0 until the first reply."""

    url: str
    client: httpx2.AsyncClient = field(repr=False)
    retry: Retry = field(repr=False)
    model: str = "text-embedding-3-small"
    key: str | None = field(default=None, repr=False)
    timeout_seconds: float = TIMEOUT_SECONDS
    dimensions: int = field(default=0, init=False)
    weight: float = field(default=1.0, init=False)

    @property
    def name(self) -> str:
        """The kind of server and the model. Vectors with different names cannot be compared."""
        return f"openai_compatible/{self.model}"

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """Unit vectors of the texts; `timeout_seconds` limits each batch of 32 including its retry.

        Raises:
            Unavailable: the server cannot be reached, refuses or answers with something else.
        """
        bill = call.bill if call else Bill()
        with noting_model("openai_compatible", self.model, "embeddings"):
            vectors = await in_batches(
                texts, self.dimensions, lambda batch: self._ask(batch, prefix(self.model, kind), bill)
            )
        self.dimensions = vectors.shape[1]
        return vectors

    def knows(self, text: str) -> bool:
        """True: the operator chose the model, so it is assumed to know the scripts in use."""
        return True

    async def _ask(self, batch: list[str], before: str, bill: Bill) -> list[Sequence[float]]:
        texts = [before + text for text in batch]
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
        usage = reply.get("usage") if isinstance(reply, dict) else None
        bill.count(tokens_billed(usage.get("prompt_tokens"), texts) if isinstance(usage, dict) else None)
        return self._vectors(reply)

    def _vectors(self, reply: Any) -> list[Sequence[float]]:
        """The vectors by index. Servers that do not know base64 send lists of numbers."""
        try:
            items = sorted(reply["data"], key=lambda item: int(item["index"]))
            return [_unpacked(item["embedding"]) for item in items]
        except (LookupError, TypeError, ValueError, binascii.Error):
            raise SearchProviderParseError(f"The reply of {self.name} is not a list of embeddings.") from None


def _unpacked(embedding: str | list[float]) -> Sequence[float]:
    if not isinstance(embedding, str):
        return embedding
    import numpy as np

    little_endian: list[float] = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").tolist()
    return little_endian
