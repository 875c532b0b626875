"""Page readers, one file per kind of source, in the order of READERS.

Importing this package imports none of them: it is also where worker processes begin, and they start twice as fast
without an HTTP stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from websearch_gateway.models import Deadline, Page
    from websearch_gateway.net.fetch import Fetcher
    from websearch_gateway.readers.workers import Workers


class SourceReader(Protocol):
    """A `ports.Reader` of one kind of source."""

    @property
    def name(self) -> str: ...

    def accepts(self, url: str) -> bool:
        """Whether this reader is for `url`, judged by the URL alone."""
        ...

    async def read(self, url: str, deadline: Deadline) -> Page:
        """See `ports.Reader.read`."""
        ...


def _html(fetcher: Fetcher, workers: Workers) -> SourceReader:
    from websearch_gateway.readers.html import HtmlReader

    return HtmlReader(fetcher, workers)


READERS: Sequence[Callable[[Fetcher, Workers], SourceReader]] = (
    _html,  # any page, hence the last
)


class ReaderTable:
    """Reads a URL with the first of its readers that accepts it. A `ports.Reader` itself."""

    name = "readers"

    def __init__(self, readers: Sequence[SourceReader]) -> None:
        self._readers = readers

    @classmethod
    def build(cls, fetcher: Fetcher, workers: Workers) -> ReaderTable:
        """A table of all READERS."""
        return cls([make(fetcher, workers) for make in READERS])

    def reader_for(self, url: str) -> SourceReader:
        """The reader for `url`."""
        return next(reader for reader in self._readers if reader.accepts(url))

    async def read(self, url: str, deadline: Deadline) -> Page:
        """See `ports.Reader.read`."""
        return await self.reader_for(url).read(url, deadline)
