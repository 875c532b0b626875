"""The interfaces of the documentation index.

A crawl writes to the `DocsStore`, a search reads from the `ChunkIndex`. A backend may implement both; one contract
suite runs over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from websearch_gateway.docs_index.models import (
    Booking,
    Chunk,
    CrawlOptions,
    HostState,
    Owner,
    PageDraft,
    PageFacts,
    ScoredChunk,
    SiteVersion,
    StoredPage,
    SymbolMatch,
    TextQuery,
    UrlFailure,
    UrlState,
    UrlTask,
    VersionStatus,
)

if TYPE_CHECKING:
    from pathlib import Path

    from websearch_gateway.docs_index.models import BrowserUse, Document
    from websearch_gateway.models import Deadline
    from websearch_gateway.net.fetch import Fetched, Sending
    from websearch_gateway.ports import Vectors


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


class ChunkIndex(Protocol):
    """Searches the committed chunks of given versions. An empty `versions` finds nothing."""

    async def search_text(self, query: TextQuery, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """The chunks that contain the phrases, best first. Words match by their stems, without regard to case.

        The fields are the page's title, the heading path, the parts of compound names, code, and the text; they
        weigh 8, 6, 2, 2 and 1.
        """
        ...

    async def search_vectors(self, vector: Vectors, versions: Sequence[int], limit: int) -> list[ScoredChunk]:
        """The chunks nearest to a unit vector of shape (1, dimensions), by cosine, best first.

        Empty if there are no vectors of those dimensions.
        """
        ...

    async def find_symbols(self, names: Sequence[str], versions: Sequence[int], limit: int) -> list[SymbolMatch]:
        """Definitions of these names: exact ones first, then those whose last part (`timeout`) or whole name match
        without regard to case."""
        ...

    async def chunks(self, ids: Sequence[int]) -> list[Chunk]:
        """The chunks with these ids, in the order of `ids`. Missing ones are left out."""
        ...

    async def page_facts(self, page_ids: Sequence[int]) -> Mapping[int, PageFacts]:
        """The title, path and size of each page. Missing ones are left out."""
        ...

    async def count_words(self, words: Sequence[str]) -> Mapping[str, int]:
        """How many chunks hold each word in some form, up to a limit. Words that none holds are left out."""
        ...

    async def page_chunks(self, page_id: int, start: int = 0, stop: int | None = None) -> list[Chunk]:
        """The chunks of a page whose ordinals are in `start` <= ordinal < `stop`, in order; to the end without it."""
        ...

    async def find_section(self, section_id: str) -> Chunk | None:
        """The chunk that has this `section_id`; the newest, if several versions share it."""
        ...

    async def find_page(self, url: str, versions: Sequence[int]) -> int | None:
        """The id of the page that has this address or alias. A fragment is ignored."""
        ...

    async def find_anchor(self, page_id: int, anchor: str) -> int | None:
        """The ordinal of the chunk in which the page defines a symbol with this anchor."""
        ...

    async def close(self) -> None:
        """Release files, sockets and threads. Idempotent."""
        ...


class DocsStore(Protocol):
    """Sites, versions, and the frontier of a crawl. When a method returns, its changes survive a kill."""

    async def add_version(self, name: str, label: str, url: str, options: CrawlOptions) -> SiteVersion:
        """Create a `queued` version. An existing one takes the new URL and options, and keeps its pages."""
        ...

    async def versions(self) -> list[SiteVersion]:
        """Every version of every site, by name and label."""
        ...

    async def version(self, version_id: int) -> SiteVersion | None:
        """One version; None if it was deleted."""
        ...

    async def delete_version(self, version_id: int) -> None:
        """Remove a version with everything that no other version uses."""
        ...

    async def claim(self, version_id: int, owner: Owner, seconds: float) -> bool:
        """Take or renew the right to crawl a version for `seconds`. False if a living owner has it.

        An owner process on the same machine loses it as soon as it ends. If it died at the same address as the owner
        before it, the version is `failed`, with the address in its reason, and this returns False too.
        """
        ...

    async def note_reading(self, version_id: int, url: str) -> None:
        """Note the list of pages that the owner reads now, which may be what it dies of; "" at the end of the lists."""
        ...

    async def release(self, version_id: int, owner: Owner) -> None:
        """Give up that right. The owner's leased addresses become due, and a `crawling` version becomes `queued`."""
        ...

    async def set_status(
        self, version_id: int, status: VersionStatus, reason: str = "", *, refresh_at: float | None = None
    ) -> None:
        """Set the status of a version. `completed` stores the time."""
        ...

    async def start_generation(self, version_id: int) -> int:
        """Start a refresh: every known address becomes due. Returns the new generation."""
        ...

    async def finish_generation(self, version_id: int) -> bool:
        """Remove the pages that were missing in this generation and in the one before: 404, 410, or no longer linked.

        Pages that became an alias or are skipped are removed at once. Returns False, and removes nothing, if more than
        20 pages and more than a tenth of all pages would be removed.
        """
        ...

    async def add_urls(self, version_id: int, urls: Mapping[str, int]) -> int:
        """Put addresses (each with its depth) into the frontier, or note that they were seen again in this generation.

        Returns how many are new.
        """
        ...

    async def known_urls(self, version_id: int) -> list[str]:
        """Every address of the frontier, done or not, in the order in which they were found."""
        ...

    async def lease_urls(self, version_id: int, count: int, now: float) -> list[UrlTask]:
        """Take up to `count` addresses that are due at `now`, the oldest first.

        An address at which the last owner may have died comes alone and before all others.
        """
        ...

    async def next_due(self, version_id: int) -> float | None:
        """When the next address is due; None if nothing is left to fetch."""
        ...

    async def commit_page(self, task: UrlTask, page: PageDraft, vectors: Vectors | None, links: Sequence[str]) -> None:
        """Write a page in one transaction: its body, chunks, text index, vectors, symbols, new links, and the state
        of its address. Replaces the page at the address; chunks with unchanged text stay.

        `vectors` has one row per chunk; None if the embedder is unavailable.
        """
        ...

    async def known_vectors(self, task: UrlTask) -> Mapping[str, Vectors]:
        """The vectors, by section id, of the page at this address, to reuse for unchanged sections."""
        ...

    async def find_body(self, task: UrlTask, body_hash: str) -> str | None:
        """The address of another page of the version that has this body."""
        ...

    async def finish_url(
        self,
        task: UrlTask,
        state: UrlState,
        reason: str = "",
        *,
        due: float | None = None,
        links: Sequence[str] = (),
        alias_of: str | None = None,
    ) -> None:
        """Store the outcome of a fetch that gave no new page, in one transaction.

        `done` is an unchanged page, `due` a retry (at the time `due`). `gone` and `alias` keep the page until
        `finish_generation`.
        """
        ...

    async def name_linked_pages(self, version_id: int) -> None:
        """Define names on the pages that most links with these texts lead to."""
        ...

    async def failures(self, version_id: int, limit: int = 100) -> list[UrlFailure]:
        """The addresses that failed, with reasons, in the order of the addresses."""
        ...

    async def host(self, host: str) -> HostState:
        """The stored data of a host."""
        ...

    async def put_robots(self, host: str, robots: str | None) -> None:
        """Store the text of its robots.txt, or None if nothing is allowed."""
        ...

    async def reserve(self, host: str, seconds: float) -> Booking:
        """Book a host for one request, for `seconds` from now, unless it is booked or paused.

        All processes that share the store share the bookings.
        """
        ...

    async def rebook(self, host: str, booking: Booking, until: float) -> Booking:
        """Move the end of a booking of our own to `until`, and return the new booking.

        Returns the old one unchanged if the host has been paused, or booked by another request, in the meantime.
        """
        ...

    async def pause_host(self, host: str, until: float, reason: str) -> None:
        """Block all requests to a host before `until`."""
        ...

    async def pages_after(self, version_id: int, page_id: int, count: int) -> list[tuple[int, StoredPage]]:
        """Up to `count` pages with ids above `page_id`, by id, for copying a version."""
        ...

    async def put_pages(self, version_id: int, pages: Sequence[StoredPage]) -> None:
        """Write pages that `pages_after` returned, from any version or store, in one transaction."""
        ...

    async def unembedded(self, version_id: int, limit: int) -> list[tuple[int, list[Chunk]]]:
        """Pages without vectors of the current embedder: ids, each with its chunks."""
        ...

    async def put_vectors(self, page_id: int, vectors: Vectors) -> None:
        """Add the vectors of a page, one row per chunk. Does nothing if the page is gone."""
        ...

    async def close(self) -> None:
        """Release files, sockets and threads. Idempotent."""
        ...
