"""What the parts of one gateway share."""

from __future__ import annotations

from pathlib import Path

import pytest

from websearch_gateway.app.build import build
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import Caller
from websearch_gateway.settings import Settings


async def test_global_rate_limit_is_counted_once_for_the_process_without_a_state(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = Settings(state_url=f"sqlite:///{tmp_path / 'file' / 'state.db'}", global_rate_limit="2/hour")
    gateway = build(settings)
    await gateway.pipeline.rate_limits.admit(Caller("me"))
    await gateway.web.rate_limits.admit(Caller("you"))
    for gate in (gateway.pipeline.rate_limits, gateway.web.rate_limits, gateway.raw.rate_limits):
        with pytest.raises(SearchRateLimitError, match="GLOBAL_RATE_LIMIT"):
            await gate.admit(Caller("somebody"))
    await gateway.close()
