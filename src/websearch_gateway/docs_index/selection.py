"""Selects the versions for a call: by id, by a pattern of names and addresses, by a label."""

from __future__ import annotations

import re
from collections.abc import Sequence

from websearch_gateway.docs_index.models import Run, SiteVersion
from websearch_gateway.errors import TOO_COSTLY, SearchFetchError, SearchTimeoutError, SearchValidationError
from websearch_gateway.models import Deadline

MOST_PATTERN_CHARS = 200
MOST_QUOTED = 100
MOST_NAMED = 20
PATTERN_SECONDS = 2.0
"""The time limit of a pattern over all sites. An honest one takes milliseconds."""

QUEUE_SECONDS = 15.0
"""The most seconds until a worker process has compared a pattern, with the start of the process."""


async def select(
    versions: Sequence[SiteVersion], site_id: str | None, sites_filter: str | None, label: str | None, workers: Run
) -> list[SiteVersion]:
    """The versions that meet every given condition.

    `site_id` is an id or a name; `sites_filter` a regular expression that must match somewhere in the name or the URL,
    without regard to case, or a part of one of them.

    Raises:
        SearchValidationError: no version has that id, name or label, or the pattern is unusable.
        SearchTimeoutError: the workers are too busy to compare a pattern.
    """
    chosen = list(versions)
    if site_id is not None:
        chosen = _known([v for v in chosen if site_id in (str(v.id), v.name)], "siteId", site_id, versions)
    if sites_filter is not None:
        matches = await _matching(sites_filter, [(v.name, v.home) for v in chosen], workers)
        chosen = [chosen[place] for place in matches]
    if label is not None:
        chosen = _known([v for v in chosen if v.label == label], "version", label, chosen)
    return chosen


def matching(pattern: str, sites: Sequence[Sequence[str]]) -> list[int] | str:
    """The places of the sites in whose name or URL the pattern matches; a message if it is not an expression.

    A pattern that matches nothing as an expression is looked up as text: an address may contain `?` and brackets.
    Runs in a worker process, because both the compiler and the matcher may take any amount of time and memory.
    """
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
        found = [place for place, texts in enumerate(sites) if any(map(compiled.search, texts))]
    except (re.error, OverflowError, RecursionError) as error:
        return _holding(pattern, sites) or f"sitesFilter is not a regular expression: {error}."
    return found or _holding(pattern, sites)


def _holding(text: str, sites: Sequence[Sequence[str]]) -> list[int]:
    folded = text.lower()
    return [place for place, texts in enumerate(sites) if any(folded in one.lower() for one in texts)]


async def _matching(pattern: str, sites: Sequence[Sequence[str]], workers: Run) -> list[int]:
    if len(pattern) > MOST_PATTERN_CHARS:
        raise SearchValidationError(f"sitesFilter must have at most {MOST_PATTERN_CHARS} characters.")
    if re.fullmatch(r"[\w -]*", pattern):  # words need no process of their own
        return _holding(pattern, sites)
    deadline = Deadline.after(QUEUE_SECONDS)
    try:
        found: list[int] | str = await workers.run(matching, pattern, sites, deadline=deadline, seconds=PATTERN_SECONDS)
    except (SearchTimeoutError, SearchFetchError) as error:
        if isinstance(error, SearchTimeoutError) and error.details.get("reason") != TOO_COSTLY:
            raise
        raise SearchValidationError("sitesFilter is too costly to match. Use a simpler expression.") from None
    if isinstance(found, str):
        raise SearchValidationError("".join(one if one.isprintable() else "\ufffd" for one in found))
    return found


def _known(found: list[SiteVersion], field: str, value: str, among: Sequence[SiteVersion]) -> list[SiteVersion]:
    if found:
        return found
    raise SearchValidationError(f"No indexed site has the {field} {quoted(value)}. Indexed: {named(among)}.")


def quoted(text: str) -> str:
    """A caller's text for an error: cut, and with escapes for what is not printable."""
    return repr(text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}…")


def named(versions: Sequence[SiteVersion]) -> str:
    """Versions for an error: the first ones by id, name and label."""
    some = ", ".join(f"{v.id} ({v.name} {v.label})" for v in versions[:MOST_NAMED]) or "none"
    more = len(versions) - MOST_NAMED
    return f"{some} and {more} more" if more > 0 else some
