"""The group `docs`, which is also the command `docs-mcp`: searches the documentation index, changes and
configures it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from websearch_gateway.entrypoints.cli import boxes, exit_on_error, serve_over_http, settings_of
from websearch_gateway.entrypoints.cli.asking import (
    ConfigOption,
    FailureJsonOption,
    JsonOption,
    number,
    run,
    text_given,
    texts_given,
)
from websearch_gateway.errors import SearchError, SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import (
    DIRECT,
    LONGEST_DELAY,
    MOST_AROUND,
    MOST_SECTIONS,
    MOST_SITE_PAGES,
    BrowserUse,
    DocsAddRequest,
    DocsReadRequest,
    DocsSearchRequest,
    DocsStatusRequest,
)
from websearch_gateway.results import (
    DocsProject,
    DocsStatus,
    WireModel,
)
from websearch_gateway.settings.loading import Settings, config_path, forget_unusable_width

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway
    from websearch_gateway.ports import IndexedSite


R = TypeVar("R", bound=WireModel)
Crawl = Callable[..., Coroutine[Any, Any, DocsStatus]]
SITES_AT_ONCE = 6
_AGE = re.compile(r"(\d{1,5})([mhd])")
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400}


def _within(
    call: Callable[[Gateway], Awaitable[R]], show: str, as_json: bool, config: Path | None
) -> R:
    """Run one call of a gateway that is opened for it, and print the result with the function `show` of `render`."""

    async def act(settings: Settings) -> R:
        from websearch_gateway.app.gateway import open_gateway

        async with open_gateway(settings) as gateway:
            return await call(gateway)

    def printed(result: R) -> None:
        from websearch_gateway.entrypoints.cli import documentation

        getattr(documentation, show)(result)

    return run(act, printed, as_json=as_json, config=config)


def list_sites(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """List every site, of every status."""

    _within(
        lambda gateway: gateway.documentation.sites(DIRECT, every=True),
        "show_sites",
        as_json,
        config,
    )


def status(
    site: Annotated[
        str | None, typer.Argument(metavar="[NAME|URL]", help="Default: every site.")
    ] = None,
    label: Annotated[str | None, typer.Argument(metavar="[VERSION]")] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Show how far crawls are, which pages failed and why, and which process crawls."""

    request = DocsStatusRequest(site, label)
    _within(
        lambda gateway: gateway.documentation.status(request, DIRECT),
        "show_status",
        as_json,
        config,
    )


def search(
    query: Annotated[str, typer.Argument(help="A symbol, a flag, or a question in words.")],
    site: Annotated[str | None, typer.Option(help="A name or id.")] = None,
    version: Annotated[str | None, typer.Option(help="A version of the site.")] = None,
    max_results: Annotated[
        int,
        typer.Option(
            "--max-results",
            "-n",
            parser=number(int, 10),
            help=f"The most sections (1-{MOST_SECTIONS}).",
        ),
    ] = 10,
    max_tokens: Annotated[
        int,
        typer.Option(parser=number(int, 1_600), help="The most tokens of all sections together."),
    ] = 1_600,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Find the sections that answer a query."""
    request = DocsSearchRequest(
        query,
        site_id=text_given(site),
        label=text_given(version),
        max_results=max_results,
        max_tokens=max_tokens,
    )
    _within(
        lambda gateway: gateway.documentation.search(request, DIRECT), "show_hits", as_json, config
    )


def read(
    place: Annotated[
        str, typer.Argument(metavar="SECTION|URL", help="A section id, or the address of a page.")
    ],
    version: Annotated[str | None, typer.Option(help="A version of the site.")] = None,
    around: Annotated[
        int,
        typer.Option(
            parser=number(int, 0), help=f"Sections before and after it (0-{MOST_AROUND})."
        ),
    ] = 0,
    max_tokens: Annotated[
        int, typer.Option(parser=number(int, 4_000), help="The most tokens.")
    ] = 4_000,
    outline: Annotated[
        bool, typer.Option("--outline", help="List the sections of the page.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Read a section or a page from the index."""

    is_url = "://" in place
    request = DocsReadRequest(
        section_id=None if is_url else place,
        url=place if is_url else None,
        label=text_given(version),
        around=around,
        max_tokens=max_tokens,
        outline=outline,
    )
    _within(
        lambda gateway: gateway.documentation.read(request, DIRECT), "show_section", as_json, config
    )


BackgroundOption = Annotated[
    bool, typer.Option("--background", help="Crawl in a process of its own; return at once.")
]


SourceArgument = Annotated[
    str | None, typer.Argument(help="A URL, a package such as pypi:NAME, a folder, a zip or tar.")
]
DelayOption = Annotated[
    float | None,
    typer.Option(
        parser=number(float, least=0, most=LONGEST_DELAY),
        help=f"Seconds between two requests to a host (0-{LONGEST_DELAY:g}). Default: 0.25.",
    ),
]
BrowserOption = Annotated[
    BrowserUse | None,
    typer.Option(help="Run the pages' scripts. Default: auto."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option(
        help="A project's folder: add what it depends on, or SOURCE at the version that it uses."
    ),
]
_ADD = ("websearch-gateway", "docs", "add")


def add(
    source: SourceArgument = None,
    name: Annotated[
        str | None, typer.Argument(help="The name of the site. Default: its host.")
    ] = None,
    label: Annotated[
        str | None, typer.Argument(metavar="[VERSION]", help="Default: latest.")
    ] = None,
    version: Annotated[str | None, typer.Option("--version", help="The same as VERSION.")] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="Only paths that match this glob (repeatable).")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="No paths that match this glob (repeatable).")
    ] = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            parser=number(int, least=1, most=MOST_SITE_PAGES),
            help=f"The most pages (1-{MOST_SITE_PAGES}). Default: 20000.",
        ),
    ] = None,
    delay: DelayOption = None,
    browser: BrowserOption = None,
    header: Annotated[
        list[str] | None, typer.Option(help="A header `Name: value` to send (repeatable).")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="The web address of the folder or archive, for citations.")
    ] = None,
    project: ProjectOption = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Index what --project lists, without asking.")
    ] = False,
    background: BackgroundOption = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Crawl a site and index it. The same command again resumes. Options are kept until others are given."""

    async def act(gateway: Gateway) -> DocsStatus:
        request = DocsAddRequest(
            source or "",
            name,
            version or label,
            max_pages=max_pages,
            delay=delay,
            base_url=text_given(base_url),
            include=texts_given(include) or None,
            exclude=texts_given(exclude) or None,
            browser=browser,
            headers=tuple(_header(line) for line in header or ()) or None,
        )
        crawled = partial(
            _crawled, background=background, config=config, as_json=as_json, discards=True
        )
        if source is None:
            return await _add_project(
                gateway, project or ".", request, crawled, yes=yes, as_json=as_json
            )
        place = await _at_its_version(gateway, source, project)
        site, note = await gateway.documentation.register(replace(request, url=place))
        status = await crawled(gateway, [site], shlex.join([*_ADD, place, site.name, site.label]))
        return status.model_copy(update={"message": f"{note} {status.message}".strip()})

    if source is None and project is None:
        raise typer.BadParameter("give a source, or --project", param_hint="SOURCE")
    _failing(_within(act, "show_status", as_json, config))


def update(
    site: Annotated[str | None, typer.Argument(metavar="[NAME|URL]")] = None,
    label: Annotated[str | None, typer.Argument(metavar="[VERSION]")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every site.")] = False,
    stale: Annotated[
        str | None, typer.Option(help="Sites that were indexed longer ago, such as 7d or 12h.")
    ] = None,
    background: BackgroundOption = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Refresh sites. Until that is done, searches find the old pages."""

    async def act(gateway: Gateway) -> DocsStatus:
        named = await (gateway.docs.find(site, label) if site else gateway.docs.shown())
        sites = [version for version in named if not stale or (version.indexed_at or 0.0) < before]
        if stale and not sites:
            return DocsStatus(message="No site is due.")
        which = ["--stale", stale] if stale else list(filter(None, (site, label))) or ["--all"]
        again = f"websearch-gateway docs update {shlex.join(which)}"
        return await _crawled(
            gateway, sites, again, background=background, config=config, as_json=as_json
        )

    if [site is not None, every, stale is not None].count(True) != 1:
        raise typer.BadParameter("name a site, or use --all or --stale", param_hint="NAME")
    if not (age := _AGE.fullmatch("0m" if stale is None else stale)):
        raise typer.BadParameter("a number with m, h or d, such as 7d", param_hint="--stale")
    before = time.time() - int(age[1]) * _SECONDS[age[2]]
    _failing(_within(act, "show_status", as_json, config))


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

    async def act(gateway: Gateway) -> DocsStatus:
        found = await gateway.docs.find(site, label, blocked_too=True)
        if len(found) > 1 and not yes:
            labels = ", ".join(version.label for version in found)
            if as_json or not sys.stdin.isatty():
                raise SearchValidationError(
                    f"{site} has several versions: {labels}. Name one, or use --yes."
                )
            if not typer.confirm(f"Delete the versions {labels} of {site}?"):
                raise SearchValidationError("Nothing was deleted.")
        for version in found:
            await gateway.docs.store.delete_version(version.id)
        return await gateway.docs.report(
            found, f"Deleted: {', '.join(f'{v.name} {v.label}' for v in found)}."
        )

    _within(act, "show_message", as_json, config)


def export(
    site: Annotated[str, typer.Argument(metavar="NAME|URL")],
    file: Annotated[Path, typer.Argument(help="Where to write, such as python.docs.gz.")],
    label: Annotated[
        str | None, typer.Option("--version", help="Which version, if there are several.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Write a site with its vectors into a file that other machines import."""

    async def act(gateway: Gateway) -> DocsStatus:
        from websearch_gateway.docs import export_site

        found = await gateway.docs.find_one(site, label)
        count = await export_site(gateway.docs, found, gateway.embedder.name, file)
        message = f"Wrote {count:,} pages ({file.stat().st_size / 1e6:.1f} MB) to {file}."
        return await gateway.docs.report([found], message)

    _within(act, "show_status", as_json, config)


def import_file(
    file: Annotated[Path, typer.Argument(help="The file that `export` wrote.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Read a site that another machine exported. It is searchable at once, offline."""

    async def act(gateway: Gateway) -> DocsStatus:
        from websearch_gateway.docs import import_site

        site = await import_site(gateway.docs, gateway.embedder.name, file)
        return await gateway.docs.report([site])

    _within(act, "show_status", as_json, config)


def work(config: ConfigOption = None) -> None:
    """Crawl what is pending, then end: the process behind --background."""

    async def act() -> None:
        from websearch_gateway.app.gateway import open_gateway

        async with open_gateway(settings_of(config, as_json=False)) as gateway:
            await gateway.docs.runner.keep_crawling(0, drains=True)

    asyncio.run(act())


async def _crawled(
    gateway: Gateway,
    sites: Sequence[IndexedSite],
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
    from websearch_gateway.entrypoints.cli.documentation import watched

    turns = asyncio.Semaphore(SITES_AT_ONCE)

    async def crawl(site: IndexedSite) -> str:
        try:
            async with turns:
                await watched(gateway, site, quiet=as_json or len(sites) > 1)
        except SearchError as error:
            if discards:
                await gateway.docs.discard_refused(site)
            if len(sites) == 1:
                raise
            return f"{site.name} {site.label} was not crawled: {error}"
        return ""

    messages = ["Crawling in the background; `docs status` shows how far."]
    if background:
        for site in sites:
            await gateway.docs.requeue(site)
        _start_worker(config)
    else:
        try:
            messages = await asyncio.gather(*map(crawl, sites))
        except asyncio.CancelledError:
            typer.echo(f"Stopped. What was fetched is kept; go on with: {again}", err=True)
            raise
    now = [version for site in sites if (version := await gateway.docs.store.version(site.id))]
    return await gateway.docs.report(now, " ".join(filter(None, messages)))


def _start_worker(config: Path | None) -> None:
    """Start a process that outlives this one."""
    command = [sys.executable, "-m", "websearch_gateway", "docs", "work"]
    if config is not None:
        command += ["--config", str(config.absolute())]
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    subprocess.Popen(command, start_new_session=True, **quiet)  # type: ignore[call-overload]  # noqa: S603 - ourselves


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if (
        not colon
        or not re.fullmatch(r"[A-Za-z0-9-]+", name.strip())
        or not re.fullmatch(r"[ -~]*", value.strip())
    ):
        raise SearchValidationError("--header must be `Name: value`.")
    return name.strip().lower(), value.strip()


def _failing(status: DocsStatus) -> None:
    """Exit code 1 if a site could not be crawled to its end."""
    failed = [site for site in status.sites if site.status in ("failed", "paused")]
    if failed and not (
        isinstance(status, DocsProject) and all("robots.txt" in site.reason for site in failed)
    ):
        raise typer.Exit(1)


DEFAULT_MODEL = "nomic-embed-text"
DEFAULT_PORT = 11_434
_HOST = re.compile(r"[\w.-]+|[0-9A-Fa-f:.]+")
_KEYS = ("embedding_server_url", "embedding_model_name")
_OUR_LINE = re.compile(rf"^[ \t]*(?:{'|'.join(_KEYS)})[ \t]*=.*\n?", re.MULTILINE)

Embedders = Literal["built-in", "ollama"]


def configure(
    embedder: Annotated[
        Embedders, typer.Option(prompt="Embedder", help="Asked for if it is missing.")
    ] = "built-in",
    host: Annotated[str | None, typer.Option(help="Where Ollama runs.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Ollama's port.")] = None,
    model: Annotated[
        str | None, typer.Option(help=f"Ollama's model. Default: {DEFAULT_MODEL}.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Choose the embedder of the index. Pulls a model that Ollama lacks."""
    values: dict[str, str] = {}
    if embedder == "ollama":
        host = (host or typer.prompt("Host of Ollama", default="localhost")).strip()
        if not _HOST.fullmatch(host):
            raise typer.BadParameter(
                "a name or an address, such as localhost or 192.168.1.7", param_hint="--host"
            )
        port = port or typer.prompt("Port of Ollama", default=DEFAULT_PORT, type=int)
        model = model or typer.prompt("Model", default=DEFAULT_MODEL)
        # The path says that this is Ollama's own API, on any port.
        url = f"http://[{host}]:{port}/api" if ":" in host else f"http://{host}:{port}/api"
        values = {"embedding_server_url": url, "embedding_model_name": model}
    settings = settings_of(config, as_json=as_json)
    dimensions = exit_on_error(lambda: asyncio.run(_tried(settings, values)), as_json=as_json)
    path = config_path(config)
    exit_on_error(lambda: _write(path, values), as_json=as_json)
    if as_json:
        typer.echo(json.dumps({"embedder": embedder, "dimensions": dimensions, "file": str(path)}))
    else:
        typer.echo(f"{embedder} answers with vectors of {dimensions} numbers. Noted in {path}.")


async def _tried(settings: Settings, values: dict[str, str]) -> int:
    """The number of dimensions of the chosen embedder.

    Raises:
        SearchError: it does not work; the message says why.
    """
    from websearch_gateway.app.addresses import outbound
    from websearch_gateway.base import Retry, create_client
    from websearch_gateway.evidence import open_embedder

    unset: dict[str, str | None] = dict.fromkeys(_KEYS)
    async with create_client(outbound=outbound(settings)) as client:
        embedder = open_embedder(settings.model_copy(update={**unset, **values}), client, Retry())
        return int((await embedder.embed(["How does it work?"], "query")).shape[1])


def _write(path: Path, values: dict[str, str]) -> None:
    """Replace the values in the file, before the first table; only the owner can read the file."""
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = "".join(
            f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items()
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        with os.fdopen(
            os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(lines + _OUR_LINE.sub("", before))
        os.replace(part, path)
    except OSError as error:
        raise SearchNotConfiguredError(
            f"The settings file {path} cannot be written: {error.strerror}."
        ) from error


docs = typer.Typer(
    help="Documentation sites: crawl them, keep them fresh, search them.", no_args_is_help=True
)
docs.command("add")(add)
docs.command("list")(list_sites)
docs.command("status")(status)
docs.command("update")(update)
docs.command("delete")(delete)
# `--flag` is a query.
docs.command("search", context_settings={"ignore_unknown_options": True})(search)
docs.command("read")(read)
docs.command("export")(export)
docs.command("import")(import_file)
docs.command("config")(configure)
docs.command("work", hidden=True)(work)

docs_mcp = typer.Typer(
    help=docs.info.help,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=boxes(),
    context_settings={"help_option_names": ["-h", "--help"]},
)
docs_mcp.registered_commands = list(docs.registered_commands)


@docs_mcp.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind; 0 picks a free one.")] = 8080,
    as_json: FailureJsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Serve the toolset `docs` over HTTP, and crawl what is pending."""
    serve_over_http(config, host, port, as_json=as_json, toolsets=("docs",))


def main() -> None:
    """Entry point of the `docs-mcp` command."""
    forget_unusable_width()
    try:
        docs_mcp()
    except KeyboardInterrupt:
        sys.exit(130)  # the exit code of a process that Ctrl-C ended


async def _at_its_version(gateway: Gateway, source: str, project: str | None) -> str:
    """A source that names a package, at the version that the project uses; any other source as it is."""
    if project is None:
        return source
    from websearch_gateway.docs import package_named

    if (package := package_named(source)) is None:
        raise SearchValidationError(
            "--project gives the version of a package: name one, such as pypi:django."
        )
    return str(await gateway.docs.at_version_of(package, project))


async def _add_project(
    gateway: Gateway,
    folder: str,
    request: DocsAddRequest,
    crawl: Crawl,
    *,
    yes: bool,
    as_json: bool,
) -> DocsProject:
    """List the direct dependencies of a project, and index their documentation if `yes` or a person says so.

    Without a terminal nobody is asked.
    """
    if request.label or request.headers or request.base_url:
        raise SearchValidationError(
            "--version, --header and --base-url are for one site, not for a project. Add that site by its address: "
            "websearch-gateway docs add URL NAME VERSION --header ..."
        )
    listed = DocsProject(dependencies=tuple(await gateway.docs.dependencies(folder)))
    wanted = [
        dependency
        for dependency in listed.dependencies
        if dependency.url and not dependency.indexed
    ]
    message = "" if listed.dependencies else "The project has no direct dependencies."
    if not wanted:
        return listed.model_copy(update={"message": message or "Nothing is left to index."})
    if not yes and (as_json or not sys.stdin.isatty()):
        return listed.model_copy(
            update={"message": f"{len(wanted)} are not indexed. Index them with: --yes"}
        )
    if not yes:
        from websearch_gateway.entrypoints.cli.documentation import show_status

        show_status(listed)
        if not typer.confirm(f"Index the documentation of {len(wanted)} packages?"):
            return DocsProject(message="Nothing was added.")
    sites: dict[int, IndexedSite] = {}
    notes = []
    for dependency in wanted:
        package = (
            f"{dependency.package}@{dependency.version}"
            if dependency.version
            else dependency.package
        )
        try:
            site, note = await gateway.documentation.register(replace(request, url=package))
        except SearchError as error:
            notes.append(f"{package} was not added: {error.message}")
            continue
        notes.append(note)
        sites[site.id] = site
    done = await crawl(
        gateway, list(sites.values()), f"websearch-gateway docs add --project {folder} --yes"
    )
    message = " ".join(filter(None, [*notes, done.message]))
    dependencies = tuple(await gateway.docs.dependencies(folder))
    return DocsProject(dependencies=dependencies, sites=done.sites, message=message)
