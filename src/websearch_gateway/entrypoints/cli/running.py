"""Shared by all commands: options, settings, one asynchronous call, one-line errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from websearch_gateway.entrypoints.errors import describe
from websearch_gateway.results.base import WireModel
from websearch_gateway.settings import Settings, load_settings

T = TypeVar("T")
R = TypeVar("R", bound=WireModel)

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Settings file (TOML).", dir_okay=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
FailureJsonOption = Annotated[bool, typer.Option("--json", help="Print startup errors as JSON.")]


def settings_of(config: Path | None, *, as_json: bool, **flags: Any) -> Settings:
    """The settings in force; `flags` override all others. An unusable one ends the command."""
    return exit_on_error(lambda: load_settings(config, **flags), as_json=as_json)


def serve_over_http(
    config: Path | None, host: str, port: int, *, as_json: bool, insecure: bool = False, **flags: Any
) -> None:
    """Serve over HTTP until a signal comes; `flags` are settings that override all others."""
    from websearch_gateway.entrypoints.http.server import serve_http
    from websearch_gateway.observability.logs import configure_logging

    settings = settings_of(config, as_json=as_json, **flags)
    configure_logging(settings.log_level, settings.secrets())
    exit_on_error(lambda: asyncio.run(serve_http(settings, host, port, insecure=insecure)), as_json=as_json)


def run(
    call: Callable[[Settings], Coroutine[Any, Any, R]],
    show: Callable[[R], None],
    *,
    as_json: bool,
    config: Path | None,
) -> R:
    """Run one asynchronous call of the gateway and print the result."""
    from websearch_gateway.observability.logs import configure_logging

    settings = settings_of(config, as_json=as_json)
    # A person wants the answer; show events only on request.
    configure_logging(settings.log_level if "log_level" in settings.model_fields_set else "WARNING", settings.secrets())
    result = exit_on_error(lambda: asyncio.run(call(settings)), as_json=as_json)
    if as_json:
        typer.echo(result.model_dump_json(by_alias=True, indent=2))
    else:
        show(result)
    return result


def exit_on_error(action: Callable[[], T], *, as_json: bool) -> T:
    """Run `action`; an error becomes one line and exit code 1."""
    try:
        return action()
    except typer.Exit:
        raise
    except Exception as error:  # the entrypoint: on any failure inside, a person gets one line
        info = describe(error)
        if as_json:
            typer.echo(json.dumps({"error": info.model_dump(mode="json", by_alias=True, exclude_none=True)}))
        wait = f" Try again in {info.retry_after_seconds:g} s." if info.retry_after_seconds else ""
        typer.echo(f"{info.code}: {info.message}{wait}", err=True)
        raise typer.Exit(1) from None
