"""Selects the versions for a call: by id, by a pattern of names, by a label."""

from __future__ import annotations

import re
from collections.abc import Sequence

from websearch_gateway.docs_index.models import SiteVersion
from websearch_gateway.docs_index.ports import Run
from websearch_gateway.errors import SearchTimeoutError, SearchValidationError
from websearch_gateway.models import Deadline

MOST_PATTERN_CHARS = 200
PATTERN_SECONDS = 5.0


async def select(
    versions: Sequence[SiteVersion], site_id: str | None, sites_filter: str | None, label: str | None, workers: Run
) -> list[SiteVersion]:
    """The versions that meet every given condition.

    `site_id` is an id or a name; `sites_filter` a regular expression that must match somewhere in the name. It runs in
    a worker process, which is killed if it takes too long.

    Raises:
        SearchValidationError: no version has that id, name or label, or the pattern is unusable.
    """
    chosen = list(versions)
    if site_id is not None:
        chosen = _known([v for v in chosen if site_id in (str(v.id), v.name)], "site_id", site_id, versions)
    if sites_filter is not None:
        names = await _matching(sites_filter, sorted({v.name for v in chosen}), workers)
        chosen = [v for v in chosen if v.name in names]
    if label is not None:
        chosen = _known([v for v in chosen if v.label == label], "version", label, chosen)
    return chosen


def matching(pattern: str, names: Sequence[str]) -> list[str]:
    """The names in which the pattern matches, without regard to case."""
    compiled = re.compile(pattern, re.IGNORECASE)
    return [name for name in names if compiled.search(name)]


async def _matching(pattern: str, names: Sequence[str], workers: Run) -> list[str]:
    try:
        re.compile(pattern)
    except re.error as error:
        raise SearchValidationError(f"sites_filter is not a regular expression: {error}.") from None
    if len(pattern) > MOST_PATTERN_CHARS:
        raise SearchValidationError(f"sites_filter must have at most {MOST_PATTERN_CHARS} characters.")
    if re.fullmatch(r"[\w .|^$-]+", pattern):  # alternatives of words need no process of their own
        return matching(pattern, names)
    try:
        found: list[str] = await workers.run(matching, pattern, names, deadline=Deadline.after(PATTERN_SECONDS))
    except SearchTimeoutError:
        raise SearchValidationError("sites_filter takes too long to match. Use a simpler expression.") from None
    return found


def _known(found: list[SiteVersion], field: str, value: str, among: Sequence[SiteVersion]) -> list[SiteVersion]:
    if found:
        return found
    names = ", ".join(f"{v.id} ({v.name} {v.label})" for v in among) or "none"
    raise SearchValidationError(f"No indexed site has the {field} {value[:100]!r}. Indexed: {names}.")
