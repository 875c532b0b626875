"""Ollama's own API (https://github.com/ollama/ollama/blob/main/docs/api.md). Pulls a missing model first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import httpx2

from websearch_gateway.embedders.remote import (
    TIMEOUT_SECONDS,
    bearer,
    decode,
    failure,
    in_batches,
    prefix,
    tokens_billed,
)
from websearch_gateway.errors import NO_MODEL, SearchProviderError, SearchProviderParseError
from websearch_gateway.models import Bill, Call, Deadline, HttpRequest
from websearch_gateway.net.client import Reply, send
from websearch_gateway.net.errors import mapped_errors
from websearch_gateway.net.retry import Retry
from websearch_gateway.net.span_attributes import noting_model
from websearch_gateway.ports import Progress, no_progress

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

# 270 MB (nomic-embed-text) take ten minutes on a slow connection; the progress is a few thousand short lines.
PULL_SECONDS = 600.0
MOST_PROGRESS_BYTES = 10_000_000


@dataclass(slots=True)
class OllamaEmbedder:
    """`POST {url}/embed`, where `url` ends in `/api`. `dimensions` is 0 until the first reply."""

    url: str
    client: httpx2.AsyncClient = field(repr=False)
    retry: Retry = field(repr=False)
    model: str = "nomic-embed-text"
    key: str | None = field(default=None, repr=False)
    timeout_seconds: float = TIMEOUT_SECONDS
    progress: Progress = field(default=no_progress, repr=False)
    dimensions: int = field(default=0, init=False)
    weight: float = field(default=1.0, init=False)

    @property
    def name(self) -> str:
        """The kind of server and the model. Vectors with different names cannot be compared."""
        return f"ollama/{self.model}"

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """Unit vectors of the texts; `timeout_seconds` limits each batch of 32 including its retry, but not a pull.

        Raises:
            Unavailable: the server cannot be reached, refuses, cannot pull the model or answers with something else.
        """
        bill = call.bill if call else Bill()
        with noting_model("ollama", self.model, "embeddings"):
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
        body = {"model": self.model, "input": texts, "truncate": True}
        request = HttpRequest("POST", f"{self.url}/embed", headers=bearer(self.key), json=body)
        reply = await self._exchange(request)
        if reply.status == 404:
            await self._pull()
            reply = await self._exchange(request)
        answer = decode(reply, self.name)
        bill.count(tokens_billed(answer.get("prompt_eval_count"), texts) if isinstance(answer, dict) else None)
        try:
            return list(answer["embeddings"])
        except (LookupError, TypeError):
            raise SearchProviderParseError(f"The reply of {self.name} holds no embeddings.") from None

    async def _exchange(self, request: HttpRequest) -> Reply:
        """A reply that a retry would not change."""
        deadline = Deadline.after(self.timeout_seconds)

        async def exchange() -> Reply:
            reply = await send(self.client, request, deadline, self.name)
            if (error := failure(reply.status, self.name)) and error.retryable:
                raise error
            return reply

        return await self.retry(exchange, deadline)

    async def _pull(self) -> None:
        """Have the server download the model, and report each whole percent."""
        last_step, done = "", False
        request = self.client.stream(
            "POST",
            f"{self.url}/pull",
            json={"model": self.model, "stream": True},
            headers={"Accept-Encoding": "identity", **bearer(self.key)},
        )
        with mapped_errors(self.name):
            async with asyncio.timeout(PULL_SECONDS), request as response:
                if error := failure(response.status_code, self.name):
                    raise error
                async with aclosing(self._lines(response)) as lines:
                    async for line in lines:
                        step = self._step(line)
                        done = done or step == "success"
                        if step != last_step:
                            await self.progress(f"{self.model}: {step}")
                            last_step = step
        if not done:
            raise SearchProviderError(f"{self.name} stopped downloading its model before the end.")

    async def _lines(self, response: httpx2.Response) -> AsyncGenerator[bytes]:
        rest, read = b"", 0
        async for piece in response.aiter_bytes():
            read += len(piece)
            if read > MOST_PROGRESS_BYTES:
                raise SearchProviderError(f"{self.name} sends endless progress reports on its download.")
            *lines, rest = (rest + piece).split(b"\n")
            for line in filter(None, lines):
                yield line
        if rest:
            yield rest

    def _step(self, line: bytes) -> str:
        """One line of progress in a few words. Ollama reports a failed download inside a stream with status 200."""
        try:
            report: Any = json.loads(line)
            if "error" in report:
                gone = any(words in str(report["error"]) for words in ("does not exist", "not found"))
                message = f"{self.name} cannot download its model; check EMBEDDING_MODEL_NAME."
                raise SearchProviderError(message, details={"reason": NO_MODEL} if gone else {})
            if report.get("total"):
                return f"pulling {100 * int(report.get('completed') or 0) // int(report['total'])}%"
            return str(report["status"])
        except (AttributeError, LookupError, TypeError, ValueError):
            raise SearchProviderParseError(f"{self.name} reports on its download in an unknown format.") from None
