"""The wire formats of common servers: Ollama, vLLM, llama.cpp, LM Studio, LiteLLM."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from tests.shared_workers import SharedWorkers
from websearch_gateway.answers.drafted_claims import MAX_DRAFT
from websearch_gateway.answers.llm import Chat, LlmEngine, PromptTooLong, Written
from websearch_gateway.base.net.client import create_client
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
)
from websearch_gateway.models import Call, Deadline, Gathered, Hit, SearchQuery, SearchResults

KEY = "secret-0123456789"
ASKED = [{"role": "user", "content": "how high"}]
FORM = {"type": "json_schema"}
Handler = Callable[[httpx2.Request], httpx2.Response]


def reply(status: int, body: Any) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(content))


def stream(*events: Any, end: bytes = b"data: [DONE]\n\n") -> httpx2.Response:
    content = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + end
    return httpx2.Response(
        200, headers={"content-type": "text/event-stream"}, stream=httpx2.ByteStream(content)
    )


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish}],
    }


async def write(handler: Handler, seconds: float = 10.0) -> Written:
    async with create_client(httpx2.MockTransport(handler)) as client:
        chat = Chat(client, "http://llm.example/v1", "m", SecretStr(KEY))
        return await chat.write(ASKED, FORM, Deadline.after(seconds))


USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 900, "completion_tokens": 12, "total_tokens": 912},
}


@pytest.mark.parametrize(
    "served",
    [
        # Ollama and vLLM: thoughts in `reasoning`, usage in a last chunk without choices.
        stream(
            delta(role="assistant", content="", reasoning="Let me see"),
            delta(content="It is "),
            delta(content="high [1]."),
            delta("stop"),
            USAGE,
        ),
        # llama.cpp, LM Studio, LiteLLM: thoughts in `reasoning_content`.
        stream(
            delta(role="assistant", content=None, reasoning_content="Hm."),
            delta(content="It is high [1]."),
            delta("stop", content=None),
            USAGE,
        ),
        # Mistral and gateways: thoughts as a part of the content.
        stream(
            delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]),
            delta(content=[{"type": "text", "text": "It is high [1]."}]),
            delta("stop", content=""),
            USAGE,
        ),
        # A server that ignores `stream`.
        reply(
            200,
            {
                "choices": [
                    {
                        "message": {"content": "It is high [1].", "reasoning": "Hm."},
                        "finish_reason": "stop",
                    }
                ]
            }
            | {"usage": USAGE["usage"]},
        ),
    ],
    ids=["ollama and vllm", "llama.cpp", "mistral", "whole"],
)
async def test_the_text_is_read_without_the_thoughts(served: httpx2.Response) -> None:
    written = await write(lambda _: served)
    assert (written.text, written.prompt_tokens, written.response_tokens) == (
        "It is high [1].",
        900,
        12,
    )
    assert not written.cut_off


async def test_thoughts_that_use_up_the_tokens_leave_an_empty_cut_off_text() -> None:
    written = await write(lambda _: stream(delta(reasoning="Let me think"), delta("length")))
    assert (written.text, written.cut_off) == ("", True)


async def test_a_stream_without_an_end_or_usage_is_read_too() -> None:
    written = await write(
        lambda _: stream(delta(content="It is high [1]."), delta("stop"), end=b"data:\n\n")
    )
    assert (written.text, written.prompt_tokens, written.cut_off) == ("It is high [1].", 0, False)


@pytest.mark.parametrize(
    "end", [b"", b'data: {"choices": [{"del', b"data: nonsense\n\n", b"data: " + b"x" * 300_000]
)
async def test_a_broken_stream_keeps_the_text_that_was_written(end: bytes) -> None:
    written = await write(lambda _: stream(delta(content="It is high [1]."), end=end))
    assert (written.text, written.cut_off) == ("It is high [1].", True)


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_json_too_large_to_parse_on_the_event_loop_is_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []
    monkeypatch.setattr(json, "loads", lambda data: parsed.append(len(data)))
    body = b"data: [" + b"{}," * 300_000 + b"{}]\n\n"
    with pytest.raises(SearchError):
        await write(
            lambda _: httpx2.Response(
                200, headers={"content-type": kind}, stream=httpx2.ByteStream(body)
            )
        )
    assert parsed == []


@pytest.mark.parametrize(
    ("status", "body", "error", "words"),
    [
        (
            404,
            {"error": {"message": 'model "m" not found', "type": "not_found_error", "code": None}},
            SearchProviderError,
            "LLM_MODEL",
        ),
        (
            404,
            {
                "error": {
                    "message": "The model `m` does not exist.",
                    "type": "NotFoundError",
                    "code": 404,
                }
            },
            SearchProviderError,
            "LLM_MODEL",
        ),
        (
            404,
            {"object": "error", "message": "The model `m` does not exist.", "code": 404},
            SearchProviderError,
            "LLM_MODEL",
        ),
        (401, {"error": {"message": f"how high {KEY}"}}, SearchAuthError, "LLM_API_KEY"),
        (
            503,
            {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
            SearchProviderError,
            "503",
        ),
        (
            429,
            {"error": {"message": "No deployments available", "code": "429"}},
            SearchProviderError,
            "429",
        ),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9000,
                    "n_ctx": 4096,
                }
            },
            PromptTooLong,
            "context",
        ),
        (
            400,
            {"object": "error", "message": "This model's maximum context length is 4096 tokens."},
            PromptTooLong,
            "context",
        ),
        (500, b"<html>how high</html>", SearchProviderError, "500"),
        (200, b"<html>how high</html>", SearchProviderParseError, "not a chat completion"),
        (200, [1], SearchProviderParseError, "not a chat completion"),
    ],
)
async def test_the_errors_of_each_server_are_mapped(
    status: int, body: Any, error: type[SearchError], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        await write(lambda _: reply(status, body))
    assert "how high" not in str(caught.value)
    assert KEY not in str(caught.value)


async def test_an_error_in_the_middle_of_a_stream_keeps_the_text_that_was_written() -> None:
    error = {"error": {"message": "out of memory", "type": "server_error"}}
    written = await write(lambda _: stream(delta(content="It is high [1]."), error))
    assert (written.text, written.cut_off) == ("It is high [1].", True)
    with pytest.raises(SearchProviderError):
        await write(lambda _: stream(error))


@pytest.mark.parametrize(
    "told",
    [
        {"error": "'response_format.type' must be 'json_schema' or 'text'"},  # LM Studio: a string
        {"error": {"message": "Unsupported parameter: 'reasoning_effort'"}},
        {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]},
        {"error": {"message": "Bad request"}},  # a server that does not say what it minds
    ],
)
async def test_later_requests_leave_out_options_that_the_server_refused(told: Any) -> None:
    seen: list[dict[str, Any]] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content))
        minded = next(
            (
                name
                for name in ("response_format", "reasoning_effort", "stream_options")
                if name in str(told)
            ),
            "temperature",
        )
        return reply(400, told) if minded in seen[-1] else stream(delta(content="It is high [1]."))

    async with create_client(httpx2.MockTransport(serve)) as client:
        chat = Chat(client, "http://llm.example/v1", "m")
        first = await chat.write(ASKED, FORM, Deadline.after(60))
        calls = len(seen)
        await chat.write(ASKED, FORM, Deadline.after(60))
    assert first.text == "It is high [1]."
    assert len(seen) == calls + 1
    assert {"model", "messages", "max_tokens", "stream"} <= seen[-1].keys()
    assert all("authorization" not in body for body in seen)


async def test_the_deadline_cuts_off_a_slow_model_and_keeps_its_text() -> None:
    class Slow(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"data: " + json.dumps(delta(content="It is high [1].")).encode() + b"\n\n"
            await asyncio.Event().wait()

    headers = {"content-type": "text/event-stream"}
    written = await write(
        lambda _: httpx2.Response(200, headers=headers, stream=Slow()), seconds=3.0
    )
    assert (written.text, written.cut_off) == ("It is high [1].", True)


async def test_a_stream_that_never_ends_is_cut_off() -> None:
    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                await asyncio.sleep(0)
                yield b"data: " + json.dumps(delta(content=" and so on," * 50)).encode() + b"\n\n"

    headers = {"content-type": "text/event-stream"}
    written = await write(
        lambda _: httpx2.Response(200, headers=headers, stream=Endless()), seconds=60.0
    )
    assert written.cut_off
    assert MAX_DRAFT <= len(written.text) < 2 * MAX_DRAFT


class _Torn(httpx2.AsyncByteStream):
    """A stream that breaks off before its first word."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b": wait\n"
        raise httpx2.ReadError("torn")


async def test_each_repeat_that_the_server_began_to_answer_is_on_the_bill(
    workers: SharedWorkers,
) -> None:
    waiting = [
        reply(503, {}),
        httpx2.Response(200, stream=_Torn()),
        reply(400, {"error": {"message": "the maximum context length is 4096"}}),
        httpx2.Response(200, stream=_Torn()),
        stream(delta(content="It is 330 metres high [1]."), delta("stop"), USAGE),
    ]
    prices = []
    hit = Hit("https://a.example", "How high is the tower?", "It is 330 metres high.", "serper")

    async def gather(_: Deadline) -> Gathered:
        return Gathered(SearchResults((hit,), "serper"), {})

    def answer(_: httpx2.Request) -> httpx2.Response:
        prices.append(round(call.bill.usd, 2))
        return waiting.pop(0)

    async def no_sleep(_: float) -> None:
        """Repeats at once."""

    call = Call.of(SearchQuery("how high"), Deadline.after(60))
    async with create_client(httpx2.MockTransport(answer)) as client:
        chat = Chat(client, "http://llm.example/v1", "m", SecretStr(KEY))
        engine = LlmEngine(chat, gather, Retry(sleep=no_sleep), workers, 1_200, answer_usd=0.02)
        with pytest.raises(SearchProviderError):
            await engine.ask(call)
        answered = await engine.ask(call)
    assert answered.text
    assert prices == [0.02, 0.02, 0.04, 0.04, 0.06]
    assert call.bill.usd == pytest.approx(0.06)


def versioned(request: httpx2.Request) -> httpx2.Response:
    """A server whose paths begin with /v1, as most do."""
    if not request.url.path.startswith("/v1/"):
        return reply(404, b"404 page not found")
    if request.url.path.endswith("/models"):
        return reply(200, {"data": [{"id": "m"}]})
    return stream(delta(content="It is high [1]."))


async def test_a_base_url_without_its_version_is_tried_with_it() -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.path)
        return versioned(request)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        chat = Chat(client, "http://llm.example", "m")
        assert await chat.models(Deadline.after(5)) == ["m"]
        assert (await chat.write([], {}, Deadline.after(5))).text == "It is high [1]."
    assert asked == ["/models", "/v1/models", "/v1/chat/completions"], (
        "it remembers which one is right"
    )


async def test_a_model_that_is_gone_is_told_after_both_addresses() -> None:
    async with httpx2.AsyncClient(
        transport=httpx2.MockTransport(lambda _: reply(404, b""))
    ) as client:
        with pytest.raises(SearchProviderError, match="LLM_BASE_URL"):
            await Chat(client, "http://llm.example", "m").write([], {}, Deadline.after(5))
