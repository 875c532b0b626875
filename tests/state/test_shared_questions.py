"""Instances that share a state find questions that others have answered, even in other words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from tests.clock import Clock
from tests.patience import wait_for_state
from tests.state.conftest import PATIENCE
from tests.stored_answer import AGAIN, ANSWER, ASKED, ME
from websearch_gateway.cache.kinds import ANSWERS
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.semantic import AskedQuestions, SemanticCache
from websearch_gateway.state.opening import open_state

KEPT_SECONDS = 3_600.0


class Instance:
    """The semantic cache of one process, with its own connection."""

    def __init__(self, url: str, clock: Clock) -> None:
        self.state = open_state(url)
        if not url.startswith("sqlite"):
            self.state._seconds = PATIENCE
        questions = AskedQuestions(self.state, longest_seconds=KEPT_SECONDS, clock=clock)
        self.cache = SemanticCache(
            questions, self.state, ANSWERS, Lifetimes(KEPT_SECONDS, KEPT_SECONDS, 0), clock=clock
        )


@pytest.fixture
async def instances(
    shared_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Instance, Instance]]:
    """Two instances on one state. On a busy machine each of them may be slow."""
    wait_for_state(monkeypatch, PATIENCE)
    clock = Clock(datetime(2026, 11, 21, 10, tzinfo=UTC).timestamp())
    here, there = Instance(shared_url, clock), Instance(shared_url, clock)
    yield here, there
    await here.state.close()
    await there.state.close()


async def test_an_instance_finds_the_answers_of_another_at_once(
    instances: tuple[Instance, Instance],
) -> None:
    here, there = instances
    assert await here.cache.get(AGAIN, ME) is None
    await there.cache.put(ASKED, ME, ANSWER)
    served = await here.cache.get(AGAIN, ME)
    assert served is not None
    assert (served.response.text, served.response.cache) == (ANSWER.text, "semantic")
