"""The five verbs over Firestore.

API: https://cloud.google.com/python/docs/reference/firestore/latest. `record.py` describes the documents.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import StateEntry
from websearch_gateway.state.coalesced_increments import CoalescedIncrements
from websearch_gateway.state.extras import require
from websearch_gateway.state.firestore.client import FirestoreClient, contention, load
from websearch_gateway.state.firestore.counter import FirestoreCounters
from websearch_gateway.state.firestore.record import (
    OTHER,
    Record,
    fields_of,
    index_text,
    kind_of,
    moment,
    new_incarnation,
    record_of,
    split_value,
)
from websearch_gateway.state.keys import bounds
from websearch_gateway.state.timeouts import Timeouts

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentSnapshot

DEFAULT_PREFIX = "websearch"

_LOCATION = re.compile(r"(?P<project>[a-z0-9][a-z0-9.:-]{0,99})(?:/(?P<prefix>[A-Za-z0-9_-]{1,64})?/?)?")
_DOCUMENTS_PER_PAGE = 32


class FirestoreState:
    """A State in the collections `PREFIX_KIND` of a project. Uses the machine's Application Default Credentials.

    Args:
        clock: seconds since the epoch, the same in all processes.
        timeout_seconds: the time limit of a verb.
        cooldown_seconds: how long all verbs fail at once after one has timed out.
    """

    def __init__(
        self,
        project: str,
        prefix: str = DEFAULT_PREFIX,
        *,
        clock: Callable[[], float] = time.time,
        timeout_seconds: float = 2.0,
        cooldown_seconds: float = 5.0,
    ) -> None:
        self._clock = clock
        self._client = FirestoreClient(project, prefix)
        self._counters = FirestoreCounters(self._client, clock)
        self._timeouts = Timeouts("Firestore", load, seconds=timeout_seconds, cooldown_seconds=cooldown_seconds)
        self._increments = CoalescedIncrements(self._send_increment)

    @classmethod
    def from_location(cls, location: str) -> FirestoreState:
        """The backend for `firestore://PROJECT/PREFIX`.

        Raises:
            SearchNotConfiguredError: the URL names no project, or the library is not installed.
        """
        match = _LOCATION.fullmatch(location)
        if match is None:
            raise SearchNotConfiguredError("STATE_URL must be of the form firestore://PROJECT/PREFIX.")
        require("google.cloud.firestore", extra="firestore")
        return cls(match["project"], match["prefix"] or DEFAULT_PREFIX)

    async def get(self, key: str) -> bytes | None:
        """See ports.State."""
        return await self._timeouts.run(self._get, key)

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """See ports.State."""
        await self._timeouts.run(self._put, key, bytes(value), self._expiry(ttl))

    async def delete(self, key: str) -> bool:
        """See ports.State."""
        return await self._timeouts.run(self._delete, key)

    async def add(self, key: str, amount: int = 1, ttl: float | None = None) -> int:
        """See ports.State."""
        return await self._increments.add(key, amount, ttl)

    async def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes]]:
        """See ports.State."""
        async for entry in self.entries(prefix):
            yield entry.key, entry.value

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        """See ports.State."""
        kinds = [kind_of(prefix)] if "/" in prefix else await self._timeouts.run(self._kinds, prefix)
        async for entry in merged([self._entries(kind, prefix, after) for kind in kinds]):
            yield entry

    async def close(self) -> None:
        """See ports.State."""
        await self._increments.close()
        if await self._timeouts.close():
            await self._client.close()

    def _expiry(self, ttl: float | None) -> float:
        return math.inf if ttl is None else self._clock() + ttl

    async def _send_increment(self, key: str, amount: int, ttl: float | None) -> int:
        return await self._timeouts.run(self._counters.add, key, amount, self._expiry(ttl))

    async def _get(self, key: str) -> bytes | None:
        record = await self._live(key)
        return await self._value(record) if record else None

    async def _put(self, key: str, value: bytes, expires: float) -> None:
        record = Record(key, value, expires=expires, incarnation=new_incarnation())
        if cut := split_value(value):
            record = replace(record, value=b"", parts=await self._put_parts(record, cut))
        batch = await self._client.batch()
        batch.set(await self._client.document(key), fields_of(record))
        await self._client.create(batch, key)

    async def _put_parts(self, record: Record, cut: Sequence[bytes]) -> tuple[str, ...]:
        """Write the parts of a large value before the record that names them, so that no reader sees half of it.

        Their names contain the incarnation, so they never overwrite parts that another process is reading. The parts of
        a replaced value stay until they expire.
        """
        names = tuple(f"~{record.incarnation}~{number}" for number in range(len(cut)))
        for name, part in zip(names, cut, strict=True):
            document = await self._client.document(record.key, name)
            await document.set({"value": part, "expiresAt": moment(record.expires)}, retry=contention())
        return names

    async def _delete(self, key: str) -> bool:
        from google.api_core.exceptions import NotFound

        if (record := await self._live(key)) is None:
            return False
        client = await self._client.opened()
        batch = client.batch()
        batch.delete(await self._client.document(key), option=client.write_option(exists=True))
        for name in record.parts:
            batch.delete(await self._client.document(key, name))
        try:
            await batch.commit(retry=contention())
        except NotFound:  # another process was faster
            return False
        return True

    async def _kinds(self, prefix: str) -> list[str]:
        return [kind for kind in await self._client.kinds() if kind == OTHER or kind.startswith(prefix)]

    async def _entries(self, kind: str, prefix: str, after: str) -> AsyncIterator[StateEntry]:
        """The entries of one kind, read page by page, so that an abandoned iterator keeps nothing open."""
        start, end = (index_text(bound) for bound in bounds(prefix, after))
        while True:
            page = await self._timeouts.run(self._page, kind, start, end)
            for snapshot in page:
                record = record_of(snapshot.to_dict())
                if record is None or not record.key.startswith(prefix) or record.expires <= (now := self._clock()):
                    continue
                if (value := await self._timeouts.run(self._value, record)) is not None:
                    ttl = None if record.expires == math.inf else record.expires - now
                    yield StateEntry(record.key, value, ttl, record.counts)
            if len(page) < _DOCUMENTS_PER_PAGE:
                return
            start = page[-1].get("key") + "\0"

    async def _page(self, kind: str, start: str, end: str) -> Sequence[DocumentSnapshot[Any]]:
        from google.cloud.firestore import FieldFilter

        query = (await self._client.collection(kind)).where(filter=FieldFilter("key", ">=", start))
        query = query.where(filter=FieldFilter("key", "<", end)).order_by("key").limit(_DOCUMENTS_PER_PAGE)
        return await query.get(retry=None)

    async def _live(self, key: str) -> Record | None:
        """The record of a key; None if expired. Checks the expiry, since Firestore deletes up to a day late."""
        document = await self._client.document(key)
        record = record_of((await document.get(retry=None)).to_dict())
        return record if record and record.expires > self._clock() else None

    async def _value(self, record: Record) -> bytes | None:
        """The value with all its parts; None if another process has since deleted one of them."""
        if record.counts:
            return b"%d" % record.count
        if not record.parts:
            return record.value
        client = await self._client.opened()
        wanted = [await self._client.document(record.key, name) for name in record.parts]
        found = {part.id: part.get("value") async for part in client.get_all(wanted, retry=None) if part.exists}
        return b"".join(found[part.id] for part in wanted) if len(found) == len(wanted) else None


async def merged(streams: Sequence[AsyncIterator[StateEntry]]) -> AsyncIterator[StateEntry]:
    """Merge the entries of all streams in key order. Each stream is sorted, and no key is in two streams."""
    heads = {index: entry for index, stream in enumerate(streams) if (entry := await anext(stream, None)) is not None}
    while heads:
        first = min(heads, key=lambda index: heads[index].key)
        yield heads[first]
        if (following := await anext(streams[first], None)) is None:
            del heads[first]
        else:
            heads[first] = following
