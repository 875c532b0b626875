"""An answer engine made of two: the second steps in when the first fails, and starts beside it when it is slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from websearch_gateway.errors import EngineNotConfigured
from websearch_gateway.models import Answer, Deadline, SearchQuery
from websearch_gateway.pipeline.race import Race, Trial
from websearch_gateway.ports import AnswerEngine, Progress
from websearch_gateway.wire.base import FallbackInfo


def _nobody() -> None:
    """Told to nobody."""


@dataclass(frozen=True, slots=True)
class FallbackEngine:
    """`primary`, backed by `secondary`.

    A `Refused` of the primary (a wrong key, a bad request) is shown, never masked. After `hedge_seconds` without an
    answer the secondary starts beside the primary; whichever is right first wins and the other is cancelled. One
    without a source wins only when the primary has given up. `overtaken` is told when the primary was overdue and lost.
    """

    primary: AnswerEngine
    secondary: AnswerEngine
    hedge_seconds: float
    overtaken: Callable[[], None] = _nobody

    @property
    def name(self) -> str:
        return self.primary.name

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Answer by either engine; `fallback` of the answer says why it was the secondary.

        Raises:
            Refused: the primary refuses, or the secondary does after the primary failed.
            Exhausted: both failed; names every attempt.
        """
        async with Race[Answer](found=lambda answer: bool(answer.spans)) as race:
            first = race.start(self.primary.name, self.primary.answer(query, deadline, progress))
            winner = await race.outcome(first, self.hedge_seconds)
            if winner is None:
                await progress(f"Falling back from {self.primary.name} to {self.secondary.name}")
                race.start(self.secondary.name, self.secondary.answer(query, deadline, progress))
                winner = await race.outcome()
            if winner is None:
                raise race.exhausted()
            answer = winner.task.result()
            if winner is not first:
                answer = replace(answer, fallback=self._why(first))
                if first.running:
                    self.overtaken()
        # Not before the losers are gone: one that is a race itself tells what it spent when it ends.
        return replace(answer, cost_usd=answer.cost_usd + race.lost_usd(winner))

    def _why(self, first: Trial[Answer]) -> FallbackInfo:
        if error := first.failure:
            return FallbackInfo(from_=self.primary.name, reason=f"{error.code}: {error.message}")
        return FallbackInfo(from_=self.primary.name, reason=f"TIMEOUT: no answer within {self.hedge_seconds:g} s.")


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
