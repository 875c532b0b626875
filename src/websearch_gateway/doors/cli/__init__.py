"""The command line: parse, ask the gateway, render. Errors are one line on stderr and exit code 1; wrong usage is 2."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from websearch_gateway import __version__
from websearch_gateway.doors.cli.operating import cache, doctor, stats
from websearch_gateway.doors.cli.running import ConfigOption, FailureJsonOption, JsonOption, guarded, run, settings_of
from websearch_gateway.models import ContentRequest, PassagesRequest, SearchRequest
from websearch_gateway.settings import Settings
from websearch_gateway.wire.answer import SearchResponse
from websearch_gateway.wire.read import PageContent, PagePassages

cli = typer.Typer(
    name="websearch-gateway",
    help="Ask the web, get a short answer whose every claim is cited.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

cli.command()(doctor)
cli.command()(stats)
cli.add_typer(cache, name="cache")


def main() -> None:
    """Entry point of the `websearch-gateway` command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without a character shows `?`, not a traceback
    try:
        cli()
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell reports a process that Ctrl-C ended


@cli.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@cli.command()
def search(
    query: Annotated[str, typer.Argument(help="The question, in full words.")],
    max_results: Annotated[int, typer.Option(help="Sources to cite at most (1-8).")] = 5,
    freshness_hours: Annotated[int | None, typer.Option(help="Only what is this new (1-168).")] = None,
    region: Annotated[str | None, typer.Option(help="ISO 3166-1 alpha-2 country, such as DE.")] = None,
    answer: Annotated[bool, typer.Option(help="Write the answer, or list the sources only.")] = True,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Answer a question from the web, with sources."""
    from websearch_gateway.doors.render import show_response

    request = SearchRequest(query, max_results, freshness_hours, region, answer)

    async def ask(settings: Settings) -> SearchResponse:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings) as gateway:
            return await gateway.search(request)

    run(ask, show_response, as_json=as_json, config=config)


@cli.command()
def read(
    url: Annotated[str, typer.Argument(help="An http(s) URL.")],
    query: Annotated[list[str] | None, typer.Option(help="Show the passages that answer this; repeatable.")] = None,
    max_results: Annotated[int, typer.Option(help="Passages per query at most (1-50).")] = 8,
    offset: Annotated[int, typer.Option(help="Where to begin, without --query: the offset told before.")] = 0,
    max_chars: Annotated[int, typer.Option(help="Characters at most, without --query (1-100000).")] = 100_000,
    refresh: Annotated[bool, typer.Option("--refresh", help="Ask the site anew.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Read a page as Markdown, or find the passages that answer questions."""
    from websearch_gateway.doors.render_page import show_page

    async def fetch(settings: Settings) -> PageContent | PagePassages:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings) as gateway:
            if query:
                return await gateway.reading.passages(PassagesRequest(url, tuple(query), refresh, max_results, True))
            return await gateway.reading.content(ContentRequest(url, offset, max_chars, refresh))

    run(fetch, show_page, as_json=as_json, config=config)


@cli.command("config")
def show_config(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Show every setting in force. Secrets are shown as set or not set."""
    from websearch_gateway.doors.render import show_settings

    settings = settings_of(config, as_json=as_json)
    shown = settings.shown()
    typer.echo(json.dumps(shown, indent=2)) if as_json else show_settings(shown)


@cli.command()
def serve(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, for many clients.")] = False,
    host: Annotated[str, typer.Option(help="Address to bind, with --http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind, with --http; 0 picks a free one.")] = 8080,
    insecure: Annotated[bool, typer.Option("--insecure", help="Serve other machines without tokens.")] = False,
    as_json: FailureJsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Serve the MCP tools over stdin and stdout, or over HTTP."""
    if http:
        _serve_http(config, host, port, insecure=insecure, as_json=as_json)
    else:
        _serve_stdio(config, "serve", as_json=as_json)


@cli.command("start-mcp-server")
def start_mcp_server(
    context: Annotated[str, typer.Option(help="The client that starts the server; shown in the log.")] = "agent",
    as_json: FailureJsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Serve the MCP tools over stdin and stdout (the form that some clients' snippets use)."""
    _serve_stdio(config, context, as_json=as_json)


@cli.command()
def token(
    user: Annotated[str, typer.Option(help="Whom limits, budgets and the ledger will know.")] = "developer",
    scope: Annotated[str, typer.Option(help="What it allows, separated by blanks.")] = "search read",
    ttl: Annotated[int, typer.Option(help="Seconds until it expires.", min=1)] = 3600,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Mint a token for development (AUTH_MODE=secret)."""
    from websearch_gateway.doors.auth.modes import mint

    settings = settings_of(config, as_json=as_json)
    minted = guarded(lambda: mint(settings, user, scope.split(), ttl), as_json=as_json)
    typer.echo(json.dumps({"token": minted, "expiresInSeconds": ttl}) if as_json else minted)


@cli.command()
def demo(as_json: JsonOption = False) -> None:
    """Run the whole gateway against the sandbox: no key, no network."""
    from websearch_gateway.doors.demo import run_demo

    guarded(lambda: asyncio.run(run_demo(as_json=as_json)), as_json=as_json)


@cli.command()
def sandbox(
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind; 0 picks a free one.")] = 8089,
    as_json: JsonOption = False,
) -> None:
    """Run the sandbox: stand-ins for every upstream and a small web, to test an agent offline."""
    from websearch_gateway.doors.demo import run_sandbox

    guarded(lambda: asyncio.run(run_sandbox(host, port, as_json=as_json)), as_json=as_json)


def _serve_http(config: Path | None, host: str, port: int, *, insecure: bool, as_json: bool) -> None:
    from websearch_gateway.doors.http import serve_http
    from websearch_gateway.pipeline.logs import configure_logging

    settings = settings_of(config, as_json=as_json)
    configure_logging(settings.log_level, settings.secrets())
    guarded(lambda: asyncio.run(serve_http(settings, host, port, insecure=insecure)), as_json=as_json)


def _serve_stdio(config: Path | None, context: str, *, as_json: bool) -> None:
    from websearch_gateway.doors.mcp import serve_stdio
    from websearch_gateway.pipeline.logs import configure_logging

    settings = settings_of(config, as_json=as_json)
    configure_logging(settings.log_level, settings.secrets())
    guarded(lambda: asyncio.run(serve_stdio(settings, context)), as_json=as_json)
