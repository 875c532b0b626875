"""State in Google Cloud Firestore: for processes that share nothing else, such as the instances of a Cloud Function.

The first call of a verb imports the library (https://cloud.google.com/python/docs/reference/firestore/latest).

Each kind has one collection, `PREFIX_KIND`: a TTL policy covers all collections of the same name, so a plain `cache`
below a document would share its policy with every other `cache` in the database. Every write sets all fields of a
document, used or not. So a counter can replace a value, or a value a counter, without a read, and no field of the old
entry remains.

Counters are exact with any number of processes. An addition is one request: the server returns the results of its
transforms, so adding zero to the expiry reads it atomically. An addition does not revive an expired counter. If the
counter is expired or missing, the first process to create a document for it replaces it; the others add to the new one.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import math
import re
import secrets
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from websearch_gateway.errors import SearchNotConfiguredError, StateUnavailable
from websearch_gateway.models import StateEntry
from websearch_gateway.state.shared import (
    ROWS_PER_PAGE,
    RemoteState,
    bounds,
    entry_of,
    paged,
    require,
)

if TYPE_CHECKING:
    from google.api_core.retry import AsyncRetry
    from google.cloud.firestore import (
        AsyncClient,
        AsyncCollectionReference,
        AsyncDocumentReference,
    )


DEFAULT_PREFIX = "websearch"

_LOCATION = re.compile(
    r"(?P<project>[a-z0-9][a-z0-9.:-]{0,99})(?:/(?P<prefix>[A-Za-z0-9_-]{1,64})?/?)?"
    r"(?:\?database=(?P<database>[a-z0-9-]{4,63}))?"
)


_TRIES = 20
_CLAIM_SECONDS = 3600.0  # the life of a claim document; competing requests time out long before


@dataclass(frozen=True, slots=True)
class _Counted:
    """A counter right after an addition; `until` is its expiry (seconds since the epoch)."""

    count: int
    until: float
    incarnation: int


class FirestoreState(RemoteState):
    """A State in the collections `PREFIX_KIND` of a project. Uses the machine's Application Default Credentials.

    Repeats only writes that lost a race; gRPC itself repeats requests that never left this process.

    Args:
        database: the id of a database beside the project's default one.
        options: those of `RemoteState`.
    """

    backend: ClassVar[str] = "Firestore"

    def __init__(
        self,
        project: str,
        prefix: str = DEFAULT_PREFIX,
        database: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._project, self._prefix, self._database = project, prefix, database
        self._opening: asyncio.Task[AsyncClient] | None = None

    @classmethod
    def from_location(cls, location: str) -> FirestoreState:
        """The backend for `firestore://PROJECT/PREFIX`, or `firestore://PROJECT/PREFIX?database=NAME`.

        Raises:
            SearchNotConfiguredError: the URL names no project, or the library is not installed.
        """
        match = _LOCATION.fullmatch(location)
        if match is None:
            raise SearchNotConfiguredError(
                "STATE_URL must be of the form firestore://PROJECT/PREFIX or firestore://PROJECT/PREFIX?database=NAME."
            )
        require("google.cloud.firestore", extra="firestore")
        return cls(match["project"], match["prefix"] or DEFAULT_PREFIX, match["database"])

    async def get(self, key: str) -> bytes | None:
        return await self.run(self._get, key)

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        await self.run(self._put, key, bytes(value), self._expiry(ttl))

    async def delete(self, key: str) -> bool:
        return await self.run(self._delete, key)

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        kinds = (
            [kind_of(prefix)]
            if "/" in prefix
            else [OTHER, *(kind for kind in KINDS if kind.startswith(prefix))]
        )
        start, end = bounds(prefix, after)
        pages = (functools.partial(self._page, kind) for kind in kinds)
        async for entry in merged(
            [paged(functools.partial(self.run, page), start, end, "\0") for page in pages]
        ):
            # One at a time: those of a page together may take a gigabyte.
            value = await _unpacked(entry.value) if isinstance(entry, _Packed) else entry.value
            if value is not None:
                yield StateEntry(entry.key, value, entry.ttl, entry.counts)

    def _load(self) -> tuple[type[Exception], ...]:
        """API errors, missing credentials, broken connections."""
        import google.cloud.firestore  # noqa: F401
        from google.api_core.exceptions import GoogleAPIError
        from google.auth.exceptions import GoogleAuthError
        from grpc import RpcError

        return GoogleAPIError, GoogleAuthError, RpcError

    async def _disconnect(self) -> None:
        if self._opening is None:
            return
        await asyncio.wait({self._opening})
        if not self._opening.exception():
            # The library has no public method for this.
            await self._opening.result()._firestore_api.transport.close()

    def _expiry(self, ttl: float | None) -> float:
        return math.inf if ttl is None else self._clock() + ttl

    async def _send_increment(self, key: str, amount: int, ttl: float | None) -> int:
        return await self.run(self._add, key, amount, self._expiry(ttl))

    async def _get(self, key: str) -> bytes | None:
        record = await self._live(key)
        if record and record.packed:
            return await _unpacked(record.value or b"")
        return record.entry(0.0).value if record else None

    async def _put(self, key: str, value: bytes, expires: float) -> None:
        packed = LARGEST_VALUE < len(value) <= LARGEST_UNPACKED
        stored = await asyncio.to_thread(zlib.compress, value, 1) if packed else value
        if len(stored) > LARGEST_VALUE:
            await self._delete(key)
            return
        record = Record(key, stored, expires=expires, packed=packed)
        await (await self._document(key)).set(fields_of(record), retry=contention())

    async def _delete(self, key: str) -> bool:
        from google.api_core.exceptions import NotFound

        if await self._live(key) is None:
            return False
        client = await self._opened()
        batch = client.batch()
        batch.delete(await self._document(key), option=client.write_option(exists=True))
        try:
            await batch.commit(retry=contention())
        except NotFound:  # another process was faster
            return False
        return True

    async def _page(self, kind: str, start: str, end: str) -> list[tuple[str, StateEntry | None]]:
        from google.cloud.firestore import FieldFilter

        query = (await self._collection(kind)).where(filter=FieldFilter("key", ">=", start))
        query = (
            query.where(filter=FieldFilter("key", "<", end)).order_by("key").limit(ROWS_PER_PAGE)
        )
        found, now = await query.get(retry=None), self._clock()
        records = [(snapshot.get("key"), record_of(snapshot.to_dict())) for snapshot in found]
        return [
            (key, record.entry(now) if record and record.expires > now else None)
            for key, record in records
        ]

    async def _live(self, key: str) -> Record | None:
        """The record of a key; None if expired. Checks the expiry, since Firestore deletes up to a day late."""
        document = await self._document(key)
        record = record_of((await document.get(retry=None)).to_dict())
        return record if record and record.expires > self._clock() else None

    async def _add(self, key: str, amount: int, expires: float) -> int:
        """Add and return the new value; `expires` applies only if this addition starts the counter.

        Raises:
            StateUnavailable: other processes won the race on every attempt.
        """
        fresh = Record(key, count=amount, expires=expires)
        for _ in range(_TRIES):
            counted = await self._increment(key, amount)
            if counted is not None and counted.until > self._clock():
                return counted.count
            if await self._start(fresh, counted):
                return amount
        raise StateUnavailable("Too many processes add to one counter.")

    async def _increment(self, key: str, amount: int) -> _Counted | None:
        """Add to the existing counter; None if it does not exist."""
        from google.api_core.exceptions import NotFound
        from google.cloud.firestore import Increment

        document = await self._document(key)
        transforms = {
            "count": Increment(amount),
            "incarnation": Increment(0),
            "until": Increment(0),
        }
        try:
            result = await document.update(transforms, retry=contention())
        except NotFound:
            return None
        # An emulator, where several processes may read the same count.
        if not result.transform_results:
            record = record_of((await document.get(retry=None)).to_dict())
            if record is None:
                return None
            return _Counted(
                record.count, record.expires if record.counts else 0.0, record.incarnation
            )
        # The library sends transforms in the order of their fields' names.
        count, incarnation, until = (
            float(value.double_value or value.integer_value) for value in result.transform_results
        )
        return _Counted(int(count), until, int(incarnation))

    async def _start(self, fresh: Record, ended: _Counted | None) -> bool:
        """Start a counter, perhaps in place of an expired one or a value; False if another process was faster.

        Only one process can create the counter, or the claim document of one that ended, and the batch is atomic. (A
        precondition on the last update time would also work, but emulators ignore it.)
        """
        from google.api_core.exceptions import AlreadyExists

        batch, document = (await self._opened()).batch(), await self._document(fresh.key)
        if ended is None:
            batch.create(document, fields_of(fresh))
        else:
            claim = await self._document(fresh.key, f"~{ended.incarnation}~end")
            batch.create(claim, {"expiresAt": moment(self._clock() + _CLAIM_SECONDS)})
            batch.set(document, fields_of(fresh))
        try:
            await batch.commit(retry=contention())
        except AlreadyExists:
            return False
        return True

    async def _document(self, key: str, suffix: str = "") -> AsyncDocumentReference:
        # A digest fits any key, and spreads neighbouring keys over the servers.
        name = hashlib.blake2b(key.encode(), digest_size=20).hexdigest()
        return (await self._collection(kind_of(key))).document(name + suffix)

    async def _collection(self, kind: str) -> AsyncCollectionReference:
        return (await self._opened()).collection(f"{self._prefix}_{kind}")

    async def _opened(self) -> AsyncClient:
        """The library's client. If a caller stops waiting, opening it continues for the next caller."""
        if self._opening is None or (self._opening.done() and self._opening.exception()):
            self._opening = asyncio.create_task(asyncio.to_thread(self._open))
        return await asyncio.shield(self._opening)

    def _open(self) -> AsyncClient:
        """Blocking: reads credentials from files, or from the machine's metadata server."""
        from google.cloud.firestore import AsyncClient

        return AsyncClient(project=self._project, database=self._database)


async def merged(streams: Sequence[AsyncIterator[StateEntry]]) -> AsyncIterator[StateEntry]:
    """Merge the entries of all streams in key order. Each stream is sorted, and no key is in two streams."""
    heads = {
        index: entry
        for index, stream in enumerate(streams)
        if (entry := await anext(stream, None)) is not None
    }
    while heads:
        first = min(heads, key=lambda index: heads[index].key)
        yield heads[first]
        if (following := await anext(streams[first], None)) is None:
            del heads[first]
        else:
            heads[first] = following


KINDS = ("cache", "doctor", "known", "ledger", "limit", "migration", "page", "token")
"""The kinds with a collection each."""

OTHER = "other"
"""The kind of all other keys."""

LARGEST_VALUE = 900_000
"""The most bytes of a value, since a document may have 1 MiB in total
(https://firebase.google.com/docs/firestore/quotas). A larger one is compressed, and not stored if it stays larger."""

LARGEST_UNPACKED = 24_000_000
"""The most bytes of such a value. Checked on reads too, since others may write to the state."""

_LAST_MOMENT = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class Record:
    """One document. A counter has no `value`.

    `incarnation` changes each time the entry is replaced; `packed` says that the value is compressed in the document.
    """

    key: str
    value: bytes | None = None
    count: int = 0
    expires: float = math.inf
    # Servers may compute in floating point.
    incarnation: int = field(default_factory=lambda: 1 + secrets.randbits(52))
    packed: bool = False

    @property
    def counts(self) -> bool:
        """Whether it is a counter."""
        return self.value is None

    def entry(self, now: float) -> StateEntry:
        """The entry at `now` (seconds since the epoch)."""
        entry = entry_of(
            self.key, self.count if self.value is None else self.value, self.expires - now
        )
        return _Packed(entry.key, entry.value, entry.ttl) if self.packed else entry


class _Packed(StateEntry):
    """An entry whose value is still compressed."""


def kind_of(key: str) -> str:
    """The kind whose collection contains the key."""
    kind, slash, _ = key.partition("/")
    return kind if slash and kind in KINDS else OTHER


def moment(expires: float) -> datetime | None:
    """The time at which Firestore may delete a document; None means never."""
    return None if expires == math.inf else datetime.fromtimestamp(min(expires, _LAST_MOMENT), UTC)


def fields_of(record: Record) -> dict[str, Any]:
    """The document's fields."""
    return {
        "key": record.key,
        "value": record.value,
        "expiresAt": moment(record.expires),
        "count": record.count,
        # The expiry of a counter as a number: adding zero reads it in the same request that adds to the count.
        "until": record.expires if record.counts else 0.0,
        "incarnation": record.incarnation,
        "packed": record.packed,
    }


def record_of(fields: Mapping[str, Any] | None) -> Record | None:
    """The record in a document's fields; None if the document is missing or malformed."""
    match fields:
        case {
            "key": str(key),
            "value": bytes() | None as value,
            "expiresAt": datetime() | None as expires,
            "count": int(count),
            "incarnation": int(incarnation),
        }:
            end = expires.timestamp() if expires else math.inf
            return Record(
                key, value, count, end, incarnation, bool(value and fields and fields.get("packed"))
            )
    return None


async def _unpacked(value: bytes) -> bytes | None:
    """A compressed value as it was; None if it is damaged or too large. In a thread, since it may be large."""
    unpacker = zlib.decompressobj()
    try:
        unpacked = await asyncio.to_thread(unpacker.decompress, value, LARGEST_UNPACKED + 1)
    except zlib.error:
        return None
    return unpacked if unpacker.eof else None


@functools.cache
def contention() -> AsyncRetry:
    """The retry policy for writes.

    A request that ends with ABORTED lost a race and wrote nothing, so a retry is safe
    (https://cloud.google.com/firestore/docs/understand-error-codes). After other failures the write may have happened,
    and an increment must not happen twice. The caller's timeout bounds all attempts.
    """
    from google.api_core.exceptions import Aborted
    from google.api_core.retry import AsyncRetry, if_exception_type

    return AsyncRetry(if_exception_type(Aborted), initial=0.02, maximum=0.5)
