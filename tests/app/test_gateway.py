from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.opening import UPSTREAMS, Open
from tests.patience import PATIENCE
from websearch_gateway.app.gateway import Gateway, open_caches
from websearch_gateway.base import CacheMemory
from websearch_gateway.errors import (
    Exhausted,
    SearchAuthError,
    SearchNotConfiguredError,
    SearchRateLimitError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import (
    LOCAL,
    Caller,
    ContentRequest,
    DocsAddRequest,
    DocsSearchRequest,
    PassagesRequest,
    RawSearchRequest,
    SearchRequest,
    WebSearchRequest,
)
from websearch_gateway.results import SearchResponse
from websearch_gateway.sandbox import Sandbox, key_of
from websearch_gateway.settings.loading import Settings
from websearch_gateway.state.memory import MemoryState

TOWER = SearchRequest("How tall is the Eiffel Tower?")


def exact(response: SearchResponse) -> bool:
    """Whether every citation has a place in the text and a sentence of the text behind it."""
    return all(
        response.text[citation.start_index : citation.end_index] and citation.text_snippet
        for citation in response.citations
    )


@pytest.mark.parametrize(
    ("fault", "options", "code"),
    [
        ("status", {"status": 500}, "PROVIDER"),
        ("status", {"status": 503}, "PROVIDER"),
        ("status", {"status": 429}, "PROVIDER"),
        ("status", {"status": 429, "reason": "insufficient_quota"}, "PROVIDER"),
        ("reset", {}, "PROVIDER"),
        ("garbage", {}, "PARSE"),
        ("no_search", {}, "PARSE"),
        ("failed", {}, "PROVIDER"),
        ("incomplete", {}, "P"),
    ],
)
async def test_openai_out_of_order_gives_a_cited_raw_answer_with_the_reason(
    gateway: Open, sandbox: Sandbox, fault: str, options: dict[str, Any], code: str
) -> None:
    sandbox.fault("openai", fault, **options)
    async with gateway() as opened:
        response = await opened.search(TOWER)
    assert response.provider == "serper-raw-search"
    assert response.fallback is not None
    assert response.fallback.from_ == "openai"
    assert response.fallback.reason.startswith(code)
    assert "330" in response.text
    assert response.citations
    assert exact(response)


async def test_a_hanging_engine_is_overtaken_by_raw_search(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "hang")
    async with gateway(fallback_hedge_seconds=0.1) as opened:
        response = await opened.search(TOWER)
    assert response.fallback is not None
    assert response.fallback.reason == "TIMEOUT: no answer within 0.1 s."
    await sandbox.wait_for("openai", cancelled=1)


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, SearchAuthError), (403, SearchAuthError), (400, SearchValidationError)],
)
async def test_a_refusal_of_openai_is_shown_and_nobody_else_is_asked(
    gateway: Open, sandbox: Sandbox, status: int, error: type[Exception]
) -> None:
    sandbox.fault("openai", "status", status=status)
    async with gateway() as opened:
        with pytest.raises(error):
            await opened.search(TOWER)
    assert sandbox.calls("serper") == 0


async def test_without_any_key_duckduckgo_answers(gateway: Open, sandbox: Sandbox) -> None:
    keys = {name.lower(): None for name in sandbox.environment() if name.endswith("_KEY")}
    async with gateway(**keys, searxng_base_url=None) as opened:
        response = await opened.search(TOWER)
    assert response.provider == "duckduckgo-raw-search"
    assert response.fallback is None, "nobody expects an engine that was never configured"
    assert "330" in response.text
    assert response.cost_usd == 0


async def test_without_any_key_wikipedia_answers_where_duckduckgo_blocks(
    gateway: Open, sandbox: Sandbox
) -> None:
    keys = {name.lower(): None for name in sandbox.environment() if name.endswith("_KEY")}
    sandbox.fault("duckduckgo", "bot")
    async with gateway(**keys, searxng_base_url=None) as opened:
        response = await opened.search(TOWER)
        german = await opened.search(SearchRequest("Wie lange zieht ein Sauerteig?"))
        sandbox.fault("wikipedia", "status", status=503)
        with pytest.raises(Exhausted, match=r"SERPER_API_KEY .*https://serper\.dev"):
            await opened.search(SearchRequest("how deep is the sea"))
        checks = {check.name: check for check in (await opened.doctor.examine()).checks}
    assert response.provider == "wikipedia-raw-search"
    assert "330" in response.text
    assert any("encyclopaedia" in warning for warning in response.warnings)
    assert german.provider == "wikipedia-raw-search"
    assert [call.path.split("/")[1] for call in sandbox.seen("wikipedia")][:2] == ["en", "de"]
    assert (checks["keys"].status, "SERPER_API_KEY" in checks["keys"].remedy) == ("warn", True)


async def test_every_provider_down_is_an_error_that_names_each_attempt_and_no_secret(
    gateway: Open, sandbox: Sandbox
) -> None:
    for target in UPSTREAMS:
        sandbox.fault(target, "status", status=503)
    async with gateway() as opened:
        with pytest.raises(Exhausted) as caught:
            await opened.search(TOWER)
    assert [attempt.name for attempt in caught.value.attempts] == [*UPSTREAMS]
    for name, value in sandbox.environment().items():
        if name.endswith("_KEY"):
            assert value not in f"{caught.value} {caught.value.details}"


@pytest.mark.parametrize(
    ("fault", "options", "code", "wait"),
    [
        ("status", {"status": 429, "retry_after": 400}, "RATE_LIMIT", 400),
        ("garbage", {}, "PARSE", None),
    ],
)
async def test_when_every_upstream_fails_for_one_reason_the_error_says_which(
    gateway: Open,
    sandbox: Sandbox,
    fault: str,
    options: dict[str, Any],
    code: str,
    wait: float | None,
) -> None:
    for target in UPSTREAMS:
        sandbox.fault(target, fault, **options)
    async with gateway() as opened:
        with pytest.raises(Exhausted) as caught:
            await opened.search(TOWER)
    assert (caught.value.code, caught.value.retry_after) == (code, wait)


async def test_a_bot_page_is_not_taken_for_an_empty_result(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "status", status=503)
    sandbox.fault("duckduckgo", "bot")
    async with gateway(search_providers="duckduckgo") as opened:
        with pytest.raises(Exhausted, match="duckduckgo"):
            await opened.search(TOWER)


async def test_the_next_provider_is_asked_when_no_result_shares_a_word_with_the_query(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "unrelated")
    async with gateway(
        openai_api_key="", search_providers="serper,brave", breaker_failures=1
    ) as opened:
        answer = await opened.search(TOWER)
        assert answer.provider == "brave-raw-search"
        assert answer.fallback is not None
        assert (answer.fallback.from_, answer.fallback.reason) == ("serper", "unrelated results")
        found = await opened.web_search(
            WebSearchRequest("descale an espresso machine", max_results=5)
        )
        assert {result.provider for result in found.results} == {"brave"}
        told = (
            "The results of serper share no word with the query. Those of brave are shown instead."
        )
        assert told in found.warnings
    assert sandbox.calls("serper") == 2, "the query may be the reason, so its circuit stays closed"


@pytest.mark.parametrize(
    ("faults", "asked"),
    [
        ({}, {"serper": 1, "brave": 1, "tavily": 0}),
        ({"brave": ("status", 500)}, {"serper": 1, "brave": 1, "tavily": 1}),
        ({"brave": ("status", 400)}, {"serper": 1, "brave": 1, "tavily": 0}),
        ({"brave": ("status", 500), "tavily": ("hang", 0)}, {"serper": 1, "brave": 1, "tavily": 1}),
    ],
)
async def test_the_first_results_are_served_when_no_provider_has_any_that_share_a_word_with_the_query(
    gateway: Open, sandbox: Sandbox, faults: dict[str, tuple[str, int]], asked: dict[str, int]
) -> None:
    for target in ("serper", "brave", "tavily"):
        kind, status = faults.get(target, ("unrelated", 0))
        sandbox.fault(target, kind, **({"status": status} if status else {}))
    options = {
        "search_providers": "serper,brave,tavily",
        "search_deadline_seconds": "4" if "tavily" in faults else "15",
    }
    async with gateway(openai_api_key="", **options) as opened:
        found = await opened.web_search(
            WebSearchRequest("recieve a parcle abroad", max_results=5, read_pages=False)
        )
    assert {result.provider for result in found.results} == {"serper"}
    assert [
        warning
        for warning in found.warnings
        if warning.startswith("No result of serper shares a word")
    ]
    assert {target: sandbox.calls(target) > 0 for target in asked} == {
        t: count > 0 for t, count in asked.items()
    }


@pytest.mark.parametrize("provider", ["synthetic", "exa", "firecrawl", "linkup", "jina"])
async def test_pages_whose_text_the_provider_sent_are_not_fetched_for_an_answer(
    gateway: Open, sandbox: Sandbox, provider: str
) -> None:
    async with gateway(openai_api_key="", search_providers=provider) as opened:
        answer = await opened.search(TOWER)
        assert "330 metres" in answer.text
        assert exact(answer)
        assert answer.provider == f"{provider}-raw-search"
        assert not [warning for warning in answer.warnings if "read" in warning]
        assert sandbox.calls("pages") == 0
        await opened.reading.content(ContentRequest(answer.citations[0].url))
    assert sandbox.calls("pages") == 1, "the text is in no cache of pages"


async def test_perplexitys_key_turns_its_search_on_only_where_it_is_named(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(perplexity_api_key=key_of("perplexity"), answer_engines="openai") as opened:
        await opened.web_search(WebSearchRequest("sourdough bread", max_results=2))
    assert sandbox.calls("perplexity") == 0
    named = {"search_providers": "perplexity_search", "perplexity_api_key": key_of("perplexity")}
    async with gateway(**named, answer_engines="openai") as opened:
        found = await opened.web_search(WebSearchRequest("night train", max_results=2))
    assert {result.provider for result in found.results} == {"perplexity_search"}


async def test_unrelated_results_are_named_behind_the_engine_that_failed(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=500)
    sandbox.fault("serper", "unrelated")
    async with gateway(search_providers="serper,brave") as opened:
        answer = await opened.search(TOWER)
    assert answer.fallback is not None
    assert answer.fallback.from_ == "openai"
    assert answer.fallback.reason.endswith(" serper: unrelated results.")


async def test_an_empty_result_is_an_honest_answer_and_not_cached(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=503)
    question = SearchRequest("zxqv wvutsr qqqqzzz")
    async with gateway() as opened:
        first, second = await opened.search(question), await opened.search(question)
    assert first.citations == ()
    assert first.text
    assert second.cache == "miss"
    assert sandbox.calls("tavily") == 0


async def test_pages_that_cannot_be_read_leave_the_snippets_and_a_warning(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=503)
    sandbox.fault("pages", "status", status=404)
    async with gateway() as opened:
        response = await opened.search(TOWER)
    assert any("snippet" in warning for warning in response.warnings)
    assert exact(response)


@pytest.mark.parametrize(
    "fault", ["hang", "drip", "gzip_bomb", "redirect_private", "redirect_loop", "reset"]
)
async def test_a_hostile_page_costs_that_page_only(
    gateway: Open, sandbox: Sandbox, fault: str
) -> None:
    sandbox.fault("openai", "status", status=503)
    sandbox.fault("pages/eiffel-tower", fault)
    async with gateway(request_timeout_ms=5_000) as opened:
        response = await opened.search(TOWER)
    assert response.provider == "serper-raw-search"
    assert any("127.0.0.1" in warning for warning in response.warnings)


async def test_when_everything_hangs_the_error_comes_in_time_and_names_what_was_tried(
    gateway: Open, sandbox: Sandbox
) -> None:
    for target in UPSTREAMS:
        sandbox.fault(target, "hang")
    async with gateway(search_deadline_seconds=6, fallback_hedge_seconds=0.1) as opened:
        with pytest.raises(Exhausted) as caught:
            await asyncio.wait_for(opened.search(TOWER), PATIENCE)
    assert {attempt.code for attempt in caught.value.attempts} == {"TIMEOUT"}
    assert caught.value.attempts[0].name == "openai"


async def test_a_state_that_hangs_cannot_hold_a_search_past_its_deadline(gateway: Open) -> None:
    async with gateway(search_deadline_seconds=0.2) as opened:
        held = asyncio.Event()

        async def hang(_: Caller) -> None:
            await held.wait()

        recall = replace(opened.pipeline.recall, rate_limits=SimpleNamespace(admit=hang))
        stuck = replace(opened.pipeline, recall=recall)
        with pytest.raises(SearchTimeoutError):
            await stuck.search(TOWER)


async def test_who_joins_a_call_in_flight_is_not_billed_for_it(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway() as opened:
        responses = await asyncio.gather(*(opened.search(TOWER) for _ in range(10)))
    assert sandbox.calls("openai") == 1
    assert sum(response.cost_usd > 0 for response in responses) == 1


async def test_a_reply_that_was_billed_and_came_to_nothing_is_counted(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "no_search")
    async with gateway(search_providers="duckduckgo") as opened:
        response = await opened.search(TOWER)
    assert response.provider == "duckduckgo-raw-search"
    assert response.cost_usd > 0


async def test_filters_say_what_was_asked_for_and_what_was_done(
    gateway: Open, sandbox: Sandbox
) -> None:
    request = SearchRequest("storm on the coast", freshness_hours=20, region="gb")
    async with gateway(search_providers="duckduckgo") as opened:
        by_openai = await opened.search(request)
        sandbox.fault("openai", "status", status=503)
        raw = await opened.search(
            SearchRequest("storm on the coast today", freshness_hours=20, region="gb")
        )
    assert by_openai.filters.freshness.model_dump() == {"requested": 20, "applied": "prompt"}
    assert by_openai.filters.region.model_dump() == {"requested": "GB", "applied": "GB"}
    assert raw.filters.freshness.applied == "day"


async def test_many_different_questions_at_once_are_all_answered(gateway: Open) -> None:
    async with gateway(rate_limit="none", state_url="memory://") as opened:
        asked = (
            opened.search(SearchRequest(f"How tall is the Eiffel Tower number {n}?"))
            for n in range(40)
        )
        responses = await asyncio.gather(*asked)
    assert len(responses) == 40
    assert all(exact(response) for response in responses)


async def test_the_limit_is_each_users_own(gateway: Open) -> None:
    async with gateway(rate_limit="1/minute") as opened:
        await opened.search(TOWER, LOCAL)
        await opened.search(SearchRequest("What is a comet?"), Caller("somebody else"))
        with pytest.raises(SearchRateLimitError) as caught:
            await opened.search(SearchRequest("What is a tide?"), LOCAL)
    assert 0 < (caught.value.retry_after or 0) <= 60


async def test_users_do_not_share_answers_when_the_scope_is_user(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(cache_scope="user") as opened:
        await opened.search(TOWER, LOCAL)
        other = await opened.search(TOWER, Caller("somebody else"))
    assert other.cache == "miss"
    assert sandbox.calls("openai") == 2


KEY = "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"
PAGE = "https://example.com/"
WITH_A_KEY: dict[str, Callable[[Gateway], Awaitable[object]]] = {
    "query of search_web": lambda g: g.search(SearchRequest(f"why does {KEY} not work")),
    "domains to include": lambda g: g.search(
        SearchRequest("what is new", include_domains=(f"{KEY}.example.org",))
    ),
    "domains to exclude": lambda g: g.search(
        SearchRequest("what is new", exclude_domains=("a.example", KEY))
    ),
    "query of web_search": lambda g: g.web_search(WebSearchRequest(f"why does {KEY} not work")),
    "domains of web_search": lambda g: g.web_search(
        WebSearchRequest("what is new", include_domains=(KEY,))
    ),
    "second query of raw_search": lambda g: g.raw_search(
        RawSearchRequest((f"why does {KEY} not work",))
    ),
    "query of search_cached": lambda g: g.search_cached(f"why does {KEY} not work"),
    "query of search_similar": lambda g: g.search_similar(f"why does {KEY} not work"),
    "address to read": lambda g: g.reading.content(ContentRequest(f"{PAGE}?q={KEY}")),
    "address of passages": lambda g: g.reading.passages(
        PassagesRequest(f"{PAGE}{KEY}", ("what is new",))
    ),
    "query of read_from_page": lambda g: g.reading.passages(
        PassagesRequest(PAGE, ("what is new", KEY))
    ),
    "query of search_docs": lambda g: g.documentation.search(
        DocsSearchRequest(f"why does {KEY} not work")
    ),
    "address of documentation": lambda g: g.documentation.add(DocsAddRequest(f"{PAGE}{KEY}/")),
}


@pytest.mark.parametrize("place", WITH_A_KEY)
async def test_a_credential_never_leaves(
    gateway: Open, sandbox: Sandbox, tmp_path: Path, place: str
) -> None:
    settings = {
        "embedding_server_url": sandbox.environment()["OPENAI_BASE_URL"],
        "semantic_cache": True,
        "docs_url": f"sqlite:///{tmp_path}/docs.db",
    }
    async with gateway(**settings) as opened:
        with pytest.raises(SearchValidationError) as caught:
            await WITH_A_KEY[place](opened)
    assert caught.value.details["credential"] == "Tavily key"
    assert KEY not in str(caught.value) + str(caught.value.details)
    assert [vendor for vendor in ("pages", *UPSTREAMS) if sandbox.calls(vendor)] == []


async def test_a_provider_named_without_its_key_is_told_at_the_start(gateway: Open) -> None:
    with pytest.raises(SearchNotConfiguredError, match="BRAVE_API_KEY"):
        async with gateway(search_providers="brave", brave_api_key=None):
            pass


async def test_questions_in_memory_are_cleared_with_the_cache_even_if_there_are_none() -> None:
    """A defect once: an object without questions has the length 0, and was taken for an absent one."""
    caches = open_caches(Settings(), MemoryState(), StaticEmbedder(), None, CacheMemory())
    assert caches.questions is not None
    assert len(caches.questions) == 0
    assert caches.questions in caches.memories()


async def test_global_rate_limit_is_counted_once_for_the_process_without_a_state(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    settings = Settings(
        state_url=f"sqlite:///{tmp_path / 'file' / 'state.db'}", global_rate_limit="2/hour"
    )
    gateway = Gateway(settings)
    await gateway.pipeline.recall.rate_limits.admit(Caller("me"))
    await gateway.web.recall.rate_limits.admit(Caller("you"))
    for tool in (gateway.pipeline, gateway.web, gateway.raw):
        with pytest.raises(SearchRateLimitError, match="GLOBAL_RATE_LIMIT"):
            await tool.recall.rate_limits.admit(Caller("somebody"))
    await gateway.pipeline.recall.cached_limits.admit(Caller("somebody"))
    await gateway.close()
