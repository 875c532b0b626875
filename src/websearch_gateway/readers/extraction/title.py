"""The title of a page."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

_SEPARATOR = re.compile(r"\s+[-–—|·•:»]\s+|\s*\|\s*")
_MANUAL = re.compile(r"(?:.*\s)?(?:documentation|docs)(?:\s+v?\d[\w.]*)?", re.IGNORECASE)
"""The last part of a title that names the whole manual: `CMake 3.25.1 Documentation`."""
_PERMALINK = " \t¶#§🔗\u200b\uf0c1"
_BANNERS = frozenset(("header", "nav", "footer"))
_CONTENT = frozenset(("main", "article"))
_SHORTEST = 4
_MOST_HEADINGS = 100
_MOST_PIECES = 200
"""The most pieces of text of a heading: a page may nest thousands of headings."""


def title_of(root: Any) -> str:
    """The page's own title: `og:title`, `<title>`, or its only `<h1>`, without the name of the site."""
    metas = {meta.get("property") or meta.get("name"): meta.get("content", "") for meta in root.iter("meta")}
    site = _clean(metas.get("og:site_name", ""))
    all_of = [(text, one) for one in islice(root.iter("h1"), _MOST_HEADINGS) if (text := _heading(one))]
    headings = [text for text, one in all_of if not _is_banner(one)]
    if not headings:  # the own heading of mdBook's and Node's pages is the first below the banner
        headings = [text for one in islice(root.iter("h2"), 1) if (text := _heading(one))]
    for declared in (metas.get("og:title", ""), root.findtext(".//title") or ""):
        if title := _clean(declared):
            return _without_site(title, site, headings)
    return headings[0] if len(headings) == 1 else ""


def _heading(element: Any) -> str:
    return _clean("".join(islice(element.itertext(), _MOST_PIECES))).strip(_PERMALINK)


def _clean(text: str) -> str:
    return " ".join(text.split())


def _is_banner(heading: Any) -> bool:
    """Whether a heading names the site: it stands in a header, or links to another page, outside of the main text."""
    around = [(one.tag, one.get("role")) for one in heading.iterancestors()]
    if any(tag in _CONTENT or role == "main" for tag, role in around):
        return False
    if any(tag in _BANNERS or role == "banner" for tag, role in around) or "menu-title" in heading.get("class", ""):
        return True
    link = heading.find("a") if not (heading.text or "").strip() else None
    return link is not None and not link.get("href", "#").startswith("#") and bool("".join(link.itertext()).strip())


def _without_site(title: str, site: str, headings: list[str]) -> str:
    """The heading that the title begins or ends with, else the title without the name of the site or the manual."""
    for heading in headings:
        if len(heading) >= _SHORTEST and heading.casefold() != title.casefold() and _is_part(heading, title):
            return heading
    if site:
        for pattern in (rf"\s*[-–—|·•:»]\s*{re.escape(site)}$", rf"^{re.escape(site)}\s*[-–—|·•:»]\s*"):
            shorter = re.sub(pattern, "", title, flags=re.IGNORECASE)
            if len(shorter) >= _SHORTEST:
                title = shorter
    *_, last = [None, *_SEPARATOR.finditer(title)]
    return title[: last.start()] if last and last.start() and _MANUAL.fullmatch(title[last.end() :]) else title


def _is_part(heading: str, title: str) -> bool:
    """Whether a title is the heading and, before or after a separator, something else."""
    folded, whole = heading.casefold(), title.casefold()
    if len(folded) > len(whole):
        return False
    parts = [folded in (part.casefold() for part in _SEPARATOR.split(title))]
    if whole.startswith(folded):
        parts.append(bool(_SEPARATOR.match(title, len(heading))))
    return any(parts)
