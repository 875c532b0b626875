"""A trace shows how a call spent its time, and nothing of its question."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from tests.layers import inside
from tests.opening import Open
from tests.tracing import Spans
from websearch_gateway.answers.openai import MAX_OUTPUT_TOKENS
from websearch_gateway.base.net.requests import child_span, note_reply
from websearch_gateway.errors import SearchAuthError, SearchFetchError, SearchValidationError
from websearch_gateway.models import Call, PassagesRequest, SearchRequest, WebSearchRequest
from websearch_gateway.sandbox import OPENAI_KEY, Sandbox, engines
from websearch_gateway.upstream.tracing import call_span, stage, traced

QUESTION = "How tall is the Eiffel Tower?"
TOWER = SearchRequest(QUESTION)
LUNA = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-6-luna",
}


async def test_an_answer_has_its_five_stages_and_the_upstream_that_gave_it(
    gateway: Open, spans: Spans
) -> None:
    async with gateway(openai_models="gpt-6-luna") as opened:
        response = await opened.search(TOWER)
    stages = {"guard": {}, "rate_limit": {}, "cache": {}, "answer": {}, "finalize": {}}
    stages["answer"] = {"upstream openai": {"chat gpt-6-luna": {}}}
    assert spans.tree() == {"search_web": stages}
    call, chat = spans.one("search_web").attributes or {}, spans.one("chat gpt-6-luna")
    assert call["websearch.route"] == "gpt-6-luna-web-search"
    assert call["websearch.outcome"] == "ok"
    assert call["websearch.cache"] == "miss"
    assert chat.kind is SpanKind.CLIENT
    attributes = dict(chat.attributes or {})
    assert attributes.pop("gen_ai.usage.input_tokens") == response.usage.prompt_tokens > 0
    assert attributes.pop("gen_ai.usage.output_tokens") == response.usage.response_tokens > 0
    assert str(attributes.pop("gen_ai.response.id")).startswith("resp_")
    assert attributes == {
        "server.address": "127.0.0.1",
        "http.response.status_code": 200,
        "gen_ai.request.max_tokens": MAX_OUTPUT_TOKENS,
        "gen_ai.response.model": "gpt-6-luna",
        "gen_ai.response.finish_reasons": ("completed",),
        "gen_ai.usage.cache_read.input_tokens": 0,
        **LUNA,
    }


@pytest.mark.parametrize(
    ("engine", "provider", "reason"),
    [
        ("anthropic", "anthropic", "end_turn"),
        ("gemini", "gcp.gemini", "STOP"),
        ("perplexity", "perplexity", "completed"),
        ("llm", "llm", "stop"),
    ],
)
async def test_every_engine_says_which_model_replied_and_why_it_stopped(
    gateway: Open, sandbox: Sandbox, spans: Spans, engine: str, provider: str, reason: str
) -> None:
    settings = {name.lower(): value for name, value in engines(sandbox.url)[engine].items()}
    async with gateway(answer_engines=engine, **settings) as opened:
        await opened.search(TOWER)
    (chat,) = [span for span in spans.ended if span.name.startswith("chat ")]
    attributes = dict(chat.attributes or {})
    assert chat.name == f"chat {attributes['gen_ai.request.model']}"
    assert attributes["gen_ai.provider.name"] == provider
    assert attributes["gen_ai.response.model"] == attributes["gen_ai.request.model"]
    assert attributes["gen_ai.response.finish_reasons"] == (reason,)
    assert attributes["gen_ai.request.max_tokens"] > 0
    assert attributes["gen_ai.usage.input_tokens"] > 0


async def test_the_search_behind_an_engine_is_beside_it_since_it_belongs_to_the_question(
    gateway: Open, sandbox: Sandbox, spans: Spans
) -> None:
    settings = {name.lower(): value for name, value in engines(sandbox.url)["llm"].items()}
    async with gateway(answer_engines="llm", search_providers="serper", **settings) as opened:
        await opened.search(TOWER)
    below = spans.tree()["search_web"]["answer"]
    assert {"upstream llm", "upstream serper"} <= below.keys()
    assert "upstream serper" not in below["upstream llm"]


async def test_embeddings_of_a_server_have_a_span(
    gateway: Open, sandbox: Sandbox, spans: Spans
) -> None:
    server = {
        "embedding_server_url": f"{sandbox.url}/openai/v1",
        "embedding_server_api_key": OPENAI_KEY,
    }
    async with gateway(**server, embedding_model_name="text-embedding-3-small") as opened:
        await opened.reading.passages(
            PassagesRequest(f"{sandbox.url}/pages/tides-explained", ("high tide",))
        )
    span = spans.named("embeddings text-embedding-3-small")[0]
    assert (span.attributes or {})["gen_ai.operation.name"] == "embeddings"


@pytest.mark.parametrize(
    "reply", [b"[]", b"{", b'{"id": {}, "choices": [7]}', b'{"candidates": "x"}']
)
def test_what_a_reply_says_of_itself_in_another_form_is_left_out(
    spans: Spans, reply: bytes
) -> None:
    with call_span("call"):
        note_reply(reply)
        note_reply(
            {
                "id": "How tall is the Eiffel Tower?",
                "model": 1,
                "status": "done",
                "stop_reason": None,
            }
        )
    assert dict(spans.one("call").attributes or {}) == {"gen_ai.response.finish_reasons": ("done",)}


async def test_calls_of_models_are_measured_by_their_tokens_and_their_time(
    gateway: Open, sandbox: Sandbox, spans: Spans
) -> None:
    def count(name: str, **labels: str) -> tuple[int, float]:
        points = [point for point in spans.measured(name) if labels.items() <= point.items()]
        return sum(point["count"] for point in points), sum(point["sum"] for point in points)

    tokens, seconds = "gen_ai.client.token.usage", "gen_ai.client.operation.duration"
    failed = {**LUNA, "error.type": "PROVIDER"}
    before = [count(tokens, **LUNA), count(seconds, **LUNA), count(seconds, **failed)]
    async with gateway(openai_models="gpt-6-luna", search_providers="serper") as opened:
        response = await opened.search(TOWER)
        sandbox.fault("openai", "status", status=503)
        await opened.search(SearchRequest("When did the comet Varga become visible?"))
    after = [count(tokens, **LUNA), count(seconds, **LUNA), count(seconds, **failed)]
    assert [late[0] - early[0] for early, late in zip(before, after, strict=True)] == [2, 2, 1]
    used = response.usage.prompt_tokens + response.usage.response_tokens
    assert after[0][1] - before[0][1] == used


async def test_a_cached_answer_has_three_stages_and_is_marked_as_cached(
    gateway: Open, spans: Spans
) -> None:
    async with gateway() as opened:
        await opened.search(TOWER)
        spans.record(on=True)
        await opened.search(TOWER)
    assert spans.tree() == {"search_web": {"guard": {}, "cache": {}, "rate_limit": {}}}
    assert (spans.one("search_web").attributes or {})["websearch.cache"] == "exact"


async def test_a_fallback_shows_the_failed_upstream_its_retries_and_the_pages_read(
    gateway: Open, sandbox: Sandbox, spans: Spans
) -> None:
    sandbox.fault("openai", "status", status=503)
    async with gateway(openai_models="gpt-6-luna", search_providers="serper") as opened:
        await opened.search(TOWER)
    answer = spans.tree()["search_web"]["answer"]
    assert answer.keys() == {"upstream openai", "upstream serper", "read page"}
    assert (spans.one("upstream openai").attributes or {})["error.type"] == "PROVIDER"
    failed = spans.one("chat gpt-6-luna")
    assert failed.status.status_code is StatusCode.ERROR
    assert dict(failed.attributes or {}) == {
        "gen_ai.request.max_tokens": MAX_OUTPUT_TOKENS,
        "server.address": "127.0.0.1",
        "http.response.status_code": 503,
        "http.request.resend_count": 1,
        "error.type": "PROVIDER",
        **LUNA,
    }
    assert (spans.one("search_web").attributes or {})["websearch.fallback_reason"] == "PROVIDER"
    assert {(span.attributes or {})["server.address"] for span in spans.named("read page")} == {
        "127.0.0.1"
    }


async def test_other_tools_have_their_own_spans(
    gateway: Open, sandbox: Sandbox, spans: Spans
) -> None:
    async with gateway(search_providers="serper") as opened:
        found = await opened.web_search(WebSearchRequest(QUESTION, max_results=1))
        searched = spans.tree()
        spans.record(on=True)
        await opened.reading.passages(
            PassagesRequest(found.results[0].link, (QUESTION,), force_refresh=True)
        )
    assert searched == {
        "web_search": {
            "guard": {},
            "rate_limit": {},
            "cache": {},
            "answer": {"upstream serper": {}, "read page": {}},
        }
    }
    assert spans.tree() == {"read_from_page": {"rate_limit": {}, "read page": {}}}


async def test_no_span_holds_a_question_a_key_a_user_or_a_url(
    gateway: Open, sandbox: Sandbox, spans: Spans
) -> None:
    sandbox.fault("openai", "status", status=401)
    async with gateway(openai_api_key="sk-nobody-should-read-this") as opened:
        with pytest.raises(SearchAuthError):
            await opened.search(TOWER)
        sandbox.reset()
        found = await opened.web_search(WebSearchRequest(QUESTION))
        await opened.reading.passages(
            PassagesRequest(found.results[0].link, (QUESTION,), force_refresh=True)
        )
    told = spans.as_text()
    assert "AUTH" in told
    for secret in ("Eiffel", "nobody-should", "http://", "https://", "/wiki", "exception.message"):
        assert secret not in told


async def test_upstreams_get_no_trace_context(
    gateway: Open, sandbox: Sandbox, spans: Spans
) -> None:
    sandbox.fault("openai", "status", status=500)
    async with gateway() as opened:
        await opened.search(TOWER)
    calls = [*sandbox.seen("openai"), *sandbox.seen("serper"), *sandbox.seen("pages")]
    assert {call.path.partition("/")[0] for call in calls} == {"openai", "serper", "pages"}
    assert all("host" in call.header_names for call in calls)
    assert not any({"traceparent", "tracestate", "baggage"} & call.header_names for call in calls)


async def test_nothing_is_recorded_below_an_unrecorded_call(gateway: Open, spans: Spans) -> None:
    spans.record(on=False)
    async with gateway() as opened:
        await opened.search(TOWER)
    assert spans.ended == ()


def test_without_a_recorded_call_there_is_no_child_span(spans: Spans) -> None:
    with child_span("guard"):
        pass
    assert spans.ended == ()


async def test_the_loser_of_a_race_is_cancelled_and_not_failed(spans: Spans) -> None:
    with call_span("search_web"):
        race = asyncio.create_task(
            inside(partial(traced, "slow"), asyncio.Event().wait, Call.after(60))
        )
        await asyncio.sleep(0)
        race.cancel()
        await asyncio.gather(race, return_exceptions=True)
    lost = spans.one("upstream slow")
    assert (lost.attributes or {})["error.type"] == "CANCELLED"
    assert lost.status.status_code is StatusCode.UNSET


@pytest.mark.parametrize(
    "error", [SearchFetchError("http://a.example/secret?q=1"), ValueError("secret")]
)
def test_only_the_type_of_an_error_is_recorded(spans: Spans, error: Exception) -> None:
    @stage("finalize")
    def broken() -> None:
        raise error

    with pytest.raises(type(error)), call_span("search_web"):
        broken()
    assert {(span.attributes or {})["error.type"] for span in spans.ended} <= {
        "FETCH",
        "ValueError",
    }
    assert "secret" not in spans.as_text()


def test_a_stage_keeps_its_kind_name_and_docstring() -> None:
    @stage("guard")
    def check(number: int) -> int:
        """Checks."""
        return number + 1

    @stage("rate_limit")
    async def admit() -> str:
        return "in"

    assert (check(1), check.__doc__) == (2, "Checks.")
    assert asyncio.iscoroutinefunction(admit)


async def test_a_refused_question_says_why(gateway: Open, spans: Spans) -> None:
    async with gateway() as opened:
        with pytest.raises(SearchValidationError):
            await opened.search(SearchRequest("x"))
    assert spans.tree() == {"search_web": {"guard": {}}}
    assert (spans.one("search_web").attributes or {})["error.type"] == "VALIDATION"
