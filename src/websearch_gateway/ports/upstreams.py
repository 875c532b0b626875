"""The interfaces of searchers, providers and answer engines, and of the layers around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from websearch_gateway.errors import SearchError
from websearch_gateway.models import (
    Answer,
    AppliedFilters,
    Capabilities,
    Deadline,
    Gathered,
    Hit,
    HttpRequest,
    Page,
    SearchQuery,
    SearchResults,
)

T = TypeVar("T")


Progress = Callable[[str], Awaitable[None]]
"""Receives a short description of what the gateway is doing. Must not raise."""


async def no_progress(_: str) -> None:
    """The Progress for a caller who needs no reports."""


class Searcher(Protocol):
    """Anything that turns a query into hits: one vendor, a chain of them, a cache or a breaker around one."""

    @property
    def name(self) -> str: ...

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        """Search.

        Raises:
            Refused: do not try another searcher.
            Unavailable: this one cannot serve now.
            Exhausted: a composite has tried all of its parts.
        """
        ...


class Layer(Protocol):
    """Wraps any call: a retry, a circuit breaker, a rate limiter, a timer. Layers nest."""

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """Run `call()`, if and when this layer allows it, and return its result.

        Raises:
            SearchError: raised by `call`, or by the layer instead.
        """
        ...


class Provider(Protocol):
    """A raw search vendor as pure functions; `net.searcher.HttpSearcher` runs any of them."""

    @property
    def name(self) -> str: ...
    @property
    def capabilities(self) -> Capabilities: ...
    @property
    def key_setting(self) -> str | None:
        """The environment variable that holds the key; None for a vendor without keys."""
        ...

    def request(self, query: SearchQuery) -> HttpRequest:
        """The HTTP request for the first page of results."""
        ...

    def parse(self, body: bytes) -> list[Hit]:
        """The hits of a successful reply.

        Raises:
            SearchProviderParseError: the reply is not what the vendor documents.
            Unavailable: the reply is a refusal in disguise, such as a bot page with status 2xx.
        """
        ...

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The request for page `page` (2 is the second) given the previous reply's body; None if there is no such page.

        Called only after a full page, so a vendor that does not report whether there is more always returns a request.
        """
        ...

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """The error for a reply with a vendor-specific meaning; None leaves it to the common rules."""
        ...

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """How `request` actually applies freshness, region and domains."""
        ...


class AnswerEngine(Protocol):
    """Searches and writes a cited answer in one call."""

    @property
    def name(self) -> str: ...

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Answer with citations.

        Raises:
            Refused: the request or the key is wrong.
            Unavailable: fall back.
        """
        ...


class HostedEngine(AnswerEngine, Protocol):
    """An answer engine behind a vendor's API.

    `most_usd` is the most that an answer may cost, `likely_usd` the usual cost.
    """

    @property
    def most_usd(self) -> float: ...
    @property
    def likely_usd(self) -> float: ...

    async def warm_up(self) -> None:
        """Load everything that the first answer needs."""
        ...

    async def check(self, deadline: Deadline) -> Sequence[str]:
        """Check that the key and the models work. Returns warnings for the operator, such as a shutdown date.

        Raises:
            SearchError: the engine does not work; the message says why.
        """
        ...


class Composer(Protocol):
    """Writes an answer from hits and the pages that could be read. Pure; every sentence it writes has a citation."""

    def __call__(self, query: SearchQuery, hits: Sequence[Hit], pages: Mapping[str, Page]) -> Answer:
        """Compose. `pages` maps the URL of a hit to its page; a hit without a page has only its snippet."""
        ...


class Gather(Protocol):
    """Finds and reads the material for an answer."""

    async def __call__(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Gathered:
        """Search, and read the best pages.

        Raises:
            Refused: a key is wrong, or no provider is configured.
            Exhausted: every provider failed.
        """
        ...
