"""Counters of Firestore: exact with any number of processes.

An addition is one request. The server returns the results of its transforms, so adding zero to the expiry reads it
atomically. An addition does not revive an expired counter. If the counter is expired or missing, the first process to
create a document for it replaces it; the others add to the new one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.firestore.client import FirestoreClient, contention
from websearch_gateway.state.firestore.record import Record, fields_of, moment, new_incarnation, record_of

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncWriteBatch

_TRIES = 20
_CLAIM_SECONDS = 3600.0  # the life of a claim document; competing requests time out long before


@dataclass(frozen=True, slots=True)
class _Counted:
    """A counter right after an addition; `until` is its expiry (seconds since the epoch)."""

    count: int
    until: float
    incarnation: int


class FirestoreCounters:
    """The verb `add`.

    Args:
        clock: seconds since the epoch, the same in all processes.
    """

    def __init__(self, client: FirestoreClient, clock: Callable[[], float]) -> None:
        self._client = client
        self._clock = clock

    async def add(self, key: str, amount: int, expires: float) -> int:
        """Add and return the new value; `expires` applies only if this addition starts the counter.

        Raises:
            StateUnavailable: other processes won the race on every attempt.
        """
        fresh = Record(key, count=amount, reported=amount, expires=expires, incarnation=new_incarnation())
        for _ in range(_TRIES):
            counted = await self._increment(key, amount)
            if counted is None:
                started = await self._create(fresh)
            elif counted.until > self._clock():
                return counted.count
            else:
                started = await self._replace(counted.incarnation, fresh)
            if started:
                return amount
        raise StateUnavailable("Too many processes add to one counter.")

    async def _increment(self, key: str, amount: int) -> _Counted | None:
        """Add to the existing counter; None if it does not exist."""
        from google.api_core.exceptions import NotFound
        from google.cloud.firestore import Increment

        document = await self._client.document(key)
        transforms = {"count": Increment(amount), "incarnation": Increment(0), "until": Increment(0)}
        try:
            result = await document.update(transforms, retry=contention())
        except NotFound:
            return None
        if not result.transform_results:
            return await self._increment_in_steps(key, amount)
        # The library sends transforms in the order of their fields' names.
        count, incarnation, until = (_number(value) for value in result.transform_results)
        return _Counted(int(count), until, int(incarnation))

    async def _create(self, fresh: Record) -> bool:
        """Create a counter; False if another process was faster."""
        batch = await self._client.batch()
        batch.create(await self._client.document(fresh.key), fields_of(fresh))
        return await self._is_first(self._client.create(batch, fresh.key))

    async def _replace(self, incarnation: int, fresh: Record) -> bool:
        """Start a counter in place of an expired one or a value; False if another process was faster.

        Only one process can create the claim document, and the batch is atomic. (A precondition on the last update time
        would also work, but emulators ignore it.)
        """
        batch = await self._claim(fresh.key, f"~{incarnation}~end")
        batch.set(await self._client.document(fresh.key), fields_of(fresh))
        return await self._is_first(batch.commit(retry=contention()))

    async def _increment_in_steps(self, key: str, amount: int) -> _Counted | None:
        """Add on a server that does not return the results of increments, such as an emulator.

        The count is useless there, since other processes may have added before it is read. Instead each addition claims
        the next step, whose document only one process can create.
        """
        document = await self._client.document(key)
        while record := record_of((await document.get(retry=None)).to_dict()):
            if not record.counts or record.expires <= self._clock():
                return _Counted(0, 0.0, record.incarnation)
            reported = record.reported + amount
            batch = await self._claim(key, f"~{record.incarnation}~{record.step}")
            batch.update(document, {"told": reported, "step": record.step + 1})
            if await self._is_first(batch.commit(retry=contention())):
                return _Counted(reported, record.expires, record.incarnation)
        return None

    async def _claim(self, key: str, suffix: str) -> AsyncWriteBatch:
        """A batch that fails as a whole if another process has already claimed it."""
        batch = await self._client.batch()
        expires = moment(self._clock() + _CLAIM_SECONDS)
        batch.create(await self._client.document(key, suffix), {"expiresAt": expires})
        return batch

    async def _is_first(self, commit: Any) -> bool:
        """Run a commit that creates a document; False if another process has created it."""
        from google.api_core.exceptions import AlreadyExists

        try:
            await commit
        except AlreadyExists:
            return False
        return True


def _number(value: Any) -> float:
    return float(value.double_value or value.integer_value)
