"""The first success wins, in the order of the trials."""

from __future__ import annotations

import asyncio

from websearch_gateway.errors import (
    Exhausted,
    NotAsked,
    SearchAuthError,
    SearchProviderError,
)
from websearch_gateway.upstream.race import FirstSuccess, Trial

EMPTY = ""
"""An answer in which nothing was found."""


class Trials:
    """Trials that a test ends, each with an answer or an error."""

    def __init__(self, race: FirstSuccess[str]) -> None:
        self._race = race
        self._outcomes: dict[str, asyncio.Future[str]] = {}

    def start(self, name: str) -> Trial[str]:
        self._outcomes[name] = asyncio.get_running_loop().create_future()
        return self._race.start(name, self._call(name))

    async def _call(self, name: str) -> str:
        return await self._outcomes[name]

    async def end(self, name: str, outcome: str | Exception) -> None:
        future = self._outcomes[name]
        future.set_exception(outcome) if isinstance(outcome, Exception) else future.set_result(
            outcome
        )
        await asyncio.wait([future])
        await asyncio.sleep(0)


class Nobody:
    """Starts no other trial."""

    def holds_stopgap(self, now: float) -> bool:
        return False

    async def starts_another(self, now: float) -> bool:
        return False

    def seconds_to_wait(self, now: float) -> float | None:
        return None


class Waits(Nobody):
    """Starts a trial after a moment, and another one each time that the latest failed."""

    def __init__(self, control: Trials, names: list[str]) -> None:
        self._control, self._names = control, names
        self._asked = 0
        self._latest: Trial[str] | None = None
        self.started = asyncio.Event()

    async def starts_another(self, now: float) -> bool:
        self._asked += 1
        if self._asked == 1 or not self._names or (self._latest and not self._latest.failure):
            return False
        self._latest = self._control.start(self._names.pop(0))
        self.started.set()
        return True

    def seconds_to_wait(self, now: float) -> float | None:
        return 0.0 if self._asked == 1 else None


def race() -> FirstSuccess[str]:
    return FirstSuccess(found=bool)


async def test_a_later_answer_wins_at_once_if_something_was_found() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        second = control.start("second")
        await control.end("second", "found")
        assert await trials.run(Nobody()) is second


async def test_a_later_answer_without_results_waits_for_the_earlier_trial() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        second = control.start("second")
        await control.end("second", EMPTY)
        assert (trials.winner, trials.has_waiting_outcome) == (None, True)
        await control.end("first", SearchProviderError("down"))
        assert await trials.run(Nobody()) is second


async def test_a_later_refusal_waits_for_the_earlier_trial() -> None:
    async with race() as trials:
        control = Trials(trials)
        first = control.start("first")
        control.start("second")
        await control.end("second", SearchAuthError("wrong key"))
        assert trials.winner is None
        await control.end("first", "found")
        assert await trials.run(Nobody()) is first


async def test_an_earlier_refusal_decides_against_a_later_answer_without_results() -> None:
    async with race() as trials:
        control = Trials(trials)
        first = control.start("first")
        control.start("second")
        await control.end("second", EMPTY)
        await control.end("first", SearchAuthError("wrong key"))
        assert await trials.run(Nobody()) is first


async def test_a_stopgap_comes_after_trials_that_start_later() -> None:
    async with race() as trials:
        control = Trials(trials)
        trials.stopgap = control.start("stopgap")
        later = control.start("later")
        await control.end("stopgap", EMPTY)
        assert trials.winner is None
        await control.end("later", EMPTY)
        assert await trials.run(Nobody()) is later


async def test_a_held_stopgap_does_not_win_until_it_is_released() -> None:
    async with race() as trials:
        control = Trials(trials)
        trials.stopgap = control.start("stopgap")
        trials.holds_stopgap = True
        await control.end("stopgap", "found")
        assert trials.winner is None
        assert await trials.run(Nobody()) is trials.stopgap


async def test_another_trial_may_start_when_one_fails_and_after_a_wait() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        schedule = Waits(control, ["second", "third"])
        running = asyncio.create_task(trials.run(schedule))
        await schedule.started.wait()
        assert [trial.name for trial in trials.trials] == ["first", "second"]
        schedule.started.clear()
        await control.end("second", SearchProviderError("down"))
        await schedule.started.wait()
        await control.end("third", "found")
        assert await running is trials.trials[2]


async def test_no_trial_starts_while_an_outcome_waits_for_an_earlier_one() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        refused = control.start("second")
        await control.end("second", SearchAuthError("wrong key"))
        running = asyncio.create_task(trials.run(Waits(control, ["third"])))
        await asyncio.sleep(0)
        await control.end("first", SearchProviderError("down"))
        await running
        assert [trial.name for trial in trials.trials] == ["first", "second"]
        assert refused.running is False


async def test_if_all_fail_the_error_names_every_attempt_and_the_shortest_wait() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        nested = control.start("second")
        await control.end("first", SearchProviderError("down", retry_after=30))
        await control.end("second", Exhausted([], retry_after=9, advice="Set a key."))
        assert await trials.run(Nobody()) is None
        error = trials.exhausted()
        assert ([attempt.name for attempt in error.attempts], error.retry_after) == (["first"], 9)
        assert nested.attempts == ()
        assert error.advice == "Set a key."


async def test_running_trials_are_cancelled_at_the_end() -> None:
    async with race() as trials:
        control = Trials(trials)
        slow = control.start("slow")
        winner = control.start("quick")
        await control.end("quick", "found")
        assert await trials.run(Nobody()) is winner
    assert slow.task.cancelled()


async def test_a_trial_that_sent_nothing_was_not_asked() -> None:
    async with race() as trials:
        control = Trials(trials)
        trial = control.start("first")
        assert trial.was_asked
        await control.end("first", NotAsked("first is not called: its circuit is open"))
        assert not trial.was_asked
