"""Care for the shared state: report size, age and use of its entries, clear the cache, copy it to another backend.

A copy only reads its source. Each entry is read back from the target before it counts. After each page of entries the
target gets a progress note, so an interrupted run resumes there. A target that was emptied meanwhile has lost the note
too, so it gets everything again.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pydantic import ValidationError

from websearch_gateway.cache.pages import KEEP_SECONDS
from websearch_gateway.cache.results import Stamp, advance, question_name
from websearch_gateway.cache.semantic import wordings
from websearch_gateway.errors import ForbiddenUrlError, SearchValidationError, StateUnavailable
from websearch_gateway.models import LOCAL, Caller, StateEntry, StateUsage
from websearch_gateway.ports import State
from websearch_gateway.results import CacheClearResult, CacheState, CacheStats, MigrateResult
from websearch_gateway.text.query import checked_query
from websearch_gateway.upstream.ledger import Ledger
from websearch_gateway.upstream.telemetry import Statistics, Telemetry

MOST_COUNTED = 5_000
"""The most entries of a kind to read for the figures. A backend may charge for each."""

COUNTING_SECONDS = 3.0

_AT_ONCE = 32
_END_MARKS = "?!.？！。 "
_STATES: tuple[CacheState, ...] = ("exact", "semantic", "stale", "miss")


class Memory(Protocol):
    """The part of the cache in this process's memory."""

    def in_memory(self) -> Mapping[str, int]:
        """The number of entries, by kind."""
        ...

    def forget(self) -> None:
        """Drop them."""
        ...


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
        usage = await self._usage()
        self.telemetry.flush()
        figures = self.statistics.figures()
        exact, semantic, stale, missed = (figures.cache.get(kind, 0) for kind in _STATES)
        asked = exact + semantic + stale + missed
        return CacheStats(
            exact_hits=exact,
            semantic_hits=semantic,
            joined=figures.joined,
            stale_served=stale,
            misses=missed - figures.joined,
            hit_rate=round((exact + semantic) / asked, 4) if asked else None,
            saved_today_usd=await self._saved_today(tally.warnings),
            entries=sum(tally.entries.values()),
            bytes=sum(tally.sizes.values()),
            entries_by_kind={kind: tally.entries[kind] for kind in PREFIXES},
            bytes_by_kind={kind: tally.sizes[kind] for kind in PREFIXES},
            in_memory={kind: count for memory in self.memories for kind, count in memory.in_memory().items()},
            state_bytes=usage and usage.bytes,
            max_state_bytes=usage and usage.most_bytes,
            evictions=usage.evictions if usage else 0,
            oldest_seconds=round(max(tally.ages), 1) if tally.ages else None,
            newest_seconds=round(min(tally.ages), 1) if tally.ages else None,
            warnings=(*tally.warnings, *([str(self.state.problem)] if self.state.problem else [])),
        )

    async def clear(self, *, older_than_hours: float | None = None, query: str | None = None) -> CacheClearResult:
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
        least_age = 0.0 if older_than_hours is None else _checked(older_than_hours) * 3600
        questions = None if query is None else await self._names(checked_query(query))
        removed: dict[str, int] = {}
        try:
            for kind in PREFIXES if questions is None else ABOUT_QUESTIONS:
                removed[kind] = await self._remove(kind, least_age, questions)
        finally:
            for memory in self.memories:
                memory.forget()
        await advance(self.state)
        if problem := self.state.problem:
            raise StateUnavailable(f"The cache of this process is cleared, but the file is not: {problem}")
        return CacheClearResult(removed=sum(removed.values()), removed_by_kind=removed)

    async def _names(self, text: str) -> frozenset[str]:
        """The names of the question in each wording under which the cache may hold it."""
        bare = text.rstrip(_END_MARKS)
        same = {text, bare, *(f"{bare}{mark}" for mark in _END_MARKS), *await wordings(self.state, text)}
        return frozenset(map(question_name, same))

    async def _remove(self, kind: Kind, least_age: float, questions: frozenset[str] | None) -> int:
        removed, batch = 0, list[str]()
        async for content in contents(self.state, kind, self.clock()):
            is_old = content.age_seconds is None or content.age_seconds >= least_age
            if is_old and (questions is None or content.question is None or content.question in questions):
                batch.append(content.key)
            if len(batch) == _AT_ONCE:
                removed += await self._delete(batch)
                batch = []
        return removed + await self._delete(batch)

    async def _delete(self, keys: Sequence[str]) -> int:
        return sum(await asyncio.gather(*map(self.state.delete, keys)))

    async def _counted(self) -> _Tally:
        tally = _Tally()
        try:
            async with asyncio.timeout(COUNTING_SECONDS):
                for kind in PREFIXES:
                    await self._count(kind, tally)
        except TimeoutError:
            tally.warnings.append(f"Counting stopped after {COUNTING_SECONDS:g} s, so some entries are not counted.")
        except StateUnavailable as error:
            tally.warnings.append(f"The state cannot be read: {error.message}")
        return tally

    async def _count(self, kind: Kind, tally: _Tally) -> None:
        async for content in contents(self.state, kind, self.clock()):
            if tally.entries[kind] == MOST_COUNTED:
                tally.warnings.append(f"Only {MOST_COUNTED:,} of the {kind} are counted; there are more.")
                return
            tally.add(kind, content)
            if tally.entries[kind] % _AT_ONCE == 0:
                await asyncio.sleep(0)  # the in-memory backend never yields to the event loop

    async def _usage(self) -> StateUsage | None:
        try:
            return await self.state.usage()
        except StateUnavailable:  # the tally has a warning for it
            return None

    async def _saved_today(self, warnings: list[str]) -> float | None:
        try:
            async with asyncio.timeout(COUNTING_SECONDS):
                return (await self.ledger.day()).saved_usd
        except (StateUnavailable, TimeoutError):
            warnings.append("Today's savings cannot be read.")
            return None


def _checked(hours: float) -> float:
    if not 0 < hours < math.inf:
        demand = "a number of hours above 0"
        raise SearchValidationError(
            f"`olderThanHours` must be {demand}.", details={"field": "olderThanHours", "allowed": demand}
        )
    return hours


Kind = Literal["answers", "questions", "web", "raw", "pages", "vectors"]

PREFIXES: dict[Kind, str] = {
    "answers": "cache/exact/",  # of search_web
    "questions": "cache/near/",  # for finding answers to other wordings
    "web": "cache/web/",  # results of web_search and search_news
    "raw": "cache/raw/",  # results of single queries of web_search_raw
    "pages": "page/",
    "vectors": "page-passages/",  # of the passages of pages
}
"""The beginning of an entry's key, by its kind."""

ABOUT_QUESTIONS: tuple[Kind, ...] = ("answers", "questions", "web", "raw")

_CLOCK_SKEW_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Content:
    """An entry: bytes of its value, seconds since it was stored, `results.question_name`. None if unknown."""

    key: str
    size: int
    age_seconds: float | None
    question: str | None = None


async def contents(state: State, kind: Kind, now: float) -> AsyncIterator[Content]:
    """All entries of a kind, in the order of their keys. `now` is seconds since the epoch.

    Raises:
        StateUnavailable: the state cannot be read.
    """
    async for entry in state.entries(PREFIXES[kind]):
        yield _stamped(entry, now) if kind in ABOUT_QUESTIONS else _kept(entry)


def _stamped(entry: StateEntry, now: float) -> Content:
    try:
        stamp = Stamp.model_validate_json(entry.value)
    except ValidationError:
        stamp = Stamp()
    age = None if stamp.stored is None else now - stamp.stored
    if age is not None:
        age = max(age, 0.0) if age > -_CLOCK_SKEW_SECONDS else None
    return Content(entry.key, len(entry.value), age, stamp.question)


def _kept(entry: StateEntry) -> Content:
    """Pages and their vectors share one lifetime, so the remaining lifetime gives their age."""
    age = None if entry.ttl is None else max(KEEP_SECONDS - entry.ttl, 0.0)
    return Content(entry.key, len(entry.value), age)


_NOTES = "migration/"
_NOTE_SECONDS = 7 * 86_400.0
_ENTRIES_AT_ONCE = 32
_FILE = re.compile(r"sqlite:///([A-Za-z0-9_][A-Za-z0-9_.-]*)")

_Outcome = Literal["copied", "counters", "already_there", "expired"]


@dataclass(frozen=True, slots=True)
class Migration:
    """Copies `source` to the target that a caller names, if the caller may name it.

    Args:
        source_url: its `STATE_URL`, to recognise a target that is the source.
        open_state: makes the State of another such URL.
        data_dir: the folder of local files.
    """

    source: State
    source_url: str
    open_state: Callable[[str], State]
    data_dir: Path

    async def migrate(self, target_url: str, caller: Caller = LOCAL, *, counters: bool = False) -> MigrateResult:
        """Copy every entry that has not expired, with its remaining lifetime.

        A local caller may name any target. A remote caller may only name a new file in the data folder: otherwise the
        gateway would send all its users' queries to a database of the caller's choice.

        Args:
            counters: copy the counts of limits and costs too. Where the target has already counted, its own number
                stays.

        Raises:
            ForbiddenUrlError: the caller may not name that target.
            SearchValidationError: the target is the source.
            SearchNotConfiguredError: the target is not a `STATE_URL`.
            StateUnavailable: one of the two failed; the next run resumes here.
        """
        target_url = self._allowed(target_url.strip(), caller)
        if target_url == self.source_url:
            raise SearchValidationError("The target is the state that is in use already.")
        target = self.open_state(target_url)
        try:
            return await self._copy_all(target, counters, MigrateResult(target=target_url.partition("://")[0]))
        finally:
            await target.close()

    def _allowed(self, target_url: str, caller: Caller) -> str:
        if caller == LOCAL:
            return target_url
        if (file := _FILE.fullmatch(target_url)) is None:
            raise ForbiddenUrlError(
                "With a token the target must be a file in the data folder, sqlite:///NAME. For any other "
                "target, run `websearch-gateway cache migrate` on the gateway's machine."
            )
        return f"sqlite:///{self.data_dir / file[1]}"

    async def _copy_all(self, target: State, counters: bool, result: MigrateResult) -> MigrateResult:
        identity = repr((self.source_url, counters)).encode()
        note = f"{_NOTES}{hashlib.blake2b(identity, digest_size=16).hexdigest()}"
        after = (await target.get(note) or b"").decode("utf-8", "surrogatepass")
        tally: Counter[str] = Counter()
        async with aclosing(self._pages(after, counters)) as pages:
            async for page in pages:
                tally.update(await asyncio.gather(*(_copy(entry, target) for entry in page)))
                await target.put(note, page[-1].key.encode("utf-8", "surrogatepass"), _NOTE_SECONDS)
        await target.delete(note)
        return result.model_copy(update={**tally, "resumed": bool(after)})

    async def _pages(self, after: str, counters: bool) -> AsyncGenerator[Sequence[StateEntry], None]:
        page: list[StateEntry] = []
        async for entry in self.source.entries("", after):
            if entry.key.startswith(_NOTES) or (entry.counts and not counters):
                continue
            page.append(entry)
            if len(page) == _ENTRIES_AT_ONCE:
                yield page
                page = []
        if page:
            yield page


async def _copy(entry: StateEntry, target: State) -> _Outcome:
    if entry.ttl is not None and entry.ttl <= 0:
        return "expired"
    if entry.counts:
        return await _copy_counter(entry, target)
    started = time.monotonic()
    await target.put(entry.key, entry.value, entry.ttl)
    arrived = await target.get(entry.key)
    if arrived == entry.value:
        return "copied"
    if arrived is None and entry.ttl is not None and entry.ttl <= time.monotonic() - started:
        return "expired"
    raise StateUnavailable("An entry differs in the target. The source is untouched; run the migration again.")


async def _copy_counter(entry: StateEntry, target: State) -> _Outcome:
    if await target.get(entry.key) is not None:
        return "already_there"
    await target.add(entry.key, int(entry.value), entry.ttl)
    return "counters"
