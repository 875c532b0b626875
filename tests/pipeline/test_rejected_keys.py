"""A rejected key is an error for what was asked first in the call; behind another upstream it is a loud warning."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.opening import Open
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.errors import Exhausted, SearchAuthError
from websearch_gateway.models import RawSearchRequest, SearchRequest, WebSearchRequest
from websearch_gateway.sandbox import LLM_MODEL, Sandbox, key_of
from websearch_gateway.settings.loading import ENGINES

QUESTION = "How tall is the Eiffel Tower?"
WRONG = "wrong-0123456789abcdef"
LLM = {"llm_model": LLM_MODEL, "llm_api_key": WRONG}

Ask = Callable[[Gateway], Awaitable[Any]]


async def answer(opened: Gateway) -> Any:
    return await opened.search(SearchRequest(QUESTION))


async def web(opened: Gateway, **more: Any) -> Any:
    return await opened.web_search(WebSearchRequest(QUESTION, 1, use_cache=False, **more))


async def news(opened: Gateway) -> Any:
    return await web(opened, topic="news")


async def named(opened: Gateway) -> Any:
    return await web(opened, providers=("brave", "tavily", "serper"))


async def raw(opened: Gateway) -> Any:
    return await opened.raw_search(RawSearchRequest((QUESTION,), use_cache=False))


def wrong(*names: str) -> dict[str, Any]:
    keys = {
        f"{name}_api_key": key_of(name)
        for name in (row.name for row in ENGINES)
        if name != "openai"
    }
    return {**keys, **{f"{name}_api_key": WRONG for name in names}}


OPENAI = {"answer_engines": "openai"}


@pytest.mark.parametrize(
    ("ask", "first", "settings"),
    [
        (answer, "openai", {}),
        (answer, "anthropic", {"answer_engines": "anthropic,openai"}),
        (
            answer,
            "serper",
            {"answer_engines": "llm", **LLM},
        ),  # the model writes from what the provider finds
        (answer, "llm", {"answer_engines": "llm,openai", **LLM}),
        (web, "serper", {}),
        (web, "tavily", {"provider_weights": "tavily:1"}),
        (news, "tavily", {"search_providers": "wikipedia,tavily,serper"}),
        (named, "brave", {}),
        (raw, "google", {}),
    ],
)
async def test_the_first_that_is_asked_fails_the_call(
    gateway: Open, sandbox: Sandbox, ask: Ask, first: str, settings: dict[str, Any]
) -> None:
    if first == "llm":
        sandbox.fault("llm", "status", status=401)
    async with gateway(**settings, **wrong(*{first} - {"llm"})) as opened:
        with pytest.raises(SearchAuthError, match=f"{first.upper()}_API_KEY"):
            await ask(opened)


@pytest.mark.parametrize(
    ("ask", "down", "rejected", "served", "settings"),
    [
        (answer, "openai", "serper", "tavily-raw-search", OPENAI),
        (answer, "openai", "anthropic", "gemini", {"answer_engines": "openai,anthropic,gemini"}),
        (answer, "openai", "serper", "over-tavily", {"answer_engines": "openai,llm", **LLM}),
        (answer, "openai", "llm", "serper-raw-search", {"answer_engines": "openai,llm", **LLM}),
        (web, "serper", "tavily", "brave", {}),
        (web, "tavily", "serper", "brave", {"provider_weights": "tavily:1"}),
        (named, "brave", "tavily", "serper", {}),
        (raw, "google", "serper", "tavily", {}),
    ],
)
async def test_one_behind_a_failed_one_is_skipped_with_a_loud_warning(
    gateway: Open,
    sandbox: Sandbox,
    ask: Ask,
    down: str,
    rejected: str,
    served: str,
    settings: dict[str, Any],
) -> None:
    sandbox.fault(down, "status", status=503)
    if rejected == "llm":
        sandbox.fault("llm", "status", status=401)
    async with gateway(**settings, **wrong(*{rejected} - {"llm"})) as opened:
        found = await ask(opened)
    results = getattr(found, "results", None) or getattr(found, "queries", None) or [found]
    assert served in results[0].provider
    (loud,) = (
        warning
        for warning in found.warnings
        if warning.startswith(f"{rejected.upper()} IS SKIPPED")
    )
    assert f"{rejected.upper()}_API_KEY" in loud
    assert WRONG not in loud


async def test_raw_search_behind_an_engine_stays_behind_it_while_the_circuit_of_the_engine_is_open(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=503)
    async with gateway(
        **OPENAI, breaker_failures=1, cache_ttl_seconds=0, **wrong("serper")
    ) as opened:
        for _ in range(3):
            found = await answer(opened)
            assert (found.provider, found.warnings[0][:6]) == ("tavily-raw-search", "SERPER")
    assert sandbox.calls("openai") <= 2


async def test_a_provider_whose_circuit_is_open_was_not_asked(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "status", status=503)
    async with gateway(breaker_failures=1, **wrong("tavily")) as opened:
        assert (await web(opened)).results[0].provider == "brave"
        with pytest.raises(SearchAuthError, match="TAVILY_API_KEY"):
            await web(opened)


async def test_raw_search_beside_a_slow_engine_skips_a_rejected_key(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "hang")
    async with gateway(**OPENAI, fallback_hedge_seconds=0, **wrong("serper")) as opened:
        found = await answer(opened)
    assert found.provider == "tavily-raw-search"
    assert any(warning.startswith("SERPER IS SKIPPED") for warning in found.warnings)


async def test_the_error_names_rejected_keys_when_nothing_serves(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "status", status=503)
    async with gateway(
        search_providers="serper,tavily,brave", **wrong("tavily", "brave")
    ) as opened:
        with pytest.raises(Exhausted, match=r"TAVILY_API_KEY.*BRAVE_API_KEY"):
            await web(opened)
