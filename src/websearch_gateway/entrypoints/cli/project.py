"""`docs add --project`: lists the documentation of a project's direct dependencies, asks, and indexes it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from websearch_gateway.errors import SearchError, SearchValidationError
from websearch_gateway.results import DocsDependency, DocsProject, DocsStatus

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway
    from websearch_gateway.docs_index.library import Dependency
    from websearch_gateway.docs_index.models import SiteVersion

AT_ONCE = 6
"""The most packages that are looked up, and the most sites that are crawled, at once."""

Crawl = Callable[..., Coroutine[Any, Any, DocsStatus]]


async def at_its_version(gateway: Gateway, source: str, project: str | None) -> str:
    """A source that names a package, at the version that the project uses; any other source as it is.

    Raises:
        SearchValidationError: a project is given for a source that is not a package, or cannot be read.
    """
    if project is None:
        return source
    from websearch_gateway.docs_index.packages import package_named

    if (package := package_named(source)) is None:
        raise SearchValidationError("--project gives the version of a package: name one, such as pypi:django.")
    return str((await gateway.docs.project(project)).at_its_version(package))


async def add_project(
    gateway: Gateway,
    folder: str,
    options: Mapping[str, Any],
    crawl: Crawl,
    version: str | None = None,
    *,
    yes: bool,
    as_json: bool,
) -> DocsProject:
    """List the direct dependencies of a project, and index their documentation if `yes` or a person says so.

    Without a terminal nobody is asked. Raises what `DocsLibrary.project` raises.

    Raises:
        SearchValidationError: headers, a base URL or a version are given, which are for one site.
    """
    _check_options(options, version)
    found = await _found(gateway, folder)
    listed = DocsProject(dependencies=tuple(map(_row, found)))
    wanted = [one for one in found if one.url and not one.indexed]
    if not wanted:
        message = "Nothing is left to index." if found else "The project has no direct dependencies."
        return listed.model_copy(update={"message": message})
    if not yes and (as_json or not sys.stdin.isatty()):
        message = f"{len(wanted)} are not indexed. Index them with: --yes"
        return listed.model_copy(update={"message": message})
    if not yes:
        from websearch_gateway.entrypoints.cli.render_docs import show_status

        show_status(listed)
        if not typer.confirm(f"Index the documentation of {len(wanted)} packages?"):
            return DocsProject(message="Nothing was added.")
    sites, notes = await _added(gateway, wanted, options)
    again = f"websearch-gateway docs add --project {folder} --yes"
    statuses = []
    for start in range(0, len(sites), AT_ONCE):
        try:
            statuses.append(await crawl(gateway, sites[start : start + AT_ONCE], again))
        except SearchError as error:  # of all of them
            notes.append(error.message)
    done = await _found(gateway, folder)
    return DocsProject(
        dependencies=tuple(map(_row, done)),
        sites=tuple(site for status in statuses for site in status.sites),
        message=" ".join(filter(None, [*notes, *(status.message for status in statuses)])),
    )


def _check_options(options: Mapping[str, Any], version: str | None) -> None:
    if version or options.keys() & {"headers", "base_url"}:
        raise SearchValidationError(
            "--version, --header and --base-url are for one site, not for a project. Add that site by its address: "
            "websearch-gateway docs add URL NAME VERSION --header ..."
        )


async def _found(gateway: Gateway, folder: str) -> list[Dependency]:
    turns = asyncio.Semaphore(AT_ONCE)
    project = await gateway.docs.project(folder)

    async def look(package: Any) -> Dependency:
        async with turns:
            return await gateway.docs.documented(package)

    return list(await asyncio.gather(*map(look, project.direct)))


async def _added(
    gateway: Gateway, wanted: Sequence[Dependency], options: Mapping[str, Any]
) -> tuple[list[SiteVersion], list[str]]:
    """The sites to crawl, each once, and what people must know of them."""
    sites: dict[int, SiteVersion] = {}
    notes = []
    for one in wanted:
        try:
            site, note = await gateway.add_docs(str(one.package), **options)
        except SearchError as error:
            notes.append(f"{one.package} was not added: {error.message}")
            continue
        notes.append(note)
        sites[site.id] = site
    return list(sites.values()), notes


def _row(one: Dependency) -> DocsDependency:
    package = one.package
    name = f"{package.ecosystem}:{package.name}"
    return DocsDependency(package=name, version=package.version, url=one.url, indexed=one.indexed, problem=one.problem)
