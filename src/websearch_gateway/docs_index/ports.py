"""What a crawl needs of the rest of the gateway."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from websearch_gateway.docs_index.models import BrowserUse, Document
    from websearch_gateway.models import Deadline
    from websearch_gateway.net.fetch import Fetched, Sending


class Fetch(Protocol):
    """One request to a web server, as `net.fetch.Fetcher` makes it."""

    async def fetch(
        self,
        url: str,
        deadline: Deadline,
        *,
        accept: str = ...,
        headers: Mapping[str, str] | None = ...,
        max_bytes: int = ...,
        follow: bool = ...,
        sending: Sending | None = ...,
    ) -> Fetched:
        """See `net.fetch.Fetcher.fetch`."""
        ...

    async def download(self, url: str, path: Path, deadline: Deadline, *, max_bytes: int) -> None:
        """See `net.fetch.Fetcher.download`."""
        ...


class Run(Protocol):
    """Runs a function that untrusted data may hang or crash."""

    async def run(
        self, function: Callable[..., object], *arguments: object, deadline: Deadline, seconds: float | None = ...
    ) -> Any:
        """The result of `function(*arguments)`, as JSON values. The function must be importable by its name.

        Args:
            seconds: the time limit of the function itself, without waits for a process.

        Raises:
            SearchTimeoutError: the deadline passed, or (`details.reason` is `too_costly`) the function took too long.
            SearchFetchError: the function failed.
        """
        ...


class ReadDocument(Protocol):
    """Turns a reply into text and instructions to crawlers."""

    async def __call__(
        self,
        fetched: Fetched,
        browser: BrowserUse,
        deadline: Deadline,
        draft: Callable[[Any], Mapping[str, Any]],
        *,
        only_links: bool = ...,
    ) -> Document:
        """Read a reply; with `browser`, after its scripts have run (`auto`: if the page is empty until they run).

        A page with noindex has no text; with `only_links` no page has text, which costs far less. `draft` makes the
        fields of the result where the page is read, see `drafted`.

        Raises:
            SearchFetchError: the type of the reply is not supported, or the reply cannot be read.
            SearchTimeoutError: reading took too long.
        """
        ...
