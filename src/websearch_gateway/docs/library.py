"""The documentation index as the pipeline and the command line see it: sites by name and version, and their crawls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websearch_gateway.docs.crawl.listing import ENDINGS, is_archive
from websearch_gateway.docs.crawl.runner import CrawlRunner, check_source
from websearch_gateway.docs.crawl.scope import canonical
from websearch_gateway.docs.crawl.versions import spellings, version_siblings
from websearch_gateway.docs.models import (
    CrawlOptions,
    CrawlProgress,
    SiteVersion,
    named,
    quoted,
)
from websearch_gateway.docs.packages import (
    CODE_HOSTS,
    Ecosystem,
    Package,
    Registries,
    package_named,
    package_of,
)
from websearch_gateway.docs.project.origins import PUBLIC, Origins
from websearch_gateway.docs.project.reading import read_project
from websearch_gateway.docs.project.registry_settings import USER_FILES
from websearch_gateway.docs.reading import read_docs
from websearch_gateway.docs.reports import listed, statuses
from websearch_gateway.docs.searching import search_docs
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchError,
    SearchFetchError,
    SearchValidationError,
)
from websearch_gateway.models import (
    Deadline,
    DocsAddRequest,
    DocsSiteRequest,
    DocsStatusRequest,
    Progress,
)
from websearch_gateway.ports import DocsIndex, IndexedSite, Reranker
from websearch_gateway.results import (
    DocsDependency,
    DocsSites,
    DocsStatus,
)

PROJECT_SECONDS = 30.0
LOOKED_UP_AT_ONCE = 6
"""The most packages of a project that a registry is asked for at once."""
DEFAULT_LABEL = "latest"
MOST_NAME_CHARS = 100
MOST_BASE_CHARS = 300


@dataclass(eq=False)
class DocsLibrary(DocsIndex):
    """See `DocsIndex`.

    Attributes:
        is_open: whether a page may be shown to callers.
        reranker: orders what a search has found.
    """

    store: SqlDocs
    runner: CrawlRunner
    registries: Registries
    is_open: Callable[[str], bool] = lambda _: True
    reranker: Reranker | None = None
    _adding: asyncio.Lock = field(default_factory=asyncio.Lock)

    search = search_docs  # methods that stand in modules of their own
    read = read_docs

    async def sites(self, *, every: bool) -> DocsSites:
        """See `DocsIndex`."""
        return await listed(self.store, await (self.shown() if every else self.completed()))

    async def status(self, request: DocsStatusRequest) -> DocsStatus:
        """See `DocsIndex`. The message says why this process crawls nothing now."""
        if request.site:
            versions = await self.find(request.site, request.label)
        else:
            versions = await self.shown()
        return await self.report(versions, self.runner.trouble)

    async def report(self, versions: Sequence[SiteVersion], message: str = "") -> DocsStatus:
        """The status of some versions."""
        return await statuses(self.store, versions, message)

    def registry_address(self, source: str) -> str | None:
        """See `DocsIndex`."""
        package = package_named(source)
        return self.registries.address(package) if package else None

    async def register(
        self, request: DocsAddRequest, *, is_guarded: bool = False
    ) -> tuple[SiteVersion, str]:
        """See `DocsIndex`."""
        options = {
            option.name: getattr(request, option.name, None) for option in fields(CrawlOptions)
        }
        changes = {name: value for name, value in options.items() if value is not None}
        changes["is_guarded"] = is_guarded
        if (package := package_named(request.url)) is not None:
            return await self.add_package(package, request.name, request.label, **changes)
        return await self.add(request.url, request.name, request.label, **changes), ""

    async def crawl(
        self, site: IndexedSite, seconds: float, progress: Progress, call: Deadline
    ) -> DocsStatus:
        """See `DocsIndex`."""
        told, waiting = -1, ""

        async def tell(now: CrawlProgress) -> None:
            nonlocal told, waiting
            waiting = f", waiting: {now.waiting}" if now.waiting else ""
            if now.done != told:
                told = now.done
                await progress(f"{now.done} of {now.known} pages{waiting}")

        version = await self.runner.crawl_for(site.id, seconds, tell, call)
        if version is None:
            return DocsStatus()
        message = ""
        if version.status in ("queued", "crawling"):
            message = (
                f"Still crawling{waiting}. It goes on in the background; docs_status shows how far."
            )
        return await self.report([version], message)

    async def delete(self, request: DocsSiteRequest) -> DocsStatus:
        """See `DocsIndex`."""
        site = await self.find_one(request.site, request.label)
        await self.store.delete_version(site.id)
        return await self.report([site], f"Deleted: {site.name} {site.label}.")

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
        registered = await self._version(name, label)
        if registered and registered.page_count and canonical(url) != canonical(registered.url):
            if not await self._begins_at(registered, url):  # an address that has moved
                raise SearchValidationError(
                    f"{name} {label} is indexed from {registered.url}. Give this site another name or version, or "
                    "delete that one first."
                )
            url = registered.url
        # Adding it again does not change whose it is.
        if registered and canonical(url) == canonical(registered.url):
            changes.pop("is_guarded", None)
        options = options or (registered.options if registered else CrawlOptions())
        options = replace(options, **changes)
        if registered and registered.page_count and options.base_url != registered.options.base_url:
            raise SearchValidationError(
                f"{name} {label} is indexed with the addresses of {registered.home}. Give these documents another name "
                "or version, or delete that one first."
            )
        version = await self.store.add_version(name, label, url, options)
        if version.status in ("failed", "paused"):
            await self.store.set_status(version.id, "queued")
            return replace(version, status="queued")
        return version

    async def _version(self, name: str, label: str) -> SiteVersion | None:
        """The registered version of a site."""
        for version in await self.store.versions():
            if (version.name, version.label) == (name, label):
                return version
        return None

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
        home = await self.registries.find(package)
        url, note = home.url, ""
        if package.version and not home.include:
            url = await self.runner.at_version(home.url, home.version) or home.url
            if url == home.url and version_siblings(url, home.version)[:1] != [url]:
                note = f"No address for {home.version} was found beside {url}: its pages may be of another version."
        async with self._adding:
            indexed = await self._same_site(url, home.version)
            if indexed is not None:
                site = await self.add(indexed.url, indexed.name, indexed.label, **changes)
                if (indexed.name, indexed.label) != (name or package.name, label or home.version):
                    note = f"{package} is indexed already, as {site.name} {site.label}."
                return site, note
            name = name or await self._free_name(package, url)
            if home.include:
                changes.setdefault("include", home.include)
            added = await self.add(url, name, label or home.version, **changes)
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

        packages = [package_of(*direct) for direct in project["direct"]]
        return list(await asyncio.gather(*map(look, packages)))

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
        origins = {name: Origins(**fields_) for name, fields_ in read["origins"].items()}
        return {**read, "origins": origins}

    async def documented(self, package: Package) -> DocsDependency:
        """Where the documentation of a package is, and whether it is indexed. Errors are its `problem`."""
        try:
            home = await self.registries.find(package)
        except SearchError as error:
            return _dependency(package, problem=error.message)
        indexed = await self._indexed_as(package, home.url, home.version)
        if indexed is None or indexed.status == "failed":
            return _dependency(package, home.url)
        of_version = [
            url
            for url in (indexed.url, home.url)
            if version_siblings(url, home.version)[:1] == [url]
        ]
        is_of_version = indexed.label == home.version or bool(of_version)
        is_indexed = is_of_version or not package.version
        return _dependency(
            package, home.url, f"{indexed.name} {indexed.label}" if is_indexed else ""
        )

    async def _indexed_as(self, package: Package, url: str, label: str) -> SiteVersion | None:
        """The version that bears the package's name and label, else one with the same pages."""
        names = (package.name, f"{package.ecosystem}:{package.name}")
        for version in await self.store.versions():
            is_own = version.name in names and version.label == label
            if is_own and _site_of(version.url) == _site_of(url):
                return version
        return await self._same_site(url, label)

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
        led_to = [
            await self.store.led_to(version.id, canonical(place)) for place in (url, version.url)
        ]
        return not set(led_to[0]).isdisjoint(led_to[1])

    async def _free_name(self, package: Package, url: str) -> str:
        """The name of a package; with its registry if another website or repository is called so."""
        namesakes = [
            version for version in await self.store.versions() if version.name == package.name
        ]
        is_free = all(_site_of(version.url) == _site_of(url) for version in namesakes)
        return package.name if is_free else f"{package.ecosystem}:{package.name}"

    async def discard_refused(self, site: IndexedSite) -> None:
        """See `DocsIndex`. A refused `add` leaves nothing behind."""
        now = await self.store.version(site.id)
        if now is not None and now.status == "failed" and not now.page_count:
            await self.store.delete_version(site.id)

    async def requeue(self, site: IndexedSite) -> None:
        """Mark a version as pending for a crawling process; a completed one gets a refresh.

        Raises:
            SearchValidationError: the version cannot be crawled.
        """
        version = await self.store.version(site.id)
        if version is None:
            return
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
        matching = []
        for version in versions:
            is_named = site in (version.name, version.url, str(version.id))
            is_at = place in map(canonical, (version.url, version.home))
            if (is_named or is_at) and label in (None, version.label):
                matching.append(version)
        if not matching:
            site_and_label = " ".join(filter(None, (site, label)))
            raise SearchValidationError(
                f"No such site is indexed: {quoted(site_and_label)}. Known: {named(versions)}."
            )
        return matching

    async def find_one(self, site: str, label: str | None = None) -> SiteVersion:
        """The one version that matches.

        Raises:
            SearchValidationError: none or several match; the message names them.
        """
        matching = await self.find(site, label)
        if len(matching) > 1:
            raise SearchValidationError(
                f"Several versions match: {named(matching)}. Name the one that you mean."
            )
        return matching[0]

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
