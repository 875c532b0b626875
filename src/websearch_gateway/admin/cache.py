"""Care for the cache: what it holds, and what is cleared."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from websearch_gateway.admin.contents import ABOUT_QUESTIONS, PREFIXES, Content, Kind, contents
from websearch_gateway.base import checked_query
from websearch_gateway.cache.clearing import mark_cleared, question_name
from websearch_gateway.cache.semantic import wordings
from websearch_gateway.errors import SearchValidationError, StateUnavailable
from websearch_gateway.models import SHORTEST_QUERY, StateUsage
from websearch_gateway.ports import State
from websearch_gateway.results import CacheClearResult, CacheState, CacheStats
from websearch_gateway.upstream.ledger import Ledger
from websearch_gateway.upstream.statistics import Statistics
from websearch_gateway.upstream.telemetry import Telemetry

MOST_COUNTED = 5_000
"""The most entries of a kind to read for the figures. A backend may charge for each."""

COUNTING_SECONDS = 3.0
"""For counting what is stored (seconds): a person waits for it."""

_AT_ONCE = 32
"""Entries of one batch: calls get a turn between two."""
_END_MARKS = "?!.？！。 "
_STATES: tuple[CacheState, ...] = ("exact", "semantic", "stale", "miss")


class Memory(Protocol):
    """The part of the cache in this process's memory."""

    def in_memory(self) -> Mapping[str, int]: ...

    def forget(self) -> None: ...


@dataclass(slots=True)
class _Tally:
    entries: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    ages: list[float] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, kind: Kind, content: Content) -> None:
        self.entries[kind] += 1
        self.sizes[kind] += content.size
        if content.age_seconds is not None:
            self.ages.append(content.age_seconds)


@dataclass(frozen=True, slots=True)
class CacheAdmin:
    """Inspects and clears the cache, in the shared state and in this process's memory.

    Args:
        clock: seconds since the epoch, the same in all processes.
    """

    state: State
    memories: Sequence[Memory]
    statistics: Statistics
    telemetry: Telemetry
    ledger: Ledger
    clock: Callable[[], float] = time.time

    async def stats(self) -> CacheStats:
        """The use that this process makes of the cache, and the contents that all processes share.

        Reads at most MOST_COUNTED entries of a kind and takes at most COUNTING_SECONDS; `warnings` says what is
        missing.
        """
        tally = await self._counted()
        usage: StateUsage | None = None
        with suppress(StateUnavailable):  # the tally has a warning for it
            usage = await self.state.usage()
        self.telemetry.flush()
        figures = self.statistics.figures()
        exact, semantic, stale, missed = (figures.cache.get(kind, 0) for kind in _STATES)
        asked = exact + semantic + stale + missed
        saved_today = await self._saved_today(tally.warnings)
        in_memory: dict[str, int] = {}
        for memory in self.memories:
            in_memory.update(memory.in_memory())
        if self.state.problem:
            tally.warnings.append(str(self.state.problem))
        return CacheStats(
            exact_hits=exact,
            semantic_hits=semantic,
            joined=figures.joined,
            stale_served=stale,
            misses=missed - figures.joined,
            hit_rate=round((exact + semantic) / asked, 4) if asked else None,
            saved_today_usd=saved_today,
            entries=sum(tally.entries.values()),
            bytes=sum(tally.sizes.values()),
            entries_by_kind={kind: tally.entries[kind] for kind in PREFIXES},
            bytes_by_kind={kind: tally.sizes[kind] for kind in PREFIXES},
            in_memory=in_memory,
            state_bytes=usage.bytes if usage else None,
            max_state_bytes=usage.most_bytes if usage else None,
            evictions=usage.evictions if usage else 0,
            oldest_seconds=round(max(tally.ages), 1) if tally.ages else None,
            newest_seconds=round(min(tally.ages), 1) if tally.ages else None,
            warnings=tuple(tally.warnings),
        )

    async def clear(
        self, *, older_than_hours: float | None = None, query: str | None = None
    ) -> CacheClearResult:
        """Remove entries from the state and drop every process's memory. After an interruption, run it again. Also
        removes entries whose age or question is unknown.

        Args:
            older_than_hours: only entries stored longer ago than this.
            query: only answers and results for this question, from any user and with any parameters: those that the
                cache finds for it, in any case, with other punctuation, or in other words of the same meaning.

        Raises:
            SearchValidationError: an argument is unacceptable.
            StateUnavailable: the state failed; entries already removed stay removed.
        """
        if older_than_hours is not None and not 0 < older_than_hours < math.inf:
            demand = "a number of hours above 0"
            details = {"field": "olderThanHours", "allowed": demand}
            raise SearchValidationError(f"`olderThanHours` must be {demand}.", details=details)
        least_age = (older_than_hours or 0.0) * 3600
        questions = None
        kinds: Iterable[Kind] = PREFIXES
        if query is not None:
            questions = await self._names(checked_query(query, SHORTEST_QUERY))
            kinds = ABOUT_QUESTIONS
        removed: dict[str, int] = {}
        problem_before = self.state.problem
        outages_before = self.state.outages
        try:
            await mark_cleared(self.state, self.clock() - least_age, questions)
            for kind in kinds:
                removed[kind] = await self._remove(kind, least_age, questions)
        finally:
            for memory in self.memories:
                memory.forget()
        # An outage hides entries of the file.
        problem = problem_before or self.state.problem
        if problem or self.state.outages > outages_before:
            why = problem or "it could not be used for a while. Run this again."
            raise StateUnavailable(
                f"The cache of this process is cleared, but the file is not: {why}"
            )
        return CacheClearResult(removed=sum(removed.values()), removed_by_kind=removed)

    async def _names(self, text: str) -> frozenset[str]:
        """The names of the question in each wording under which the cache may hold it."""
        bare = text.rstrip(_END_MARKS)
        same = {text, bare}
        same.update(f"{bare}{mark}" for mark in _END_MARKS)
        same |= await wordings(self.state, text)
        return frozenset(map(question_name, same))

    async def _remove(self, kind: Kind, least_age: float, questions: frozenset[str] | None) -> int:
        removed, batch = 0, list[str]()

        async def delete() -> int:
            return sum(await asyncio.gather(*map(self.state.delete, batch)))

        async for content in contents(self.state, kind, self.clock()):
            is_old = content.age_seconds is None or content.age_seconds >= least_age
            is_meant = (
                questions is None or content.question is None or content.question in questions
            )
            if is_old and is_meant:
                batch.append(content.key)
            if len(batch) == _AT_ONCE:
                removed += await delete()
                batch = []
        return removed + await delete()

    async def _counted(self) -> _Tally:
        tally = _Tally()
        try:
            async with asyncio.timeout(COUNTING_SECONDS):
                for kind in PREFIXES:
                    async for content in contents(self.state, kind, self.clock()):
                        if tally.entries[kind] == MOST_COUNTED:
                            tally.warnings.append(
                                f"Only {MOST_COUNTED:,} of the {kind} are counted; there are more."
                            )
                            break
                        tally.add(kind, content)
                        if tally.entries[kind] % _AT_ONCE == 0:
                            # The in-memory backend never yields to the event loop.
                            await asyncio.sleep(0)
        except TimeoutError:
            tally.warnings.append(
                f"Counting stopped after {COUNTING_SECONDS:g} s, so some entries are not counted."
            )
        except StateUnavailable as error:
            tally.warnings.append(f"The state cannot be read: {error.message}")
        return tally

    async def _saved_today(self, warnings: list[str]) -> float | None:
        try:
            async with asyncio.timeout(COUNTING_SECONDS):
                return (await self.ledger.day()).saved_usd
        except (StateUnavailable, TimeoutError):
            warnings.append("Today's savings cannot be read.")
            return None
