"""The engines over real sockets to the sandbox, alone and with others as fallbacks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from websearch_gateway.answers import llm as engine
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.errors import Exhausted, SearchAuthError, SearchNotConfiguredError
from websearch_gateway.models import SearchRequest
from websearch_gateway.sandbox import LLM_MODEL, Sandbox, key_of
from websearch_gateway.settings.loading import ENGINES

Open = Callable[..., AbstractAsyncContextManager[Gateway]]
TOWER = SearchRequest("How tall is the Eiffel Tower?")
NAMES = [row.name for row in ENGINES if row.name != "openai"]
KEYS = {f"{name}_api_key": key_of(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
async def test_an_engine_answers_with_verified_spans(gateway: Open, name: str) -> None:
    async with gateway(answer_engines=name, **KEYS) as opened:
        response = await opened.search(TOWER)
        checks = {check.name: check.status for check in (await opened.doctor.examine()).checks}
    assert response.model
    assert response.provider == f"{response.model}-web-search"
    assert "330" in response.text
    assert all(response.text[c.start_index : c.end_index] for c in response.citations)
    assert response.citations
    assert all(f"[{c.rank}]" in response.text for c in response.citations)
    assert response.cost_usd > 0
    assert (response.search_suggestions is not None) == (name == "gemini")
    assert checks[name] == "ok"


async def test_googles_redirects_are_resolved_if_the_operator_enables_it(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(answer_engines="gemini", **KEYS) as opened:
        kept = await opened.search(TOWER)
    async with gateway(
        answer_engines="gemini", gemini_resolve_links=True, state_url="memory://", **KEYS
    ) as opened:
        resolved = await opened.search(TOWER)
    assert all("/grounding-api-redirect" in citation.url for citation in kept.citations)
    assert sandbox.calls("gemini/grounding-api-redirect") > 0
    assert [citation.url for citation in resolved.citations][:1] == [
        f"{sandbox.url}/pages/eiffel-tower"
    ]
    assert (resolved.text, sandbox.calls("pages")) == (kept.text, 0), "asked, not followed"


async def test_a_link_that_cannot_be_resolved_stays(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("gemini/grounding-api-redirect", "status", status=503)
    async with gateway(answer_engines="gemini", gemini_resolve_links=True, **KEYS) as opened:
        response = await opened.search(TOWER)
    assert response.citations
    assert all("/grounding-api-redirect" in citation.url for citation in response.citations)


async def test_a_paused_turn_is_continued(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("anthropic", "pause_turn")
    async with gateway(answer_engines="anthropic", **KEYS) as opened:
        response = await opened.search(TOWER)
    assert response.citations
    assert sandbox.calls("anthropic") == 2


async def test_the_next_engine_answers_if_one_is_down(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "status", status=503)
    sandbox.fault("anthropic", "no_search")
    async with gateway(**KEYS) as opened:
        response = await opened.search(TOWER)
    assert response.provider == "gemini-3.5-flash-lite-web-search"
    assert response.fallback is not None
    assert response.fallback.from_ == "openai"
    assert "anthropic: PARSE" in response.fallback.reason


@pytest.mark.parametrize("name", ["openai", *NAMES, "llm"])
async def test_raw_search_answers_beside_an_engine_that_hangs(
    gateway: Open, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    sandbox.fault("llm/v1/chat" if name == "llm" else name, "hang")
    settings: dict[str, object] = KEYS | {"llm_model": LLM_MODEL, "fallback_hedge_seconds": 0.2}
    if name == "llm":  # it uses up all of its time, and the quotes need theirs
        monkeypatch.setattr(engine, "CHECK_RESERVE_SECONDS", 10.0)
        settings["search_deadline_seconds"] = 15.0
    async with gateway(answer_engines=name, **settings) as opened:
        response = await opened.search(TOWER)
    assert response.provider == "serper-raw-search"
    assert response.fallback is not None
    assert (response.fallback.from_, response.fallback.reason.split(":")[0]) == (name, "TIMEOUT")
    assert sandbox.calls("serper") == 1


async def test_your_own_model_writes_from_what_raw_search_found_beside_an_engine_that_hangs(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "hang")
    settings = {
        "answer_engines": "openai,llm",
        "llm_model": LLM_MODEL,
        "fallback_hedge_seconds": 0.2,
    }
    async with gateway(**settings) as opened:
        response = await opened.search(TOWER)
    assert response.provider == f"{LLM_MODEL}-over-serper"
    assert sandbox.calls("serper") == 1


@pytest.mark.parametrize("name", NAMES)
async def test_a_wrong_key_is_named_and_not_masked(gateway: Open, name: str) -> None:
    async with gateway(answer_engines=name, **{f"{name}_api_key": "wrong-0123456789"}) as opened:
        with pytest.raises(SearchAuthError, match=f"{name.upper()}_API_KEY"):
            await opened.search(TOWER)


@pytest.mark.parametrize(
    ("names", "words"), [("nobody", "not one of openai"), ("gemini", "GEMINI_API_KEY")]
)
async def test_an_engine_that_cannot_serve_is_refused_at_the_start(
    gateway: Open, names: str, words: str
) -> None:
    with pytest.raises(SearchNotConfiguredError, match=words):
        async with gateway(answer_engines=names):
            pass


async def test_a_search_that_your_own_model_and_quotes_share_fails_once(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "garbage")
    own = {"answer_engines": "llm", "llm_base_url": f"{sandbox.url}/llm/v1", "llm_model": LLM_MODEL}
    async with gateway(search_providers="serper", **own) as opened:
        with pytest.raises(Exhausted) as caught:
            await opened.search(TOWER)
    assert [attempt.name for attempt in caught.value.attempts] == ["serper"]
    assert sandbox.calls("serper") == 1
