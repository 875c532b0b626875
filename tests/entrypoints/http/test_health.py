"""What a load balancer is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.entrypoints.http.conftest import Door
from websearch_gateway.entrypoints.http import health
from websearch_gateway.entrypoints.http.loop_lag import LoopLag
from websearch_gateway.workers.pool import Workers


async def test_a_server_with_its_state_is_ready(door: Door) -> None:
    async with door() as http:
        replies = [await http.get(path) for path in ("/healthz", "/readyz")]
    assert [(reply.status_code, reply.json()["status"]) for reply in replies] == [(200, "ok"), (200, "ready")]


async def test_a_server_without_its_state_lives_and_is_not_ready(door: Door) -> None:
    async with door(state_url="postgresql://somebody@127.0.0.1:1/x") as http:
        replies = [await http.get(path) for path in ("/healthz", "/readyz")]
    assert [reply.status_code for reply in replies] == [200, 503]
    assert replies[1].json()["reason"]


async def test_a_server_that_keeps_its_state_in_memory_is_ready_and_its_page_says_so(
    door: Door, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    async with door(state_url=f"sqlite:///{tmp_path / 'file'}/state.db") as http:
        replies = [await http.get(path) for path in ("/readyz", "/")]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert "Costs, limits and cache in memory only" in replies[1].text


async def test_a_gateway_that_cannot_be_built_is_not_ready_and_says_why(door: Door) -> None:
    async with door(search_providers="nope") as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "nope" in reply.json()["reason"]


async def test_a_state_that_takes_too_long_is_not_ready(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "READY_SECONDS", 0)
    async with door(state_url=f"sqlite:///{tmp_path}/state.db") as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "in time" in reply.json()["reason"]


async def test_a_server_whose_workers_do_not_start_is_not_ready(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workers, "trouble", "Worker processes cannot be started.")
    async with door() as http:
        reply = await http.get("/readyz")
    assert (reply.status_code, reply.json()["reason"]) == (503, "Worker processes cannot be started.")


async def test_a_server_whose_loop_was_blocked_is_not_ready(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoopLag, "seconds", health.MOST_LAG_SECONDS + 1)
    async with door() as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert "blocked" in reply.json()["reason"]
