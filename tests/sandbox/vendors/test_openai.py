from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
import pytest
from openai.types.responses import Response

from websearch_gateway.sandbox import OPENAI_KEY, Sandbox
from websearch_gateway.sandbox.vendors.openai import vector

QUESTION = "How tall is the Eiffel Tower?"
SEARCH: dict[str, Any] = {
    "model": "gpt-5-nano",
    "input": QUESTION,
    "tools": [{"type": "web_search"}],
    "tool_choice": "required",
    "reasoning": {"effort": "low"},
}


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        api_key=OPENAI_KEY, base_url=f"{sandbox.url}/openai/v1", max_retries=0
    ) as sdk:
        yield sdk


def _note_and_slice(response: Response) -> list[tuple[Any, str]]:
    content = response.output[-1].content[0]  # type: ignore[union-attr]
    return [
        (note, response.output_text[note.start_index : note.end_index])
        for note in content.annotations
    ]


async def test_an_answer_is_searched_written_and_cited(
    client: openai.AsyncOpenAI, sandbox: Sandbox
) -> None:
    response = await client.responses.create(**SEARCH, include=["web_search_call.action.sources"])
    assert response.status == "completed"
    assert "330 metres" in response.output_text
    types = [item.type for item in response.output]
    assert types == ["reasoning", "web_search_call", "reasoning", "web_search_call", "message"]
    search, opened = response.output[1].action, response.output[3].action  # type: ignore[union-attr]
    assert (search.type, search.queries) == ("search", [QUESTION])
    assert search.sources[0].url == f"{sandbox.url}/pages/eiffel-tower"
    assert (opened.type, opened.url) == ("open_page", f"{sandbox.url}/pages/eiffel-tower")
    assert response.usage is not None
    assert response.usage.input_tokens > 8000
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert response.tool_usage is not None
    assert response.tool_usage.web_search.num_requests == 1


async def test_a_span_is_exactly_the_link_with_its_parentheses(
    client: openai.AsyncOpenAI, sandbox: Sandbox
) -> None:
    for question in (QUESTION, "煎茶のお湯の温度", "LoomDB and SQLite database backup"):
        pairs = _note_and_slice(await client.responses.create(**{**SEARCH, "input": question}))
        assert pairs
        for note, text in pairs:
            assert text == f"([{sandbox.url.removeprefix('http://')}]({note.url}))"
            assert note.url.endswith("?utm_source=openai")
            assert note.title


async def test_sources_are_listed_only_when_asked_for(client: openai.AsyncOpenAI) -> None:
    response = await client.responses.create(**SEARCH)
    assert response.output[1].action.sources is None  # type: ignore[union-attr]


async def test_the_last_user_message_is_the_question(client: openai.AsyncOpenAI) -> None:
    messages = [
        {"role": "user", "content": "Tell me about bread."},
        {"role": "assistant", "content": "Gladly."},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": f"Be brief.\nQuestion: {QUESTION}"}],
        },
    ]
    response = await client.responses.create(**{**SEARCH, "input": messages})
    assert response.output[1].action.query == QUESTION  # type: ignore[union-attr]


async def test_nothing_found_is_said_without_citations(client: openai.AsyncOpenAI) -> None:
    response = await client.responses.create(**{**SEARCH, "input": "zyzzyva quux"})
    assert "couldn't find" in response.output_text
    assert _note_and_slice(response) == []


async def test_other_domains_hold_nothing(client: openai.AsyncOpenAI) -> None:
    tool = {"type": "web_search", "filters": {"allowed_domains": ["example.com"]}}
    response = await client.responses.create(**{**SEARCH, "tools": [tool]})
    assert "couldn't find" in response.output_text


async def test_a_form_costs_the_citations(client: openai.AsyncOpenAI) -> None:
    """openai-agents-python#2051: with json_schema the annotations are empty, and raw markers stand in the text."""
    form = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}
    response = await client.responses.create(**SEARCH, text={"format": form})
    assert _note_and_slice(response) == []
    assert "\ue200cite\ue202turn0search0\ue201" in response.output_text


@pytest.mark.parametrize("effort", ["low", "medium"])
async def test_six_hundred_tokens_are_eaten_by_reasoning(
    client: openai.AsyncOpenAI, effort: str
) -> None:
    asked = {**SEARCH, "max_output_tokens": 600, "reasoning": {"effort": effort}}
    response = await client.responses.create(**asked)
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
    assert "message" not in [item.type for item in response.output]
    assert response.usage is not None
    assert response.usage.output_tokens == 600


REFUSALS: list[tuple[dict[str, Any], int, str | None, str | None, str]] = [
    (
        {"temperature": 0},
        400,
        "temperature",
        None,
        "Unsupported parameter: 'temperature' is not supported with this",
    ),
    ({"top_p": 0.5}, 400, "top_p", None, "Unsupported parameter: 'top_p'"),
    (
        {"reasoning": {"effort": "minimal"}},
        400,
        "tools",
        None,
        "cannot be used with reasoning.effort 'minimal'",
    ),
    (
        {"reasoning": {"effort": "none"}},
        400,
        "reasoning.effort",
        "unsupported_value",
        "'none' is not supported",
    ),
    (
        {"max_output_tokens": 10},
        400,
        "max_output_tokens",
        "integer_below_min_value",
        ">= 16, but got 10 instead.",
    ),
    ({"max_output_tokens": "10"}, 400, "max_output_tokens", "invalid_type", "Invalid type"),
    (
        {"text": {"format": {"type": "json_object"}}},
        400,
        "tools",
        None,
        "Web Search cannot be used with JSON mode.",
    ),
    ({"colour": 1}, 400, "colour", "unknown_parameter", "Unknown parameter: 'colour'."),
    ({"model": "gpt-9"}, 404, None, "model_not_found", "The model `gpt-9` does not exist"),
    ({"model": None}, 400, "model", "missing_required_parameter", "'model'"),
    ({"input": None}, 400, "input", "missing_required_parameter", "'input'"),
    (
        {"include": ["everything"]},
        400,
        "include[0]",
        "invalid_value",
        "Invalid value: 'everything'",
    ),
    (
        {"tool_choice": {"type": "web_search_preview"}},
        400,
        "tool_choice",
        None,
        "not found in 'tools' parameter.",
    ),
    (
        {"tools": [{"type": "web_search", "search_context_size": "huge"}]},
        400,
        "tools[0].search_context_size",
        "invalid_value",
        "'low', 'medium', and 'high'",
    ),
    (
        {"tools": [{"type": "web_search", "filters": {"allowed_domains": ["a.com"] * 101}}]},
        400,
        "tools[0].filters.allowed_domains",
        "array_above_max_length",
        "length 101",
    ),
]


@pytest.mark.parametrize(
    ("change", "status", "param", "code", "words"), REFUSALS, ids=lambda value: str(value)[:40]
)
async def test_what_openai_refuses_is_refused_in_its_words(
    http: httpx2.AsyncClient,
    change: dict[str, Any],
    status: int,
    param: str | None,
    code: str | None,
    words: str,
) -> None:
    headers = {"Authorization": f"Bearer {OPENAI_KEY}"}
    reply = await http.post("/openai/v1/responses", json={**SEARCH, **change}, headers=headers)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (status, param, code)
    assert words in error["message"]
    assert error["type"] == "invalid_request_error"


async def test_a_body_that_is_not_json_is_refused(http: httpx2.AsyncClient) -> None:
    headers = {"Authorization": f"Bearer {OPENAI_KEY}"}
    for body in (b"{", b"[]"):
        assert (
            await http.post("/openai/v1/responses", content=body, headers=headers)
        ).status_code == 400


async def test_a_wrong_key_is_refused_and_masked(http: httpx2.AsyncClient) -> None:
    headers = {"Authorization": "Bearer sk-wrong-and-long-key"}
    reply = await http.get("/openai/v1/models", headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "invalid_api_key")
    assert "wrong-and-long" not in reply.text
    assert (await http.post("/openai/v1/responses", json=SEARCH)).status_code == 401
    assert (await http.post("/openai/v1/embeddings", json={})).status_code == 401


async def test_models_carry_the_date_of_their_end(client: openai.AsyncOpenAI) -> None:
    models = {model.id: model.shutdown_date async for model in client.models.list()}
    assert models["gpt-5-nano"] == "2026-12-11"
    assert models["gpt-6-luna"] is None


@pytest.mark.parametrize(
    ("status", "reason", "kind", "code"),
    [
        (429, None, "tokens", "rate_limit_exceeded"),
        (429, "insufficient_quota", "insufficient_quota", "insufficient_quota"),
        (429, "credit_balance_exhausted", "insufficient_quota", "credit_balance_exhausted"),
        (500, None, "server_error", None),
        (503, None, "service_unavailable_error", "server_is_overloaded"),
        (503, "slow_down", "service_unavailable_error", "slow_down"),
        (403, None, "request_forbidden", "unsupported_country_region_territory"),
        (404, None, "invalid_request_error", "model_not_found"),
    ],
)
async def test_a_status_fault_has_the_body_that_openai_sends(
    client: openai.AsyncOpenAI,
    sandbox: Sandbox,
    status: int,
    reason: str | None,
    kind: str,
    code: str | None,
) -> None:
    sandbox.fault("openai/v1/responses", "status", status=status, reason=reason)
    with pytest.raises(openai.APIStatusError) as caught:
        await client.responses.create(**SEARCH)
    error = caught.value
    assert (error.status_code, error.type, error.code) == (status, kind, code)


async def test_one_model_can_be_gone_while_the_next_one_works(
    client: openai.AsyncOpenAI, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=404, reason="model_not_found", when="gpt-5-nano")
    with pytest.raises(openai.NotFoundError):
        await client.responses.create(**SEARCH)
    assert (
        await client.responses.create(**{**SEARCH, "model": "gpt-6-luna"})
    ).status == "completed"


async def test_a_failed_response_is_http_200(client: openai.AsyncOpenAI, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "failed", reason="rate_limit_exceeded")
    response = await client.responses.create(**SEARCH)
    assert response.status == "failed"
    assert response.error is not None
    assert response.error.code == "rate_limit_exceeded"
    assert response.output == []


@pytest.mark.parametrize("kind", ["delay", "drip"])
async def test_a_slow_answer_is_a_whole_one(
    client: openai.AsyncOpenAI, sandbox: Sandbox, kind: str
) -> None:
    sandbox.fault("openai", kind, seconds=0.0)
    assert "330 metres" in (await client.responses.create(**SEARCH)).output_text


async def test_faults_within_a_completed_response(
    client: openai.AsyncOpenAI, sandbox: Sandbox
) -> None:
    async def ask(kind: str) -> Response:
        sandbox.clear_faults()
        sandbox.fault("openai", kind)
        return await client.responses.create(**SEARCH)

    assert (await ask("incomplete")).status == "incomplete"
    refusal = await ask("refusal")
    assert refusal.output_text == ""
    assert refusal.output[-1].content[0].type == "refusal"  # type: ignore[union-attr]
    unsearched = await ask("no_search")
    assert "web_search_call" not in [item.type for item in unsearched.output]
    empty = await ask("empty_annotations")
    assert _note_and_slice(empty) == []
    assert empty.output_text.endswith("  ")
    assert "web_search_call" in [item.type for item in empty.output]
    raw = await ask("raw_markers")
    assert _note_and_slice(raw) == []
    assert "\ue200cite\ue202turn0search0\ue201" in raw.output_text


async def test_spans_can_be_shifted_or_counted_in_utf16(
    client: openai.AsyncOpenAI, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "shifted_spans", times=1)
    sandbox.fault("openai", "utf16_spans", times=1)
    assert all(
        not text.startswith("([")
        for _, text in _note_and_slice(await client.responses.create(**SEARCH))
    )
    response = await client.responses.create(**SEARCH)
    units = response.output_text.encode("utf-16-le")
    for note, text in _note_and_slice(response):
        assert not text.startswith("([")
        assert (
            units[2 * note.start_index : 2 * note.end_index]
            .decode("utf-16-le")
            .endswith(f"({note.url}))")
        )


HEADERS = {"Authorization": f"Bearer {OPENAI_KEY}"}


async def _embed(client: openai.AsyncOpenAI, *texts: str, **options: Any) -> list[list[float]]:
    reply = await client.embeddings.create(
        model="text-embedding-3-small", input=list(texts), **options
    )
    return [item.embedding for item in reply.data]


def _likeness(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


async def test_base64_and_plain_numbers_are_the_same_vectors(client: openai.AsyncOpenAI) -> None:
    """The SDK asks for base64 unless told otherwise."""
    [packed], [plain] = (
        await _embed(client, "bread"),
        await _embed(client, "bread", encoding_format="float"),
    )
    assert packed == pytest.approx(plain)
    assert len(packed) == 1536
    assert math.hypot(*packed) == pytest.approx(1, abs=1e-5)


def test_a_vector_is_the_same_in_every_process_and_on_every_day() -> None:
    assert [round(value, 3) for value in vector("bread", 4)] == [0.192, 0.0, 0.192, 0.962]


async def test_texts_that_share_words_are_near_each_other(client: openai.AsyncOpenAI) -> None:
    near, same, far = await _embed(
        client, "baking sourdough bread", "bake a sourdough bread", "rook endgame in chess"
    )
    assert _likeness(near, same) > 0.9
    assert _likeness(near, far) < 0.3


async def test_a_vector_can_be_shorter_and_an_old_models_cannot(client: openai.AsyncOpenAI) -> None:
    assert [len(vector) for vector in await _embed(client, "a", "b", dimensions=64)] == [64, 64]
    with pytest.raises(openai.BadRequestError):
        await client.embeddings.create(model="text-embedding-ada-002", input="a", dimensions=64)
    with pytest.raises(openai.BadRequestError):
        await _embed(client, "a", dimensions=5000)


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        ({"input": ""}, 400, None, "'$.input' is invalid."),
        ({"input": []}, 400, None, "'$.input' is invalid."),
        ({"input": ["a", ""]}, 400, None, "'$.input' is invalid."),
        ({"input": ["a"] * 2049}, 400, None, "2048"),
        (
            {"input": "a" * 40_000},
            400,
            None,
            "Invalid 'input[0]': maximum input length is 8192 tokens.",
        ),
        (
            {"input": ["a" * 32_000] * 38},
            400,
            "max_tokens_per_request",
            "max 300000 tokens per request",
        ),
        ({"input": "a", "model": "gpt-9"}, 404, "model_not_found", "gpt-9"),
        ({"input": "a", "model": "gpt-6-luna"}, 400, "model_not_supported", "embeddings"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_what_openai_refuses_to_embed_is_refused(
    http: httpx2.AsyncClient, body: dict[str, Any], status: int, code: str | None, words: str
) -> None:
    asked = {"model": "text-embedding-3-small", **body}
    reply = await http.post("/openai/v1/embeddings", json=asked, headers=HEADERS)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert words in reply.json()["error"]["message"]
