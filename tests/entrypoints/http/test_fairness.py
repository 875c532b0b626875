"""Callers of one server share its workers: each job waits under the name in its caller's token."""

from __future__ import annotations

from typing import Any

import pytest

from tests.entrypoints.http.calls import bearer, call, post
from tests.entrypoints.http.conftest import SECRET, Door
from websearch_gateway.base.workers.pool import FairQueue
from websearch_gateway.sandbox import Sandbox

WARM_UP = {"local"}


@pytest.fixture
def callers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The callers that waited for a worker."""
    seen: list[str] = []
    turn = FairQueue.turn

    def noted(queue: FairQueue, caller: str, **options: Any) -> Any:
        seen.append(caller)
        return turn(queue, caller, **options)

    monkeypatch.setattr(FairQueue, "turn", noted)
    return seen


async def test_the_jobs_of_two_tokens_stand_in_line_apart(
    door: Door, sandbox: Sandbox, callers: list[str]
) -> None:
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        page = f"{sandbox.url}/pages/descale-espresso-machine"
        reply = await http.post(
            "/v1/tools/get_content", json={"url": page}, headers=bearer("alice")
        )
        assert reply.status_code == 200
        assert set(callers) - WARM_UP == {"alice"}
        calling = call("tools/call", {"name": "get_content", "arguments": {"url": f"{page}?again"}})
        reply = await post(http, calling, **bearer("bob"))
        assert reply.status_code == 200
        assert set(callers) - WARM_UP == {"alice", "bob"}
