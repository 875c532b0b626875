"""An answer engine made of several: each steps in if those before it fail; raw search also if one is slow."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.errors import EngineNotConfigured
from websearch_gateway.models import Answer, Deadline, Fallback, SearchQuery
from websearch_gateway.ports import AnswerEngine, Progress
from websearch_gateway.resilience.first_success import FirstSuccess, Trial


def _ignore() -> None:
    """The default `overtaken`: does nothing."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An engine with its place in the order.

    `overtaken` is called when the engine was overdue and another one answered. Raw search does not start beside an
    engine that is not `hedged`, because that engine works on what raw search finds.
    """

    engine: AnswerEngine
    overtaken: Callable[[], None] = _ignore
    hedged: bool = True

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name


@dataclass(frozen=True, slots=True)
class FallbackEngine:
    """`engines` in order, backed by `raw` search.

    The next engine starts when one fails. A `Refused` (a wrong key, a bad request) is shown, never masked. Where no
    answer has come after `hedge_seconds`, `raw` starts beside the engine that runs, not the next engine; the first
    right answer wins and the others are cancelled. An answer without a source wins only when all before it have failed.
    """

    engines: Sequence[Ranked]
    raw: AnswerEngine
    hedge_seconds: float

    @property
    def name(self) -> str:
        """The name of the first engine."""
        return self.engines[0].name

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """The first answer; its `fallback` says why it is not from the first engine.

        Raises:
            Refused: an engine refuses, or raw search does after all engines failed.
            Exhausted: all failed; the error names every attempt.
        """
        async with FirstSuccess[Answer](found=lambda answer: bool(answer.spans)) as race:
            winner = await self._run(race, query, deadline, progress)
            if winner is None:
                raise race.exhausted()
            answer = winner.task.result()
            if winner is not race.trials[0]:
                answer = replace(answer, fallback=self._why(race, winner))
                self._report_overtaken(race)
        # Only after the losers have ended: a nested race reports its costs when it ends.
        return replace(answer, cost_usd=answer.cost_usd + race.lost_usd(winner))

    async def _run(
        self, race: FirstSuccess[Answer], query: SearchQuery, deadline: Deadline, progress: Progress
    ) -> Trial[Answer] | None:
        """The deciding trial; None if all failed."""
        loop = asyncio.get_running_loop()
        hedge_at = loop.time() + self.hedge_seconds
        queue, raw_waits = deque(self.engines), True

        async def start(engine: AnswerEngine) -> Trial[Answer]:
            if race.trials:
                await progress(f"Falling back from {race.trials[-1].name} to {engine.name}")
            return race.start(engine.name, engine.answer(query, deadline, progress))

        while queue or raw_waits:
            ranked = queue.popleft() if queue else None
            trial = await start(ranked.engine if ranked else self.raw)
            raw_waits = raw_waits and ranked is not None
            hedged = raw_waits and ranked is not None and ranked.hedged
            if winner := await race.outcome(trial, max(0.0, hedge_at - loop.time()) if hedged else None):
                return winner
            if trial.running:
                raw_waits = False
                await start(self.raw)
                if winner := await race.outcome(trial):
                    return winner
        return await race.outcome()

    def _report_overtaken(self, race: FirstSuccess[Answer]) -> None:
        running = {trial.name for trial in race.running}
        for ranked in self.engines:
            if ranked.name in running:
                ranked.overtaken()

    def _why(self, race: FirstSuccess[Answer], winner: Trial[Answer]) -> Fallback:
        """The first engine with its reason, then the other engines that failed or were overtaken."""
        first, *others = race.trials[: race.trials.index(winner)]
        reasons = [self._reason(first), *(f"{trial.name}: {self._reason(trial)}" for trial in others)]
        return Fallback(first.name, " ".join(reasons))

    def _reason(self, trial: Trial[Answer]) -> str:
        if error := trial.failure:
            return f"{error.code}: {error.message}"
        return f"TIMEOUT: no answer within {self.hedge_seconds:g} s."


@dataclass(frozen=True, slots=True)
class UnconfiguredEngine:
    """Stands in for an engine whose key is missing, and says which setting would change that."""

    name: str
    setting: str
    most_usd: float = 0.0
    likely_usd: float = 0.0

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Never answers.

        Raises:
            EngineNotConfigured: always, so that the next engine serves.
        """
        raise EngineNotConfigured(f"{self.setting} is not set.")

    async def warm_up(self) -> None:
        """Nothing to load."""

    async def check(self, deadline: Deadline) -> Sequence[str]:
        """Never works.

        Raises:
            EngineNotConfigured: always.
        """
        raise EngineNotConfigured(f"{self.setting} is not set.")
