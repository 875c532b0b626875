"""A Reader with a time limit per page, which retries once if the site fails."""

from __future__ import annotations

from dataclasses import dataclass, field

from websearch_gateway.errors import SearchTimeoutError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.retry import Retry
from websearch_gateway.ports import Reader

_EDGE_SECONDS = 0.05  # timers are not exact


@dataclass(frozen=True, slots=True)
class BoundedReader:
    """`reader`, with at most `seconds` for a page, including a second attempt.

    `retry` decides on the second attempt. It has its own budget, so failing sites do not use up that of the upstreams.
    """

    reader: Reader
    seconds: float
    retry: Retry = field(default_factory=Retry, repr=False)

    @property
    def name(self) -> str:
        """The reader's name."""
        return self.reader.name

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """See `ports.Reader.read`. The error for a page that used up `seconds` names the setting."""
        own = deadline.within(self.seconds)
        try:
            return await self.retry(lambda: self.reader.read(url, own, known), own)
        except SearchTimeoutError as error:
            if own.remaining() > _EDGE_SECONDS or deadline.remaining() <= _EDGE_SECONDS:
                raise
            message = f"The page took more than {self.seconds:g} s. REQUEST_TIMEOUT_MS allows more."
            raise SearchTimeoutError(message) from error
