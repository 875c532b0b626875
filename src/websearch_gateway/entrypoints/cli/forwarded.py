"""Settings that a client's configuration forwards to the server that it starts, after `--`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import typer
from pydantic import SecretStr

from websearch_gateway.settings import Settings


def forwarded_settings(arguments: Sequence[str]) -> dict[str, str]:
    """Settings by their names in lower case, of `--setting value` or `--setting=value`.

    Raises:
        typer.BadParameter: there is no such setting, its value is missing, or it is a secret: other users of the
            machine see a command's arguments.
    """
    return dict(_pairs(arguments))


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
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
        yield name, text
