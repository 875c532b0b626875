"""What a load balancer is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.entrypoints.http.conftest import Door
from websearch_gateway.admin.doctor import Doctor
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.entrypoints.http import readiness
from websearch_gateway.entrypoints.http.loop_lag import LoopLag
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.results import Check
from websearch_gateway.sandbox import Sandbox


async def test_a_server_with_its_state_is_ready(door: Door) -> None:
    async with door() as http:
        replies = [await http.get(path) for path in ("/healthz", "/readyz")]
    assert [(reply.status_code, reply.json()["status"]) for reply in replies] == [
        (200, "ok"),
        (200, "ready"),
    ]


async def test_a_server_without_its_state_is_degraded_and_still_in_the_load_balancer(
    door: Door,
) -> None:
    async with door(state_url="postgresql://somebody@127.0.0.1:1/x") as http:
        reply = await http.get("/readyz")
        answer = await http.post("/v1/search", json={"query": "How tall is the Eiffel Tower?"})
    told = reply.json()
    assert (reply.status_code, told["status"], answer.status_code) == (200, "degraded", 200)
    assert told["reason"] == told["dependencies"]["state"]
    assert "somebody" not in reply.text
    assert (told["dependencies"]["workers"], told["dependencies"]["event loop"]) == ("ok", "ok")


async def test_an_upstream_that_rests_is_named_without_its_error(
    door: Door, sandbox: Sandbox
) -> None:
    sandbox.fault("openai", "status", status=503)
    async with door(breaker_failures=1) as http:
        await http.post("/v1/search", json={"query": "How tall is the Eiffel Tower?"})
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["status"]) == (200, "degraded")
    assert reply.json()["dependencies"]["openai"] == "Its circuit is open."


async def test_probes_share_one_look_at_the_state(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    look = Doctor.check_state

    async def counted(doctor: Doctor) -> Check:
        looks.append(doctor)
        return await look(doctor)

    monkeypatch.setattr(Doctor, "check_state", counted)
    async with door() as http:
        await asyncio.gather(*(http.get("/readyz") for _ in range(5)))
        assert len(looks) == 1
        monkeypatch.setattr(readiness, "STATE_SECONDS", 0.0)
        await http.get("/readyz")
    assert len(looks) == 2


async def test_a_server_that_keeps_its_state_in_memory_is_degraded_and_its_page_says_so(
    door: Door, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    async with door(state_url=f"sqlite:///{tmp_path / 'file'}/state.db") as http:
        replies = [await http.get(path) for path in ("/readyz", "/")]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert replies[0].json()["status"] == "degraded"
    assert "Costs, limits and cache in memory only" in replies[1].text


async def test_a_gateway_that_cannot_be_built_is_not_ready_and_says_why(door: Door) -> None:
    async with door(search_providers="nope") as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "nope" in reply.json()["reason"]


async def test_a_gateway_that_is_still_loading_is_not_ready(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_: LazyGateway) -> None:
        await asyncio.Event().wait()

    async with door() as http:
        monkeypatch.setattr(LazyGateway, "get", hang)
        monkeypatch.setattr(readiness, "READY_SECONDS", 0.01)
        reply = await http.get("/readyz")
    assert (reply.status_code, "loading" in reply.json()["reason"]) == (503, True)


async def test_a_state_that_takes_too_long_is_named(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(_: Doctor) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Doctor, "check_state", hang)
    async with door() as http:
        # It is built.
        await http.post("/v1/search", json={"query": "How tall is the Eiffel Tower?"})
        monkeypatch.setattr(readiness, "READY_SECONDS", 0.1)
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["dependencies"]["state"]) == (
        200,
        "The state does not answer in time.",
    )


async def test_a_server_whose_workers_do_not_start_is_not_ready(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workers, "trouble", "Worker processes cannot be started.")
    async with door() as http:
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["reason"]) == (
        503,
        "Worker processes cannot be started.",
    )


async def test_a_server_whose_loop_was_blocked_is_not_ready(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoopLag, "seconds", readiness.MOST_LAG_SECONDS + 1)
    async with door() as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "blocked" in reply.json()["reason"]


async def test_a_server_that_crawls_nothing_any_more_is_degraded_and_says_why(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        LazyGateway, "crawl_trouble", "This process crawls no documentation for now."
    )
    async with door() as http:
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["status"]) == (200, "degraded")
    assert "crawls no documentation" in reply.json()["reason"]
