"""Instances that share a state find questions that others have answered, even in other words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import pytest

from tests.clock import Clock
from tests.patience import wait_for_state
from tests.state.conftest import PATIENCE
from tests.stored_answer import AGAIN, ANSWER, ASKED, ME
from websearch_gateway.cache.results import ANSWERS, Lifetimes
from websearch_gateway.cache.semantic import OVERLAP_SECONDS, QuestionIndex, SemanticCache
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import SearchQuery, StateEntry
from websearch_gateway.ports import State
from websearch_gateway.state.opening import open_state

START = datetime(2026, 11, 21, 10, tzinfo=UTC).timestamp()
PROMISED_SECONDS = 30.0
KEPT_SECONDS = 3_600.0


class Instance:
    """The semantic cache of one process, with its own connection. `read` has the keys of the rows that it read."""

    def __init__(self, url: str, clock: Clock) -> None:
        self.state = open_state(url)
        if not url.startswith("sqlite"):
            self.state._seconds = PATIENCE
        self.read: list[str] = []
        self.looks = 0
        self.state.entries = self._noted(self.state)
        self.questions = QuestionIndex(StaticEmbedder(), self.state, longest_seconds=KEPT_SECONDS, clock=clock)
        self.cache = SemanticCache(
            self.questions, self.state, ANSWERS, Lifetimes(KEPT_SECONDS, KEPT_SECONDS, 0), clock=clock
        )

    def _noted(self, state: State) -> Callable[..., AsyncIterator[StateEntry]]:
        entries = state.entries

        async def noted(prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
            self.looks += 1
            async for entry in entries(prefix, after):
                self.read.append(entry.key)
                yield entry

        return noted

    async def close(self) -> None:
        await self.questions.close()
        await self.state.close()


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
async def instances(
    shared_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Instance, Instance]]:
    """Two instances on one state. On a busy machine each of them may be slow."""
    wait_for_state(monkeypatch, PATIENCE)
    monkeypatch.setattr("websearch_gateway.cache.semantic.WAIT_SECONDS", PATIENCE)
    here, there = Instance(shared_url, clock), Instance(shared_url, clock)
    yield here, there
    await here.close()
    await there.close()


async def test_an_instance_finds_the_answers_of_another_within_half_a_minute(
    instances: tuple[Instance, Instance], clock: Clock
) -> None:
    here, there = instances
    assert await here.cache.get(AGAIN, ME) is None
    await there.cache.put(ASKED, ME, ANSWER)
    clock.now += PROMISED_SECONDS
    served = await here.cache.get(AGAIN, ME)
    assert served is not None
    assert (served.response.text, served.response.cache) == (ANSWER.text, "semantic")


async def test_a_read_covers_only_new_rows_and_calls_share_it(
    instances: tuple[Instance, Instance], clock: Clock
) -> None:
    here, there = instances
    for number in range(5):
        await there.cache.put(SearchQuery(f"weather in city {number}"), ME, ANSWER)
    clock.now += OVERLAP_SECONDS + 1
    for _ in range(3):
        assert await here.cache.get(AGAIN, ME) is None
    assert (here.looks, len(here.read)) == (1, 5)
    clock.now += PROMISED_SECONDS
    await there.cache.put(ASKED, ME, ANSWER)
    assert await here.cache.get(AGAIN, ME)
    assert (here.looks, len(here.read)) == (2, 6)
