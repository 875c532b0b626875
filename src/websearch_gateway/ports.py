"""The interfaces between the pipeline and its adapters.

A composite has the interface of its parts, so they nest. A change here changes every adapter and its contract suite.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Protocol,
    TypeVar,
    TypeVarTuple,
    runtime_checkable,
)

from websearch_gateway.errors import QUOTA, QUOTA_PAUSE_SECONDS, SearchError, SearchProviderError
from websearch_gateway.models import (
    Answer,
    AppliedFilters,
    Call,
    Capabilities,
    Deadline,
    DocsAddRequest,
    DocsReadRequest,
    DocsSearchRequest,
    DocsSiteRequest,
    DocsStatusRequest,
    Exhibit,
    Gathered,
    Hit,
    HttpRequest,
    Judged,
    Page,
    Progress,
    SearchQuery,
    SearchResults,
    StateEntry,
    StateProblem,
    StateUsage,
)

Ts = TypeVarTuple("Ts")
T_co = TypeVar("T_co", covariant=True)


class Upstream(Protocol[T_co]):
    """Anything that serves a call: one vendor, several in a row, or one of these inside its layers."""

    @property
    def name(self) -> str: ...

    async def ask(self, call: Call) -> T_co:
        """The answer to the call's query. Its cost is on the call's bill, however it ends.

        Raises:
            Refused: the request or a key is wrong; do not try another upstream.
            Unavailable: this one cannot serve now.
            Exhausted: several in a row have all failed.
        """
        ...


Searcher = Upstream[SearchResults]
"""Turns a query into hits."""

AnswerEngine = Upstream[Answer]
"""Searches and writes a cited answer."""


class Layer(Protocol):
    """Surrounds the calls of an upstream: a burst gate, a circuit breaker, a rate limiter, a budget, a stopwatch."""

    def __call__(self, call: Call, /) -> AbstractAsyncContextManager[None]:
        """The block in which `call` asks the upstream. It begins when the layer allows the call.

        Raises:
            SearchError: the layer does not allow it.
        """
        ...


def no_layer(_: Call) -> AbstractAsyncContextManager[None]:
    """The Layer that allows everything and notes nothing."""
    return nullcontext()


def quota_spent(message: str) -> SearchProviderError:
    """The error of an account whose quota or credit is spent."""
    return SearchProviderError(message, retry_after=QUOTA_PAUSE_SECONDS, details={"reason": QUOTA})


class Provider:
    """A raw search vendor as pure functions; `net.client.HttpSearcher` runs any of them.

    Attributes:
        spent: statuses that say that the account's quota or credit is spent, each with the message.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    spent: ClassVar[Mapping[int, str]] = {}

    @property
    def key_setting(self) -> str | None:
        """The environment variable that holds the key; None for a vendor without keys."""
        return None

    def request(self, query: SearchQuery) -> HttpRequest:
        """The HTTP request for the first page of results."""
        raise NotImplementedError

    def parse(self, body: bytes) -> list[Hit]:
        """The hits of a successful reply.

        Raises:
            SearchProviderParseError: the reply is not what the vendor documents.
            Unavailable: the reply is a refusal in disguise, such as a bot page with status 2xx.
        """
        raise NotImplementedError

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The request for page `page` (2 is the second) given the previous reply's body; None if there is no such page.

        Called only after a full page, so a vendor that does not report whether there is more always returns a request.
        """
        return None

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """The error for a reply with a vendor-specific meaning; None leaves it to the common rules."""
        return quota_spent(self.spent[status]) if status in self.spent else None

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """How `request` actually applies the filters of the query."""
        return AppliedFilters()


class HostedEngine(Upstream[Answer], Protocol):
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


Composer = Callable[[SearchQuery, Sequence[Hit], Mapping[str, Page], Sequence[int]], Answer]
"""Writes an answer from hits and the pages that could be read, by the URL of the hit; a hit without a page has only its
snippet. Pure; every sentence it writes has a citation. The numbers are those of a `Shortlist` in a better order."""

Shortlist = Callable[[SearchQuery, Sequence[Hit], Mapping[str, Page]], Sequence[tuple[int, str]]]
"""The number and text of each sentence that a composer would choose from, best first, at most MOST_RERANKED. Pure."""

Gather = Callable[[Call], Awaitable[Gathered]]
"""Finds and reads the material for an answer. Raises what a Searcher raises."""


class Workers(Protocol):
    """Processes for work whose size an outsider chooses. They can be killed, and they hold no secrets."""

    async def warm(self) -> None:
        """Start a process if there is none. It warms up while the caller continues."""
        ...

    async def run(
        self,
        function: Callable[[*Ts], object],
        *arguments: *Ts,
        deadline: Deadline,
        size: int | None = None,
        heavy: bool = False,
        seconds: float | None = None,
    ) -> Any:
        """Run `function(*arguments)` and return its result as JSON: a dataclass becomes a dict, a tuple a list.

        The function must be importable by its name. Cancelling kills the process that runs it.

        Args:
            size: the number of characters of untrusted text. Very small jobs run without a process.
            heavy: the call may take seconds even for small arguments, as for a PDF.
            seconds: the time limit of the call itself, without waits for a process; a shorter one than usual.

        Raises:
            SearchTimeoutError: the deadline passed, or (`details.reason` is `too_costly`) the call took too long.
            Unavailable: the function raised it.
            SearchFetchError: the function failed, or took its process down.
        """
        ...


class Reader(Protocol):
    """Turns a URL into a Page."""

    @property
    def name(self) -> str: ...

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """Fetch and read. `known` is the page from an earlier read; it is returned itself if the page has not changed.

        Raises:
            ForbiddenUrlError: the address policy forbids the URL.
            SearchFetchError: the page is missing, too large or of an unreadable type.
            SearchTimeoutError: the deadline passed.
        """
        ...


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # Workers load this module, and need no wire models.
    from websearch_gateway.results import (
        DocsReadResponse,
        DocsSearchResponse,
        DocsSites,
        DocsStatus,
    )

    Vectors = NDArray[np.float32]
    """One unit vector, or zero vector, per row: shape (texts, dimensions)."""


MOST_RERANKED = 30
"""The most texts that a reranker compares."""


NOT_RERANKED = "Without the reranker: "
"""Begins the warning of a call whose reranker failed."""


class Reranker(Protocol):
    """Knows better than words and vectors which text answers a query, since it reads both together."""

    @property
    def name(self) -> str:
        """Its model and address: another one may give another order."""
        ...

    async def order(self, query: str, texts: Sequence[str], call: Call) -> tuple[list[int], str]:
        """The places of all texts, of which the first MOST_RERANKED are compared, best first; and an empty text.

        If it fails, the places as they were, and why. Never raises a `SearchError`. Its cost is on the bill of `call`.
        """
        ...


class ClaimReader(Protocol):
    """A model that reads: it says whether sentences of pages support a claim."""

    @property
    def name(self) -> str:
        """Its model: another one may judge otherwise."""
        ...

    async def judge(self, exhibits: Sequence[Exhibit], call: Call) -> Judged:
        """A judgement for each exhibit. What it costs is on the call's bill.

        Raises:
            SearchError: the model was not asked, or wrote nothing that can be read in time.
        """
        ...


EMBEDDED_AT_ONCE = 32
"""The most texts in one request to a server of embeddings."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """The name of the model. Vectors with different names cannot be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 until a remote model has answered."""
        ...

    @property
    def weight(self) -> float:
        """The weight of the ranking by vectors in a fusion, where the ranking by words has weight 1."""
        ...

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """One row per text, in order. A text that the embedder does not understand, such as "", gets the zero vector.

        `call` pays; without one the local user does.

        Raises:
            Unavailable: the embedder failed. The caller then ranks by words alone and says so, and does not fail.
        """
        ...

    def knows(self, text: str) -> bool:
        """Whether the vector of this text is meaningful: False if the model does not know its script."""
        ...


@runtime_checkable
class State(Protocol):
    """Five verbs for all shared state. Times are seconds.

    Keys are `kind/rest`, at most 500 characters of ASCII. Values are bytes; a backend may leave out one of more than
    900,000 (once compressed).

    Backends inherit from it. They never return expired entries, even if the backend has not deleted them yet.

    `problem` says why a state goes on in memory; None while its backend is in use. `outages` counts how often it did.
    `opened` is False until a backend behind a network has answered: its first verb also waits for its library and for
    the connection.
    """

    problem: StateProblem | None = None
    outages: int = 0
    opened: bool = True

    async def get(self, key: str) -> bytes | None:
        """The value; None if absent or expired."""
        ...

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """Store or replace a value; without `ttl` it never expires."""
        ...

    async def delete(self, key: str) -> bool:
        """Delete an entry; True if there was a live one."""
        ...

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        """Add to an integer atomically and return the new value.

        An absent or expired counter starts at zero, and only then does `ttl` apply: later additions do not extend it.
        `get` of a counter returns its decimal digits.
        """
        ...

    async def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes]]:
        """All live entries whose key starts with `prefix`, in key order."""
        async for entry in self.entries(prefix):
            yield entry.key, entry.value

    def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        """As `scan`, with all data that a copy needs, and only keys after `after`. For migration to another backend."""
        ...

    def limit(self, most_bytes: int, evictable: Sequence[str]) -> None:
        """Delete the least recently used values before the state exceeds `most_bytes`. Servers have no limit.

        Deletes only values whose keys begin with one of `evictable`, and no counters. Does not store such a value if it
        takes more than a tenth of the limit.
        """

    async def usage(self) -> StateUsage | None:
        """The size of a state that has a limit.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        return None

    async def close(self) -> None:
        """Release files, sockets and threads. Idempotent."""
        ...


class IndexedSite(Protocol):
    """One version of one site of the documentation index."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def url(self) -> str: ...


class DocsIndex(Protocol):
    """The documentation index. Its calls have been checked: numbers are within their limits, texts are clean."""

    async def search(self, request: DocsSearchRequest, call: Call) -> DocsSearchResponse:
        """The sections that answer a query, best first.

        Raises:
            SearchValidationError: no indexed site is meant.
        """
        ...

    async def read(self, request: DocsReadRequest) -> DocsReadResponse:
        """A section, a page from an address on, or the outline of a page.

        Raises:
            SearchValidationError: no indexed section is meant.
            ForbiddenUrlError: the operator does not allow the page's domain.
        """
        ...

    async def sites(self, *, every: bool) -> DocsSites:
        """The sites that were indexed whole, or every one."""
        ...

    async def status(self, request: DocsStatusRequest) -> DocsStatus:
        """How far crawls are, and what failed.

        Raises:
            SearchValidationError: no site is meant.
        """
        ...

    async def find_one(self, site: str, label: str | None = None) -> IndexedSite:
        """The one version that is meant.

        Raises:
            SearchValidationError: there is none, or there are several.
        """
        ...

    def registry_address(self, source: str) -> str | None:
        """The address that says where the documentation of a package is; None for a source that is no package."""
        ...

    async def register(
        self, request: DocsAddRequest, *, is_guarded: bool
    ) -> tuple[IndexedSite, str]:
        """Note a site to crawl; the text says what people must know of it.

        Raises:
            SearchError: the source or an option is unusable.
        """
        ...

    async def crawl(
        self, site: IndexedSite, seconds: float, progress: Progress, call: Deadline
    ) -> DocsStatus:
        """Crawl a site, in the background after so many seconds. `call` checks redirects.

        Raises:
            SearchError: the crawl failed.
        """
        ...

    async def discard_refused(self, site: IndexedSite) -> None:
        """Remove a site whose crawl failed before it had a page."""
        ...

    async def delete(self, request: DocsSiteRequest) -> DocsStatus:
        """Remove the one version that is meant. Raises what `find_one` raises."""
        ...
