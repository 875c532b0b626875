"""What people and models are told of the sites of the documentation index: `list_sites` and `docs_status`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from websearch_gateway.docs.models import SiteVersion, Skipped, UrlFailure
from websearch_gateway.docs.store.docs import SqlDocs, is_dead
from websearch_gateway.results import (
    DocsFailure,
    DocsSite,
    DocsSites,
    DocsSiteStatus,
    DocsSkipped,
    DocsStatus,
)

NO_SITE = "No site is indexed. Add one: websearch-gateway docs add URL NAME VERSION"
MOST_REASONS = 3
"""The most reasons of addresses that were left out in a list of sites."""
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


async def listed(store: SqlDocs, versions: Sequence[SiteVersion]) -> DocsSites:
    """The result of `list_sites`."""
    skipped = await store.skipped([version.id for version in versions])
    return DocsSites(
        sites=tuple(DocsSite(**_facts(version, skipped[version.id])) for version in versions)
    )


async def statuses(
    store: SqlDocs, versions: Sequence[SiteVersion], message: str = ""
) -> DocsStatus:
    """The result of `docs_status`: the versions, with the addresses that failed or were left out, and why."""
    skipped = await store.skipped([version.id for version in versions])
    sites = []
    for version in versions:
        failures = await store.failures(version.id) if version.failed else ()
        sites.append(_status(version, failures, skipped[version.id]))
    return DocsStatus(sites=tuple(sites), message=message)


def _status(
    version: SiteVersion, failures: Sequence[UrlFailure], skipped: Sequence[Skipped]
) -> DocsSiteStatus:
    owner, reason = version.owner, version.reason
    if owner is not None and is_dead(owner):
        command = f"websearch-gateway docs update {shlex.join((version.name, version.label))}"
        reason = (
            f"The process that crawled it has ended. What it fetched is kept; go on with: {command}"
        )
        owner = None
    progress = min(1.0, version.page_count / version.known) if version.known else 0.0
    is_alive = owner is not None and version.heartbeat is not None
    silence = time.time() - (version.heartbeat or 0.0)
    return DocsSiteStatus(
        **_facts(version, skipped),
        reason=reason,
        progress=round(progress, 3),
        # Pages that a refresh has not found yet are kept.
        known=max(version.known, version.page_count),
        failed=version.failed,
        unembedded=version.unembedded,
        generation=version.generation,
        refresh_date=iso_date(version.refresh_at),
        owner=f"{owner.machine}:{owner.pid}" if owner else None,
        heartbeat_seconds=round(silence, 1) if is_alive else None,
        failures=tuple(
            DocsFailure(url=failure.url, reason=failure.reason, attempts=failure.attempts)
            for failure in failures
        ),
        skipped=tuple(
            DocsSkipped(reason=kind.reason, count=kind.count, urls=kind.urls) for kind in skipped
        ),
    )


def _facts(version: SiteVersion, skipped: Sequence[Skipped]) -> dict[str, Any]:
    return {
        "id": str(version.id),
        "name": version.name,
        "version": version.label,
        "url": version.home,
        "status": version.status,
        "indexed_date": iso_date(version.indexed_at),
        "page_count": version.page_count,
        "age": "" if version.indexed_at is None else _age(time.time() - version.indexed_at),
        "left_out": "; ".join(f"{kind.count:,} {kind.reason}" for kind in skipped[:MOST_REASONS]),
    }


def _age(seconds: float) -> str:
    """A length of time in its largest unit, such as "3 days"."""
    for length, unit in _UNITS:
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "0 seconds"


def iso_date(seconds: float | None) -> str | None:
    """A time as ISO 8601, UTC; None without a time, or for one beyond the calendar."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None
