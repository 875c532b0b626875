"""The behaviour that every engine over HTTP shares: statuses, missing models, prices, turns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from tests.answers.engine_replies import (
    TOWER,
    claude,
    claude_cited,
    claude_searched,
    gemini,
    openai,
    perplexity,
)
from websearch_gateway.answers.anthropic import Anthropic
from websearch_gateway.answers.common import Billed, EngineApi
from websearch_gateway.answers.gemini import Gemini
from websearch_gateway.answers.http_engine import MAX_TURNS, HttpEngine
from websearch_gateway.answers.openai import OpenAI, OpenAISdk
from websearch_gateway.answers.perplexity import Perplexity
from websearch_gateway.base.net.bodies import MAX_REPLY_BYTES
from websearch_gateway.base.net.client import create_client
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import (
    NotAsked,
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import Answer, Call, Deadline, SearchQuery

KEY = "secret-0123456789"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
CLAUDE = claude(*claude_searched("a", TOWER), claude_cited("It is 330 m high.", TOWER))
APIS: list[tuple[EngineApi, dict[str, Any]]] = [
    (Anthropic(SecretStr(KEY), "https://a.example"), CLAUDE),
    (Gemini(SecretStr(KEY), "https://g.example"), gemini({"text": "It is 330 m high."})),
    (Perplexity(SecretStr(KEY), "https://p.example"), perplexity("It is 330 m high. [7]")),
    (OpenAI(SecretStr(KEY), "https://o.example"), openai("It is 330 m high.")),
]
every_api = pytest.mark.parametrize(("api", "reply"), APIS, ids=[api.name for api, _ in APIS])
Handler = Callable[[httpx2.Request], httpx2.Response]


def served(status: int, body: Any) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.Response(status, stream=httpx2.ByteStream(content))


async def no_sleep(_: float) -> None:
    """Retries at once."""


def engine(api: EngineApi, handler: Handler, **fields: Any) -> HttpEngine:
    models = fields.pop("models", [api.known_models[-1].name])
    client = create_client(httpx2.MockTransport(handler))
    return HttpEngine(api, models, client, Retry(sleep=no_sleep), now=lambda: NOW, **fields)


def asking() -> Call:
    return Call.of(SearchQuery("how high", freshness_hours=24, region="GB"), Deadline.after(60))


async def ask(asked: HttpEngine) -> Answer:
    return await asked.ask(asking())


async def cost_of(asked: HttpEngine) -> float:
    """What an answer puts on the bill (USD)."""
    call = asking()
    await asked.ask(call)
    return call.bill.usd


@every_api
async def test_an_answer_names_its_model_and_is_priced(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    model = api.known_models[-1]
    call = asking()
    answer = await engine(api, lambda _: served(200, reply)).ask(call)
    assert (answer.provider, answer.model) == (f"{model.name}-web-search", model.name)
    billed = api.billed(json.dumps(reply).encode())
    assert (answer.usage.prompt, answer.usage.response) == (billed.prompt, billed.response)
    assert call.bill.usd == pytest.approx(
        model.tokens_usd(billed, NOW) + billed.searches * api.search_usd
    )
    assert (answer.applied.freshness, answer.applied.region) == (
        "prompt",
        "GB" if api.takes_region else None,
    )


REQUIRED = {"input_tokens", "output_tokens", "promptTokenCount", "candidatesTokenCount"}


@every_api
@pytest.mark.parametrize(
    "value", [None, {}, "none", [], -1, 1.5, 1e308, float("nan"), True, "12"], ids=repr
)
async def test_a_reply_without_a_usable_count_costs_the_usual_bill_and_at_least_one_search(
    api: EngineApi, reply: dict[str, Any], value: Any
) -> None:
    name = "usageMetadata" if "usageMetadata" in reply else "usage"
    spoilt = [reply[name] | {one: value} for one in REQUIRED & reply[name].keys()]
    for usage in (value, *spoilt):
        body = reply | {name: usage}
        asked = engine(api, lambda _, body=body: served(200, body))
        call = asking()
        answer = await asked.ask(call)
        assert call.bill.usd >= asked.likely_usd >= api.search_usd
        assert answer.usage.prompt == answer.usage.response == 0
        assert "usual cost" in answer.warnings[0]


@every_api
async def test_a_search_that_is_not_counted_is_one_search(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    body = json.dumps(reply).replace("webSearchQueries", "x").replace("web_search_requests", "x")
    assert api.billed(body.replace('"invocation": 2', '"invocation": -2').encode()).searches == 1


@every_api
async def test_a_reply_that_is_nothing_costs_nothing(api: EngineApi, reply: dict[str, Any]) -> None:
    for body in (b"<html>", b"[]", b"{}", b'{"error": {"message": "overloaded"}}'):
        assert api.billed(body) == Billed()


@every_api
@pytest.mark.parametrize(
    ("status", "error", "calls"),
    [
        (400, SearchValidationError, 1),
        (401, SearchAuthError, 1),
        (403, SearchAuthError, 1),
        (404, SearchProviderError, 1),
        (429, SearchProviderError, 2),
        (500, SearchProviderError, 2),
        (529, SearchProviderError, 2),
    ],
)
async def test_a_status_means_the_same_for_all(
    api: EngineApi, reply: dict[str, Any], status: int, error: type[SearchError], calls: int
) -> None:
    seen: list[httpx2.Request] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return served(status, {"error": {"message": f"how high {KEY}"}})

    with pytest.raises(error) as caught:
        await ask(engine(api, refuse))
    assert len(seen) == calls
    assert "how high" not in str(caught.value)
    assert KEY not in str(caught.value)
    if error is SearchAuthError:
        assert f"{api.name.upper()}_API_KEY" in str(caught.value)


@every_api
@pytest.mark.parametrize("body", [b"<html>busy</html>", b"[" * 100_000, b"[]", b"{}", b"\xff"])
async def test_a_body_that_is_not_a_reply_of_the_api_is_a_parse_error(
    api: EngineApi, reply: dict[str, Any], body: bytes
) -> None:
    with pytest.raises(SearchProviderParseError):
        await ask(engine(api, lambda _: served(200, body)))


@every_api
async def test_lone_surrogates_in_a_reply_do_no_harm(api: EngineApi, reply: dict[str, Any]) -> None:
    broken = (
        json.dumps(reply)
        .replace("It is 330 m high", "It is \\ud83d 330 m high \\ud83d\\udd0e")
        .encode()
    )
    answer = await ask(engine(api, lambda _: served(200, broken)))
    assert answer.text.startswith("It is ? 330 m high \N{RIGHT-POINTING MAGNIFYING GLASS}")


@every_api
async def test_a_proxy_page_instead_of_the_api_does_not_blame_the_key(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    with pytest.raises(SearchProviderError):
        await ask(engine(api, lambda _: served(403, b"<html>Just a moment</html>")))


@every_api
async def test_a_rejected_key_is_an_auth_error_even_if_the_vendor_sends_a_page(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    """Perplexity does: https://github.com/BerriAI/litellm/issues/2584."""
    with pytest.raises(SearchAuthError, match=f"{api.name.upper()}_API_KEY"):
        await ask(
            engine(
                api,
                lambda _: served(401, b"<html><title>401 Authorization Required</title></html>"),
            )
        )


@every_api
async def test_a_missing_model_is_skipped_for_a_while_and_the_next_one_answers(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    seen: list[str] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        seen.append(str(request.url) + request.content.decode())
        is_gone = "old-model" in seen[-1]
        return (
            served(404, {"error": {"message": "There is no such model."}})
            if is_gone
            else served(200, reply)
        )

    asked = engine(api, serve, models=["old-model", api.known_models[-1].name])
    answers = [await ask(asked), await ask(asked)]
    assert len(seen) == 3
    assert f"Change {api.name.upper()}_MODELS." in answers[1].warnings[0]


async def test_a_model_is_skipped_without_a_call_from_its_shutdown_date_on() -> None:
    api, reply = APIS[1]
    seen: list[str] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.path)
        return served(200, reply)

    asked = engine(api, serve, models=["gemini-3.1-flash-lite", "gemini-3.5-flash-lite"])
    assert (await ask(asked)).model == "gemini-3.1-flash-lite"
    asked.now = lambda: datetime(2027, 5, 7, tzinfo=UTC)
    answer = await ask(asked)
    assert (answer.model, answer.warnings) == ("gemini-3.5-flash-lite", ())
    assert len(seen) == 2


async def test_a_cost_uses_the_price_of_its_day() -> None:
    api, reply = APIS[1]
    asked = engine(api, lambda _: served(200, reply), models=["gemini-3.8-flash"])
    billed = api.billed(json.dumps(reply).encode())
    searches = billed.searches * api.search_usd
    asked.now = lambda: datetime(2026, 12, 31, 23, 59, tzinfo=UTC)
    old = await cost_of(asked)
    asked.now = lambda: datetime(2027, 1, 1, tzinfo=UTC)
    new = await cost_of(asked)
    assert old - searches == pytest.approx((billed.prompt * 0.75 + billed.response * 3.75) / 1e6)
    assert new - searches == pytest.approx(2 * (old - searches))


async def test_check_reports_the_vendor_and_date_of_an_ended_model_whether_listed_or_not() -> None:
    api = APIS[1][0]
    names = ["gemini-3.1-flash-lite", "gemini-3.5-flash-lite", "gemini-0"]

    def engine_with(*listed: str, models: list[str]) -> HttpEngine:
        reply = {"models": [{"name": f"models/{name}"} for name in listed]}
        made = engine(api, lambda _: served(200, reply), models=models)
        made.now = lambda: datetime(2027, 5, 7, tzinfo=UTC)
        return made

    for listed in (names[:2], names[1:2]):
        assert await engine_with(*listed, models=names).check(Deadline.after(60)) == [
            "The model gemini-0 does not exist for this key."
        ], "another model outlasts the one that ended"
        with pytest.raises(
            SearchProviderError,
            match=r"GEMINI_MODELS is available\. Gemini ended the model .* on 2027-05-07\.",
        ):
            await engine_with(*listed, models=names[:1]).check(Deadline.after(60))


async def test_a_paused_reply_is_continued_a_few_times_and_every_turn_is_billed() -> None:
    api = APIS[0][0]
    seen: list[dict[str, Any]] = []

    def pause(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content))
        return served(200, CLAUDE | {"stop_reason": "pause_turn"})

    answer = await ask(engine(api, pause))
    assert [len(body["messages"]) for body in seen] == list(range(1, MAX_TURNS + 1))
    assert answer.usage.prompt == MAX_TURNS * 9000
    assert "cut off" in answer.warnings[-1]


async def test_a_failed_turn_still_costs_the_turns_before_it() -> None:
    api = APIS[0][0]
    replies = iter([served(200, CLAUDE | {"stop_reason": "pause_turn"}), served(400, {})])
    call = asking()
    with pytest.raises(SearchValidationError):
        await engine(api, lambda _: next(replies)).ask(call)
    assert call.bill.usd > 0.01


@every_api
async def test_a_reply_that_is_too_large_is_booked_at_the_usual_price(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    asked, call = engine(api, lambda _: served(200, b" " * (MAX_REPLY_BYTES + 1))), asking()
    with pytest.raises(SearchProviderError, match="larger than"):
        await asked.ask(call)
    assert call.bill.usd == pytest.approx(asked.likely_usd)


@every_api
async def test_a_reply_that_breaks_off_is_booked_beside_that_of_the_retry(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    class Broken(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"{"
            raise httpx2.ReadError("reset")

    replies = [httpx2.Response(200, stream=Broken()), served(200, reply), served(200, reply)]
    asked, call = engine(api, lambda _: replies.pop(0)), asking()
    await asked.ask(call)
    assert call.bill.usd == pytest.approx(asked.likely_usd + await cost_of(asked))


async def test_an_endless_reply_is_abandoned_at_the_deadline() -> None:
    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                await asyncio.sleep(0)
                yield b" "

    with pytest.raises((SearchTimeoutError, SearchProviderError)):
        await ask(
            engine(
                APIS[2][0], lambda _: httpx2.Response(200, stream=Endless()), timeout_seconds=0.05
            )
        )


@every_api
@pytest.mark.parametrize(
    ("include", "exclude"),
    [(("a.example",), ()), ((), ("a.example",)), (("a.example",), ("x.a.example",))],
)
async def test_lists_of_domains_are_sent_or_the_engine_is_not_called(
    api: EngineApi, reply: dict[str, Any], include: tuple[str, ...], exclude: tuple[str, ...]
) -> None:
    sent: list[bytes] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.content)
        return served(200, reply)

    query = SearchQuery("how high", include_domains=include, exclude_domains=exclude)
    asking = engine(api, handle).ask(Call.of(query, Deadline.after(60)))
    if api.most_domains and not (include and exclude):
        assert (await asking).applied.domains == "upstream"
        assert b"a.example" in sent[0]
    else:
        with pytest.raises(NotAsked, match="cannot apply these lists"):
            await asking
        assert sent == []


async def test_the_gateway_applies_the_rest_of_an_exclusion_list_that_is_too_long() -> None:
    api, reply = APIS[2]
    query = SearchQuery(
        "how high", exclude_domains=tuple(f"host{number}.example" for number in range(21))
    )
    answer = await engine(api, lambda _: served(200, reply)).ask(Call.of(query, Deadline.after(60)))
    assert answer.applied.domains == "local"


async def test_what_a_failed_attempt_was_billed_for_is_part_of_the_cost_of_the_next_one() -> None:
    """A vendor pauses, which is billed, and then fails for a moment: the question is asked from its start again."""
    api, reply = APIS[0]
    paused = {**reply, "stop_reason": "pause_turn"}
    replies = [served(200, paused), served(503, {}), served(200, reply)]
    both, once = asking(), asking()
    answer = await engine(api, lambda _: replies.pop(0)).ask(both)
    alone = await engine(api, lambda _: served(200, reply)).ask(once)
    assert both.bill.usd == pytest.approx(2 * once.bill.usd)
    assert answer.text == alone.text


@every_api
async def test_a_cancelled_request_is_booked_at_the_usual_price_of_its_own_model(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    second = api.known_models[-1].name
    gone, waits = (
        [served(404, {"error": {"message": "no such model", "code": "model_not_found"}})],
        asyncio.Event(),
    )

    async def answer(_: httpx2.Request) -> httpx2.Response:
        if gone:
            return gone.pop()
        waits.set()
        await asyncio.Event().wait()
        raise AssertionError

    asked, call = engine(api, answer, models=["gone", second]), asking()
    task = asyncio.create_task(asked.ask(call))
    waiting = asyncio.create_task(waits.wait())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    asked.models = [second]
    assert call.bill.usd == pytest.approx(asked.likely_usd)


@pytest.mark.parametrize("api", [type(api) for api, _ in APIS], ids=lambda api: api.name)
async def test_a_request_that_is_cancelled_while_it_connects_costs_nothing(
    api: type[EngineApi], deaf_port: int
) -> None:
    url, call = f"http://127.0.0.1:{deaf_port}", asking()
    async with create_client() as client:
        sdk = OpenAISdk(client, SecretStr(KEY), url) if api.name == "openai" else None
        asked = HttpEngine(
            api(SecretStr(KEY), url), [api.known_models[-1].name], client, Retry(), sdk=sdk
        )
        await asked.warm_up()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asked.ask(call), 0.1)
    assert call.bill.usd == 0.0


@every_api
async def test_a_request_that_the_vendor_fails_costs_nothing(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    call = asking()
    with pytest.raises(SearchProviderError):
        await engine(api, lambda _: served(503, {})).ask(call)
    assert call.bill.usd == 0.0
