"""Page readers, in the order of READERS. To add one, follow docs/adding-a-reader.md.

Importing this package imports none of the readers: worker processes import it too, and start twice as fast without
an HTTP stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from websearch_gateway.base import Fetcher, Fetching
    from websearch_gateway.models import Deadline, Page
    from websearch_gateway.pages.formats.html import Renderer
    from websearch_gateway.ports import Workers

READERS: Sequence[str] = (
    "wikipedia.Wikipedia",  # articles in every language
    "github.GitHubIssues",  # and pull requests
    "github.GitHubDiscussions",  # with GITHUB_TOKEN
    "github.GitHubFiles",  # files and READMEs
    "threads.StackExchange",  # questions with their answers
    "threads.HackerNews",
    "arxiv.ArXiv",  # abstract and full text
    "threads.Reddit",  # threads and subreddits, through their feeds
    "youtube.YouTube",  # transcripts, with the extra of this name
)
"""The classes in `sites/`. `HtmlReader`, which reads any page, follows them."""


class SourceReader(Protocol):
    """A `ports.Reader` of one kind of source."""

    @property
    def name(self) -> str: ...

    def accepts(self, url: str) -> bool:
        """Whether this reader handles `url`, judged only by the URL."""
        ...

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """See `ports.Reader.read`."""
        ...


class ReaderTable:
    """A `ports.Reader` that reads a URL with the first of its readers that accepts it."""

    name = "readers"

    def __init__(self, readers: Sequence[SourceReader]) -> None:
        self.readers = readers

    @classmethod
    def build(
        cls,
        fetcher: Fetcher,
        workers: Workers,
        github_token: str = "",
        *,
        pages: Fetching | None = None,
        renderer: Renderer | None = None,
        tells_contact: bool = False,
    ) -> ReaderTable:
        """A table of all READERS.

        Args:
            pages: fetches pages, if they need another fetcher than APIs, such as one that obeys robots.txt.
            renderer: runs the scripts of pages that are empty without them.
            tells_contact: whether the user agent of `fetcher` has a contact URL.
        """
        from websearch_gateway.pages.formats.html import HtmlReader
        from websearch_gateway.pages.sites.api import ApiReader
        from websearch_gateway.pages.sites.wikipedia import ANONYMOUS, WITH_CONTACT

        any_page = HtmlReader(pages or fetcher, workers, renderer)
        pace = WITH_CONTACT if tells_contact else ANONYMOUS
        fields: Mapping[str, Mapping[str, Any]] = {
            "github": {"token": github_token},
            "wikipedia": {"pace": pace},
        }
        readers: list[SourceReader] = []
        for module, name in (row.split(".") for row in READERS):
            source = getattr(import_module(f"websearch_gateway.pages.sites.{module}"), name)
            readers.append(ApiReader(source(**fields.get(module, {})), fetcher, workers, any_page))
        return cls([*readers, any_page])

    def reader_for(self, url: str) -> SourceReader:
        """The reader for `url`."""
        return next(reader for reader in self.readers if reader.accepts(url))

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """See `ports.Reader.read`. The text of every source is sanitised (`rendering.cleaned`)."""
        return await self.reader_for(url).read(url, deadline, known)
