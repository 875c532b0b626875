"""What the parts of one gateway share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from websearch_gateway.app.adapters import WARM_UP
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.base.workers.worker import Limits
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import Caller, Deadline
from websearch_gateway.settings.loading import Settings


async def test_global_rate_limit_is_counted_once_for_the_process_without_a_state(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    settings = Settings(
        state_url=f"sqlite:///{tmp_path / 'file' / 'state.db'}", global_rate_limit="2/hour"
    )
    gateway = Gateway(settings)
    await gateway.pipeline.recall.rate_limits.admit(Caller("me"))
    await gateway.web.recall.rate_limits.admit(Caller("you"))
    for tool in (gateway.pipeline, gateway.web, gateway.raw):
        with pytest.raises(SearchRateLimitError, match="GLOBAL_RATE_LIMIT"):
            await tool.recall.rate_limits.admit(Caller("somebody"))
    await gateway.pipeline.recall.cached_limits.admit(Caller("somebody"))
    await gateway.close()


def test_a_gateway_without_a_key_imports_no_provider_that_it_does_not_ask(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.settings.loading import Settings
asyncio.run(Gateway(Settings(data_dir={str(tmp_path)!r}, openai_api_key="k")).close())
providers = {{name.rpartition(".")[2] for name in sys.modules if name.startswith("websearch_gateway.providers.")}}
print(*sorted(providers - {{"table"}}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "duckduckgo wikipedia\n"


async def test_a_worker_is_ready_without_the_settings_and_the_event_loop() -> None:
    """Their imports would be a third of its start."""
    loaded = (
        "[name for name in ('asyncio', 'numpy', 'pydantic') if name in __import__('sys').modules]"
    )
    async with Workers(warm_up=WARM_UP, limits=Limits(seconds=PATIENCE)) as workers:
        assert await workers.run(eval, loaded, deadline=Deadline.after(PATIENCE)) == ["numpy"]
