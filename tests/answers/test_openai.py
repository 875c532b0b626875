"""The engine against the sandbox over real sockets, and against single replies that the sandbox does not give."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from tests.patience import PATIENCE
from websearch_gateway.answers.common import Billed, find_model
from websearch_gateway.answers.http_engine import GONE_SECONDS, HttpEngine
from websearch_gateway.answers.openai import EFFORT, MODELS, OpenAI, OpenAISdk
from websearch_gateway.base.net.bodies import MAX_BYTES
from websearch_gateway.base.net.client import create_client
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import Answer, Call, Deadline, SearchQuery
from websearch_gateway.pipeline.finalize import finalize
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
QUESTION = "How do I fix a sour espresso?"
KEY = "sk-proj-0123456789abcdefghij"
Reply = Callable[[httpx2.Request], httpx2.Response]
Connect = Callable[..., HttpEngine]

REPLIES = Path(__file__).parent / "openai_replies"


@pytest.fixture
def recorded() -> Callable[[str], dict[str, Any]]:
    """Reads `replies/NAME.json`."""
    return lambda name: json.loads((REPLIES / f"{name}.json").read_text(encoding="utf-8"))


async def no_sleep(_: float) -> None:
    """Replaces the wait of a retry."""


def streamed(reply: Reply) -> Reply:
    """The replies as the network brings them: not yet read."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        given = reply(request)
        if not given.is_closed:
            return given
        return httpx2.Response(
            given.status_code, headers=given.headers, stream=httpx2.ByteStream(given.content)
        )

    return answer


@pytest.fixture
async def connect(sandbox: Sandbox) -> AsyncIterator[Connect]:
    """Makes an engine that talks to the sandbox, or to a function that answers in its place."""
    clients = []

    def make(
        reply: Reply | None = None,
        models: Sequence[str] = ("gpt-5-nano", "gpt-6-luna"),
        **fields: Any,
    ) -> HttpEngine:
        http = create_client(httpx2.MockTransport(streamed(reply)) if reply else None)
        clients.append(http)
        environment = sandbox.environment()
        key = KEY if reply else environment["OPENAI_API_KEY"]
        secret, base_url = SecretStr(fields.pop("key", key)), environment["OPENAI_BASE_URL"]
        sdk = OpenAISdk(http, secret, base_url)
        return HttpEngine(
            OpenAI(secret, base_url),
            models,
            http,
            Retry(sleep=no_sleep),
            sdk=sdk,
            **{"now": lambda: NOW, **fields},
        )

    yield make
    for client in clients:
        await client.aclose()


def asking(query: SearchQuery | str = QUESTION, seconds: float = 120.0) -> Call:
    query = SearchQuery(query) if isinstance(query, str) else query
    return Call.of(query, Deadline.after(seconds))


def ask(engine: HttpEngine, query: SearchQuery | str = QUESTION, seconds: float = 120.0) -> Any:
    return engine.ask(asking(query, seconds))


def replies(*given: httpx2.Response | dict[str, Any]) -> tuple[Reply, list[dict[str, Any]]]:
    """A function that answers with each of these in turn, and the requests that it got."""
    requests: list[dict[str, Any]] = []
    waiting = list(given)

    def reply(request: httpx2.Request) -> httpx2.Response:
        requests.append(json.loads(request.content))
        answer = waiting.pop(0)
        return httpx2.Response(200, json=answer) if isinstance(answer, dict) else answer

    return reply, requests


@pytest.mark.parametrize("value", [None, {}, "none", -1, 1.5, 1e308, True, "12"], ids=repr)
async def test_a_reply_without_a_usable_count_costs_the_usual_bill_and_at_least_one_search(
    connect: Connect, value: Any
) -> None:
    weather = json.loads((REPLIES / "weather.json").read_text())
    spoilt = [{**weather["usage"], name: value} for name in ("input_tokens", "output_tokens")]
    for usage in (value, *spoilt):
        reply, _ = replies(
            httpx2.Response(200, json={**weather, "usage": usage, "tool_usage": None})
        )
        engine = connect(reply)
        call = asking()
        answer = await engine.ask(call)
        assert call.bill.usd == pytest.approx(engine.likely_usd)
        assert any("usual cost" in warning for warning in answer.warnings)
        assert answer.usage.response == 0


async def test_a_search_of_an_unknown_kind_is_one_search(connect: Connect) -> None:
    weather = json.loads((REPLIES / "weather.json").read_text())
    for item in weather["output"]:
        item.pop("action", None)
    reply, _ = replies(
        httpx2.Response(200, json={**weather, "tool_usage": {"web_search": {"num_requests": -3}}})
    )
    call = asking()
    await connect(reply).ask(call)
    assert 0.01 <= call.bill.usd < 0.02


def refused(status: int, headers: dict[str, str] | None = None, **error: Any) -> httpx2.Response:
    detail = {
        "message": "No.",
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    } | error
    return httpx2.Response(status, json={"error": detail}, headers=headers)


async def test_an_answer_is_cited_priced_and_honest_about_its_filters(
    connect: Connect, sandbox: Sandbox
) -> None:
    told: list[str] = []

    async def progress(words: str) -> None:
        told.append(words)

    query = SearchQuery(QUESTION, max_results=4, freshness_hours=24, region="GB", language="en")
    call = Call.of(query, Deadline.after(60), progress)
    answer = await connect().ask(call)
    assert told == ["Searching the web with gpt-5-nano"]
    assert (answer.provider, answer.model, answer.warnings) == (
        "gpt-5-nano-web-search",
        "gpt-5-nano",
        (),
    )
    assert (answer.applied.freshness, answer.applied.region, answer.applied.language) == (
        "prompt",
        "GB",
        "prompt",
    )
    assert finalize(query, answer, responded_at=NOW).warnings == ()
    assert answer.spans
    assert all(span.url in answer.text[span.start : span.end] for span in answer.spans)
    tokens = answer.usage.prompt * 0.05e-6 + answer.usage.response * 0.40e-6
    assert call.bill.usd == pytest.approx(0.01 + tokens)
    assert sandbox.calls("openai") == 1


@pytest.mark.parametrize(
    ("region", "location"),
    [("GB", {"type": "approximate", "country": "GB"}), (None, {"type": "approximate"})],
)
async def test_the_request_forces_a_search_and_has_tokens_for_reasoning(
    connect: Connect, sandbox: Sandbox, region: str | None, location: dict[str, str]
) -> None:
    await ask(connect(), SearchQuery(QUESTION, region=region))
    (call,) = sandbox.seen("openai")
    body = json.loads(call.body)
    assert body["tools"] == [
        {"type": "web_search", "search_context_size": "low", "user_location": location}
    ]
    assert body["tool_choice"] == "required"
    assert body["include"] == ["web_search_call.action.sources"]
    assert body["reasoning"] == {"effort": "low"}
    assert body["max_output_tokens"] >= 4096
    assert body["store"] is False
    assert body["input"] == QUESTION
    assert "temperature" not in body


@pytest.mark.parametrize("fault", ["utf16_spans", "shifted_spans"])
async def test_wrong_spans_become_correct_citations(
    connect: Connect, sandbox: Sandbox, fault: str
) -> None:
    query = SearchQuery(QUESTION)
    right = finalize(query, await ask(connect()), responded_at=NOW)
    sandbox.fault("openai", fault)
    wrong = finalize(query, await ask(connect()), responded_at=NOW)
    assert [(c.url, c.text_snippet.removeprefix("📌 ")) for c in wrong.citations] == [
        (c.url, c.text_snippet) for c in right.citations
    ]
    assert right.citations
    for citation in wrong.citations:
        assert citation.url in wrong.text[citation.start_index : citation.end_index]


@pytest.mark.parametrize("fault", ["raw_markers", "empty_annotations"])
async def test_an_answer_that_lost_its_annotations_keeps_its_sources(
    connect: Connect, sandbox: Sandbox, fault: str
) -> None:
    sandbox.fault("openai", fault)
    answer: Answer = await ask(connect())
    assert answer.sources
    assert not answer.spans
    assert "\ue200" not in answer.text


@pytest.mark.parametrize(
    ("fault", "options", "error", "calls"),
    [
        ("status", {"status": 401}, SearchAuthError, 1),
        ("status", {"status": 403}, SearchAuthError, 1),
        ("status", {"status": 400}, SearchValidationError, 1),
        ("status", {"status": 429}, SearchProviderError, 2),
        ("status", {"status": 429, "reason": "insufficient_quota"}, SearchProviderError, 1),
        ("status", {"status": 429, "reason": "credit_balance_exhausted"}, SearchProviderError, 1),
        ("status", {"status": 500}, SearchProviderError, 2),
        ("status", {"status": 503}, SearchProviderError, 2),
        ("status", {"status": 504}, SearchProviderError, 1),
        ("reset", {}, SearchProviderError, 2),
        ("failed", {}, SearchProviderError, 2),
        ("failed", {"reason": "insufficient_quota"}, SearchProviderError, 1),
        ("incomplete", {}, SearchProviderError, 1),
        ("no_search", {}, SearchProviderParseError, 1),
        ("garbage", {}, SearchProviderParseError, 1),
        ("bot", {}, SearchProviderError, 1),
        ("refusal", {}, SearchValidationError, 1),
    ],
)
async def test_each_failure_has_its_error_and_is_retried_only_if_that_helps(
    connect: Connect,
    sandbox: Sandbox,
    fault: str,
    options: dict[str, Any],
    error: type[SearchError],
    calls: int,
) -> None:
    sandbox.fault("openai", fault, **options)
    with pytest.raises(SearchError) as caught:
        await ask(connect())
    assert type(caught.value) is error
    assert sandbox.calls("openai") == calls


async def test_a_declined_answer_has_its_price(
    connect: Connect, recorded: Callable[[str], dict[str, Any]]
) -> None:
    reply, _ = replies(recorded("refusal"))
    call = asking()
    with pytest.raises(SearchValidationError):
        await connect(reply).ask(call)
    assert call.bill.usd > 0


async def test_a_retry_overcomes_a_transient_failure(connect: Connect, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "status", status=503, times=1)
    assert (await ask(connect())).spans
    assert sandbox.calls("openai") == 2


async def test_the_deadline_ends_the_call(connect: Connect, sandbox: Sandbox) -> None:
    engine = connect()
    await ask(engine)  # loads the SDK, which is not what this is about
    sandbox.fault("openai", "hang")
    with pytest.raises(SearchTimeoutError):
        await ask(engine, seconds=2)
    await sandbox.wait_for("openai", cancelled=1)


@pytest.mark.parametrize("status", [200, 500])
async def test_a_reply_that_stops_halfway_ends_at_the_deadline(
    connect: Connect, status: int
) -> None:
    closed = asyncio.Event()

    async def halfway() -> AsyncIterator[bytes]:
        try:
            yield b'{"output": ['
            await asyncio.Event().wait()
        finally:
            closed.set()

    with pytest.raises(SearchTimeoutError):
        await ask(connect(lambda _: httpx2.Response(status, content=halfway())), seconds=2)
    await asyncio.wait_for(closed.wait(), PATIENCE)


async def test_cancelling_the_call_cancels_the_request(connect: Connect, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "hang")
    task = asyncio.create_task(ask(connect()))
    await sandbox.wait_for("openai", calls=1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await sandbox.wait_for("openai", cancelled=1)


async def test_the_next_model_replaces_a_missing_one_which_is_skipped_for_a_while(
    connect: Connect, sandbox: Sandbox
) -> None:
    seconds = [1000.0]
    engine = connect(models=("gpt-0", "gpt-6-luna"), clock=lambda: seconds[0])
    for calls in (2, 3):
        answer = await ask(engine)
        assert answer.model == "gpt-6-luna"
        assert answer.warnings == (
            "gpt-6-luna answered, since this key has no model gpt-0. Change OPENAI_MODELS.",
        )
        assert sandbox.calls("openai") == calls
    seconds[0] += GONE_SECONDS
    await ask(engine)
    assert sandbox.calls("openai") == 5


async def test_a_model_is_skipped_without_a_call_or_a_warning_from_its_shutdown_date_on(
    connect: Connect, sandbox: Sandbox
) -> None:
    engine = connect()
    assert (await ask(engine)).model == "gpt-5-nano"
    engine.now = lambda: datetime(2026, 12, 11, tzinfo=UTC)
    answer = await ask(engine)
    assert (answer.model, answer.warnings) == ("gpt-6-luna", ())
    assert sandbox.calls("openai") == 2
    assert await engine.check(Deadline.after(60)) == []


async def test_without_any_model_left_the_engine_is_unavailable(connect: Connect) -> None:
    with pytest.raises(SearchProviderError, match="OPENAI_MODELS"):
        await ask(connect(models=("gpt-0", "gpt-1")))


async def test_a_request_to_an_unknown_model_names_no_effort_and_a_warning_says_that_it_has_no_price(
    connect: Connect, recorded: Callable[[str], dict[str, Any]]
) -> None:
    reply, requests = replies(recorded("many_calls"))
    call = asking()
    answer = await connect(reply, models=("house-model",)).ask(call)
    assert "reasoning" not in requests[0]
    assert call.bill.usd == pytest.approx(0.02)
    assert answer.warnings == (
        "The price of house-model is unknown: costUsd counts its searches only.",
    )


@pytest.mark.parametrize(
    ("option", "error"),
    [
        (
            "tool_choice",
            {
                "param": "tool_choice",
                "message": "Tool choices other than 'auto' are not supported with model 'gpt-5'.",
            },
        ),
        ("tool_choice", {"message": "Tool choice 'required' is not supported."}),
        ("reasoning", {"param": "reasoning.effort", "code": "unsupported_value"}),
        ("max_tool_calls", {"param": "max_tool_calls", "code": "unknown_parameter"}),
    ],
)
async def test_later_requests_leave_out_an_option_that_the_model_refused(
    connect: Connect, recorded: Callable[[str], dict[str, Any]], option: str, error: dict[str, Any]
) -> None:
    reply, requests = replies(refused(400, **error), recorded("many_calls"), recorded("many_calls"))
    engine = connect(reply)
    await ask(engine)
    await ask(engine)
    assert [option in request for request in requests] == [True, False, False]


async def test_an_error_about_an_option_that_was_not_sent_is_raised(connect: Connect) -> None:
    reply, requests = replies(*(refused(400, param="tool_choice") for _ in range(2)))
    with pytest.raises(SearchValidationError):
        await ask(connect(reply))
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": f"Your key {KEY} of org-abc123 asked: {QUESTION}"}),
        (400, {"message": "Bad words near 'fix a sour espresso?'"}),
        (
            401,
            {
                "message": f"Incorrect API key provided: {KEY[:8]}***{KEY[-4:]}.",
                "code": "invalid_api_key",
            },
        ),
        (403, {"message": QUESTION}),
        (429, {"message": f"Rate limit reached in organization org-abc123 for {KEY}"}),
        (500, {"message": QUESTION}),
    ],
)
async def test_no_error_repeats_the_key_or_the_question(
    connect: Connect, caplog: pytest.LogCaptureFixture, status: int, error: dict[str, Any]
) -> None:
    caplog.set_level("DEBUG")
    reply, _ = replies(*(refused(status, **error) for _ in range(2)))
    engine = connect(reply)
    with pytest.raises(SearchError) as caught:
        await ask(engine)
    shown = f"{caught.value!r} {caught.value.__cause__!r} {engine!r} {caplog.text}"
    for secret in ("sour espresso", KEY[:8], KEY[-4:], "org-abc"):
        assert secret not in shown
    assert caught.value.__context__ is None or caught.value.__suppress_context__


async def test_every_error_of_the_quota_type_is_final(connect: Connect) -> None:
    """OpenAI's newer billing codes keep the type `insufficient_quota`."""
    reply, requests = replies(refused(429, code="a_new_billing_code", type="insufficient_quota"))
    with pytest.raises(SearchProviderError, match="quota"):
        await ask(connect(reply))
    assert len(requests) == 1


async def test_the_error_for_a_bad_request_quotes_openai_between_marks(connect: Connect) -> None:
    words = "The following tools cannot be used with this model:\nweb_search. See req_123."
    reply, _ = replies(refused(400, message=words))
    with pytest.raises(
        SearchValidationError,
        match=r'id="\w+">The following .* with this model: web_search\. See …</\S+ id="\w+">\.$',
    ):
        await ask(connect(reply))


async def test_the_error_for_an_unsupported_country_names_the_cause(connect: Connect) -> None:
    reply, _ = replies(refused(403, code="unsupported_country_region_territory"))
    with pytest.raises(SearchAuthError, match="country"):
        await ask(connect(reply))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "20"}, 20.0),
        ({}, None),
    ],
)
async def test_a_rate_limit_error_says_when_to_retry(
    connect: Connect, headers: dict[str, str], seconds: float | None
) -> None:
    reply, _ = replies(
        *(refused(429, headers, code="rate_limit_exceeded", type="tokens") for _ in range(2))
    )
    with pytest.raises(SearchProviderError) as caught:
        await ask(connect(reply))
    assert caught.value.retry_after == seconds


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_an_endless_reply_is_cut_off(connect: Connect, status: int) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 65_536
            yield b" " * 65_536

    with pytest.raises(SearchProviderError, match="larger than"):
        await ask(connect(lambda _: httpx2.Response(status, content=endless())))
    assert sent < MAX_BYTES + 200_000


async def test_a_header_that_is_not_ascii_is_accepted(connect: Connect) -> None:
    """HTTP allows any byte in a header's value (RFC 9110, 5.5)."""
    busy = httpx2.Response(
        429, headers=[(b"retry-after", "²".encode())], json={"error": {"message": "Too fast."}}
    )
    with pytest.raises(SearchProviderError, match="rate limit"):
        await ask(connect(lambda _: busy))


async def test_a_redirect_never_receives_the_key(connect: Connect) -> None:
    seen = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.host)
        return httpx2.Response(307, headers={"location": "https://evil.example/v1/responses"})

    with pytest.raises(SearchProviderError):
        await ask(connect(reply))
    assert seen == ["127.0.0.1"]


async def test_no_environment_variable_of_the_sdk_changes_a_request(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK reads these by itself."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-stray")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-stray")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS", "X-Stray: stray\nAuthorization: Bearer stray\nUser-Agent: stray"
    )
    seen: list[httpx2.Request] = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json={"data": [{"id": "gpt-6-luna"}]})

    await connect(reply, models=("gpt-6-luna",)).check(Deadline.after(60))
    [request] = seen
    assert "stray" not in str(request.headers.raw).lower()
    assert "openai-organization" not in request.headers
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["user-agent"].startswith("websearch-gateway/")


async def test_a_model_is_not_called_from_its_shutdown_date_on(
    connect: Connect, sandbox: Sandbox
) -> None:
    engine = connect(now=lambda: datetime(2026, 12, 11, tzinfo=UTC))
    assert (await ask(engine)).model == "gpt-6-luna"
    assert sandbox.calls("openai") == 1


async def test_check_reports_models_that_end_or_are_missing(connect: Connect) -> None:
    assert await connect(models=("gpt-5-nano", "gpt-0")).check(Deadline.after(60)) == [
        "The model gpt-5-nano is switched off on 2026-12-11.",
        "The model gpt-0 does not exist for this key.",
    ]
    ended = connect(models=("gpt-5-nano",), now=lambda: datetime(2026, 12, 11, tzinfo=UTC))
    with pytest.raises(
        SearchProviderError, match="OpenAI ended the model gpt-5-nano on 2026-12-11"
    ):
        await ended.check(Deadline.after(60))
    assert await connect(models=("gpt-6-luna",)).check(Deadline.after(60)) == []


@pytest.mark.parametrize("day", [1, 11])
async def test_check_is_silent_about_a_shutdown_that_another_model_outlasts(
    connect: Connect, day: int
) -> None:
    engine = connect(
        models=("gpt-5-nano", "gpt-6-luna"), now=lambda: datetime(2026, 12, day, tzinfo=UTC)
    )
    assert await engine.check(Deadline.after(60)) == []


async def test_check_fails_for_a_wrong_key_and_without_any_model(connect: Connect) -> None:
    with pytest.raises(SearchAuthError):
        await connect(key="wrong").check(Deadline.after(60))
    with pytest.raises(SearchProviderError):
        await connect(models=("gpt-0",)).check(Deadline.after(60))


@pytest.mark.parametrize(
    "listing",
    [
        {},
        {"data": None},
        {"data": [{"name": "x"}]},
        {"data": [{"id": "x", "shutdown_date": "soon"}]},
    ],
)
async def test_an_unreadable_list_of_models_is_a_parse_error(
    connect: Connect, listing: dict[str, Any]
) -> None:
    with pytest.raises(SearchProviderParseError):
        await connect(lambda _: httpx2.Response(200, json=listing)).check(Deadline.after(60))


def test_importing_the_engine_does_not_import_the_sdk() -> None:
    """The SDK takes longer to import than everything else together; so only the first call imports it."""
    code = "import sys, websearch_gateway.answers.openai as _; print('openai' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("tokens", [400_001, 10**12, 10**30, 10**300])
async def test_an_impossible_count_of_tokens_costs_the_maximum_and_gives_a_warning(
    connect: Connect, tokens: int
) -> None:
    weather = json.loads((REPLIES / "weather.json").read_text())
    weather["usage"]["output_tokens"] = tokens
    reply, _ = replies(httpx2.Response(200, content=json.dumps(weather).encode()))
    engine = connect(reply)
    call = asking()
    answer = await engine.ask(call)
    assert 0.06 < call.bill.usd <= engine.most_usd
    assert any("count of tokens is impossible" in warning for warning in answer.warnings)
    assert answer.usage.response == 0


def test_a_dated_snapshot_is_its_model() -> None:
    assert find_model("gpt-5-nano-2025-08-07", MODELS) == find_model("gpt-5-nano", MODELS)
    assert find_model("gpt-5-nano-next", MODELS) is None


def test_the_default_models_are_known_and_the_first_has_a_shutdown_date() -> None:
    first, *others = (find_model(name, MODELS) for name in Settings().openai_models)
    assert first
    assert first.ends == date(2026, 12, 11)
    assert all(other and other.ends is None for other in others)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_model_accepts_the_effort_that_requests_name(model: object) -> None:
    assert EFFORT in model.efforts  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "billed", "usd"),
    [
        ("gpt-5-nano", Billed(prompt=1_000_000), 0.05),
        ("gpt-5-nano", Billed(prompt=1_000_000, cached=1_000_000), 0.005),
        ("gpt-5-nano", Billed(response=1_000_000), 0.40),
        (
            "gpt-6-luna",
            Billed(prompt=1_000_000, cached=500_000, cache_written=400_000),
            0.005 + 0.05 + 0.01,
        ),
        ("gpt-5.4-nano", Billed(prompt=1_000_000, cache_written=1_000_000), 0.20),
        ("gpt-5-nano", Billed(prompt=10, cached=10**9, cache_written=10**9), 10 * 0.005 / 1e6),
    ],
)
def test_tokens_cost_what_the_price_list_says(name: str, billed: Billed, usd: float) -> None:
    model = find_model(name, MODELS)
    assert model
    assert model.tokens_usd(billed, datetime(2026, 11, 22, tzinfo=UTC)) == pytest.approx(usd)
