"""Tells announcements (blogs, release notes, changelogs) from guides and references. Pure."""

from __future__ import annotations

import re

SHARE = 0.4
"""The score of an announcement for a query that does not ask for one, as a share of its own."""

_PATH = re.compile(
    r"(?:^|/)(?:blog|news|announcements?|(?:[^/]*-)?release-?(?:s|log|notes)?|relnotes|(?:[^/]*-)?change-?(?:s|logs?)"
    r"|whats-?new)(?:[-_.]?v?\d[^/]*|\.html?)?(?:/|$)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\b(?:release notes|change ?log|what[’']s new|release history)\b", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:releas|changed|changes|change ?log|new\b|news\b|blog|since\b|version|migrat|upgrad|deprecat|announc|remov"
    r"|v?\d+\.\d)",
    re.IGNORECASE,
)


def is_news(path: str, title: str) -> bool:
    """Whether a page announces what has changed, by its address and title."""
    return bool(_PATH.search(path) or _TITLE.search(title))


def asks_for_news(query: str) -> bool:
    """Whether a query may ask for what has changed."""
    return bool(_ASKED.search(query))
