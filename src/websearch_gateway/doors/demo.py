"""The demonstration: the whole gateway over real HTTP, with the sandbox as the outside world."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from websearch_gateway.app import Gateway, open_gateway
from websearch_gateway.doors.errors import describe
from websearch_gateway.doors.render import show_error, show_response
from websearch_gateway.errors import SearchError, SearchNotConfiguredError
from websearch_gateway.models import SearchRequest
from websearch_gateway.sandbox import Sandbox, serve
from websearch_gateway.settings import load_settings
from websearch_gateway.wire.answer import SearchResponse
from websearch_gateway.wire.base import ErrorInfo

FIRST = "How tall is the Eiffel Tower?"
SECOND = "How do I descale an espresso machine?"
REFUSED = "polymarket odds on a fed rate cut"


@dataclass(frozen=True, slots=True)
class Scene:
    """One question of the demonstration and what came back."""

    caption: str
    question: str
    outcome: SearchResponse | ErrorInfo


async def run_demo(*, as_json: bool) -> None:
    """Ask four times: the usual way, with OpenAI down, the first question again, and one that is refused."""
    async for scene in _scenes():
        _print_json(scene) if as_json else _print(scene)


async def run_sandbox(host: str, port: int, *, as_json: bool) -> None:
    """Run the sandbox until it is interrupted, after printing the settings that point a gateway at it."""

    def announce(environment: dict[str, str]) -> None:
        lines = "\n".join(f"export {name}={value}" for name, value in environment.items())
        typer.echo(json.dumps(environment, indent=2) if as_json else lines)

    try:
        await serve(host, port, announce)
    except OSError as error:
        raise SearchNotConfiguredError(f"The sandbox cannot use port {port} of {host}: {error.strerror}.") from None


async def _scenes() -> AsyncIterator[Scene]:
    with tempfile.TemporaryDirectory() as folder:
        async with Sandbox() as sandbox:
            flags = {name.lower(): value for name, value in sandbox.environment().items()}
            settings = load_settings(**flags, data_dir=Path(folder), log_level="ERROR")
            async with open_gateway(settings) as gateway:
                yield await _scene(gateway, "A question, answered by OpenAI with web search", FIRST)
                sandbox.fault("openai", "status", status=503)
                yield await _scene(gateway, "OpenAI is down: raw search, pages read, sentences quoted", SECOND)
                yield await _scene(gateway, "The first question again: from the cache, at no cost", FIRST)
                yield await _scene(gateway, "Work for a specialist server is refused, and says for which", REFUSED)


async def _scene(gateway: Gateway, caption: str, question: str) -> Scene:
    try:
        return Scene(caption, question, await gateway.search(SearchRequest(question)))
    except SearchError as error:
        return Scene(caption, question, describe(error))


def _print(scene: Scene) -> None:
    console = Console()
    console.print()
    console.print(Text(scene.caption, style="bold"))
    console.print(Text(f"  websearch-gateway search {scene.question!r}", style="dim"))
    if isinstance(scene.outcome, ErrorInfo):
        show_error(scene.outcome, console)
    else:
        show_response(scene.outcome, console)


def _print_json(scene: Scene) -> None:
    outcome = scene.outcome.model_dump(mode="json", by_alias=True)
    key = "error" if isinstance(scene.outcome, ErrorInfo) else "response"
    typer.echo(json.dumps({"scene": scene.caption, "query": scene.question, key: outcome}))
