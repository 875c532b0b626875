"""Shared by the commands that ask the gateway: options, and one asynchronous call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from websearch_gateway.entrypoints.cli.serving import exit_on_error, settings_of
from websearch_gateway.results import WireModel
from websearch_gateway.settings import Settings

R = TypeVar("R", bound=WireModel)

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Settings file (TOML).", dir_okay=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
FailureJsonOption = Annotated[bool, typer.Option("--json", help="Print startup errors as JSON.")]


def run(
    call: Callable[[Settings], Coroutine[Any, Any, R]],
    show: Callable[[R], None],
    *,
    as_json: bool,
    config: Path | None,
) -> R:
    """Run one asynchronous call of the gateway and print the result."""
    from websearch_gateway.state import spare
    from websearch_gateway.upstream.logs import configure_logging

    settings = settings_of(config, as_json=as_json)
    # A person wants the answer; show events only on request.
    if "log_level" in settings.model_fields_set:
        configure_logging(settings.log_level, settings.secrets())
    else:
        configure_logging("WARNING", settings.secrets(), told=(spare.__name__,))
    result = exit_on_error(lambda: asyncio.run(call(settings)), as_json=as_json)
    if as_json:
        typer.echo(result.model_dump_json(by_alias=True, indent=2))
    else:
        show(result)
    return result
