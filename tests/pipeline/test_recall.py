"""What comes from the cache or from an identical call takes nothing from the limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.opening import Open
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.errors import SearchError, SearchRateLimitError
from websearch_gateway.models import (
    Caller,
    RawSearchRequest,
    SearchRequest,
    WebSearchRequest,
)
from websearch_gateway.sandbox import Sandbox

ME, YOU = Caller("me"), Caller("you")

Ask = Callable[[Gateway, str, Caller], Awaitable[Any]]


async def search_web(opened: Gateway, query: str, caller: Caller) -> Any:
    return await opened.search(SearchRequest(query), caller)


async def web_search(opened: Gateway, query: str, caller: Caller) -> Any:
    return await opened.web_search(WebSearchRequest(query, 1), caller)


async def web_search_raw(opened: Gateway, query: str, caller: Caller) -> Any:
    return await opened.raw_search(RawSearchRequest((query,)), caller)


TOOLS = [
    pytest.param(search_web, "rate_limit", "openai", id="search_web"),
    pytest.param(web_search, "search_rate_limit", "serper", id="web_search"),
    pytest.param(web_search_raw, "search_rate_limit", "google", id="web_search_raw"),
]
TIDE = "What is a tide?"


async def outcomes(calls: list[Awaitable[Any]]) -> list[str]:
    """`ok` or the code of the error of each call, all at once."""
    found = await asyncio.gather(*calls, return_exceptions=True)
    return [one.code if isinstance(one, SearchError) else "ok" for one in found]


@pytest.mark.parametrize(("ask", "setting", "upstream"), TOOLS)
async def test_stored_results_take_nothing_from_the_limit(
    gateway: Open, sandbox: Sandbox, ask: Ask, setting: str, upstream: str
) -> None:
    async with gateway(**{setting: "1/minute"}) as opened:
        await ask(opened, TIDE, ME)
        for _ in range(20):
            await ask(opened, TIDE, ME)
        assert await outcomes([ask(opened, TIDE, ME) for _ in range(20)]) == ["ok"] * 20
        with pytest.raises(SearchRateLimitError, match=setting.upper()):
            await ask(opened, "What is a comet?", ME)
    assert sandbox.calls(upstream) == 1


@pytest.mark.parametrize(("ask", "setting", "upstream"), TOOLS)
async def test_of_identical_calls_at_once_only_the_first_counts(
    gateway: Open, sandbox: Sandbox, ask: Ask, setting: str, upstream: str
) -> None:
    async with gateway(**{setting: "2/minute"}) as opened:
        assert await outcomes([ask(opened, TIDE, ME) for _ in range(50)]) == ["ok"] * 50
        assert await outcomes([ask(opened, f"{TIDE} Part {n}.", ME) for n in range(50)]) == (
            ["ok"] + ["RATE_LIMIT"] * 49
        )
    assert sandbox.calls(upstream) == 2


@pytest.mark.parametrize(("ask", "setting", "upstream"), TOOLS)
async def test_results_from_the_cache_have_a_limit_of_their_own_per_user(
    gateway: Open, sandbox: Sandbox, ask: Ask, setting: str, upstream: str
) -> None:
    async with gateway(**{setting: "1/minute"}, cached_rate_limit="3/minute") as opened:
        assert (await outcomes([ask(opened, TIDE, ME) for _ in range(6)])).count("ok") == 4
        with pytest.raises(SearchRateLimitError, match="CACHED_RATE_LIMIT"):
            await ask(opened, TIDE, ME)
        await ask(opened, TIDE, YOU)
    assert sandbox.calls(upstream) == 1


@pytest.mark.parametrize(("ask", "setting", "upstream"), TOOLS)
async def test_a_user_over_the_limit_does_not_stop_others_who_joined_their_call(
    gateway: Open, sandbox: Sandbox, ask: Ask, setting: str, upstream: str
) -> None:
    async with gateway(**{setting: "1/minute"}) as opened:
        await ask(opened, "What is a comet?", ME)
        first, *others = await outcomes(
            [ask(opened, TIDE, caller) for caller in (ME, *[YOU] * 5, *[ME] * 5)]
        )
    assert (first, others[:5]) == ("RATE_LIMIT", ["ok"] * 5)
    # On a busy machine one of them comes when the result is stored, which costs nothing.
    assert set(others[5:]) <= {"RATE_LIMIT", "ok"}
    assert sandbox.calls(upstream) == 2


async def test_a_call_without_the_cache_always_counts(gateway: Open) -> None:
    async with gateway(search_rate_limit="2/minute") as opened:
        request = WebSearchRequest(TIDE, 1, use_cache=False)
        assert (await outcomes([opened.web_search(request, ME) for _ in range(5)])).count("ok") == 2


async def test_nobody_is_limited_unless_a_setting_says_so(gateway: Open) -> None:
    async with gateway() as opened:
        for ask, most in ((search_web, 21), (web_search, 61)):
            asked = [ask(opened, f"{TIDE} Part {n}.", ME) for n in range(most)]
            assert await outcomes(asked) == ["ok"] * most
