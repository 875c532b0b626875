"""Health, asked for: every configured upstream is called once, and each trouble comes with its remedy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from websearch_gateway.errors import EngineNotConfigured, Refused, SearchError, StateUnavailable
from websearch_gateway.models import Deadline, SearchQuery
from websearch_gateway.ports import HostedEngine, Searcher, State
from websearch_gateway.wire.ops import Check, Diagnosis

PROBE = SearchQuery("example domain", max_results=1)
PROBE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Doctor:
    """Examines the answer engine, the raw providers and the state. Costs one search per paid provider."""

    engine: HostedEngine
    searchers: Sequence[Searcher]
    state: State

    async def examine(self) -> Diagnosis:
        """One check per part, all at once."""
        checks = [self._engine(), *map(self._provider, self.searchers), self.check_state()]
        return Diagnosis(checks=tuple(await asyncio.gather(*checks)))

    async def _engine(self) -> Check:
        try:
            findings = await self.engine.check(Deadline.after(PROBE_SECONDS))
        except EngineNotConfigured as error:
            return Check(
                name=self.engine.name,
                status="off",
                finding=error.message,
                remedy="Set it for written answers; raw search serves without.",
            )
        except SearchError as error:
            return _failed(self.engine.name, error)
        if findings:
            return Check(
                name=self.engine.name,
                status="warn",
                finding=" ".join(findings),
                remedy="Name other models in OPENAI_MODELS.",
            )
        return Check(name=self.engine.name, finding="answers, and its models are there to stay")

    async def _provider(self, searcher: Searcher) -> Check:
        try:
            results = await searcher.search(PROBE, Deadline.after(PROBE_SECONDS))
        except SearchError as error:
            return _failed(searcher.name, error)
        if not results.hits:
            return Check(name=searcher.name, status="warn", finding="answers, without a result", remedy="")
        return Check(name=searcher.name, finding="answers")

    async def check_state(self) -> Check:
        """Whether the state reads and writes."""
        try:
            await self.state.add("doctor/probe", ttl=60)
        except StateUnavailable as error:
            return Check(
                name="state",
                status="fail",
                finding=error.message,
                remedy="Mend STATE_URL or DATA_DIR; searches go on without it.",
            )
        return Check(name="state", finding="reads and writes")


def _failed(name: str, error: SearchError) -> Check:
    lasting = isinstance(error, Refused)
    remedy = "Mend what it says; waiting will not." if lasting else "Try again later; the next one serves meanwhile."
    return Check(name=name, status="fail", finding=f"{error.code}: {error.message}", remedy=remedy)
