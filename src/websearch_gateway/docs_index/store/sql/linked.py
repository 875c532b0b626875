"""Names pages by the links to them: where most pages of a site lead from a name, that name is defined."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple
from urllib.parse import unquote, urldefrag

from websearch_gateway.docs_index.store.sql.database import Database
from websearch_gateway.docs_index.store.sql.pages import last_part, load_body, split_anchors

LEAST_PAGES = 2
"""The fewest pages that must lead from a name to a page."""
MOST_PAIRS = 300_000
"""The most pairs of a name and an address that are counted."""

_LINKED_NAME = re.compile(r"\[(`?)([A-Za-z_$](?:[\w$]|\.|::|-){1,98}[\w$])(\(\))?\1\]\((https?://[^()\s]{1,500}+)\)")
_COMPOUND = re.compile(r"[A-Za-z0-9](?:_|\.|::)[A-Za-z0-9]|[a-z][A-Z]")


class Linked(NamedTuple):
    """A name that leads to a page."""

    name: str
    page_id: int
    anchor: str
    ordinal: int


def linked_names(db: Database, version_id: int) -> list[Linked]:
    """The names from which most of at least `LEAST_PAGES` pages lead to one page, which does not define them yet."""
    pages: dict[str, int] = {}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    pairs = 0
    rows = db.execute("SELECT id, url, body FROM pages WHERE version_id = ?", (version_id,)).fetchall()
    for page_id, url, body in rows:
        pages[url] = pages[url.removesuffix("index.html")] = page_id
        text = load_body(db, body)
        for name, target in {(m[2], m[4]) for m in _LINKED_NAME.finditer(text) if _is_name(m)}:
            if pairs < MOST_PAIRS and not target.startswith(f"{url}#"):
                pairs += not counts[name][target]
                counts[name][target] += 1
    places = _places(db, version_id)
    found = []
    for name, targets in counts.items():
        by_page: Counter[int] = Counter()
        for target, count in targets.items():
            by_page[pages.get(urldefrag(target).url.removesuffix("index.html"), 0)] += count
        page_id, most = by_page.most_common(1)[0]
        if not page_id or most < LEAST_PAGES or 2 * most <= by_page.total() or (page_id, name) in places:
            continue
        own = [target for target, _ in targets.most_common() if pages.get(urldefrag(target).url) == page_id]
        anchor = unquote(urldefrag(own[0]).fragment) if own else ""
        found.append(Linked(name, page_id, anchor, places.get((page_id, f"#{anchor}"), 0)))
    return found


def put_linked(db: Database, version_id: int, found: list[Linked]) -> None:
    """Store names in place of those that an earlier crawl found."""
    db.execute("DELETE FROM symbols WHERE version_id = ? AND kind = 'link'", (version_id,))
    rows = [(version_id, one.page_id, one.ordinal, one.name, last_part(one.name), one.anchor) for one in found]
    if rows:
        db.executemany(
            """
            INSERT INTO symbols (version_id, page_id, ordinal, name, last, kind, anchor)
            VALUES (?, ?, ?, ?, ?, 'link', ?)
            """,
            rows,
        )


def _is_name(match: re.Match[str]) -> bool:
    return bool(match[1] or match[3] or _COMPOUND.search(match[2]))


def _places(db: Database, version_id: int) -> dict[tuple[int, str], int]:
    """The chunk of each name that a page defines by itself, and of each `#anchor`."""
    query = "SELECT page_id, name, kind, anchor, ordinal FROM symbols WHERE version_id = ? AND kind <> 'link'"
    found: dict[tuple[int, str], int] = {}
    for page_id, name, kind, anchor, ordinal in db.execute(query, (version_id,)):
        if kind != "heading":
            found[page_id, name] = ordinal
        if anchor:
            found[page_id, f"#{anchor}"] = ordinal
    for page_id, anchor, ordinal in db.execute(
        "SELECT page_id, anchor, ordinal FROM chunks WHERE version_id = ? AND anchor <> ''", (version_id,)
    ):
        own, inner = split_anchors(anchor)
        for one in (own, *(name for _, name in inner)):
            found.setdefault((page_id, f"#{one}"), ordinal)
    return found
