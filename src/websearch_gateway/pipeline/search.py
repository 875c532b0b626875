"""The way of a question: guard, admit, recall, answer, settle. Read this first.

door -> 1 guard   is this a question that we may ask the web?
        2 admit   may this caller ask now?
        3 recall  do we know the answer, or is somebody asking the same right now?
        4 answer  the engine, or raw search and page reading when it fails
        5 settle  verify, rank and clean the citations, price the call, remember it -> door
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from websearch_gateway.models import LOCAL, Caller, Deadline, SearchQuery, SearchRequest
from websearch_gateway.pipeline.admit import Admission
from websearch_gateway.pipeline.deadline import one_deadline
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.inflight import InFlight
from websearch_gateway.pipeline.recall import AnswerCache, unbilled
from websearch_gateway.pipeline.remembered import Served
from websearch_gateway.pipeline.settle import settle
from websearch_gateway.pipeline.telemetry import Telemetry
from websearch_gateway.pipeline.tracing import part
from websearch_gateway.ports import AnswerEngine, Progress, no_progress
from websearch_gateway.wire.answer import SearchResponse

LAST_WORD_SECONDS = 0.5
"""An engine stops so much before the deadline (a tenth of a short one), so that it can still say what it tried."""


@dataclass(frozen=True, slots=True)
class SearchPipeline:
    """Answers questions with citations. One per process; safe for any number of calls at once."""

    guard: Guard
    admission: Admission
    cache: AnswerCache
    in_flight: InFlight
    engine: AnswerEngine
    telemetry: Telemetry
    deadline_seconds: float

    async def search(
        self, request: SearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> SearchResponse:
        """Answer with citations.

        Raises:
            SearchValidationError: the question or a parameter is unacceptable.
            SearchRateLimitError: the caller, or everybody together, asked too often.
            SearchAuthError: a key of the gateway was rejected upstream.
            SearchTimeoutError: nothing answered before the deadline.
            Exhausted: every upstream failed.
        """
        with self.telemetry.call(request.query) as event:
            guarded = self.guard.check(
                request.query,
                max_results=request.max_results,
                freshness_hours=request.freshness_hours,
                region=request.region,
                include_answers=request.include_answers,
            )
            async with one_deadline(self.deadline_seconds) as deadline:
                await self.admission.admit(caller)
                query = replace(guarded.query, user=caller.user)
                served = await self._recall(query, caller, deadline, progress)
            event.answered(served.response, saved_usd=served.saved_usd, joined=served.joined)
            response = served.response
            if guarded.warnings:
                return response.model_copy(update={"warnings": (*guarded.warnings, *response.warnings)})
            return response

    async def _recall(
        self, query: SearchQuery, caller: Caller, deadline: Deadline, progress: Progress
    ) -> Served[SearchResponse]:
        """What this process remembers, else the answer of an identical call in flight or of one that begins here."""
        with part("recall"):
            known = self.cache.recent(query, caller)
        if known is not None:
            return known
        began = False

        async def begin(tell: Progress) -> Served[SearchResponse]:
            nonlocal began
            began = True
            return await self._ask(query, caller, deadline, tell)

        served = await self.in_flight.join(self.cache.key(query, caller), begin, progress)
        return served if began else Served(unbilled(served.response), served.saved_usd, joined=True)

    async def _ask(
        self, query: SearchQuery, caller: Caller, deadline: Deadline, progress: Progress
    ) -> Served[SearchResponse]:
        """From the cache, in these or in other words, or from the engine: settled, and remembered for the next."""
        with part("recall"):
            known = await self.cache.get(query, caller)
        if known is not None:
            return known
        seconds = deadline.remaining()
        earlier = deadline.within(seconds - min(LAST_WORD_SECONDS, seconds / 10))
        async with asyncio.timeout(seconds):
            answer = await self.engine.answer(query, earlier, progress)
        response = settle(query, answer, responded_at=datetime.now(UTC))
        await self.cache.put(query, caller, response)
        return Served(response)
