"""The API of the documentation index: sites by name and version, searches, sections, crawls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websearch_gateway.docs_index.crawl.crawler import OnProgress
from websearch_gateway.docs_index.crawl.listing import ENDINGS, is_archive
from websearch_gateway.docs_index.crawl.runner import CrawlRunner, check_source, ignore_progress
from websearch_gateway.docs_index.crawl.scope import canonical, version_siblings
from websearch_gateway.docs_index.models import CrawlOptions, SiteVersion, named, quoted
from websearch_gateway.docs_index.packages import CODE_HOSTS, Package, Registries, package_of, read_project
from websearch_gateway.docs_index.store.docs import SqlDocs
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchError,
    SearchFetchError,
    SearchNotConfiguredError,
    SearchValidationError,
)
from websearch_gateway.models import Deadline

PROJECT_SECONDS = 30.0
DEFAULT_LABEL = "latest"
MOST_NAME_CHARS = 100
MOST_BASE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Project:
    """The direct dependencies of a project, and the versions in use of all packages by ecosystem."""

    direct: tuple[Package, ...]
    versions: Mapping[str, Mapping[str, str]]

    def at_its_version(self, package: Package) -> Package:
        """A package at the version that the project uses; unchanged if that is not known."""
        version = package.version or self.versions[package.ecosystem].get(package.name, "")
        return package_of(package.ecosystem, package.name, version)


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package, where its documentation is, and the site by which it is indexed already; or why it has none."""

    package: Package
    url: str = ""
    indexed: str = ""
    problem: str = ""


class DocsLibrary:
    """The documentation index as the entrypoints see it.

    Args:
        is_open: whether a page with this address may be shown to callers.
        registries: know the documentation of packages.
    """

    def __init__(
        self,
        store: SqlDocs,
        runner: CrawlRunner,
        is_open: Callable[[str], bool] = lambda _: True,
        registries: Registries | None = None,
    ) -> None:
        self.store = store
        self.runner = runner
        self.is_open = is_open
        self.registries = registries
        self._adding = asyncio.Lock()

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
            changes["base_url"] = self._checked_base(changes["base_url"], url)
        name = checked_name(name or default_name(url), "name")
        label = checked_name(label or DEFAULT_LABEL, "version")
        known = next((v for v in await self.store.versions() if (v.name, v.label) == (name, label)), None)
        if known is not None and known.page_count and canonical(url) != canonical(known.url):
            if not await self._begins_at(known, url):  # an address that has moved
                raise SearchValidationError(
                    f"{name} {label} is indexed from {known.url}. Give this site another name or version, or delete "
                    "that one first."
                )
            url = known.url
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
        if self.registries is None:
            raise SearchNotConfiguredError("No registry of packages is set.")
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
            if (known := await self._same_site(url)) is not None:
                site = await self.add(known.url, known.name, known.label, **changes)
                is_own = (known.name, known.label) == (name or package.name, label or found.version)
                return site, note if is_own else f"{package} is indexed already, as {site.name} {site.label}."
            name = name or await self._free_name(package, url)
            if found.include:
                changes.setdefault("include", found.include)
            added = await self.add(url, name, label or found.version, **changes)
            alike = [version for version in await self.store.versions() if _place(version.url) == _place(url)]
            first = min(alike, key=lambda version: version.id)
            if first.id != added.id and not added.page_count:  # another process was faster
                await self.store.delete_version(added.id)
                added = first
            return added, note

    async def project(self, folder: str) -> Project:
        """The direct dependencies of the project in a folder, and the versions that it uses.

        Raises:
            SearchValidationError: the folder is not that of a project, or a file of it cannot be used.
            SearchTimeoutError: the files take too long to read.
        """
        try:
            read = await self.runner.workers.run(read_project, folder, deadline=Deadline.after(PROJECT_SECONDS))
        except SearchFetchError as error:
            raise SearchValidationError("The files of the project take too much time or memory to read.") from error
        if read["problem"]:
            raise SearchValidationError(read["problem"])
        direct = tuple(package_of(ecosystem, name, version) for ecosystem, name, version in read["direct"])
        return Project(direct, read["versions"])

    async def documented(self, package: Package) -> Dependency:
        """Where the documentation of a package is, and whether it is indexed. Errors are its `problem`."""
        if self.registries is None:
            raise SearchNotConfiguredError("No registry of packages is set.")
        try:
            found = await self.registries.find(package)
        except SearchError as error:
            return Dependency(package, problem=error.message)
        names = (package.name, f"{package.ecosystem}:{package.name}")
        for version in await self.store.versions():
            is_named = version.name in names and version.label == found.version
            if is_named and _site_of(version.url) == _site_of(found.url):
                known: SiteVersion | None = version
                break
        else:
            known = await self._same_site(found.url)
        if known is None or known.status == "failed":
            return Dependency(package, found.url)
        is_of_version = known.label == found.version or version_siblings(known.url, found.version)[:1] == [known.url]
        if package.version and not is_of_version:
            return Dependency(package, found.url)
        return Dependency(package, found.url, f"{known.name} {known.label}")

    async def _same_site(self, url: str) -> SiteVersion | None:
        """The version that begins at an address, or did before the site moved."""
        for version in await self.store.versions():
            if _host_of(version.url) == _host_of(url) and await self._begins_at(version, url):
                return version
        return None

    async def _begins_at(self, version: SiteVersion, url: str) -> bool:
        """Whether an address is the start of a version, leads to it, or is where it leads."""
        if _place(version.url) == _place(url):
            return True
        here, start = [await self.store.led_to(version.id, canonical(place)) for place in (url, version.url)]
        return not set(here).isdisjoint(start)

    async def _free_name(self, package: Package, url: str) -> str:
        """The name of a package; with its registry if another website or repository is called so."""
        named = [version for version in await self.store.versions() if version.name == package.name]
        is_free = all(_site_of(version.url) == _site_of(url) for version in named)
        return package.name if is_free else f"{package.ecosystem}:{package.name}"

    def _checked_base(self, base: str, url: str) -> str:
        if url.startswith(("http://", "https://")) and not is_archive(urlsplit(url).path):
            raise SearchValidationError("A base URL is for a folder or an archive: a website has its own addresses.")
        base = checked_base(base)
        if not self.is_open(base):
            raise ForbiddenUrlError("The operator of this gateway does not allow the domain of the base URL.")
        return base

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

    async def crawl(self, version_id: int, on_progress: OnProgress = ignore_progress) -> SiteVersion | None:
        """See `CrawlRunner.crawl`."""
        return await self.runner.crawl(version_id, on_progress)

    async def find(self, site: str, label: str | None = None) -> list[SiteVersion]:
        """The versions that match a name, an address or an id.

        Raises:
            SearchValidationError: none matches; the message names those that exist.
        """
        versions = await self.store.versions()
        found = [v for v in versions if site in (v.name, v.url, str(v.id)) or canonical(site) in _addresses(v)]
        found = [v for v in found if label is None or v.label == label]
        if not found:
            wanted = " ".join(filter(None, (site, label)))
            raise SearchValidationError(f"No such site is indexed: {quoted(wanted)}. Known: {named(versions)}.")
        return found

    async def find_one(self, site: str, label: str | None = None) -> SiteVersion:
        """The one version that matches.

        Raises:
            SearchValidationError: none or several match; the message names them.
        """
        found = await self.find(site, label)
        if len(found) > 1:
            raise SearchValidationError(f"Several versions match: {named(found)}. Name the one that you mean.")
        return found[0]

    async def searchable(self) -> list[SiteVersion]:
        """The versions that have pages and may be shown, including those being crawled."""
        return [version for version in await self.store.versions() if version.page_count and self.is_open(version.home)]

    async def completed(self) -> list[SiteVersion]:
        """The versions that were fully crawled at least once; an update leaves them completed."""
        return [version for version in await self.searchable() if version.indexed_at is not None]

    async def delete(self, version: SiteVersion) -> None:
        """Remove a version; a running crawl of it ends by itself."""
        await self.store.delete_version(version.id)

    async def close(self) -> None:
        """End crawls in the background, and release files, sockets and threads. Idempotent."""
        await self.runner.close()
        await self.store.close()


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
    except (OSError, ValueError, RuntimeError) as error:  # also a null character, a loop of links, an unknown `~name`
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
    if parts.scheme not in ("http", "https") or len(base) > MOST_BASE_CHARS or set(text) & {"?", "#"}:
        raise SearchValidationError(
            "The base URL must be the web address of the documents, such as https://docs.example.org/3.12/, without a "
            "login, a query and a fragment."
        )
    return f"{base}/"


def _host_of(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


def _site_of(url: str) -> str:
    """The host of an address; on a host of code also the owner and the repository."""
    host, segments = _host_of(url), urlsplit(url).path.strip("/").lower().split("/")
    return "/".join((host, *segments[:2])) if host in CODE_HOSTS else host


def _place(url: str) -> str:
    """An address without what differs between two spellings of one place."""
    return canonical(url).partition("://")[2].removeprefix("www.").rstrip("/")


def _addresses(version: SiteVersion) -> set[str]:
    return {canonical(version.url), canonical(version.home)} - {""}


def default_name(url: str) -> str:
    """The default name of a site: its host, or the name of its folder or archive."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    return host or parts.path.rstrip("/").rpartition("/")[2] or "site"


def checked_name(text: str, field: str) -> str:
    """The name or version of a site without needless blanks.

    Raises:
        SearchValidationError: it is empty, too long, or not printable.
    """
    text = " ".join(text.split())
    if not text or len(text) > MOST_NAME_CHARS or not text.isprintable():
        raise SearchValidationError(f"The {field} of a site must have 1 to {MOST_NAME_CHARS} characters.")
    return text
