"""The provider pool of a whole gateway, over real sockets to the sandbox: what a broken upstream may cost."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.opening import UPSTREAMS, Open
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.errors import Exhausted, SearchError, SearchNotConfiguredError
from websearch_gateway.models import Call, Deadline, SearchQuery, SearchRequest, SearchResults
from websearch_gateway.results import SearchResponse
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.upstream.health import UpstreamStatus

NEVER = 10**9
DEADLINE = 60.0
"""Of every call that should not meet it: nothing is quick on a busy machine."""


@pytest.fixture
def gateway(gateway: Open) -> Open:
    """The same, without limits and with nothing of an earlier test in its state."""
    return functools.partial(gateway, state_url="memory://", rate_limit="none")


async def ask(gateway: Gateway, number: int) -> SearchResponse | SearchError:
    """A question that nobody has asked before."""
    try:
        return await gateway.search(
            SearchRequest(f"How tall is the Eiffel Tower, number {number}?")
        )
    except SearchError as error:
        return error


def to_find(seconds: float = DEADLINE) -> Call:
    return Call.of(SearchQuery("eiffel tower"), Deadline.after(seconds))


async def find(gateway: Gateway, seconds: float = DEADLINE) -> SearchResults:
    """Raw results, without reading pages."""
    return await gateway.web.selection.pool.ask(to_find(seconds))


def status(gateway: Gateway, name: str) -> UpstreamStatus:
    return next(upstream for upstream in gateway.health.snapshot() if upstream.name == name)


FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("status", {"status": 500}),
    ("status", {"status": 503, "retry_after": 3600}),
    ("status", {"status": 429, "retry_after": 70}),
    ("reset", {}),
    ("garbage", {}),
    ("hang", {}),
    ("drip", {"seconds": 1.0}),
)


@pytest.mark.parametrize("target", ["openai", "serper"])
@pytest.mark.parametrize(("kind", "options"), FAULTS, ids=lambda value: str(value))
async def test_each_fault_alone_leaves_an_answer_in_time_and_then_the_upstream_alone(
    gateway: Open, sandbox: Sandbox, target: str, kind: str, options: dict[str, Any]
) -> None:
    sandbox.fault(target, kind, **options)
    others = {"openai_api_key": None} if target == "serper" else {}
    slow = kind in {"hang", "drip"}
    hurried = {"request_timeout_ms": 2_000 if slow else 30_000, "search_deadline_seconds": DEADLINE}
    async with gateway(
        breaker_failures=2, search_providers="serper,duckduckgo", **hurried, **others
    ) as opened:
        for number in range(2):
            response = await ask(opened, number)
            assert isinstance(response, SearchResponse)
            assert response.citations
        calls = sandbox.calls(target)
        assert status(opened, target).breaker == "open"
        response = await ask(opened, 2)
    assert isinstance(response, SearchResponse)
    assert sandbox.calls(target) == calls
    told = (
        [response.fallback.reason]
        if target == "openai" and response.fallback
        else response.warnings
    )
    assert any(f"The circuit of {target} is open for" in line for line in told)


@pytest.mark.parametrize("kind", ["status", "hang", "reset", "garbage"])
async def test_with_everything_down_every_error_is_typed_in_time_and_soon_at_once(
    gateway: Open, sandbox: Sandbox, kind: str
) -> None:
    for target in UPSTREAMS:
        sandbox.fault(target, kind)
    hurried = {
        "request_timeout_ms": 500 if kind == "hang" else 30_000,
        "search_deadline_seconds": DEADLINE,
    }
    async with gateway(breaker_failures=2, **hurried) as opened:
        for number in range(2):
            assert isinstance(await ask(opened, number), Exhausted)
        calls = {target: sandbox.calls(target) for target in UPSTREAMS}
        error = await ask(opened, 2)
        assert {target: sandbox.calls(target) for target in UPSTREAMS} == calls
    assert isinstance(error, Exhausted)
    assert [attempt.name for attempt in error.attempts] == [*UPSTREAMS]
    assert all("is open for" in attempt.reason for attempt in error.attempts)
    assert 0 < (error.retry_after or 0) <= 30


async def test_a_flapping_provider_is_left_alone_and_found_again(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(
        breaker_failures=2, breaker_rest_seconds=0.2, search_providers="serper,duckduckgo"
    ) as opened:
        for _ in range(3):
            sandbox.fault("serper", "status", status=500)
            while status(opened, "serper").breaker == "closed":
                assert (await find(opened)).provider == "duckduckgo"
            sandbox.clear_faults()
            while (await find(opened)).provider != "serper":
                pass
            assert status(opened, "serper").breaker == "closed"


QUESTIONS = 100


@pytest.mark.parametrize("failures", [NEVER, 5], ids=["without breakers", "with breakers"])
async def test_dead_upstreams_are_asked_at_most_a_tenth_more_often_than_there_are_questions(
    gateway: Open, sandbox: Sandbox, failures: int
) -> None:
    """The promise of the retry budget, for a process; the breakers' is far below it."""
    for target in UPSTREAMS:
        sandbox.fault(target, "status", status=500)
    names = ("openai", "duckduckgo")
    lanes = asyncio.Semaphore(20)

    async def one(opened: Gateway, number: int) -> SearchResponse | SearchError:
        async with lanes:
            return await ask(opened, number)

    async with gateway(search_providers="duckduckgo", breaker_failures=failures) as opened:
        outcomes = await asyncio.gather(*(one(opened, number) for number in range(QUESTIONS)))
    assert all(isinstance(outcome, Exhausted) for outcome in outcomes)
    calls = {name: sandbox.calls(name) for name in names}
    retries = 10  # what the budget holds, and no success fills it again
    most = QUESTIONS * len(names) + retries if failures == NEVER else 100
    assert all(0 < count <= 1.1 * QUESTIONS for count in calls.values())
    assert sum(calls.values()) <= most


async def test_five_hundred_questions_at_the_same_instant_make_at_most_550_calls_of_all_dead_upstreams_together(
    gateway: Open, sandbox: Sandbox
) -> None:
    """Also of those that were well a moment ago: the vanguard of each finds out for the rest."""
    async with gateway() as opened:
        assert isinstance(await ask(opened, 500), SearchResponse)
        before = sum(sandbox.calls(target) for target in UPSTREAMS)
        for target in UPSTREAMS:
            sandbox.fault(target, "status", status=500)
        outcomes = await asyncio.gather(*(ask(opened, number) for number in range(500)))
    assert all(isinstance(outcome, SearchError) for outcome in outcomes), (
        "a busy machine may run out of time first"
    )
    assert 0 < sum(sandbox.calls(target) for target in UPSTREAMS) - before <= 550


async def test_a_provider_that_became_slow_is_overtaken_by_the_next_and_still_paid_for(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(search_providers="serper,duckduckgo") as opened:
        calls = [to_find() for _ in range(20)]
        assert {(await opened.web.selection.pool.ask(call)).provider for call in calls} == {
            "serper"
        }
        sandbox.fault("serper", "delay", seconds=DEADLINE)
        call = to_find()
        results = await opened.web.selection.pool.ask(call)
        assert status(opened, "serper").breaker == "closed"
    assert results.provider == "duckduckgo"
    assert call.bill.usd == calls[0].bill.usd > 0, "what was sent to serper; duckduckgo is free"
    await sandbox.wait_for("serper", cancelled=1)


async def test_a_slow_one_is_overtaken_too_where_the_call_names_its_providers(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(search_providers="serper,duckduckgo") as opened:
        for _ in range(20):
            await find(opened)
        sandbox.fault("serper", "delay", seconds=DEADLINE)
        named = opened.web.selection.choose(["serper", "duckduckgo"])
        results = await named.ask(Call.of(SearchQuery("eiffel tower"), Deadline.after(DEADLINE)))
    assert results.warnings == ("serper was slow; duckduckgo answered before it.",)


async def test_weights_share_the_searches(gateway: Open, sandbox: Sandbox) -> None:
    async with gateway(
        search_providers="serper,duckduckgo", provider_weights="duckduckgo:1"
    ) as opened:
        for _ in range(5):
            await find(opened)
    assert (sandbox.calls("duckduckgo"), sandbox.calls("serper")) == (5, 0)


async def test_a_weight_for_a_provider_that_is_not_there_is_told_at_the_start(
    gateway: Open,
) -> None:
    with pytest.raises(
        SearchNotConfiguredError,
        match="PROVIDER_WEIGHTS names braev, but only these are configured: ",
    ):
        async with gateway(provider_weights="braev:3,duckduckgo:1"):
            pass


async def test_a_price_of_nobody_is_told_at_the_start(gateway: Open) -> None:
    with pytest.raises(
        SearchNotConfiguredError, match="PRICES names braev, but there are only these: "
    ):
        async with gateway(prices="braev:3,duckduckgo:1"):
            pass


async def test_a_price_may_wait_for_its_provider_to_be_switched_on(gateway: Open) -> None:
    async with gateway(search_providers="duckduckgo", prices="openai:0.02,serper:0.001"):
        pass


async def test_the_doctor_calls_upstreams_that_are_left_alone(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "status", status=500)
    settings = {
        "openai_api_key": None,
        "search_providers": "serper,duckduckgo",
        "breaker_failures": 1,
    }
    async with gateway(**settings) as opened:
        await ask(opened, 0)
        assert status(opened, "serper").breaker == "open"
        sandbox.clear_faults()
        checks = {check.name: check.status for check in (await opened.doctor.examine()).checks}
    assert checks["serper"] == "ok"


async def test_the_engine_is_shown_first_then_the_providers_in_their_order(gateway: Open) -> None:
    async with gateway() as opened:
        assert tuple(upstream.name for upstream in opened.health.snapshot()) == UPSTREAMS
    async with gateway(openai_api_key=None, search_providers="duckduckgo,serper") as opened:
        assert [upstream.name for upstream in opened.health.snapshot()] == ["duckduckgo", "serper"]


def test_a_gateway_without_a_key_imports_no_provider_that_it_does_not_ask(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.settings.loading import Settings
asyncio.run(Gateway(Settings(data_dir={str(tmp_path)!r}, openai_api_key="k")).close())
providers = {{name.rpartition(".")[2] for name in sys.modules if name.startswith("websearch_gateway.providers.")}}
print(*sorted(providers - {{"table"}}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "duckduckgo wikipedia\n"
