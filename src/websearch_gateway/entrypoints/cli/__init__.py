"""The command line: parse, call the gateway, render.

Errors are one line on stderr and exit code 1; wrong usage is 2. Every command takes `--json`.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from websearch_gateway.entrypoints.lifecycle import collect_rarely, describe
from websearch_gateway.settings.loading import Settings, forget_unusable_width, load_settings


def main() -> None:
    """Entry point of the `websearch-gateway` command."""
    forget_unusable_width()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal without a character shows `?`, not a traceback.
        sys.stdout.reconfigure(errors="replace")
    try:
        # How most clients start the server: without an option to parse it needs no typer.
        if sys.argv[1:] == ["serve"]:
            serve_over_stdio(None, "serve")
        else:
            from websearch_gateway.entrypoints.cli.commands import cli

            cli()
    except KeyboardInterrupt:
        sys.exit(130)  # the exit code of a process that Ctrl-C ended


def boxes() -> Literal["rich"] | None:
    """How typer shows help and wrong usage: in boxes on a terminal, as plain text in a pipe or a file."""
    return "rich" if sys.stdout.isatty() and sys.stderr.isatty() else None


T = TypeVar("T")


def serve_over_stdio(
    config: Path | None, context: str, *, as_json: bool = False, **flags: Any
) -> None:
    """Serve one client over stdin and stdout; `context` names it in the log. `flags` are settings that override all
    others."""
    collect_rarely()
    # first: a wrong one is told without loading the SDK.
    settings = _logging(config, as_json=as_json, **flags)
    from websearch_gateway.entrypoints.mcp.stdio import serve_stdio

    exit_on_error(lambda: asyncio.run(serve_stdio(settings, context)), as_json=as_json)


def serve_over_http(
    config: Path | None,
    host: str,
    port: int,
    *,
    as_json: bool,
    insecure: bool = False,
    **flags: Any,
) -> None:
    """Serve over HTTP until a signal comes; `flags` are settings that override all others."""
    collect_rarely()
    settings = _logging(config, as_json=as_json, **flags)
    from websearch_gateway.entrypoints.http.server import serve_http

    exit_on_error(
        lambda: asyncio.run(serve_http(settings, host, port, insecure=insecure)), as_json=as_json
    )


def settings_of(config: Path | None, *, as_json: bool, **flags: Any) -> Settings:
    """The settings in force; `flags` override all others. An unusable one ends the command."""
    return exit_on_error(lambda: load_settings(config, **flags), as_json=as_json)


def exit_on_error(action: Callable[[], T], *, as_json: bool) -> T:
    """Run `action`; an error becomes one line and exit code 1."""
    try:
        return action()
    except Exception as error:  # the entrypoint: on any failure inside, a person gets one line
        info = describe(error)
        if as_json:
            failure = {"error": info.model_dump(mode="json", by_alias=True, exclude_none=True)}
            sys.stdout.write(f"{json.dumps(failure)}\n")
        wait = f" Try again in {info.retry_after_seconds:g} s." if info.retry_after_seconds else ""
        sys.stderr.write(f"{info.code}: {info.message}{wait}\n")
        sys.exit(1)


def _logging(config: Path | None, *, as_json: bool, **flags: Any) -> Settings:
    """The settings of a server, whose log is set up."""
    from websearch_gateway.upstream.logs import configure_logging

    settings = settings_of(config, as_json=as_json, **flags)
    configure_logging(settings.log_level, settings.secrets())
    return settings
