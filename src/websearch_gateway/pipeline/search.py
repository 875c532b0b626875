"""The path of a question: guard, cache, rate limit, answer, finalize. Read this first.

entrypoint -> 1 guard       may we ask the web this question?
              2 cache       is the answer stored, or is an identical call in flight?
              3 rate limit  may this caller ask now? (`Recall` does both, for all searches)
              4 answer      the engine, or raw search and page reading when it fails
              5 finalize    verify, rank and clean the citations, price the call, store it -> entrypoint

A fixed window of calls begins with its first one; when it ends, the count starts at zero. That is exact with one atomic
addition per call, however many processes share the state. The known drawback: a caller who waits for the end of a
window can once make up to twice the limit in a short time. A refused call does not count towards the next window.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from websearch_gateway.base import AddressPolicy, child_span, in_own_thread
from websearch_gateway.cache.kinds import RawResult
from websearch_gateway.cache.results import ResultCache, Served, is_stopgap, stand_in
from websearch_gateway.cache.similar import Similar, SimilarQuestions
from websearch_gateway.errors import (
    Exhausted,
    SearchNotConfiguredError,
    SearchRateLimitError,
    Unavailable,
)
from websearch_gateway.models import (
    LOCAL,
    MOST_SIMILAR,
    SIMILAR,
    Call,
    Caller,
    Progress,
    SearchQuery,
    SearchRequest,
    StateProblem,
    no_progress,
)
from websearch_gateway.pipeline.argument_values import invalid, up_to
from websearch_gateway.pipeline.calls import one_deadline, timeout_error
from websearch_gateway.pipeline.cleaning import cleaned_answer
from websearch_gateway.pipeline.finalize import finalize
from websearch_gateway.pipeline.guard import CheckedQuery, Guard, question
from websearch_gateway.ports import AnswerEngine, State
from websearch_gateway.results import (
    CachedAnswer,
    FoundPage,
    LimitUsage,
    SearchResponse,
    SimilarAnswer,
    SimilarAnswers,
    WebResult,
    WebSearchResponse,
)
from websearch_gateway.settings.groups import calls_and_seconds
from websearch_gateway.upstream.best_effort import BestEffort
from websearch_gateway.upstream.race import SingleFlight
from websearch_gateway.upstream.telemetry import Telemetry, stage

SMALL_CHARS = 4_000
"""Answers of up to this length are verified on the event loop, in a few milliseconds; longer ones in a thread."""

STALE_RESERVE_SECONDS = 0.5
"""A search stops this long before the deadline (or a tenth of it), so that a stale result can stand in."""


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
            verify = self.verifies if request.verify_citations is None else request.verify_citations
            asked = question(request, request.query, verify_citations=verify)
            checked = self.guard.check(
                asked, routed=caller.has_specialists, shortest=request.shortest
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
        response = finish() if len(answer.text) <= SMALL_CHARS else await in_own_thread(finish)
        if call.query.verify_citations and self.verification:
            await call.progress("Reading the cited pages")
            response = await self.verification(response, call)
        return response, is_stopgap(response)


R = TypeVar("R", SearchResponse, WebSearchResponse, RawResult)
Ask = Callable[[Call], Awaitable[tuple[R, bool]]]
"""Gets a new result. Also says whether it is a stopgap, which a better one may soon replace."""


@dataclass(frozen=True, slots=True)
class Recall(Generic[R]):
    """The cache of one kind of results with its limits. One per process and kind; safe for concurrent calls.

    Attributes:
        rate_limits: for calls that leave the cache.
        cached_limits: for calls with a stored result, and for those that join an identical call.
        state: its problem becomes a warning of every result.
    """

    cache: ResultCache[R]
    single_flight: SingleFlight
    rate_limits: RateLimits
    cached_limits: RateLimits
    state: State

    async def __call__(
        self, checked: CheckedQuery, call: Call, ask: Ask[R], *, use_cache: bool = True
    ) -> Served[R]:
        """The result, with the warnings of the guard. `ask` gets a new one, which is stored, after the caller was
        admitted. If it fails or takes too long, a stale one stands in.

        Raises:
            SearchRateLimitError: a limit is reached.
            SearchError: what `ask` raises.
        """
        call = replace(call, query=checked.query)
        if use_cache:
            served: Served[R] = await self._recalled(call, ask)
        else:
            await self.rate_limits.admit(call.caller)
            served = await self._asked(call, ask)
        problem: StateProblem | None = self.state.problem
        if not checked.warnings and problem is None:
            return served
        warnings = (
            *checked.warnings,
            *served.response.warnings,
            *([str(problem)] if problem else ()),
        )
        return served._replace(response=served.response.model_copy(update={"warnings": warnings}))

    async def _recalled(self, call: Call, ask: Ask[R]) -> Served[R]:
        query, caller, left = call.query, call.caller, False

        async def begin(tell: Progress) -> Served[R]:
            nonlocal left
            with child_span("cache"):
                known = await self.cache.get(query, caller)
            if known is not None:
                return known
            left = True
            await self.rate_limits.admit(caller)
            try:
                return await self._asked(replace(call, progress=tell), ask)
            except (Unavailable, Exhausted) as error:
                return await stand_in(self.cache, query, caller, error)

        if (known := self._recent(query, caller)) is not None:
            await self.cached_limits.admit(caller)
            return known
        key = self.cache.key(query, caller)
        served, joined = await self.single_flight.join(
            key, begin, call.progress, user=caller.user, deadline=call
        )
        if not left:
            await self.cached_limits.admit(caller)
        if joined:  # the first caller is billed
            return Served(self.cache.kind.free(served.response), served.saved_usd, joined=True)
        return served

    async def _asked(self, call: Call, ask: Ask[R]) -> Served[R]:
        """A new result, also put into the cache."""
        clock, seconds = asyncio.get_running_loop().time, call.remaining()
        end, reserve = clock() + seconds, min(STALE_RESERVE_SECONDS, seconds / 10)
        try:
            async with asyncio.timeout_at(end - reserve / 4):
                response, stopgap = await ask(call.within(seconds - reserve))
        except TimeoutError:
            raise timeout_error(round(seconds, 1)) from None
        # The result is in memory by now, and a slow state must not lose it.
        with suppress(TimeoutError):
            async with asyncio.timeout((end - clock()) / 2):
                await self.cache.put(call.query, call.caller, response, stopgap=stopgap)
        return Served(response)

    @stage("cache")
    def _recent(self, query: SearchQuery, caller: Caller) -> Served[R] | None:
        return self.cache.recent(query, caller)


OWN_LIMIT = "OWN"
"""Stands for the setting where the limit comes with the caller's token."""
CACHED = "CACHED_RATE_LIMIT"
"""The setting whose limit also holds for tokens with a limit of their own: it bounds calls that cost no upstream."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The rate limit of one kind of call. While the state is unavailable, it counts in this process only.

    Attributes:
        here: holds the counts of this process, for when `state` is unavailable.
        per_user: the limit for the calls of one user, as `N/PERIOD` (`20/10minutes`); empty for no limit.
        overall: the limit for the calls of all users, in the same form. Instances that have it share its count.
        setting: the setting that `per_user` comes from. Each setting has its own counts.
        clock: seconds since the epoch.
    """

    state: State
    here: State
    per_user: str = ""
    overall: str = ""
    setting: str = "RATE_LIMIT"
    clock: Callable[[], float] = time.time
    best_effort: BestEffort = field(
        default_factory=lambda: BestEffort("Rate limits are counted in this process only")
    )

    @stage("rate_limit")
    async def admit(self, caller: Caller) -> None:
        """Count one call of `caller`.

        Raises:
            SearchRateLimitError: the limit is reached; `retry_after` is the rest of the window in whole seconds.
        """
        if not self._limits(caller):
            return

        async def charge() -> bool:
            await self._charge(self.state, caller)
            return True

        if not await self.best_effort(charge, otherwise=False, seconds=None):
            await self._charge(self.here, caller)

    async def give_back(self, caller: Caller) -> None:
        """Uncount one admitted call that called no upstream. Does nothing if the state is unavailable."""

        async def refund() -> None:
            for limit in self._limits(caller):
                await self.state.add(limit.key, -1, limit.seconds)

        await self.best_effort(refund, None, seconds=None)

    async def usage(self, caller: Caller) -> list[LimitUsage]:
        """How far each of the limits of `caller` is used, the common one first.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        found = []
        for limit in self._limits(caller):
            used, end = [_number(await self.state.get(key)) for key in (limit.key, limit.end_key)]
            resets_in = (
                min(max(0, math.ceil(end - self.clock())), limit.seconds) if used and end else 0
            )
            left = max(0, limit.most - used)
            row = LimitUsage(
                setting=limit.setting, limit=limit.text, used=limit.most - left, left=left
            )
            found.append(row.model_copy(update={"resets_in_seconds": resets_in}))
        return found

    def _limits(self, caller: Caller) -> list[_Limit]:
        """The common limit, if there is one, and then that of the user."""
        # A digest, so that the state does not reveal the user.
        user = hashlib.blake2b(
            caller.user.encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()
        own = self.per_user, self.setting, user
        if caller.limits.rate_limit is not None and self.setting != CACHED:
            own = caller.limits.rate_limit, OWN_LIMIT, user
        rows = ((self.overall, "GLOBAL_RATE_LIMIT", "all"), own)
        return [
            _Limit(text, setting, f"limit/{setting}/{text}/{whose}", *calls_and_seconds(text))
            for text, setting, whose in rows
            if text
        ]

    async def _charge(self, state: State, caller: Caller) -> None:
        """Count a call against the user's own limit first, but not if the common one is reached already."""
        limits = self._limits(caller)
        common = limits[0] if self.overall else None
        if common and _number(await state.get(common.key)) >= common.most:
            raise await self._refusal(state, common)
        for limit in reversed(limits):
            count = await state.add(limit.key, 1, limit.seconds)
            if count == 1:
                await state.put(
                    limit.end_key, b"%d" % math.ceil(self.clock() + limit.seconds), limit.seconds
                )
            if count > limit.most:
                # Another caller took the last common call meanwhile.
                if limit is common and len(limits) > 1:
                    await state.add(limits[-1].key, -1, limits[-1].seconds)
                raise await self._refusal(state, limit)

    async def _refusal(self, state: State, limit: _Limit) -> SearchRateLimitError:
        # None if the first caller left before it was written.
        end = _number(await state.get(limit.end_key))
        seconds = end - self.clock() if end else limit.seconds
        is_common = limit.setting == "GLOBAL_RATE_LIMIT"
        whose = "all users together" if is_common else "you"
        origin = "set for your token" if limit.setting == OWN_LIMIT else limit.setting
        return SearchRateLimitError(
            f"The limit of {limit.text} for {whose} ({origin}) is reached.",
            retry_after=min(max(1, math.ceil(seconds)), limit.seconds),
            details={"limit": limit.text, "scope": "global" if is_common else "user"},
        )


class _Limit(NamedTuple):
    """At most `most` calls in `seconds`. `key` holds the count, and `end_key` the end of the window (epoch)."""

    text: str
    setting: str
    key: str
    most: int
    seconds: int

    @property
    def end_key(self) -> str:
        return f"{self.key}/end"


def _number(stored: bytes | None) -> int:
    """The number; 0 if absent or not a number. Python reads no number of thousands of digits."""
    return int(stored) if stored and len(stored) < 20 and stored.isdigit() else 0


@dataclass(frozen=True, slots=True)
class CachedAnswers:
    """Serves cached results without calling an upstream. One per process.

    Attributes:
        answers: the cache of `search_web`.
        similar_questions: finds the results of all tools; None where the semantic cache is off.
    """

    guard: Guard
    answers: ResultCache[SearchResponse]
    similar_questions: SimilarQuestions | None
    rate_limits: RateLimits
    telemetry: Telemetry
    deadline_seconds: float

    async def search(self, text: str, caller: Caller) -> CachedAnswer:
        """The cached answer of `search_web`; without one, the cached result of any tool for the same question.

        The answer is for the query with default parameters; other results may have any parameters.

        Raises:
            SearchValidationError: the question is unacceptable.
            SearchRateLimitError: the caller asked the cache too often.
            SearchTimeoutError: the state did not answer in time.
        """
        with self.telemetry.call(text, tool="search_cached") as event:
            query = self._checked(text, caller)
            async with one_deadline(self.deadline_seconds):
                await self.rate_limits.admit(caller)
                found = await self._found(query, caller)
            event.served("cache", len(found.citations or found.results), cache=found.cache)
            return found

    async def similar(
        self, text: str, caller: Caller, *, threshold: float = SIMILAR, max_results: int = 5
    ) -> SimilarAnswers:
        """The cached results of similar questions, the most similar first.

        Args:
            threshold: the least similarity (cosine), 0 to 1.
            max_results: 1 to MOST_SIMILAR.

        Raises:
            SearchValidationError: the question, the threshold or the number is unacceptable.
            SearchNotConfiguredError: the semantic cache is off.
            SearchRateLimitError: the caller asked the cache too often.
            SearchTimeoutError: the state did not answer in time.
        """
        with self.telemetry.call(text, tool="search_similar") as event:
            query = self._checked(text, caller)
            if not 0 <= threshold <= 1:
                raise invalid("threshold", "a number from 0 to 1", "0-1")
            most, warnings = up_to("maxResults", max_results, MOST_SIMILAR)
            if self.similar_questions is None:
                raise SearchNotConfiguredError(
                    "The semantic cache is off. Set SEMANTIC_CACHE=true to turn it on."
                )
            async with one_deadline(self.deadline_seconds):
                await self.rate_limits.admit(caller)
                found = await self.similar_questions.find(query, caller, least=threshold, most=most)
            event.served("cache", len(found))
            return SimilarAnswers(results=tuple(map(_shown, found)), warnings=warnings)

    async def _found(self, query: SearchQuery, caller: Caller) -> CachedAnswer:
        known = self.answers.recent(query, caller) or await self.answers.get(query, caller)
        if known is not None:
            return CachedAnswer(**dict(known.response), found=True, tool="search_web")
        similar = (
            await self.similar_questions.same(query, caller) if self.similar_questions else None
        )
        if similar is None:
            return CachedAnswer()
        response = similar.served.response
        if isinstance(response, SearchResponse):
            return CachedAnswer(**dict(response), found=True, tool="search_web")
        return CachedAnswer(
            found=True,
            tool=_tool(similar),
            results=_pages(response.results),
            provider=response.results[0].provider,
            cache=response.cache,
            age_seconds=response.age_seconds,
            warnings=response.warnings,
        )

    def _checked(self, text: str, caller: Caller) -> SearchQuery:
        return self.guard.check(SearchQuery(text), routed=caller.has_specialists).query


def _shown(similar: Similar) -> SimilarAnswer:
    answer = SimilarAnswer(
        query=similar.query.text,
        tool=_tool(similar),
        similarity=round(similar.similarity, 4),
        age_seconds=round(similar.served.age_seconds, 1),
    )
    response: SearchResponse | WebSearchResponse = similar.served.response
    if isinstance(response, WebSearchResponse):
        provider = response.results[0].provider
        return answer.model_copy(update={"results": _pages(response.results), "provider": provider})
    shared = ("text", "citations", "sources", "provider", "model", "responded_at")
    return answer.model_copy(update={name: getattr(response, name) for name in shared})


def _pages(results: Sequence[WebResult]) -> tuple[FoundPage, ...]:
    return tuple(FoundPage(title=one.title, link=one.link, snippet=one.snippet) for one in results)


def _tool(similar: Similar) -> str:
    if similar.kind == "answers":
        return "search_web"
    return "search_news" if similar.query.topic == "news" else "web_search"
