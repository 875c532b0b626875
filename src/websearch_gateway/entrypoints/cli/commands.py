"""The commands of `websearch-gateway` for servers and operators. Those that ask the web are in `asking`, those of the
documentation index in `docs`, those of tokens in `tokens`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from pydantic import SecretStr

from websearch_gateway import __version__
from websearch_gateway.entrypoints.cli import (
    boxes,
    exit_on_error,
    serve_over_http,
    serve_over_stdio,
    settings_of,
)
from websearch_gateway.entrypoints.cli.asking import (
    ConfigOption,
    FailureJsonOption,
    JsonOption,
    ask,
    check,
    news,
    raw,
    read,
    search,
    web,
)
from websearch_gateway.entrypoints.cli.docs import docs
from websearch_gateway.entrypoints.cli.tokens import token
from websearch_gateway.results import Diagnosis
from websearch_gateway.settings.loading import Settings

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway


cli = typer.Typer(
    name="websearch-gateway",
    help="Ask the web, get a short answer whose every claim is cited.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=boxes(),
    context_settings={"help_option_names": ["-h", "--help"]},
)

cache = typer.Typer(
    help="The cache and everything else that processes share.", no_args_is_help=True
)

cli.command("search")(search)
cli.command("check")(check)
cli.command("web")(web)
cli.command("news")(news)
cli.command("raw")(raw)
cli.command("read")(read)
cli.add_typer(cache, name="cache")
cli.add_typer(docs, name="docs")
cli.add_typer(token, name="token")


@cli.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@cli.command()
def doctor(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Call every configured upstream once and say what is wrong and how to fix it."""
    from websearch_gateway.entrypoints.cli.figures import show_diagnosis

    async def examine(gateway: Gateway) -> Diagnosis:
        from websearch_gateway.entrypoints.http.tokens import check_auth

        diagnosis = await gateway.doctor.examine()
        return diagnosis.model_copy(
            update={"checks": (*diagnosis.checks, await check_auth(settings, gateway.api_tokens))}
        )

    settings = settings_of(config, as_json=as_json)
    diagnosis = ask(lambda gateway, _: examine(gateway), show_diagnosis, as_json, config)
    if any(check.status == "fail" for check in diagnosis.checks):
        raise typer.Exit(1)


@cli.command()
def stats(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Show the costs of the last days by provider, the savings of the cache, and the latencies of calls."""
    from websearch_gateway.entrypoints.cli.figures import show_stats

    ask(lambda gateway, _: gateway.operations.server_stats(), show_stats, as_json, config)


@cli.command("config")
def show_config(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Show every setting in force. Secrets are shown as set or not set."""
    from websearch_gateway.entrypoints.cli.figures import show_settings

    settings = settings_of(config, as_json=as_json)
    shown = settings.shown()
    typer.echo(json.dumps(shown, indent=2)) if as_json else show_settings(shown)


@cli.command()
def serve(
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, for many clients.")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to bind, with --http.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to bind, with --http; 0 picks a free one.")
    ] = 8080,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Serve other machines without tokens.")
    ] = False,
    as_json: FailureJsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Serve the MCP tools over stdin and stdout, or over HTTP."""
    if http:
        serve_over_http(config, host, port, insecure=insecure, as_json=as_json)
    else:
        serve_over_stdio(config, "serve", as_json=as_json)


@cli.command("start-mcp-server")
def start_mcp_server(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- --SETTING VALUE]...", help="Settings for this server alone."),
    ] = None,
    context: Annotated[
        str, typer.Option(help="The client that starts the server; shown in the log.")
    ] = "agent",
    as_json: FailureJsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Serve the MCP tools over stdin and stdout (the form that some clients' snippets use).

    What follows `--` are settings, as in `-- --toolsets all --log-level debug`.
    """
    serve_over_stdio(config, context, as_json=as_json, **forwarded_settings(arguments or []))


@cli.command()
def demo(as_json: JsonOption = False) -> None:
    """Run the whole gateway against the sandbox: no key, no network."""
    from websearch_gateway.entrypoints.cli.demo import run_demo

    exit_on_error(lambda: asyncio.run(run_demo(as_json=as_json)), as_json=as_json)


@cli.command()
def sandbox(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="A command to run with the sandbox's settings, after `--`."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(help="Port to bind; 0 picks a free one. Default: 8089, or 0 with a command."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run the sandbox: stand-ins for every upstream and a small web, to test an agent offline. With `-- COMMAND` it
    runs that command with all settings that point a gateway at the sandbox, and ends with it."""
    from websearch_gateway.entrypoints.cli.demo import run_in_sandbox, run_sandbox

    if command:
        ended = exit_on_error(
            lambda: asyncio.run(run_in_sandbox(command, host, port or 0)), as_json=as_json
        )
        raise typer.Exit(ended)
    own_port = 8089 if port is None else port
    exit_on_error(
        lambda: asyncio.run(run_sandbox(host, own_port, as_json=as_json)), as_json=as_json
    )


def forwarded_settings(arguments: Sequence[str]) -> dict[str, str]:
    """Settings by their names in lower case, of `--setting value` or `--setting=value`.

    Raises:
        typer.BadParameter: there is no such setting, its value is missing, or it is a secret: other users of the
            machine see a command's arguments.
    """
    found: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        option, given, value = argument.partition("=")
        name = option.removeprefix("--").replace("-", "_").lower()
        if not option.startswith("--") or name not in Settings.model_fields:
            raise typer.BadParameter(f"There is no setting {option}.")
        if SecretStr in get_args(Settings.model_fields[name].annotation):
            raise typer.BadParameter(f"{name.upper()} is a secret: set it in the environment.")
        text = value if given else next(rest, None)
        if text is None:
            raise typer.BadParameter(f"{option} needs a value.")
        found[name] = text
    return found


@cache.command("stats")
def cache_stats(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Show the size and age of the cache, and what it saved today."""
    from websearch_gateway.entrypoints.cli.figures import show_cache

    ask(lambda gateway, _: gateway.cache.stats(), show_cache, as_json, config)


@cache.command("clear")
def clear(
    older_than: Annotated[
        str | None, typer.Option(metavar="HOURS", help="Only entries older than this.")
    ] = None,
    query: Annotated[str | None, typer.Option(help="Only answers to this question.")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Clear everything without asking.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Remove cached answers, results and pages, for all users and processes."""
    from websearch_gateway.entrypoints.cli.figures import show_cleared
    from websearch_gateway.entrypoints.tools.table import CACHE_CLEAR

    if older_than is None and query is None and not (yes or as_json):
        typer.confirm("Remove everything from the cache?", abort=True)

    # A word for nothing is refused, as by the tool: what narrows the command may have been meant.
    request = exit_on_error(
        lambda: CACHE_CLEAR.parse({"olderThanHours": older_than, "query": query}),
        as_json=as_json,
    )
    ask(
        lambda gateway, _: gateway.cache.clear(
            older_than_hours=request.older_than_hours, query=request.query
        ),
        show_cleared,
        as_json,
        config,
    )


@cache.command("migrate")
def migrate(
    target: Annotated[
        str,
        typer.Argument(
            help="A STATE_URL; `-` reads it from stdin, since it may contain a password."
        ),
    ],
    counters: Annotated[
        bool, typer.Option(help="Copy the counts of limits and costs too.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Copy the cache to another backend. After an interruption, run it again to resume."""
    from websearch_gateway.entrypoints.cli.figures import show_migration

    target = sys.stdin.readline() if target == "-" else target
    ask(
        lambda gateway, _: gateway.migration.migrate(target, counters=counters),
        show_migration,
        as_json,
        config,
    )
