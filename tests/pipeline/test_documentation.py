"""A call of the documentation index has the same limit, deadline and memory of addresses through every door."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from mcp.client import Client
from typer.testing import CliRunner

from tests.entrypoints.http.conftest import served
from tests.entrypoints.stdio import serving, structured
from tests.patience import PATIENT
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.docs.store.sqlite import SqliteThreads
from websearch_gateway.entrypoints.cli.docs import docs
from websearch_gateway.entrypoints.http.app import create_app
from websearch_gateway.entrypoints.python import Gateway
from websearch_gateway.errors import SearchError
from websearch_gateway.models import LOCAL
from websearch_gateway.settings.loading import Settings

SECRET = base64.urlsafe_b64encode(b"The user is called Ada and lives in Bremen.").decode()
LINK = f"https://elsewhere.example.org/?d={SECRET.rstrip('=')}"


class Call(Protocol):
    """Calls a tool, or what stands for it behind another door. Gives the code and message of its error, or ""."""

    async def __call__(self, tool: str, **arguments: Any) -> str: ...


@pytest.fixture
async def settings(tmp_path: Path) -> dict[str, Any]:
    """The settings of a gateway whose index has one page, with an address in its text that carries data."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.md").write_text(
        f"# Zebras\n\nZebras eat grass. More at {LINK} and elsewhere."
    )
    given = {
        **{name.lower(): value for name, value in PATIENT.items()},
        "data_dir": tmp_path,
        "docs_url": f"sqlite:///{tmp_path}/docs.db",
        "state_url": f"sqlite:///{tmp_path}/state.db",
        "toolsets": "docs,docs-admin",
    }
    async with open_gateway(Settings(**given)) as gateway:
        site = await gateway.docs.add(str(tmp_path / "book"), "book", "1")
        await gateway.docs.runner.crawl(site.id)
    return given


def told(result: dict[str, Any]) -> str:
    error = result.get("error")
    return f"{error['code']}: {error['message']}" if error else ""


@asynccontextmanager
async def over_stdio(settings: dict[str, Any]) -> AsyncIterator[Call]:
    async with Client(serving(Settings(**settings))) as client:

        async def call(tool: str, **arguments: Any) -> str:
            return told(structured(await client.call_tool(tool, arguments)))

        yield call


@asynccontextmanager
async def over_rest(settings: dict[str, Any]) -> AsyncIterator[Call]:
    async with served(create_app(Settings(**settings))) as http:

        async def call(tool: str, **arguments: Any) -> str:
            return told((await http.post(f"/v1/tools/{tool}", json=arguments)).json())

        yield call


@asynccontextmanager
async def from_python(settings: dict[str, Any]) -> AsyncIterator[Call]:
    async with Gateway(**settings) as gateway:

        async def call(tool: str, **arguments: Any) -> str:
            try:
                await getattr(gateway, tool)(**arguments)
            except SearchError as error:
                return f"{error.code}: {error.message}"
            return ""

        yield call


COMMANDS = {
    "search_docs": "search",
    "read_docs": "read",
    "list_sites": "list",
    "docs_status": "status",
}


@asynccontextmanager
async def from_the_command_line(settings: dict[str, Any]) -> AsyncIterator[Call]:
    environment = {name.upper(): str(value) for name, value in settings.items()}

    async def call(tool: str, **arguments: Any) -> str:
        command = [COMMANDS[tool], *arguments.values(), "--json"]
        done = await asyncio.to_thread(CliRunner().invoke, docs, command, env=environment)
        return told(json.loads(done.stdout))

    yield call


Door = Callable[[dict[str, Any]], AbstractAsyncContextManager[Call]]
DOORS: dict[str, Door] = {
    "stdio": over_stdio,
    "rest": over_rest,
    "python": from_python,
    "command line": from_the_command_line,
}
EVERY = [(door, tool) for door in DOORS for tool in COMMANDS]
EVERY = [
    pair for pair in EVERY if pair not in (("python", "list_sites"), ("python", "docs_status"))
]


def arguments_for(tool: str, settings: dict[str, Any]) -> dict[str, str]:
    page = (settings["data_dir"] / "book" / "a.md").as_uri()
    return {"search_docs": {"query": "zebras"}, "read_docs": {"url": page}}.get(tool, {})


@pytest.mark.parametrize(("door", "tool"), EVERY)
async def test_a_call_counts_once_as_reading(
    settings: dict[str, Any], door: str, tool: str
) -> None:
    arguments = arguments_for(tool, settings)
    async with DOORS[door]({**settings, "read_rate_limit": "2/10minutes"}) as call:
        first, second, third = [await call(tool, **arguments) for _ in range(3)]
    assert (first, second) == ("", "")
    assert third.startswith("RATE_LIMIT: ")


@pytest.mark.parametrize(("door", "tool"), EVERY)
async def test_a_call_ends_at_its_deadline(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, door: str, tool: str
) -> None:
    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(SqliteThreads, "search", hang)
    async with DOORS[door]({**settings, "search_deadline_seconds": 0.1}) as call:
        error = await call(tool, **arguments_for(tool, settings))
    assert error.startswith("TIMEOUT: No answer came within 0.1 s.")


@pytest.mark.parametrize("tool", ["search_docs", "read_docs"])
@pytest.mark.parametrize("door", DOORS)
async def test_the_addresses_in_what_was_shown_are_known(
    settings: dict[str, Any], door: str, tool: str
) -> None:
    async with open_gateway(Settings(**settings)) as gateway:
        assert await gateway.reading.provenance.check(LINK, LOCAL)
    async with DOORS[door](settings) as call:
        assert await call(tool, **arguments_for(tool, settings)) == ""
    async with open_gateway(Settings(**settings)) as gateway:
        assert await gateway.reading.provenance.check(LINK, LOCAL) is None
