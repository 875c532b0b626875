"""An answer engine made of two: the second steps in when the first fails, and starts beside it when it is slow."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from websearch_gateway.errors import Attempt, EngineNotConfigured, Exhausted, SearchError, Unavailable, shortest
from websearch_gateway.models import Answer, Deadline, SearchQuery
from websearch_gateway.ports import AnswerEngine, Progress
from websearch_gateway.wire.base import FallbackInfo


@dataclass(frozen=True, slots=True)
class FallbackEngine:
    """`primary`, backed by `secondary`.

    A `Refused` of the primary (a wrong key, a bad request) is shown, never masked. After `hedge_seconds` without an
    answer the secondary starts beside the primary; whichever is right first wins and the other is cancelled.
    """

    primary: AnswerEngine
    secondary: AnswerEngine
    hedge_seconds: float

    @property
    def name(self) -> str:
        return self.primary.name

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Answer by either engine; `fallback` of the answer says why it was the secondary.

        Raises:
            Refused: the primary refuses, or the secondary does after the primary failed.
            Exhausted: both failed; names every attempt.
        """
        first = asyncio.create_task(self.primary.answer(query, deadline, progress))
        tasks = [first]
        try:
            await asyncio.wait(tasks, timeout=self.hedge_seconds)
            if first.done() and not _gave_up(first):
                return first.result()
            await progress(f"Falling back from {self.primary.name} to {self.secondary.name}")
            second = asyncio.create_task(self.secondary.answer(query, deadline, progress))
            tasks.append(second)
            return await self._race(first, second)
        finally:
            await _cancel(tasks)

    async def _race(self, first: asyncio.Task[Answer], second: asyncio.Task[Answer]) -> Answer:
        """The first right answer of the two. One without a source is taken only when the primary has given up."""
        pending = {task for task in (first, second) if not task.done()}
        while pending:
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if first.done() and not _gave_up(first):
                return first.result()
            if second.done() and not second.exception() and (second.result().spans or first.done()):
                answer = second.result()
                return replace(answer, fallback=self._why(first), cost_usd=answer.cost_usd + _spent(first))
        raise self._failure(first.exception(), second.exception())

    def _why(self, first: asyncio.Task[Answer]) -> FallbackInfo:
        if first.done() and isinstance(error := first.exception(), SearchError):
            return FallbackInfo(from_=self.primary.name, reason=f"{error.code}: {error.message}")
        return FallbackInfo(from_=self.primary.name, reason=f"TIMEOUT: no answer within {self.hedge_seconds:g} s.")

    def _failure(self, first: BaseException | None, second: BaseException | None) -> BaseException:
        """What to raise when both have failed. The secondary's refusal is shown as it is: it names a wrong key."""
        if not isinstance(first, Unavailable | Exhausted) or not isinstance(second, Unavailable | Exhausted):
            return second or first or AssertionError("both engines failed without an error")
        tried = (*_attempts(self.primary.name, first), *_attempts(self.secondary.name, second))
        return Exhausted(tried, retry_after=shortest((first.retry_after, second.retry_after)))


def _gave_up(task: asyncio.Task[Answer]) -> bool:
    return isinstance(task.exception(), Unavailable | Exhausted)


def _spent(task: asyncio.Task[Answer]) -> float:
    """What an attempt that came to nothing cost all the same (USD)."""
    error = task.exception() if task.done() else None
    return error.cost_usd if isinstance(error, Unavailable) else 0.0


def _attempts(name: str, error: Unavailable | Exhausted) -> Sequence[Attempt]:
    return error.attempts if isinstance(error, Exhausted) else (Attempt(name, error.code, error.message),)


async def _cancel(tasks: list[asyncio.Task[Answer]]) -> None:
    """Cancel what still runs and wait until it has cleaned up, so that no upstream call outlives its question."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class UnconfiguredEngine:
    """Stands in for an engine whose key is missing, and says which setting would change that."""

    name: str
    setting: str

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
