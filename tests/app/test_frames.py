"""How many of our functions stand between a question and the wire: each is one more to read in a traceback."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CoroutineType, FrameType
from typing import Any

import httpx2
import pytest

from tests.opening import Open
from websearch_gateway.docs.store.sqlite import _Connection as Connection
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.models import LOCAL, SearchRequest, WebSearchRequest, no_progress
from websearch_gateway.sandbox import key_of
from websearch_gateway.upstream.race import Trial

MOST_FRAMES = 13
MOST_FRAMES_OF_A_SEARCH, MOST_FRAMES_OF_A_LOOK = 6, 7

QUESTION = "How tall is the Eiffel Tower?"


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of our functions, the outermost first, at each request that goes out."""
    seen: list[list[str]] = []
    parents: dict[asyncio.Task[Any], asyncio.Task[Any] | None] = {}
    began, sent = Trial.__init__, httpx2.AsyncHTTPTransport.handle_async_request

    def begin(self: Trial[Any], *arguments: Any, **named: Any) -> None:
        began(self, *arguments, **named)
        parents[self.task] = asyncio.current_task()

    async def send(self: Any, request: httpx2.Request) -> httpx2.Response:
        names = list(_ours(_callers(sys._getframe())))
        task = parents.get(asyncio.current_task())  # type: ignore[arg-type]
        while task is not None:
            names = [*_ours(_awaited(task)), *names]
            task = parents.get(task)
        seen.append(names)
        return await sent(self, request)

    monkeypatch.setattr(Trial, "__init__", begin)
    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", send)
    return seen


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of this task, the outermost first."""
    frames: list[FrameType] = []
    while frame is not None:
        frames.insert(0, frame)
        frame = frame.f_back
    yield from frames


def _awaited(task: asyncio.Task[Any]) -> Iterator[FrameType]:
    """The frames in which another task waits, the outermost first."""
    coroutine: Any = task.get_coro()
    while isinstance(coroutine, CoroutineType):
        if coroutine.cr_frame:
            yield coroutine.cr_frame
        coroutine = coroutine.cr_await


def _ours(frames: Iterator[FrameType]) -> Iterator[str]:
    for frame in frames:
        if frame.f_globals.get("__name__", "").startswith("websearch_gateway."):
            yield frame.f_code.co_qualname


@pytest.mark.parametrize("engine", ["openai", "gemini"])
async def test_few_functions_stand_between_a_question_and_the_engine(
    gateway: Open, stacks: list[list[str]], engine: str
) -> None:
    async with gateway(answer_engines=engine, gemini_api_key=key_of("gemini")) as opened:
        await opened.search(SearchRequest(QUESTION))
    stack = next(names for names in stacks if "HttpEngine.ask" in names)
    way = stack[stack.index("SearchPipeline._ask") :]
    assert len(way) <= MOST_FRAMES, way


async def test_few_functions_stand_between_a_search_and_its_provider(
    gateway: Open, stacks: list[list[str]]
) -> None:
    async with gateway(answer_engines="openai") as opened:
        await opened.web_search(WebSearchRequest(QUESTION, read_pages=False))
    stack = next(names for names in stacks if "HttpSearcher.ask" in names)
    way = stack[stack.index("WebSearch._find") :]
    assert len(way) <= MOST_FRAMES, way


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("search_docs", MOST_FRAMES_OF_A_SEARCH),
        ("read_docs", MOST_FRAMES_OF_A_LOOK),
        ("list_sites", MOST_FRAMES_OF_A_LOOK),
        ("docs_status", MOST_FRAMES_OF_A_LOOK),
    ],
)
async def test_few_functions_stand_between_a_tool_of_the_documentation_and_the_transaction(
    gateway: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    """Up to the thread of the connection and its transaction, in which the tool's statements run."""
    ways: list[list[str]] = []
    run = Connection.run

    def noted(self: Connection, action: Any) -> Any:
        ways.append([*_ours(_callers(sys._getframe(1))), Connection._act.__qualname__])
        return run(self, action)

    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.md").write_text("# Zebras\n\nZebras eat grass.")
    page = (tmp_path / "book" / "a.md").as_uri()
    arguments = {"search_docs": {"query": "zebras"}, "read_docs": {"url": page}}.get(name, {})
    tool = next(tool for tool in TOOLS if tool.name == name)
    async with gateway() as opened:
        site = await opened.docs.add(str(tmp_path / "book"), "book")
        await opened.docs.runner.crawl(site.id)
        monkeypatch.setattr(Connection, "run", noted)
        await tool.call(opened, tool.parse(arguments), LOCAL, no_progress)
    searches = [way for way in ways if "SqliteThreads.search" in way]
    assert len(searches) >= 2
    assert [way for way in searches if len(way) > most] == []
