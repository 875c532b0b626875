"""The documentation index in SQL: sites and their versions, the frontier of each crawl (every known address, and its
state), the processes that crawl, the data of hosts, and copies of versions. `SqlDocs` joins them with the pages.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from websearch_gateway.docs.models import (
    IN_WORK,
    MOST_DEATHS,
    Booking,
    ChunkDraft,
    CrawlOptions,
    HostState,
    Owner,
    PageDraft,
    SiteVersion,
    Skipped,
    StoredPage,
    Symbol,
    UrlFailure,
    UrlState,
    UrlTask,
    VersionStatus,
)
from websearch_gateway.docs.store.database import (
    Database,
    IndexRow,
    Transacted,
    in_parts,
    pack_ids,
    read,
    search,
    unpack_ids,
    unpack_vectors,
    write,
)
from websearch_gateway.docs.store.pages import (
    MOST_ALIASES,
    Pages,
    PreparedPage,
    commit,
    load_body,
    prepared,
    remove_pages,
    split_anchors,
    split_headings,
)
from websearch_gateway.errors import StateUnavailable

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


LARGEST_LOSS = 0.1
SMALL_LOSS = 20
"""A refresh that would remove more than this share of the pages, and more than this many, is suspicious."""

MOST_REASONS = 10_000
"""The most reasons that are read: one that names an address is another one for each."""
SHOWN_SKIPPED = 5
"""The most addresses that are shown for a reason."""

_TASK = "id, version_id, url, depth, attempts, etag, last_modified, body_hash, final_url"


def note_urls(
    db: Database, version_id: int, urls: Mapping[str, int], state: UrlState = "due"
) -> tuple[dict[str, int], int]:
    """Note that addresses were seen in this generation; those that are new are added with their depth, in that state.

    Returns their ids, and how many are new.
    """
    row = db.execute("SELECT generation FROM versions WHERE id = ?", (version_id,)).fetchone()
    if row is None:
        raise StateUnavailable("The site was deleted.")
    generation = row[0]
    noted = _noted(db, version_id, list(urls))
    # In a fixed order, so that two transactions cannot deadlock.
    new = [
        (version_id, url, urls[url], state, generation)
        for url in sorted(urls.keys() - noted.keys())
    ]
    if new:
        db.executemany(
            "INSERT INTO urls (version_id, url, depth, state, seen) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            new,
        )
    stale = sorted(id_ for id_, last_seen in noted.values() if last_seen < generation)
    if stale:
        db.executemany(
            "UPDATE urls SET seen = ? WHERE id = ?", [(generation, id_) for id_ in stale]
        )
    noted |= _noted(db, version_id, [row[1] for row in new])
    return {url: id_ for url, (id_, _) in noted.items()}, len(new)


def _noted(db: Database, version_id: int, urls: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Ids of addresses, each with the last generation that saw it."""
    query = "SELECT url, id, seen FROM urls WHERE version_id = ? AND url IN ({})"
    rows = in_parts(db, query, urls, (version_id,))
    return {url: (id_, last_seen) for url, id_, last_seen in rows}


def _leased(db: Database, condition: str, values: tuple[int, float, int]) -> list[UrlTask]:
    """Lease the addresses of a version that are due at a time and meet the condition, up to a number."""
    version_id, now, count = values
    rows = db.execute(
        f"""
        UPDATE urls SET state = 'leased', due = ? WHERE id IN (
            SELECT id FROM urls WHERE version_id = ? AND state = 'due' AND due <= ? AND {condition} ORDER BY due, id
            LIMIT ? {db.skip_locked}
        ) RETURNING {_TASK}
        """,
        (now, version_id, now, count),
    ).fetchall()
    return [UrlTask(*row) for row in sorted(rows)]


def _left_out(db: Database, version_id: int) -> dict[str, tuple[int, Sequence[str]]]:
    row = db.execute("SELECT left_out FROM versions WHERE id = ?", (version_id,)).fetchone()
    return (
        {reason: (count, urls) for reason, (count, urls) in json.loads(row[0]).items()}
        if row and row[0]
        else {}
    )


def finish_page(db: Database, task: UrlTask, page: PageDraft, links: Sequence[int]) -> None:
    """Mark the address of `page`, which was just written, as done. `links` are ids."""
    db.execute(
        """
        UPDATE urls SET state = 'done', reason = '', etag = ?, last_modified = ?, body_hash = ?, final_url = ?,
            links = ?, deaths = 0
        WHERE id = ?
        """,
        (page.etag, page.last_modified, page.body_hash, page.url, pack_ids(links), task.id),
    )


def note_links(db: Database, task: UrlTask, links: Sequence[str]) -> list[int]:
    """Put the links of a page into the frontier. Returns their ids."""
    return list(note_urls(db, task.version_id, dict.fromkeys(links, task.depth + 1))[0].values())


class Frontier(Transacted):
    """The part of `SqlDocs` that knows the addresses of a crawl."""

    @write
    def start_generation(self, db: Database, version_id: int) -> int:
        """Start a refresh: every known address becomes due. Returns the new generation."""
        db.execute(
            "UPDATE urls SET state = 'due', due = 0, attempts = 0 WHERE version_id = ?",
            (version_id,),
        )
        row = db.execute(
            "UPDATE versions SET generation = generation + 1 WHERE id = ? RETURNING generation",
            (version_id,),
        ).fetchone()
        return int(row[0]) if row else 0

    @write
    def finish_generation(self, db: Database, version_id: int) -> bool:
        """Remove the pages that were missing in this generation and in the one before: 404, 410, or no longer linked.

        Pages that became an alias or are skipped are removed at once. Returns False, and removes nothing, if more than
        20 pages and more than a tenth of all pages would be removed.
        """
        (generation,) = db.execute(
            "SELECT generation FROM versions WHERE id = ?", (version_id,)
        ).fetchone()
        rows = db.execute(
            """
            SELECT urls.id, pages.id, state, seen, missing, links
            FROM urls LEFT JOIN pages ON pages.url_id = urls.id WHERE urls.version_id = ?
            """,
            (version_id,),
        ).fetchall()
        linked = {
            link for row in rows if row[2] not in ("gone", "skipped") for link in unpack_ids(row[5])
        }
        pages = [row for row in rows if row[1] is not None]
        missing, gone = [], []
        for url_id, page_id, state, seen, was_missing, _ in pages:
            if state not in ("gone", "alias", "skipped") and (
                url_id in linked or seen >= generation
            ):
                continue
            missing.append(url_id)
            if state in ("alias", "skipped") or was_missing:
                gone.append(page_id)
        if len(gone) > SMALL_LOSS and len(gone) > LARGEST_LOSS * len(pages):
            return False
        db.execute(
            "UPDATE urls SET missing = 0, missing_since = NULL WHERE version_id = ? AND missing <> 0",
            (version_id,),
        )
        db.executemany(
            "UPDATE urls SET missing = 1, missing_since = ? WHERE id = ?",
            [(self._clock(), id_) for id_ in missing],
        )
        remove_pages(db, gone)
        return True

    @write
    def add_urls(self, db: Database, version_id: int, urls: Mapping[str, int]) -> int:
        """Put addresses (each with its depth) into the frontier, or note that they were seen again in this generation.

        Returns how many are new.
        """
        return note_urls(db, version_id, urls)[1]

    @read
    def known_urls(self, db: Database, version_id: int) -> list[str]:
        """Every address of the frontier, done or not, in the order in which they were found."""
        return [
            row[0]
            for row in db.execute(
                "SELECT url FROM urls WHERE version_id = ? ORDER BY id", (version_id,)
            )
        ]

    @read
    def led_to(self, db: Database, version_id: int, url: str) -> list[str]:
        """An address, and those to which it leads as an alias. A skipped one leads nowhere."""
        chain = [url]
        while len(chain) <= MOST_ALIASES:
            query = (
                "SELECT final_url FROM urls WHERE version_id = ? AND url = ? AND state <> 'skipped'"
            )
            row = db.execute(query, (version_id, chain[-1])).fetchone()
            if row is None or not row[0] or row[0] in chain:
                break
            chain.append(row[0])
        return chain

    @write
    def lease_urls(self, db: Database, version_id: int, count: int, now: float) -> list[UrlTask]:
        """Take up to `count` addresses that are due at `now`, the oldest first.

        An address at which the last owner may have died comes alone and before all others.
        """
        return _leased(db, "deaths > 0", (version_id, now, 1)) or _leased(
            db, "TRUE", (version_id, now, count)
        )

    @read
    def next_due(self, db: Database, version_id: int) -> float | None:
        """When the next address is due; None if nothing is left to fetch."""
        query = "SELECT min(due) FROM urls WHERE version_id = ? AND state = 'due'"
        due: float | None = db.execute(query, (version_id,)).fetchone()[0]
        return due

    @read
    def find_body(self, db: Database, task: UrlTask, body_hash: str) -> str | None:
        """The address of another page of the version that has this body."""
        row = db.execute(
            """
            SELECT pages.url FROM urls JOIN pages ON pages.url_id = urls.id
            WHERE urls.version_id = ? AND urls.body_hash = ? AND urls.id <> ? LIMIT 1
            """,
            (task.version_id, body_hash, task.id),
        ).fetchone()
        return row[0] if row else None

    @write
    def finish_url(
        self,
        db: Database,
        task: UrlTask,
        state: UrlState,
        reason: str = "",
        *,
        due: float | None = None,
        links: Sequence[str] = (),
        alias_of: str | None = None,
    ) -> None:
        """Store the outcome of a fetch that gave no new page, in one transaction.

        `done` is an unchanged page, `due` a retry (at the time `due`). `gone` and `alias` keep the page until
        `finish_generation`.
        """
        link_ids = pack_ids(note_links(db, task, links)) if links else None
        db.execute(
            """
            UPDATE urls SET state = ?, reason = ?, due = coalesce(?, due), attempts = attempts + ?, deaths = 0,
                final_url = coalesce(?, final_url), links = coalesce(?, links)
            WHERE id = ?
            """,
            (state, reason, due, int(state in ("due", "failed")), alias_of, link_ids, task.id),
        )

    @search
    def failures(self, db: Database, version_id: int, limit: int = 100) -> list[UrlFailure]:
        """The addresses that failed, with reasons, in the order of the addresses."""
        query = "SELECT url, reason, attempts FROM urls WHERE version_id = ? AND state = 'failed' ORDER BY url LIMIT ?"
        return [UrlFailure(*row) for row in db.execute(query, (version_id, limit))]

    @search
    def skipped(self, db: Database, version_ids: Sequence[int]) -> dict[int, list[Skipped]]:
        """Why addresses of each version were left out, the most frequent reason first. What follows a colon is no part
        of a reason."""
        query = """
            SELECT reason, count(*), min(url), max(url) FROM urls
            WHERE version_id = ? AND state = 'skipped' AND reason <> '' GROUP BY reason ORDER BY reason LIMIT ?
        """
        skipped: dict[int, list[Skipped]] = {}
        # Each with a limit of its own, so that one site cannot hide the reasons of others.
        for id_ in version_ids:
            counts: Counter[str] = Counter()
            urls: defaultdict[str, dict[str, None]] = defaultdict(dict)
            left_out = [
                (reason, count, *some) for reason, (count, some) in _left_out(db, id_).items()
            ]
            for reason, count, *some in (*left_out, *db.execute(query, (id_, MOST_REASONS))):
                kind = reason.partition(": http")[0]
                counts[kind] += count
                urls[kind] |= dict.fromkeys(some)
            skipped[id_] = [
                Skipped(kind, n, tuple(urls[kind])[:SHOWN_SKIPPED])
                for kind, n in counts.most_common()
            ]
        return skipped

    @write
    def note_left_out(self, db: Database, version_id: int, skipped: Sequence[Skipped]) -> None:
        """Note addresses that never come into the frontier. For a known reason the higher count stays."""
        left_out = _left_out(db, version_id)
        for group in skipped:
            count_before = left_out.get(group.reason, (0,))[0]
            if group.count >= count_before:
                left_out[group.reason] = group.count, group.urls
        db.execute(
            "UPDATE versions SET left_out = ? WHERE id = ?", (json.dumps(left_out), version_id)
        )

    async def commit_page(
        self, task: UrlTask, page: PageDraft, vectors: Vectors | None, links: Sequence[str]
    ) -> None:
        """Write a page in one transaction: its body, chunks, text index, vectors, symbols, new links, and the state
        of its address. Replaces the page at the address; chunks with unchanged text stay.

        `vectors` has one row per chunk; None if the embedder is unavailable.
        """
        ready = await asyncio.to_thread(prepared, page, vectors)

        def act(db: Database) -> None:
            db.index_text(commit(db, task, ready, self._embedder, self._clock()))
            finish_page(db, task, page, note_links(db, task, links))

        await self.file.write(act)


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


_FIELDS = (
    "id, name, label, url, status, reason, generation, added_at, indexed_at, refresh_at, heartbeat"
)
_COUNTS = """
    (SELECT count(*) FROM urls WHERE version_id = versions.id AND state IN ('due', 'leased', 'done', 'failed')),
    (SELECT count(*) FROM urls WHERE version_id = versions.id AND state = 'failed'),
    (SELECT count(*) FROM pages WHERE version_id = versions.id),
    (SELECT count(*) FROM vectors WHERE version_id = versions.id AND embedder = :embedder)
"""
_WITH_PAGES = "WHERE EXISTS (SELECT 1 FROM pages WHERE version_id = versions.id)"


def _stored(options: CrawlOptions) -> str:
    fields = asdict(options)
    # Older versions of the gateway, which may share the database, lack them.
    for name in (
        "base_url",
        "is_guarded",
    ):
        if not fields[name]:
            del fields[name]
    return json.dumps(fields)


def select(
    db: Database,
    embedder: str,
    version_id: int | None = None,
    where: str = "",
    counts: str = _COUNTS,
) -> list[SiteVersion]:
    """One version, or by name and label all that meet a condition."""
    values = {"embedder": embedder, "id": version_id}
    which = f"{where} ORDER BY name, label" if version_id is None else "WHERE id = :id"
    fields = f"{_FIELDS}, options, machine, pid, started, {counts}"
    return [
        SiteVersion(
            **dict(zip(_FIELDS.split(", "), row, strict=False)),
            options=crawl_options(json.loads(options)),
            owner=Owner(machine, pid, started) if machine is not None else None,
            known=known,
            failed=failed,
            page_count=pages,
            unembedded=pages - embedded,
        )
        for row in db.execute(f"SELECT {fields} FROM versions {which}", values)
        for options, machine, pid, started, known, failed, pages, embedded in [row[-8:]]
    ]


def _blamed(db: Database, version_id: int) -> str:
    """Note where an owner died. Returns the address at which the owner before it died too, "" if there is none."""
    reading, before = db.execute(
        "SELECT reading, died_reading FROM versions WHERE id = ?", (version_id,)
    ).fetchone()
    db.execute(
        "UPDATE versions SET died_reading = reading, reading = '' WHERE id = ?", (version_id,)
    )
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


def _set_status(
    db: Database,
    version_id: int,
    status: VersionStatus,
    reason: str,
    *,
    now: float,
    refresh_at: float | None = None,
) -> None:
    db.execute(
        """
        UPDATE versions SET status = :status, reason = :reason,
            refresh_at = coalesce(:refresh_at, refresh_at),
            indexed_at = CASE WHEN :status = 'completed' THEN :now ELSE indexed_at END
        WHERE id = :id
        """,
        {
            "id": version_id,
            "status": status,
            "reason": reason,
            "now": now,
            "refresh_at": refresh_at,
        },
    )


def _free_urls(db: Database, version_id: int) -> None:
    db.execute(
        "UPDATE urls SET state = 'due', due = 0 WHERE version_id = ? AND state = 'leased'",
        (version_id,),
    )


def crawl_options(stored: dict[str, Any]) -> CrawlOptions:
    """The options from their stored JSON fields."""
    lists = {name: tuple(stored[name]) for name in ("include", "exclude")}
    headers = tuple((name, value) for name, value in stored["headers"])
    return CrawlOptions(**{**stored, **lists, "headers": headers})


class Versions(Transacted):
    """The part of `SqlDocs` that knows sites, their crawling processes, and hosts."""

    @write
    def add_version(
        self, db: Database, name: str, label: str, url: str, options: CrawlOptions
    ) -> SiteVersion:
        """Create a `queued` version. An existing one takes the new URL and options, and keeps its pages."""
        row = db.execute(
            """
            INSERT INTO versions (name, label, url, options, status, added_at) VALUES (?, ?, ?, ?, 'queued', ?)
            ON CONFLICT (name, label) DO UPDATE SET url = excluded.url, options = excluded.options,
                left_out = CASE WHEN versions.options = excluded.options THEN versions.left_out ELSE '' END
            RETURNING id
            """,
            (name, label, url, _stored(options), self._clock()),
        ).fetchone()
        return select(db, self._embedder, row[0])[0]

    @search
    def versions(self, db: Database) -> list[SiteVersion]:
        """Every version of every site, by name and label."""
        return select(db, self._embedder)

    @search
    def with_pages(self, db: Database) -> list[SiteVersion]:
        """As `versions`, those that have pages, with 0 for their counts: counting takes longer than a search."""
        return select(db, self._embedder, where=_WITH_PAGES, counts="0, 0, 0, 0")

    @read
    def version(self, db: Database, version_id: int) -> SiteVersion | None:
        """One version; None if it was deleted."""
        versions = select(db, self._embedder, version_id)
        return versions[0] if versions else None

    @write
    def delete_version(self, db: Database, version_id: int) -> None:
        """Remove a version with everything that no other version uses."""
        remove_pages(
            db,
            [
                row[0]
                for row in db.execute("SELECT id FROM pages WHERE version_id = ?", (version_id,))
            ],
        )
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
            f"SELECT machine, pid, started, lease_until FROM versions WHERE id = ? {db.lock}",
            (version_id,),
        ).fetchone()
        if row is None:
            return False
        before = Owner(*row[:3]) if row[0] is not None else None
        if before is not None and before != owner:
            died = is_dead(before)
            if row[3] > now and not died:
                return False
            if (died or before.machine != owner.machine) and (place := _blamed(db, version_id)):
                cure = "Leave it out with --exclude, or `add` the site again to retry."
                _set_status(
                    db,
                    version_id,
                    "failed",
                    f"Two crawls in a row died at {place}. {cure}",
                    now=now,
                )
                ended = "UPDATE versions SET machine = NULL, pid = NULL, started = NULL, lease_until = NULL WHERE id = ?"
                db.execute(ended, (version_id,))
                _free_urls(db, version_id)
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
        """Note the list of pages that the owner reads now, which may be what kills it; "" at the end of the lists."""
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
        self,
        version_id: int,
        status: VersionStatus,
        reason: str = "",
        *,
        refresh_at: float | None = None,
    ) -> None:
        """Set the status of a version. `completed` stores the time."""
        now = self._clock()
        await self.file.write(
            lambda db: _set_status(db, version_id, status, reason, now=now, refresh_at=refresh_at)
        )
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
            "UPDATE hosts SET next_at = ? WHERE host = ? AND next_at = ? AND reason = ''",
            (until, host, booking.until),
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


def _put(
    db: Database, version_id: int, stored: Sequence[tuple[StoredPage, PreparedPage]], embedder: str
) -> None:
    """Write pages. If several have the same address, the last one is written."""
    by_address = {page.address: (page, ready) for page, ready in stored}
    depths = {link: 1 for page, _ in by_address.values() for link in page.links} | dict.fromkeys(
        by_address, 0
    )
    # An address without a page is due at the next refresh.
    ids, _ = note_urls(db, version_id, depths, "skipped")
    new: list[IndexRow] = []
    for address, (page, ready) in by_address.items():
        task = UrlTask(ids[address], version_id, address)
        new += commit(db, task, ready, embedder, page.fetched_at)
        finish_page(db, task, page.draft, [ids[link] for link in page.links])
    # At the end, because an insert with RETURNING sets a savepoint in SQLite, at which FTS5 writes out its buffer.
    db.index_text(new)


def _drafts(db: Database, page_id: int) -> tuple[ChunkDraft, ...]:
    query = "SELECT start, stop, headings, anchor, before, after FROM chunks WHERE page_id = ? ORDER BY ordinal"
    return tuple(
        ChunkDraft(start, stop, split_headings(headings), own, opening, closing, inner)
        for start, stop, headings, anchors, opening, closing in db.execute(query, (page_id,))
        for own, inner in (split_anchors(anchors),)
    )


def _vectors(db: Database, page_id: int, embedder: str) -> Vectors | None:
    query = "SELECT dimensions, data FROM vectors WHERE page_id = ? AND embedder = ?"
    row = db.execute(query, (page_id, embedder)).fetchone()
    if row is None:
        return None
    scales, numbers = unpack_vectors(row[1], row[0])
    return scales[:, None] * numbers


class Copies(Transacted):
    """The part of `SqlDocs` that copies versions from one store to another."""

    @read
    def pages_after(
        self, db: Database, version_id: int, page_id: int, count: int
    ) -> list[tuple[int, StoredPage]]:
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
        defined = "SELECT name, kind, anchor, ordinal FROM symbols WHERE page_id = ? ORDER BY rowid"
        for (
            id_,
            url,
            title,
            body,
            fetched_at,
            address,
            etag,
            last_modified,
            body_hash,
            links,
        ) in rows:
            draft = PageDraft(
                url=url,
                title=title,
                markdown=load_body(db, body),
                chunks=_drafts(db, id_),
                symbols=tuple(Symbol(*row) for row in db.execute(defined, (id_,))),
                etag=etag,
                last_modified=last_modified,
                body_hash=body_hash or "",
            )
            linked = in_parts(
                db, "SELECT url FROM urls WHERE id IN ({}) ORDER BY id", unpack_ids(links)
            )
            vectors = _vectors(db, id_, self._embedder)
            found.append(
                (
                    id_,
                    StoredPage(
                        address, draft, tuple(row[0] for row in linked), fetched_at, vectors
                    ),
                )
            )
        return found

    async def put_pages(self, version_id: int, pages: Sequence[StoredPage]) -> None:
        """Write pages that `pages_after` returned, from any version or store, in one transaction."""
        ready = await asyncio.to_thread(
            lambda: [(page, prepared(page.draft, page.vectors)) for page in pages]
        )
        async with self._putting:
            await self.file.write(lambda db: _put(db, version_id, ready, self._embedder))


class SqlDocs(Versions, Frontier, Copies, Pages):
    """Sites, versions, the frontier of a crawl, pages and searches.

    When a method returns, its changes survive a kill.
    """
