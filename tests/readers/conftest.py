"""The reader of pages, as the gateway builds it, allowed to reach the sandbox only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from websearch_gateway.net.address import AddressGuard
from websearch_gateway.net.fetch import Fetcher
from websearch_gateway.readers import ReaderTable
from websearch_gateway.readers.extract import warm_up
from websearch_gateway.readers.workers import Workers
from websearch_gateway.sandbox import Sandbox


@pytest.fixture
async def reader(sandbox: Sandbox) -> AsyncIterator[ReaderTable]:
    async with Fetcher(AddressGuard([urlsplit(sandbox.url).netloc])) as fetcher, Workers(warm_up=warm_up) as workers:
        yield ReaderTable.build(fetcher, workers)
