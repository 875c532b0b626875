"""Page readers, one file per kind of source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.fetch import Fetcher
from websearch_gateway.ports import Reader
from websearch_gateway.readers.html import HtmlReader
from websearch_gateway.readers.workers import Workers


class SourceReader(Reader, Protocol):
    """A reader of one kind of source."""

    def accepts(self, url: str) -> bool:
        """Whether this reader is for `url`, judged by the URL alone."""
        ...


READERS: Sequence[Callable[[Fetcher, Workers], SourceReader]] = (
    HtmlReader,  # any page, hence the last
)


class ReaderTable:
    """Reads a URL with the first of its readers that accepts it. A reader itself."""

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
