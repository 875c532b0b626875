"""The path of a question: guard, cache, rate limit, answer, finalize. Read this first.

entrypoint -> 1 guard       may we ask the web this question?
              2 cache       is the answer stored, or is an identical call in flight?
              3 rate limit  may this caller ask now? (`recall.py` does both)
              4 answer      the engine, or raw search and page reading when it fails
              5 finalize    verify, rank and clean the citations, price the call, store it -> entrypoint
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from websearch_gateway.cache.results import Served, is_stopgap
from websearch_gateway.models import LOCAL, Answer, Call, Caller, SearchRequest
from websearch_gateway.net.own_threads import in_own_thread
from websearch_gateway.pipeline.finalize import finalize
from websearch_gateway.pipeline.guard import Guard, one_deadline, question, timeout_error
from websearch_gateway.pipeline.recall import Recall
from websearch_gateway.pipeline.verification import Verification
from websearch_gateway.ports import AnswerEngine, Progress, no_progress
from websearch_gateway.results import SearchResponse
from websearch_gateway.upstream.telemetry import Telemetry

SMALL_CHARS = 4_000
"""Answers of up to this length are verified on the event loop, in a few milliseconds."""

STALE_RESERVE_SECONDS = 0.5
"""An engine stops this long before the deadline (or a tenth of it), so that it can report its attempts."""


@dataclass(frozen=True, slots=True)
class SearchPipeline:
    """Answers questions with citations. One per process; safe for concurrent calls.

    `verifies` says whether calls that leave it open verify their citations.
    """

    guard: Guard
    recall: Recall[SearchResponse]
    engine: AnswerEngine
    telemetry: Telemetry
    deadline_seconds: float
    verification: Verification | None = None
    verifies: bool = False

    async def search(
        self, request: SearchRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> SearchResponse:
        """Answer with citations.

        Raises:
            SearchValidationError: the question or a parameter is unacceptable.
            SearchRateLimitError: the caller, or all users together, asked too often.
            SearchAuthError: a key of the gateway was rejected upstream.
            SearchTimeoutError: nothing answered before the deadline.
            Exhausted: every upstream failed.
        """
        with self.telemetry.call(request.query) as event:
            verify = self.verifies if request.verify_citations is None else request.verify_citations
            asked = question(request, request.query, verify_citations=verify)
            checked = self.guard.check(asked, routed=caller.has_specialists)
            async with one_deadline(self.deadline_seconds, caller, progress) as call:
                served = await self.recall(checked, call, self._ask)
            event.answered(served.response, saved_usd=served.saved_usd, joined=served.joined)
            return served.response

    async def _ask(self, call: Call) -> Served[SearchResponse]:
        """A new answer from the engine, finalized and stored."""
        response = await _finalized(call, await self._answer(call))
        if call.query.verify_citations and self.verification:
            await call.progress("Reading the cited pages")
            response = await self.verification(response, call)
        await self.recall.cache.put(call.query, call.caller, response, stopgap=is_stopgap(response))
        return Served(response)

    async def _answer(self, call: Call) -> Answer:
        """The engine's answer. It is stopped early enough to leave time for a stale answer."""
        seconds = call.remaining()
        reserve = min(STALE_RESERVE_SECONDS, seconds / 10)
        try:
            async with asyncio.timeout(seconds - reserve / 4):
                return await self.engine.ask(call.within(seconds - reserve))
        except TimeoutError:
            raise timeout_error(self.deadline_seconds) from None


async def _finalized(call: Call, answer: Answer) -> SearchResponse:
    """The response. A long answer is verified in a thread."""
    finish = partial(finalize, call.query, answer, responded_at=datetime.now(UTC), cost_usd=call.bill.usd)
    return finish() if len(answer.text) <= SMALL_CHARS else await in_own_thread(finish)
