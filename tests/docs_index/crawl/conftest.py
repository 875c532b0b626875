"""What whole crawls share: one pool of workers per module, as in a gateway, and a site on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.docs_index.crawl.small_site import Site
from tests.loopback import serving
from websearch_gateway.app.page_reading import WARM_UP
from websearch_gateway.models import Deadline
from websearch_gateway.workers.pool import Workers


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workers() -> AsyncIterator[Workers]:
    """Processes that are ready to read: their start takes longer than a crawl here."""
    async with Workers(warm_up=WARM_UP) as started:
        await asyncio.gather(*(started.run(len, "x", deadline=Deadline.after(55)) for _ in range(2)))
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def site() -> AsyncIterator[Site]:
    served = Site()
    async with serving(served.serve) as served.port:
        yield served
