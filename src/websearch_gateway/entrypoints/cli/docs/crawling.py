"""The commands that change the documentation index."""

from __future__ import annotations

import asyncio
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from websearch_gateway.entrypoints.cli.running import ConfigOption, JsonOption, run
from websearch_gateway.entrypoints.cli.serving import settings_of
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.results.docs import DocsStatus
from websearch_gateway.settings import Settings

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway
    from websearch_gateway.docs_index.models import SiteVersion

_AGE = re.compile(r"(\d{1,5})([mhd])")
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400}
BackgroundOption = Annotated[bool, typer.Option("--background", help="Crawl in a process of its own; return at once.")]


def add(
    source: Annotated[str, typer.Argument(help="A URL, a folder, or a zip or tar of documents (file or URL).")],
    name: Annotated[str | None, typer.Argument(help="The name of the site. Default: its host.")] = None,
    label: Annotated[str | None, typer.Argument(metavar="[VERSION]", help="Default: latest.")] = None,
    version: Annotated[str | None, typer.Option("--version", help="The same as VERSION.")] = None,
    include: Annotated[list[str] | None, typer.Option(help="Only paths that match this glob; repeatable.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="No paths that match this glob; repeatable.")] = None,
    max_pages: Annotated[int | None, typer.Option(min=1, max=1_000_000, help="Pages at most. Default: 20000.")] = None,
    delay: Annotated[
        float | None, typer.Option(min=0, max=600, help="Seconds between two requests to a host. Default: 0.25.")
    ] = None,
    browser: Annotated[
        Literal["never", "auto", "always"] | None, typer.Option(help="Run the pages' scripts. Default: auto.")
    ] = None,
    header: Annotated[list[str] | None, typer.Option(help="`Name: value` to send along; repeatable.")] = None,
    background: BackgroundOption = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Crawl a site and index it. The same command again resumes. Options are kept until others are given."""
    from websearch_gateway.entrypoints.cli.docs.render import show_status

    async def act(settings: Settings) -> DocsStatus:
        from websearch_gateway.app import open_gateway

        given = {
            "include": tuple(include or ()) or None,
            "exclude": tuple(exclude or ()) or None,
            "max_pages": max_pages,
            "delay": delay,
            "browser": browser,
            "headers": tuple(_header(line) for line in header or ()) or None,
        }
        options: dict[str, Any] = {option: value for option, value in given.items() if value is not None}
        async with open_gateway(settings) as gateway:
            site = await gateway.add_docs(source, name, version or label, **options)
            again = f"websearch-gateway docs add {shlex.join([source, site.name, site.label])}"
            crawled = partial(_crawled, background=background, config=config, as_json=as_json, discards=True)
            return await crawled(gateway, [site], again)

    _failing(run(act, show_status, as_json=as_json, config=config))


def update(
    site: Annotated[str | None, typer.Argument(metavar="[NAME|URL]")] = None,
    label: Annotated[str | None, typer.Argument(metavar="[VERSION]")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every site.")] = False,
    stale: Annotated[str | None, typer.Option(help="Sites that were indexed longer ago, such as 7d or 12h.")] = None,
    background: BackgroundOption = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Refresh sites. Until that is done, searches find the old pages."""
    from websearch_gateway.entrypoints.cli.docs.render import show_status

    async def act(settings: Settings) -> DocsStatus:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings) as gateway:
            sites = await _meant(gateway, site, label, every=every, stale=stale)
            which = ["--stale", stale] if stale else [site, *filter(None, [label])] if site else ["--all"]
            again = f"websearch-gateway docs update {shlex.join(which)}"
            return await _crawled(gateway, sites, again, background=background, config=config, as_json=as_json)

    _failing(run(act, show_status, as_json=as_json, config=config))


def delete(
    site: Annotated[str, typer.Argument(metavar="NAME|URL")],
    label: Annotated[str | None, typer.Argument(metavar="[VERSION]")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask, even before deleting several versions.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Remove a site, or one version of it, from the index."""

    async def act(settings: Settings) -> DocsStatus:
        from websearch_gateway.app import open_gateway
        from websearch_gateway.docs_index.status import statuses

        async with open_gateway(settings) as gateway:
            found = await gateway.docs.find(site, label)
            if len(found) > 1 and not yes:
                labels = ", ".join(version.label for version in found)
                if as_json or not sys.stdin.isatty():
                    raise SearchValidationError(f"{site} has several versions: {labels}. Name one, or use --yes.")
                if not typer.confirm(f"Delete the versions {labels} of {site}?"):
                    raise SearchValidationError("Nothing was deleted.")
            for version in found:
                await gateway.docs.delete(version)
            return statuses(found, message=f"Deleted: {', '.join(f'{v.name} {v.label}' for v in found)}.")

    run(act, lambda status: typer.echo(status.message), as_json=as_json, config=config)


def export(
    site: Annotated[str, typer.Argument(metavar="NAME|URL")],
    file: Annotated[Path, typer.Argument(help="Where to write, such as python.docs.gz.")],
    label: Annotated[str | None, typer.Option("--version", help="Which version, if there are several.")] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Write a site with its vectors into a file that other machines import."""
    from websearch_gateway.entrypoints.cli.docs.render import show_status

    async def act(settings: Settings) -> DocsStatus:
        from websearch_gateway.app import open_gateway
        from websearch_gateway.docs_index.status import statuses
        from websearch_gateway.docs_index.transfer import export_site

        async with open_gateway(settings) as gateway:
            found = await gateway.docs.find_one(site, label)
            count = await export_site(gateway.docs, found, gateway.embedder.name, file)
            return statuses([found], message=f"Wrote {count:,} pages ({file.stat().st_size / 1e6:.1f} MB) to {file}.")

    run(act, show_status, as_json=as_json, config=config)


def import_file(
    file: Annotated[Path, typer.Argument(help="The file that `export` wrote.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Read a site that another machine exported. It is searchable at once, offline."""
    from websearch_gateway.entrypoints.cli.docs.render import show_status

    async def act(settings: Settings) -> DocsStatus:
        from websearch_gateway.app import open_gateway
        from websearch_gateway.docs_index.status import statuses
        from websearch_gateway.docs_index.transfer import import_site

        async with open_gateway(settings) as gateway:
            return statuses([await import_site(gateway.docs, gateway.embedder.name, file)])

    run(act, show_status, as_json=as_json, config=config)


def work(config: ConfigOption = None) -> None:
    """Crawl what is pending, then end: the process behind --background."""

    async def act() -> None:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings_of(config, as_json=False)) as gateway:
            await gateway.docs.runner.drain()

    asyncio.run(act())


async def _crawled(
    gateway: Gateway,
    sites: Sequence[SiteVersion],
    again: str,
    *,
    background: bool,
    config: Path | None,
    as_json: bool,
    discards: bool = False,
) -> DocsStatus:
    """Crawl here, or in the background. Returns the status of the sites afterwards.

    `discards` removes a site that is refused before it has a page.
    """
    from websearch_gateway.docs_index.status import statuses
    from websearch_gateway.entrypoints.cli.docs.progress import watched

    if not sites:
        return statuses((), message="No site is due.")
    if background:
        for site in sites:
            await gateway.docs.requeue(site)
        _start_worker(config)
        return statuses(await _now(gateway, sites), message="Crawling in the background; `docs status` shows how far.")
    try:
        outcomes = await asyncio.gather(
            *(watched(gateway, site, quiet=as_json or len(sites) > 1) for site in sites), return_exceptions=True
        )
    except asyncio.CancelledError:
        typer.echo(f"Stopped. What was fetched is kept; go on with: {again}", err=True)
        raise
    errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if errors and len(errors) == len(sites):
        for site in sites if discards else ():
            await gateway.docs.discard_refused(site)
        raise errors[0]
    now = await _now(gateway, sites)
    message = " ".join(
        f"{site.name} {site.label} was not crawled: {outcome}"
        for site, outcome in zip(sites, outcomes, strict=True)
        if isinstance(outcome, BaseException)
    )
    return statuses(now, await gateway.docs.failures(now), message)


async def _now(gateway: Gateway, sites: Sequence[SiteVersion]) -> list[SiteVersion]:
    ids = {site.id for site in sites}
    return [version for version in await gateway.docs.store.versions() if version.id in ids]


async def _meant(
    gateway: Gateway, site: str | None, label: str | None, *, every: bool, stale: str | None
) -> list[SiteVersion]:
    import time

    if [site is not None, every, stale is not None].count(True) != 1:
        raise SearchValidationError("Name a site, or use --all or --stale.")
    if site is not None:
        return await gateway.docs.find(site, label)
    found = await gateway.docs.store.versions()
    if stale is None:
        return found
    if (age := _AGE.fullmatch(stale)) is None:
        raise SearchValidationError("--stale must be a number with m, h or d, such as 7d.")
    before = time.time() - int(age[1]) * _SECONDS[age[2]]
    return [version for version in found if (version.indexed_at or 0.0) < before]


def _start_worker(config: Path | None) -> None:
    """Start a process that outlives this one."""
    command = [sys.executable, "-m", "websearch_gateway", "docs", "work"]
    if config is not None:
        command += ["--config", str(config.absolute())]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.Popen(command, start_new_session=True, **quiet)  # type: ignore[call-overload]  # noqa: S603 - ourselves


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name.strip()) or not re.fullmatch(r"[ -~]*", value.strip()):
        raise SearchValidationError("--header must be `Name: value`.")
    return name.strip().lower(), value.strip()


def _failing(status: DocsStatus) -> None:
    """Exit code 1 if a site could not be crawled."""
    if any(site.status == "failed" for site in status.sites):
        raise typer.Exit(1)
