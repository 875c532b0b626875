"""The API of the documentation index: sites by name and version, crawls, and the replies of the tools `search_docs`,
`read_docs`, `list_sites` and `docs_status`."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from websearch_gateway.base import estimate_tokens, normalise, with_scheme
from websearch_gateway.docs.crawl.listing import ENDINGS, is_archive
from websearch_gateway.docs.crawl.runner import CrawlRunner, check_source
from websearch_gateway.docs.crawl.scope import canonical, spellings, version_siblings
from websearch_gateway.docs.models import (
    Chunk,
    CrawlOptions,
    SiteVersion,
    Skipped,
    UrlFailure,
    named,
    quoted,
    select,
)
from websearch_gateway.docs.packages import CODE_HOSTS, Ecosystem, Package, Registries, package_of
from websearch_gateway.docs.project import PUBLIC, USER_FILES, Origins, read_project
from websearch_gateway.docs.search import MAX_TOKENS, Ranker, reorder_with
from websearch_gateway.docs.store.docs import SqlDocs, is_dead
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchError,
    SearchFetchError,
    SearchValidationError,
    Unavailable,
)
from websearch_gateway.models import Call, Deadline
from websearch_gateway.ports import Embedder, Reranker
from websearch_gateway.results import (
    DocsDependency,
    DocsFailure,
    DocsOutlineEntry,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSite,
    DocsSites,
    DocsSiteStatus,
    DocsSkipped,
    DocsStatus,
)

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


PROJECT_SECONDS = 30.0
LOOKED_UP_AT_ONCE = 6
"""The most packages of a project that a registry is asked for at once."""
DEFAULT_LABEL = "latest"
MOST_NAME_CHARS = 100
MOST_BASE_CHARS = 300


@dataclass(eq=False)
class DocsLibrary:
    """The documentation index as the entrypoints see it. `is_open` says whether a page may be shown to callers."""

    store: SqlDocs
    runner: CrawlRunner
    registries: Registries
    is_open: Callable[[str], bool] = lambda _: True
    _adding: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def add(
        self,
        source: str,
        name: str | None = None,
        label: str | None = None,
        options: CrawlOptions | None = None,
        **changes: Any,
    ) -> SiteVersion:
        """Register a site to crawl. For a registered one, resume its crawl.

        Args:
            options: all options; those of a registered site stay if this is missing.
            changes: single options, by their names in `CrawlOptions`.

        Raises:
            SearchValidationError: the source is not an address, folder or archive, or the name is unusable or has
                pages of another source, or `base_url` is unusable.
            ForbiddenUrlError: the operator does not allow the domain of `base_url`.
        """
        url = source_url(source)
        if "base_url" in changes:
            if url.startswith(("http://", "https://")) and not is_archive(urlsplit(url).path):
                raise SearchValidationError(
                    "A base URL is for a folder or an archive: a website has its own addresses."
                )
            changes["base_url"] = checked_base(changes["base_url"])
            if not self.is_open(changes["base_url"]):
                raise ForbiddenUrlError(
                    "The operator of this gateway does not allow the domain of the base URL."
                )
        name = checked_name(name or _default_name(url), "name")
        label = checked_name(label or DEFAULT_LABEL, "version")
        known = next(
            (v for v in await self.store.versions() if (v.name, v.label) == (name, label)), None
        )
        if known is not None and known.page_count and canonical(url) != canonical(known.url):
            if not await self._begins_at(known, url):  # an address that has moved
                raise SearchValidationError(
                    f"{name} {label} is indexed from {known.url}. Give this site another name or version, or delete "
                    "that one first."
                )
            url = known.url
        # Adding it again does not change whose it is.
        if known is not None and canonical(url) == canonical(known.url):
            changes.pop("is_guarded", None)
        options = replace(options or (known.options if known else CrawlOptions()), **changes)
        if known is not None and known.page_count and options.base_url != known.options.base_url:
            raise SearchValidationError(
                f"{name} {label} is indexed with the addresses of {known.home}. Give these documents another name or "
                "version, or delete that one first."
            )
        version = await self.store.add_version(name, label, url, options)
        if version.status in ("failed", "paused"):
            await self.store.set_status(version.id, "queued")
            return replace(version, status="queued")
        return version

    async def add_package(
        self, package: Package, name: str | None = None, label: str | None = None, **changes: Any
    ) -> tuple[SiteVersion, str]:
        """As `add`, with the site that the package's registry names. It is called as the package and its version.

        A site that is indexed already, under any name, is not added again: the result is that version. The second value
        says so, or that the site has no pages of the version; "" if there is nothing to say.

        Raises what `Registries.find` and `add` raise.

        Raises:
            SearchValidationError: headers are given, which would go to a host that a stranger chose.
        """
        if changes.get("headers"):
            raise SearchValidationError(
                "Headers are not sent to the host that a package names. Add the site by its address, with the headers: "
                "websearch-gateway docs add URL NAME VERSION --header ..."
            )
        found = await self.registries.find(package)
        url, note = found.url, ""
        if package.version and not found.include:
            url = await self.runner.at_version(found.url, found.version) or found.url
            if url == found.url and version_siblings(url, found.version)[:1] != [url]:
                note = f"No address for {found.version} was found beside {url}: its pages may be of another version."
        async with self._adding:
            if (known := await self._same_site(url, found.version)) is not None:
                site = await self.add(known.url, known.name, known.label, **changes)
                is_own = (known.name, known.label) == (name or package.name, label or found.version)
                return (
                    site,
                    note
                    if is_own
                    else f"{package} is indexed already, as {site.name} {site.label}.",
                )
            name = name or await self._free_name(package, url)
            if found.include:
                changes.setdefault("include", found.include)
            added = await self.add(url, name, label or found.version, **changes)
            alike = [
                version
                for version in await self.store.versions()
                if _place(version.url) == _place(url)
            ]
            first = min(alike, key=lambda version: version.id)
            if first.id != added.id and not added.page_count:  # another process was faster
                await self.store.delete_version(added.id)
                added = first
            return added, note

    async def at_version_of(self, package: Package, folder: str) -> Package:
        """A package at the version that the project in a folder uses; unchanged if that is not known.

        Raises:
            SearchValidationError: the folder is not that of a project, a file of it cannot be used, or it takes the
                package, or may take it, from an index that is not public.
            SearchTimeoutError: the files take too long to read.
        """
        project = await self._project(folder)
        if reason := project["origins"][package.ecosystem].withheld(package.name):
            raise SearchValidationError(
                f"{package.name}: {reason} To ask it all the same, leave out --project."
            )
        version = package.version or project["versions"][package.ecosystem].get(package.name, "")
        return package_of(package.ecosystem, package.name, version)

    async def dependencies(self, folder: str) -> list[DocsDependency]:
        """The direct dependencies of the project in a folder, with their documentation.

        Raises what `at_version_of` raises.
        """
        project = await self._project(folder)
        turns = asyncio.Semaphore(LOOKED_UP_AT_ONCE)

        async def look(package: Package) -> DocsDependency:
            if reason := project["origins"][package.ecosystem].withheld(package.name):
                return _dependency(package, problem=reason)
            async with turns:
                return await self.documented(package)

        return list(await asyncio.gather(*(look(package_of(*one)) for one in project["direct"])))

    async def _project(self, folder: str) -> dict[str, Any]:
        own: Mapping[Ecosystem, str] = {"pypi": self.registries.pypi, "npm": self.registries.npm}
        public: Mapping[str, Sequence[str]] = {
            ecosystem: (*PUBLIC[ecosystem], urlsplit(url).netloc) for ecosystem, url in own.items()
        }
        home = str(await asyncio.to_thread(Path.home))
        files = [name.replace("~", home, 1) for name in USER_FILES]
        try:
            read: dict[str, Any] = await self.runner.workers.run(
                read_project,
                folder,
                public,
                self.registries.variables,
                files,
                deadline=Deadline.after(PROJECT_SECONDS),
            )
        except SearchFetchError as error:
            raise SearchValidationError(
                "The files of the project take too much time or memory to read."
            ) from error
        if read["problem"]:
            raise SearchValidationError(read["problem"])
        return {**read, "origins": {name: Origins(**one) for name, one in read["origins"].items()}}

    async def documented(self, package: Package) -> DocsDependency:
        """Where the documentation of a package is, and whether it is indexed. Errors are its `problem`."""
        try:
            found = await self.registries.find(package)
        except SearchError as error:
            return _dependency(package, problem=error.message)
        names = (package.name, f"{package.ecosystem}:{package.name}")
        alike = [
            version
            for version in await self.store.versions()
            if _site_of(version.url) == _site_of(found.url)
        ]
        own = (
            version for version in alike if version.name in names and version.label == found.version
        )
        known = next(own, None) or await self._same_site(found.url, found.version)
        if known is None or known.status == "failed":
            return _dependency(package, found.url)
        places = [
            url
            for url in (known.url, found.url)
            if version_siblings(url, found.version)[:1] == [url]
        ]
        is_of_version = known.label == found.version or bool(places)
        is_known = is_of_version or not package.version
        return _dependency(package, found.url, f"{known.name} {known.label}" if is_known else "")

    async def _same_site(self, url: str, label: str) -> SiteVersion | None:
        """The version that begins at an address, or did before the site moved; else one with the same pages: either the
        address is one of its pages, or one of the two is the folder of a version below the other."""
        near = [
            version
            for version in await self.store.versions()
            if _host_of(version.url) == _host_of(url)
        ]
        for version in near:
            if await self._begins_at(version, url):
                return version
        for version in near:
            is_beside = _is_below(version.url, url, label) or _is_below(
                url, version.url, version.label
            )
            if is_beside or await self.store.find_page(canonical(url), [version.id]) is not None:
                return version
        return None

    async def _begins_at(self, version: SiteVersion, url: str) -> bool:
        """Whether an address is the start of a version, leads to it, or is where it leads."""
        if _place(version.url) == _place(url):
            return True
        here, start = [
            await self.store.led_to(version.id, canonical(place)) for place in (url, version.url)
        ]
        return not set(here).isdisjoint(start)

    async def _free_name(self, package: Package, url: str) -> str:
        """The name of a package; with its registry if another website or repository is called so."""
        named = [version for version in await self.store.versions() if version.name == package.name]
        is_free = all(_site_of(version.url) == _site_of(url) for version in named)
        return package.name if is_free else f"{package.ecosystem}:{package.name}"

    async def discard_refused(self, version: SiteVersion) -> None:
        """Remove a version whose crawl failed before it had a page, so that a refused `add` leaves nothing behind."""
        now = await self.store.version(version.id)
        if now is not None and now.status == "failed" and not now.page_count:
            await self.store.delete_version(version.id)

    async def requeue(self, version: SiteVersion) -> None:
        """Mark a version as pending for a crawling process; a completed one gets a refresh.

        Raises:
            SearchValidationError: the version cannot be crawled.
        """
        check_source(version)
        if version.status in ("completed", "suspicious"):
            await self.store.start_generation(version.id)
        await self.store.set_status(version.id, "queued")

    async def shown(self) -> list[SiteVersion]:
        """The versions, of every status, of sites that the operator allows."""
        return [version for version in await self.store.versions() if self.is_open(version.home)]

    async def find(
        self, site: str, label: str | None = None, *, blocked_too: bool = False
    ) -> list[SiteVersion]:
        """The versions that match a name, an address or an id.

        Args:
            blocked_too: also those of sites that the operator does not allow, which the operator may delete.

        Raises:
            SearchValidationError: none matches; the message names those that exist.
        """
        versions = await (self.store.versions() if blocked_too else self.shown())
        place = canonical(site) or "no address"
        named_so = (
            v
            for v in versions
            if site in (v.name, v.url, str(v.id)) or place in map(canonical, (v.url, v.home))
        )
        found = [v for v in named_so if label in (None, v.label)]
        if not found:
            wanted = " ".join(filter(None, (site, label)))
            raise SearchValidationError(
                f"No such site is indexed: {quoted(wanted)}. Known: {named(versions)}."
            )
        return found

    async def find_one(self, site: str, label: str | None = None) -> SiteVersion:
        """The one version that matches.

        Raises:
            SearchValidationError: none or several match; the message names them.
        """
        found = await self.find(site, label)
        if len(found) > 1:
            raise SearchValidationError(
                f"Several versions match: {named(found)}. Name the one that you mean."
            )
        return found[0]

    async def searchable(self) -> list[SiteVersion]:
        """The versions that have pages and may be shown, including those being crawled; see `with_pages`."""
        return [version for version in await self.store.with_pages() if self.is_open(version.home)]

    async def completed(self) -> list[SiteVersion]:
        """The versions that were fully crawled at least once; an update leaves them completed."""
        return [
            version
            for version in await self.shown()
            if version.indexed_at is not None and version.page_count
        ]

    async def close(self) -> None:
        """End crawls in the background, and release files, sockets and threads. Idempotent."""
        await self.runner.close()
        await self.store.close()


def _dependency(
    package: Package, url: str = "", indexed: str = "", problem: str = ""
) -> DocsDependency:
    name = f"{package.ecosystem}:{package.name}"
    return DocsDependency(
        package=name, version=package.version, url=url, indexed=indexed, problem=problem
    )


def source_url(source: str) -> str:
    """A source as an address: a web address as it is, a folder or archive of this machine as `file:`.

    Raises:
        SearchValidationError: the source is neither, or cannot be read.
    """
    if source.startswith(("http://", "https://")):
        if not canonical(source):
            raise SearchValidationError(f"{quoted(source)} is not the address of a page.")
        return source
    try:
        path = Path(source.removeprefix("file://")).expanduser().resolve()
        is_folder = path.is_dir()
        if source.strip() and (is_folder or (path.is_file() and is_archive(path.name))):
            os.close(os.open(path, os.O_RDONLY))
            return f"{path.as_uri()}/" if is_folder else path.as_uri()
    # Also a null character, a loop of links, an unknown `~name`.
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SearchValidationError(f"{quoted(source)} cannot be read: {reason}.") from None
    raise SearchValidationError(
        f"{quoted(source)} is neither an address that begins with https:// nor a folder or archive "
        f"({', '.join(ENDINGS)})."
    )


def checked_base(text: str) -> str:
    """A base URL in its canonical form, with a slash at its end.

    Raises:
        SearchValidationError: it is no web address, or has a login, a query or a fragment.
    """
    parts, base = urlsplit(canonical(text)), canonical(text).rstrip("/")
    if (
        parts.scheme not in ("http", "https")
        or len(base) > MOST_BASE_CHARS
        or set(text) & {"?", "#"}
    ):
        raise SearchValidationError(
            "The base URL must be the web address of the documents, such as https://docs.example.org/3.12/, without a "
            "login, a query and a fragment."
        )
    return f"{base}/"


def _host_of(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


def _default_name(url: str) -> str:
    """The host of a site, or the name of its folder or archive."""
    return _host_of(url) or urlsplit(url).path.rstrip("/").rpartition("/")[2] or "site"


def _site_of(url: str) -> str:
    """The host of an address; on a host of code also the owner and the repository."""
    host, segments = _host_of(url), urlsplit(url).path.strip("/").lower().split("/")
    return "/".join((host, *segments[:2])) if host in CODE_HOSTS else host


def _place(url: str) -> str:
    """An address without what differs between two spellings of one place."""
    return canonical(url).partition("://")[2].removeprefix("www.").rstrip("/")


def _is_below(url: str, above: str, label: str) -> bool:
    """Whether an address is the folder of a version below another."""
    return _place(url) in [f"{_place(above)}/{name}" for name in spellings(label)]


def checked_name(text: str, field: str) -> str:
    """The name or version of a site without needless blanks.

    Raises:
        SearchValidationError: it is empty, too long, or not printable.
    """
    text = " ".join(text.split())
    if not text or len(text) > MOST_NAME_CHARS or not text.isprintable():
        raise SearchValidationError(
            f"The {field} of a site must have 1 to {MOST_NAME_CHARS} characters."
        )
    return text


MOST_QUERY_CHARS = 1_000
MOST_SECTIONS = 50
MOST_SEARCH_TOKENS = 50_000
RERANK_SECONDS = 10.0
"""The deadline of a search that has none of its own, as far as the reranker is concerned."""


async def search_docs(
    library: DocsLibrary,
    embedder: Embedder,
    query: str,
    *,
    site_id: str | None = None,
    sites_filter: str | None = None,
    label: str | None = None,
    max_results: int = 10,
    max_tokens: int = MAX_TOKENS,
    reranker: Reranker | None = None,
    call: Call | None = None,
) -> DocsSearchResponse:
    """Find the sections that answer a query, best first, with text within `max_tokens`.

    Raises:
        SearchValidationError: a value is out of range, or no indexed site has that id, name or label.
    """
    text = normalise(query) if len(query) <= 10 * MOST_QUERY_CHARS else query
    if not 1 <= len(text) <= MOST_QUERY_CHARS:
        raise SearchValidationError(f"query must have 1 to {MOST_QUERY_CHARS} characters.")
    if not (1 <= max_results <= MOST_SECTIONS and 100 <= max_tokens <= MOST_SEARCH_TOKENS):
        raise SearchValidationError(
            f"maxResults must be 1 to {MOST_SECTIONS}, maxTokens 100 to {MOST_SEARCH_TOKENS}."
        )
    indexed = await library.searchable()
    versions = await select(indexed, site_id, sites_filter, label, library.runner.workers)
    if not versions:
        warning = f"No site matches. Indexed: {named(indexed)}." if indexed else NO_SITE
        return DocsSearchResponse(warnings=(warning,))
    ranker = Ranker(library.store, library.is_open)
    asked, instead = await ranker.understood(text, versions)
    faults: list[str] = []
    reorder = (
        reorder_with(reranker, call or Call.after(RERANK_SECONDS), faults) if reranker else None
    )
    vector, warnings = await _vector(embedder, asked.text, call)
    hits, more = await ranker.search(
        asked, vector, versions, limit=max_results, max_tokens=max_tokens, reorder=reorder
    )
    guessed = tuple(
        f"No page has {word!r}: searched for {near!r}." for word, near in instead.items()
    )
    return DocsSearchResponse(
        results=tuple(hits), more=tuple(more), warnings=(*guessed, *warnings, *faults)
    )


async def _vector(
    embedder: Embedder, text: str, call: Call | None
) -> tuple[Vectors | None, tuple[str, ...]]:
    try:
        async with asyncio.timeout(call.remaining() / 2 if call else None):
            return await embedder.embed([text], "query", call), ()
    except Unavailable as error:
        fault = error.message
    except TimeoutError:
        fault = "the embedder did not answer in time."
    return None, (f"Searched by words alone: {fault}",)


MOST_AROUND = 20
MOST_PAGE_TOKENS = 100_000
CUT = "[Cut: the rest of this section needs more maxTokens.]"

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)


async def read_docs(
    library: DocsLibrary,
    *,
    section_id: str | None = None,
    url: str | None = None,
    label: str | None = None,
    around: int = 0,
    max_tokens: int = 4_000,
    outline: bool = False,
) -> DocsReadResponse:
    """Read a section by its id, or a page by its address (from its anchor, if it has one), up to `max_tokens`.

    The `around` sections after it come before those in front of it. With `outline` the page's sections are
    listed, without their text.

    Raises:
        SearchValidationError: neither or both of `section_id` and `url` are given, no indexed section or page has it,
            or a number is out of range.
        ForbiddenUrlError: the operator does not allow the page's domain.
    """
    if (section_id is None) == (url is None):
        raise SearchValidationError("Give either sectionId or url.")
    if not (0 <= around <= MOST_AROUND and 100 <= max_tokens <= MOST_PAGE_TOKENS):
        raise SearchValidationError(
            f"around must be 0 to {MOST_AROUND}, maxTokens 100 to {MOST_PAGE_TOKENS}."
        )
    versions = await select(await library.searchable(), None, None, label, library.runner.workers)
    chunk = await _chunk(library, section_id, url, versions)
    _check_open(library, chunk.url)
    page = await library.store.page_chunks(chunk.page_id)
    version = next(v for v in versions if v.id == chunk.version_id)
    response = DocsReadResponse(
        url=chunk.url,
        page_title=chunk.page_title,
        site_name=version.name,
        site_version=version.label,
        section_id=chunk.section_id,
        fetched_at=iso_date(chunk.fetched_at) or "",
    )
    if outline:
        return response.model_copy(update={"outline": tuple(map(_entry, page))})
    after = [
        chunk,
        *page[chunk.ordinal + 1 : chunk.ordinal + around + 1 if section_id is not None else None],
    ]
    before = page[max(0, chunk.ordinal - around) : chunk.ordinal]
    fitting = sorted(_fitting([*after, *before[::-1]], max_tokens), key=lambda one: one.ordinal)
    end = (fitting[-1] if fitting else chunk).ordinal + 1
    fields = {
        "content": "\n\n".join(one.content for one in fitting) or _cut(chunk, max_tokens),
        "next_section_id": page[end].section_id if end < len(page) else None,
        "truncated": not fitting,
    }
    return response.model_copy(update=fields)


def _entry(chunk: Chunk) -> DocsOutlineEntry:
    return DocsOutlineEntry(
        section_id=chunk.section_id,
        heading_path=chunk.heading_path,
        url=chunk.url,
        tokens=estimate_tokens(chunk.content),
    )


def _check_open(library: DocsLibrary, url: str) -> None:
    if not library.is_open(url):
        raise ForbiddenUrlError("The operator of this gateway does not allow this page's domain.")


async def _chunk(
    library: DocsLibrary, section_id: str | None, url: str | None, versions: Sequence[SiteVersion]
) -> Chunk:
    if section_id is not None:
        chunk = await library.store.find_section(section_id)
        if chunk is None or chunk.version_id not in {v.id for v in versions}:
            raise SearchValidationError(
                "No section has this id: the page may have changed. Search again."
            )
        return chunk
    try:
        # `urldefrag` turns `imported:///` into `imported:/`.
        address, _, anchor = (url or "").partition("#")
        wanted = unquote(anchor)
        urlsplit(address)
        if b"\0" in f"{address}{wanted}".encode():  # PostgreSQL stores none
            raise ValueError
    except ValueError:
        raise SearchValidationError("url is not the address of a page.") from None
    _check_open(library, address)
    ids = [v.id for v in versions]
    page: list[Chunk] = []
    for spelling in dict.fromkeys(
        (address, canonical(address), canonical(with_scheme(address) or ""))
    ):
        if not page and (page_id := await library.store.find_page(spelling, ids)) is not None:
            page = await library.store.page_chunks(page_id)
    if not page:
        raise SearchValidationError(
            "No page with this address is indexed. `list_sites` lists the indexed sites."
        )
    ordinal = await library.store.find_anchor(page[0].page_id, wanted) if anchor else None
    named = (
        chunk
        for chunk in page
        if anchor and wanted in (unquote(chunk.anchor), *(unquote(one) for _, one in chunk.inner))
    )
    chunk = page[ordinal] if ordinal is not None else next(named, page[0])
    start = next((offset for offset, name in chunk.inner if unquote(name) == wanted), 0)
    if not start or chunk.content.startswith("|", start):  # a row needs the head of its table
        return chunk
    return replace(
        chunk, content=chunk.content[start:], url=f"{chunk.url.partition('#')[0]}#{anchor}"
    )


def _fitting(chunks: Sequence[Chunk], max_tokens: int) -> Sequence[Chunk]:
    """The first chunks that fit."""
    for count, chunk in enumerate(chunks):
        max_tokens -= estimate_tokens(chunk.content)
        if max_tokens < 0:
            return chunks[:count]
    return chunks


def _cut(chunk: Chunk, max_tokens: int) -> str:
    """The beginning of a section. A block of code that is cut ends with its fence."""
    text, room = chunk.content, max_tokens - estimate_tokens(CUT)
    while (tokens := estimate_tokens(text)) > room:
        text = text[: len(text) * room // tokens - 1]
    cut = max(text.rfind("\n"), text.rfind(". ") + 1)
    text = text[: cut if cut > 0 else None].rstrip()
    fences = _FENCE.findall(text)
    return f"{text}\n{fences[-1] if len(fences) % 2 else ''}\n{CUT}"


def iso_date(seconds: float | None) -> str | None:
    """A time as ISO 8601, UTC; None without a time, or for one beyond the calendar."""
    try:
        return (
            None
            if seconds is None
            else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
        )
    except (OverflowError, ValueError, OSError):
        return None


NO_SITE = "No site is indexed. Add one: websearch-gateway docs add URL NAME VERSION"
MOST_REASONS = 3
"""The most reasons of addresses that were left out in a list of sites."""
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


async def listed(library: DocsLibrary, versions: Sequence[SiteVersion]) -> DocsSites:
    """The result of `list_sites`."""
    skipped = await library.store.skipped([version.id for version in versions])
    return DocsSites(
        sites=tuple(DocsSite(**_facts(version, skipped[version.id])) for version in versions)
    )


async def statuses(
    library: DocsLibrary, versions: Sequence[SiteVersion], message: str = ""
) -> DocsStatus:
    """The result of `docs_status`: the versions, with the addresses that failed or were left out, and why."""
    skipped = await library.store.skipped([version.id for version in versions])
    failures = {one.id: await library.store.failures(one.id) for one in versions if one.failed}
    sites = (_status(one, failures.get(one.id, ()), skipped[one.id]) for one in versions)
    return DocsStatus(sites=tuple(sites), message=message)


def _status(
    version: SiteVersion, failures: Sequence[UrlFailure], skipped: Sequence[Skipped]
) -> DocsSiteStatus:
    owner, reason = version.owner, version.reason
    if owner is not None and is_dead(owner):
        command = f"websearch-gateway docs update {shlex.join((version.name, version.label))}"
        reason = (
            f"The process that crawled it has ended. What it fetched is kept; go on with: {command}"
        )
        owner = None
    return DocsSiteStatus(
        **_facts(version, skipped),
        reason=reason,
        progress=round(min(1.0, version.page_count / version.known), 3) if version.known else 0.0,
        # Pages that a refresh has not found yet are kept.
        known=max(version.known, version.page_count),
        failed=version.failed,
        unembedded=version.unembedded,
        generation=version.generation,
        refresh_date=iso_date(version.refresh_at),
        owner=f"{owner.machine}:{owner.pid}" if owner else None,
        heartbeat_seconds=round(time.time() - version.heartbeat, 1)
        if owner and version.heartbeat
        else None,
        failures=tuple(
            DocsFailure(url=f.url, reason=f.reason, attempts=f.attempts) for f in failures
        ),
        skipped=tuple(
            DocsSkipped(reason=one.reason, count=one.count, urls=one.urls) for one in skipped
        ),
    )


def _facts(version: SiteVersion, skipped: Sequence[Skipped]) -> dict[str, object]:
    age = ""
    if version.indexed_at is not None:
        seconds = max(0.0, time.time() - version.indexed_at)
        length, unit = next(
            ((length, unit) for length, unit in _UNITS if seconds >= length), (1, "second")
        )
        age = f"{(count := int(seconds // length))} {unit}{'' if count == 1 else 's'}"
    return {
        "id": str(version.id),
        "name": version.name,
        "version": version.label,
        "url": version.home,
        "status": version.status,
        "indexed_date": iso_date(version.indexed_at),
        "page_count": version.page_count,
        "age": age,
        "left_out": "; ".join(f"{one.count:,} {one.reason}" for one in skipped[:MOST_REASONS]),
    }
