"""The fields and the path of our Firestore documents.

Each kind has one collection, `PREFIX_KIND`: a TTL policy covers all collections of the same name, so a plain `cache`
below a document would share its policy with every other `cache` in the database.

Every write sets all fields of a document, used or not. So a counter can replace a value, or a value a counter, without
a read, and no field of the old entry remains.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from websearch_gateway.state.keys import indexed, raw_key, text_key

OTHER = "other"
"""The kind of keys without a kind, and of keys whose kind is not a valid collection name."""

LARGEST_VALUE = 900_000
"""The most bytes of a value in one document, which may have 1 MiB in total
(https://firebase.google.com/docs/firestore/quotas)."""

_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_LAST_MOMENT = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class Record:
    """One document. A counter has no `value`.

    `parts` are the names of the documents that hold a value too large for this one. `incarnation` changes each time the
    entry is replaced. `reported` and `step` are for servers that do not return the result of an increment; after the
    first step, `reported` is the count.
    """

    key: str
    value: bytes | None = None
    parts: tuple[str, ...] = ()
    count: int = 0
    expires: float = math.inf
    incarnation: int = 0
    reported: int = 0
    step: int = 0

    @property
    def counts(self) -> bool:
        """Whether it is a counter."""
        return self.value is None


def kind_of(key: str) -> str:
    """The kind whose collection contains the key."""
    kind, slash, _ = key.partition("/")
    return kind if slash and _KIND.fullmatch(kind) else OTHER


def document_id(key: str) -> str:
    """A digest of the key: fits any key, and spreads neighbouring keys over the servers."""
    return hashlib.blake2b(raw_key(key), digest_size=20).hexdigest()


def new_incarnation() -> int:
    """A unique number, small enough for servers that compute in floating point."""
    return 1 + secrets.randbits(52)


def moment(expires: float) -> datetime | None:
    """The time at which Firestore may delete a document; None means never."""
    return None if expires == math.inf else datetime.fromtimestamp(min(expires, _LAST_MOMENT), UTC)


def index_text(raw: bytes) -> str:
    """The bytes of a key as text with the same sort order on every server."""
    return raw.decode("latin-1")


def fields_of(record: Record) -> dict[str, Any]:
    """The document's fields."""
    index = indexed(record.key)
    return {
        "key": index_text(index),
        "longKey": None if index == (raw := raw_key(record.key)) else raw,
        "value": record.value,
        "parts": list(record.parts),
        "expiresAt": moment(record.expires),
        "count": record.count,
        # The expiry of a counter as a number: adding zero reads it in the same request that adds to the count.
        "until": record.expires if record.counts else 0.0,
        "incarnation": record.incarnation,
        "told": record.reported,
        "step": record.step,
    }


def record_of(fields: Mapping[str, Any] | None) -> Record | None:
    """The record in a document's fields; None if the document is missing or malformed."""
    match fields:
        case {
            "key": str(index),
            "longKey": bytes() | None as long_key,
            "value": bytes() | None as value,
            "parts": list(parts),
            "expiresAt": datetime() | None as expires,
            "count": int(count),
            "incarnation": int(incarnation),
            "told": int(told),
            "step": int(step),
        } if all(isinstance(part, str) for part in parts) and max(index, default="") < "\u0100":
            raw = index.encode("latin-1") if long_key is None else long_key
            if (key := text_key(raw)) is None:
                return None
            end = expires.timestamp() if expires else math.inf
            return Record(key, value, tuple(parts), told if step else count, end, incarnation, told, step)
    return None


def split_value(value: bytes) -> Sequence[bytes]:
    """The parts of a large value; empty if it fits into one document."""
    if len(value) <= LARGEST_VALUE:
        return ()
    return [value[start : start + LARGEST_VALUE] for start in range(0, len(value), LARGEST_VALUE)]
