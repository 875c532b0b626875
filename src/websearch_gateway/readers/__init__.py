"""Page readers, one file per kind of source, in the order of READERS. To add one, follow docs/adding-a-reader.md.

Importing this package imports none of the readers: worker processes import it too, and start twice as fast without
an HTTP stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from websearch_gateway.models import Deadline, Page
    from websearch_gateway.net.fetch import Fetcher, Fetching
    from websearch_gateway.ports import Workers
    from websearch_gateway.readers.formats.html import Renderer
    from websearch_gateway.readers.sites.api_reader import Source


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


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the readers. `pages` reads any page; `tells_contact`: the user agent has a contact URL."""

    fetcher: Fetcher
    workers: Workers
    pages: SourceReader
    github_token: str = field(default="", repr=False)
    tells_contact: bool = False

    def api(self, source: Source) -> SourceReader:
        """The reader of a source."""
        from websearch_gateway.readers.sites.api_reader import ApiReader

        return ApiReader(source, self.fetcher, self.workers, self.pages)


def _wikipedia(parts: Parts) -> SourceReader:
    from websearch_gateway.readers.sites.wikipedia import ANONYMOUS, WITH_CONTACT, Wikipedia

    return parts.api(Wikipedia(pace=WITH_CONTACT if parts.tells_contact else ANONYMOUS))


def _site(source: str, *, needs_token: bool = False) -> Callable[[Parts], SourceReader]:
    """The row of a class in `sites/`; `needs_token`: it has a field for GitHub's token."""

    def make(parts: Parts) -> SourceReader:
        module, _, name = source.partition(".")
        of_class = getattr(import_module(f"websearch_gateway.readers.sites.{module}"), name)
        return parts.api(of_class(token=parts.github_token) if needs_token else of_class())

    return make


READERS: Sequence[Callable[[Parts], SourceReader]] = (
    _wikipedia,  # articles in every language
    _site("github.GitHubIssues", needs_token=True),  # and pull requests
    _site("github.GitHubDiscussions", needs_token=True),  # with GITHUB_TOKEN
    _site("github.GitHubFiles", needs_token=True),  # files and READMEs
    _site("stackexchange.StackExchange"),  # questions with their answers
    _site("hackernews.HackerNews"),  # threads
    _site("arxiv.ArXiv"),  # abstract and full text
    _site("reddit.Reddit"),  # threads and subreddits, through their feeds
    _site("youtube.YouTube"),  # transcripts, with the extra of this name
    lambda parts: parts.pages,  # any page, hence the last
)


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
        from websearch_gateway.readers.formats.html import HtmlReader

        parts = Parts(fetcher, workers, HtmlReader(pages or fetcher, workers, renderer), github_token, tells_contact)
        return cls([make(parts) for make in READERS])

    def reader_for(self, url: str) -> SourceReader:
        """The reader for `url`."""
        return next(reader for reader in self.readers if reader.accepts(url))

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """See `ports.Reader.read`. The text of every source is sanitised (`rendering.cleaned`)."""
        return await self.reader_for(url).read(url, deadline, known)
