"""The interfaces between the pipeline and its adapters. A composite has the interface of its parts, so they nest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

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
    StateEntry,
    StateUsage,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """One unit vector, or zero vector, per row: shape (texts, dimensions)."""

T = TypeVar("T")

Progress = Callable[[str], Awaitable[None]]
"""Told in a few words what the gateway does now. Must not raise."""


async def no_progress(_: str) -> None:
    """The Progress of callers who do not listen."""


class Searcher(Protocol):
    """Anything that turns a query into hits: one vendor, a chain of them, a cache or a breaker around one."""

    @property
    def name(self) -> str: ...

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        """Search.

        Raises:
            Refused: nobody else should be asked.
            Unavailable: this one cannot serve now.
            Exhausted: a composite has tried all of its parts.
        """
        ...


class Layer(Protocol):
    """Something around a call, whatever it calls: a retry, a breaker, a pace, a stopwatch. Layers nest."""

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`, made when and if this layer lets it through.

        Raises:
            SearchError: what `call` raises, or the layer instead of it.
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
        """The environment's name of the setting that holds the key; None for a vendor that has no keys."""
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
        """The request for page `page` (2 is the second) given the previous reply's body; None when there is none.

        Called only after a full page, so a vendor that does not tell whether there is more need not look.
        """
        ...

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """The typed meaning of a reply that this vendor words in its own way; None leaves it to the common rules."""
        ...

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """What `request` really did with freshness and region."""
        ...


class AnswerEngine(Protocol):
    """Something that searches and writes a cited answer in one call."""

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
    """An answer engine behind somebody's API.

    `most_usd` is the most that an answer may cost, `likely_usd` what it costs as a rule.
    """

    @property
    def most_usd(self) -> float: ...
    @property
    def likely_usd(self) -> float: ...

    async def warm_up(self) -> None:
        """Load what the first answer would wait for."""
        ...

    async def check(self, deadline: Deadline) -> Sequence[str]:
        """Ask whether the key and the models work. Returns what an operator should know soon, such as a shutdown date.

        Raises:
            SearchError: it does not work; the message says why.
        """
        ...


class Composer(Protocol):
    """Writes an answer out of hits and the pages that could be read. Pure; every sentence it writes is cited."""

    def __call__(self, query: SearchQuery, hits: Sequence[Hit], pages: Mapping[str, Page]) -> Answer:
        """Compose. `pages` maps a hit's URL to its page; hits whose page is missing have only their snippet."""
        ...


class Gather(Protocol):
    """Finds and reads what an answer can be written from."""

    async def __call__(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Gathered:
        """Search, and read the best pages.

        Raises:
            Refused: a key is wrong, or no provider is configured.
            Exhausted: every provider failed.
        """
        ...


class Workers(Protocol):
    """Processes for work whose size a stranger chooses. They can be killed, and they know no secrets."""

    async def warm(self) -> None:
        """Start a process if there is none. It prepares itself while the caller goes on."""
        ...

    async def run(
        self,
        function: Callable[..., object],
        *arguments: object,
        deadline: Deadline,
        size: int | None = None,
        heavy: bool = False,
    ) -> Any:
        """What `function(*arguments)` returns as JSON has it: a dataclass is a dict of its fields, a tuple a list.

        The function must be importable by its name. Cancelling kills the process that runs it.

        Args:
            size: how many characters of a stranger's text there are. For very few no process is asked.
            heavy: it may take seconds however small the arguments are, as for a PDF.

        Raises:
            SearchTimeoutError: the deadline passed, or the call took too long.
            Unavailable: the function raised it.
            SearchFetchError: the function failed, or took its process down.
        """
        ...


class Reader(Protocol):
    """Turns a URL into a Page."""

    @property
    def name(self) -> str: ...

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """Fetch and read. `known` is the page as it was read before: it comes back, itself, when it has not changed.

        Raises:
            ForbiddenUrlError: the address guard said no.
            SearchFetchError: not there, too large, not a readable type.
            SearchTimeoutError: out of time.
        """
        ...


@runtime_checkable
class State(Protocol):
    """Five verbs on which everything shared is built. Keys are `kind/rest`; values are bytes; times are seconds.

    Expired entries are never returned, whatever the backend's own clean-up does.
    """

    async def get(self, key: str) -> bytes | None:
        """The value, or None when absent or expired."""
        ...

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """Store or replace; forever without `ttl`."""
        ...

    async def delete(self, key: str) -> bool:
        """Remove; True when there was something live to remove."""
        ...

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        """Add to an integer atomically and return the new value.

        An absent or expired counter starts at zero, and only then is `ttl` applied: later additions do not extend it.
        Counters and values live apart: `get` of a counter returns its decimal digits.
        """
        ...

    def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes]]:
        """All live entries whose key starts with `prefix`, in key order."""
        ...

    def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        """What `scan` yields, with what a copy needs; only keys behind `after`. For who moves a state elsewhere."""
        ...

    async def close(self) -> None:
        """Release files, sockets and threads. Idempotent."""
        ...


@runtime_checkable
class BoundedState(Protocol):
    """A State that can keep itself below a size."""

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        """Delete the least recently used values before the state passes `most_bytes`.

        Only values whose keys begin with one of `evictable` are deleted, and counters never. A single one of these
        that takes more than a tenth of the limit is not stored.
        """
        ...

    async def usage(self) -> StateUsage:
        """Its size.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Whose vectors these are: those of another name cannot be compared with them."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 while a model behind an address has not answered yet."""
        ...

    @property
    def weight(self) -> float:
        """What a ranking by its vectors counts in a fusion where the ranking by words counts 1."""
        ...

    async def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """One row per text, in order. A text that means nothing to the embedder, such as "", has the zero vector.

        Raises:
            Unavailable: rank by words alone and say so; no failure of an embedder stops a search.
        """
        ...

    def knows(self, text: str) -> bool:
        """Whether the vector of this text says anything: False when it is in a script that the model does not know."""
        ...
