"""Prepares text for PostgreSQL's text search: folds and stems the words first. Pure.

Its own parser takes `asyncio.timeout` for a host and `/usr/bin` for a file, and then finds neither `timeout` nor `bin`.
"""

from __future__ import annotations

from websearch_gateway.docs_index.models import TextQuery
from websearch_gateway.docs_index.store.index_row import fts5_stems
from websearch_gateway.text.tokens import words

MOST_CHARS = 200_000
"""A tsvector holds a megabyte at most; a chunk rarely has more than 3,000 characters."""


def indexed(text: str) -> str:
    """The separate words of a text, stemmed as SQLite's index stems them, so that both find the same."""
    return " ".join(fts5_stems(words(text[:MOST_CHARS])))


def phrases(query: TextQuery) -> list[str]:
    """The phrases of a query as `indexed` text, each once."""
    return [found for found in dict.fromkeys(map(indexed, query.phrases)) if found]
