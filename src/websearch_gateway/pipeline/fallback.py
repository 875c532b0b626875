"""An answer engine made of several: the next one starts when one fails, and raw search also when one is slow.

Raw search is an engine too: it quotes from pages that it gathers once for all engines that use them.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import TypeAdapter

from websearch_gateway.errors import Unavailable
from websearch_gateway.models import Answer, Call, Deadline, Fallback, Gathered, Hit, OneTask, Page
from websearch_gateway.pipeline.page_reads import PAGE_SECONDS, read_pages
from websearch_gateway.pipeline.web_results import clean_sent, hits_to_ask_for
from websearch_gateway.ports import (
    NOT_RERANKED,
    AnswerEngine,
    Composer,
    Gather,
    Reader,
    Reranker,
    Searcher,
    Shortlist,
    Workers,
)
from websearch_gateway.upstream.race import FirstSuccess, Trial, loud

MOST_HEDGE_SHARE = 0.6
"""The largest part of a call's time that may pass before raw search starts beside a slow engine: raw search needs the
rest to find, read and quote pages."""

QUOTES_RESERVE_SECONDS = 0.25
"""Quotes that wait for an engine are served this long before the deadline (seconds)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An engine with its place in the order.

    `overtaken` is called when the engine was overdue and another one answered. An engine that `gathers` writes from
    what raw search finds: raw search does not start beside it, and it joins raw search that has found something.
    """

    engine: AnswerEngine
    overtaken: Callable[[], None] = field(default=lambda: None)
    gathers: bool = False

    @property
    def name(self) -> str:
        return self.engine.name


@dataclass(frozen=True, slots=True)
class FallbackEngine:
    """`engines` in order, backed by the quotes of `raw` search.

    The next engine starts when one fails. A `Refused` (a wrong key, a bad request) is shown, never masked, but for
    a wrong key of an engine or provider behind one that was asked: it is skipped with a warning. If no answer has
    come after `hedge_seconds`, or after MOST_HEDGE_SHARE of the call's time if that is earlier, `raw` starts beside the
    running engine; the next engine does not. When `raw` has
    found something, an engine that writes from it starts too. The first answer with a source wins, and the others
    are cancelled. Quotes are the last resort: until the deadline is near, they wait for every engine except those
    that were already slow when raw search began. An answer without a source wins only if all engines before it have
    failed.
    """

    engines: Sequence[Ranked]
    raw: AnswerEngine
    hedge_seconds: float

    @property
    def name(self) -> str:
        return self.engines[0].name if self.engines else self.raw.name

    async def ask(self, call: Call) -> Answer:
        """The first answer; its `fallback` says why it is not from the first configured engine.

        Raises:
            Refused: an engine refuses the request, the key of the first one that was asked is rejected, or raw search
                refuses after all engines failed.
            Exhausted: all failed; the error names every attempt.
        """
        async with (
            OneTask[Gathered]() as gathering,
            FirstSuccess[Answer](found=lambda answer: bool(answer.spans)) as race,
        ):
            schedule = _EnginesAndQuotes(self, race, replace(call, gathering=gathering))
            winner = await race.run(schedule)
            if winner is None:
                raise race.exhausted()
            answer = winner.task.result()
            if winner is not race.trials[0]:
                why = self._why(race, winner, schedule.hedge_seconds)
                behind_it = answer.fallback
                if why and behind_it:  # the search behind it failed too
                    reason = f"{why.reason} {behind_it.given_up}: {behind_it.reason}."
                    why = Fallback(why.given_up, reason)
                answer = replace(answer, fallback=why or behind_it)
                overdue = {trial.name for trial in race.before(winner) if trial.running}
                for ranked in self.engines:
                    if ranked.name in overdue:
                        ranked.overtaken()
        return replace(answer, warnings=(*loud(race.attempts), *answer.warnings))

    def _why(
        self, race: FirstSuccess[Answer], winner: Trial[Answer], hedge_seconds: float
    ) -> Fallback | None:
        """The first engine with its reason, then the other engines that failed or were too slow; None without any."""
        losers = [trial for trial in race.trials if trial not in (winner, race.stopgap)]
        unable = [trial for trial in losers if trial.failure or trial.running]
        if not unable:
            return None
        first, *further = unable
        reasons = [self._reason(race, first, hedge_seconds)]
        reasons += [
            f"{trial.name}: {self._reason(race, trial, hedge_seconds)}" for trial in further
        ]
        return Fallback(first.name, " ".join(reasons))

    def _reason(
        self, race: FirstSuccess[Answer], trial: Trial[Answer], hedge_seconds: float
    ) -> str:
        if error := trial.failure:
            return f"{error.code}: {error.message}"
        if race.stopgap and trial not in race.before(race.stopgap):
            return "TIMEOUT: no answer in time."
        return f"TIMEOUT: no answer within {round(hedge_seconds, 1):g} s."


class _EnginesAndQuotes:
    """The Schedule of a FallbackEngine, for one question."""

    def __init__(self, engine: FallbackEngine, race: FirstSuccess[Answer], call: Call) -> None:
        self._raw, self._race, self._call = engine.raw, race, call
        began, seconds = asyncio.get_running_loop().time(), call.remaining()
        self.hedge_seconds = min(engine.hedge_seconds, MOST_HEDGE_SHARE * seconds)
        self._hedge_at = began + self.hedge_seconds
        self._serve_at = began + seconds - QUOTES_RESERVE_SECONDS
        self._unstarted = list(engine.engines)
        self._latest: Ranked | None = None

    def holds_stopgap(self, now: float) -> bool:
        """Whether an engine may still answer, other than those that were slow before raw search began."""
        race, quotes = self._race, self._race.stopgap
        if quotes is None or now >= self._serve_at:
            return False
        if self._unstarted:
            return True
        hopeless = (quotes, *race.before(quotes))
        return any(trial.running for trial in race.trials if trial not in hopeless)

    async def starts_another(self, now: float) -> bool:
        """Start the next engine, or raw search, if it is due."""
        race, quotes = self._race, self._race.stopgap
        engine_runs = any(trial is not quotes for trial in race.running)
        raw_has_answered = quotes is not None and quotes.answered
        for ranked in self._unstarted:
            costs_no_search = ranked.gathers and raw_has_answered
            if not engine_runs or costs_no_search:
                self._unstarted.remove(ranked)
                await self._begin(ranked.engine)
                self._latest = ranked
                return True
        waits_for_raw = self._latest is not None and not self._latest.gathers
        is_overdue = waits_for_raw and now >= self._hedge_at
        if quotes is None and (not engine_runs or is_overdue):
            race.stopgap = await self._begin(self._raw)
            return True
        return False

    def seconds_to_wait(self, now: float) -> float | None:
        """The seconds until raw search or its quotes are due; None if neither will be."""
        if self._race.stopgap is not None:
            seconds = self._serve_at - now
        elif self._latest is not None and self._latest.gathers:
            return None
        else:
            seconds = self._hedge_at - now
        return seconds if seconds > 0 else None

    async def _begin(self, engine: AnswerEngine) -> Trial[Answer]:
        if self._latest:
            await self._call.progress(f"Falling back from {self._latest.name} to {engine.name}")
        # For raw search an engine with an open circuit counts too: it failed a moment ago.
        after = bool(self._race.trials)
        answering = engine.ask(replace(self._call, behind=after))
        behind = after if engine is self._raw else self._race.has_asked
        return self._race.start(engine.name, answering, behind=behind)


ENOUGH_PAGES = 3
"""After this many pages, the others get only GRACE_SECONDS more."""

COMPOSE_RESERVE_SECONDS = 0.5
"""The time kept back at the end of the deadline (seconds), so that slow pages cannot cost the answer."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """Searches, and reads the best pages concurrently, once for all engines of a call.

    A page whose text the provider sent is not fetched again. Its text serves this call only: it goes into no page
    cache, since vendors' terms allow no more than that.
    """

    searcher: Searcher
    reader: Reader
    workers: Workers
    gate: asyncio.Semaphore
    page_seconds: float

    async def __call__(self, call: Call) -> Gathered:
        """The search results, and each page that could be read, by the URL of its hit.

        Raises:
            Refused: a key is wrong, or no provider is configured.
            Exhausted: every provider failed.
        """
        if call.gathering:
            return await call.gathering.run(partial(self._gather, call))
        return await self._gather(call)

    async def _gather(self, call: Call) -> Gathered:
        query = call.query
        await call.progress("Searching the web")
        more_hits = replace(query, max_results=hits_to_ask_for(query.max_results, query))
        results = await self.searcher.ask(replace(call, query=more_hits))
        best = results.hits[: query.max_results]
        sent = await self._sent(best, call)
        urls = [hit.url for hit in best if hit.url not in sent]
        if urls:
            await call.progress(f"Reading {len(urls)} pages")
        outcomes = await read_pages(
            self.reader.read,
            urls,
            call.within(max(0.0, call.remaining() - COMPOSE_RESERVE_SECONDS)),
            gate=self.gate,
            per_page_seconds=min(self.page_seconds, PAGE_SECONDS),
            enough=max(1, ENOUGH_PAGES - len(sent)),
        )
        fetched = {url: outcome for url, outcome in outcomes.items() if isinstance(outcome, Page)}
        hits = [replace(hit, content=None) if hit.url in sent else hit for hit in results.hits]
        return Gathered(replace(results, hits=tuple(hits)), sent | fetched)

    async def _sent(self, hits: Sequence[Hit], deadline: Deadline) -> dict[str, Page]:
        """The texts that the provider sent; none if they cannot be cleaned in time."""
        try:
            cleaned = await clean_sent(hits, self.workers, deadline)
        except Unavailable:
            return {}
        hit_of = {hit.url: hit for hit in hits}
        pages = {}
        for url, (text, warnings) in cleaned.items():
            if text:
                hit = hit_of[url]
                pages[url] = Page(
                    url,
                    url,
                    hit.title,
                    text,
                    "text/markdown",
                    hit.published,
                    warnings=tuple(warnings),
                )
        return pages


@dataclass(frozen=True, slots=True)
class RawEngine:
    """Quotes the sentences that answer the question from the pages that raw search finds."""

    gather: Gather
    composer: Composer
    workers: Workers
    reranker: Reranker | None = None
    shortlist: Shortlist | None = None
    name: str = "raw-search"

    async def ask(self, call: Call) -> Answer:
        """Answer from pages, or from snippets where pages cannot be read.

        Raises:
            Refused: a key is wrong, or no provider is configured.
            Exhausted: every provider failed.
        """
        gathered = await self.gather(call)
        await call.progress("Composing the answer")
        hits, pages = gathered.results.hits, gathered.pages
        size = sum(len(page.markdown) for page in pages.values())
        size += sum(len(hit.title) + len(hit.snippet) + len(hit.content or "") for hit in hits)
        preferred, warnings = await self._preferred(call, gathered, size)
        composed = await self.workers.run(
            self.composer, call.query, hits, pages, preferred, deadline=call, size=size
        )
        answer = _answer_type().validate_python(composed)
        return replace(
            answer,
            provider=f"{gathered.results.provider}-raw-search",
            applied=gathered.results.applied,
            warnings=(*gathered.results.warnings, *answer.warnings, *warnings),
            fallback=gathered.results.fallback,
        )

    async def _preferred(
        self, call: Call, gathered: Gathered, size: int
    ) -> tuple[list[int], tuple[str, ...]]:
        """The numbers of the best sentences in the reranker's order, and a warning if it fails."""
        if self.reranker is None or self.shortlist is None:
            return [], ()
        hits, pages = gathered.results.hits, gathered.pages
        shortlisted = await self.workers.run(
            self.shortlist, call.query, hits, pages, deadline=call, size=size
        )
        numbers = [number for number, _ in shortlisted]
        texts = [text for _, text in shortlisted]
        order, fault = await self.reranker.order(call.query.text, texts, call)
        warnings = (f"{NOT_RERANKED}{fault}",) if fault else ()
        return [numbers[at] for at in order], warnings


@functools.cache
def _answer_type() -> TypeAdapter[Answer]:
    return TypeAdapter(Answer)
