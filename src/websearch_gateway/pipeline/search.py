"""The path of a question: guard, cache, rate limit, answer, finalize. Read this first.

entrypoint -> 1 guard       may we ask the web this question?
              2 cache       is the answer stored, or is an identical call in flight?
              3 rate limit  may this caller ask now? (`Recall` does both, for all searches)
              4 answer      the engine, or raw search and page reading when it fails
              5 finalize    verify, rank and clean the citations, price the call, store it -> entrypoint
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from websearch_gateway.base import AddressPolicy, child_span, in_own_thread
from websearch_gateway.cache.results import is_stopgap
from websearch_gateway.models import LOCAL, Call, Caller, Progress, SearchRequest, no_progress
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.cleaning import cleaned_answer
from websearch_gateway.pipeline.finalize import finalize
from websearch_gateway.pipeline.guard import Guard, question
from websearch_gateway.pipeline.recall import Recall
from websearch_gateway.ports import AnswerEngine
from websearch_gateway.results import SearchResponse
from websearch_gateway.upstream.telemetry import Telemetry

SMALL_CHARS = 4_000
"""Answers of up to this length are verified on the event loop, in a few milliseconds; longer ones in a thread."""


@dataclass(frozen=True, slots=True)
class SearchPipeline:
    """Answers questions with citations. One per process; safe for concurrent calls.

    `verifies` says whether calls that leave it open verify their citations.
    """

    guard: Guard
    recall: Recall[SearchResponse]
    engine: AnswerEngine
    addresses: AddressPolicy
    telemetry: Telemetry
    deadline_seconds: float
    verification: Callable[[SearchResponse, Call], Awaitable[SearchResponse]] | None = None
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
            verifies = request.verify_citations
            if verifies is None:
                verifies = self.verifies
            query = question(request, request.query, verify_citations=verifies)
            checked = self.guard.check(
                query, routed=caller.has_specialists, shortest=request.shortest
            )
            async with one_deadline(self.deadline_seconds, caller, progress) as call:
                served = await self.recall(checked, call, self._ask)
            event.answered(served.response, saved_usd=served.saved_usd, joined=served.joined)
            return served.response

    async def _ask(self, call: Call) -> tuple[SearchResponse, bool]:
        """A new answer from the engine, finalized; and whether it is a stopgap."""
        with child_span("answer"):
            answer = await self.engine.ask(call)
            answer = await cleaned_answer(answer, call.query, self.addresses)
        finish = partial(
            finalize, call.query, answer, responded_at=datetime.now(UTC), cost_usd=call.bill.usd
        )
        if len(answer.text) <= SMALL_CHARS:
            response = finish()
        else:
            response = await in_own_thread(finish)
        if call.query.verify_citations and self.verification:
            await call.progress("Reading the cited pages")
            response = await self.verification(response, call)
        return response, is_stopgap(response)
