"""What the workers load before the first page."""

from __future__ import annotations

from tests.patience import PATIENCE
from websearch_gateway.app.reading import WARM_UP
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.base.workers.worker import Limits
from websearch_gateway.models import Deadline


async def test_a_worker_is_ready_without_the_settings_and_the_event_loop() -> None:
    """Their imports would be a third of its start."""
    loaded = (
        "[name for name in ('asyncio', 'numpy', 'pydantic') if name in __import__('sys').modules]"
    )
    async with Workers(warm_up=WARM_UP, limits=Limits(seconds=PATIENCE)) as workers:
        assert await workers.run(eval, loaded, deadline=Deadline.after(PATIENCE)) == ["numpy"]
