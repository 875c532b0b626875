"""`docs config`: asks which embedder to use, tries it, and notes it in the settings file."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from websearch_gateway.entrypoints.cli.running import ConfigOption, JsonOption
from websearch_gateway.entrypoints.cli.serving import exit_on_error, settings_of
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import Settings, config_path

DEFAULT_MODEL = "nomic-embed-text"
DEFAULT_PORT = 11_434
_HOST = re.compile(r"[\w.-]+|[0-9A-Fa-f:.]+")
_KEYS = ("embedding_server_url", "embedding_model_name")
_OUR_LINE = re.compile(rf"^[ \t]*(?:{'|'.join(_KEYS)})[ \t]*=.*\n?", re.MULTILINE)

Embedders = Literal["built-in", "ollama"]


def configure(
    embedder: Annotated[Embedders | None, typer.Option(help="The embedder; the command asks if it is missing.")] = None,
    host: Annotated[str | None, typer.Option(help="Where Ollama runs.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Ollama's port.")] = None,
    model: Annotated[str | None, typer.Option(help=f"Ollama's model. Default: {DEFAULT_MODEL}.")] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Choose the embedder of the index. Pulls a model that Ollama lacks."""
    chosen = embedder or typer.prompt("Embedder (built-in or ollama)", default="built-in")
    if chosen not in ("built-in", "ollama"):
        raise typer.BadParameter("built-in or ollama", param_hint="--embedder")
    values: dict[str, str] = {}
    if chosen == "ollama":
        host = host or typer.prompt("Host of Ollama", default="localhost")
        port = port or typer.prompt("Port of Ollama", default=DEFAULT_PORT, type=int)
        model = model or typer.prompt("Model", default=DEFAULT_MODEL)
        values = {"embedding_server_url": _ollama(host, port), "embedding_model_name": model}
    settings = settings_of(config, as_json=as_json)
    dimensions = exit_on_error(lambda: asyncio.run(_tried(settings, values)), as_json=as_json)
    path = config_path(config)
    exit_on_error(lambda: _write(path, values), as_json=as_json)
    if as_json:
        typer.echo(json.dumps({"embedder": chosen, "dimensions": dimensions, "file": str(path)}))
    else:
        typer.echo(f"{chosen} answers with vectors of {dimensions} numbers. Noted in {path}.")


def _ollama(host: str, port: int) -> str:
    """The address of Ollama's own API; its path says that it is Ollama's, on whichever port it runs."""
    name = host.strip()
    if not 1 <= port <= 65_535:
        raise typer.BadParameter("a number from 1 to 65535", param_hint="--port")
    if not _HOST.fullmatch(name):
        raise typer.BadParameter("a name or an address, such as localhost or 192.168.1.7", param_hint="--host")
    return f"http://[{name}]:{port}/api" if ":" in name else f"http://{name}:{port}/api"


async def _tried(settings: Settings, values: dict[str, str]) -> int:
    """The number of dimensions of the chosen embedder.

    Raises:
        SearchError: it does not work; the message says why.
    """
    from websearch_gateway.app.outbound import outbound
    from websearch_gateway.embedders import open_embedder
    from websearch_gateway.net.client import create_client
    from websearch_gateway.net.retry import Retry

    unset: dict[str, str | None] = dict.fromkeys(_KEYS)
    async with create_client(outbound=outbound(settings)) as client:
        embedder = open_embedder(settings.model_copy(update={**unset, **values}), client, Retry())
        return int((await embedder.embed(["How does it work?"], "query")).shape[1])


def _write(path: Path, values: dict[str, str]) -> None:
    """Replace the values in the file, before the first table; only the owner can read the file."""
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = "".join(f'{name} = "{_escaped(value)}"\n' for name, value in values.items())
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        with os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(lines + _OUR_LINE.sub("", before))
        os.replace(part, path)
    except OSError as error:
        raise SearchNotConfiguredError(f"The settings file {path} cannot be written: {error.strerror}.") from error


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
