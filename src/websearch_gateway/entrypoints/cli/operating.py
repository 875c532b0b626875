"""The commands for operators: health, costs, and the cache."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from websearch_gateway.entrypoints.cli.running import ConfigOption, JsonOption, run
from websearch_gateway.results import CacheClearResult, CacheStats, Diagnosis, MigrateResult, ServerStats
from websearch_gateway.settings import Settings

cache = typer.Typer(help="The cache and everything else that processes share.", no_args_is_help=True)


def doctor(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Call every configured upstream once and say what is wrong and how to fix it."""
    from websearch_gateway.entrypoints.cli.render import show_diagnosis

    async def examine(settings: Settings) -> Diagnosis:
        from websearch_gateway.app import open_gateway
        from websearch_gateway.entrypoints.http.tokens import check_auth

        async with open_gateway(settings) as gateway:
            diagnosis = await gateway.diagnose()
        return diagnosis.model_copy(update={"checks": (*diagnosis.checks, await check_auth(settings))})

    diagnosis = run(examine, show_diagnosis, as_json=as_json, config=config)
    if any(check.status == "fail" for check in diagnosis.checks):
        raise typer.Exit(1)


def stats(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Show the costs of the last days by provider, the savings of the cache, and the latencies of calls."""
    from websearch_gateway.entrypoints.cli.render import show_stats

    async def look(settings: Settings) -> ServerStats:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings) as gateway:
            return await gateway.operations.server_stats()

    run(look, show_stats, as_json=as_json, config=config)


@cache.command("stats")
def cache_stats(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Show the size and age of the cache, and what it saved today."""
    from websearch_gateway.entrypoints.cli.render import show_cache

    async def look(settings: Settings) -> CacheStats:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings) as gateway:
            return await gateway.cache.stats()

    run(look, show_cache, as_json=as_json, config=config)


@cache.command("clear")
def clear(
    older_than: Annotated[float | None, typer.Option(metavar="HOURS", help="Only entries older than this.")] = None,
    query: Annotated[str | None, typer.Option(help="Only answers to this question.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Clear everything without asking.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Remove cached answers, results and pages, for all users and processes."""
    from websearch_gateway.entrypoints.cli.render import show_cleared

    if older_than is None and query is None and not (yes or as_json):
        typer.confirm("Remove everything from the cache?", abort=True)

    async def remove(settings: Settings) -> CacheClearResult:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings) as gateway:
            return await gateway.cache.clear(older_than_hours=older_than, query=query)

    run(remove, show_cleared, as_json=as_json, config=config)


@cache.command("migrate")
def migrate(
    target: Annotated[
        str, typer.Argument(help="A STATE_URL; `-` reads it from stdin, since it may contain a password.")
    ],
    counters: Annotated[bool, typer.Option(help="Copy the counts of limits and costs too.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Copy the state to another backend. After an interruption, run it again to resume."""
    from websearch_gateway.entrypoints.cli.render import show_migration

    async def copy(settings: Settings) -> MigrateResult:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings) as gateway:
            return await gateway.migrate(sys.stdin.readline() if target == "-" else target, counters=counters)

    run(copy, show_migration, as_json=as_json, config=config)
