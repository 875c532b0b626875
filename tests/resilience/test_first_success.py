"""The trial that decides, for every order in which trials end."""

from __future__ import annotations

import asyncio

import pytest

from websearch_gateway.errors import Exhausted, NotAsked, SearchAuthError, SearchProviderError
from websearch_gateway.net.cost_context import spend, spent
from websearch_gateway.resilience.first_success import FirstSuccess, Trial

EMPTY = ""
"""An answer in which nothing was found."""


class Trials:
    """Trials that a test ends, each with an answer or an error."""

    def __init__(self, race: FirstSuccess[str]) -> None:
        self._race = race
        self._outcomes: dict[str, asyncio.Future[str]] = {}

    def start(self, name: str, *, pays: float = 0.0) -> Trial[str]:
        self._outcomes[name] = asyncio.get_running_loop().create_future()
        return self._race.start(name, self._call(name, pays))

    async def _call(self, name: str, pays: float) -> str:
        spend(pays)
        return await self._outcomes[name]

    async def end(self, name: str, outcome: str | Exception) -> None:
        future = self._outcomes[name]
        future.set_exception(outcome) if isinstance(outcome, Exception) else future.set_result(outcome)
        await self._race.change(None)


def race() -> FirstSuccess[str]:
    return FirstSuccess(found=bool)


async def test_a_later_answer_wins_at_once_if_something_was_found() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        second = control.start("second")
        await control.end("second", "found")
        assert await trials.outcome() is second


async def test_a_later_answer_without_results_waits_for_the_earlier_trial() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        second = control.start("second")
        await control.end("second", EMPTY)
        assert (trials.winner, trials.has_waiting_outcome) == (None, True)
        await control.end("first", SearchProviderError("down"))
        assert await trials.outcome() is second


async def test_a_later_refusal_waits_for_the_earlier_trial() -> None:
    async with race() as trials:
        control = Trials(trials)
        first = control.start("first")
        control.start("second")
        await control.end("second", SearchAuthError("wrong key"))
        assert trials.winner is None
        await control.end("first", "found")
        assert await trials.outcome() is first


async def test_an_earlier_refusal_decides_against_a_later_answer_without_results() -> None:
    async with race() as trials:
        control = Trials(trials)
        first = control.start("first")
        control.start("second")
        await control.end("second", EMPTY)
        await control.end("first", SearchAuthError("wrong key"))
        assert await trials.outcome() is first


async def test_a_stopgap_comes_after_trials_that_start_later() -> None:
    async with race() as trials:
        control = Trials(trials)
        trials.stopgap = control.start("stopgap")
        later = control.start("later")
        await control.end("stopgap", EMPTY)
        assert trials.winner is None
        await control.end("later", EMPTY)
        assert await trials.outcome() is later


async def test_a_held_stopgap_does_not_win_until_it_is_released() -> None:
    async with race() as trials:
        control = Trials(trials)
        trials.stopgap = control.start("stopgap")
        trials.holds_stopgap = True
        await control.end("stopgap", "found")
        assert trials.winner is None
        trials.holds_stopgap = False
        assert await trials.outcome() is trials.stopgap


async def test_another_trial_should_start_when_the_latest_fails_or_is_slow() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        assert await trials.outcome(slow_after=0.0) is None
        latest = control.start("second")
        await control.end("second", SearchProviderError("down"))
        assert await trials.outcome(latest) is None


async def test_if_all_fail_the_error_names_every_attempt_and_the_shortest_wait() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        nested = control.start("second")
        await control.end("first", SearchProviderError("down", retry_after=30))
        await control.end("second", Exhausted([], retry_after=9, advice="Set a key."))
        assert await trials.outcome() is None
        error = trials.exhausted()
        assert ([attempt.name for attempt in error.attempts], error.retry_after) == (["first"], 9)
        assert nested.attempts == ()
        assert error.advice == "Set a key."


async def test_running_trials_are_cancelled_and_every_cost_is_booked() -> None:
    before = spent()
    async with race() as trials:
        control = Trials(trials)
        slow = control.start("slow", pays=0.002)
        winner = control.start("quick", pays=0.001)
        await control.end("quick", "found")
        assert await trials.outcome() is winner
        assert trials.lost_usd(winner) == pytest.approx(0.002)
    assert slow.task.cancelled()
    assert spent() - before == pytest.approx(0.003)


async def test_a_trial_that_sent_nothing_was_not_asked() -> None:
    async with race() as trials:
        control = Trials(trials)
        trial = control.start("first")
        assert trial.was_asked
        await control.end("first", NotAsked("first is not called: its circuit is open"))
        assert (trial.was_asked, trial.cost_usd) == (False, 0.0)
