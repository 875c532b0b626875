"""Versions of sites, the processes that crawl them, and the data of hosts."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from websearch_gateway.docs_index.models import (
    IN_WORK,
    MOST_DEATHS,
    Booking,
    ChunkDraft,
    CrawlOptions,
    HostState,
    Owner,
    PageDraft,
    SiteVersion,
    StoredPage,
    Symbol,
    UrlTask,
    VersionStatus,
)
from websearch_gateway.docs_index.store import frontier, pages
from websearch_gateway.docs_index.store.database import (
    MOST_VALUES,
    Database,
    IndexRow,
    Transacted,
    marks,
    read,
    search,
    write,
)
from websearch_gateway.docs_index.store.encoding import unpack_ids, unpack_vectors
from websearch_gateway.docs_index.store.pages import PreparedPage, prepared, remove_pages

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


@cache
def this_process() -> Owner:
    """The current process."""
    return Owner(platform.node(), os.getpid(), _started(os.getpid()))


def is_dead(owner: Owner) -> bool:
    """Whether `owner` has certainly ended. False for a process of another machine, or on Windows."""
    if owner.machine != platform.node() or sys.platform == "win32":
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return _started(owner.pid) != owner.started


def _started(pid: int) -> float:
    """When a process started, in clock ticks since the boot (proc(5), field 22); 0 if unknown."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    return float(status.rpartition(")")[2].split()[19])


_SELECT = """
    SELECT id, name, label, url, options, status, reason, generation,
        (SELECT count(*) FROM pages WHERE version_id = versions.id),
        (SELECT count(*) FROM urls WHERE version_id = versions.id AND state IN ('due', 'leased', 'done', 'failed')),
        (SELECT count(*) FROM urls WHERE version_id = versions.id AND state = 'failed'),
        (SELECT count(*) FROM vectors WHERE version_id = versions.id AND embedder = :embedder),
        added_at, indexed_at, refresh_at, machine, pid, started, heartbeat
    FROM versions
"""


def _stored(options: CrawlOptions) -> str:
    fields = asdict(options)
    if not options.base_url:  # older versions of the gateway, which may share the database, do not know it
        del fields["base_url"]
    return json.dumps(fields)


def select(db: Database, embedder: str, version_id: int | None = None) -> list[SiteVersion]:
    """One version, or all by name and label."""
    named = {"embedder": embedder, "id": version_id}
    where = "ORDER BY name, label" if version_id is None else "WHERE id = :id"
    return [_version(row) for row in db.execute(f"{_SELECT} {where}", named)]


def _blamed(db: Database, version_id: int) -> str:
    """Note where an owner died. Returns the address at which the owner before it died too, "" if there is none."""
    reading, before = db.execute("SELECT reading, died_reading FROM versions WHERE id = ?", (version_id,)).fetchone()
    db.execute("UPDATE versions SET died_reading = reading, reading = '' WHERE id = ?", (version_id,))
    rows = db.execute(
        """
        UPDATE urls SET deaths = deaths + 1 WHERE id IN (
            SELECT id FROM urls WHERE version_id = ? AND state = 'leased' ORDER BY due, id LIMIT ?
        ) RETURNING url, deaths
        """,
        (version_id, IN_WORK),
    ).fetchall()
    if reading and reading == before:
        return str(reading)
    return next((url for url, deaths in rows if deaths >= MOST_DEATHS), "")


def _fail(db: Database, version_id: int, url: str, now: float) -> None:
    reason = f"Two crawls in a row died at {url}. Leave it out with --exclude, or `add` the site again to retry."
    _set_status(db, version_id, "failed", reason, now=now)
    db.execute(
        "UPDATE versions SET machine = NULL, pid = NULL, started = NULL, lease_until = NULL WHERE id = ?", (version_id,)
    )
    _free_urls(db, version_id)


def _set_status(
    db: Database, version_id: int, status: VersionStatus, reason: str, *, now: float, refresh_at: float | None = None
) -> None:
    db.execute(
        """
        UPDATE versions SET status = :status, reason = :reason,
            refresh_at = coalesce(:refresh_at, refresh_at),
            indexed_at = CASE WHEN :status = 'completed' THEN :now ELSE indexed_at END
        WHERE id = :id
        """,
        {"id": version_id, "status": status, "reason": reason, "now": now, "refresh_at": refresh_at},
    )


def _free_urls(db: Database, version_id: int) -> None:
    db.execute("UPDATE urls SET state = 'due', due = 0 WHERE version_id = ? AND state = 'leased'", (version_id,))


def _version(row: tuple[Any, ...]) -> SiteVersion:
    id_, name, label, url, options, status, reason, generation, pages, known, failed, embedded, *rest = row
    added_at, indexed_at, refresh_at, machine, pid, started, heartbeat = rest
    return SiteVersion(
        id=id_,
        name=name,
        label=label,
        url=url,
        options=crawl_options(json.loads(options)),
        status=status,
        reason=reason,
        generation=generation,
        page_count=pages,
        known=known,
        failed=failed,
        unembedded=pages - embedded,
        added_at=added_at,
        indexed_at=indexed_at,
        refresh_at=refresh_at,
        owner=Owner(machine, pid, started) if machine is not None else None,
        heartbeat=heartbeat,
    )


def crawl_options(stored: dict[str, Any]) -> CrawlOptions:
    """The options from their stored JSON fields."""
    lists = {name: tuple(stored[name]) for name in ("include", "exclude")}
    headers = tuple((name, value) for name, value in stored["headers"])
    return CrawlOptions(**{**stored, **lists, "headers": headers})


def _put(db: Database, version_id: int, stored: Sequence[tuple[StoredPage, PreparedPage]], embedder: str) -> None:
    """Write pages. If several have the same address, the last one is written."""
    by_address = {page.address: (page, ready) for page, ready in stored}
    depths = {link: 1 for page, _ in by_address.values() for link in page.links} | dict.fromkeys(by_address, 0)
    ids = frontier.url_ids(db, version_id, depths, "skipped")  # an address without a page is due at the next refresh
    new: list[IndexRow] = []
    for address, (page, ready) in by_address.items():
        task = UrlTask(ids[address], version_id, address)
        new += pages.commit(db, task, ready, embedder, page.fetched_at)
        frontier.finish_page(db, task, page.draft, [ids[link] for link in page.links])
    # At the end, because an insert with RETURNING sets a savepoint in SQLite, at which FTS5 writes out its buffer.
    db.index_text(new)


def _chunks(db: Database, page_id: int) -> tuple[ChunkDraft, ...]:
    query = "SELECT start, stop, headings, anchor, before, after FROM chunks WHERE page_id = ? ORDER BY ordinal"
    return tuple(
        ChunkDraft(start, stop, pages.split_headings(headings), own, opening, closing, inner)
        for start, stop, headings, anchors, opening, closing in db.execute(query, (page_id,))
        for own, inner in (pages.split_anchors(anchors),)
    )


def _symbols(db: Database, page_id: int) -> tuple[Symbol, ...]:
    query = "SELECT name, kind, anchor, ordinal FROM symbols WHERE page_id = ? ORDER BY rowid"
    return tuple(Symbol(*row) for row in db.execute(query, (page_id,)))


def _links(db: Database, packed: bytes | None) -> tuple[str, ...]:
    ids = unpack_ids(packed)
    found: list[str] = []
    for start in range(0, len(ids), MOST_VALUES):
        some = ids[start : start + MOST_VALUES]
        query = f"SELECT url FROM urls WHERE id IN ({marks(some)}) ORDER BY id"
        found += [row[0] for row in db.execute(query, some)]
    return tuple(found)


def _vectors(db: Database, page_id: int, embedder: str) -> Vectors | None:
    query = "SELECT dimensions, data FROM vectors WHERE page_id = ? AND embedder = ?"
    row = db.execute(query, (page_id, embedder)).fetchone()
    if row is None:
        return None
    scales, numbers = unpack_vectors(row[1], row[0])
    scaled: Vectors = scales[:, None] * numbers
    return scaled


class Versions(Transacted):
    """The part of `SqlDocs` that knows sites, their crawling processes, and hosts."""

    @write
    def add_version(self, db: Database, name: str, label: str, url: str, options: CrawlOptions) -> SiteVersion:
        """Create a `queued` version. An existing one takes the new URL and options, and keeps its pages."""
        row = db.execute(
            """
            INSERT INTO versions (name, label, url, options, status, added_at) VALUES (?, ?, ?, ?, 'queued', ?)
            ON CONFLICT (name, label) DO UPDATE SET url = excluded.url, options = excluded.options RETURNING id
            """,
            (name, label, url, _stored(options), self._clock()),
        ).fetchone()
        return select(db, self._embedder, row[0])[0]

    @search
    def versions(self, db: Database) -> list[SiteVersion]:
        """Every version of every site, by name and label."""
        return select(db, self._embedder)

    @read
    def version(self, db: Database, version_id: int) -> SiteVersion | None:
        """One version; None if it was deleted."""
        found = select(db, self._embedder, version_id)
        return found[0] if found else None

    @write
    def delete_version(self, db: Database, version_id: int) -> None:
        """Remove a version with everything that no other version uses."""
        remove_pages(db, [row[0] for row in db.execute("SELECT id FROM pages WHERE version_id = ?", (version_id,))])
        db.execute("DELETE FROM urls WHERE version_id = ?", (version_id,))
        db.execute("DELETE FROM versions WHERE id = ?", (version_id,))

    @write
    def claim(self, db: Database, version_id: int, owner: Owner, seconds: float) -> bool:
        """Take or renew the right to crawl a version for `seconds`. False if a living owner has it.

        An owner process on the same machine loses it as soon as it ends. If it died at the same address as the owner
        before it, the version is `failed`, with the address in its reason, and this returns False too.
        """
        now = self._clock()
        row = db.execute(
            f"SELECT machine, pid, started, lease_until FROM versions WHERE id = ? {db.lock}", (version_id,)
        ).fetchone()
        if row is None:
            return False
        before = Owner(*row[:3]) if row[0] is not None else None
        if before is not None and before != owner:
            died = is_dead(before)
            if row[3] > now and not died:
                return False
            if (died or before.machine != owner.machine) and (place := _blamed(db, version_id)):
                _fail(db, version_id, place, now)
                return False
        db.execute(
            "UPDATE versions SET machine = ?, pid = ?, started = ?, heartbeat = ?, lease_until = ? WHERE id = ?",
            (owner.machine, owner.pid, owner.started, now, now + seconds, version_id),
        )
        if before != owner:
            _free_urls(db, version_id)
        return True

    @write
    def note_reading(self, db: Database, version_id: int, url: str) -> None:
        """Note the list of pages that the owner reads now, which may be what it dies of; "" at the end of the lists."""
        db.execute("UPDATE versions SET reading = ? WHERE id = ?", (url, version_id))

    @write
    def release(self, db: Database, version_id: int, owner: Owner) -> None:
        """Give up that right. The owner's leased addresses become due, and a `crawling` version becomes `queued`."""
        freed = db.execute(
            """
            UPDATE versions SET machine = NULL, pid = NULL, started = NULL, lease_until = NULL,
                reading = '', died_reading = '', status = CASE WHEN status = 'crawling' THEN 'queued' ELSE status END
            WHERE id = ? AND machine = ? AND pid = ? AND started = ?
            """,
            (version_id, owner.machine, owner.pid, owner.started),
        )
        if freed.rowcount:
            _free_urls(db, version_id)

    async def set_status(
        self, version_id: int, status: VersionStatus, reason: str = "", *, refresh_at: float | None = None
    ) -> None:
        """Set the status of a version. `completed` stores the time."""
        put = partial(_set_status, now=self._clock(), refresh_at=refresh_at)
        await self.file.write(lambda db: put(db, version_id, status, reason))
        if status == "completed":
            await self._near.follow()

    @read
    def host(self, db: Database, host: str) -> HostState:
        """The stored data of a host."""
        row = db.execute(
            "SELECT host, robots, robots_at, next_at, reason FROM hosts WHERE host = ?", (host,)
        ).fetchone()
        return HostState(*row) if row else HostState(host)

    @write
    def put_robots(self, db: Database, host: str, robots: str | None) -> None:
        """Store the text of its robots.txt, or None if nothing is allowed."""
        db.execute(
            """
            INSERT INTO hosts (host, robots, robots_at) VALUES (?, ?, ?)
            ON CONFLICT (host) DO UPDATE SET robots = excluded.robots, robots_at = excluded.robots_at
            """,
            (host, robots, self._clock()),
        )

    @write
    def reserve(self, db: Database, host: str, seconds: float) -> Booking:
        """Book a host for one request, for `seconds` from now, unless it is booked or paused.

        All processes that share the store share the bookings.
        """
        now = self._clock()
        booked = db.execute(
            """
            INSERT INTO hosts (host, next_at) VALUES (:host, :until)
            ON CONFLICT (host) DO UPDATE SET next_at = :until, reason = '' WHERE hosts.next_at <= :now
            RETURNING next_at
            """,
            {"host": host, "now": now, "until": now + seconds},
        ).fetchone()
        if booked is not None:
            return Booking(float(booked[0]), is_ours=True)
        (next_at,) = db.execute("SELECT next_at FROM hosts WHERE host = ?", (host,)).fetchone()
        return Booking(float(next_at), is_ours=False)

    @write
    def rebook(self, db: Database, host: str, booking: Booking, until: float) -> Booking:
        """Move the end of a booking of our own to `until`, and return the new booking.

        Returns the old one unchanged if the host has been paused, or booked by another request, in the meantime.
        """
        moved = db.execute(
            "UPDATE hosts SET next_at = ? WHERE host = ? AND next_at = ? AND reason = ''", (until, host, booking.until)
        )
        return Booking(until, is_ours=True) if moved.rowcount else booking

    @write
    def pause_host(self, db: Database, host: str, until: float, reason: str) -> None:
        """Block all requests to a host before `until`."""
        db.execute(
            """
            INSERT INTO hosts (host, next_at, reason) VALUES (:host, :until, :reason)
            ON CONFLICT (host) DO UPDATE SET
                reason = CASE WHEN hosts.reason = '' OR hosts.next_at < :until THEN :reason ELSE hosts.reason END,
                next_at = CASE WHEN hosts.next_at < :until THEN :until ELSE hosts.next_at END
            """,
            {"host": host, "until": until, "reason": reason},
        )

    @read
    def pages_after(self, db: Database, version_id: int, page_id: int, count: int) -> list[tuple[int, StoredPage]]:
        """Up to `count` pages with ids above `page_id`, by id, for copying a version."""
        rows = db.execute(
            """
            SELECT pages.id, pages.url, title, body, fetched_at, urls.url, etag, last_modified, body_hash, links
            FROM pages JOIN urls ON urls.id = url_id
            WHERE pages.version_id = ? AND pages.id > ? ORDER BY pages.id LIMIT ?
            """,
            (version_id, page_id, count),
        ).fetchall()
        found = []
        for id_, url, title, body, fetched_at, address, etag, last_modified, body_hash, links in rows:
            draft = PageDraft(
                url=url,
                title=title,
                markdown=pages.load_body(db, body),
                chunks=_chunks(db, id_),
                symbols=_symbols(db, id_),
                etag=etag,
                last_modified=last_modified,
                body_hash=body_hash or "",
            )
            page = StoredPage(address, draft, _links(db, links), fetched_at, _vectors(db, id_, self._embedder))
            found.append((id_, page))
        return found

    async def put_pages(self, version_id: int, pages: Sequence[StoredPage]) -> None:
        """Write pages that `pages_after` returned, from any version or store, in one transaction."""
        ready = await asyncio.to_thread(lambda: [(page, prepared(page.draft, page.vectors)) for page in pages])
        async with self._putting:
            await self.file.write(lambda db: _put(db, version_id, ready, self._embedder))
