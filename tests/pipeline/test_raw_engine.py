"""Search and reading happen once per question, even if several engines write from the results."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.errors import SearchProviderError
from websearch_gateway.models import (
    Answer,
    Call,
    Deadline,
    Gathered,
    Hit,
    Page,
    SearchQuery,
    SearchResults,
    Span,
)
from websearch_gateway.pipeline.fallback import FallbackEngine, Gathering, Ranked
from websearch_gateway.ports import Gather

URL = "https://a.example/"
SEARCH_USD = 0.001


@dataclass
class Searcher:
    """Answers when `go` is set."""

    name: str = "serper"
    calls: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, call: Call) -> SearchResults:
        self.calls += 1
        self.asked.set()
        call.bill.book(SEARCH_USD)
        await self.go.wait()
        return SearchResults((Hit(URL, "A", "It is tall.", self.name),), self.name)


@dataclass
class Pages:
    """Reads everything at once."""

    name: str = "pages"
    read_count: int = 0

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        self.read_count += 1
        return Page(url, url, "A", "It is tall.")


@dataclass
class Writer:
    """An engine that writes from the gathered results, once `go` is set."""

    name: str
    gather: Gather
    started: asyncio.Event
    go: asyncio.Event = field(default_factory=asyncio.Event)
    has_gathered: asyncio.Event = field(default_factory=asyncio.Event)
    gathered: Gathered | None = None

    async def ask(self, call: Call) -> Answer:
        self.started.set()
        self.gathered = await self.gather(call)
        self.has_gathered.set()
        await self.go.wait()
        return Answer("It is tall.", (Span(URL, "A", 0, 11),), self.name)


@dataclass
class Slow:
    """A hosted engine that fails late."""

    until: asyncio.Event
    name: str = "openai"

    async def ask(self, call: Call) -> Answer:
        await self.until.wait()
        raise SearchProviderError("OpenAI answered with HTTP 503.")


@pytest.mark.parametrize(
    "found_already", [False, True], ids=["while raw search works", "after raw search has answered"]
)
async def test_a_model_writes_from_the_results_that_raw_search_gathered_beside_a_slow_engine(
    found_already: bool,
) -> None:
    searcher, pages = Searcher(), Pages()
    gathering = Gathering(searcher, pages, Workers(), asyncio.Semaphore(4), page_seconds=60)
    raw = Writer("raw-search", gathering, started=asyncio.Event())
    if found_already:
        searcher.go.set()
    # Otherwise the search ends only after the model has asked for its results.
    llm = Writer("llm", gathering, started=searcher.go)
    llm.go.set()
    slow = Slow(raw.has_gathered if found_already else searcher.asked)
    engine = FallbackEngine([Ranked(slow), Ranked(llm, gathers=True)], raw, hedge_seconds=0)
    call = Call.of(SearchQuery("how tall is the tower"), Deadline.after(60))
    answer = await engine.ask(call)
    assert answer.provider == "llm"
    assert answer.fallback is not None
    assert answer.fallback.given_up == "openai"
    assert (searcher.calls, pages.read_count) == (1, 1)
    assert llm.gathered is not None
    assert list(llm.gathered.pages) == [URL]
    assert call.bill.usd == pytest.approx(SEARCH_USD), "one search, paid for once"
