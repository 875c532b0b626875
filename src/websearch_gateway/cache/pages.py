"""The page cache, a `ports.Reader` around the readers through which all page reads go; and the similarity of a page's
passages to a query, with an embedder that may be slow or fail.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from websearch_gateway.base import (
    canonical,
    credential_error,
    credential_kind,
    credential_kind_in_address,
    in_cache_thread,
    in_words,
)
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchFetchError,
    SearchProviderParseError,
    Unavailable,
)
from websearch_gateway.models import Call, Deadline, Page, Progress
from websearch_gateway.ports import Embedder, Reader, State
from websearch_gateway.upstream.best_effort import BestEffort
from websearch_gateway.upstream.single_flight import SingleFlight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.ports import Vectors

    Vector = NDArray[np.float32]


TTL_SECONDS = 600.0
"""How long a stored page is served before its site is asked again (seconds)."""

KEEP_SECONDS = 7 * 86_400.0
"""How long a page is kept for conditional requests to its site (seconds)."""

_CLOCK_SKEW_SECONDS = 60.0
_RESERVE_SECONDS = 0.5
# Names of parameters that grant access. A page whose URL has one is not public.
_PRIVATE_PARAMETER = re.compile(
    r"[?&;](?:[\w.-]*(?:token|signature|secret|password|passwd|credential|session|api_?key)|sig|sid|key|auth|pwd|jwt)=",
    re.IGNORECASE,
)


class _Record(BaseModel):
    """A page record in the state. Records of another shape are ignored.

    `schema_version` grows with each change of what the readers make of a page, so that older texts are read again.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    schema_version: Literal[2] = 2
    content_hash: str
    page: Page


class PageCache:
    """Serves a stored page for `ttl_seconds`; then asks its site whether it has changed.

    If the site fails, the old page is served for `stale_seconds` more (RFC 5861, section 4). Concurrent reads of one
    page share one request. Pages whose URL carries a credential are never kept.

    Args:
        reader: reads pages.
        check: checks a URL without a request; raises ForbiddenUrlError. Stored pages are checked too, since a process
            with other settings may have stored them.
        secrets: this gateway's own secrets, which no URL may contain.
        clock: seconds since the epoch, the same in all processes.
    """

    name = "page_cache"

    def __init__(
        self,
        reader: Reader,
        blobs: BlobCache,
        check: Callable[[str], object],
        *,
        ttl_seconds: float = TTL_SECONDS,
        stale_seconds: float = 0.0,
        secrets: tuple[str, ...] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._reader = reader
        self._blobs = blobs
        self._check = check
        self._ttl_seconds = ttl_seconds
        self._stale_seconds = stale_seconds
        self._secrets = secrets
        self._clock = clock
        self._single_flight = SingleFlight()

    async def read(
        self,
        url: str,
        deadline: Deadline,
        known: Page | None = None,
        *,
        fresh: bool = False,
        user: str = "",
        admit: Callable[[], Awaitable[None]] | None = None,
    ) -> Page:
        """The page, with `fetched_at`. `fresh` reads it from its site, without the cache.

        Args:
            user: who reads.
            admit: called before the page's site is asked; not for a stored page, nor for one that another call reads.

        Raises:
            SearchValidationError: the URL carries a secret of this gateway, or the key of a vendor.
            SearchRateLimitError: `admit` refused.
            ForbiddenUrlError, SearchFetchError, SearchTimeoutError: see `ports.Reader.read`.
        """
        self._check(url)
        if kind := credential_kind_in_address(url, self._secrets):
            raise credential_error("url", "The URL", kind)
        key = page_key(url)
        # Whether redirects are followed depends on the caller, so that callers whose redirects are checked share none.
        flight = f"{key} {fresh} {user}" if deadline.check_redirect else f"{key} {fresh}"

        async def begin(_: Progress) -> Page:
            return await self._read(key, url, deadline, known, fresh, admit)

        page, _ = await self._single_flight.join(flight, begin, user=user, deadline=deadline)
        return replace(page, url=url) if page.url != url else page

    async def _read(
        self,
        key: str,
        url: str,
        deadline: Deadline,
        known: Page | None,
        fresh: bool,
        admit: Callable[[], Awaitable[None]] | None,
    ) -> Page:
        private = await in_cache_thread(is_private, url)  # its rules take 0.3 s to load
        stored = None if fresh or private else await self._stored(key) or known
        if stored and self._clock() < stored.fetched_at + self._ttl_seconds:
            return replace(stored, cache="exact")
        if admit is not None:
            await admit()
        if private:
            return replace(await self._reader.read(url, deadline, known), fetched_at=self._clock())
        if stored and self._clock() < stored.fetched_at + self._ttl_seconds + self._stale_seconds:
            try:
                # A slow site must leave time for serving the stored page.
                seconds = deadline.remaining()
                earlier = deadline.within(seconds - min(_RESERVE_SECONDS, seconds / 10))
                page = await self._reader.read(url, earlier, stored)
            except Unavailable as error:
                if not _is_failure_of_the_site(error):
                    raise
                age = in_words(max(0.0, self._clock() - stored.fetched_at))
                warning = f"This is the page as it was {age} ago: {error.message}"
                return replace(stored, cache="stale", warnings=(*stored.warnings, warning))
        else:
            page = await self._reader.read(url, deadline, stored)
        page = replace(page, fetched_at=self._clock())
        record = _Record(content_hash=content_hash(page), page=page)
        await self._blobs.save(key, record.model_dump_json().encode(), KEEP_SECONDS)
        return page

    async def _stored(self, key: str) -> Page | None:
        """The stored page. Validates it, because the state is untrusted."""
        if (stored := await self._blobs.load(key)) is None:
            return None
        try:
            record = _Record.model_validate_json(stored)
            page = record.page
            self._check(page.url)
            self._check(page.final_url)
        except (ValidationError, ForbiddenUrlError):
            return None
        now = self._clock()
        is_valid = (
            page_key(page.url) == key
            and record.content_hash == content_hash(page)
            and bool(page.markdown)
            and math.isfinite(page.fetched_at)
            and now - KEEP_SECONDS <= page.fetched_at <= now + _CLOCK_SKEW_SECONDS
        )
        return page if is_valid else None


def _is_failure_of_the_site(error: Unavailable) -> bool:
    """Whether the site failed. Otherwise the page itself is gone or protected, and must not be served."""
    status = error.details.get("status")
    if isinstance(error, SearchFetchError) and "reason" in error.details and status is None:
        return False
    return not isinstance(status, int) or status == 429 or status >= 500


def page_key(url: str) -> str:
    """The state key of a page, the same for all spellings of its URL. Includes a fragment that routes (`#/`, `#!`)."""
    fragment = url.partition("#")[2]
    route = f"#{fragment}" if fragment.startswith(("/", "!")) else ""
    return f"page/{hashlib.blake2b((canonical(url) + route).encode(), digest_size=20).hexdigest()}"


def content_hash(page: Page) -> str:
    """A digest of a page's title and text."""
    return hashlib.sha256("\0".join((page.title, page.markdown)).encode()).hexdigest()


def is_private(url: str) -> bool:
    """Whether a URL seems to carry a credential, so its page may be private."""
    plain = unquote(url)
    if "@" in urlsplit(url).netloc or _PRIVATE_PARAMETER.search(plain):
        return True
    return credential_kind(plain) is not None


MOST_STORED_BYTES = 900_000
"""The largest compressed record (bytes): Firestore and others take a million bytes, keys included."""

MOST_RECORD_BYTES = 24_000_000
"""The largest uncompressed record. Checked on reads too, since others may write to the state."""

_LARGE = 30_000  # bytes; compressing more takes milliseconds, too long for the event loop
_LEVEL = 1


class BlobCache:
    """Bytes by state key. A record that cannot be read is a miss."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._best_effort = BestEffort("Pages are not stored for now")

    async def load(self, key: str) -> bytes | None:
        """The record; None if it is absent or damaged, or if the state does not answer in time."""
        stored = await self._best_effort(lambda: self._state.get(key), None)
        if not stored:
            return None
        if len(stored) > _LARGE // 4:
            return await in_cache_thread(_unpacked, stored)
        return _unpacked(stored)

    async def save(self, key: str, record: bytes, ttl_seconds: float) -> None:
        """Store a record, unless it is too large or the state does not answer in time."""
        if len(record) > _LARGE:
            packed = await in_cache_thread(zlib.compress, record, _LEVEL)
        else:
            packed = zlib.compress(record, _LEVEL)
        if len(packed) <= MOST_STORED_BYTES and len(record) <= MOST_RECORD_BYTES:
            await self._best_effort(lambda: self._state.put(key, packed, ttl_seconds), None)


def _unpacked(stored: bytes) -> bytes | None:
    unpacker = zlib.decompressobj()
    try:
        record = unpacker.decompress(stored, MOST_RECORD_BYTES)
    except zlib.error:
        return None
    return record if unpacker.eof else None


SLICE = 64
"""Passages per batch. Finished batches are kept when the time is up."""

BLOCK_ROWS = 1_024
"""Vectors per comparison. For more, OpenBLAS starts threads, which take many times as long on two cores."""

UNRELATED = (
    "The recipe needs two eggs, flour and a pinch of salt.",
    "The court dismissed the appeal last week.",
    "Rain is expected along the coast tomorrow.",
    "The function returns an empty list by default.",
    "She scored twice in the second half of the match.",
    "The bank raised its interest rate again.",
    "Cells divide and pass on their genes.",
    "Click the button to sign in to your account.",
)
"""Unspecific sentences: their similarity to a query is the embedder's zero point."""

LEAST_STRETCH = 0.05
"""If unrelated texts have a similarity above 0.95, the embedder cannot tell texts apart."""

PAUSE_SECONDS = 30.0
"""How long an embedder is not called after a query timed out (seconds); otherwise each page would wait for it."""

UNKNOWN_SCRIPT = "the embedding model does not know the script of the page or the query"
TOO_SLOW = "the embedding model did not answer in time"


@dataclass(slots=True)
class Subject:
    """The texts to compare, by passage id, and the vectors so far.

    The caller that completes the vectors holds `lock`, so that concurrent calls embed a page once.
    """

    texts: Mapping[str, str] = field(repr=False)
    vectors: dict[str, Vector] = field(default_factory=dict, repr=False)
    dimensions: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """For each query and passage that could be compared, their similarity (at most 1); and the fault, if any."""

    similarities: Mapping[str, Mapping[str, float]]
    fault: str | None = None


class Similarity:
    """Compares passages with queries. If the embedder fails, the comparison is empty and the call succeeds.

    Args:
        clock: seconds, for the pauses of an embedder that is too slow.
    """

    def __init__(self, embedder: Embedder, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._clock = clock
        self._paused_until = 0.0
        self._unrelated: Vectors | None = None

    @property
    def weight(self) -> float:
        """The weight of the similarity ranking, where the ranking by words has 1."""
        return self._embedder.weight

    def knows(self, text: str) -> bool:
        return self._embedder.knows(text)

    async def compare(self, subject: Subject, queries: Sequence[str], call: Call) -> Comparison:
        """Compare as many passages as possible before the deadline. Embeds only passages that have no vector yet."""
        readable = [query for query in dict.fromkeys(queries) if self.knows(query)]
        if not readable:
            return Comparison({}, UNKNOWN_SCRIPT)
        if self._clock() < self._paused_until:
            return Comparison({}, TOO_SLOW)
        asked: Vectors | None = None
        unrelated = self._unrelated
        fault = None if len(readable) == len(set(queries)) else UNKNOWN_SCRIPT
        try:
            async with asyncio.timeout(call.remaining()):
                if unrelated is None:
                    unrelated = self._unrelated = await self._embedder.embed(
                        UNRELATED, "document", call
                    )
                asked = await self._embedded(readable, unrelated.shape[1], "query", call)
                async with subject.lock:
                    await self._complete(subject, unrelated.shape[1], call)
        except Unavailable as error:
            fault = error.message.rstrip(".")
        except TimeoutError:
            fault = TOO_SLOW
            if asked is None:
                self._paused_until = self._clock() + PAUSE_SECONDS
        if asked is None or unrelated is None:
            return Comparison({}, fault)
        found = [_similarities(subject.vectors, vector, unrelated) for vector in asked]
        return Comparison(dict(zip(readable, found, strict=True)), fault)

    async def _complete(self, subject: Subject, dimensions: int, call: Call) -> None:
        if subject.dimensions != dimensions:  # another model
            subject.vectors, subject.dimensions = {}, dimensions
        missing = [passage_id for passage_id in subject.texts if passage_id not in subject.vectors]
        for start in range(0, len(missing), SLICE):
            ids = missing[start : start + SLICE]
            rows = await self._embedded(
                [subject.texts[passage_id] for passage_id in ids],
                subject.dimensions,
                "document",
                call,
            )
            subject.vectors.update(zip(ids, rows, strict=True))

    async def _embedded(
        self, texts: Sequence[str], dimensions: int, kind: Literal["query", "document"], call: Call
    ) -> Vectors:
        rows = await self._embedder.embed(texts, kind, call)
        if rows.shape != (len(texts), dimensions):
            # Another model now answers at this address: the next call measures again.
            self._unrelated = None
            raise SearchProviderParseError("The embedding model changed in the middle of a call.")
        return rows


def _similarities(
    vectors: Mapping[str, Vector], query: Vector, unrelated: Vectors
) -> dict[str, float]:
    """Cosines, rescaled so that unrelated texts have 0. A zero vector is similar to nothing."""
    import numpy as np

    stretch = 1 - (base := float((unrelated @ query).mean()))
    if not vectors or not query.any() or stretch < LEAST_STRETCH:
        return {}
    rows = np.stack(list(vectors.values()))
    products = [
        rows[start : start + BLOCK_ROWS] @ query for start in range(0, len(rows), BLOCK_ROWS)
    ]
    cosines = np.minimum((np.concatenate(products) - base) / stretch, 1)
    return {
        passage_id: float(cosine)
        for passage_id, cosine, row in zip(vectors, cosines, rows, strict=True)
        if row.any()
    }
