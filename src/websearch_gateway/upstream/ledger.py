"""The gateway's costs: reserved before a paid call, settled after it, counted per day, user and upstream.

It also counts the savings of the cache and the durations of calls. Amounts are whole micro-dollars in counters of the
shared state, so that no process loses the additions of another. Days are UTC. A reservation that a process does not
settle before it ends stays counted, so that the budget is never exceeded. Only the ledger books amounts.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from websearch_gateway.base import billed
from websearch_gateway.errors import SearchBudgetError, StateUnavailable
from websearch_gateway.models import Call, Caller, SearchQuery
from websearch_gateway.ports import EMBEDDED_AT_ONCE, Embedder, Layer, State
from websearch_gateway.upstream.best_effort import BestEffort
from websearch_gateway.upstream.health import BOUNDS
from websearch_gateway.upstream.telemetry import CallRecord

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


_log = logging.getLogger(__name__)

KEPT_SECONDS = 92 * 86_400.0
MOST_OVERRUN = 10
"""A bill may be this many times its estimate: another model may have answered, or a retry was billed too."""

LEVELS = (0.8, 1.0)
"""The shares of the budget that are logged when they are reached."""

NOTED_SECONDS = 60.0
"""How often a process writes down when a user last called (seconds)."""

_LEAST_IMPLAUSIBLE_USD = 1.0
_DAY_SECONDS = 86_400
_MICROS = 1_000_000
_STATE_SECONDS = 1.0
_OPENING_SECONDS = 8.0
"""The longest wait for a state that has not answered yet (seconds): its first call also waits for its library and for
the connection. Otherwise a new instance would begin without the engines that cost money."""
_COUNTS_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Day:
    """The costs of one day and the savings of the cache, in USD; costs and numbers of paid calls by upstream.

    `calls_by_latency[i]` counts calls of tools that took at most `BOUNDS[i]` and more than the bound before; the last
    number counts calls longer than every bound.
    """

    day: str
    usd: float = 0.0
    saved_usd: float = 0.0
    usd_by_upstream: Mapping[str, float] = field(default_factory=dict)
    calls_by_upstream: Mapping[str, int] = field(default_factory=dict)
    calls_by_latency: Sequence[int] = (0,) * (len(BOUNDS) + 1)

    def quantile_ms(self, share: float) -> float | None:
        """The bound that `share` (0..1) of the calls did not exceed, in milliseconds; None without calls."""
        *bounded, calls = accumulate(self.calls_by_latency)
        within = (
            bound for bound, count in zip(BOUNDS, bounded, strict=True) if count >= share * calls
        )
        return next(within, BOUNDS[-1]) * 1000 if calls else None


@dataclass(frozen=True, slots=True)
class UserDay:
    """One user's costs (USD) and number of calls on one day, and the time of the last call (seconds since the epoch,
    to the minute); None if there was none in 92 days."""

    usd: float = 0.0
    calls: int = 0
    last_call: float | None = None


class Ledger:
    """Books the costs of calls, and reports them.

    Args:
        daily_usd: the most that all users together may spend in a day; None for no limit.
        user_daily_usd: the most that one user may spend in a day; None for no limit.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        state: State,
        *,
        daily_usd: float | None = None,
        user_daily_usd: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.daily_usd = daily_usd
        self.user_daily_usd = user_daily_usd
        self._state = state
        self._clock = clock
        self._paid_micros: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._noted: dict[str, float] = {}  # by user: when the last call was written
        self._reserving: set[asyncio.Task[None]] = set()
        self._writing: set[asyncio.Task[None]] = set()
        self._logged: tuple[str, float] = ("", 0.0)
        self._best_effort = BestEffort("The ledger records no costs for now")

    @asynccontextmanager
    async def payment(self, call: Call, upstream: str, most_usd: float) -> AsyncIterator[None]:
        """Reserve `most_usd` for `call` in the block, and book what is on its bill at the end, however it ends.

        What sends a request puts its price on the bill as it goes out, see `net.client.billed`.

        Raises:
            SearchBudgetError: the budget has no room for the call; a free upstream may serve.
        """
        day = self._today()
        reserved = await self._reserve(day, call.caller, _micros(most_usd))
        try:
            yield
        finally:
            micros = _micros(_plausible(call.bill.own_usd, most_usd, upstream))
            self._settle(day, call.caller.user, upstream, micros, reserved)
            if micros and call.caller.watch is not None:
                call.caller.watch.of(upstream).usd += micros / _MICROS

    def budget(self, upstream: str, most_usd: Callable[[SearchQuery], float]) -> Layer:
        """The Layer that admits a call of an upstream, which may cost `most_usd`, while the day's budget has room."""
        return lambda call: self.payment(call, upstream, most_usd(call.query))

    def observe(self, record: CallRecord) -> None:
        """Count a call's duration and the cost that the cache saved. Writes all counts of a second together."""
        day = self._today()
        took = bisect_left(BOUNDS, record.latency_ms / 1000)
        saved = _micros(record.outcome.saved_usd)
        self._count({f"ledger/{day}/took/{took}": 1, f"ledger/{day}/saved": saved})

    def called(self, user: str) -> None:
        """Count a call of a user, and note its time once a minute."""
        self._count({f"{_of_user(self._today(), user)}/calls": 1})
        now = self._clock()
        if now - self._noted.get(user, 0.0) >= NOTED_SECONDS:
            self._noted[user] = now
            self._start(self._note_call(user, now))

    async def user_days(self, users: Sequence[str]) -> Sequence[UserDay]:
        """What each of these users has spent and called today, in all processes. Reads the rows of all users.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        await self.flush()
        today = {
            key: _number(value)
            async for key, value in self._state.scan(f"ledger/users/{self._today()}/")
        }
        last = {key: _number(value) async for key, value in self._state.scan("ledger/last/")}
        return [self._user_day(user, today, last) for user in users]

    async def user_day(self, user: str) -> UserDay:
        """What this user has spent and called today, in all processes. Reads three values.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        await self.flush()
        spent = _of_user(self._today(), user)
        values = {
            key: _number(await self._state.get(key) or b"")
            for key in (spent, f"{spent}/calls", _last_of(user))
        }
        return self._user_day(user, values, values)

    def _user_day(self, user: str, today: Mapping[str, int], last: Mapping[str, int]) -> UserDay:
        spent = _of_user(self._today(), user)
        usd, calls = today.get(spent, 0) / _MICROS, today.get(f"{spent}/calls", 0)
        return UserDay(usd, calls, last.get(_last_of(user)) or None)

    def resets_in(self) -> int:
        """The seconds until the budgets of the day begin anew."""
        return math.ceil(_DAY_SECONDS - self._clock() % _DAY_SECONDS)

    async def day(self, days_ago: int = 0) -> Day:
        """The costs of a day so far, of all processes.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        await self.flush()
        day = _name(int(self._clock() // _DAY_SECONDS) - days_ago)
        prefix = f"ledger/{day}/"
        amounts = {
            key.removeprefix(prefix): _number(value)
            async for key, value in self._state.scan(prefix)
        }
        return Day(
            day,
            amounts.get("total", 0) / _MICROS,
            amounts.get("saved", 0) / _MICROS,
            {name: amount / _MICROS for name, amount in _under("usd/", amounts).items()},
            _under("calls/", amounts),
            [amounts.get(f"took/{place}", 0) for place in range(len(BOUNDS) + 1)],
        )

    def paid_usd(self) -> dict[str, float]:
        """The costs of this process since its start, in USD by upstream."""
        return {upstream: micros / _MICROS for upstream, micros in self._paid_micros.items()}

    async def flush(self) -> None:
        """Write what is not written yet."""
        self._post_counts()
        # A reservation that was given up ends with a write, so the writes come last.
        if self._reserving:
            await asyncio.wait(self._reserving)
        if self._writing:
            await asyncio.wait(self._writing)

    async def _reserve(self, day: str, caller: Caller, micros: int) -> Mapping[str, int]:
        """Reserve `micros`. Returns the reserved amounts by key, only for keys that have a limit."""
        limits = self._budgets(day, caller)
        if not micros or not limits:
            return {}  # a free call needs no room, even on an overdrawn day
        reserved: dict[str, int] = {}

        async def add() -> None:
            if self._writing:
                # Write pending refunds first, since they make room.
                await asyncio.wait(self._writing)
            for budget in limits:
                spent = await self._state.add(budget.key, micros, KEPT_SECONDS)
                reserved[budget.key] = micros
                if budget.key == _total(day):
                    self._log_level(day, spent / _MICROS, budget.usd)
                if spent > _micros(budget.usd):
                    raise SearchBudgetError(
                        f"{budget.origin} of ${budget.usd:g} has no room for this call. It resets at 00:00 UTC.",
                        retry_after=self.resets_in(),
                    )

        def give_back(_: object) -> None:
            self._post({key: -amount for key, amount in reserved.items()})

        # A state completes an addition even when its caller has left. Only then can the reservation be given back.
        adding = asyncio.create_task(add())
        self._reserving.add(adding)
        adding.add_done_callback(self._reserving.discard)
        try:
            async with asyncio.timeout(_STATE_SECONDS if self._state.opened else _OPENING_SECONDS):
                await asyncio.shield(adding)
        except (SearchBudgetError, StateUnavailable, TimeoutError, asyncio.CancelledError) as error:
            give_back(adding) if adding.done() else adding.add_done_callback(give_back)
            if isinstance(error, StateUnavailable | TimeoutError):
                raise SearchBudgetError(
                    "The ledger cannot be reached, so the budget allows no paid calls."
                ) from None
            raise
        return reserved

    def _budgets(self, day: str, caller: Caller) -> list[_Budget]:
        """The budgets that a call of `caller` must fit: that of all callers, and the caller's own."""
        of_caller, origin = self.user_daily_usd, "USER_DAILY_BUDGET_USD"
        if caller.limits.daily_usd is not None:
            of_caller, origin = caller.limits.daily_usd, "Your token's daily budget"
        budgets = []
        if self.daily_usd is not None:
            budgets.append(_Budget(_total(day), self.daily_usd, "DAILY_BUDGET_USD"))
        if of_caller is not None:
            budgets.append(_Budget(_of_user(day, caller.user), of_caller, origin))
        return budgets

    def _log_level(self, day: str, usd: float, limit: float) -> None:
        """Log if the cost of `day`, including calls in flight, reaches a new level. Each process logs for itself."""
        level = max((level for level in LEVELS if limit and usd >= level * limit), default=0.0)
        if (day, level) > (self._logged if day == self._logged[0] else (day, 0.0)):
            self._logged = (day, level)
            _log.warning(
                "budget_%d_percent: $%.2f of DAILY_BUDGET_USD $%g is spent or reserved. It resets at 00:00 UTC.",
                round(level * 100),
                usd,
                limit,
            )

    def _settle(
        self, day: str, user: str, upstream: str, micros: int, reserved: Mapping[str, int]
    ) -> None:
        """Book a cost: at once where some was reserved, since other calls wait for what was too much of it."""
        self._paid_micros[upstream] += micros
        limited = {key: micros - amount for key, amount in reserved.items()}
        self._post(limited)
        costs = {
            _total(day): micros,
            _of_user(day, user): micros,
            f"ledger/{day}/usd/{upstream}": micros,
            f"ledger/{day}/calls/{upstream}": 1 if micros else 0,
        }
        self._count({key: amount for key, amount in costs.items() if key not in limited})

    def _count(self, amounts: Mapping[str, int]) -> None:
        """Add to counters that nothing waits for. Those of a second are written together."""
        if not self._counts:
            asyncio.get_running_loop().call_later(_COUNTS_SECONDS, self._post_counts)
        self._counts.update(amounts)

    def _post_counts(self) -> None:
        counts, self._counts = self._counts, Counter()
        if counts:
            self._post(counts)

    def _post(self, amounts: Mapping[str, int]) -> None:
        self._start(self._write(amounts))

    def _start(self, writing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(writing)
        self._writing.add(task)
        task.add_done_callback(self._written)

    def _written(self, task: asyncio.Task[None]) -> None:
        self._writing.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("The ledger could not write a cost (%s).", type(error).__name__)

    async def _write(self, amounts: Mapping[str, int]) -> None:
        changes = {key: amount for key, amount in amounts.items() if amount}

        async def add_all() -> None:
            # Together, so that a file writes them in one transaction.
            await asyncio.gather(
                *(self._state.add(key, amount, KEPT_SECONDS) for key, amount in changes.items())
            )

        if changes:  # an empty write would wrongly show that the state works
            await self._best_effort(add_all, None, seconds=None)

    async def _note_call(self, user: str, now: float) -> None:
        async def put() -> None:
            await self._state.put(_last_of(user), b"%d" % now, KEPT_SECONDS)

        await self._best_effort(put, None, seconds=None)

    def _today(self) -> str:
        return _name(int(self._clock() // _DAY_SECONDS))


class _Budget(NamedTuple):
    """What may be spent of a day (USD), the state key of what is spent, and the words for where the limit comes from."""

    key: str
    usd: float
    origin: str


BYTES_PER_TOKEN = 3
"""English has four or five bytes per token, other scripts about three: the estimate is on the high side."""


@dataclass(frozen=True, slots=True)
class BudgetedEmbedder:
    """An Embedder on the ledger. Texts cost an estimate by their length."""

    embedder: Embedder
    ledger: Ledger
    usd_per_million_tokens: float

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions

    @property
    def weight(self) -> float:
        return self.embedder.weight

    def knows(self, text: str) -> bool:
        return self.embedder.knows(text)

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Vectors:
        """Embed and book the cost on the bill of `call`.

        Raises:
            SearchBudgetError: the day's budget has no room for it.
            SearchError: as the embedder raises.
        """
        import numpy as np

        call, found = call or Call(math.inf), []
        own = replace(call, bill=call.bill.part())
        async with self.ledger.payment(own, "embedding", self._usd(texts)):
            # If one fails, those before it are paid.
            for start in range(0, len(texts) or 1, EMBEDDED_AT_ONCE):
                batch = texts[start : start + EMBEDDED_AT_ONCE]
                with billed(own.bill, self._usd(batch)):
                    found.append(await self.embedder.embed(batch, kind, own))
        width = found[-1].shape[1] or self.embedder.dimensions
        # Blank texts before the first reply have vectors of no dimensions.
        return np.concatenate(
            [rows if rows.shape[1] else np.zeros((len(rows), width), np.float32) for rows in found]
        )

    def _usd(self, texts: Sequence[str]) -> float:
        tokens = sum(
            math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) for text in texts
        )
        return tokens * self.usd_per_million_tokens / 1_000_000


@lru_cache(maxsize=8)
def _name(day: int) -> str:
    return datetime.fromtimestamp(day * _DAY_SECONDS, UTC).date().isoformat()


def _micros(usd: float) -> int:
    return round(usd * _MICROS)


def _plausible(usd: float, most_usd: float, upstream: str) -> float:
    """The amount to book: in place of an impossible bill, the most that this call may cost."""
    if -1 / _MICROS < usd <= max(MOST_OVERRUN * most_usd, _LEAST_IMPLAUSIBLE_USD):
        return usd
    _log.warning("The bill of %s is impossible; the maximum cost of the call is booked.", upstream)
    return most_usd


def _total(day: str) -> str:
    return f"ledger/{day}/total"


def _of_user(day: str, user: str) -> str:
    # Apart from the day's own counts, which every report reads.
    return f"ledger/users/{day}/{_pseudonym(user)}"


def _last_of(user: str) -> str:
    return f"ledger/last/{_pseudonym(user)}"


@lru_cache(maxsize=1024)
def _pseudonym(user: str) -> str:
    """A digest, so that the state does not reveal the user."""
    return hashlib.blake2b(user.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _under(prefix: str, amounts: Mapping[str, int]) -> dict[str, int]:
    return {
        key.removeprefix(prefix): amount
        for key, amount in amounts.items()
        if key.startswith(prefix)
    }


def _number(stored: bytes) -> int:
    """The number; 0 for any other value. Python reads no number of thousands of digits."""
    return int(stored) if len(stored) < 20 and stored.removeprefix(b"-").isdigit() else 0
