"""The values that the documentation index is made of, all frozen, what a crawl needs of the rest of the
gateway, and which versions a call selects.

A *site* (its name: `python`) has *versions* (their label: `3.12`); a version has pages, and a page has chunks. One
`add` creates a version, a crawl fills it, and a search selects it by its id. Times are seconds since the epoch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, TypeVarTuple

from websearch_gateway.errors import (
    TOO_COSTLY,
    SearchFetchError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import BrowserUse, Deadline

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from websearch_gateway.base import Fetched
    from websearch_gateway.ports import Vectors


VersionStatus = Literal["queued", "crawling", "paused", "completed", "failed", "suspicious"]
"""`queued`: waits for a process that crawls. `paused`: the crawl stopped before its end, and is tried again later.

`failed`: no page could be indexed, or a setting is wrong. `suspicious`: a refresh found too many pages missing, so the
old ones were kept. `reason` of the version says why.
"""

UrlState = Literal["due", "leased", "done", "alias", "skipped", "failed", "gone"]
"""`due`: to be fetched. `alias`: another address of a page. `skipped`: not for the index, such as noindex."""

SymbolKind = Literal["api", "option", "heading", "link"]
"""`api`: defined by an inventory or a `<dt id>`. `option`: a command-line flag. `heading`: code in a heading, or a
prototype. `link`: most links with this text lead to the page."""

IN_WORK = 6
"""The most addresses that a crawl has in work at once, those that it leased first: while two are fetched, others are
read, embedded and written."""

MOST_DEATHS = 2
"""So many owners in a row that died at the same address make a version `failed`."""


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """The options of every crawl of a version.

    `include` and `exclude` are globs over paths; `delay` is the seconds between two requests to one host; `headers`
    are sent to the start URL's origin only and may hold a password, so they have no repr and are never exported.
    `base_url` is the web address under which the files of a folder or archive are cited; it ends with a slash.
    `is_guarded`: it was added by a caller whose crawls may not be redirected to an address that carries data.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_pages: int = 20_000
    delay: float = 0.25
    browser: BrowserUse = "auto"
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    base_url: str = ""
    is_guarded: bool = False


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that crawls a version. `started` distinguishes it from a later process with the same `pid`."""

    machine: str
    pid: int
    started: float


@dataclass(frozen=True, slots=True)
class SiteVersion:
    """One version of one site. `page_count` counts the searchable pages, `known` the addresses that lead to pages.

    `generation` rises by one with each crawl that starts over; `indexed_at` is when one last ended. `reason` explains
    a status other than `completed`, or what a crawl waits for. `unembedded` counts the pages without vectors.
    """

    id: int
    name: str
    label: str
    url: str
    options: CrawlOptions = CrawlOptions()
    status: VersionStatus = "queued"
    reason: str = ""
    generation: int = 0
    page_count: int = 0
    known: int = 0
    failed: int = 0
    unembedded: int = 0
    added_at: float = 0.0
    indexed_at: float | None = None
    refresh_at: float | None = None
    owner: Owner | None = None
    heartbeat: float | None = None

    @property
    def home(self) -> str:
        """The address that readers know: the base of the files of a folder or archive, if it has one, or the URL."""
        return self.options.base_url or self.url


@dataclass(frozen=True, slots=True)
class UrlTask:
    """A frontier address that this process has leased. The validators are from the last good fetch."""

    id: int
    version_id: int
    url: str
    depth: int = 0
    attempts: int = 0
    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    final_url: str | None = None


@dataclass(frozen=True, slots=True)
class UrlFailure:
    """An address that could not be indexed, and why."""

    url: str
    reason: str
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """The addresses that were left out for one reason: how many, and some of them."""

    reason: str
    count: int
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a reply: its text, and its instructions to crawlers.

    `chunks` and `symbols` are those of `markdown`. `links` are the canonical addresses that are in scope, each
    once; `left_out` are the others of its origin, by reason.
    `refresh` is where the page sends its readers at once. `needs_scripts` says that the page is empty until
    its scripts run, `rendered` that a browser ran them after a first read without it.
    """

    title: str
    markdown: str
    chunks: tuple[ChunkDraft, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    links: tuple[str, ...] = ()
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    canonical: str = ""
    refresh: str = ""
    noindex: bool = False
    nofollow: bool = False
    needs_scripts: bool = False
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """The progress of a crawl: pages done in this run, addresses known, failures, and the reason of a wait."""

    done: int
    known: int
    failed: int
    pages_per_second: float
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class HostState:
    """The stored politeness data of a host (`scheme://host:port`).

    `next_at` is when the next request may be sent. `robots` is the text of its robots.txt: "" allows everything, None
    allows nothing (if it could not be fetched) or was never fetched. `robots_at` is the time of the fetch, 0 for never.
    """

    host: str
    robots: str | None = None
    robots_at: float = 0.0
    next_at: float = 0.0
    reason: str = ""


class Booking(NamedTuple):
    """A booking of a host, which gets no other request before `until`.

    `is_ours` is false if the booking belongs to another request, or the host is paused.
    """

    until: float
    is_ours: bool


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it is stored: `before + markdown[start:stop] + after` under its headings.

    `before` and `after` restore the fence or table head of a cut block. `anchor` is the fragment of
    the nearest element above the text that has one. `inner` are the fragments of elements below its first line, each
    with its offset in the chunk's text.
    """

    start: int
    stop: int
    heading_path: tuple[str, ...] = ()
    anchor: str = ""
    before: str = ""
    after: str = ""
    inner: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        """The chunk whose fields a worker sent as JSON, which has no tuples."""
        inner = tuple((offset, name) for offset, name in values["inner"])
        return cls(**{**values, "heading_path": tuple(values["heading_path"]), "inner": inner})


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that a page defines, as written: `asyncio.timeout`, `--no-verify`, `c++`.

    `ordinal` counts the chunks of the page from 0: the definition is in this one.
    """

    name: str
    kind: SymbolKind
    anchor: str = ""
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class PageDraft:
    """A page that was fetched and cut, ready to be committed. `chunks` are in the order of the text.

    `body_hash` is that of the reply's body: a page with the same one has not changed.
    """

    url: str
    title: str
    markdown: str
    chunks: tuple[ChunkDraft, ...]
    symbols: tuple[Symbol, ...] = ()
    etag: str | None = None
    last_modified: str | None = None
    body_hash: str = ""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page with everything that a copy needs. `address` is its requested address; `vectors` has a row per chunk."""

    address: str
    draft: PageDraft
    links: tuple[str, ...]
    fetched_at: float
    vectors: Vectors | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored chunk with the metadata for a result.

    `id` is the store's own number and is never used twice; `section_id` is a hash that stays the same as long as the
    page's address, the headings and the text do. `ordinal` counts the chunks of a page from 0. `path` is the page's
    address relative to the start URL of its version, so that the same page of another version has the same path.
    """

    id: int
    section_id: str
    version_id: int
    page_id: int
    ordinal: int
    url: str
    path: str
    anchor: str
    page_title: str
    heading_path: tuple[str, ...]
    content: str
    fetched_at: float
    inner: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A candidate of a search. Within one search a higher score is better; scores of different kinds do not compare."""

    chunk_id: int
    page_id: int
    version_id: int
    score: float


@dataclass(frozen=True, slots=True)
class SymbolMatch:
    """A definition of a symbol. `exact`: the whole name matches, not just its last part, and in the same case.

    `anchor` is the fragment of the definition itself, "" if it has none.
    """

    name: str
    kind: SymbolKind
    chunk_id: int
    page_id: int
    version_id: int
    exact: bool
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What ranking knows of a page: its title, its path as in `Chunk`, its number of chunks, and its site's name."""

    title: str
    path: str
    chunks: int
    site: str = ""


@dataclass(frozen=True, slots=True)
class TextQuery:
    """Phrases to find: each is one word or several in a row. `any`: one of them is enough; else all must occur."""

    phrases: tuple[str, ...]
    any: bool = False


Ts = TypeVarTuple("Ts")


class Run(Protocol):
    """Runs a function that untrusted data may hang or crash."""

    async def run(
        self,
        function: Callable[[*Ts], object],
        *arguments: *Ts,
        deadline: Deadline,
        seconds: float | None = ...,
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


def values_of(record: DataclassInstance) -> dict[str, Any]:
    """The fields of a record by their names. Unlike `asdict` it copies none of them."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


HEX_DIGITS = 16


def content_of(chunk: ChunkDraft, markdown: str) -> str:
    """The text of a chunk."""
    return f"{chunk.before}{markdown[chunk.start : chunk.stop]}{chunk.after}"


def section_ids(page: PageDraft) -> list[str]:
    """The id of each chunk: a hash of the page's address, the headings and the text, the same at every crawl.

    A number distinguishes later chunks that are equal in all of these.
    """
    seen: dict[str, int] = {}
    ids = []
    for chunk in page.chunks:
        text = "\0".join((page.url, *chunk.heading_path, content_of(chunk, page.markdown)))
        number = seen[text] = seen.get(text, 0) + 1
        numbered = text if number == 1 else f"{text}\0{number}"
        ids.append(sha256(numbered.encode("utf-8", "surrogatepass")).hexdigest()[:HEX_DIGITS])
    return ids


MOST_PATTERN_CHARS = 200
_PIECE = r"(?:[\w .^$|/:@,=&%#~!'\"<>;-]|\\[.^$|*+?(){}\[\]/\\-]|\\[dDwWsSbB]|\[\^?[\w .:/-]+\])"
_WITHOUT_GROUPS = re.compile(rf"(?:{_PIECE}(?:[*+?]\??)?)*")
_REPEATS = re.compile(r"(?<!\\)[*+?]")
MOST_STEPS = 1_000_000
"""The most steps that a pattern may take in this process, some ten milliseconds: the start of a worker takes longer."""

MOST_QUOTED = 100
MOST_NAMED = 20
PATTERN_SECONDS = 2.0
"""The time limit of a pattern over all sites. An honest one takes milliseconds."""

QUEUE_SECONDS = 15.0
"""The most seconds until a worker process has compared a pattern, with the start of the process."""


async def select(
    versions: Sequence[SiteVersion],
    site_id: str | None,
    sites_filter: str | None,
    label: str | None,
    workers: Run,
) -> list[SiteVersion]:
    """The versions that meet every given condition.

    `site_id` is an id or a name; `sites_filter` a regular expression that must match somewhere in the name or the URL,
    without regard to case, or a part of one of them.

    Raises:
        SearchValidationError: no version has that id, name or label, or the pattern is unusable.
        SearchTimeoutError: the workers are too busy to compare a pattern.
    """
    chosen = list(versions)
    if site_id is not None:
        chosen = _known(
            [v for v in chosen if site_id in (str(v.id), v.name)], "siteId", site_id, versions
        )
    if sites_filter is not None:
        matches = await _matching(sites_filter, [(v.name, v.home) for v in chosen], workers)
        chosen = [chosen[place] for place in matches]
    if label is not None:
        chosen = _known([v for v in chosen if v.label == label], "version", label, chosen)
    return chosen


def matching(pattern: str, sites: Sequence[Sequence[str]]) -> list[int] | str:
    """The places of the sites in whose name or URL the pattern matches; a message if it is not an expression.

    A pattern that matches nothing as an expression is looked up as text: an address may contain `?` and brackets.
    Runs in a worker process, because both the compiler and the matcher may take any amount of time and memory.
    """
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
        found = [place for place, texts in enumerate(sites) if any(map(compiled.search, texts))]
    except (re.error, OverflowError, RecursionError) as error:
        return _holding(pattern, sites) or f"sitesFilter is not a regular expression: {error}."
    return found or _holding(pattern, sites)


def _holding(text: str, sites: Sequence[Sequence[str]]) -> list[int]:
    folded = text.lower()
    return [
        place for place, texts in enumerate(sites) if any(folded in name.lower() for name in texts)
    ]


async def _matching(pattern: str, sites: Sequence[Sequence[str]], workers: Run) -> list[int]:
    if len(pattern) > MOST_PATTERN_CHARS:
        raise SearchValidationError(
            f"sitesFilter must have at most {MOST_PATTERN_CHARS} characters."
        )
    if _is_cheap(pattern, sites):
        return _places(matching(pattern, sites))
    deadline = Deadline.after(QUEUE_SECONDS)
    try:
        return _places(
            await workers.run(matching, pattern, sites, deadline=deadline, seconds=PATTERN_SECONDS)
        )
    except (SearchTimeoutError, SearchFetchError) as error:
        if isinstance(error, SearchTimeoutError) and error.details.get("reason") != TOO_COSTLY:
            raise
        raise SearchValidationError(
            "sitesFilter is too costly to match. Use a simpler expression."
        ) from None


def _is_cheap(pattern: str, sites: Sequence[Sequence[str]]) -> bool:
    """Whether a pattern without groups matches in few steps: each repetition tries at most every length of a text."""
    if not _WITHOUT_GROUPS.fullmatch(pattern):
        return False
    repeats = len(_REPEATS.findall(pattern))
    steps: int = sum(len(text) ** (repeats + 1) for texts in sites for text in texts)
    return steps <= MOST_STEPS


def _places(found: list[int] | str) -> list[int]:
    """What `matching` found.

    Raises:
        SearchValidationError: it is a message.
    """
    if isinstance(found, str):
        raise SearchValidationError(
            "".join(character if character.isprintable() else "\ufffd" for character in found)
        )
    return found


def _known(
    found: list[SiteVersion], field: str, value: str, among: Sequence[SiteVersion]
) -> list[SiteVersion]:
    if found:
        return found
    raise SearchValidationError(
        f"No indexed site has the {field} {quoted(value)}. Indexed: {named(among)}."
    )


def quoted(text: str) -> str:
    """A caller's text for an error: cut, and with escapes for what is not printable."""
    return repr(text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}…")


def named(versions: Sequence[SiteVersion]) -> str:
    """Versions for an error: the first ones by id, name and label."""
    some = ", ".join(f"{v.id} ({v.name} {v.label})" for v in versions[:MOST_NAMED]) or "none"
    more = len(versions) - MOST_NAMED
    return f"{some} and {more} more" if more > 0 else some
