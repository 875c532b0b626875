"""The title of a page."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

_SEPARATOR = re.compile(r"\s+[-–—|·•:»]\s+|\s*\|\s*")
_SHORTEST = 4
_MOST_HEADINGS = 100
_MOST_PIECES = 200
"""The most pieces of text of a heading: a page may nest thousands of headings."""


def title_of(root: Any) -> str:
    """The page's own title: `og:title`, `<title>`, or its only `<h1>`, without the name of the site."""
    metas = {meta.get("property") or meta.get("name"): meta.get("content", "") for meta in root.iter("meta")}
    site = _clean(metas.get("og:site_name", ""))
    headings = [heading for heading in map(_heading, islice(root.iter("h1"), _MOST_HEADINGS)) if heading]
    for declared in (metas.get("og:title", ""), root.findtext(".//title") or ""):
        if title := _clean(declared):
            return _without_site(title, site, headings)
    return headings[0] if len(headings) == 1 else ""


def _heading(element: Any) -> str:
    return _clean("".join(islice(element.itertext(), _MOST_PIECES)))


def _clean(text: str) -> str:
    return " ".join(text.split())


def _without_site(title: str, site: str, headings: list[str]) -> str:
    """Drop the last or first part of `a | b` if it is the site's name, or keep the part that a heading repeats."""
    parts = [part for part in _SEPARATOR.split(title) if part]
    for heading in headings:
        if len(parts) > 1 and len(heading) >= _SHORTEST and heading.casefold() in (p.casefold() for p in parts):
            return heading
    if site:
        for pattern in (rf"\s*[-–—|·•:»]\s*{re.escape(site)}$", rf"^{re.escape(site)}\s*[-–—|·•:»]\s*"):
            shorter = re.sub(pattern, "", title, flags=re.IGNORECASE)
            if len(shorter) >= _SHORTEST:
                title = shorter
    return title
