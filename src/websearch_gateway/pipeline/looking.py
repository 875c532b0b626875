"""Lays sentences beside a page that was read, in a worker process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.base import adapter
from websearch_gateway.errors import Unavailable
from websearch_gateway.models import Deadline, Page
from websearch_gateway.ports import Workers

if TYPE_CHECKING:
    from websearch_gateway.evidence import Finding

REPLY_RESERVE_SECONDS = 0.2
"""Reserved for the reply (seconds): pages that take long to look through must not cost the verdicts of the others."""


async def look_through(
    workers: Workers, sentences: Sequence[str], page: Page, deadline: Deadline
) -> Mapping[str, Finding]:
    """What the page shows of each sentence; empty if it could not be looked through in time."""
    # It runs in workers; most servers never need it.
    from websearch_gateway.evidence import Finding, findings

    seconds = max(0.0, deadline.remaining() - REPLY_RESERVE_SECONDS)
    try:
        result = await workers.run(
            findings,
            sentences,
            page.markdown,
            page.title,
            deadline=deadline.within(seconds),
            size=len(page.markdown),
        )
    except Unavailable:
        return {}
    of_page: list[Finding] = adapter(list[Finding]).validate_python(result)
    return dict(zip(sentences, of_page, strict=True))
