from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.patience import PATIENCE
from websearch_gateway.sandbox import Sandbox


@pytest.fixture
async def http(sandbox: Sandbox) -> AsyncIterator[httpx2.AsyncClient]:
    """A plain client of the sandbox."""
    async with httpx2.AsyncClient(base_url=sandbox.url, timeout=PATIENCE) as client:
        yield client
