"""Orders the versions of a site, the newest stable one first. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from websearch_gateway.docs_index.models import SiteVersion

_NUMBERS = re.compile(r"\d+")
_UNSTABLE = re.compile(
    r"(?<![a-z])(?:a|b|c|alpha|beta|rc|dev|devel|pre|preview|snapshot|nightly|canary|next|edge|main|master|trunk|head|"
    r"unstable)(?![a-z])",
    re.IGNORECASE,
)
_ROLLING = frozenset(("latest", "stable", "current", "lts", "release"))

Order = tuple[bool, bool, tuple[int, ...], float]


def order(version: SiteVersion) -> Order:
    """A key that is highest for the newest stable version.

    `latest` and similar labels come before every number, pre-releases after every release. Other labels are ordered by
    the time of indexing.
    """
    label = version.label.strip()
    numbers = tuple(int(number[:9]) for number in _NUMBERS.findall(label)[:6])
    return (not _UNSTABLE.search(label), label.lower() in _ROLLING, numbers, version.indexed_at or 0.0)


def newest_first(versions: Sequence[SiteVersion]) -> list[SiteVersion]:
    """The versions, the newest stable one first."""
    return sorted(versions, key=order, reverse=True)
