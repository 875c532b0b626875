"""The frontier of a crawl: every known address of a version, and its state."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs_index.models import PageDraft, Skipped, UrlFailure, UrlState, UrlTask
from websearch_gateway.docs_index.store.database import MOST_VALUES, Database, Transacted, marks, read, search, write
from websearch_gateway.docs_index.store.encoding import pack_ids, unpack_ids
from websearch_gateway.docs_index.store.pages import commit, prepared, remove_pages
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

MOST_ALIASES = 4
"""The longest chain of aliases that is followed to a page."""

_TASK = "id, version_id, url, depth, attempts, etag, last_modified, body_hash, final_url"


def url_ids(db: Database, version_id: int, urls: Mapping[str, int], state: UrlState = "due") -> dict[str, int]:
    """The ids of addresses; those that are new are added with their depth, in that state."""
    return _note(db, version_id, urls, state)[0]


def _note(
    db: Database, version_id: int, urls: Mapping[str, int], state: UrlState = "due"
) -> tuple[dict[str, int], int]:
    """Note that addresses were seen in this generation. Returns their ids, and how many are new."""
    row = db.execute("SELECT generation FROM versions WHERE id = ?", (version_id,)).fetchone()
    if row is None:
        raise StateUnavailable("The site was deleted.")
    generation = row[0]
    known = _known(db, version_id, list(urls))
    # In a fixed order, so that two transactions cannot deadlock.
    new = [(version_id, url, urls[url], state, generation) for url in sorted(urls.keys() - known.keys())]
    if new:
        db.executemany(
            "INSERT INTO urls (version_id, url, depth, state, seen) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", new
        )
    stale = sorted(id_ for id_, seen in known.values() if seen < generation)
    if stale:
        db.executemany("UPDATE urls SET seen = ? WHERE id = ?", [(generation, id_) for id_ in stale])
    known |= _known(db, version_id, [row[1] for row in new])
    return {url: id_ for url, (id_, _) in known.items()}, len(new)


def _known(db: Database, version_id: int, urls: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Ids of addresses, each with the last generation that saw it."""
    found = {}
    for start in range(0, len(urls), MOST_VALUES):
        some = urls[start : start + MOST_VALUES]
        query = f"SELECT url, id, seen FROM urls WHERE version_id = ? AND url IN ({marks(some)})"
        found.update({url: (id_, seen) for url, id_, seen in db.execute(query, (version_id, *some))})
    return found


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
    return list(url_ids(db, task.version_id, dict.fromkeys(links, task.depth + 1)).values())


class Frontier(Transacted):
    """The part of `SqlDocs` that knows the addresses of a crawl."""

    @write
    def start_generation(self, db: Database, version_id: int) -> int:
        """Start a refresh: every known address becomes due. Returns the new generation."""
        db.execute("UPDATE urls SET state = 'due', due = 0, attempts = 0 WHERE version_id = ?", (version_id,))
        row = db.execute(
            "UPDATE versions SET generation = generation + 1 WHERE id = ? RETURNING generation", (version_id,)
        ).fetchone()
        return int(row[0]) if row else 0

    @write
    def finish_generation(self, db: Database, version_id: int) -> bool:
        """Remove the pages that were missing in this generation and in the one before: 404, 410, or no longer linked.

        Pages that became an alias or are skipped are removed at once. Returns False, and removes nothing, if more than
        20 pages and more than a tenth of all pages would be removed.
        """
        (generation,) = db.execute("SELECT generation FROM versions WHERE id = ?", (version_id,)).fetchone()
        rows = db.execute(
            """
            SELECT urls.id, pages.id, state, seen, missing, links
            FROM urls LEFT JOIN pages ON pages.url_id = urls.id WHERE urls.version_id = ?
            """,
            (version_id,),
        ).fetchall()
        linked = {link for row in rows if row[2] not in ("gone", "skipped") for link in unpack_ids(row[5])}
        pages = [row for row in rows if row[1] is not None]
        missing, gone = [], []
        for url_id, page_id, state, seen, was_missing, _ in pages:
            if state not in ("gone", "alias", "skipped") and (url_id in linked or seen >= generation):
                continue
            missing.append(url_id)
            if state in ("alias", "skipped") or was_missing:
                gone.append(page_id)
        if len(gone) > SMALL_LOSS and len(gone) > LARGEST_LOSS * len(pages):
            return False
        db.execute(
            "UPDATE urls SET missing = 0, missing_since = NULL WHERE version_id = ? AND missing <> 0", (version_id,)
        )
        db.executemany(
            "UPDATE urls SET missing = 1, missing_since = ? WHERE id = ?",
            [(self._clock(), url_id) for url_id in missing],
        )
        remove_pages(db, gone)
        return True

    @write
    def add_urls(self, db: Database, version_id: int, urls: Mapping[str, int]) -> int:
        """Put addresses (each with its depth) into the frontier, or note that they were seen again in this generation.

        Returns how many are new.
        """
        return _note(db, version_id, urls)[1]

    @read
    def known_urls(self, db: Database, version_id: int) -> list[str]:
        """Every address of the frontier, done or not, in the order in which they were found."""
        return [row[0] for row in db.execute("SELECT url FROM urls WHERE version_id = ? ORDER BY id", (version_id,))]

    @read
    def led_to(self, db: Database, version_id: int, url: str) -> list[str]:
        """An address, and those to which it leads as an alias. A skipped one leads nowhere."""
        chain = [url]
        while len(chain) <= MOST_ALIASES:
            query = "SELECT final_url FROM urls WHERE version_id = ? AND url = ? AND state <> 'skipped'"
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
        return _leased(db, "deaths > 0", (version_id, now, 1)) or _leased(db, "TRUE", (version_id, now, count))

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
            UPDATE urls SET state = :state, reason = :reason, due = coalesce(:due, due), attempts = attempts + :failed,
                deaths = 0, final_url = coalesce(:alias, final_url), links = coalesce(:links, links)
            WHERE id = :id
            """,
            {
                "id": task.id,
                "state": state,
                "reason": reason,
                "due": due,
                "failed": int(state in ("due", "failed")),
                "alias": alias_of,
                "links": link_ids,
            },
        )

    @search
    def failures(self, db: Database, version_id: int, limit: int = 100) -> list[UrlFailure]:
        """The addresses that failed, with reasons, in the order of the addresses."""
        query = "SELECT url, reason, attempts FROM urls WHERE version_id = ? AND state = 'failed' ORDER BY url LIMIT ?"
        return [UrlFailure(*row) for row in db.execute(query, (version_id, limit))]

    @search
    def skipped(self, db: Database, version_id: int) -> list[Skipped]:
        """Why addresses were left out, the most frequent reason first. What follows a colon is no part of a reason."""
        query = """
            SELECT reason, count(*), min(url), max(url) FROM urls
            WHERE version_id = ? AND state = 'skipped' AND reason <> '' GROUP BY reason ORDER BY reason LIMIT ?
        """
        counts: Counter[str] = Counter()
        urls: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for reason, count, first, last in db.execute(query, (version_id, MOST_REASONS)):
            kind = reason.partition(": http")[0]
            counts[kind] += count
            urls[kind] |= dict.fromkeys((first, last))
        return [Skipped(kind, count, tuple(urls[kind])[:SHOWN_SKIPPED]) for kind, count in counts.most_common()]

    async def commit_page(self, task: UrlTask, page: PageDraft, vectors: Vectors | None, links: Sequence[str]) -> None:
        """Write a page in one transaction: its body, chunks, text index, vectors, symbols, new links, and the state
        of its address. Replaces the page at the address; chunks with unchanged text stay.

        `vectors` has one row per chunk; None if the embedder is unavailable.
        """
        ready = await asyncio.to_thread(prepared, page, vectors)

        def act(db: Database) -> None:
            db.index_text(commit(db, task, ready, self._embedder, self._clock()))
            finish_page(db, task, page, note_links(db, task, links))

        await self.file.write(act)
