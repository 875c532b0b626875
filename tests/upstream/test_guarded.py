from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from websearch_gateway.base.net.bodies import MAX_BYTES
from websearch_gateway.base.net.client import create_client
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import (
    SearchAuthError,
    SearchBudgetError,
    SearchError,
    SearchProviderError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.evidence.embedders.choice import usd_per_million_tokens
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.evidence.embedders.remote import OpenAICompatibleEmbedder
from websearch_gateway.models import Answer, Bill, Call, Caller, Deadline, SearchQuery, Span
from websearch_gateway.pipeline.fallback import FallbackEngine, Ranked
from websearch_gateway.ports import EMBEDDED_AT_ONCE
from websearch_gateway.settings.loading import Settings
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream.guarded import Guarded
from websearch_gateway.upstream.ledger import BudgetedEmbedder, Ledger

QUERY = SearchQuery("how tall is the tower")
MOST, LIKELY, BILL = 0.2, 0.03, 0.012


@dataclass
class Engine:
    """An engine with a scripted outcome."""

    outcome: Callable[[Call], Awaitable[Answer]]
    name: str = "openai"

    async def ask(self, call: Call) -> Answer:
        return await self.outcome(call)


def sourced(provider: str) -> Answer:
    return Answer("It is tall.", (Span("https://a.example/", "A", 0, 11),), provider)


async def answers(call: Call) -> Answer:
    call.bill.book(BILL)
    return sourced("openai")


async def hangs(_: Call) -> Answer:
    await asyncio.Event().wait()
    raise AssertionError


def failing(error: SearchError, cost_usd: float = 0.0) -> Callable[[Call], Awaitable[Answer]]:
    async def fail(call: Call) -> Answer:
        call.bill.book(cost_usd)
        raise error

    return fail


def paid(ledger: Ledger, outcome: Callable[[Call], Awaitable[Answer]]) -> Guarded[Answer]:
    return Guarded(Engine(outcome), ledger.budget("openai", lambda _: MOST))


def asking() -> Call:
    return Call.of(QUERY, Deadline.after(60), caller=Caller("ann"))


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(MemoryState(), daily_usd=1.0)


@pytest.mark.parametrize(
    ("outcome", "usd"),
    [
        (answers, BILL),
        (failing(SearchProviderError("HTTP 500")), 0.0),
        (failing(SearchProviderError("stopped before the answer"), BILL), BILL),
        (failing(SearchValidationError("declined"), BILL), BILL),
        (failing(SearchAuthError("wrong key")), 0.0),
        (failing(SearchTimeoutError("too late"), LIKELY), LIKELY),
    ],
)
async def test_a_call_costs_its_bill_however_it_ends(
    ledger: Ledger, outcome: Callable[[], Awaitable[Answer]], usd: float
) -> None:
    call = asking()
    with suppress(SearchError):
        await paid(ledger, outcome).ask(call)
    assert call.bill.usd == pytest.approx(usd)
    assert (await ledger.day()).usd == pytest.approx(usd)


async def test_an_engine_that_is_overtaken_counts_in_the_answer_and_in_the_ledger(
    ledger: Ledger,
) -> None:
    asked = asyncio.Event()

    async def hang(call: Call) -> Answer:
        asked.set()
        call.bill.book(LIKELY)
        return await hangs(call)

    async def raw(call: Call) -> Answer:
        await asked.wait()
        call.bill.part().book(0.005)
        return sourced("brave-raw-search")

    call = asking()
    engine = FallbackEngine(
        [Ranked(paid(ledger, hang))], Engine(raw, "raw-search"), hedge_seconds=0
    )
    await engine.ask(call)
    assert call.bill.usd == pytest.approx(LIKELY + 0.005)
    assert (await ledger.day()).usd_by_upstream == {"openai": pytest.approx(LIKELY)}


async def test_a_call_without_room_in_the_budget_costs_nothing() -> None:
    ledger = Ledger(MemoryState(), daily_usd=MOST / 2)
    call = asking()
    with pytest.raises(SearchBudgetError):
        await paid(ledger, answers).ask(call)
    assert call.bill.usd == 0.0
    assert (await ledger.day()).usd == 0.0


async def test_what_an_engine_searches_with_counts_once_in_the_ledger(ledger: Ledger) -> None:
    """The searcher behind an engine pays for itself, under its own name."""

    async def searches(call: Call) -> Answer:
        await Guarded(Engine(answers, "serper"), ledger.budget("serper", lambda _: MOST)).ask(call)
        call.bill.book(0.001)
        return sourced("llm")

    call = asking()
    await paid(ledger, searches).ask(call)
    assert call.bill.usd == pytest.approx(BILL + 0.001)
    assert (await ledger.day()).usd_by_upstream == {
        "serper": pytest.approx(BILL),
        "openai": pytest.approx(0.001),
    }


async def test_a_part_of_a_bill_counts_in_the_whole_at_once() -> None:
    whole = Bill()
    part = whole.part()
    nested = part.part()
    nested.book(0.5)
    part.book(0.3)
    nested.note_request()
    assert (whole.usd, part.usd, nested.usd) == (pytest.approx(0.8), pytest.approx(0.8), 0.5)
    assert (whole.own_usd, part.own_usd, nested.own_usd) == (0.0, pytest.approx(0.3), 0.5)
    assert (whole.requests, part.requests, nested.requests) == (1, 1, 1)


TEXT = "a" * 3_000  # a thousand tokens


def vectors(request: httpx2.Request) -> httpx2.Response:
    rows = [
        {"index": place, "embedding": [1.0, 0.0]}
        for place, _ in enumerate(json.loads(request.content)["input"])
    ]
    return httpx2.Response(200, content=json.dumps({"data": rows}).encode())


def served(answer: Callable[..., Any]) -> OpenAICompatibleEmbedder:
    async def streamed(request: httpx2.Request) -> httpx2.Response:
        reply = answer(request)
        reply = await reply if isinstance(reply, Awaitable) else reply
        return httpx2.Response(reply.status_code, stream=httpx2.ByteStream(reply.content))

    async def no_sleep(_: float) -> None:
        """Repeats at once."""

    client = create_client(httpx2.MockTransport(streamed))
    return OpenAICompatibleEmbedder("http://vectors.example/v1", client, Retry(sleep=no_sleep))


async def test_a_batch_is_booked_by_its_length_for_the_calling_user() -> None:
    state = MemoryState()
    ledger = Ledger(state, daily_usd=1.0)
    await BudgetedEmbedder(served(vectors), ledger, 20.0).embed([TEXT, TEXT], "document", asking())
    day = await ledger.day()
    assert day.usd_by_upstream == {"embedding": pytest.approx(0.04)}
    assert len([key async for key, _ in state.scan(f"ledger/users/{day.day}/")]) == 1


async def test_a_spent_budget_stops_the_embedder_and_nothing_else() -> None:
    """`Unavailable`: passages are ranked by words then."""
    embedder = BudgetedEmbedder(StaticEmbedder(), Ledger(MemoryState(), daily_usd=0.01), 20.0)
    with pytest.raises(SearchBudgetError):
        await embedder.embed([TEXT], "document")


async def test_a_failure_costs_nothing() -> None:
    ledger = Ledger(MemoryState(), daily_usd=1.0)
    with pytest.raises(SearchProviderError):
        await BudgetedEmbedder(served(lambda _: httpx2.Response(503)), ledger, 20.0).embed(
            [TEXT], "document"
        )
    assert (await ledger.day()).usd_by_upstream == {}


async def test_requests_before_the_one_that_fails_are_paid() -> None:
    def serve(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(503) if b"later" in request.content else vectors(request)

    ledger = Ledger(MemoryState(), daily_usd=1.0)
    with pytest.raises(SearchProviderError):
        await BudgetedEmbedder(served(serve), ledger, 1.0).embed(
            [*[TEXT] * EMBEDDED_AT_ONCE, "later"], "document"
        )
    assert (await ledger.day()).usd_by_upstream == {"embedding": pytest.approx(0.032)}


async def test_a_reply_that_breaks_off_is_paid_beside_that_of_the_retry_and_a_refused_request_is_not() -> (
    None
):
    replies = [httpx2.Response(500), None, None, httpx2.Response(429)]

    def serve(request: httpx2.Request) -> httpx2.Response:
        return replies.pop(0) or vectors(request)

    ledger = Ledger(MemoryState(), daily_usd=1.0)
    embedder = BudgetedEmbedder(served(serve), ledger, 20.0)
    await embedder.embed([TEXT], "document")
    replies[0] = httpx2.Response(200, content=b" " * (MAX_BYTES + 1))
    with pytest.raises(SearchProviderError, match="larger than"):
        await embedder.embed([TEXT], "document")
    with pytest.raises(SearchProviderError, match="429"):
        await embedder.embed([TEXT], "document")
    assert (await ledger.day()).usd_by_upstream == {"embedding": pytest.approx(0.04)}


async def test_an_embedder_that_never_got_the_texts_costs_nothing(deaf_port: int) -> None:
    ledger = Ledger(MemoryState(), daily_usd=1.0)
    async with create_client() as client:
        remote = OpenAICompatibleEmbedder(
            f"http://127.0.0.1:{deaf_port}", client, Retry(), timeout_seconds=0.1
        )
        with pytest.raises(SearchTimeoutError):
            await BudgetedEmbedder(remote, ledger, 20.0).embed([TEXT], "document")
    assert (await ledger.day()).usd_by_upstream == {}


async def test_texts_that_were_sent_are_paid_although_nobody_waits_for_their_vectors() -> None:
    asked = asyncio.Event()

    async def hang(_: httpx2.Request) -> httpx2.Response:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    ledger = Ledger(MemoryState(), daily_usd=1.0)
    task = asyncio.create_task(
        BudgetedEmbedder(served(hang), ledger, 20.0).embed([TEXT], "document")
    )
    await asked.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (await ledger.day()).usd_by_upstream == {"embedding": pytest.approx(0.02)}


@pytest.mark.parametrize(
    ("settings", "usd"),
    [
        ({}, 0.0),
        ({"embedding_server_url": "http://localhost:11434/v1"}, 0.0),
        ({"embedding_server_url": "https://api.openai.com/v1"}, 0.02),
        (
            {
                "embedding_server_url": "https://api.openai.com/v1",
                "embedding_model_name": "text-embedding-3-large",
            },
            0.13,
        ),
        ({"embedding_server_url": "https://vectors.example/v1", "prices": "embedding:0.5"}, 0.5),
    ],
)
def test_models_of_openai_have_a_known_price_and_others_the_price_of_the_operator(
    settings: dict[str, str], usd: float
) -> None:
    assert usd_per_million_tokens(Settings(**settings)) == usd
