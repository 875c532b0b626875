"""Reports on sites: the list of them, and their status."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence

from websearch_gateway.docs_index.models import SiteVersion, UrlFailure
from websearch_gateway.docs_index.reading import iso_date
from websearch_gateway.docs_index.store.owners import is_dead
from websearch_gateway.results import DocsFailure, DocsSite, DocsSites, DocsSiteStatus, DocsStatus

NO_SITE = "No site is indexed. Add one: websearch-gateway docs add URL NAME VERSION"
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def listed(versions: Sequence[SiteVersion]) -> DocsSites:
    """The result of `list_sites`."""
    return DocsSites(sites=tuple(DocsSite(**_facts(version)) for version in versions))


def statuses(
    versions: Sequence[SiteVersion], failures: Mapping[int, Sequence[UrlFailure]] | None = None, message: str = ""
) -> DocsStatus:
    """The result of `docs_status`."""
    known = failures or {}
    return DocsStatus(sites=tuple(_status(version, known.get(version.id, ())) for version in versions), message=message)


def _status(version: SiteVersion, failures: Sequence[UrlFailure]) -> DocsSiteStatus:
    owner = None if version.owner is None or is_dead(version.owner) else version.owner
    return DocsSiteStatus(
        **_facts(version),
        reason=_stopped(version) if version.owner and not owner else version.reason,
        progress=round(min(1.0, version.page_count / version.known), 3) if version.known else 0.0,
        known=max(version.known, version.page_count),  # pages that a refresh has not found yet are kept
        failed=version.failed,
        unembedded=version.unembedded,
        generation=version.generation,
        refresh_date=iso_date(version.refresh_at),
        owner=f"{owner.machine}:{owner.pid}" if owner else None,
        heartbeat_seconds=round(time.time() - version.heartbeat, 1) if owner and version.heartbeat else None,
        failures=tuple(DocsFailure(url=f.url, reason=f.reason, attempts=f.attempts) for f in failures),
    )


def _stopped(version: SiteVersion) -> str:
    command = f"websearch-gateway docs update {shlex.join((version.name, version.label))}"
    return f"The process that crawled it has ended. What it fetched is kept; go on with: {command}"


def _facts(version: SiteVersion) -> dict[str, object]:
    return {
        "id": str(version.id),
        "name": version.name,
        "version": version.label,
        "url": version.url,
        "status": version.status,
        "indexed_date": iso_date(version.indexed_at),
        "page_count": version.page_count,
        "age": _age(version.indexed_at),
    }


def _age(indexed_at: float | None) -> str:
    if indexed_at is None:
        return ""
    seconds = max(0.0, time.time() - indexed_at)
    length, unit = next(((length, unit) for length, unit in _UNITS if seconds >= length), (1, "second"))
    count = int(seconds // length)
    return f"{count} {unit}{'' if count == 1 else 's'}"
