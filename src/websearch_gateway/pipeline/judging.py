"""Several readers of claims as one: the next one judges when one fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from websearch_gateway.models import Call, Exhibit, Judged
from websearch_gateway.ports import ClaimReader
from websearch_gateway.upstream.race import LEAST_SHARE_SECONDS, FirstSuccess, Trial, failures, loud


@dataclass(frozen=True, slots=True)
class FallbackReader:
    """A `ports.ClaimReader` that asks `readers` in order, by the rules of the answer engines.

    The next one is asked when one is `Unavailable`. A `Refused` is never masked, but for a rejected key of a reader
    behind one that was asked: it is skipped with a warning. Each but the last may take an equal share of the time.
    """

    readers: Sequence[ClaimReader]

    @property
    def name(self) -> str:
        """The first reader."""
        return self.readers[0].name

    async def judge(self, exhibits: Sequence[Exhibit], call: Call) -> Judged:
        """See `ports.ClaimReader`. Raises `Exhausted` if all of several fail."""
        if len(self.readers) == 1:
            return await self.readers[0].judge(exhibits, call)
        async with FirstSuccess[Judged](found=lambda _: True) as race:
            winner = await race.run(_InTurn(self.readers, exhibits, race, call))
            if winner is None:
                raise race.exhausted()
            judged = winner.task.result()
            warnings = (*loud(race.attempts), *failures(race.attempts), *judged.warnings)
            return replace(judged, warnings=warnings)


class _InTurn:
    """The Schedule of a FallbackReader, for one call: a reader starts when the one before it has failed."""

    def __init__(
        self,
        readers: Sequence[ClaimReader],
        exhibits: Sequence[Exhibit],
        race: FirstSuccess[Judged],
        call: Call,
    ) -> None:
        self._waiting = deque(readers)
        self._exhibits, self._race, self._call = exhibits, race, call

    def holds_stopgap(self, now: float) -> bool:
        return False

    async def starts_another(self, now: float) -> bool:
        if self._race.running or not self._waiting:
            return False
        self._start_next()
        return True

    def seconds_to_wait(self, now: float) -> float | None:
        return None

    def _start_next(self) -> Trial[Judged]:
        call = self._call
        if len(self._waiting) > 1:
            share = call.remaining() / len(self._waiting)
            call = call.within(max(LEAST_SHARE_SECONDS, share))
        reader = self._waiting.popleft()
        asked = reader.judge(self._exhibits, call)
        return self._race.start(reader.name, asked, behind=self._race.has_asked)
