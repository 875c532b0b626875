"""The whole gateway over real sockets to the sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENT, be_patient
from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.sandbox import Sandbox, engines
from websearch_gateway.settings.loading import load_settings

UPSTREAMS = (
    "openai",
    "serper",
    "tavily",
    "brave",
    "google",
    "synthetic",
    "exa",
    "firecrawl",
    "linkup",
    "jina",
    "searxng",
    "duckduckgo",
    "wikipedia",
)
"""The answer engine and the search providers that can be asked in the sandbox, in their order."""

Open = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
def gateway(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """A function that opens a gateway on the sandbox; keyword arguments are settings."""
    be_patient(monkeypatch)

    @asynccontextmanager
    async def start(**settings: Any) -> AsyncIterator[Gateway]:
        environment = {**PATIENT, **sandbox.environment()}
        if settings.get("llm_model"):
            environment["LLM_BASE_URL"] = engines(sandbox.url)["llm"]["LLM_BASE_URL"]
        flags = {name.lower(): value for name, value in environment.items()}
        async with open_gateway(
            load_settings(None, **{**flags, "data_dir": tmp_path, **settings})
        ) as opened:
            yield opened

    return start
