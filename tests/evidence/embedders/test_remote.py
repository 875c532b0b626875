"""Rerankers in each vendor's form, against the stand-ins of the sandbox and against scripted servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from bench.virtual_time import in_virtual_time, now
from websearch_gateway.base.net.client import create_client
from websearch_gateway.evidence.embedders.choice import open_reranker
from websearch_gateway.evidence.embedders.remote import HttpReranker
from websearch_gateway.models import Call
from websearch_gateway.ports import MOST_RERANKED
from websearch_gateway.sandbox import Sandbox, key_of
from websearch_gateway.settings.loading import Settings

ClientOf = Callable[[Callable[[httpx2.Request], httpx2.Response]], httpx2.AsyncClient]
QUERY = "how tall is the tower"
TEXTS = [
    "Bread needs time.",
    "The tower has a restaurant on its first floor.",
    "How tall the tower is.",
]
KEY = key_of("reranker")


async def order(
    client: httpx2.AsyncClient, texts: list[str] = TEXTS, **options: Any
) -> tuple[list[int], str]:
    reranker = HttpReranker("http://rerank.test", client, **options)
    return await reranker.order(QUERY, texts, Call.after(10))


@pytest.mark.parametrize("path", ["v2", "v2/rerank", "voyage/v1", "tei", "tei/rerank"])
async def test_every_form_gives_the_same_order(sandbox: Sandbox, path: str) -> None:
    url = f"{sandbox.url}/reranker/{path}"
    settings = Settings(reranker_url=url, reranker_api_key=KEY, reranker_model="some-model")
    client = create_client()
    reranker = open_reranker(settings, client)
    assert reranker is not None
    first = await reranker.order(QUERY, TEXTS, Call.after(10))
    again = await reranker.order(QUERY, TEXTS, Call.after(10))
    await client.aclose()
    assert first == again == ([2, 1, 0], "")
    asked = sandbox.calls("reranker")
    assert asked == (3 if "tei" in path else 2), "the form is learned once"


async def test_two_calls_that_learn_the_form_at_once_are_both_ordered(sandbox: Sandbox) -> None:
    client = create_client()
    reranker = HttpReranker(f"{sandbox.url}/reranker/tei", client, key=KEY)
    found = await asyncio.gather(*(reranker.order(QUERY, TEXTS, Call.after(10)) for _ in range(4)))
    await client.aclose()
    assert found == [([2, 1, 0], "")] * 4


async def test_a_wrong_key_keeps_the_order_and_names_the_setting_and_no_secret(
    sandbox: Sandbox,
) -> None:
    client = create_client()
    reranker = HttpReranker(f"{sandbox.url}/reranker/v2", client, key="wrong-secret-key")
    kept, fault = await reranker.order(QUERY, TEXTS, Call.after(10))
    await client.aclose()
    assert kept == [0, 1, 2]
    assert "RERANKER_API_KEY" in fault
    assert "wrong-secret-key" not in f"{fault} {reranker!r}"


@pytest.mark.parametrize(
    ("status", "setting"),
    [(401, "RERANKER_API_KEY"), (403, "RERANKER_API_KEY"), (404, "RERANKER_MODEL")],
)
async def test_a_refusal_names_the_setting(client_of: ClientOf, status: int, setting: str) -> None:
    kept, fault = await order(client_of(lambda _: httpx2.Response(status)))
    assert kept == [0, 1, 2]
    assert setting in fault


async def test_thirty_texts_are_compared_and_long_ones_are_cut(client_of: ClientOf) -> None:
    bodies: list[dict[str, Any]] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        count = len(bodies[-1]["documents"])
        return httpx2.Response(
            200, json={"results": [{"index": at, "relevance_score": at} for at in range(count)]}
        )

    found, _ = await order(client_of(serve), ["x" * 5_000] * 40)
    assert found == [*reversed(range(MOST_RERANKED)), *range(MOST_RERANKED, 40)]
    assert {len(text) for text in bodies[0]["documents"]} == {2_000}
    assert bodies[0]["query"] == QUERY
    assert "model" not in bodies[0]


async def test_texts_that_the_server_leaves_out_come_last(client_of: ClientOf) -> None:
    found, _ = await order(
        client_of(lambda _: httpx2.Response(200, json=[{"index": 1, "score": -3.5}]))
    )
    assert found == [1, 0, 2]


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>",
        b"{}",
        b"[]",
        b'{"results": [{"index": 7, "relevance_score": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": NaN}]}',
        b'{"results": [{"index": "0", "relevance_score": 1}]}',
        b'{"results": [1]}',
        b'{"results": [{"index": [], "relevance_score": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": 1%s}]}' % (b"0" * 400),
        b"[" * 100_000,
    ],
)
async def test_any_other_reply_keeps_the_order(client_of: ClientOf, reply: bytes) -> None:
    kept, fault = await order(client_of(lambda _: httpx2.Response(200, content=reply)))
    assert kept == [0, 1, 2]
    assert "not a list of scores" in fault


async def test_a_server_that_hangs_keeps_the_order_within_the_deadline(sandbox: Sandbox) -> None:
    sandbox.fault("reranker", "hang")
    client = create_client()
    reranker = HttpReranker(f"{sandbox.url}/reranker/v2", client, key=KEY)
    kept, fault = await reranker.order(QUERY, TEXTS, Call.after(0.4))
    await client.aclose()
    assert kept == [0, 1, 2]
    assert fault


async def hang(_: httpx2.Request) -> httpx2.Response:
    await asyncio.sleep(3_600)
    raise AssertionError("nobody waits so long")


@pytest.mark.parametrize(("left", "seconds"), [(60, 5), (6, 3)])
def test_a_server_that_hangs_takes_five_seconds_and_at_most_half_of_what_is_left(
    left: float, seconds: float
) -> None:
    @in_virtual_time
    async def waited() -> float:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(hang))
        await HttpReranker("http://rerank.test", client).order(QUERY, TEXTS, Call.after(left))
        return now()

    assert waited() == pytest.approx(seconds, rel=0.2)


@pytest.mark.parametrize("texts", [TEXTS[:1], []])
async def test_fewer_than_two_texts_are_not_sent(client_of: ClientOf, texts: list[str]) -> None:
    found, fault = await order(client_of(lambda _: httpx2.Response(500)), texts)
    assert (found, fault) == ([*range(len(texts))], "")


async def test_a_request_that_is_never_sent_costs_nothing_and_one_that_hangs_does(
    sandbox: Sandbox, deaf_port: int
) -> None:
    sandbox.fault("reranker", "hang")
    client, bills = create_client(), []
    for url in (f"http://127.0.0.1:{deaf_port}", f"{sandbox.url}/reranker/v2"):
        call = Call.after(0.4)
        await HttpReranker(url, client, key=KEY, price_usd=0.002).order(QUERY, TEXTS, call)
        bills.append(call.bill.usd)
    await client.aclose()
    assert bills == [0.0, 0.002]


def test_without_an_address_there_is_none() -> None:
    client = httpx2.AsyncClient()
    assert open_reranker(Settings(), client) is None
