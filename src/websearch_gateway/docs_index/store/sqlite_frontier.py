"""The frontier of a crawl in SQLite. Functions of a connection inside a transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs_index.models import PageDraft, UrlFailure, UrlState, UrlTask
from websearch_gateway.docs_index.store.packing import pack_ids, unpack_ids
from websearch_gateway.docs_index.store.sqlite_pages import remove_pages

if TYPE_CHECKING:
    import sqlite3

LARGEST_LOSS = 0.1
SMALL_LOSS = 20
"""A refresh that would remove more than this share of the pages, and more than this many, is suspicious."""
MISSING_SECONDS = 86_400.0
"""A page that has been missing for so long is gone although only one crawl has missed it."""

_TASK = "id, version_id, url, depth, attempts, etag, last_modified, body_hash, final_url"


def start_generation(connection: sqlite3.Connection, version_id: int) -> int:
    """See `DocsStore.start_generation`."""
    connection.execute("UPDATE urls SET state = 'due', due = 0, attempts = 0 WHERE version_id = ?", (version_id,))
    row = connection.execute(
        "UPDATE versions SET generation = generation + 1 WHERE id = ? RETURNING generation", (version_id,)
    ).fetchone()
    return int(row[0]) if row else 0


def add_urls(connection: sqlite3.Connection, version_id: int, urls: Mapping[str, int]) -> int:
    """See `DocsStore.add_urls`."""
    before = connection.total_changes
    (generation,) = connection.execute("SELECT generation FROM versions WHERE id = ?", (version_id,)).fetchone() or (0,)
    rows = [(version_id, url, depth, generation) for url, depth in urls.items()]
    connection.executemany(
        "INSERT INTO urls (version_id, url, depth, seen) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", rows
    )
    new = connection.total_changes - before
    connection.executemany(
        "UPDATE urls SET seen = ? WHERE version_id = ? AND url = ? AND seen < ?",
        [(generation, version_id, url, generation) for url in urls],
    )
    return new


def lease(connection: sqlite3.Connection, version_id: int, count: int, now: float) -> list[UrlTask]:
    """See `DocsStore.lease_urls`."""
    rows = connection.execute(
        f"""
        UPDATE urls SET state = 'leased' WHERE id IN (
            SELECT id FROM urls WHERE version_id = ? AND state = 'due' AND due <= ? ORDER BY due, id LIMIT ?
        ) RETURNING {_TASK}
        """,
        (version_id, now, count),
    ).fetchall()
    return [UrlTask(*row) for row in sorted(rows)]


def next_due(connection: sqlite3.Connection, version_id: int) -> float | None:
    """See `DocsStore.next_due`."""
    query = "SELECT min(due) FROM urls WHERE version_id = ? AND state = 'due'"
    due: float | None = connection.execute(query, (version_id,)).fetchone()[0]
    return due


def settle(
    connection: sqlite3.Connection,
    task: UrlTask,
    state: UrlState,
    reason: str,
    *,
    due: float | None,
    links: Sequence[str],
    alias_of: str | None,
) -> None:
    """See `DocsStore.settle_url`."""
    link_ids = _note_links(connection, task, links) if links else None
    connection.execute(
        """
        UPDATE urls SET state = :state, reason = :reason, due = coalesce(:due, due), attempts = attempts + :failed,
            final_url = coalesce(:alias, final_url), links = coalesce(:links, links)
        WHERE id = :id
        """,
        {
            "id": task.id,
            "state": state,
            "reason": reason,
            "due": due,
            "failed": state in ("due", "failed"),
            "alias": alias_of,
            "links": link_ids,
        },
    )


def settle_page(connection: sqlite3.Connection, task: UrlTask, page: PageDraft, links: Sequence[str]) -> None:
    """Note that the address leads to `page`, which was just written."""
    connection.execute(
        """
        UPDATE urls SET state = 'done', reason = '', etag = ?, last_modified = ?, body_hash = ?, final_url = ?,
            links = ?
        WHERE id = ?
        """,
        (page.etag, page.last_modified, page.body_hash, page.url, _note_links(connection, task, links), task.id),
    )


def _note_links(connection: sqlite3.Connection, task: UrlTask, links: Sequence[str]) -> bytes:
    """Put the links of a page into the frontier; their ids, packed."""
    add_urls(connection, task.version_id, dict.fromkeys(links, task.depth + 1))
    query = "SELECT id FROM urls WHERE version_id = ? AND url = ?"
    return pack_ids([connection.execute(query, (task.version_id, url)).fetchone()[0] for url in links])


def failures(connection: sqlite3.Connection, version_id: int, limit: int) -> list[UrlFailure]:
    """See `DocsStore.failures`."""
    query = "SELECT url, reason, attempts FROM urls WHERE version_id = ? AND state = 'failed' ORDER BY url LIMIT ?"
    return [UrlFailure(*row) for row in connection.execute(query, (version_id, limit))]


def find_body(connection: sqlite3.Connection, task: UrlTask, body_hash: str) -> str | None:
    """See `DocsStore.find_body`."""
    row = connection.execute(
        """
        SELECT pages.url FROM urls JOIN pages ON pages.url_id = urls.id
        WHERE urls.version_id = ? AND urls.body_hash = ? AND urls.id <> ? LIMIT 1
        """,
        (task.version_id, body_hash, task.id),
    ).fetchone()
    return row[0] if row else None


def finish_generation(connection: sqlite3.Connection, version_id: int, now: float) -> bool:
    """See `DocsStore.finish_generation`."""
    (generation,) = connection.execute("SELECT generation FROM versions WHERE id = ?", (version_id,)).fetchone()
    rows = connection.execute(
        """
        SELECT urls.id, pages.id, state, seen, missing, missing_since, links
        FROM urls LEFT JOIN pages ON pages.url_id = urls.id WHERE urls.version_id = ?
        """,
        (version_id,),
    ).fetchall()
    linked = {link for row in rows if row[2] not in ("gone", "skipped") for link in unpack_ids(row[6])}
    pages = [row for row in rows if row[1] is not None]
    missing, gone = [], []
    for url_id, page_id, state, seen, times, since, _ in pages:
        if state not in ("gone", "alias", "skipped") and (url_id in linked or seen >= generation):
            continue
        missing.append(url_id)
        if state in ("alias", "skipped") or times >= 1 or (since is not None and now - since >= MISSING_SECONDS):
            gone.append(page_id)
    if len(gone) > SMALL_LOSS and len(gone) > LARGEST_LOSS * len(pages):
        return False
    connection.execute(
        "UPDATE urls SET missing = 0, missing_since = NULL WHERE version_id = ? AND missing", (version_id,)
    )
    connection.executemany(
        "UPDATE urls SET missing = 1, missing_since = coalesce(missing_since, ?) WHERE id = ?",
        [(now, url_id) for url_id in missing],
    )
    remove_pages(connection, gone)
    return True
