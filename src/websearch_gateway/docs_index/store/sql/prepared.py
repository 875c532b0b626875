"""Computes the rows of a page before a transaction begins, so that the transaction is short. Pure."""

from __future__ import annotations

import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from websearch_gateway.docs_index.models import PageDraft
from websearch_gateway.docs_index.section_id import content_of, section_ids
from websearch_gateway.docs_index.store.index_row import index_row

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

BODY_LEVEL = 4
"""zlib's level for the text of a page: half the time of level 6, and 3% larger."""


class PreparedPage(NamedTuple):
    """A page to commit. `body` is its text, compressed, under the hash of the text; `sections` and `rows` have one
    entry per chunk: its section id, and its columns in the text index. `vectors` is None if it has none yet."""

    draft: PageDraft
    vectors: Vectors | None
    body_hash: bytes
    body: bytes
    sections: list[bytes]
    rows: list[tuple[str, str, str, str, str]]


def prepared(draft: PageDraft, vectors: Vectors | None) -> PreparedPage:
    """The rows of a page."""
    text = draft.markdown.encode("utf-8", "surrogatepass")
    return PreparedPage(
        draft,
        vectors,
        body_hash=sha256(text).digest(),
        body=zlib.compress(text, BODY_LEVEL),
        sections=[bytes.fromhex(section) for section in section_ids(draft)],
        rows=[index_row(draft.title, one.heading_path, content_of(one, draft.markdown)) for one in draft.chunks],
    )
