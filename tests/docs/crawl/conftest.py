"""The site on loopback for whole crawls."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.docs.crawl.small_site import Site
from tests.loopback import serving


@pytest_asyncio.fixture(loop_scope="module")
async def site() -> AsyncIterator[Site]:
    served = Site()
    async with serving(served.serve) as served.port:
        yield served
