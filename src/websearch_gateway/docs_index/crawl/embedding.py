"""Embeds chunks in batches.

If the server is down, the crawl continues, and pages get their vectors later. If it will never work, the crawl ends.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs_index.models import PageDraft, UrlTask
from websearch_gateway.docs_index.section_id import content_of, section_ids
from websearch_gateway.docs_index.store.index_row import without_targets
from websearch_gateway.docs_index.store.sql.docs import SqlDocs
from websearch_gateway.errors import (
    NO_MODEL,
    Refused,
    SearchAuthError,
    SearchNotConfiguredError,
    SearchProviderParseError,
    Unavailable,
)
from websearch_gateway.ports import Embedder

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

BATCH = 64
RETRY_SECONDS = 60.0
PAGES_AT_ONCE = 16
MOST_DOWN_SECONDS = 86_400.0

_REJECTED = (401, 403)
_PASSING = (408, 409, 425, 429)

_log = logging.getLogger(__name__)


class Embedding:
    """The embedder of a crawl. `trouble` is the message of its last failure, "" while it works.

    `refusal` is the error of an embedder that will not work however long the crawl waits, such as a rejected key.

    Args:
        clock: seconds on a monotonic clock.
    """

    def __init__(self, embedder: Embedder, store: SqlDocs, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._store = store
        self._clock = clock
        self.trouble = ""
        self.refusal: Refused | None = None
        self._paused_until = 0.0
        self._down_since: float | None = None
        self._has_worked = False

    async def vectors(self, task: UrlTask, page: PageDraft) -> Vectors | None:
        """One row per chunk; an unchanged chunk keeps its row. None while the embedder does not work."""
        if self._clock() < self._paused_until:
            return None
        known = await self._store.known_vectors(task) if task.body_hash else {}
        ids, texts = await asyncio.to_thread(_new_texts, page, known)
        made = await self._embed(list(texts.values()))
        if made is None:
            return None
        rows = {**known, **dict(zip(texts, made, strict=True))}
        return _stacked([rows[id_] for id_ in ids])

    async def catch_up(self, version_id: int) -> bool:
        """Embed up to `PAGES_AT_ONCE` pages that have no vectors. False if none is left, or the embedder fails."""
        if self._clock() < self._paused_until:
            return False
        pages = await self._store.unembedded(version_id, PAGES_AT_ONCE)
        for page_id, chunks in pages:
            rows = await self._embed([_embedded_text(one.page_title, one.heading_path, one.content) for one in chunks])
            if rows is None:
                return False
            await self._store.put_vectors(page_id, _stacked(list(rows)))
        return bool(pages)

    async def _embed(self, texts: Sequence[str]) -> list[Vectors] | None:
        rows: list[Vectors] = []
        try:
            for start in range(0, len(texts), BATCH):
                rows += list(await self._embedder.embed(texts[start : start + BATCH], "document"))
        except Refused as error:
            self._failed(error.message, error)
            return None
        except Unavailable as error:
            self._failed(error.message, self._refusal(error))
            return None
        self.trouble, self._down_since, self._has_worked = "", None, True
        return rows

    def _failed(self, trouble: str, refusal: Refused | None) -> None:
        now = self._clock()
        if not self.trouble and refusal is None:
            _log.warning("Chunks have no vectors for now: %s", trouble)
        self._down_since = now if self._down_since is None else self._down_since
        if refusal is None and now - self._down_since >= MOST_DOWN_SECONDS:
            refusal = SearchNotConfiguredError(f"The embedder has not worked for a day. {trouble}")
        self.trouble, self.refusal = trouble, refusal
        self._paused_until = now + RETRY_SECONDS

    def _refusal(self, error: Unavailable) -> Refused | None:
        """The error for the caller of a crawl if time does not cure this one; None if it may."""
        status = error.details.get("status", 0)
        if status in _REJECTED:
            return SearchAuthError(error.message)
        is_wrong_server = isinstance(error, SearchProviderParseError) and not self._has_worked
        is_refused = 400 <= status < 500 and status not in _PASSING
        if is_refused or is_wrong_server or error.details.get("reason") == NO_MODEL:
            return SearchNotConfiguredError(error.message)
        return None


def _new_texts(page: PageDraft, known: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """The section ids of a page, and by id the texts to embed of those that are not known."""
    ids = section_ids(page)
    return ids, {
        id_: _embedded_text(page.title, chunk.heading_path, content_of(chunk, page.markdown))
        for id_, chunk in zip(ids, page.chunks, strict=True)
        if id_ not in known
    }


def _embedded_text(title: str, headings: Sequence[str], content: str) -> str:
    """The text to embed: with the title and headings, but without link addresses, which only dilute it."""
    return f"{title} {' > '.join(headings)}\n{without_targets(content)}"


def _stacked(rows: Sequence[Vectors]) -> Vectors:
    import numpy as np

    return np.vstack(rows) if rows else np.empty((0, 1), np.float32)
