"""The layer around page reading: a time limit for each page, a second attempt, a span."""

from __future__ import annotations

from dataclasses import dataclass, field

from opentelemetry.trace import SpanKind

from websearch_gateway.base import Retry, child_span, note_host
from websearch_gateway.errors import SearchTimeoutError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.ports import Reader

_EDGE_SECONDS = 0.05
"""Timers are not exact: a page that ends this shortly before the deadline was ended by it (seconds)."""


@dataclass(frozen=True, slots=True)
class BoundedReader:
    """`reader`, with a span and at most `seconds` for a page, including a second attempt.

    `retry` decides on the second attempt. It has its own budget, so failing sites do not use up that of the upstreams.
    """

    reader: Reader
    seconds: float
    retry: Retry = field(default_factory=Retry, repr=False)

    @property
    def name(self) -> str:
        return self.reader.name

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        own = deadline.within(self.seconds)
        try:
            with child_span("read page", SpanKind.CLIENT):
                note_host(url)
                return await self.retry(lambda: self.reader.read(url, own, known), own)
        except SearchTimeoutError as error:
            if own.remaining() > _EDGE_SECONDS or deadline.remaining() <= _EDGE_SECONDS:
                raise
            message = f"The page took more than {self.seconds:g} s. REQUEST_TIMEOUT_MS allows more."
            raise SearchTimeoutError(message) from error
