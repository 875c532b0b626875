"""The demonstration: the whole gateway over real HTTP, with the sandbox as the outside world."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.entrypoints.cli.documentation import show_hits
from websearch_gateway.entrypoints.cli.render import show_error, show_response
from websearch_gateway.entrypoints.lifecycle import describe
from websearch_gateway.errors import SearchError, SearchNotConfiguredError, shown
from websearch_gateway.models import DocsSearchRequest, SearchRequest
from websearch_gateway.results import DocsSearchResponse, ErrorInfo, SearchResponse
from websearch_gateway.sandbox import Sandbox, engines, environment, serving
from websearch_gateway.settings.loading import Settings, load_settings

PROGRAM = "websearch-gateway"

FIRST = "How tall is the Eiffel Tower?"
SECOND = "How do I descale an espresso machine?"
REFUSED = "polymarket odds on a fed rate cut"
DOCUMENTED = "How do I give up sooner on a slow harbour?"


@dataclass(frozen=True, slots=True)
class Scene:
    """One question of the demonstration and its answer."""

    caption: str
    question: str
    outcome: SearchResponse | DocsSearchResponse | ErrorInfo


async def run_demo(*, as_json: bool) -> None:
    """Ask four times: a normal question, one with OpenAI down, the first one again, and one that is refused. Then index
    a documentation site and search it, and answer with a model of your own.
    """
    async for scene in _scenes():
        _print_json(scene) if as_json else _print(scene)
    if not as_json:
        name = PROGRAM if shutil.which(PROGRAM) else sys.argv[0]
        typer.echo(
            f"\nAsk it yourself, at http://127.0.0.1:8080/play:\n  {name} sandbox -- {PROGRAM} serve --http"
        )


async def run_sandbox(host: str, port: int, *, as_json: bool) -> None:
    """Run the sandbox until it is interrupted, after printing the settings that point a gateway at it."""
    async with _sandbox_at(host, port) as url:
        if as_json:
            typer.echo(json.dumps(environment(url), indent=2))
        else:
            typer.echo(f"# The sandbox serves at {url} until you press Ctrl-C.")
            typer.echo(
                f"# A gateway uses it with these settings, or as {PROGRAM} sandbox -- COMMAND:"
            )
            typer.echo(
                "\n".join(f"export {name}={value}" for name, value in environment(url).items())
            )
            typer.echo("# Other answer engines: each answers when the one before it fails.")
            for name, value in (
                pair for variables in engines(url).values() for pair in variables.items()
            ):
                typer.echo(f"# export {name}={value}")
        await asyncio.Event().wait()


async def run_in_sandbox(command: Sequence[str], host: str, port: int) -> int:
    """Run a command with the settings of a sandbox of its own, and pass signals on to it.

    Its data lies in a folder that is removed afterwards, unless DATA_DIR is set: the answers of the sandbox must not
    enter the cache of a real gateway. So the settings file and inherited settings that `_is_of_upstreams` names do not
    hold for it; `env NAME=VALUE` before the command sets one.

    Returns: the exit code of the command, as a shell gives it: 128 and the signal that ended it, 127 if there is none.
    """
    with tempfile.TemporaryDirectory() as folder:
        async with _sandbox_at(host, port) as url:
            # The program of this installation need not be on the path.
            program = shutil.which(command[0]) or shutil.which(
                command[0], path=str(Path(sys.executable).parent)
            )
            if program is None:
                typer.echo(f"There is no command {shown(command[0])}.", err=True)
                return 127
            settings = _settings_in(Path(folder), url)
            process = await asyncio.create_subprocess_exec(program, *command[1:], env=settings)
            _pass_signals_on(process)
            try:
                code = await process.wait()
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
    return code if code >= 0 else 128 - code


def _settings_in(folder: Path, url: str) -> dict[str, str]:
    every = os.environ  # noqa: TID251 - it is the command's, and no setting is read from it
    inherited = {name: value for name, value in every.items() if not _is_of_upstreams(name.lower())}
    file = folder / "config.toml"
    file.touch()
    return {
        "DATA_DIR": str(folder),
        **inherited,
        **environment(url),
        "WEBSEARCH_GATEWAY_CONFIG": str(file),
    }


def _is_of_upstreams(name: str) -> bool:
    """Whether a setting names upstreams, their keys, the shared state or the index. Those of our callers do not."""
    if name not in Settings.model_fields or name.startswith("auth_") or name == "public_url":
        return False
    others = ("answer_engines", "search_providers", "github_token")
    is_named = (
        name.startswith(("state_", "docs_", "embedding_", "reranker_", "llm_")) or name in others
    )
    return is_named or name.endswith(("_url", "_api_key"))


def _pass_signals_on(process: asyncio.subprocess.Process) -> None:
    def send(number: int) -> None:
        # A terminal sends Ctrl-C to the command too, which must not get it twice.
        if not (number == signal.SIGINT and _is_in_front()):
            with suppress(ProcessLookupError):
                process.send_signal(number)

    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        with suppress(NotImplementedError, AttributeError):  # on Windows
            loop.add_signal_handler(getattr(signal, name), send, getattr(signal, name))


def _is_in_front() -> bool:
    """Whether this process is in the foreground of a terminal."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


@asynccontextmanager
async def _sandbox_at(host: str, port: int) -> AsyncIterator[str]:
    async with AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(serving(host, port))
        except (OSError, UnicodeError) as error:  # UnicodeError: no name of a host can be like that
            reason = error.strerror if isinstance(error, OSError) else "it is not a host name"
            message = f"The sandbox cannot use port {port} of {shown(host)}: {reason}."
            raise SearchNotConfiguredError(message) from None
        yield url


async def _scenes() -> AsyncIterator[Scene]:
    with tempfile.TemporaryDirectory() as folder:
        async with Sandbox() as sandbox:
            settings = load_settings(**sandbox.flags(), data_dir=Path(folder), log_level="ERROR")
            async with open_gateway(settings) as gateway:
                yield await _scene(gateway, "A question, answered by OpenAI with web search", FIRST)
                sandbox.fault("openai", "status", status=503)
                yield await _scene(
                    gateway, "OpenAI is down: raw search, pages read, sentences quoted", SECOND
                )
                yield await _scene(
                    gateway, "The first question again: from the cache, at no cost", FIRST
                )
                yield await _scene(
                    gateway, "An agent learns which specialist server to ask", REFUSED
                )
                yield await _documented(gateway, f"{sandbox.url}/docs/2.0/")
            model = {name.lower(): value for name, value in engines(sandbox.url)["llm"].items()}
            own = settings.model_copy(
                update={**model, "answer_engines": ("llm",), "state_url": "memory://"}
            )
            async with open_gateway(own) as gateway:
                yield await _scene(
                    gateway, "Your own model writes, and each sentence is checked", FIRST
                )


async def _scene(gateway: Gateway, caption: str, question: str) -> Scene:
    try:
        return Scene(caption, question, await gateway.search(SearchRequest(question)))
    except SearchError as error:
        return Scene(caption, question, describe(error))


async def _documented(gateway: Gateway, url: str) -> Scene:
    """What `docs add URL heron 2.0` and a search in it do."""
    from websearch_gateway.docs import CrawlOptions

    caption = "Documentation, indexed here and searched offline"
    try:
        site = await gateway.docs.add(url, "heron", "2.0", CrawlOptions(delay=0.0))
        await gateway.docs.runner.crawl(site.id)
        return Scene(
            caption,
            DOCUMENTED,
            await gateway.documentation.search(DocsSearchRequest(DOCUMENTED, max_results=1)),
        )
    except SearchError as error:
        return Scene(caption, DOCUMENTED, describe(error))


def _print(scene: Scene) -> None:
    console = Console()
    console.print()
    console.print(Text(scene.caption, style="bold"))
    command = "docs search" if isinstance(scene.outcome, DocsSearchResponse) else "search"
    asked = (
        "an agent calls search_web with"
        if isinstance(scene.outcome, ErrorInfo)
        else f"websearch-gateway {command}"
    )
    console.print(Text(f"  {asked} {scene.question!r}", style="dim"))
    if isinstance(scene.outcome, ErrorInfo):
        show_error(scene.outcome, console)
    elif isinstance(scene.outcome, DocsSearchResponse):
        show_hits(scene.outcome)
    else:
        show_response(scene.outcome, console)


def _print_json(scene: Scene) -> None:
    outcome = scene.outcome.model_dump(mode="json", by_alias=True)
    keys = {ErrorInfo: "error", DocsSearchResponse: "docs"}
    key = keys.get(type(scene.outcome), "response")
    typer.echo(json.dumps({"scene": scene.caption, "query": scene.question, key: outcome}))
