"""Stores sites, pages and chunks of documentation.

All data of the index is here. To read the code, begin with `database.py`: a method of `docs.py` (sites, the addresses
of a crawl, copies) or `pages.py` (pages and searches) is one transaction. `SqlDocs` joins them. `sqlite` and `postgres`
run the transactions, and index text and vectors; `lance` may index the vectors instead.
"""

from __future__ import annotations

import contextlib
from pathlib import Path


def has_site(path: Path) -> bool:
    """Whether the file at `path` holds a site that was fully crawled at least once. False if it cannot be read.

    Loads nothing else of the index.
    """
    import sqlite3

    try:
        if not path.is_file():
            return False
        with contextlib.closing(
            sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=1.0)
        ) as connection:
            query = "SELECT 1 FROM versions WHERE indexed_at IS NOT NULL LIMIT 1"
            return connection.execute(query).fetchone() is not None
    except (sqlite3.Error, OSError):
        return False
